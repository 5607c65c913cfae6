"""Leads from a session to the memory log: what the team knows of a goal, and what it should know.

Nothing is written here. A log that cannot be read is no reason for a session to fail: then the log
has nothing to say.
"""

from core.errors import SentinelError
from core.lessons.record import Record
from core.lessons.record_text import is_harmless, is_usable, topic_text
from core.lessons.task import for_prompt
from core.messages import say
from core.store import MemoryStore
from rooms.sessions.hints import brief, is_order
from rooms.sessions.session import Draft, Session

_MOST_READ = 2_000  # records, the later ones: each takes some 20 µs
_MOST_PROMPT_CHARS = 2_000
_LESSON_CHARS = 90  # of a record that is shown


def lessons_for(goal: str, log: MemoryStore, *, limit: int) -> list[Record]:
    """Return the lessons of the team that a goal is about, the best first; mostly none."""
    try:
        records = log.read().records[-_MOST_READ:]
        found = for_prompt(goal[:_MOST_PROMPT_CHARS], records, len(records), {})
    except (SentinelError, OSError):
        return []
    return [it for it in found if is_usable(it) and is_harmless(it)][:limit]


def line_to_the_log(session: Session, draft: Draft, log: MemoryStore) -> list[str]:
    """Return a line where a draft of a session says what failed or is in the way.

    It names the record of the log that says it already, or asks for a lesson. A text from which a
    secret was taken is not what the draft says, and is passed over.
    """
    told = {it.text for it in (*draft.approaches, *draft.blockers)}
    new = [it for it in (*session.open_blockers, *session.failed) if it.text in told]
    if not new or is_order(session):
        return []
    last = max(new, key=lambda it: bool(it.result and it.why))  # a failure with its reason first
    for record in lessons_for(f"{session.goal}\n{last.text}\n{last.why}", log, limit=1):
        facts = {"id": brief(record.id, 16), "topic": topic_text(record.topic)}
        return [say("sessions.answers.known", lesson=brief(record.lesson, _LESSON_CHARS), **facts)]
    return [say("sessions.answers.to_log")]
