"""Writes what context_warn answers: the team's lessons, one's own failures, work like this.

Whole lines or none: what has no room is counted. Texts that read like orders are left out, since
nobody asked for them by name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, NamedTuple

from core.lessons.record import Record
from core.lessons.record_text import topic_text
from core.messages import Language, language, say
from core.text.plain import Budget
from rooms.sessions.answers.hints import brief, day_of, goal_of, hint, is_order, name_of
from rooms.sessions.search.found import Hit
from rooms.sessions.session import Session

# Estimated: by the tokenizer 100 and 160.
_TOKENS: dict[Language, int] = {"en": 100, "ko": 146}
_HANGUL = re.compile("[\uac00-\ud7a3]")
LESSON_CHARS, FAILURE_CHARS, REASON_CHARS = 70, 60, 50
_THIS_YEAR_DAYS = 330  # a month and a day say enough


class Warned(NamedTuple):
    """What there is to warn of, the best first of each kind."""

    lessons: Sequence[Record] = ()
    failures: Sequence[tuple[Session, str]] = ()
    similar: Sequence[Session] = ()


def warned(
    lessons: Sequence[Record], hits: Iterable[Hit], *, tried: bool, recommends: bool
) -> Warned:
    """Return what these records and sessions warn of.

    tried: whether of approaches that failed. recommends: whether sessions without failures count.
    """
    sessions = [it.session for it in hits if not is_order(it.session)]
    each = [[(it, line) for line in failures_of(it, tried=tried)] for it in sessions]
    in_turn = [it for row in zip_longest(*each) for it in row if it]  # one of each session first
    told = {session.id for session, _ in in_turn}
    once = dict[str, tuple[Session, str]]()
    for session, line in in_turn:
        once.setdefault(line[: line.rindex(" (")], (session, line))
    similar = [it for it in sessions if it.id not in told] if recommends else []
    return Warned(lessons, list(once.values()), similar)


def failures_of(session: Session, *, tried: bool = True) -> Iterator[str]:
    """Yield what failed and what is open, the newest first, each as one short line.

    tried: whether approaches that failed are told.
    """
    for approach in reversed(session.failed if tried else ()):
        when = approach.timestamp or session.date
        yield _told(approach.description, approach.reason, when)
    for blocker in reversed(session.open_blockers):
        yield _told(blocker.description, "", blocker.discovered_at or session.date)


def text(found: Warned, goal: str, *, limit: int, more_key: str) -> str:
    """Return the lines that fit; more_key: of the sentence that counts the others."""
    is_korean = language() == "ko" or _HANGUL.search(goal)
    budget = Budget(_TOKENS["ko" if is_korean else "en"], 2_000)
    budget.spend(say(f"sessions.answers.{more_key}", count=100))
    lessons = [_lesson(it) for it in found.lessons]
    failures = [f"! {name_of(session)} {line}" for session, line in found.failures]
    similar = [hint(it) for it in found.similar[:limit]]
    kept: set[str] = set()
    # A lesson and a failure first, then what is left of each.
    for line in (*lessons[:1], *failures[:1], *lessons[1:2], *failures[1:], *similar):
        if budget.take(line):
            kept.add(line)
    lines = [line for line in (*lessons, *failures, *similar) if line in kept]
    if not lines and not found.lessons and not found.failures and not found.similar:
        return say("sessions.answers.nothing_failed")
    count = len(found.lessons) + len(failures) + len(found.similar) - len(lines)
    return "\n".join(
        [*lines, *([say(f"sessions.answers.{more_key}", count=count)] if count > 0 else [])]
    )


def declared(found: Warned, *, limit: int) -> dict[str, Any]:
    """Return the object ContextWarnOutput; a lesson is named by its resource."""
    warnings = [
        {"contextId": f"memory://record/{it.id}", "message": brief(it.lesson, LESSON_CHARS)}
        for it in found.lessons
    ]
    warnings += [{"contextId": it.id, "message": line} for it, line in found.failures]
    similar = [{"id": it.id, "goal": goal_of(it)} for it in found.similar]
    return {
        "warnings": warnings[:limit],
        "recommendations": similar[:limit],
        "hasMore": len(warnings) > limit or len(similar) > limit,
    }


def _lesson(record: Record) -> str:
    topic, lesson = topic_text(record.topic), brief(record.lesson, LESSON_CHARS)
    return f"lesson {brief(record.id, 16)} [{topic}] {lesson}"


def _told(what: str, why: str, moment: str) -> str:
    told = brief(what, FAILURE_CHARS)
    if why:
        told = f"{told}: {brief(why, REASON_CHARS)}"
    return f"{told} ({short_day(moment)})"


def short_day(moment: str) -> str:
    """Return the month and the day of a moment, 12/20, before the year where it is not this one."""
    day = day_of(moment)
    try:
        past = datetime.now(UTC) - datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError:
        return day
    short = day[5:].replace("-", "/")
    return short if past.days < _THIS_YEAR_DAYS else f"{day[:4]}/{short}"
