"""Puts what lets a client call our tools unasked into its list of allowed tools, and takes it out.

A client without such a list reads the same from the server's entry. What the user wants to be asked
for, or never to be called, stays so.
"""

from typing import Any

from commands.clients.table import TOOLS, Approvals
from commands.documents.edit_json import with_value, without
from commands.documents.json_tree import data_of, object_of


def with_approvals(text: str, approvals: Approvals, name: str) -> str:
    """Return the text in which the tools of the server `name` are allowed, one by one.

    Where the user has allowed the whole server, nothing is added. Raises BrokenJsonError and
    OtherKindError.
    """
    server = approvals.server.format(name)
    data = object_of(text)
    allowed = _texts(data, approvals.keys)
    refused = {it for keys in approvals.refused for it in _texts(data, keys)}
    if {server, f"{server}__*"} & {*allowed, *refused}:
        return text
    count = len(_list_at(data, approvals.keys))
    for tool in tools_of(approvals, name):
        if tool not in refused and tool not in allowed:
            text = with_value(text, (*approvals.keys, count), tool)
            count += 1
    return text


def without_approvals(text: str, approvals: Approvals, name: str) -> str:
    """Return the text without them. Raises BrokenJsonError and OtherKindError."""
    ours = tools_of(approvals, name)
    listed = _list_at(data_of(text), approvals.keys)
    for at in range(len(listed) - 1, -1, -1):
        if listed[at] in ours:
            text = without(text, (*approvals.keys, at))
    return text


def tools_of(approvals: Approvals, name: str) -> list[str]:
    """Return what stands in the list for each tool of the server `name`."""
    server = approvals.server.format(name)
    return [f"{server}__{tool}" for tool in TOOLS]


def _texts(data: Any, keys: tuple[str, ...]) -> list[str]:
    return [it for it in _list_at(data, keys) if isinstance(it, str)]


def _list_at(data: Any, keys: tuple[str, ...]) -> list[Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, list) else []
