"""Gathers the sessions that may answer a question beside what other rooms of the memory hold."""

from core.full_text.candidates import Candidates
from core.together.one_list import Entry, Gathered
from rooms.sessions.answers.hints import hint, is_order
from rooms.sessions.rows import sessions_where
from rooms.sessions.search.found import LEAST_SHARE
from rooms.sessions.search.index import INDEX
from rooms.sessions.session import Session
from rooms.sessions.store import SessionStore

MOST = 20  # whose texts are ranked beside those of the other rooms


def sessions_on(question: str, store: SessionStore) -> Gathered:
    """Return the sessions that have a good part of a question, and read like no order to a model.

    Raises what the store raises.
    """
    with store.database.reading() as connection:
        if connection is None:
            return Gathered()
        found = Candidates(connection, INDEX, question, least=LEAST_SHARE)
        condition = f"number IN ({', '.join(map(str, found.best[:MOST]))})"
        sessions = [it for it in sessions_where(connection, condition) if not is_order(it)]
        return Gathered([_entry(it) for it in sessions], found.frequencies)


def _entry(session: Session) -> Entry:
    return Entry(
        source="session",
        id=session.id,
        text="\n".join(session.texts),
        says=(),
        line=lambda: hint(session),
        worth=(0.0, session.date, session.number),
    )
