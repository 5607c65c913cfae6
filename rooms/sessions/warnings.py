"""Warns about a goal: the team's lessons on it, and failures of earlier work.

Nothing is written. A log that cannot be read counts as empty.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from core.errors import SentinelError
from core.lessons.record import Record
from core.lessons.record_text import is_harmless, is_usable, topic_text
from core.lessons.task import for_prompt
from core.messages import Language, language, say
from core.store import MemoryStore
from core.text.plain import Budget
from rooms.sessions.hints import brief, failures_of, goal_of, hint, is_order, name_of
from rooms.sessions.search import LEAST_SHARE, Hit, about
from rooms.sessions.session import Draft, Session

_MOST_READ = 2_000  # records, the later ones: each takes some 20 µs
_MOST_PROMPT_CHARS = 2_000
_KNOWN_CHARS, _LESSON_CHARS = 90, 70  # of a lesson beside a save, and in a warning
# Estimated: by the tokenizer 100 and 160.
_WARNED_TOKENS: Mapping[Language, int] = {"en": 100, "ko": 146}
_HANGUL = re.compile("[\uac00-\ud7a3]")


def lessons_for(goal: str, log: MemoryStore, *, limit: int) -> list[Record]:
    """Return the team's lessons on a goal, best first; mostly none."""
    try:
        records = log.read().records[-_MOST_READ:]
        found = for_prompt(goal[:_MOST_PROMPT_CHARS], records, len(records), {})
    except (SentinelError, OSError):
        return []
    return [it for it in found if is_usable(it) and is_harmless(it)][:limit]


def line_to_the_log(session: Session, draft: Draft, log: MemoryStore) -> list[str]:
    """Return a line if a draft reports a failure or an obstacle.

    It names the record that says so, or asks for a lesson. A redacted text is passed over.
    """
    told = {it.text for it in (*draft.approaches, *draft.blockers)}
    new = [it for it in (*session.open_blockers, *session.failed) if it.text in told]
    if not new or is_order(session):
        return []
    last = max(new, key=lambda it: bool(it.result and it.why))  # a failure with its reason first
    for record in lessons_for(f"{session.goal}\n{last.text}\n{last.why}", log, limit=1):
        facts = {"id": brief(record.id, 16), "topic": topic_text(record.topic)}
        return [say("sessions.answers.known", lesson=brief(record.lesson, _KNOWN_CHARS), **facts)]
    return [say("sessions.answers.to_log")]


class Failure(NamedTuple):
    """The line of a failure or open blocker. is_exact: it has a word of the goal."""

    session: Session
    line: str
    is_exact: bool


class Warned(NamedTuple):
    """The warnings, best first of each kind. looked_at: the count of sessions."""

    lessons: Sequence[Record]
    failures: Sequence[Failure]
    similar: Sequence[Session]
    looked_at: int


def warned(
    goal: str,
    lessons: Sequence[Record],
    hits: Iterable[Hit],
    *,
    looked_at: int,
    tried: bool,
    recommends: bool,
) -> Warned:
    """Return the warnings, without texts that read like orders.

    A session below LEAST_SHARE counts only by failures with a word of the goal. tried: count failed
    approaches. recommends: count sessions without failures.
    """
    usable = [it for it in hits if not is_order(it.session)]
    told = [(it, *failure) for it in usable for failure in failures_of(it.session, tried=tried)]
    exact = about(goal, [point for _, point, _ in told])
    near = [it.session for it in usable if (it.share or 0) >= LEAST_SHARE]
    by_session = dict[str, list[Failure]]()
    for at, (hit, _, line) in enumerate(told):
        if at in exact or hit.session in near:
            failure = Failure(hit.session, line, at in exact)
            by_session.setdefault(hit.session.id, []).append(failure)
    once = dict[str, Failure]()
    for row in zip_longest(*by_session.values()):  # one of each session first
        for failure in filter(None, row):
            without_date = failure.line[: failure.line.rindex(" (")]
            once.setdefault(without_date, failure)
    failures = sorted(once.values(), key=lambda it: not it.is_exact)
    similar = [it for it in near if it.id not in by_session] if recommends else []
    return Warned(lessons, failures, similar, looked_at)


def warned_text(found: Warned, goal: str, *, limit: int, more_key: str) -> str:
    """Return the lines that fit. more_key: of the sentence that counts the others.

    Only a failure with a word of the goal has `!`.
    """
    lessons = [
        f"lesson {brief(it.id, 16)} [{topic_text(it.topic)}] {brief(it.lesson, _LESSON_CHARS)}"
        for it in found.lessons
    ]
    failures = [
        f"{'! ' if it.is_exact else ''}{name_of(it.session)} {it.line}" for it in found.failures
    ]
    count = len(lessons) + len(failures) + len(found.similar)
    if not count:
        return say("sessions.answers.nothing_failed", count=found.looked_at)
    similar = [hint(it) for it in found.similar[:limit]]
    is_korean = language() == "ko" or _HANGUL.search(goal)
    budget = Budget(_WARNED_TOKENS["ko" if is_korean else "en"], 2_000)
    budget.spend(say(f"sessions.answers.{more_key}", count=100))
    # A lesson and a failure first, then the others of each.
    in_turn = (*lessons[:1], *failures[:1], *lessons[1:2], *failures[1:], *similar)
    kept = {line for line in in_turn if budget.take(line)}
    lines = [line for line in (*lessons, *failures, *similar) if line in kept]
    if left := count - len(lines):
        lines.append(say(f"sessions.answers.{more_key}", count=left))
    return "\n".join(lines)


def warned_object(found: Warned, *, limit: int) -> dict[str, Any]:
    """Return the object ContextWarnOutput; a lesson is named by its resource."""
    warnings = [
        {"contextId": f"memory://record/{it.id}", "message": brief(it.lesson, _LESSON_CHARS)}
        for it in found.lessons
    ]
    warnings += [{"contextId": it.session.id, "message": it.line} for it in found.failures]
    similar = [{"id": it.id, "goal": goal_of(it)} for it in found.similar]
    return {
        "warnings": warnings[:limit],
        "recommendations": similar[:limit],
        "hasMore": len(warnings) > limit or len(similar) > limit,
    }
