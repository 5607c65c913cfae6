"""Reads what a hook is given: its arguments, the client's JSON, and the project that these name."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from commands.clients.events import EVENTS, HOOKS, Moment, folder_of
from core.config import CONTEXT_DIRECTORY, Project, find_project

MOST_BYTES = 32_000_000
_OF_A_SHELL = ("||", ":")  # how setup ends a line; a client may start it without a shell


class OddInputError(ValueError):
    """What a hook got is of no use, or takes too long: the key and the facts of a sentence."""


def arguments_in(words: Sequence[str]) -> tuple[str, str, str | None, dict[str, str]]:
    """Return event, client, project, variables; wrong ones must not end with 2 as in a parser."""
    given, rest = dict[str, str](), list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name.startswith("-p"):
            glued = name[2:] + equals + value
            rest[:0], name, equals = [glued] if glued else [], "--project", ""
        if name.startswith("--"):
            given[name] = value if equals else rest.pop(0) if rest else ""
        elif name not in _OF_A_SHELL:
            given["EVENT"] = name
    event, client = given.pop("EVENT", ""), given.pop("--client", "")
    project, lang = given.pop("--project", None), given.pop("--lang", "")
    if given or event not in EVENTS or client not in HOOKS:
        raise OddInputError("usage")
    return event, client, project, {"SENTINEL_MEMORY_LANG": lang} if lang else {}


def payload_here() -> dict[str, Any]:
    """Return the JSON object on standard input."""
    if sys.stdin is None:
        raise OddInputError("closed")
    try:
        payload = json.loads(sys.stdin.buffer.read(MOST_BYTES).decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise OddInputError("no_json") from error
    if not isinstance(payload, dict):
        raise OddInputError("no_object")
    return payload


def is_of_another(client: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Return whether another client runs this hook: Cursor and Copilot run those of Claude Code."""
    others = {"cursor_version", "timestamp"} & payload.keys() or "CURSOR_VERSION" in environment
    return HOOKS[client].shared and bool(others)


def project_of(
    client: str, moment: Moment, environment: Mapping[str, str], argument: str | None
) -> Project | None:
    """Return the project; None for one without a memory, which hooks of a user meet as well.

    argument: what `--project` names. Raises DiskError.
    """
    project = named_project(client, moment, environment, argument)
    has_memory = os.path.lexists(os.path.join(project.folder, CONTEXT_DIRECTORY))
    return project if has_memory else None


def named_project(
    client: str, moment: Moment, environment: Mapping[str, str], argument: str | None
) -> Project:
    """Return the project, whether it has a memory or not. Raises DiskError."""
    if not HOOKS[client].gives_project:
        # Cursor sets it for the first of several open folders, others inherit it from Claude Code.
        environment = {**environment, "CLAUDE_PROJECT_DIR": ""}
    project = find_project(argument, environment, folder_of(moment) or os.getcwd())
    project.check(environment)
    return project
