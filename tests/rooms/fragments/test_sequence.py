"""Tests that no sequence of actions of agents loses a pinned fragment, or any without a count, that
a file and a server answer all of them alike, and that an export has all rows.

Each agent acts under its name and with all rights, as in a file, which is one person's.
"""

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
from rooms.fragments.exchange import line_of, plan_import, read_rows, save_plan, source_from_rows
from rooms.fragments.fragment import RELATIONS, Filter
from rooms.fragments.room import Config, Room
from rooms.fragments.storage.postgres import PostgresEngine
from rooms.fragments.storage.rows import Engine
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.texts import CONTENT_BYTES
from tests.rooms.fragments.test_lives import Life
from tests.support.fragments_room import Clock, a_room, everything, links_of
from tests.support.servers import until
from tests.support.team_engines import a_server

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


class Sequence(RuleBasedStateMachine):
    """Has agents do the same in several rooms, in each of which a fragment has another id."""

    def __init__(self, engines: list[Engine]) -> None:
        super().__init__()
        self.clock, config = Clock(), Config(Path("memory.db"))
        self.lives = list[Life]()
        for engine in engines:
            with engine.writing():
                pass  # the tables of a server are there before anything is kept: so is the file
            room = Room(engine=engine, config=config, settings=Settings(), clock=self.clock)
            self.lives.append(Life(room, self.clock))

    def do(self, verb: str, lets_pins_go: bool = False, **given: Any) -> None:
        """Call a verb in each room, and compare its answers and all changes."""
        answers = list[Any]()
        for life in self.lives:
            before = life.before or life.held()
            answers.append(life.call("", verb, dict(given)))
            after = life.before  # as the call has left it
            assert after
            assert len(after.fragments) + int(after.state.get("purged", 0)) == len(life.names)
            assert all(0 <= it.importance <= 1 for it in after.fragments.values())
            for id_, it in before.fragments.items():
                if it.is_anchor and not it.deleted_at and not lets_pins_go:
                    assert after.fragments[id_].is_anchor and not after.fragments[id_].deleted_at
            for row, count in before.others.items():
                if row.startswith("Version: ") and row.split()[1].split("=")[1] in after.fragments:
                    assert after.others[row] == count  # a version goes with its fragment alone
        assert answers[1:] == answers[:1] * (len(answers) - 1)

    def id_of(self, one: int) -> str:
        names = [*self.lives[0].names.values()] or ["nobody22"]
        return names[one % len(names)]

    def teardown(self) -> None:
        for life in self.lives:
            successors: dict[str, set[str]] = {}
            for start, relation, end in links_of(life.room, *life.names):
                if relation == "superseded_by":
                    successors.setdefault(start, set()).add(end)
            TopologicalSorter(successors).prepare()  # nothing has the place of its own successor
            self.export(life.room)

    def export(self, room: Room) -> None:
        """An empty room that imports all rows of a room holds the same."""
        with room.engine.reading() as rows:
            lines = [*map(line_of, read_rows(rows, Filter(state="all"), only_public=False))]
        with TemporaryDirectory() as folder:
            other = a_room(Path(folder), clock=Clock("2100-01-01T00:00:00+00:00"))
            source = source_from_rows([*enumerate(lines, 1)])
            save_plan(other, plan_import(other, source))
            assert everything(other) == everything(room)
            again = plan_import(other, source)
            assert (again.new_fragments, again.links, again.entries) == ([], [], [])
            other.engine.close()

    @rule(
        agent=AGENTS, text=TEXTS, topic=TOPICS, type_=TYPES, keywords=KEYWORDS,
        importance=st.sampled_from([None, 0.1, 0.95]), is_anchor=st.booleans(),
        is_working=st.booleans(), linked=st.one_of(st.none(), ONE),
    )  # fmt: skip
    def save(self, agent: str, text: str, linked: int | None, type_: str, **more: Any) -> None:
        linked_to = [] if linked is None else [self.id_of(linked)]
        self.do("save", content=text, agent=agent, session=f"{agent} s", type=type_,
                linked_to=linked_to, **more)  # fmt: skip

    @rule(agent=AGENTS, topic=TOPICS, type_=st.sampled_from(["", "fact", "error"]),
          since=st.sampled_from(["", "2026-05-02"]), tokens=st.sampled_from([100, 9_000]),
    )  # fmt: skip
    def recall(self, agent: str, type_: str, **more: Any) -> None:
        self.do("recall", agent=agent, session=f"{agent} s", type=type_, **more)

    @rule(agent=AGENTS, one=ONE, force=st.booleans(), hard=st.booleans())
    def forget(self, one: int, force: bool, **more: Any) -> None:
        self.do("forget", lets_pins_go=force, id=self.id_of(one), force=force, **more)

    @rule(agent=AGENTS, topic=TOPICS)
    def forget_topic(self, **given: Any) -> None:
        self.do("forget", **given)

    @rule(agent=AGENTS, one=ONE, other=ONE, relation=st.sampled_from(RELATIONS))
    def link(self, one: int, other: int, **more: Any) -> None:
        self.do("link", start=self.id_of(one), end=self.id_of(other), **more)

    @rule(agent=AGENTS, one=ONE, text=TEXTS, supersedes=st.booleans(),
          is_anchor=st.sampled_from([None, True, False]))  # fmt: skip
    def amend(self, agent: str, one: int, text: str, is_anchor: bool | None, **more: Any) -> None:
        self.do("amend", lets_pins_go=is_anchor is False, id=self.id_of(one), content=text,
                is_anchor=is_anchor, agent=agent, session=f"{agent} s", **more)  # fmt: skip

    @rule(agent=AGENTS, summary=TEXTS, decision=TEXTS)
    def reflect(self, agent: str, summary: str, decision: str) -> None:
        self.do("reflect", agent=agent, session=f"{agent} s", summary=summary,
                decisions=[decision], open_questions=["Why ?"],
                effectiveness={"tool_highlights": ["recall"]})  # fmt: skip

    @rule(one=ONE, verb=st.sampled_from(["pin", "unpin", "restore", "explore"]))
    def one(self, one: int, verb: str) -> None:
        self.do(verb, lets_pins_go=verb == "unpin", id=self.id_of(one))

    @rule(agent=AGENTS)
    def look_around(self, agent: str) -> None:
        how: Any = {"session": f"{agent} s", "agent": agent}
        self.do("context", types=["fact", "error", "preference"], **how)
        self.do("feedback", tool_name="recall", relevant=True, sufficient=False)
        self.do("statistics")

    @rule(agent=AGENTS)
    def end(self, agent: str) -> None:
        self.do("end", session=f"{agent} s")

    @rule(is_tended=st.booleans())
    def consolidate(self, is_tended: bool) -> None:
        if is_tended:
            # A server lets go of the lock of the run before a moment after its connection.
            until(lambda: all(self.is_tended(it) for it in self.lives))
        self.do("consolidate")
        for life in self.lives:
            left = life.before
            life.call("", "consolidate", {})
            assert life.before == left  # nothing is left to do at the same moment

    def is_tended(self, life: Life) -> bool:
        return life.call("", "tend", {"compares": False}).text.startswith("yes")

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


@pytest.mark.row("002 2.30.c", "002 2.97", "002 2.98", "004 4.15")
def test_no_sequence_loses_a_pinned_fragment_or_anything_without_a_count(
    new_engines: Callable[[], list[Engine]],
) -> None:
    how = settings(
        max_examples=max(2, settings().max_examples // 10),
        stateful_step_count=50,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    machine: Any = lambda: Sequence(new_engines())  # noqa: E731
    run_state_machine_as_test(machine, settings=how)
