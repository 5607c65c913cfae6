"""Tests that what three agents do in a long sequence is answered alike in a file and on a server,
and that nothing is lost on the way.

Each acts under its name and with all rights, as in a file, which is one person's: what row security
hides, an engine also leaves out where it works out how alike two texts are.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.errors import SentinelError
from rooms.fragments.activity import end_session, give_feedback
from rooms.fragments.bin import forget, pin, restore
from rooms.fragments.config import Config
from rooms.fragments.context import restore_context
from rooms.fragments.draft import Draft, remember
from rooms.fragments.fragment import (
    CONTENT_BYTES,
    RELATIONS,
    Fragment,
    ToolFeedback,
    Version,
    Wanted,
)
from rooms.fragments.links import explore, link
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.recall import Query, recall
from rooms.fragments.reflection import Reflection, reflect
from rooms.fragments.room import Room
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.consolidation import consolidate, tend
from rooms.fragments.upkeep.statistics import statistics_of
from rooms.fragments.versions import Amendment, amend
from tests.support.fragments_room import Clock, all_of, whole
from tests.support.team_engines import TeamServer, a_server

AGENTS = ("alice", "bob", "default")
WORDS = (
    *"payment webhook retry 결제 인증 배포 node postgres Straße café 😀 👩‍👩‍👧".split(),
    *("cafe\u0301", "\u1112\u1161\u11ab", "a\0b"),
)
EDGES = (
    *("x" * CONTENT_BYTES, "가" * (CONTENT_BYTES // 3), "😀" * (CONTENT_BYTES // 4)),
    *("x" * (CONTENT_BYTES + 1), "가" * (CONTENT_BYTES // 3 + 1), "half \ud800", "  "),
)
_ID = re.compile(r"\b[a-z2-9]{8}\b")
# A number is of one database; whose session used what all share, a server keeps to itself; how
# alike two texts are depends on how many there are, which a server works out from a part.
_OWN_OF_ONE = re.compile(r"similarity=[0-9.]+|number=\d+|last_session='[^']*'|path='[^']*'")


def said_by(fragment: Fragment) -> str:
    """What counts for a budget: an id would, too, and is another one on each engine."""
    return fragment.content


class Team:
    """Three agents with one engine; the same seed has them do the same."""

    def __init__(self, engine: Engine, seed: int) -> None:
        config = Config(Path("memory.db"))
        self.clock, self.random = Clock(), random.Random(seed)
        self.room = Room(engine=engine, config=config, settings=Settings(), clock=self.clock)
        self.names = dict[str, str]()
        self.own = {agent: list[str]() for agent in AGENTS}
        self.lets_pins_go = False
        self.moves: list[Callable[[str], Any]] = [
            *[self._remember] * 5, *[self._recall] * 3, *[self._forget] * 3, self._find, self._link,
            *[self._amend] * 2, self._reflect, self._context, self._feedback, self._pin,
            self._explore, self._statistics, self._consolidate, self._restore, self._end,
            self._wait,
        ]  # fmt: skip

    def move(self) -> tuple[str, str]:
        """Do something, and return what it was and its answer, in which names stand for ids."""
        what, agent = self.random.choice(self.moves), self.random.choice(AGENTS)
        before, versions, self.lets_pins_go = all_of(self.room), self._versions(), False
        try:
            answer = repr(what(agent))
        except SentinelError as error:
            answer = f"{type(error).__name__}: {error}"
            assert len(all_of(self.room)) == len(before)
        self._nothing_is_lost(before, versions)
        return f"{agent} {what.__name__}", self._plain(answer)

    def _versions(self) -> Counter[str]:
        with self.room.engine.reading() as reading:
            return Counter(it.fragment_id for it in reading.entries(Version))

    def _nothing_is_lost(self, before: list[Fragment], versions: Counter[str]) -> None:
        """What is acknowledged is there or counted, what is pinned stays, versions stay."""
        there = {it.id: it for it in all_of(self.room)}
        assert there.keys() <= self.names.keys()
        assert all(0 <= it.importance <= 1 for it in there.values())
        gone = statistics_of(self.room).figures["purged"]
        assert len(there) + gone == len(self.names)
        if not self.lets_pins_go:
            for it in before:
                if it.is_anchor and not it.deleted_at:
                    assert there[it.id].is_anchor and not there[it.id].deleted_at
        now = self._versions()
        assert all(now[id_] >= count for id_, count in versions.items() if id_ in there)

    def everything(self) -> str:
        """All that is kept, as whoever runs the server sees it."""
        with self.room.engine.reading() as reading:
            found = reading.find(Wanted(state="all"))
            links = reading.links([it.id for it in found])
        return self._plain(repr((found, [(it.from_id, it.to_id, it.relation) for it in links])))

    def _plain(self, answer: str) -> str:
        def name(found: re.Match[str]) -> str:
            return self.names.get(found[0], found[0])

        return _OWN_OF_ONE.sub("", _ID.sub(name, answer))

    def _text(self) -> str:
        if self.random.random() < 0.06:
            return self.random.choice(EDGES)
        return " ".join(self.random.choices(WORDS, k=self.random.randint(3, 8)))

    def _one(self, agent: str) -> str:
        return self.random.choice(self.own[agent] or ["nobody22"])

    def _session(self, agent: str) -> str:
        return f"{agent} {self.random.choice('st')}"

    def _known(self, agent: str, id_: str) -> None:
        if id_ not in self.names:
            self.names[id_] = f"<{len(self.names)}>"
            self.own[agent].append(id_)

    def _remember(self, agent: str) -> Any:
        pick = self.random
        words = [it for it in WORDS if "\0" not in it]
        draft = Draft(
            content=self._text(),
            topic=f"{agent} {pick.choice(words[:5])}" if pick.random() < 0.7 else "",
            type=pick.choice(("", "fact", "error", "procedure", "preference", "decision")),
            keywords=tuple(pick.sample(words, pick.randint(0, 3))),
            importance=pick.choice((None, 0.1, 0.95)),
            source=pick.choice(("", "shop", "한글 작업공간")),
            is_anchor=pick.random() < 0.3,
            is_working=pick.random() < 0.2,
            linked_to=(self._one(agent),) if pick.random() < 0.2 and self.own[agent] else (),
        )
        done = remember(self.room, draft, agent=agent, session=self._session(agent))
        self._known(agent, done.fragment.id)
        return done.fragment, done.is_new

    def _recall(self, agent: str) -> Any:
        """By filters and worth; by a question in `_find`."""
        pick = self.random
        query = Query(
            topic=pick.choice(("", "", "payment", f"{agent} 결제")),
            type=pick.choice(("", "", "fact", "error")),
            since=pick.choice(("", "", "2026-05-02")),
            tokens=pick.choice((100, 1_000, 9_000)),
            limit=pick.choice((0, 3)),
        )
        session = self._session(agent)
        found = recall(self.room, query, agent=agent, session=session, line=said_by)
        return [it.id for it in found.fragments], [it.to_id for it in found.linked], found.left_out

    def _find(self, agent: str) -> Any:
        """What is found by all that a fragment says."""
        with self.room.engine.reading() as reading:
            said = [it.content for it in reading.by_ids([self._one(agent)])]
        query = Query(text=" ".join(said), tokens=90_000)
        found = recall(self.room, query, agent=agent, count=lambda *_: None)
        return said, [said_by(it) for it in found.fragments]

    def _forget(self, agent: str) -> Any:
        pick = self.random
        if pick.random() < 0.2:
            topic = f"{agent} {pick.choice(WORDS[:5])}"
            return forget(self.room, topic=topic, agent=agent)
        is_hard, is_forced = pick.random() < 0.5, pick.random() < 0.3
        self.lets_pins_go = is_forced
        return forget(self.room, id=self._one(agent), force=is_forced, hard=is_hard)

    def _link(self, agent: str) -> Any:
        first, second = self._one(agent), self._one(agent)
        relation = self.random.choice(RELATIONS)
        return link(self.room, first, second, relation, agent=agent)

    def _amend(self, agent: str) -> Any:
        pick = self.random
        amendment = Amendment(
            id=self._one(agent),
            content=pick.choice((None, self._text())),
            keywords=pick.choice((None, (pick.choice(WORDS[:8]),))),
            importance=pick.choice((None, 0.5)),
            is_anchor=pick.choice((None, None, True, False)),
            supersedes=pick.random() < 0.3,
        )
        session = self._session(agent)
        self.lets_pins_go = amendment.is_anchor is False
        done = amend(self.room, amendment, agent=agent, session=session)
        self._known(agent, done.fragment.id)
        return done.fragment

    def _reflect(self, agent: str) -> Any:
        reflection = Reflection(
            summary=self._text(), decisions=(self._text(),), open_questions=("Why 한글 ?",)
        )
        done = reflect(self.room, reflection, agent=agent, session=self._session(agent))
        for it in done.saved:
            self._known(agent, it.fragment.id)
        return [(it.fragment, it.is_new) for it in done.saved]

    def _context(self, agent: str) -> Any:
        session, types = self._session(agent), ("fact", "error", "preference")
        found = restore_context(self.room, types=types, session=session, agent=agent, line=said_by)
        ids = [[it.id for it in some] for some in (found.core, found.working)]
        return ids, found.left_out

    def _feedback(self, agent: str) -> Any:
        is_relevant = self.random.random() < 0.5  # of no session: in a file it is nobody's
        given = ToolFeedback(tool_name="recall", relevant=is_relevant, sufficient=False)
        return give_feedback(self.room, given)

    def _pin(self, agent: str) -> Any:
        is_pinned = self.random.random() < 0.5
        self.lets_pins_go = not is_pinned
        return pin(self.room, self._one(agent), pinned=is_pinned)

    def _explore(self, agent: str) -> Any:
        return explore(self.room, self._one(agent), agent=agent)

    def _statistics(self, agent: str) -> Any:
        return statistics_of(self.room, agent=agent)

    def _consolidate(self, agent: str) -> Any:
        if self.random.random() < 0.3:
            tend(self.room, compares=False)
        done = consolidate(self.room)
        for it in all_of(self.room):  # it has ended sessions, and noted that
            self._known(it.agent, it.id)
        left = whole(self.room)
        consolidate(self.room)
        assert whole(self.room) == left  # nothing is left to do at the same moment
        return done

    def _restore(self, agent: str) -> Any:
        return restore(self.room, self._one(agent))

    def _end(self, agent: str) -> Any:
        done = end_session(self.room, self._session(agent))
        if done.reflected:
            self._known(agent, done.reflected.id)
        return done

    def _wait(self, agent: str) -> Any:
        """Time passes, or the clock of the machine is set: a day back, a day ahead."""
        return self.clock.wait(days=self.random.choice((0.01, 1, 20, 40, -1, -1, 900)))


@pytest.fixture
def engines(team_server: TeamServer, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    file = SqliteEngine(tmp_path / "memory.db", timeout_s=5)
    server = PostgresEngine(a_server(team_server.emptied_dsn()), timeout_s=5)
    yield file, server
    file.close()
    server.close()


@pytest.mark.row("002 2.30.c", "002 2.97")
@pytest.mark.parametrize(
    ("seed", "moves"),
    [(1, 40), *(pytest.param(seed, 200, marks=pytest.mark.long) for seed in range(1, 7))],
)
def test_a_sequence_of_calls_is_answered_alike(
    engines: tuple[Engine, Engine], seed: int, moves: int
) -> None:
    file, server = (Team(it, seed) for it in engines)
    for at in range(moves):
        assert server.move() == file.move(), at
        if at % 10 == 0:
            assert server.everything() == file.everything(), at
    assert server.everything() == file.everything()
