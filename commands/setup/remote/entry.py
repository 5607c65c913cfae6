"""Plans the entry of a server that others run: puts it in beside our own, updates it, takes it out.

It names the variable that holds the key. What else the user has put into the entry stays.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from commands.documents.edit_json import with_value, without
from commands.documents.edit_toml import without_value
from commands.documents.json_tree import check_taken, value_at
from commands.setup.client_table import ENTRY, TEAM_ENTRY, URL, VARIABLE, Client, Remote
from commands.setup.entries import (
    data_in,
    entry_of,
    files_of_entry,
    granted_by,
    with_entry,
    without_entry,
)
from commands.setup.files import (
    Change,
    Desk,
    EntryError,
    Job,
    Remark,
    strings_in,
    unless_made,
)
from commands.setup.remote.address import KEY_VARIABLE, is_readable_on_the_way
from commands.setup.rooms import rooms_in
from core.messages import Facts

DEFAULT_REMOTE_ROOMS = ("fragments",)
Keys = tuple[str, ...]


def plan_remote(desk: Desk, job: Job, client: Client) -> list[Remark]:
    """Edit the file of the project, or of the user; what to know."""
    if client.remote is None:
        facts: Facts = {"client": client.name, "url": job.url}
        return [] if job.remove else [Remark(f"no_remote_{client.key}", facts)]
    for path in files_of_entry(client, job):
        with desk.editing(path, "remote", client) as change:
            _edit(change, job, client, client.remote)
    return [] if job.remove else [*_notes(desk, job, client)]


def remote_rooms(job: Job) -> tuple[str, ...]:
    """Return the rooms that the server offers, as far as the user has said."""
    return job.rooms or DEFAULT_REMOTE_ROOMS


def is_remote(entry: object) -> bool:
    """Return whether an entry reaches a server instead of starting one."""
    return isinstance(entry, dict) and "command" not in entry


def _edit(change: Change, job: Job, client: Client, remote: Remote) -> None:
    if client.form == "json" and not job.remove:
        check_taken(change.text, client.takes)
    path = (*client.places[0].keys[0], TEAM_ENTRY)
    old = value_at(data_in(change.text, client), path)
    if job.remove:
        if is_remote(old):
            change.shown |= {TEAM_ENTRY, *strings_in(remote.entry), *_addresses(old, remote)}
            change.after = unless_made(change, without_entry(change, path, client.form))
        return
    if old is not None and not is_remote(old):
        raise EntryError("foreign_entry", path=str(change.path), entry=TEAM_ENTRY)
    there: Mapping[str, Any] = old or {}
    granted = granted_by(client) if job.approvals else {}
    values = _filled(remote.entry, job) | {k: v for k, v in granted.items() if k not in there}
    key = {} if job.oauth else _filled(remote.key, job)
    change.shown |= {TEAM_ENTRY, *strings_in([values, key]), *_addresses(there, remote)}
    text = change.text
    if client.form == "toml":
        for name in remote.key if not key else ():
            text = without_value(text, path, name)
        change.after = text
        change.after = with_entry(change, path, values | key, {}, client.form, {})
        return
    for below, value in (*_leaves(values), *_leaves(key)):
        text = with_value(text, (*path, *below), value)
    for below, _ in _leaves(remote.key) if not key else ():
        text = without(text, (*path, *below), kept=len(path))
    change.after = text


def _notes(desk: Desk, job: Job, client: Client) -> Iterator[Remark]:
    if is_readable_on_the_way(job.url):
        yield Remark("plain_http", {"url": job.url})
    name, own = entry_of(desk, job, client)
    both = {*rooms_in(own, name, job, client)} & {*remote_rooms(job)} if own else set()
    if both:
        facts: Facts = {"client": client.name, "rooms": ", ".join(sorted(both)), "entry": ENTRY}
        yield Remark("offered_twice", facts)


def _filled(form: Any, job: Job) -> Any:
    if isinstance(form, Mapping):
        return {key: _filled(part, job) for key, part in form.items()}
    if isinstance(form, str):
        return form.replace(URL, job.url).replace(VARIABLE, KEY_VARIABLE)
    return form


def _leaves(values: Mapping[str, Any], above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Yield what stands in an object and in those below it, with the keys to it."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


def _addresses(entry: Any, remote: Remote) -> set[str]:
    """Return the address in an entry, which a diff may show; the rest of it is the user's."""
    names = [name for name, value in remote.entry.items() if value == URL]
    return strings_in([entry.get(name) for name in names]) if isinstance(entry, dict) else set()
