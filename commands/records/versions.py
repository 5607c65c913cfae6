"""Shows every version of a record: in the log, kept beside it, and in git."""

from collections.abc import Sequence
from dataclasses import dataclass

from commands.records.filters import as_json, last_of
from commands.terminal.ask import progress
from commands.terminal.records import block, replacing, topic_name
from commands.terminal.safe_text import plain
from commands.terminal.screen import screen_here
from core.git import HistoryError
from core.lessons.history import History, Version, former_selves_of, named, principles_over
from core.lessons.record import Record, ids_in
from core.messages import say
from rooms.room import Opened

_MINUTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What is known of one record. principles: as of `principles_over`. notes: of `History`."""

    id: str
    principles: Sequence[tuple[Record, str]]
    found: Sequence[Version]
    has_git: bool
    notes: Sequence[str]


def versions_named(opened: Opened, names: Sequence[str]) -> list[Versions]:
    """Return the versions of each record that is named, each record once. Raises HistoryError."""
    history = History(opened.store.path, opened.store.read(), opened.store.read_replaced())
    with progress():
        ids = dict.fromkeys(named(name, history).id for name in names)
        return [_versions(history, id_) for id_ in ids]


def _versions(history: History, record_id: str) -> Versions:
    found = history.versions({record_id})
    if not found:
        raise HistoryError("unknown", *history.notes(), name=record_id)
    former = {id_ for it in found for id_ in ids_in(former_selves_of(it.record))}
    if former - {record_id}:
        found = history.versions({record_id, *former})
    return Versions(
        id=record_id,
        principles=principles_over(record_id, history.log),
        found=found,
        has_git=history.has_git,
        notes=_notes(history),
    )


def _notes(history: History) -> list[str]:
    try:
        return [say(f"git.{note}") for note in history.notes()]
    except HistoryError as error:  # there is no repository, or it has no commit
        return [str(error)]


def version_lines(versions: Versions) -> list[str]:
    """Return the versions of one record for a person, without secrets."""
    lines = [screen_here().painted(plain(versions.id), "bold")]
    for principle, token in versions.principles:
        facts = {"by": replacing(principle), "topic": topic_name(principle.topic)}
        lines.append(say("records.replaced_by", token=plain(token), **facts))
    lines.append(say("records.versions", count=len(versions.found)))
    lines += versions.notes
    for number, version in enumerate(versions.found, start=1):
        places = "; ".join(_places(version, has_git=versions.has_git))
        lines += ["", f"{number}. {_date(last_of(version.record))}  {places}"]
        lines += block(version.record)
    return lines


def _places(version: Version, *, has_git: bool) -> list[str]:
    places = []
    if version.is_shown:
        places.append(say("records.in_log"))
    if version.is_hidden:
        places.append(say("records.in_hidden_line"))
    if version.kept:
        places.append(say("records.in_side_file", date=_date(version.kept.at)))
    if version.commit:
        facts = {"commit": version.commit.short, "date": _date(version.commit.date)}
        places.append(say("records.in_commit", **facts))
    elif has_git:
        places.append(say("records.in_no_commit"))
    return places


def _date(date: str) -> str:
    return plain(date[:_MINUTES].replace("T", " "))


def version_data(all_versions: Sequence[Versions]) -> dict[str, object]:
    """Return the versions as data for scripts; docs/commands.md describes the keys."""
    notes = [note for versions in all_versions for note in versions.notes]
    return {
        "versions": [_as_json(it) for versions in all_versions for it in versions.found],
        "notes": list(dict.fromkeys(notes)),
    }


def _as_json(version: Version) -> dict[str, object]:
    kept, commit = version.kept, version.commit
    places = {
        "log": "shown" if version.is_shown else "hidden" if version.is_hidden else None,
        "kept_since": kept.at if kept else None,
        "replaced_by": (kept.by or None) if kept else None,
        "commit": commit.id if commit else None,
        "committed_at": commit.date if commit else None,
    }
    return {**as_json(version.record), "places": places}
