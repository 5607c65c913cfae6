"""Lays sessions out for a terminal, one line each in a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, day_text, fitted, table
from core.messages import say

if TYPE_CHECKING:
    from rooms.sessions.session import Session

WARNING = "!"  # before the goal of a session that failed somewhere, or is blocked
LEAST_WIDTH = 46  # in fewer cells a session takes two lines


def session_table(sessions: Sequence["Session"], screen: Screen) -> list[str]:
    """Return a line for each session below a head, or two lines on a narrow terminal."""
    rows = [_row(session) for session in sessions]
    if screen.width < LEAST_WIDTH:
        return [line for row in rows for line in _stacked(row, screen)]
    is_marked = any(session.has_warnings for session in sessions)
    last = say(
        "session_commands.goal_marked" if is_marked else "session_commands.goal", mark=WARNING
    )
    head, *lines = table(
        ["#", say("session_commands.saved"), say("session_commands.status"), last],
        rows,
        screen.width,
    )
    return [screen.painted(head, "bold"), *lines]


def _row(session: "Session") -> list[str]:
    goal = " ".join(plain(session.goal).split())
    return [
        str(session.number),
        day_text(session.date),
        plain(session.status),
        f"{WARNING} {goal}" if session.has_warnings else goal,
    ]


def _stacked(row: Sequence[str], screen: Screen) -> list[str]:
    number, day, status, goal = row
    first = fitted(INDENT + INDENT.join((f"#{number}", day, status)), screen.width)
    return [screen.painted(first, "dim"), fitted(INDENT * 2 + goal, screen.width)]
