"""Makes pages with sessions, from sessions as they are given and without a database."""

from collections.abc import Sequence

from commands.view.html import page_html
from commands.view.page import page_of
from commands.view.part import Part
from commands.view.sessions.collection import Found, collection_of
from commands.view.sessions.section import part_of
from core.config import Settings
from core.lessons.answers import Frame
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.messages import Language
from tests.support.samples import LATER
from tests.support.sentences import in_language
from tests.support.session_samples import SampleSession


def found_of(sessions: Sequence[SampleSession], total: int | None = None) -> Found:
    """These sessions as they are read, the last one first."""
    return Found(
        sessions=[session for session, _ in reversed(sessions)],
        total=len(sessions) if total is None else total,
        actions={session.id: actions for session, actions in sessions},
        counts={session.id: len(actions) for session, actions in sessions},
        parents={},
    )


def session_part(
    sessions: Sequence[SampleSession], lang: Language = "en", total: int | None = None
) -> Part:
    """What a page says of these sessions. total: how many sessions the project has."""
    return in_language(lang, part_of, collection_of(found_of(sessions, total)))


def page_with(
    sessions: Sequence[SampleSession],
    *records: Record,
    lang: Language = "en",
    total: int | None = None,
) -> str:
    """The page of these records and sessions."""
    log = MemoryLog.parse(b"".join(record.to_line() for record in records))
    frame = Frame(project="/shop", settings=Settings())
    page = page_of(log, frame, project="shop", now=LATER)
    return in_language(lang, page_html, page, "", [session_part(sessions, lang, total)])
