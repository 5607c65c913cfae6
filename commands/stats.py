"""Counts the items of rooms, a search's cost, and records that hooks showed; only reads."""

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from commands.hook.journal import KEPT_DAYS, Session, is_recent, sessions_in, versions_in
from commands.terminal.ask import open_memory, unless_unread
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import Screen, print_within, screen_here, table, wrapped
from core.config import Settings, state_directory
from core.lessons.answers import Frame, search_answer
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in, seconds_of
from core.lessons.record_text import is_harmless, topic_text
from core.messages import say
from core.sanitizer import redact
from core.text.plain import estimate_tokens
from rooms.room import LESSONS, Opened, Wanted, rooms_of

WARNED_TOKENS = 10_000  # of an answer; from here on Claude Code warns
BOUNDLESS = 10**12
START = "session-start"
MOMENTS = (START, "before-action", "prompt")
MOST_ROWS = 8
MOST_CHARS = 2_000
ID_CHARS, DAY_CHARS = 8, len("2026-11-22")
UNKNOWN_DAY = "????-??-??"

Events = Iterable[Mapping[str, Any]]


def stats(arguments: argparse.Namespace) -> int:
    """Print the figures of each room, of searches and of hooks. Raises SentinelError."""
    opened = open_memory(arguments)
    screen, named = screen_here(), arguments.room or []
    data: dict[str, Any] = {"project": str(opened.project.root)}
    lines = list[str]()
    for room in rooms_of(opened, named):
        figures = unless_unread(room, room.figures, named=named)
        if not figures or not (figures.lines or room.name in named):
            continue
        data[room.name] = figures.data
        lines += ["", screen.painted(plain(figures.headline), "bold")]
        for text in figures.lines or room.nothing(Wanted()):
            lines += _said(plain(text), screen)
        if room.name == LESSONS:
            lines += _of_lessons(opened, data, screen)
    if arguments.json:
        print(plain_json(data))
        return 0
    if LESSONS in data:  # other rooms need not be of a project
        print(say("stats.project", path=screen.painted(plain(data["project"]), "dim")))
    print_within(lines if LESSONS in data else lines[1:])
    return 0


def _of_lessons(opened: Opened, data: dict[str, Any], screen: Screen) -> list[str]:
    """Put the figures of the lessons into `data`; return their lines."""
    root = str(opened.project.root)
    log = MemoryLog.parse(opened.store.read_bytes())
    sessions = sessions_in(state_directory(root, os.environ))
    again = sorted((it for it in log.records if it.seen > 1), key=_last_s, reverse=True)
    data["search"] = search_cost(log, root, opened.settings)
    data["came_back"] = [record_data(it) for it in sorted(again, key=lambda it: -it.seen)]
    data["hooks"] = hooks = showings(log.records, sessions, now_s=time.time())
    if not log.count:
        return []
    tables = (
        ("most_shown", ("at_start", "at_action"), hooks["shown"]),
        ("unheeded", ("shown", "last"), hooks["unheeded"]),
        ("never", ("last",), hooks["never_shown"]),
    )
    by_token = {_safe(it.token): it for it in log.records}
    title = say("stats.came_back", count=len(again))
    lines = _search_lines(data["search"], screen)
    lines += _section(title, ("seen", "last"), data["came_back"], by_token, screen)
    lines += _hook_lines(hooks, screen)
    for name, columns, entries in tables if hooks["sessions"] else ():
        title = say(f"stats.{name}", count=len(entries))
        lines += _section(title, columns, entries, by_token, screen)
    return lines


# The cost of a search


def search_cost(log: MemoryLog, root: str, settings: Settings) -> dict[str, Any]:
    """Return the size of a task's first search. whole_tokens: if nothing were left out."""
    frame = Frame(project=root, settings=settings)
    boundless = settings._replace(budget_tokens=BOUNDLESS, budget_chars=BOUNDLESS)
    answer = search_answer(log, frame, query="")
    whole = search_answer(log, replace(frame, settings=boundless), query="")
    return {
        "tokens": estimate_tokens(answer),
        "chars": len(answer),
        "whole_tokens": estimate_tokens(whole),
        "shows_all": answer == whole,
        "budget_tokens": settings.budget_tokens,
        "budget_chars": settings.budget_chars,
        "warned_tokens": WARNED_TOKENS,
    }


def _search_lines(cost: Mapping[str, Any], screen: Screen) -> list[str]:
    key = "search_whole" if cost["shows_all"] else "search_part"
    text = say(
        f"stats.{key}",
        tokens=cost["tokens"],
        budget=cost["budget_tokens"],
        whole=cost["whole_tokens"],
        chars=cost["budget_chars"],
    )
    if cost["tokens"] >= WARNED_TOKENS:
        text = f"{text} {say('stats.search_warned', limit=WARNED_TOKENS)}"
    return _said(text, screen)


# Notes of hooks


def showings(
    records: Sequence[Record], sessions: Iterable[Session], *, now_s: float
) -> dict[str, Any]:
    """Count the notes of hooks in the last KEPT_DAYS."""
    kept = [
        events
        for session in sessions
        if (events := [it for it in session.events if is_recent(it, now_s)])
    ]
    events = [event for session in kept for event in session]
    at_start = _times_shown(it for it in events if it["event"] == START)
    at_action = _times_shown(it for it in events if it["event"] != START)
    times = {it.id: (at_action[it.id], at_start[it.id]) for it in records}
    shown = [it for it in records if any(times[it.id])]
    shown.sort(key=lambda it: times[it.id], reverse=True)
    never = [it for it in records if kept and not any(times[it.id]) and is_harmless(it)]
    unheeded = _unheeded(records, events)
    clients = (it[0].get("client", "") for it in kept)
    called = Counter(_safe(it) if isinstance(it, str) else "" for it in clients)
    return {
        "days": KEPT_DAYS,
        "sessions": len(kept),
        "since": _moment(min((it["at"] for it in events), default=None)),
        "clients": dict(called.most_common()),
        "moments": {name: _totals(events, name) for name in MOMENTS},
        "shown": [
            {**record_data(it), "at_start": at_start[it.id], "at_action": at_action[it.id]}
            for it in shown
        ],
        "shown_and_gone": sum((at_start + at_action).values())
        - sum(sum(pair) for pair in times.values()),
        "unheeded": [{**record_data(it), "shown": _moment(at)} for it, at in unheeded],
        "never_shown": [record_data(it) for it in never],
        "changed_sessions": sum(any(it.get("changed") is True for it in part) for part in kept),
        "reminders": sum(it.get("reminded") is True for it in events),
    }


def _times_shown(events: Events) -> Counter[str]:
    return Counter(id_in(name) for event in events for name in versions_in(event, "shown"))


def _totals(events: Events, name: str) -> dict[str, int]:
    of_moment = [it for it in events if it["event"] == name]
    records = [len(versions_in(it, "shown")) for it in of_moment]
    given = [it.get("tokens") for it in of_moment]
    tokens = [it if type(it) is int and it > 0 else 0 for it in given]
    texts = sum(any(both) for both in zip(records, tokens, strict=True))
    return {"texts": texts, "records": sum(records), "tokens": sum(tokens)}


def _unheeded(records: Sequence[Record], events: Events) -> list[tuple[Record, int]]:
    """Return records whose gap came back after an action showed them, and when that was.

    A principle counts for its originals too.
    """
    first: dict[str, int] = {}
    for event in sorted(events, key=itemgetter("at")):
        for name in versions_in(event, "shown") if event["event"] != START else ():
            first.setdefault(id_in(name), event["at"])
    taught = {name: [at] for name, at in first.items()}
    for record in records:
        for name in ids_in(record.source_ids) if record.id in first else ():
            taught.setdefault(name, []).append(first[record.id])
    found = [
        (record, min(taught[record.id]))
        for record in records
        if record.seen > 1 and record.id in taught and _last_s(record) > min(taught[record.id])
    ]
    return sorted(found, key=lambda it: _last_s(it[0]), reverse=True)


def _hook_lines(hooks: Mapping[str, Any], screen: Screen) -> list[str]:
    lines = ["", screen.painted(say("stats.hooks", days=KEPT_DAYS), "bold")]
    if not hooks["sessions"]:
        return [*lines, *_said(say("stats.no_sessions"), screen)]
    clients = ", ".join(
        f"{plain(name) or say('stats.unnamed')} {count:,}"
        for name, count in hooks["clients"].items()
    )
    tokens = sum(it["tokens"] for it in hooks["moments"].values())
    facts = {"sessions": hooks["sessions"], "day": hooks["since"][:DAY_CHARS], "tokens": tokens}
    rows = [
        [f"{it['texts']:,}", f"{it['records']:,}", f"{it['tokens']:,}", say(f"stats.{name}")]
        for name, it in hooks["moments"].items()
    ]
    heads = [say(f"stats.{name}") for name in ("times", "count", "tokens", "shown_at")]
    changed = {"changed": hooks["changed_sessions"], "reminders": hooks["reminders"]}
    lines += _said(say("stats.sessions", clients=clients, **facts), screen)
    lines += table(heads, rows, screen.width)
    lines += _said(say("stats.changed", **changed), screen)
    if hooks["shown_and_gone"]:
        lines += _said(say("stats.gone", gone=hooks["shown_and_gone"]), screen)
    return lines


# Records, as data and in tables


def record_data(record: Record) -> dict[str, Any]:
    """Return a record's data without its texts."""
    return {
        "token": _safe(record.token),
        "type": record.type,
        "topic": _safe(record.topic),
        "seen": record.seen,
        "last": _moment(_last_s(record)),
    }


def _section(
    title: str,
    columns: Sequence[str],
    entries: Sequence[Mapping[str, Any]],
    by_token: Mapping[str, Record],
    screen: Screen,
) -> list[str]:
    lines = ["", screen.painted(title, "bold")]
    if not entries:
        return lines
    rows = []
    for entry in entries[:MOST_ROWS]:
        record = by_token[entry["token"]]
        text = " ".join(_safe(record.key_text).split())
        topic = topic_text(entry["topic"])
        values = [entry[name] for name in columns]
        cells = [
            f"{it:,}" if isinstance(it, int) else (it or UNKNOWN_DAY)[:DAY_CHARS] for it in values
        ]
        rows.append([*cells, plain(entry["token"][:ID_CHARS]), plain(f"[{topic}] {text}")])
    heads = [*(say(f"stats.column_{name}") for name in columns), "id", say("stats.record")]
    lines += table(heads, rows, screen.width)
    if more := len(entries) - MOST_ROWS:
        lines += _said(say("stats.more", more=more), screen) if more > 0 else []
    return lines


def _said(text: str, screen: Screen) -> list[str]:
    return wrapped(text, screen.text_width)


def _last_s(record: Record) -> float:
    """Return when a gap was last logged, in seconds since 1970."""
    return seconds_of(record.updated or record.created)


def _moment(at_s: float | None) -> str | None:
    """Return a moment in ISO 8601 and UTC, None also for an impossible date."""
    try:
        return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds") if at_s else None
    except (ValueError, OverflowError, OSError):
        return None


def _safe(text: str) -> str:
    """Return a text's beginning, redacted: a hand may have logged a secret."""
    return redact(text[:MOST_CHARS]).text
