"""Finds the entries of clients on this machine for a server that others run."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands.setup.client_machine import Machine, paths_of
from commands.setup.client_table import CLIENTS, TEAM_ENTRY, URL, VARIABLE, Client, Place
from commands.setup.configured import below, document

_NAME = re.compile(r"\$(?:\{(?:env:)?)?(\w+)", re.ASCII)
_SENT = "Authorization"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamEntry:
    """An entry for a server that others run.

    url: as it stands there. variable: that holds the key, "" where the client logs in by itself.
    has_key: whether the key itself stands in the file.
    """

    client: Client
    path: Path
    url: str
    variable: str
    has_key: bool


def team_entries(machine: Machine) -> Iterator[TeamEntry]:
    """Yield these entries, those of the project first; a file that is broken has none."""
    for client in CLIENTS:
        seen = set[Path]()
        for place in client.places if client.remote else ():
            for path in paths_of(place, machine):
                if path not in seen and os.path.exists(path):
                    seen.add(path)
                    yield from _entries_of(path, client, place, machine)


def _entries_of(path: Path, client: Client, place: Place, machine: Machine) -> Iterator[TeamEntry]:
    try:
        data = document(path, client, client.takes if place.takes is None else place.takes)
    except (OSError, ValueError, RecursionError):
        return  # which is said of the client's own entry
    for keys in place.keys:
        table = data
        for key in keys:
            table = below(table, key, machine)
        entry = table.get(TEAM_ENTRY) if isinstance(table, dict) else None
        if isinstance(entry, dict) and "command" not in entry:
            yield _entry(path, client, entry)


def _entry(path: Path, client: Client, entry: Mapping[str, Any]) -> TeamEntry:
    forms = client.remote.entry if client.remote else {}
    url = next((entry.get(name) for name, form in forms.items() if form == URL), "")
    named = [entry.get(name) for name, form in _key_of(client).items() if form == VARIABLE]
    sent = [
        table[_SENT].removeprefix("Bearer ").strip()
        for table in (entry.get("headers"), entry.get("http_headers"))
        if isinstance(table, dict) and isinstance(table.get(_SENT), str)
    ]
    found = [_NAME.match(text) for text in sent]
    variables = [it for it in named if isinstance(it, str)]
    variables += [match[1] for match in found if match]
    return TeamEntry(
        client=client,
        path=path,
        url=url if isinstance(url, str) else "",
        variable=next(iter(variables), ""),
        has_key=any(text and match is None for text, match in zip(sent, found, strict=True)),
    )


def _key_of(client: Client) -> Mapping[str, Any]:
    return client.remote.key if client.remote else {}
