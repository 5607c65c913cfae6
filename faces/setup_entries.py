"""Plans the server's entry in the configuration of a client: put in, brought up to date, taken out.

An entry of ours that is there keeps its name and its other keys, such as `env`.
"""

from collections.abc import Mapping
from typing import Any

from faces.client_table import paths_of, script_at
from faces.jsonc import OtherKindError, data_of, with_value, without
from faces.setup_files import Change, Desk, Job, RemarkError, strings_in, unless_made
from faces.setup_table import ENTRY, Target
from faces.toml_table import FixedFormError, table_text, tables_of, with_table, without_table

Keys = tuple[str, ...]
COMMAND = ("command", "args")


def plan_entry(desk: Desk, job: Job, target: Target) -> None:
    """Edit the file of the project, of a client without projects that of the user."""
    places = target.client.places
    keys = places[0].keys[0]
    paths = paths_of(places[0], job.machine)
    for place in places[1:]:
        if place.directory == "packages":
            paths += paths_of(place, job.machine)
    for path in paths:
        with desk.editing(path, "entry", target) as change:
            _edit(change, job, target, keys)


def _edit(change: Change, job: Job, target: Target, keys: Keys) -> None:
    text, form = change.text, target.client.form
    data = tables_of(text) if form == "toml" else _object(text, comments=form == "jsonc")
    name, old = _own(data, keys, job, target)
    change.shown |= {name} | strings_in([old.get(key) for key in COMMAND])
    path = (*keys, name)
    if not job.remove:
        entry = target.entry(job.installation, job.project)
        change.shown |= strings_in(entry)
        change.after = _with_entry(text, path, entry, form, is_new=not old)
    elif old:
        change.after = unless_made(change, _without_entry(text, path, form))


def _with_entry(text: str, path: Keys, entry: dict[str, Any], form: str, *, is_new: bool) -> str:
    """The text with a new entry, or with the command of one that is there brought up to date."""
    values = entry if is_new else {key: entry[key] for key in COMMAND}
    if form == "toml":
        try:
            return with_table(text, path, values)
        except FixedFormError:
            raise RemarkError("toml_form", block=table_text(path, entry)) from None
    comments = form == "jsonc"
    if is_new:
        return with_value(text, path, values, comments=comments)
    for key, value in values.items():
        text = with_value(text, (*path, key), value, comments=comments)
    return text


def _without_entry(text: str, path: Keys, form: str) -> str:
    if form != "toml":
        return without(text, path, comments=form == "jsonc")
    try:
        return without_table(text, path)
    except FixedFormError:
        raise RemarkError("toml_form_out", entry=path[-1]) from None


def _object(text: str, *, comments: bool) -> Any:
    data = data_of(text, comments=comments)
    if data is not None and not isinstance(data, dict):
        raise OtherKindError(())
    return data


def _own(data: Any, keys: Keys, job: Job, target: Target) -> tuple[str, Mapping[str, Any]]:
    """The name of our entry and what is there of it. Raises RemarkError."""
    entries = data
    for key in keys:
        entries = entries.get(key) if isinstance(entries, dict) else None
    named = entries if isinstance(entries, dict) else {}
    ours = {
        name: entry
        for name, entry in named.items()
        if isinstance(entry, dict) and script_at(entry, name, target.client, job.machine) >= 0
    }
    if ENTRY in named and ENTRY not in ours and not job.remove:
        raise RemarkError("foreign_entry", entry=ENTRY)
    if ENTRY in ours or not ours:
        return ENTRY, ours.get(ENTRY, {})
    return next(iter(ours.items()))
