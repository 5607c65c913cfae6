"""Names the kinds of actions; it loads nothing, since hooks need it at every step of an agent."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from core.messages import say

if TYPE_CHECKING:
    from rooms.sessions.session import Action

LESSON, FOLLOWED, SHOWN = "lesson", "followed", "shown"  # as an older version noted lessons
KINDS = ("command", "edit", "error", LESSON)


def result_of(action: "Action", table: str) -> str:
    """Return how an action went; of a lesson in a sentence of this table."""
    is_ours = action.kind == LESSON and action.result in (FOLLOWED, SHOWN)
    return say(f"{table}.{action.result}") if is_ours else action.result


def lessons_in(actions: "Iterable[Action]") -> "list[Action]":
    """Return how it stands with each lesson in each file, by the last of these actions."""
    return list({(it.content, it.file_path): it for it in actions if it.kind == LESSON}.values())
