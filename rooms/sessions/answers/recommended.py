"""Writes what context_recommend answers: earlier sessions worth reading, and what failed there."""

import re
from collections.abc import Sequence
from typing import Any

from core.messages import say
from core.text.plain import normal_form
from rooms.sessions.answers.hints import brief, goal_of, hint_of, is_order
from rooms.sessions.answers.warnings import FAILURE_CHARS, failures_of
from rooms.sessions.search.found import Hit
from rooms.sessions.session import Session

_SHOWN_FAILURES = 2
MOST_FAILURES = 10  # of a declared object, the newest
_WORD = re.compile(r"[a-z0-9]+")


def text(hits: Sequence[Hit], goal: str) -> str:
    """Return for each session its hint, how near it is, its tags in the goal, what failed."""
    lines = []
    for it in _offered(hits):
        words = [hint_of(it), f"[{say('sessions.answers.' + (it.level or 'low'))}]"]
        words += [f"#{brief(tag, 50)}" for tag in matched_tags(it.session, goal)]
        lines.append(" ".join(words))
        if it.session.summary:
            lines.append(f"  {brief(it.session.summary, 100)}")
        failures = list(failures_of(it.session))[:_SHOWN_FAILURES]
        lines += [f"  ! {line}" for line in failures]
    return "\n".join(lines) or say("sessions.answers.recommended_none")


def declared(hits: Sequence[Hit], goal: str) -> dict[str, Any]:
    """Return the object ContextRecommendOutput."""
    return {"recommendations": [_declared(it, goal) for it in _offered(hits)]}


def _declared(hit: Hit, goal: str) -> dict[str, Any]:
    session = hit.session
    told = {
        "id": session.id,
        "goal": goal_of(session),
        "summary": session.summary_short,
        "relevance": hit.level or "low",
        "matchedTags": matched_tags(session, goal),
    }
    failed = [brief(it.description, FAILURE_CHARS) for it in session.failed[-MOST_FAILURES:]]
    return {**told, "failedApproaches": failed} if failed else told


def _offered(hits: Sequence[Hit]) -> list[Hit]:
    return [it for it in hits if not is_order(it.session)]


def matched_tags(session: Session, goal: str) -> list[str]:
    """Return the tags of a session that a goal names; Korean ones with any particle behind."""
    text = normal_form("NFC", goal).casefold()
    words = set(_WORD.findall(text))
    return [tag for tag in session.tags if _is_named(tag.casefold(), text, words)]


def _is_named(tag: str, text: str, words: set[str]) -> bool:
    parts = set(_WORD.findall(tag))
    return parts <= words if parts and tag.isascii() else bool(tag.strip()) and tag in text
