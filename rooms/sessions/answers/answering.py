"""Does what the tools of the sessions are called for, and answers in the form that is asked for.

It stands apart from the tools since most starts of a server see no call: what is imported here
takes a tenth of the time of a start.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from core.config import Project, Settings
from core.errors import SentinelError
from core.lessons.record import Record
from core.lessons.record_text import as_json
from core.messages import say
from core.program import CLI, NO_CANCELLATION, Cancellation
from core.room.one_list import Entry, Gathered
from core.store import MemoryStore, open_store
from core.text.plain import Budget
from rooms.sessions.answers import (
    bridge,
    exported,
    found,
    numbers,
    recommended,
    saved,
    warnings,
    whole,
)
from rooms.sessions.answers.hints import hint, hint_of, is_order, name_of
from rooms.sessions.rows import sessions_where
from rooms.sessions.search.found import Criteria, Hit, Page
from rooms.sessions.search.reading import read_whole
from rooms.sessions.search.searching import Candidates, resembling, search
from rooms.sessions.search.statistics import statistics_of
from rooms.sessions.session import Draft, Session
from rooms.sessions.store import Saved, SessionStore, open_sessions
from rooms.sessions.upkeep.copying import copy_in_background

LOOKED_AT, RELATED = 12, 5  # sessions that resemble a goal; those that a save may name
MOST_LESSONS = 3
WARNED, RECOMMENDED = 3, 5
INJECTED = 5
GATHERED = 20  # whose texts are ranked beside those of the other rooms


class Offer(NamedTuple):
    """How a server offers the room.

    core_only: without statistics, exports and recommendations. has_lessons: with the tools of the
    memory log beside it.
    """

    cancellation: Cancellation = NO_CANCELLATION
    core_only: bool = False
    has_lessons: bool = True


class Frame:
    """What every answer needs."""

    def __init__(self, project: Project, settings: Settings, offer: Offer) -> None:
        self._project, self._settings, self._offer = project, settings, offer
        self._store = open_sessions(project.root, settings, offer.cancellation)

    @property
    def _log(self) -> MemoryStore:
        return open_store(self._project, self._settings, self._offer.cancellation)

    def _answer(self, text: Callable[[], str], declared: Callable[[], dict[str, Any]]) -> str:
        return as_json(declared()) if self._settings.answers == "json" else text()


class Call(Frame):
    """What one call works with. Every method raises what the store raises."""

    def _resembling(self, goal: str) -> list[Hit]:
        return resembling(self._store, goal, limit=LOOKED_AT)

    def _lessons(self, goal: str) -> list[Record]:
        if not self._offer.has_lessons:
            return []
        return bridge.lessons_for(goal, self._log, limit=MOST_LESSONS)

    def save(self, draft: Draft, *, agent: str, process: str) -> Saved:
        """Save a session; see `SessionStore.save`. The daily copy is made beside the answer."""
        done = self._store.save(draft, agent=agent, process=process)
        copy_in_background(self._store)
        return done

    def saved(self, done: Saved, draft: Draft) -> str:
        """Answer a save of a draft; it is done, whatever else cannot be read."""
        related, beside = list[Hit](), list[str]()
        with suppress(SentinelError):
            if self._store.config.recommends and done.is_new:
                session = done.session
                hits = resembling(self._store, session.goal, limit=RELATED, but=session.id)
                related = [it for it in hits if it.level != "low"]
        if self._offer.has_lessons:
            beside = bridge.to_the_log(done.session, draft, self._log)
        return self._answer(
            lambda: saved.text(done, related, beside),
            lambda: saved.declared(done, related, beside),
        )

    def search(
        self, criteria: Criteria, *, limit: int | None, offset: int, everywhere: bool
    ) -> str:
        """Answer a search. limit: None for what `config.json` says."""
        find = _search_all if everywhere else search
        most = limit or self._store.config.default_limit
        page = find(self._store, criteria, limit=most, offset=offset)
        return self._answer(
            lambda: found.text(page, offset=offset),
            lambda: found.declared(page, offset=offset),
        )

    def injected(self, query: str, budget: Budget) -> list[str]:
        """Return hints for a prompt: of sessions on a question, of the newest without one."""
        heading = say("sessions.answers.prompt_head")
        budget.spend(heading)
        page = search(self._store, Criteria(query=query), limit=INJECTED, offset=0)
        hits = (it for it in page.hits if not is_order(it.session))
        lines = [line for it in hits if budget.take(line := hint_of(it))]
        return [heading, *lines] if lines else []

    def gathered(self, question: str) -> Gathered:
        """Return the sessions that may answer a question, to stand beside what other rooms hold."""
        return sessions_on(question, self._store)

    def get(self, name: str, *, with_actions: bool, with_chain: bool) -> str:
        """Answer with one session."""
        session, actions, store, parent = read_whole(self._store, name, self._settings)
        chain = store.chain(session) if with_chain else None
        shown = actions if with_actions else None
        return self._answer(
            lambda: whole.text(
                session,
                actions=shown or (),
                chain=chain or (),
                parent=name_of(parent) if parent else "",
                how=self._how_to_see_all(session, store),
            ),
            lambda: whole.declared(
                session, actions=shown, chain=chain, budget_tokens=self._settings.budget_tokens
            ),
        )

    def _how_to_see_all(self, session: Session, store: SessionStore) -> str:
        if store is not self._store:
            return say("sessions.answers.there")
        if self._offer.core_only:
            return f"`{CLI} show {session.number}`"
        return f'context_export(format="markdown", contextIds=["#{session.number}"])'

    def warn(self, goal: str, limit: int | None) -> str:
        """Answer with what failed or is blocked in work like this."""
        config, most = self._store.config, limit or WARNED
        hits, lessons = self._resembling(goal), self._lessons(goal)
        known = warnings.warned(lessons, hits, tried=config.warns, recommends=config.recommends)
        more = "warn_more_core" if self._offer.core_only else "warn_more"
        return self._answer(
            lambda: warnings.text(known, goal, limit=most, more_key=more),
            lambda: warnings.declared(known, limit=most),
        )

    def stats(self, range_: str) -> str:
        """Answer with counts."""
        counted = statistics_of(self._store, range_)
        return self._answer(
            lambda: numbers.text(counted, range_),
            lambda: numbers.declared(counted),
        )

    def export(
        self, form: exported.Form, *, since: str, until: str, names: Sequence[str], output: str
    ) -> str:
        """Answer with a document, or write it."""
        from rooms.sessions.exchange.exporting import export  # few sessions of a model export

        done = export(
            self._store,
            form,
            since=since,
            until=until,
            names=names,
            output=output,
        )
        return self._answer(
            lambda: exported.text(done.text, done.path, done.count),
            lambda: exported.declared(done.text, done.path, done.count),
        )

    def recommend(self, goal: str, limit: int | None) -> str:
        """Answer with sessions worth reading."""
        hits = self._resembling(goal)[: limit or RECOMMENDED]
        return self._answer(
            lambda: recommended.text(hits, goal),
            lambda: recommended.declared(hits, goal),
        )


def _search_all(store: SessionStore, criteria: Criteria, *, limit: int, offset: int) -> Page:
    from rooms.sessions.projects.searching import search_all  # few searches leave their project

    return search_all(store, criteria, limit=limit, offset=offset)


def sessions_on(question: str, store: SessionStore) -> Gathered:
    """Return the sessions that have a good part of a question, and read like no order to a model.

    Raises what the store raises.
    """
    with store.database.reading() as connection:
        if connection is None:
            return Gathered()
        found = Candidates(connection, question)
        condition = f"number IN ({', '.join(map(str, found.best[:GATHERED]))})"
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
