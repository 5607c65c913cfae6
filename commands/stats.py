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
from commands.terminal import screen as terminal
from commands.terminal.ask import ask_room, open_memory
from commands.terminal.screen import plain, render_table, screen_here
from core.config import state_directory
from core.lessons.answers import Frame, search_answer
from core.lessons.log import MemoryLog
from core.lessons.record import Record, id_in, ids_in, seconds_of
from core.lessons.record_text import is_harmless, topic_text
from core.messages import say
from core.sanitizer import redact
from core.text.plain import estimate_tokens
from rooms.room import LESSONS, Filter, Memory, rooms_of

WARNED_TOKENS = 10_000  # of an answer; from here on Claude Code warns
BOUNDLESS = 10**12
START = "session-start"
MOMENTS = (START, "before-action", "prompt")
MOST_ROWS, MOST_CHARS = 8, 2_000
ID_CHARS, DAY_CHARS = 8, len("2026-11-22")
UNKNOWN_DAY = "????-??-??"


def stats(arguments: argparse.Namespace) -> int:
    """Print the figures of each room, of searches and of hooks. Raises SentinelError."""
    opened = open_memory(arguments)
    named = arguments.room or []
    data: dict[str, Any] = {"project": str(opened.project.root)}
    lines = list[str]()
    for room in rooms_of(opened, named):
        figures = ask_room(room, room.figures, named=named)
        if not figures or not (figures.lines or room.name in named):
            continue
        data[room.name] = figures.data
        lines += ["", terminal.paint(plain(figures.headline), "bold")]
        for text in figures.lines or room.explain_no_match(Filter()):
            lines += _said(plain(text))
        if room.name == LESSONS:
            lines += _of_lessons(opened, data)
    if arguments.json:
        print(terminal.plain_json(data))
        return 0
    if LESSONS in data:  # other rooms need not be of a project
        print(say("stats.project", path=terminal.paint(plain(data["project"]), "dim")))
    terminal.print_within(lines if LESSONS in data else lines[1:])
    return 0


def _of_lessons(opened: Memory, data: dict[str, Any]) -> list[str]:
    """Put the figures of the lessons into `data`; return their lines."""
    root, settings = str(opened.project.root), opened.settings
    log = MemoryLog.parse(opened.store.read_bytes())
    frame = Frame(project=root, settings=settings)
    boundless = settings._replace(budget_tokens=BOUNDLESS, budget_chars=BOUNDLESS)
    answer = search_answer(log, frame, query="")  # the first search of a task
    whole = search_answer(log, replace(frame, settings=boundless), query="")
    tokens, whole_tokens = estimate_tokens(answer), estimate_tokens(whole)
    data["search"] = {
        "tokens": tokens,
        "chars": len(answer),
        "whole_tokens": whole_tokens,
        "shows_all": answer == whole,
        "budget_tokens": settings.budget_tokens,
        "budget_chars": settings.budget_chars,
        "warned_tokens": WARNED_TOKENS,
    }
    again = sorted((it for it in log.records if it.seen > 1), key=_last_s, reverse=True)
    data["came_back"] = [record_data(it) for it in sorted(again, key=lambda it: -it.seen)]
    sessions = sessions_in(state_directory(root, os.environ))
    data["hooks"] = hooks = count_showings(log.records, sessions, now_s=time.time())
    if not log.count:
        return []
    key = "search_whole" if answer == whole else "search_part"
    budgets = {"budget": settings.budget_tokens, "chars": settings.budget_chars}
    text = say(f"stats.{key}", tokens=tokens, whole=whole_tokens, **budgets)
    if tokens >= WARNED_TOKENS:
        text = f"{text} {say('stats.search_warned', limit=WARNED_TOKENS)}"
    by_token = {_safe(it.version_id): it for it in log.records}
    title = say("stats.came_back", count=len(again))
    lines = _said(text)
    lines += _section(title, ("seen", "last"), data["came_back"], by_token)
    return lines + _hook_lines(hooks, by_token)


# Notes of hooks


def count_showings(
    records: Sequence[Record], sessions: Iterable[Session], *, now_s: float
) -> dict[str, Any]:
    """Count the notes of hooks in the last KEPT_DAYS."""
    recent = ([it for it in session.events if is_recent(it, now_s)] for session in sessions)
    kept = [events for events in recent if events]
    events = [event for session in kept for event in session]
    at_start, at_action = Counter[str](), Counter[str]()
    moments = {name: {"texts": 0, "records": 0, "tokens": 0} for name in MOMENTS}
    for event in events:
        ids = [id_in(name) for name in versions_in(event)]
        times_shown = at_start if event["event"] == START else at_action
        times_shown.update(ids)
        if totals := moments.get(event["event"]):
            given = event.get("tokens")
            tokens = given if type(given) is int and given > 0 else 0
            totals["texts"] += 1 if ids or tokens else 0
            totals["records"] += len(ids)
            totals["tokens"] += tokens
    times = {it.id: (at_action[it.id], at_start[it.id]) for it in records}
    shown = [it for it in records if any(times[it.id])]
    shown.sort(key=lambda it: times[it.id], reverse=True)
    never = [it for it in records if kept and not any(times[it.id]) and is_harmless(it)]
    clients = (it[0].get("client", "") for it in kept)
    called = Counter(_safe(it) if isinstance(it, str) else "" for it in clients)
    return {
        "days": KEPT_DAYS,
        "sessions": len(kept),
        "since": _moment(min((it["at"] for it in events), default=None)),
        "clients": dict(called.most_common()),
        "moments": moments,
        "shown": [
            {**record_data(it), "at_start": at_start[it.id], "at_action": at_action[it.id]}
            for it in shown
        ],
        "shown_and_gone": (at_start + at_action).total() - sum(map(sum, times.values())),
        "unheeded": [
            {**record_data(it), "shown": _moment(at)} for it, at in _unheeded(records, events)
        ],
        "never_shown": [record_data(it) for it in never],
        "changed_sessions": sum(any(it.get("changed") is True for it in part) for part in kept),
        "reminders": sum(it.get("reminded") is True for it in events),
    }


def _unheeded(
    records: Sequence[Record], events: Iterable[Mapping[str, Any]]
) -> list[tuple[Record, int]]:
    """Return records whose gap came back after an action showed them, and when that was.

    A principle counts for its originals too.
    """
    first: dict[str, int] = {}
    for event in sorted(events, key=itemgetter("at")):
        for name in versions_in(event) if event["event"] != START else ():
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


def _hook_lines(hooks: Mapping[str, Any], by_token: Mapping[str, Record]) -> list[str]:
    lines = ["", terminal.paint(say("stats.hooks", days=KEPT_DAYS), "bold")]
    if not hooks["sessions"]:
        return [*lines, *_said(say("stats.no_sessions"))]
    clients = ", ".join(
        f"{plain(name) or say('stats.unnamed')} {count:,}"
        for name, count in hooks["clients"].items()
    )
    tokens = sum(it["tokens"] for it in hooks["moments"].values())
    facts = {"sessions": hooks["sessions"], "day": hooks["since"][:DAY_CHARS], "tokens": tokens}
    lines += _said(say("stats.sessions", clients=clients, **facts))
    rows = [
        [f"{it['texts']:,}", f"{it['records']:,}", f"{it['tokens']:,}", say(f"stats.{name}")]
        for name, it in hooks["moments"].items()
    ]
    heads = [say(f"stats.{name}") for name in ("times", "count", "tokens", "shown_at")]
    lines += render_table(heads, rows)
    changed = {"changed": hooks["changed_sessions"], "reminders": hooks["reminders"]}
    lines += _said(say("stats.changed", **changed))
    if hooks["shown_and_gone"]:
        lines += _said(say("stats.gone", gone=hooks["shown_and_gone"]))
    tables = (
        ("most_shown", ("at_start", "at_action"), hooks["shown"]),
        ("unheeded", ("shown", "last"), hooks["unheeded"]),
        ("never", ("last",), hooks["never_shown"]),
    )
    for name, columns, entries in tables:
        title = say(f"stats.{name}", count=len(entries))
        lines += _section(title, columns, entries, by_token)
    return lines


# Records, as data and in tables


def record_data(record: Record) -> dict[str, Any]:
    """Return a record's data without its texts."""
    return {
        "token": _safe(record.version_id),
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
) -> list[str]:
    lines = ["", terminal.paint(title, "bold")]
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
    lines += render_table(heads, rows)
    if more := len(entries[MOST_ROWS:]):
        lines += _said(say("stats.more", more=more))
    return lines


def _said(text: str) -> list[str]:
    return terminal.wrap_text(text, screen_here().text_width)


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
