"""Writes a session as a hint: one line of some twenty tokens, with the name to ask for it.

No text of a session passes for another line or a word of ours: it stands last, without line ends
and hidden characters, and is quoted where it begins like ours.
"""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from core.guard.injection import order_marks
from core.messages import say
from core.text.plain import Budget, day_of, one_line
from rooms.sessions.rows import sessions_where
from rooms.sessions.session import GOAL_SHORT_CHARS, Point, Session, shorten
from rooms.sessions.store import SessionStore

FAILURE_CHARS, REASON_CHARS = 60, 50
MOST_FAILURES, MOST_OPEN = 4, 2  # at the start of a client's session
_PROJECT_CHARS = 30
_OUR_MARKS = re.compile(r"[!(#\[]")
_THIS_YEAR_DAYS = 330  # a month and a day say enough
_MOST_SESSIONS = 20
_RECENT_DAYS = 30  # context_warn brings back an older one that is about the task


def line_of(text: str, most_chars: int) -> str:
    """Return a text as one line of at most so many characters, without hidden ones."""
    return shorten(one_line(text), most_chars)


def name_of(session: Session, project: str = "") -> str:
    """Return `#12`, or the id for a session of another project."""
    return one_line(session.id) if project else f"#{session.number}"


def mark_of(project: str) -> str:
    return f"[{line_of(project, _PROJECT_CHARS)}]" if project else ""


def short_day_of(moment: str) -> str:
    """Return the day of a moment: `12/20`, or `2025/12/20` after 330 days."""
    day = day_of(moment)
    try:
        age = datetime.now(UTC) - datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError:
        return day
    month_day = day[5:].replace("-", "/")
    return month_day if age.days < _THIS_YEAR_DAYS else f"{day[:4]}/{month_day}"


def is_order(session: Session) -> bool:
    """Return whether the texts of a session read like orders to a model."""
    return bool(order_marks((), session.texts))


def goal_of(session: Session) -> str:
    """Return the short goal, marked as an order or quoted if need be."""
    goal = line_of(session.goal, GOAL_SHORT_CHARS)
    quoted = json.dumps(goal, ensure_ascii=False) if _OUR_MARKS.match(goal) else goal
    return f"{say('sessions.answers.order')} {quoted}" if is_order(session) else quoted


def hint_of(session: Session, project: str = "") -> str:
    """Return the line of a session; `!` for failures and open blockers.

        #12 2026-11-28 ! Fix the login

    project: its name, if the session is of another.
    """
    words = (
        name_of(session, project),
        day_of(session.date),
        "!" if session.has_warnings else "",
        say("sessions.answers.archived") if session.archive else "",
        mark_of(project),
    )
    return " ".join([*filter(None, words), goal_of(session)])


def failures_of(session: Session, *, with_approaches: bool = True) -> Iterator[tuple[Point, str]]:
    """Yield failed approaches, if asked, and open blockers, newest first, each with its line."""
    approaches = session.failures if with_approaches else []
    for point in (*approaches[::-1], *session.open_blockers[::-1]):
        line = line_of(point.text, FAILURE_CHARS)
        if point.result and point.why:
            line = f"{line.rstrip('.')}: {line_of(point.why, REASON_CHARS)}"
        yield point, f"{line} ({short_day_of(point.at or session.date)})"


def choose_start_lines(store: SessionStore, budget_tokens: int) -> list[str]:
    """Return sessions to continue, then failures and open blockers, newest first.

    Texts that read like orders are left out: nobody asked for them. [] where `config.json` says so.
    """
    if not store.config.shows_at_start:
        return []
    since = (datetime.now(UTC) - timedelta(days=_RECENT_DAYS)).isoformat(timespec="seconds")
    condition = (  # by the index of the last saves
        "updated_at > ? AND archive = '' AND (has_warnings OR ended_at IS NULL)"
        " ORDER BY updated_at DESC, number DESC LIMIT ?"
    )
    with store.reading() as connection:
        sessions = list(sessions_where(connection, condition, (since, _MOST_SESSIONS)))
    state_lines, failure_lines = list[str](), list[str]()
    for session in sessions:
        if is_order(session):
            continue
        name, failures = name_of(session), failures_of(session, with_approaches=store.config.warns)
        failure_lines += [f"! {name} {line}" for _, line in failures]
        if not session.ended_at:
            state = say("sessions.answers.start_open", status=session.status)
            state_lines.append(f"{name} {short_day_of(session.date)} {state}: {goal_of(session)}")
    lines = (*state_lines[:MOST_OPEN], *failure_lines[:MOST_FAILURES])
    return with_heading("start_head", lines, Budget(budget_tokens, budget_tokens * 8))


def with_heading(key: str, lines: Iterable[str], budget: Budget) -> list[str]:
    """Return a heading with the lines that fit; [] without one. key: of its sentence."""
    heading = say(f"sessions.answers.{key}")
    budget.spend(heading)
    kept_lines = [line for line in lines if budget.take(line)]
    return [heading, *kept_lines] if kept_lines else []
