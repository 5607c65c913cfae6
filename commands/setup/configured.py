"""Finds the clients on this machine that start our server, and the project that each would give it.

It reads the configuration files, and works out what the client and then the server would make of an
entry. It starts nothing and writes nothing.
"""

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands.documents.json_tree import check_taken, strict_json
from commands.setup.client_machine import (
    Expand,
    Machine,
    entry_line,
    expander,
    machine_of,
    paths_of,
    script_at,
    value_of,
)
from commands.setup.client_table import CLIENTS, THE_PROJECT, Client, Place, Takes
from core.config import VARIABLES, find_project, read_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """One entry of a client's configuration that starts our server, or a file nobody can read.

    path: the configuration file. entry: its name; "" when the file cannot be read.
    project: what the server would take as the project; None when that is not known beforehand.
    source: what names the project: `--project`, a variable, `cwd`; "" when nothing does.
    problem: "", or the first of these that holds: `unreadable` (the file), `command_missing`,
    `script_missing`, `bad_setting` (the server would refuse to start), `unexpanded` (the client
    leaves a variable in what names the project), `no_project` (nothing names one, or it is relative
    to an unknown directory), `project_missing`.
    """

    client: str
    path: Path
    entry: str
    project: Path | None
    source: str
    problem: str = ""


def configured_clients(
    root: Path,
    *,
    server: Path,
    home: Path,
    environment: Mapping[str, str],
    platform: str = sys.platform,
) -> list[Configured]:
    """Return the entries that start `server` for the project `root`, in the order of `CLIENTS`.

    An entry is ours when it runs the file `server`, or any `server.py` under a name that holds
    "sentinel". environment: that of the user; clients see the same, without our own variables.
    No configuration file, however broken, makes this raise.
    """
    machine = machine_of(root, server=server, home=home, environment=environment, platform=platform)
    found: list[Configured] = []
    seen: set[tuple[str, Path]] = set()
    for client in CLIENTS:
        for place in client.places:
            for path in paths_of(place, machine):
                # In the home directory the project's file and the user's are the same.
                if (client.name, path) not in seen and os.path.exists(path):
                    seen.add((client.name, path))
                    found += _configured_in(path, client, place, machine)
    return found


# Reading the files.


def _configured_in(
    path: Path, client: Client, place: Place, machine: Machine
) -> Iterator[Configured]:
    try:
        data = document(path, client, client.takes if place.takes is None else place.takes)
    except (OSError, ValueError, RecursionError):  # ValueError: no UTF-8, no JSON, no TOML
        yield Configured(
            client=client.name, path=path, entry="", project=None, source="", problem="unreadable"
        )
        return
    for keys in place.keys:
        entries = data
        for key in keys:
            entries = below(entries, key, machine)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                found = _configured(path, name, entry, client, place, machine)
                if found:
                    yield found


def document(path: Path, client: Client, takes: Takes) -> Any:
    """Return what a client reads in a file. Raises OSError, ValueError, RecursionError."""
    if not path.is_file():  # to open a pipe would be to wait for its writer
        raise OSError("not a file")
    text = path.read_bytes().decode("utf-8")
    bare = text.removeprefix("\ufeff")
    if client.form == "toml":
        return tomllib.loads(bare)
    check_taken(text, takes)
    return json.loads(strict_json(bare))


def below(table: Any, key: str, machine: Machine) -> Any:
    """Return what stands under a key, THE_PROJECT for that of the project; None for nothing."""
    if not isinstance(table, dict):
        return None
    if key != THE_PROJECT:
        return table.get(key)
    roots = {machine.plain(machine.root), machine.plain(os.path.realpath(machine.root))}
    return next((below for name, below in table.items() if machine.plain(name) in roots), None)


# What becomes of an entry.


def _configured(
    path: Path, name: str, entry: Mapping[str, Any], client: Client, place: Place, machine: Machine
) -> Configured | None:
    """Return what an entry leads to, None when it is not ours."""
    expand = expander(client, place, machine)
    words = entry_line(entry, expand)
    at = script_at(words, name, machine)
    if at < 0:
        return None
    own = entry.get("env")
    environment = {key: value for key, value in machine.environment.items() if key not in VARIABLES}
    for key, value in own.items() if isinstance(own, dict) else ():
        if isinstance(value, str | int):  # clients turn numbers into texts
            environment[key] = expand(str(value))
    environment |= dict.fromkeys(client.sets, str(machine.root))
    first = machine.root if client.starts_in_project and place.knows_project else None
    cwd = entry.get("cwd") if client.honours_cwd else None
    start, lost = _start(first, cwd, words[:at], expand, machine)
    argument = value_of("--project", words[at + 1 :])
    project, source, problem = _project(argument, environment, start, lost)
    return Configured(
        client=client.name,
        path=path,
        entry=name,
        project=project,
        source=source,
        problem=cannot_start(words[0], words[at] if at else "", start, machine)
        or ("bad_setting" if read_settings(environment).errors else problem),
    )


def _start(
    start: Path | None, cwd: object, before: list[str], expand: Expand, machine: Machine
) -> tuple[Path | None, bool]:
    """Return where the server starts, None when unknown; and whether a variable is left in that."""
    steps = []
    if isinstance(cwd, str) and cwd.strip():
        steps.append(expand(cwd))
        start = start or machine.home
    if before and re.fullmatch(r"(?:.*/)?uv(?:\.exe)?", machine.plain(before[0])):
        # uv changes to this directory before it starts the script
        steps.append(value_of("--directory", before[1:]) or "")
    for step in steps:
        if "${" in step:
            return None, True
        start = start / step if start else Path(step) if os.path.isabs(step) else None
    return start, False


def _project(
    argument: str | None, environment: Mapping[str, str], start: Path | None, lost: bool
) -> tuple[Path | None, str, str]:
    """Return the project, what names it, and what is wrong with it."""
    try:
        project = find_project(argument, environment, start or Path(os.sep))
    except ValueError:  # a name such as "~" with a null byte, which no process can be given
        return None, "", "no_project"
    unexpanded = "unexpanded" if lost or project.is_unexpanded else ""
    if start is None:
        if project.source == "cwd":
            return None, "", unexpanded or "no_project"
        value = argument or "" if project.source == "--project" else environment[project.source]
        if not os.path.isabs(os.path.expanduser(value.strip())):
            return None, project.source, unexpanded or "no_project"
    missing = "" if os.path.isdir(project.root) else "project_missing"
    return project.root, project.source, unexpanded or missing


def cannot_start(command: str, script: str, start: Path | None, machine: Machine) -> str:
    """Return `command_missing`, `script_missing` or ""; "" also if an unknown directory decides.

    script: "" for a command that is the server itself.
    """

    def is_there(path: str) -> bool:
        if not os.path.isabs(path) and start is None:
            return "${" not in path
        return os.path.exists(os.path.join(start or "", path))

    if os.path.dirname(command):
        names = [command, f"{command}.exe"] if machine.windows else [command]
        found = any(map(is_there, names))
    else:
        found = shutil.which(command, path=machine.variable("PATH") or "") is not None
    return (
        "command_missing"
        if not found
        else ""
        if not script or is_there(script)
        else "script_missing"
    )
