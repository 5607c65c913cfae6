"""Plans the server's entry in a client's configuration: puts it in, updates it, takes it out.

An entry is ours when it has the name that setup gives and runs a `server.py`, or when it runs the
very file of this installation. It keeps its name and its other keys, such as `env`.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from commands.documents.edit_json import with_value, without
from commands.documents.edit_toml import (
    FixedFormError,
    table_text,
    tables_of,
    with_table,
    without_table,
    without_value,
)
from commands.documents.json_tree import check_taken, object_of, value_at
from commands.setup.client_machine import entry_line, expander, paths_of, script_at, value_of
from commands.setup.client_table import ENTRY, Client
from commands.setup.files import (
    Change,
    Desk,
    EntryError,
    Job,
    Remark,
    strings_in,
    unless_made,
)
from commands.setup.levels import at_level
from commands.setup.rooms import option_for, rooms_in, variables_of
from core.config import DEFAULT_ROOMS, ROOMS, find_project
from core.messages import Facts

Keys = tuple[str, ...]
COMMAND = ("command", "args")
LANG = "SENTINEL_MEMORY_LANG"


def plan_entry(desk: Desk, job: Job, client: Client) -> list[Remark]:
    """Edit the file of the project, or of the user for a client without projects; what to know."""
    keys = client.places[0].keys[0]
    notes: list[Remark] = []
    for path in files_of_entry(client, job):
        with desk.editing(path, "entry", client) as change:
            notes += [note for note in _edit(change, job, client, keys) if note not in notes]
        granted = granted_by(client) if job.approvals and not job.remove else {}
        if granted:
            with desk.editing(path, "approvals", client) as change:
                change.after = _granted(change, job, client, granted)
    return notes


def _granted(change: Change, job: Job, client: Client, granted: Mapping[str, Any]) -> str:
    """Return the text with the keys of our entry that let its tools be called unasked.

    What the user has put there stays.
    """
    keys = client.places[0].keys[0]
    name, entry = _own(data_in(change.text, client), keys, job, client)
    missing = {key: value for key, value in granted.items() if key not in entry}
    change.shown |= strings_in(missing)
    path = (*keys, name)
    return with_entry(change, path, missing, {}, client.form, {}) if entry else change.text


def granted_by(client: Client) -> Mapping[str, Any]:
    """Return the keys of an entry that let its tools be called unasked."""
    return client.approvals.entry if client.approvals else {}


def name_of(desk: Desk, job: Job, client: Client) -> str:
    """Return the name of our entry as it is, or would be."""
    return entry_of(desk, job, client)[0]


def rooms_of(desk: Desk, job: Job, client: Client) -> tuple[str, ...]:
    """Return the rooms that our entry offers, or will offer if the job says which."""
    if job.rooms is not None and client.key in job.clients:
        return job.rooms
    name, entry = entry_of(desk, job, client)
    return rooms_in(entry, name, job, client)


def rooms_together(desk: Desk, job: Job, clients: Iterable[Client]) -> tuple[str, ...]:
    """Return the rooms that at least one of these clients is offered; the default for no client."""
    rows = filter(None, (at_level(client, job.level) for client in clients))
    found = dict.fromkeys(room for row in rows for room in rooms_of(desk, job, row))
    return tuple(found) or DEFAULT_ROOMS


def entry_of(desk: Desk, job: Job, client: Client) -> tuple[str, Mapping[str, Any]]:
    """Return the name of our entry as it is, or would be, and what is there of it."""
    try:
        data = data_in(desk.text(files_of_entry(client, job)[0]) or "", client)
    except ValueError:
        return ENTRY, {}
    return _own(data, client.places[0].keys[0], job, client)


def files_of_entry(client: Client, job: Job) -> list[Path]:
    """Return the files that hold the entries of a client, the one that setup makes first."""
    paths = paths_of(client.places[0], job.machine)
    for place in client.places[1:]:
        if place.directory == "packages":
            paths += paths_of(place, job.machine)
    return paths


def data_in(text: str, client: Client) -> Any:
    """Return the document of a client's file. Raises BrokenJsonError, BrokenTomlError."""
    if client.form == "toml":
        return tables_of(text)
    return object_of(text)


def _edit(change: Change, job: Job, client: Client, keys: Keys) -> list[Remark]:
    """Edit one file; what to know."""
    text, form = change.text, client.form
    if form == "json" and not job.remove:
        check_taken(text, client.takes)
    data = data_in(text, client)
    name, old = _own(data, keys, job, client)
    if name == ENTRY and not old and not job.remove and value_at(data, (*keys, name)) is not None:
        raise EntryError("foreign_entry", path=str(change.path), entry=ENTRY)
    put_in = {**dict(client.first), **dict(client.last), **granted_by(client)}
    change.shown |= {name} | strings_in([old.get(key) for key in (*COMMAND, *put_in)])
    path, other = (*keys, name), _other_project(name, old, job, client)
    facts: Facts = {"client": client.name, "project": other}
    if job.remove and other:
        return [Remark("entry_stays", facts)]
    if job.remove:
        if old:
            change.after = unless_made(change, without_entry(change, path, form))
        return []
    entry = entry_for(client, job, option_for(old, name, job, client))
    settled = {*old, *dict(client.first)} - {*COMMAND} if old else ()
    values = {key: value for key, value in entry.items() if key not in settled}
    passed = _passed(old, name, job, client)
    if passed:
        values[client.passes] = passed
    change.shown |= strings_in([entry, passed, job.chosen])
    granted = granted_by(client) if job.approvals else {}
    text = with_entry(change, path, values, _language(old, job), form, granted)
    if client.passes in old and not passed:
        text = without_value(text, path, client.passes)
    change.after = _without_start(text, path, old, job, client)
    before = "served_before" if job.level != "user" else "served_one_before"
    notes = [Remark(before, facts)] if other else []
    return notes + _variable_note(job, client)


def _passed(old: Mapping[str, Any], name: str, job: Job, client: Client) -> list[Any]:
    """Return the variables that the server gets: what the user has put there, and what rooms need.

    [] also for a client whose servers get all of them.
    """
    if not client.passes:
        return []
    rooms = rooms_in(old, name, job, client) if job.rooms is None else job.rooms
    wanted, listed = variables_of(rooms), old.get(client.passes)
    idle = set(variables_of(ROOMS)) - {*wanted}
    own = [it for it in listed if it not in idle] if isinstance(listed, list) else []
    return [*own, *(it for it in wanted if it not in own)]


def entry_for(client: Client, job: Job, rooms: Sequence[str] = ()) -> dict[str, Any]:
    """Return the entry that starts the server for the project. rooms: the words that name them."""
    command, *before = job.installation.server
    project = client.project
    if project is None:
        is_free = job.level == "user" or job.installation.is_command
        project = "" if client.starts_in_project and is_free else job.project
    named = ["--project", project] if project else []
    started = {"command": command, "args": [*before, *named, *rooms]}
    return {**dict(client.first), **started, **dict(client.last)}


def with_entry(
    change: Change,
    path: Keys,
    values: dict[str, Any],
    env: dict[str, str],
    form: str,
    later: Mapping[str, Any],
) -> str:
    """Return the text with these values in the entry, and these in its environment.

    later: what is put in behind them, to be named where nothing can be put in.
    """
    text, below = change.text, (*path, "env")
    if form != "toml":
        for place, put_in in ((path, values), (below, env)):
            for key, value in put_in.items():
                text = with_value(text, (*place, key), value)
        return text
    try:
        text = with_table(text, path, values)
        return with_table(text, below, env) if env else text
    except FixedFormError:
        tables = [table_text(path, {**values, **later}), *([table_text(below, env)] if env else [])]
        facts: Facts = {"path": str(change.path), "block": "\n\n".join(tables)}
        raise EntryError("toml_form", **facts) from None


def _language(old: Mapping[str, Any], job: Job) -> dict[str, str]:
    """Return what the environment of the entry needs for the language that the user asked for."""
    env = old.get("env")
    said = env.get(LANG) if isinstance(env, dict) else None
    now = "ko" if isinstance(said, str) and said.strip().lower().startswith("ko") else "en"
    return {LANG: job.chosen} if job.chosen and job.chosen != now else {}


def _without_start(text: str, path: Keys, old: Mapping[str, Any], job: Job, client: Client) -> str:
    """Return the text without a `cwd` that would name another project."""
    cwd = old.get("cwd")
    if client.project != "" or not client.honours_cwd or not isinstance(cwd, str):
        return text
    expand = expander(client, client.places[0], job.machine)
    start = os.path.join(job.root, expand(cwd))
    if os.path.normpath(start) == str(job.root):
        return text
    return without(text, (*path, "cwd"))


def _variable_note(job: Job, client: Client) -> list[Remark]:
    """Return a note where the client would change a path that holds the sign of its variables."""
    sign = "${" if "{" in client.variables else client.variables[:1]
    for word in job.installation.server:
        if sign and sign in word:
            return [Remark("variable", {"client": client.name, "path": word, "sign": sign})]
    return []


def _other_project(name: str, old: Mapping[str, Any], job: Job, client: Client) -> str:
    """Return the project an entry of the user's own file serves if it is not this one, else ""."""
    machine = job.machine
    if client.places[0].directory == "root" or not old:
        return ""
    words, own = entry_line(old, expander(client, client.places[0], machine)), old.get("env")
    argument = value_of("--project", words[script_at(words, name, machine) + 1 :])
    said = own.items() if isinstance(own, dict) else ()
    env = {key: value for key, value in said if isinstance(value, str)}
    try:
        named = find_project(argument, env, machine.home)
        is_this = os.path.realpath(named.root) == os.path.realpath(job.root)
    except ValueError:  # a name that no system takes
        return ""
    return "" if is_this or named.source == "cwd" else str(named.root)


def without_entry(change: Change, path: Keys, form: str) -> str:
    if form != "toml":
        return without(change.text, path)
    try:
        return without_table(change.text, path)
    except FixedFormError:
        raise EntryError("toml_form_out", path=str(change.path), entry=path[-1]) from None


def _own(data: Any, keys: Keys, job: Job, client: Client) -> tuple[str, Mapping[str, Any]]:
    """Return the name of our entry and what is there of it."""
    entries = value_at(data, keys)
    named = entries if isinstance(entries, dict) else {}
    ours = {
        name: entry
        for name, entry in named.items()
        if isinstance(entry, dict) and _runs_ours(entry, name, job, client)
    }
    if ENTRY in ours or not ours:
        return ENTRY, ours.get(ENTRY, {})
    return next(iter(ours.items()))


def _runs_ours(entry: Mapping[str, Any], name: str, job: Job, client: Client) -> bool:
    """Return whether an entry may be changed: servers of others are named after a sentinel, too."""
    words = entry_line(entry, expander(client, client.places[0], job.machine))
    return script_at(words, name if name == ENTRY else "", job.machine) >= 0
