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
from commands.terminal.screen import plain, render_table, wrap_text
from core.config import state_directory
from core.lessons.answers import Frame, search_answer
from core.lessons.log import cached_log
from core.lessons.record import Record, id_in, ids_in
from core.lessons.record_text import is_harmless, topic_text
from core.messages import say
from core.sanitizer import redact
from core.text.plain import estimate_tokens, seconds_of
from rooms.room import LESSONS, Filter, Memory, rooms_of

WARNED_TOKENS = 10_000  # of an answer; from here on Claude Code warns
BOUNDLESS = 10**12
START = "session-start"
MOMENTS = (START, "before-action", "prompt")
MOST_ROWS, MOST_CHARS = 8, 2_000
ID_CHARS, DAY_CHARS = 8, len("2026-11-22")


def stats(options: argparse.Namespace) -> int:
    """Print the figures of each room, of searches and of hooks. Raises SentinelError."""
    memory = open_memory(options)
    names = options.room or []
    data: dict[str, Any] = {"project": str(memory.project.root)}
    lines, screen = list[str](), terminal.screen_here()
    for room in rooms_of(memory, names):
        figures = ask_room(room, room.figures, names=names)
        if not figures or not (figures.lines or room.name in names):
            continue
        data[room.name] = figures.data
        lines += ["", screen.paint(plain(figures.headline), "bold")]
        for text in figures.lines or room.explain_no_match(Filter()):
            lines += wrap_text(plain(text))
        if room.name == LESSONS:
            lines += _lesson_lines(memory, data)
    if options.json:
        print(terminal.plain_json(data))
        return 0
    if LESSONS in data:  # other rooms need not be of a project
        print(say("stats.project", path=screen.paint(plain(data["project"]), "dim")))
    terminal.print_within(lines if LESSONS in data else lines[1:])
    return 0


def _lesson_lines(memory: Memory, data: dict[str, Any]) -> list[str]:
    """Put the figures of the lessons into `data`; return their lines."""
    root, settings = str(memory.project.root), memory.settings
    log = cached_log(memory.store.read_bytes())
    frame = Frame(project=root, settings=settings)
    boundless = settings._replace(budget_tokens=BOUNDLESS, budget_chars=BOUNDLESS)
    answer = search_answer(log, frame, query="")  # the first search of a task
    full_answer = search_answer(log, replace(frame, settings=boundless), query="")
    tokens, full_tokens = estimate_tokens(answer), estimate_tokens(full_answer)
    data["search"] = {
        "tokens": tokens,
        "chars": len(answer),
        "whole_tokens": full_tokens,
        "shows_all": answer == full_answer,
        "budget_tokens": settings.budget_tokens,
        "budget_chars": settings.budget_chars,
        "warned_tokens": WARNED_TOKENS,
    }
    returned_records = [record for record in log.records if record.seen > 1]
    returned_records.sort(key=lambda record: (-record.seen, -_last_s(record)))
    data["came_back"] = list(map(record_data, returned_records))
    sessions = sessions_in(state_directory(root, os.environ))
    data["hooks"] = hooks = count_showings(log.records, sessions, now_s=time.time())
    if not log.count:
        return []
    key = "search_whole" if answer == full_answer else "search_part"
    budgets = {"budget": settings.budget_tokens, "chars": settings.budget_chars}
    text = say(f"stats.{key}", tokens=tokens, whole=full_tokens, **budgets)
    if tokens >= WARNED_TOKENS:
        text = f"{text} {say('stats.search_warned', limit=WARNED_TOKENS)}"
    by_id = {_safe_text(record.version_id): record for record in log.records}
    title = say("stats.came_back", count=len(returned_records))
    section = _section_lines(title, ("seen", "last"), data["came_back"], by_id)
    return [*wrap_text(text), *section, *_hook_lines(hooks, by_id)]


# Notes of hooks


def count_showings(
    records: Sequence[Record], sessions: Iterable[Session], *, now_s: float
) -> dict[str, Any]:
    """Count the notes of hooks in the last KEPT_DAYS."""
    groups = ([note for note in session.events if is_recent(note, now_s)] for session in sessions)
    runs = [notes for notes in groups if notes]  # of each session
    events = [event for run in runs for event in run]
    starts, actions = Counter[str](), Counter[str]()
    moments = {name: {"texts": 0, "records": 0, "tokens": 0} for name in MOMENTS}
    for event in events:
        ids = [id_in(name) for name in versions_in(event)]
        (starts if event["event"] == START else actions).update(ids)
        if totals := moments.get(event["event"]):
            value = event.get("tokens")
            tokens = value if type(value) is int and value > 0 else 0
            totals["texts"] += 1 if ids or tokens else 0
            totals["records"] += len(ids)
            totals["tokens"] += tokens
    times = {record.id: (actions[record.id], starts[record.id]) for record in records}
    records_shown = [record for record in records if any(times[record.id])]
    records_shown.sort(key=lambda record: times[record.id], reverse=True)
    unseen = [record for record in records if not any(times[record.id]) and is_harmless(record)]
    clients = (run[0].get("client", "") for run in runs)
    client_counts = Counter(_safe_text(name) if isinstance(name, str) else "" for name in clients)
    return {
        "days": KEPT_DAYS,
        "sessions": len(runs),
        "since": _iso_of(min((event["at"] for event in events), default=None)),
        "clients": dict(client_counts.most_common()),
        "moments": moments,
        "shown": [
            {**record_data(record), "at_start": starts[record.id], "at_action": actions[record.id]}
            for record in records_shown
        ],
        "shown_and_gone": (starts + actions).total() - sum(map(sum, times.values())),
        "unheeded": [
            {**record_data(record), "shown": _iso_of(at_s)}
            for record, at_s in _repeats_in(records, events)
        ],
        "never_shown": list(map(record_data, unseen)) if runs else [],
        "changed_sessions": sum(any(note.get("changed") is True for note in run) for run in runs),
        "reminders": sum(event.get("reminded") is True for event in events),
    }


def _repeats_in(
    records: Sequence[Record], events: Iterable[Mapping[str, Any]]
) -> list[tuple[Record, int]]:
    """Return records whose gap came back after an action showed them, and when that was.

    A principle counts for its originals too.
    """
    first: dict[str, int] = {}
    for event in sorted(events, key=itemgetter("at")):
        for name in versions_in(event) if event["event"] != START else ():
            first.setdefault(id_in(name), event["at"])
    times = {name: [at_s] for name, at_s in first.items()}
    for record in records:
        for name in ids_in(record.source_ids) if record.id in first else ():
            times.setdefault(name, []).append(first[record.id])
    pairs = [
        (record, min(times[record.id]))
        for record in records
        if record.seen > 1 and record.id in times and _last_s(record) > min(times[record.id])
    ]
    return sorted(pairs, key=lambda pair: _last_s(pair[0]), reverse=True)


def _hook_lines(hooks: Mapping[str, Any], by_id: Mapping[str, Record]) -> list[str]:
    lines = ["", terminal.screen_here().paint(say("stats.hooks", days=KEPT_DAYS), "bold")]
    if not hooks["sessions"]:
        return [*lines, *wrap_text(say("stats.no_sessions"))]
    clients = ", ".join(
        f"{plain(name) or say('stats.unnamed')} {count:,}"
        for name, count in hooks["clients"].items()
    )
    tokens = sum(totals["tokens"] for totals in hooks["moments"].values())
    facts = {"sessions": hooks["sessions"], "day": hooks["since"][:DAY_CHARS], "tokens": tokens}
    lines += wrap_text(say("stats.sessions", clients=clients, **facts))
    rows = [
        [*(f"{count:,}" for count in totals.values()), say(f"stats.{name}")]
        for name, totals in hooks["moments"].items()
    ]
    heads = [say(f"stats.{name}") for name in ("times", "count", "tokens", "shown_at")]
    lines += render_table(heads, rows)
    facts_ = {"changed": hooks["changed_sessions"], "reminders": hooks["reminders"]}
    lines += wrap_text(say("stats.changed", **facts_))
    if hooks["shown_and_gone"]:
        lines += wrap_text(say("stats.gone", gone=hooks["shown_and_gone"]))
    tables = (
        ("most_shown", ("at_start", "at_action"), hooks["shown"]),
        ("unheeded", ("shown", "last"), hooks["unheeded"]),
        ("never", ("last",), hooks["never_shown"]),
    )
    for name, columns, entries in tables:
        title = say(f"stats.{name}", count=len(entries))
        lines += _section_lines(title, columns, entries, by_id)
    return lines


# Records, as data and in tables


def record_data(record: Record) -> dict[str, Any]:
    """Return a record's data without its texts."""
    return {
        "token": _safe_text(record.version_id),
        "type": record.type,
        "topic": _safe_text(record.topic),
        "seen": record.seen,
        "last": _iso_of(_last_s(record)),
    }


def _section_lines(
    title: str,
    columns: Sequence[str],
    entries: Sequence[Mapping[str, Any]],
    by_id: Mapping[str, Record],
) -> list[str]:
    lines = ["", terminal.screen_here().paint(title, "bold")]
    if not entries:
        return lines
    rows = []
    for entry in entries[:MOST_ROWS]:
        record = by_id[entry["token"]]
        text = " ".join(_safe_text(record.key_text).split())
        topic = topic_text(entry["topic"])
        row = list[str]()
        for value in (entry[name] for name in columns):
            cell = f"{value:,}" if isinstance(value, int) else (value or "????-??-??")[:DAY_CHARS]
            row.append(cell)
        rows.append([*row, plain(entry["token"][:ID_CHARS]), plain(f"[{topic}] {text}")])
    heads = [*(say(f"stats.column_{name}") for name in columns), "id", say("stats.record")]
    lines += render_table(heads, rows)
    if more := len(entries[MOST_ROWS:]):
        lines += wrap_text(say("stats.more", more=more))
    return lines


def _last_s(record: Record) -> float:
    """Return when a gap was last logged, in seconds since 1970."""
    return seconds_of(record.updated or record.created)


def _iso_of(at_s: float | None) -> str | None:
    """Return a moment in ISO 8601 and UTC, None also for an impossible date."""
    try:
        return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds") if at_s else None
    except (ValueError, OverflowError, OSError):
        return None


def _safe_text(text: str) -> str:
    """Return a text's beginning, redacted: a hand may have logged a secret."""
    return redact(text[:MOST_CHARS]).text
