"""Reads whether Codex uses what setup has put into its files, as far as that stands on the disk.

Codex passes over the files of a project that its user has not trusted, and runs a hook only as its
user has reviewed it: its configuration keeps a checksum of each. It tells nobody when it does not.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from commands.doctor.set_up import SetUp
from commands.documents.edit_toml import BrokenTomlError, tables_of
from commands.documents.json_tree import data_of, value_at
from commands.setup.client_machine import Machine
from commands.setup.client_table import CLIENTS
from commands.setup.files import Desk, Level, Tree
from commands.setup.hooks import part_at, places_of

KEY = "codex"
[_HOOKS] = [row.hooks for row in CLIENTS if row.key == KEY and row.hooks]
_CONFIGURATION = "config.toml"
_REVIEWED = {"type", "command", "timeout"}  # of a handler with other keys the checksum is unknown


def not_used(it: SetUp, levels: Sequence[Level], machine: Machine, tree: Tree | None) -> str:
    """Return why Codex passes over what is set up, "" when it does not or nothing tells.

    `untrusted` (the project), or of the hooks `unseen` (by the user), `changed` (since), `off`.
    levels: at which it is set up; what is set up for a user needs no trust in the project.
    """
    desk = Desk(machine.root)
    text = desk.text(machine.directories[KEY] / _CONFIGURATION)
    if text is None:  # nobody has used Codex here
        return ""
    try:
        known = tables_of(text)
    except BrokenTomlError:
        return ""
    if it.level != "user" and not _is_trusted(known, machine.root, tree):
        return "" if "user" in levels else "untrusted"
    path = it.there.get("hooks")
    text = desk.text(path) if path else None
    return unreviewed(str(path), text, known) if text else ""


def _is_trusted(known: Mapping[str, Any], root: Path, tree: Tree | None) -> bool:
    """Return whether the user trusts the project, its repository, or that of its worktree."""
    tops = [root, Path(os.path.realpath(root))]
    if tree:
        tops += [tree.top_of(root), tree.exclude.parents[2]]
    projects = known.get("projects")
    entries = projects if isinstance(projects, dict) else {}
    found = (entries.get(str(top)) for top in tops)
    return any(isinstance(it, dict) and it.get("trust_level") == "trusted" for it in found)


def unreviewed(path: str, text: str, known: Mapping[str, Any]) -> str:
    """Return why Codex does not run a hook of ours in this file, "" when it runs them all.

    known: its configuration.
    """
    states = value_at(known, ("hooks", "state"))
    try:
        data, places = data_of(text), places_of(text, _HOOKS)
    except ValueError:
        return ""
    for place in places:
        group, handler = (part_at(data, path) for path in (place.path[:3], place.path))
        at = f"{_event(place.event)}:{place.path[2]}:{place.path[4]}"
        keys = (f"{file}:{at}" for file in (path, os.path.realpath(path)))
        found = (states.get(key) for key in keys) if isinstance(states, dict) else ()
        state = next((it for it in found if isinstance(it, dict)), {})
        if "trusted_hash" not in state:
            return "unseen"
        is_known = handler.keys() <= _REVIEWED
        if is_known and state["trusted_hash"] != _hash(place.event, group, handler):
            return "changed"
        if state.get("enabled") is False:
            return "off"
    return ""


def _event(name: str) -> str:
    return re.sub(r"(?<!\A)(?=[A-Z])", "_", name).lower()


def _hash(event: str, group: dict[str, Any], handler: dict[str, Any]) -> str:
    """Return the checksum under which Codex keeps that a hook was reviewed."""
    matcher = {"matcher": group["matcher"]} if group.get("matcher") else {}
    form = {"event_name": _event(event), **matcher, "hooks": [{**handler, "async": False}]}
    text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
