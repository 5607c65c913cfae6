"""Writes what a hook shows of the sessions when a client's session starts: a few lines.

Nobody asked for them: they are short, and leave out texts that read like orders.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from core.messages import say
from core.text.plain import Budget
from rooms.sessions.answers.hints import goal_of, is_order, name_of
from rooms.sessions.answers.warnings import failures_of, short_day
from rooms.sessions.rows import sessions_where
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore

MOST_FAILURES, MOST_OPEN = 4, 2
_LOOKED_AT = 20
_RECENT_DAYS = 30  # what is older, context_warn brings back when it is about the task


def session_lines(store: SessionStore, budget_tokens: int) -> list[str]:
    """Return what failed or is open, and sessions to continue, the newest first; whole lines only.

    budget_tokens: estimated, for all lines. Empty where `config.json` says so, or nothing is there.
    Raises what the store raises.
    """
    if not store.config.shows_at_start:
        return []
    heading = say("sessions.answers.start_head")
    budget = Budget(budget_tokens, budget_tokens * 8)
    budget.spend(heading)
    sessions = [it for it in _recent(store) if not is_order(it)]
    failures = (line for it in sessions for line in _failures(it, store))
    unended = [_open(it) for it in sessions if not it.ended_at][:MOST_OPEN]
    lines = [line for line, _ in zip(failures, range(MOST_FAILURES), strict=False)]
    kept = [line for line in (*unended, *lines) if budget.take(line)]
    return [heading, *kept] if kept else []


def _recent(store: SessionStore) -> list[Session]:
    since = (datetime.now(UTC) - timedelta(days=_RECENT_DAYS)).isoformat(timespec="seconds")
    condition = (  # by the index of the last saves
        "updated_at > ? AND archive = '' AND (has_warnings OR ended_at IS NULL)"
        " ORDER BY updated_at DESC, number DESC LIMIT ?"
    )
    with store.database.reading() as connection:
        if connection is None:
            return []
        return list(sessions_where(connection, condition, (since, _LOOKED_AT)))


def _failures(session: Session, store: SessionStore) -> Iterator[str]:
    """Yield open blockers, and failed approaches unless `config.json` warns of none."""
    for line in failures_of(session, tried=store.config.warns):
        yield f"! {name_of(session)} {line}"


def _open(session: Session) -> str:
    words = (
        name_of(session),
        short_day(session.date),
        say("sessions.answers.start_open", status=session.status),
    )
    return f"{' '.join(words)}: {goal_of(session)}"
