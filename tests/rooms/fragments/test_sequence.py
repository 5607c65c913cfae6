"""Tests that no sequence of what agents do loses what is pinned, or anything without a count, that
a file and a server answer all of it alike, and that an export has all of it.

Each agent acts under its name and with all rights, as in a file, which is one person's.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from core.config import Settings
from core.errors import SentinelError
from rooms.fragments.activity import end_session, give_feedback
from rooms.fragments.bin import forget, pin, restore
from rooms.fragments.config import Config
from rooms.fragments.context import restore_context
from rooms.fragments.draft import Draft, remember
from rooms.fragments.exchange import line_of, of_rows, rows_of
from rooms.fragments.fragment import CONTENT_BYTES, RELATIONS, ToolFeedback, Version, Wanted
from rooms.fragments.import_plan import carry_out, planned
from rooms.fragments.links import explore, link
from rooms.fragments.recall import Query, recall
from rooms.fragments.reflection import Reflection, reflect
from rooms.fragments.room import Room
from rooms.fragments.storage.engine import Engine
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.upkeep.consolidation import consolidate, tend
from rooms.fragments.upkeep.statistics import statistics_of
from rooms.fragments.versions import Amendment, amend
from tests.support.fragments_room import Clock, a_room, all_of, everything, whole
from tests.support.team_engines import a_server
from tests.support.waiting import until

AGENTS = st.sampled_from(["alice", "bob", "default"])
WORDS = (
    *"payment webhook retry 결제 인증 배포 node postgres Straße café 😀 👩‍👩‍👧".split(),
    *("cafe\u0301", "\u1112\u1161\u11ab", "a\0b"),
)
EDGES = (
    *("x" * CONTENT_BYTES, "가" * (CONTENT_BYTES // 3), "😀" * (CONTENT_BYTES // 4)),
    *("x" * (CONTENT_BYTES + 1), "가" * (CONTENT_BYTES // 3 + 1), "half \ud800", "  "),
)
TEXTS = st.one_of(
    *[st.lists(st.sampled_from(WORDS), min_size=3, max_size=8).map(" ".join)] * 9,
    st.sampled_from(EDGES),
)
TOPICS = st.sampled_from(["", *(f"{agent} {word}" for agent in "ab" for word in WORDS[:3])])
TYPES = st.sampled_from(["", "fact", "error", "procedure", "preference", "decision"])
KEYWORDS = st.lists(st.sampled_from(WORDS[:-1]), max_size=3, unique=True).map(tuple)
ONE = st.integers(0, 30)
_ID = re.compile(r"\b[a-z2-9]{8}\b")
# A number is of one database; whose session used what all share, a server keeps to itself; how
# alike two texts are depends on how many there are, which a server works out from a part.
_OWN_OF_ONE = re.compile(r"similarity=[0-9.]+|number=\d+|last_session='[^']*'|path='[^']*'")

Act = Callable[[Room, Callable[[int], str]], object]


class Sequence(RuleBasedStateMachine):
    """Has agents do the same in several rooms, in each of which a fragment has another id."""

    def __init__(self, engines: list[Engine]) -> None:
        super().__init__()
        self.clock, config = Clock(), Config(Path("memory.db"))
        self.rooms = [
            Room(engine=each, config=config, settings=Settings(), clock=self.clock)
            for each in engines
        ]
        self.names: list[dict[str, str]] = [{} for _ in engines]  # what stands for an id
        for engine in engines:
            with engine.writing():
                pass  # the tables of a server are there before anything is kept: so is the file

    def do(self, act: Act, *, lets_pins_go: bool = False) -> None:
        """Do it in each room; `act` gets the room, and what says the id of a number."""
        answers = list[str]()
        for room, names in zip(self.rooms, self.names, strict=True):
            before, versions = all_of(room), self.versions(room)
            ids = [*names] or ["nobody22"]
            try:
                answer = repr(act(room, lambda one, ids=ids: ids[one % len(ids)]))  # type: ignore[misc]
            except SentinelError as error:
                answer = f"{type(error).__name__}: {error}"
                assert len(all_of(room)) == len(before)
            after = {it.id: it for it in all_of(room)}
            for id_ in after:
                names.setdefault(id_, f"<{len(names)}>")
            assert len(after) + statistics_of(room).figures["purged"] == len(names)
            assert all(0 <= it.importance <= 1 for it in after.values())
            for it in before:
                if it.is_anchor and not it.deleted_at and not lets_pins_go:
                    assert after[it.id].is_anchor and not after[it.id].deleted_at
            now = self.versions(room)
            assert all(now[id_] >= count for id_, count in versions.items() if id_ in after)
            answers.append(self.plain(answer, names))
        assert answers[1:] == answers[:1] * (len(answers) - 1)

    def versions(self, room: Room) -> Counter[str]:
        with room.engine.reading() as rows:
            return Counter(it.fragment_id for it in rows.entries(Version))

    def plain(self, answer: str, names: dict[str, str]) -> str:
        return _OWN_OF_ONE.sub("", _ID.sub(lambda found: names.get(found[0], found[0]), answer))

    def teardown(self) -> None:
        kept = list[str]()
        for room, names in zip(self.rooms, self.names, strict=True):
            with room.engine.reading() as rows:
                found = rows.find(Wanted(state="all"))
                links = [(it.from_id, it.to_id, it.relation) for it in
                         rows.links([it.id for it in found])]  # fmt: skip
            kept.append(self.plain(repr((found, links)), names))
            successors: dict[str, set[str]] = {}
            for start, end, relation in links:
                if relation == "superseded_by":
                    successors.setdefault(start, set()).add(end)
            TopologicalSorter(successors).prepare()  # nothing has the place of its own successor
        assert kept[1:] == kept[:1] * (len(kept) - 1)
        self.export(self.rooms[0])

    def export(self, room: Room) -> None:
        """Whatever a room holds, an empty one that imports it holds the same."""
        with room.engine.reading() as rows:
            lines = [*map(line_of, rows_of(rows, Wanted(state="all"), only_public=False))]
        with TemporaryDirectory() as folder:
            other = a_room(Path(folder), clock=Clock("2100-01-01T00:00:00+00:00"))
            carry_out(other, planned(other, of_rows([*enumerate(lines, 1)], "x.jsonl")))
            assert everything(other) == everything(room)
            other.engine.close()

    @rule(
        agent=AGENTS, text=TEXTS, topic=TOPICS, type_=TYPES, keywords=KEYWORDS,
        importance=st.sampled_from([None, 0.1, 0.95]), is_anchor=st.booleans(),
        is_working=st.booleans(), linked=st.one_of(st.none(), ONE),
    )  # fmt: skip
    def remember(self, agent: str, text: str, topic: str, type_: str, keywords: tuple[str, ...],
                 importance: float | None, is_anchor: bool, is_working: bool,
                 linked: int | None) -> None:  # fmt: skip
        def act(room: Room, id_of: Callable[[int], str]) -> object:
            draft = Draft(
                content=text, topic=topic, type=type_, keywords=keywords, importance=importance,
                is_anchor=is_anchor, is_working=is_working,
                linked_to=() if linked is None else (id_of(linked),),
            )  # fmt: skip
            done = remember(room, draft, agent=agent, session=f"{agent} s")
            return done.fragment, done.is_new

        self.do(act)

    @rule(agent=AGENTS, topic=TOPICS, type_=st.sampled_from(["", "fact", "error"]),
          since=st.sampled_from(["", "2026-05-02"]), tokens=st.sampled_from([100, 9_000]),
    )  # fmt: skip
    def recall(self, agent: str, topic: str, type_: str, since: str, tokens: int) -> None:
        query = Query(topic=topic, type=type_, since=since, tokens=tokens)

        def act(room: Room, _: Callable[[int], str]) -> object:
            found = recall(
                room, query, agent=agent, session=f"{agent} s", line=lambda it: it.content
            )
            return [it.id for it in found.fragments], found.left_out

        self.do(act)

    @rule(agent=AGENTS, one=ONE, force=st.booleans(), hard=st.booleans())
    def forget(self, agent: str, one: int, force: bool, hard: bool) -> None:
        self.do(
            lambda room, id_of: forget(room, id=id_of(one), agent=agent, force=force, hard=hard),
            lets_pins_go=force,
        )

    @rule(agent=AGENTS, topic=TOPICS)
    def forget_topic(self, agent: str, topic: str) -> None:
        self.do(lambda room, _: forget(room, topic=topic, agent=agent))

    @rule(agent=AGENTS, one=ONE, other=ONE, relation=st.sampled_from(RELATIONS))
    def link(self, agent: str, one: int, other: int, relation: Any) -> None:
        self.do(lambda room, id_of: link(room, id_of(one), id_of(other), relation, agent=agent))

    @rule(agent=AGENTS, one=ONE, text=TEXTS, supersedes=st.booleans(),
          is_anchor=st.sampled_from([None, True, False]))  # fmt: skip
    def amend(
        self, agent: str, one: int, text: str, supersedes: bool, is_anchor: bool | None
    ) -> None:
        def act(room: Room, id_of: Callable[[int], str]) -> object:
            amendment = Amendment(
                id=id_of(one), content=text, supersedes=supersedes, is_anchor=is_anchor
            )
            return amend(room, amendment, agent=agent, session=f"{agent} s").fragment

        self.do(act, lets_pins_go=is_anchor is False)

    @rule(agent=AGENTS, summary=TEXTS, decision=TEXTS)
    def reflect(self, agent: str, summary: str, decision: str) -> None:
        reflection = Reflection(summary=summary, decisions=(decision,), open_questions=("Why ?",))

        def act(room: Room, _: Callable[[int], str]) -> object:
            done = reflect(room, reflection, agent=agent, session=f"{agent} s")
            return [(it.fragment, it.is_new) for it in done.saved]

        self.do(act)

    @rule(one=ONE, pinned=st.booleans())
    def pin(self, one: int, pinned: bool) -> None:
        self.do(lambda room, id_of: pin(room, id_of(one), pinned=pinned), lets_pins_go=not pinned)

    @rule(one=ONE)
    def restore(self, one: int) -> None:
        self.do(lambda room, id_of: restore(room, id_of(one)))

    @rule(agent=AGENTS, one=ONE)
    def look_around(self, agent: str, one: int) -> None:
        def act(room: Room, id_of: Callable[[int], str]) -> object:
            how: dict[str, Any] = {"session": f"{agent} s", "agent": agent}
            types = ("fact", "error", "preference")
            found = restore_context(room, types=types, line=lambda it: it.content, **how)
            give_feedback(room, ToolFeedback(tool_name="recall", relevant=True, sufficient=False))
            standing = [[it.id for it in some] for some in (found.core, found.working)]
            return (
                standing,
                statistics_of(room),
                explore(room, id_of(one), agent=agent),
            )

        self.do(act)

    @rule(agent=AGENTS)
    def end(self, agent: str) -> None:
        self.do(lambda room, _: end_session(room, f"{agent} s"))

    @rule(is_tended=st.booleans())
    def consolidate(self, is_tended: bool) -> None:
        def act(room: Room, _: Callable[[int], str]) -> object:
            if is_tended:
                # A server lets go of the lock of the run before a moment after its connection.
                until(lambda: tend(room, compares=False))
            done = consolidate(room)
            left = whole(room)
            consolidate(room)
            assert whole(room) == left  # nothing is left to do at the same moment
            return done

        self.do(act)

    @rule(days=st.sampled_from([0.01, 1, 20, 40, -1, 900]))
    def wait(self, days: float) -> None:
        """Time passes, or the clock of the machine is set."""
        self.clock.wait(days=days)


@pytest.fixture(params=["a file", pytest.param("both", marks=pytest.mark.long)])
def new_engines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Returns engines that have stored nothing."""
    made = list[Engine]()

    def new() -> list[Engine]:
        path = tmp_path / str(len(made)) / "memory.db"
        engines: list[Engine] = [SqliteEngine(path, timeout_s=5)]
        if request.param == "both":
            server = request.getfixturevalue("team_server")
            engines.append(PostgresEngine(a_server(server.emptied_dsn()), timeout_s=5))
        made.extend(engines)
        return engines

    yield new
    for engine in made:
        engine.close()


@pytest.mark.row("002 2.30.c", "002 2.97")
def test_no_sequence_loses_what_is_pinned_or_anything_without_a_count(
    new_engines: Callable[[], list[Engine]],
) -> None:
    how = settings(
        max_examples=2 * settings().max_examples // 10,
        stateful_step_count=50,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    machine: Any = lambda: Sequence(new_engines())  # noqa: E731
    run_state_machine_as_test(machine, settings=how)
