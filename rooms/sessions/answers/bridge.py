"""Leads from a session to the memory log: what the team knows of a goal, and what it should know.

Nothing is written here. A log that cannot be read is no reason for a session to fail: then the log
has nothing to say.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.errors import SentinelError
from core.lessons.record import LIMITS_BYTES, Record
from core.lessons.record_text import is_harmless, is_usable, topic_text
from core.lessons.rules import language_of
from core.lessons.task import for_prompt
from core.messages import say, speaking
from core.store import MemoryStore
from core.text.plain import one_line
from core.text.terms import function_words, without_particle
from core.text.wording import scope_of
from rooms.sessions.answers.hints import brief, is_order
from rooms.sessions.session import Approach, Blocker, Draft, Session, shortened

MOST_READ = 2_000  # records, the later ones: each takes some 20 µs
MOST_PROMPT_CHARS = 2_000
LESSON_CHARS, TEXT_CHARS = 90, 160  # of a record that is shown; of each text of a ready call


class _Learned(NamedTuple):
    """What a session says that others should know: what was missing, and the rule."""

    gap: str
    lesson: str


def lessons_for(goal: str, log: MemoryStore, *, limit: int) -> list[Record]:
    """Return the lessons of the team that a goal is about, the best first; mostly none."""
    try:
        records = log.read().records[-MOST_READ:]
        found = for_prompt(goal[:MOST_PROMPT_CHARS], records, len(records), {})
    except (SentinelError, OSError):
        return []
    usable = (it for it in found if is_usable(it) and is_harmless(it))
    return [record for record, _ in zip(usable, range(limit), strict=False)]


def to_the_log(session: Session, draft: Draft, log: MemoryStore) -> list[str]:
    """Return a line for what failed or is open by this draft of a session, if anything is.

    It names the record of the log that says it already, or holds a ready call of log_memory.
    """
    new = _newest(session, draft)
    if new is None or is_order(session):
        return []
    said = f"{session.goal}\n{_told(new)}"
    for record in lessons_for(said, log, limit=1):
        facts = {"id": brief(record.id, 16), "topic": topic_text(record.topic)}
        return [say("sessions.answers.known", lesson=brief(record.lesson, LESSON_CHARS), **facts)]
    learned = _learned(new)
    values = {
        "topic": (_topic(session), LIMITS_BYTES["topic"]),
        "missing_context": (learned.gap, LIMITS_BYTES["missing_context"]),
        "lesson": (learned.lesson, LIMITS_BYTES["lesson"]),
    }
    arguments = ", ".join(f"{name}={_quoted(*value)}" for name, value in values.items())
    return [say("sessions.answers.to_log", call=f"log_memory({arguments})")]


def _newest(session: Session, draft: Draft) -> Approach | Blocker | None:
    """Return the last failure or open blocker that a draft tells of, one with a reason first.

    A text from which a secret was taken is not what the draft says, and is passed over.
    """
    tried = {it.description for it in draft.approaches}
    stuck = {it.description for it in draft.blockers}
    failed = [it for it in session.failed if it.description in tried]
    failed.sort(key=lambda it: bool(it.reason))
    blocked = [it for it in session.open_blockers if it.description in stuck]
    if failed:
        return failed[-1]
    return blocked[-1] if blocked else None


def _told(item: Approach | Blocker) -> str:
    why = item.reason if isinstance(item, Approach) else item.resolution
    return f"{item.description}\n{why}"


def _learned(item: Approach | Blocker) -> _Learned:
    what = one_line(item.description)
    with speaking(language_of(what)):  # of the session, in whatever one the answers are
        if isinstance(item, Blocker):
            return _Learned(what, say("sessions.answers.clear_first", what=what))
        lesson = say("sessions.answers.do_not", what=what)
    return _Learned(one_line(item.reason) or what, lesson)


def _quoted(text: str, most_bytes: int) -> str:
    """Return a text in quotation marks, short enough for a line here and for the log."""
    kept = shortened(one_line(text), TEXT_CHARS)
    while len(kept.encode("utf-8", "replace")) > most_bytes:
        kept = kept[:-2].rstrip() + "…"
    return json.dumps(kept, ensure_ascii=False)


def _topic(session: Session) -> str:
    """Return a topic for the log: a tag, the folder of a changed file, a word of the goal."""
    folders = (_folder(path) for path in session.changes.modified_files)
    for name in (*session.tags, *folders, *_telling(session.goal.split())):
        if name and len(name) <= 50 and not scope_of(name):
            return name
    return "general"


def _folder(path: str) -> str:
    parts: Sequence[str] = path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 else ""


def _telling(words: Iterable[str]) -> Iterable[str]:
    plain = (without_particle(word.strip(".,:;!?()[]'\"`").lower()) for word in words)
    return (
        it for it in plain if len(it) > (2 if it.isascii() else 1) and it not in function_words()
    )
