"""Puts what lets a client call our tools unasked into its list of allowed tools, and takes it out.

A client without such a list reads the same from the server's entry. What the user wants to be asked
for, or never to be called, stays so.
"""

from collections.abc import Sequence
from typing import Any

from commands.documents.edit_json import with_value, without
from commands.documents.json_tree import data_of, object_of, value_at
from commands.setup.client_table import SERVER, TOOL, TOOLS, Approvals


def with_approvals(text: str, approvals: Approvals, name: str, tools: Sequence[str]) -> str:
    """Return the text in which these tools of the server `name` are allowed, one by one.

    Where the user has allowed the whole server, nothing is added. Raises BrokenJsonError and
    OtherKindError.
    """
    data = object_of(text)
    allowed = _list_at(data, approvals.keys)
    settled = [*allowed, *(item for keys in approvals.refused for item in _list_at(data, keys))]
    if any(_filled(form, name) in settled for form in approvals.server):
        return text
    missing = [item for item in items_of(approvals, name, tools) if item not in settled]
    for at, item in enumerate(missing, len(allowed)):
        text = with_value(text, (*approvals.keys, at), item)
    return text


def without_approvals(text: str, approvals: Approvals, name: str, kept: Sequence[str] = ()) -> str:
    """Return the text without those of all rooms, but for the tools to be kept.

    Raises BrokenJsonError and OtherKindError.
    """
    every = dict.fromkeys(tool for tools in TOOLS.values() for tool in tools)
    ours = items_of(approvals, name, [tool for tool in every if tool not in kept])
    listed = _list_at(data_of(text), approvals.keys)
    for at in range(len(listed) - 1, -1, -1):
        if listed[at] in ours:
            text = without(text, (*approvals.keys, at))
    return text


def items_of(approvals: Approvals, name: str, tools: Sequence[str]) -> list[Any]:
    """Return what stands in the list for each of these tools of the server `name`."""
    return [_filled(approvals.tool, name, tool) for tool in tools]


def _filled(form: Any, name: str, tool: str = "") -> Any:
    if isinstance(form, dict):
        return {key: _filled(part, name, tool) for key, part in form.items()}
    return form.replace(SERVER, name).replace(TOOL, tool) if isinstance(form, str) else form


def _list_at(data: Any, keys: tuple[str, ...]) -> list[Any]:
    listed = value_at(data, keys)
    return listed if isinstance(listed, list) else []
