"""Tests that a long sequence of changes and questions is answered alike on both engines."""

import random
from array import array
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.engine import Engine, Order, Reading, Wanted, Writing
from rooms.fragments.fragment import (
    Activity,
    Embedding,
    Fragment,
    Link,
    Suspicion,
    Version,
)
from rooms.fragments.kinds import Relation
from rooms.fragments.postgres.adapter import PostgresEngine
from rooms.fragments.sqlite.adapter import SqliteEngine
from tests.support.team_engines import TeamServer, a_server
from tests.support.team_engines import team_server as team_server

SEED = 20261123
WORDS = "payment webhook retry 결제 인증 node postgres Straße café x".split()
DAYS = [f"2026-0{month}-1{day}T10:00:00+00:00" for month in (1, 2) for day in (1, 2, 3)]
ORDERS: tuple[Order, ...] = ("number", "newest", "worth")


class Shares(dict[str, float]):
    """Shares of a question, but for how sums of them are rounded."""

    def __eq__(self, other: object) -> bool:
        return bool(dict(self) == pytest.approx(other, abs=1e-9))


class Player:
    """Plays changes on one engine; the same seed plays the same ones."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.random = engine, random.Random(SEED)
        self.ids, self.ordinals = list[str](), dict[int, str]()

    def play(self) -> Any:
        """Make one change, and return its answer."""
        name = self.random.choice(("add", "add", "replace", "touch", "drop", "link", "vector",
                                   "note", "unlink", "state", "drop_vectors"))  # fmt: skip
        with self.engine.writing() as writing:
            return name, getattr(self, f"_{name}")(writing)

    def ask(self) -> list[Any]:
        """Return answers to questions of each kind, in which ids stand for numbers."""
        with self.engine.reading() as reading:
            return [*self._answers(reading)]

    def _answers(self, reading: Reading) -> Iterator[Any]:
        pick = self.random
        wanted = Wanted(
            state=pick.choice(("live", "superseded", "bin", "kept", "all")),
            topics=pick.choice(((), ("X",), ("인증", "payment"))),
            keywords=pick.choice(((), ("STRASSE",), ("retry", "node"))),
            agents=pick.choice(((), ("alice",))),
            is_anchor=pick.choice((None, None, True, False)),
            since=pick.choice(("", "2026-01-12", "2026-02")),
            until=pick.choice(("", "2026-02-12")),
            has_vector=pick.choice((None, None, True, False)),
            expires_before=pick.choice(("", "", DAYS[4])),
        )
        words = [pick.choice(WORDS) for _ in range(3)]
        yield wanted, words
        for order in ORDERS:
            yield [self._plain(it) for it in reading.find(wanted, order=order, limit=9, offset=1)]
        yield [reading.count(wanted, by) for by in ("", "topic", "agent", "tier")]
        yield self._named(reading.with_keywords(words, wanted, 20))
        yield Shares(self._named(reading.holding(" ".join(words), 3_000).shares(0.0).items()))
        vector = array("f", [pick.choice((0.0, 0.6, 0.8)) for _ in range(3)]).tobytes()
        yield self._named(reading.near(vector, wanted, 7))
        some = pick.sample(self.ids, min(len(self.ids), 5))
        yield [asdict(it) for it in reading.links(some)]
        yield reading.count_links(wanted)
        for kind in (Version, Activity, Suspicion):
            yield [asdict(it) for it in reading.entries(kind)]
        yield reading.state()

    def _add(self, writing: Writing) -> Any:
        pick, made = self.random, list[Fragment]()
        for _ in range(pick.randint(1, 3)):
            id_ = f"f{len(self.ids)}"
            self.ids.append(id_)
            made.append(Fragment(
                id=id_,
                content=" ".join(pick.choice(WORDS) for _ in range(6)),
                topic=pick.choice(WORDS),
                keywords=tuple(pick.sample(WORDS, 3)),
                importance=pick.choice((0.1, 0.5, 0.9)),
                is_anchor=pick.random() < 0.2,
                agent=pick.choice(("default", "alice")),
                created_at=pick.choice(DAYS),
                expires_at=pick.choice(("", *DAYS)),
            ))  # fmt: skip
        for it in writing.add(made):
            self.ordinals[it.number] = it.id
        return [it.id for it in made]

    def _replace(self, writing: Writing) -> Any:
        found = self._some(writing)
        topic, content = self.random.choice(WORDS), " ".join(self.random.sample(WORDS, 4))
        writing.replace([replace(it, topic=topic, content=content) for it in found])

    def _touch(self, writing: Writing) -> Any:
        values = self.random.choice((
            {"deleted_at": DAYS[2], "deletion": "forgotten"},
            {"superseded_at": DAYS[3]},
            {"deleted_at": "", "superseded_at": "", "tier": "cold"},
            {"importance": 0.75},
        ))  # fmt: skip
        writing.touch([it.number for it in self._some(writing)], values)

    def _drop(self, writing: Writing) -> Any:
        return writing.drop([it.id for it in self._some(writing)][:1])

    def _link(self, writing: Writing) -> Any:
        pairs = [(it.id, other.id) for it in self._some(writing) for other in self._some(writing)]
        relation: Relation = self.random.choice(("related", "caused_by"))
        return writing.put_links(
            Link(from_id=first, to_id=second, relation=relation, created_at=DAYS[0])
            for first, second in pairs
            if first != second
        )

    def _unlink(self, writing: Writing) -> Any:
        links = writing.links([it.id for it in self._some(writing)])
        return writing.drop_links(links[:1])

    def _vector(self, writing: Writing) -> Any:
        pick = self.random
        writing.put_vectors(
            Embedding(it.number, array("f", pick.choice(AXES)).tobytes())
            for it in self._some(writing)
        )

    def _drop_vectors(self, writing: Writing) -> Any:
        writing.drop_vectors([it.number for it in self._some(writing)][:1])

    def _note(self, writing: Writing) -> Any:
        ids = [it.id for it in self._some(writing)]
        writing.note(Version(fragment_id=it, content="before", amended_at=DAYS[1]) for it in ids)
        writing.note(
            [Activity(session_id=self.random.choice("st"), agent="alice", last_at=DAYS[0])]
        )

    def _state(self, writing: Writing) -> Any:
        writing.count_up({self.random.choice("ab"): 2})
        writing.set_state({"model": self.random.choice(("", "one", "two"))})

    def _some(self, reading: Reading) -> list[Fragment]:
        return reading.by_ids(self.random.sample(self.ids, min(len(self.ids), 4)))

    def _named(self, rows: Any) -> list[Any]:
        return [(self.ordinals[number], value) for number, value in rows]

    def _plain(self, it: Fragment) -> dict[str, Any]:
        return {**asdict(it), "number": self.ordinals[it.number]}


AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.8, 0.0), (0.0, 0.6, 0.8))


@pytest.fixture
def players(team_server: TeamServer, tmp_path: Path) -> Iterator[tuple[Player, Player]]:
    file = SqliteEngine(tmp_path / "memory.db", timeout_s=5)
    server = PostgresEngine(a_server(team_server.emptied_dsn()), timeout_s=5)
    yield Player(file), Player(server)
    file.close()
    server.close()


@pytest.mark.parametrize("changes", [90, pytest.param(300, marks=pytest.mark.long)])
def test_both_engines_give_the_same_answers(players: tuple[Player, Player], changes: int) -> None:
    file, server = players
    for at in range(changes):
        assert server.play() == file.play(), at
        if at % 3 == 0:
            for told, known in zip(server.ask(), file.ask(), strict=True):
                assert told == known, at
