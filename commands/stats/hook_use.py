"""Counts what hooks showed of a memory over all sessions, and what became of it.

Pure: records and sessions in, figures out.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from commands.hook.journal import Session, is_recent, versions_in
from commands.stats.log_figures import last_s
from core.lessons.record import Record, id_in, ids_in, seconds_of
from core.lessons.record_text import is_harmless

START = "session-start"
MOMENTS = (START, "before-action", "prompt")
SAVED_WITHIN_S = 3_600
_NEVER_S = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """All texts shown at one kind of moment; tokens are estimated."""

    texts: int
    records: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A record, and how often hooks showed it at the start of a session and at an action."""

    record: Record
    at_start: int
    at_action: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unheeded:
    """A record whose gap came back after a hook had shown it. shown_s: seconds since 1970."""

    record: Record
    shown_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Showings:
    """The figures of all sessions on this machine.

    since_s: the first event in seconds since 1970, None without any. shown: most often first. gone:
    how often hooks showed records that the log no longer holds. never: records that no hook showed,
    in the order of the file, without those that no hook may show. changed: sessions that changed
    files.

    Nobody notes when a session ends or who saved a record. So `changed_saved` counts the sessions
    that changed files, and `reminders_saved` the reminders, with a record dated between the first
    event and an hour after the last one.
    """

    sessions: int
    since_s: int | None
    clients: Mapping[str, int]
    moments: Mapping[str, Moment]
    shown: tuple[Shown, ...]
    gone: int
    never: tuple[Record, ...]
    unheeded: tuple[Unheeded, ...]
    reminders: int
    reminders_saved: int
    changed: int
    changed_saved: int


def count_showings(
    records: Sequence[Record], sessions: Iterable[Session], *, now_s: float
) -> Showings:
    """Count the events of the last KEPT_DAYS; skip those of the future."""
    kept = [
        events
        for session in sessions
        if (events := [it for it in session.events if is_recent(it, now_s)])
    ]
    events = [event for session in kept for event in session]
    clients = Counter(_text(session[0], "client") for session in kept)
    reminders = [event["at"] for event in events if event.get("reminded") is True]
    changed = [it for it in kept if any(event.get("changed") is True for event in it)]
    spans = [(session[0]["at"], session[-1]["at"] + SAVED_WITHIN_S) for session in changed]
    at_start = _times_shown(event for event in events if event["event"] == START)
    at_action = _times_shown(event for event in events if event["event"] != START)
    ids = {record.id for record in records}
    known = at_start.keys() | at_action.keys()
    return Showings(
        sessions=len(kept),
        since_s=min((event["at"] for event in events), default=None),
        clients=dict(clients.most_common()),
        moments={name: _moment(events, name) for name in MOMENTS},
        shown=tuple(_most_shown(records, at_start, at_action)),
        gone=sum((at_start + at_action)[name] for name in known - ids),
        never=tuple(it for it in records if kept and it.id not in known and is_harmless(it)),
        unheeded=tuple(_unheeded(records, events)),
        reminders=len(reminders),
        reminders_saved=_saved(records, [(at, at + SAVED_WITHIN_S) for at in reminders]),
        changed=len(changed),
        changed_saved=_saved(records, spans),
    )


def _shown(event: Mapping[str, Any]) -> list[str]:
    """Return the ids of the records that an event showed."""
    return list(map(id_in, versions_in(event, "shown")))


def _times_shown(events: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Count by record id how often these events showed it."""
    return Counter(name for event in events for name in _shown(event))


def _moment(events: Iterable[Mapping[str, Any]], name: str) -> Moment:
    shown = [
        event
        for event in events
        if event["event"] == name and (_shown(event) or event.get("tokens"))
    ]
    return Moment(
        texts=len(shown),
        records=sum(len(_shown(event)) for event in shown),
        tokens=sum(_number(event, "tokens") for event in shown),
    )


def _most_shown(
    records: Iterable[Record], at_start: Counter[str], at_action: Counter[str]
) -> list[Shown]:
    counted = [
        Shown(record=record, at_start=at_start[record.id], at_action=at_action[record.id])
        for record in records
        if record.id in at_start or record.id in at_action
    ]
    return sorted(counted, key=lambda it: (it.at_action, it.at_start), reverse=True)


def _unheeded(records: Sequence[Record], events: Iterable[Mapping[str, Any]]) -> list[Unheeded]:
    """Return the records whose gap was logged again after they were shown.

    A principle shows what its originals said, so it counts for them, too.
    """
    first: dict[str, int] = {}
    for event in sorted(events, key=itemgetter("at")):
        if event["event"] != START:
            for name in _shown(event):
                first.setdefault(name, event["at"])
    taught: dict[str, list[int]] = {name: [at] for name, at in first.items()}
    for record in records:
        for name in ids_in(record.source_ids) if record.id in first else ():
            taught.setdefault(name, []).append(first[record.id])
    found = [
        Unheeded(record=record, shown_s=min(taught[record.id]))
        for record in records
        if record.seen > 1 and last_s(record) > min(taught.get(record.id, [_NEVER_S]))
    ]
    return sorted(found, key=lambda it: last_s(it.record), reverse=True)


def _saved(records: Iterable[Record], spans: Sequence[tuple[int, int]]) -> int:
    """Count the spans of time in which some record was saved."""
    moments = {moment for record in records for moment in (record.created, record.updated)}
    saves = sorted(map(seconds_of, moments))
    return sum(bisect_left(saves, begin) < bisect_right(saves, end) for begin, end in spans)


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name, "")
    return value if isinstance(value, str) else ""


def _number(event: Mapping[str, Any], name: str) -> int:
    value = event.get(name, 0)
    return value if type(value) is int and value > 0 else 0
