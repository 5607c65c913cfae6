"""Tests what holds for any two branches of one memory, as git joins their lines."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.lessons.log import MemoryLog
from core.lessons.record import Record
from tests.support.changes import upsert
from tests.support.git_clones import conflict_styles
from tests.support.samples import a_draft, a_principle

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

STYLES = {"merge": "--quiet", "diff3": "--diff3", "zdiff3": "--zdiff3"}
WAYS = st.sampled_from(["--union", *(STYLES[style] for style in conflict_styles())])
GAPS = st.sampled_from(["one", "two", "three", "four", "five", "six"])
RULES = st.sampled_from(["rule", "their rule", "newer rule"])
LESSONS = st.sampled_from(["a", "b", "c"])
DAYS = st.integers(1, 9).map(lambda day: f"2026-03-0{day}T09:00:00+00:00")
PLACES = st.frozensets(st.integers(0, 6), min_size=1)


@dataclass(frozen=True)
class Save:
    """The gap is logged, for the first time or again."""

    gap: str
    lesson: str
    now: str

    def on(self, log: MemoryLog) -> MemoryLog:
        return upsert(log, a_draft(self.gap, lesson=self.lesson), now=self.now)[0]


@dataclass(frozen=True)
class Compact:
    """A principle replaces the records at these places, principles among them."""

    rule: str
    places: frozenset[int]
    now: str

    def on(self, log: MemoryLog) -> MemoryLog:
        chosen = [record for at, record in enumerate(log.records) if at in self.places]
        tokens = [record.token for record in chosen if record.key_text != self.rule]
        return upsert(log, a_principle(self.rule), tokens, now=self.now)[0]


Edit = Save | Compact
SAVES: st.SearchStrategy[Edit] = st.builds(Save, GAPS, LESSONS, DAYS)
COMPACTIONS: st.SearchStrategy[Edit] = st.builds(Compact, RULES, PLACES, DAYS)
SCRIPTS = st.lists(SAVES | COMPACTIONS, max_size=5)


def played(log: MemoryLog, edits: Iterable[Edit]) -> MemoryLog:
    for edit in edits:
        log = edit.on(log)
    return log


@dataclass(frozen=True)
class Branches:
    """One memory and what two branches made of it."""

    before: list[Edit]
    our_edits: list[Edit]
    their_edits: list[Edit]

    @cached_property
    def base(self) -> MemoryLog:
        return played(MemoryLog(), self.before)

    @cached_property
    def ours(self) -> MemoryLog:
        return played(self.base, self.our_edits)

    @cached_property
    def theirs(self) -> MemoryLog:
        return played(self.base, self.their_edits)

    @property
    def replaced_tokens(self) -> set[str]:
        """The tokens that a principle of either branch lists."""
        records = [*self.ours.records, *self.theirs.records]
        return {token for record in records for token in record.source_ids}

    @property
    def replaced_ids(self) -> set[str]:
        return {token.rpartition("@")[0] for token in self.replaced_tokens}

    def joined(self, way: str) -> MemoryLog:
        """What `git merge` writes into the file: `git merge-file` is its line-wise part."""
        with tempfile.TemporaryDirectory() as folder:
            for name, log in (("ours", self.ours), ("base", self.base), ("theirs", self.theirs)):
                Path(folder, name).write_bytes(log.to_bytes())
            done = subprocess.run(
                ["git", "merge-file", "-p", way, "ours", "base", "theirs"],
                cwd=folder,
                capture_output=True,
                check=False,
                timeout=60,
            )
        assert 0 <= done.returncode < 128, done.stderr
        return MemoryLog.parse(done.stdout)


BRANCHES = st.builds(Branches, SCRIPTS, SCRIPTS, SCRIPTS)


def by_id(records: Iterable[Record]) -> dict[str, Record]:
    return {record.id: record for record in records}


def is_alone(record: Record, log: MemoryLog) -> bool:
    return sum(it.id == record.id for it in log.records) == 1


FIRST = Save("one", "a", "2026-03-02T09:00:00+00:00")
OTHER_WORDS = Save("one", "b", "2026-03-01T09:00:00+00:00")
SAME_MOMENT = Save("one", "b", FIRST.now)
# A colleague's clock is ahead, and the gap comes back after its compaction.
AHEAD = Branches(
    before=[Save("two", "a", "2026-03-05T09:00:00+00:00")],
    our_edits=[
        Compact("rule", frozenset([0]), "2026-03-02T09:00:00+00:00"),
        Save("two", "b", "2026-03-03T09:00:00+00:00"),
    ],
    their_edits=[Save("five", "a", "2026-03-04T09:00:00+00:00")],
)
# The same with a principle that is saved again with originals of its own.
AHEAD_WITH_PRINCIPLES = Branches(
    before=[Compact("their rule", frozenset([0]), "2026-03-02T09:00:00+00:00")],
    our_edits=[
        Compact("rule", frozenset([0]), "2026-03-01T09:00:00+00:00"),
        Compact("their rule", frozenset([0]), "2026-03-01T09:00:00+00:00"),
    ],
    their_edits=[Save("five", "a", "2026-03-01T09:00:00+00:00")],
)
# A gap that was seen twice is compacted and back within one second.
SAME_SECOND = Branches(
    before=[Save("two", "b", "2026-03-01T09:00:00+00:00")] * 2,
    our_edits=[
        Compact("rule", frozenset([0]), "2026-03-01T09:00:00+00:00"),
        Save("two", "a", "2026-03-01T09:00:00+00:00"),
    ],
    their_edits=[Save("five", "a", "2026-03-01T09:00:00+00:00")],
)
# One side logs a gap again and compacts it, the other still has its first version.
UPDATED_FIRST = Branches(
    before=[Save("two", "a", "2026-03-01T09:00:00+00:00")],
    our_edits=[
        Save("two", "b", "2026-03-02T09:00:00+00:00"),
        Compact("rule", frozenset([0]), "2026-03-03T09:00:00+00:00"),
    ],
    their_edits=[Save("five", "a", "2026-03-04T09:00:00+00:00")],
)

quickly = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)


@pytest.mark.long  # it costs much
@pytest.mark.row("I15")
@quickly
@given(BRANCHES, WAYS)
def test_an_id_is_shown_twice_only_in_words_that_two_branches_chose(
    drawn: Branches, way: str
) -> None:
    log = drawn.joined(way)
    words = [(record.id, record.lesson) for record in log.records]
    assert sorted(words) == sorted(set(words))
    twice = {it.id for it in log.records} - {it.id for it in log.records if is_alone(it, log)}
    assert twice == {versions[0].id for versions in log.unsettled}
    base = by_id(drawn.base.records)
    for side in (drawn.ours, drawn.theirs):
        changed = {it.id for it in side.records if it != base.get(it.id)}
        assert twice <= changed | drawn.replaced_ids


@pytest.mark.long  # it costs much
@pytest.mark.row("P11", "I15")
@quickly
@given(BRANCHES, WAYS)
@example(Branches(before=[], our_edits=[FIRST], their_edits=[OTHER_WORDS]), "--union")
@example(Branches(before=[], our_edits=[FIRST], their_edits=[FIRST, SAME_MOMENT]), "--union")
def test_no_lesson_that_no_side_replaced_vanishes(drawn: Branches, way: str) -> None:
    base = by_id(drawn.base.records)
    ours, theirs = by_id(drawn.ours.records), by_id(drawn.theirs.records)
    kept = (ours.keys() | theirs.keys()) - drawn.replaced_ids
    expected = {
        (id_, one[id_].lesson)
        for one, other in ((ours, theirs), (theirs, ours))
        for id_ in kept & one.keys()
        if one[id_] != base.get(id_) or other.get(id_) == base.get(id_)
        # The other side may have saved the very same version, and then a later one.
        if id_ not in other or one[id_].token not in other[id_].tokens()[1:]
    }
    log = drawn.joined(way)
    assert {(it.id, it.lesson) for it in log.records if it.id in kept} == expected


@pytest.mark.long  # it costs much
@quickly
@given(BRANCHES, WAYS)
def test_nothing_is_shown_that_neither_side_showed(drawn: Branches, way: str) -> None:
    sides = [apart(record) for record in (*drawn.ours.records, *drawn.theirs.records)]
    log = drawn.joined(way)
    assert [record for record in log.records if apart(record) not in sides] == []


@pytest.mark.long  # it costs much
@quickly
@given(BRANCHES, WAYS)
def test_no_version_that_a_principle_replaced_is_shown(drawn: Branches, way: str) -> None:
    replaced = drawn.replaced_tokens
    log = drawn.joined(way)
    assert [record for record in log.records if record.token in replaced] == []


@pytest.mark.long  # it costs much
@pytest.mark.row("P11")
@quickly
@given(BRANCHES, WAYS)
@example(UPDATED_FIRST, "--union")
def test_an_original_that_one_side_compacted_and_the_other_left_alone_stays_away(
    drawn: Branches, way: str
) -> None:
    base = by_id(drawn.base.records)
    ours, theirs = by_id(drawn.ours.records), by_id(drawn.theirs.records)
    gone = {
        id_
        for one, other in ((ours, theirs), (theirs, ours))
        for id_ in base.keys() - one.keys()
        if other.get(id_) in (None, base[id_])
    }
    log = drawn.joined(way)
    assert [record for record in log.records if record.id in gone] == []


@pytest.mark.long  # it costs much
@quickly
@given(BRANCHES, WAYS)
@example(AHEAD, "--union")
@example(AHEAD_WITH_PRINCIPLES, "--union")
@example(SAME_SECOND, "--union")
def test_what_one_side_alone_changed_is_shown_as_that_side_left_it(
    drawn: Branches, way: str
) -> None:
    base = by_id(drawn.base.records)
    ours, theirs = by_id(drawn.ours.records), by_id(drawn.theirs.records)
    replaced = drawn.replaced_tokens
    changed = [
        one[id_]
        for one, other in ((ours, theirs), (theirs, ours))
        for id_ in one
        if one[id_] != base.get(id_) == other.get(id_) and one[id_].token not in replaced
    ]
    log = drawn.joined(way)
    assert [record for record in changed if record not in log.records] == []


@pytest.mark.long  # it costs much
@pytest.mark.row("P11")
@quickly
@given(BRANCHES, WAYS)
def test_a_change_that_a_compaction_did_not_see_is_shown(drawn: Branches, way: str) -> None:
    base = by_id(drawn.base.records)
    ours, theirs = by_id(drawn.ours.records), by_id(drawn.theirs.records)
    replaced = drawn.replaced_tokens
    changed = [
        other[id_]
        for one, other in ((ours, theirs), (theirs, ours))
        for id_ in (base.keys() & other.keys()) - one.keys()
        if base[id_].token in replaced and other[id_].token not in replaced | {base[id_].token}
    ]
    log = drawn.joined(way)
    assert [record for record in changed if record not in log.records] == []


@quickly
@given(BRANCHES, WAYS, GAPS | st.just("seven"), DAYS)
@example(AHEAD_WITH_PRINCIPLES, "--union", "seven", "2026-03-06T09:00:00+00:00")
def test_the_next_save_changes_nothing_else(drawn: Branches, way: str, gap: str, now: str) -> None:
    draft = a_draft(gap, lesson="next")
    log = drawn.joined(way)
    after, saved, _ = upsert(log, draft, now=now)
    again = MemoryLog.parse(after.to_bytes())
    others = [record for record in again.records if record.id != saved.id]
    assert others == [record for record in log.records if record.id != saved.id]
    assert [record for record in again.records if record.id == saved.id] == [saved]


def apart(record: Record) -> Record:
    """A version without what it may have taken over from another one."""
    return replace(record, former=(), source_ids=(), source_count=None)
