"""Tests the properties of any two branches of one memory, as git joins their lines."""

import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.lessons.log import MemoryLog
from core.lessons.record import Record
from tests.support.changes import upsert
from tests.support.git_clones import conflict_styles
from tests.support.samples import a_draft, a_principle
from tests.support.tables import none_of

STYLES = {"merge": "--quiet", "diff3": "--diff3", "zdiff3": "--zdiff3"}
WAYS = st.sampled_from(["--union", *(STYLES[style] for style in conflict_styles())])
GAPS = st.sampled_from(["one", "two", "three", "four", "five", "six"])
RULES = st.sampled_from(["rule", "their rule", "newer rule"])
LESSONS = st.sampled_from(["a", "b", "c"])
DAYS = st.integers(1, 9).map(lambda day: on(day))
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
        tokens = [record.version_id for record in chosen if record.key_text != self.rule]
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
    """One memory and its edits in two branches."""

    before: Sequence[Edit]
    our_edits: Sequence[Edit]
    their_edits: Sequence[Edit]

    @cached_property
    def base(self) -> MemoryLog:
        return played(MemoryLog(), self.before)

    @cached_property
    def ours(self) -> MemoryLog:
        return played(self.base, self.our_edits)

    @cached_property
    def theirs(self) -> MemoryLog:
        return played(self.base, self.their_edits)

    def joined(self, way: str) -> MemoryLog:
        """The log that `git merge` writes: `git merge-file` is its line-wise part."""
        with tempfile.TemporaryDirectory() as folder:
            for name, log in (("ours", self.ours), ("base", self.base), ("theirs", self.theirs)):
                Path(folder, name).write_bytes(log.to_bytes())
            command = ["git", "merge-file", "-p", way, "ours", "base", "theirs"]
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
        assert 0 <= done.returncode < 128, done.stderr
        return MemoryLog.parse(done.stdout)


BRANCHES = st.builds(Branches, SCRIPTS, SCRIPTS, SCRIPTS)


def by_id(records: Iterable[Record]) -> dict[str, Record]:
    return {record.id: record for record in records}


def apart(record: Record) -> Record:
    """A version without the fields that it may have taken over from another one."""
    return replace(record, former=(), source_ids=(), source_count=None)


def on(day: int) -> str:
    return f"2026-03-0{day}T09:00:00+00:00"


def compact(rule: str, day: int) -> Compact:
    return Compact(rule, frozenset([0]), on(day))


FIRST = Save("one", "a", on(2))
FIVE = [Save("five", "a", on(4))]
FOUND: dict[str, Branches] = {  # cases that once failed
    "both know a gap in other words": Branches([], [FIRST], [Save("one", "b", on(1))]),
    "one side goes on from the other's words": Branches(
        [], [FIRST], [FIRST, Save("one", "b", on(2))]
    ),
    "a gap is logged again and compacted": Branches(
        [Save("two", "a", on(1))], [Save("two", "b", on(2)), compact("rule", 3)], FIVE
    ),
    "a clock is ahead, and the gap comes back after its compaction": Branches(
        [Save("two", "a", on(5))], [compact("rule", 2), Save("two", "b", on(3))], FIVE
    ),
    "the same with a principle that is saved again with originals of its own": Branches(
        [compact("their rule", 2)], [compact("rule", 1), compact("their rule", 1)], FIVE
    ),
    "a gap that was seen twice is compacted and back within one second": Branches(
        [Save("two", "b", on(1))] * 2, [compact("rule", 1), Save("two", "a", on(1))], FIVE
    ),
}


def with_what_was_found(test: Any) -> Any:
    """Try these, too."""
    for branches in FOUND.values():
        test = example(branches, "--union", "seven", on(6))(test)
    return test


def faults(drawn: Branches, log: MemoryLog) -> Iterator[str]:
    """Yield the faults of a log that git has joined from these branches."""
    base, both = by_id(drawn.base.records), (*drawn.ours.records, *drawn.theirs.records)
    replaced = {token for record in both for token in record.source_ids}
    replaced_ids = {token.rpartition("@")[0] for token in replaced}
    ours, theirs = by_id(drawn.ours.records), by_id(drawn.theirs.records)
    sides = ((ours, theirs), (theirs, ours))
    words = [(record.id, record.lesson) for record in log.records]
    ids = Counter(it.id for it in log.records)
    twice = {id_ for id_, count in ids.items() if count > 1}
    if len(words) != len(set(words)) or twice != {it[0].id for it in log.rivals}:
        yield "a gap is shown twice in the same words, or unsettled in one version"
    for side in (ours, theirs):
        if not twice <= {id_ for id_ in side if side[id_] != base.get(id_)} | replaced_ids:
            yield "a gap is shown twice that one side left alone"
    kept = (ours.keys() | theirs.keys()) - replaced_ids
    expected = {
        (id_, one[id_].lesson)
        for one, other in sides
        for id_ in kept & one.keys()
        if one[id_] != base.get(id_) or other.get(id_) == base.get(id_)
        # The other side may have saved the very same version, and then a later one.
        if id_ not in other or one[id_].version_id not in other[id_].version_ids()[1:]
    }
    if {(it.id, it.lesson) for it in log.records if it.id in kept} != expected:
        yield "a lesson vanished that no side replaced"
    shown = list(map(apart, both))
    if any(apart(record) not in shown for record in log.records):
        yield "a record is shown that neither side showed"
    if any(record.version_id in replaced for record in log.records):
        yield "a version is shown that a principle replaced"
    for one, other in sides:
        gone = {id_ for id_ in base.keys() - one.keys() if other.get(id_) in (None, base[id_])}
        if any(record.id in gone for record in log.records):
            yield "an original is back that one side compacted and the other left alone"
        changed = [
            record
            for id_, record in one.items()
            if record != base.get(id_) == other.get(id_) and record.version_id not in replaced
        ]
        unseen = [
            other[id_]
            for id_ in (base.keys() & other.keys()) - one.keys()
            if base[id_].version_id in replaced
            and other[id_].version_id not in replaced | {base[id_].version_id}
        ]
        if any(record not in log.records for record in changed):
            yield "what one side alone changed is not as that side left it"
        if any(record not in log.records for record in unseen):
            yield "a change is lost that a compaction did not see"


@pytest.mark.row("P11", "I15")
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
@given(BRANCHES, WAYS, GAPS | st.just("seven"), DAYS)
@with_what_was_found
def test_a_join_loses_no_lesson_and_brings_none_back_and_the_next_save_changes_nothing_else(
    drawn: Branches, way: str, gap: str, now: str
) -> None:
    log = drawn.joined(way)
    none_of(faults(drawn, log))
    after, saved, _ = upsert(log, a_draft(gap, lesson="next"), now=now)
    again = MemoryLog.parse(after.to_bytes())
    others = [record for record in again.records if record.id != saved.id]
    assert others == [record for record in log.records if record.id != saved.id]
    assert [record for record in again.records if record.id == saved.id] == [saved]
