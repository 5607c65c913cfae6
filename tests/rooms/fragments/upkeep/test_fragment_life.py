"""Plays lives of fragments: any sequence of operations and waits, by rules that always hold."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Fragment, Version
from rooms.fragments.kinds import RELATIONS, WORDS_OF_TYPE
from rooms.fragments.recall.recalling import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.saving.amending import Amendment, amend
from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.forgetting import forget, pin, restore
from rooms.fragments.saving.linking import link
from rooms.fragments.saving.remembering import remember
from rooms.fragments.upkeep.consolidating import consolidate
from rooms.fragments.upkeep.daily import tend
from rooms.fragments.upkeep.statistics import statistics_of
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.fragments_room import Clock, a_room
from tests.support.upkeep_room import all_of, whole

NUMBERS = st.integers(0, 9)
CONTENTS = st.builds("The pool of service {} holds {} connections".format, NUMBERS, NUMBERS)
TOPICS = st.sampled_from(["pool", "deploy", "cache"])
IMPORTANCES = st.none() | st.floats(0, 1)


@dataclass
class Known:
    """What the life knows of a fragment: how often it was amended, whether it is pinned or gone."""

    content_hash: str
    versions: int = 0
    is_pinned: bool = False
    was_forced: bool = False


class Life(RuleBasedStateMachine):
    """A room, and beside it what must be true of every fragment that was ever acknowledged."""

    ids = Bundle("ids")

    @initialize()
    def begins(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.room: Room = a_room(Path(self.folder.name), clock=self.clock)
        self.known: dict[str, Known] = {}

    def teardown(self) -> None:
        if hasattr(self, "room"):
            self.room.engine.close()
            self.folder.cleanup()

    def _acknowledged(self, fragment: Fragment) -> str:
        known = self.known.setdefault(fragment.id, Known(fragment.content_hash))
        known.is_pinned = fragment.is_anchor
        return fragment.id

    def _tried(self, action: Any) -> Any:
        """What an operation returns; None where it refuses, which loses nothing either."""
        before = len(all_of(self.room))
        try:
            return action()
        except FragmentsError:
            assert len(all_of(self.room)) == before
            return None

    @rule(
        target=ids,
        content=CONTENTS,
        type_=st.sampled_from(WORDS_OF_TYPE),
        topic=TOPICS,
        importance=IMPORTANCES,
        is_anchor=st.booleans(),
    )
    def remembers(
        self, content: str, type_: str, topic: str, importance: float | None, is_anchor: bool
    ) -> str:
        draft = Draft(
            content=content, topic=topic, type=type_, importance=importance, is_anchor=is_anchor
        )
        return self._acknowledged(remember(self.room, draft).fragment)

    @rule(content=CONTENTS, topic=TOPICS)
    def recalls(self, content: str, topic: str) -> None:
        recall(self.room, Query(text=content, topic=topic), session=self.clock())

    @rule(
        target=ids,
        id_=ids,
        content=st.none() | CONTENTS,
        importance=IMPORTANCES,
        supersedes=st.booleans(),
    )
    def amends(
        self, id_: str, content: str | None, importance: float | None, supersedes: bool
    ) -> Any:
        given = Amendment(id=id_, content=content, importance=importance, supersedes=supersedes)
        done = self._tried(lambda: amend(self.room, given))
        if done is None:
            return multiple()
        if not supersedes:
            with self.room.engine.reading() as reading:
                noted: list[Version] = reading.entries(Version, of=id_)
            assert len(noted) - self.known[id_].versions in (0, 1)
            self.known[id_].versions = len(noted)
        return self._acknowledged(done.fragment)

    @rule(id_=ids, other=ids, relation=st.sampled_from(RELATIONS))
    def links(self, id_: str, other: str, relation: str) -> None:
        self._tried(lambda: link(self.room, id_, other, relation))

    @rule(id_=ids)
    def forgets(self, id_: str) -> None:
        self._tried(lambda: forget(self.room, id=id_))

    @rule(id_=consumes(ids), force=st.booleans())
    def forgets_for_good(self, id_: str, force: bool) -> None:
        self.known[id_].was_forced |= force
        self._tried(lambda: forget(self.room, id=id_, hard=True, force=force))

    @rule(topic=TOPICS)
    def forgets_a_topic(self, topic: str) -> None:
        self._tried(lambda: forget(self.room, topic=topic))

    @rule(id_=ids)
    def restores(self, id_: str) -> None:
        back = self._tried(lambda: restore(self.room, id_))
        assert back is None or back.is_live

    @rule(id_=ids, pinned=st.booleans())
    def pins(self, id_: str, pinned: bool) -> None:
        done = self._tried(lambda: pin(self.room, id_, pinned=pinned))
        if done is not None:
            self.known[id_].is_pinned = pinned

    @rule(
        wait=st.one_of(
            st.builds(dict, hours=st.integers(1, 72)),
            st.builds(dict, days=st.integers(1, 120)),
            st.builds(dict, days=st.integers(-400, 4_000)),
        )
    )
    def waits(self, wait: dict[str, int]) -> None:
        self.clock.wait(**wait)

    @rule()
    def consolidates(self) -> None:
        consolidate(self.room)
        self._nothing_is_left_to_do()

    @rule()
    def tends(self) -> None:
        tend(self.room)

    def _nothing_is_left_to_do(self) -> None:
        """A second run at the same moment changes no fragment."""
        before = whole(self.room)
        consolidate(self.room)
        assert whole(self.room) == before

    @invariant()
    def nothing_acknowledged_is_lost_without_a_count(self) -> None:
        if hasattr(self, "room"):
            found = statistics_of(self.room)
            there = found.live + found.superseded + sum(found.deleted.values())
            assert there + found.figures["purged"] == len(self.known)

    @invariant()
    def nothing_pinned_disappears(self) -> None:
        if not hasattr(self, "room"):
            return
        there = {it.id: it for it in all_of(self.room)}
        for id_, known in self.known.items():
            if known.is_pinned and not known.was_forced:
                assert not there[id_].deleted_at and there[id_].is_anchor

    @invariant()
    def ids_stay_those_that_were_given_and_importance_between_nothing_and_all(self) -> None:
        if not hasattr(self, "room"):
            return
        there = all_of(self.room)
        assert {it.id for it in there} <= self.known.keys()
        assert len({it.id for it in there}) == len(there)
        assert all(0 <= it.importance <= 1 for it in there)

    @invariant()
    def every_version_is_there(self) -> None:
        if not hasattr(self, "room"):
            return
        there = {it.id for it in all_of(self.room)}
        with self.room.engine.reading() as reading:
            for id_, known in self.known.items():
                if id_ in there:
                    assert len(reading.entries(Version, of=id_)) >= known.versions


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.30.c", "002 2.97")
@pytest.mark.hypothesis  # the full profile tries more lives
def test_a_life_breaks_no_rule() -> None:
    at_most = settings(
        max_examples=max(5, settings().max_examples // 10),
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    run_state_machine_as_test(Life, settings=at_most)
