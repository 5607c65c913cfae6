"""Tests the properties of any text, any file and any sequence of operations."""

import json
import tempfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.errors import RefusedError
from core.lessons.log import MemoryLog
from core.lessons.record import (
    LIMITS_BYTES,
    Draft,
    Record,
    check_draft,
    normalise_topic,
    parse_line,
    record_id,
)
from core.store import MemoryStore
from tests.support.changes import delete, upsert
from tests.support.samples import LATER, NOW, a_line, a_record
from tests.support.sentences import raised

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
BLANKS = st.sampled_from(["", " ", "\u3000", "\t"])
TOPICS = st.sampled_from(["auth", "auth-login", "결제", "db", "a\nb"])
UNITS = st.sampled_from(["x", "é", "가", "😀"])  # of one to four bytes
GAPS = st.sampled_from(["one", "two", "three", "넷", "-login x", " x"])


DRAFTS = st.builds(
    Draft,
    topic=st.tuples(BLANKS, ANY, BLANKS).map("".join),
    missing_context=ANY,
    lesson=ANY,
    ask_next_time=st.none() | ANY,
    type=st.sampled_from(["log", "principle"]),
)


def lines() -> st.SearchStrategy[bytes]:
    """Lines of a file that people, merges and accidents have been at."""
    good = st.builds(lambda topic, gap: a_record(gap, topic=topic), TOPICS, GAPS)
    variants = [
        good.map(Record.to_line),
        good.map(lambda record: a_line(record, paths=["x"], when=["call(", ""])),
        good.map(lambda record: json.dumps(record.as_json(), indent=None).encode() + b"\n"),
        good.map(lambda record: record.to_line().replace(b"\n", b"\r\n")),
        good.map(lambda record: replace(record, updated=LATER, seen=2).to_line()),
        good.map(lambda record: record.to_line()[:40] + b"\n"),
        good.map(lambda record: replace(record, topic="edited").to_line()),
        good.map(lambda record: replace(record, id=f"{record.id[::-1]}@x").to_line()),
        st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"") + b"\n"),
        st.sampled_from([b"\n", b"<<<<<<< HEAD\n", b"=======\n", b"[1]\n", b"{}\n", b"9" * 99]),
        st.sampled_from([b"[" * 3_000 + b"\n", b'{"id": "a"}\n', b" \r\n"]),
    ]
    return st.one_of(variants)


FILES = st.builds(
    lambda mark, parts, ended: (mark + b"".join(parts)).removesuffix(b"" if ended else b"\n"),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(lines(), max_size=8),
    st.booleans(),
)


def named(record: Record) -> tuple[str, tuple[str, str, str]]:
    """The id and gap of a record: different gaps can share an id, as after an edit by hand."""
    return record.id, record.gap


@pytest.mark.row("P13", "I1")
@given(DRAFTS)
def test_every_accepted_draft_comes_back_exactly(draft: Draft) -> None:
    try:
        checked = check_draft(draft)
    except ValueError:
        return
    log, record, _ = upsert(MemoryLog(), checked, now=NOW)
    [again] = MemoryLog.parse(log.to_bytes()).records
    assert again == record
    assert again.topic == normalise_topic(draft.topic)
    assert (again.missing_context, again.lesson) == (draft.missing_context, draft.lesson)
    assert again.ask_next_time == (draft.ask_next_time or "")
    assert log.to_bytes().count(b"\n") == 1


@pytest.mark.row("001 4-1.d", "I7")
@given(st.sampled_from(sorted(LIMITS_BYTES)), UNITS, UNITS, st.integers(0, 4))
def test_a_field_has_its_bytes_and_not_one_more(name: str, one: str, two: str, more: int) -> None:
    room = LIMITS_BYTES[name] - 3 * len(two.encode())
    text = two * 3 + one * (room // len(one.encode())) + "x" * more
    texts: dict[str, Any] = {"topic": "t", "missing_context": "m", "lesson": "l", name: text}
    is_within = len(text.encode()) <= LIMITS_BYTES[name]
    with nullcontext() if is_within else raised(RefusedError, "field_too_long"):
        check_draft(Draft(**texts))


@pytest.mark.row("001 5-1.d", "P10", "I4", "I8")
@given(FILES)
def test_any_bytes_can_be_read_and_are_written_back_unchanged(data: bytes) -> None:
    log = MemoryLog.parse(data)
    assert log.to_bytes() == data
    gaps = list(map(named, log.records))
    assert len(gaps) == len(set(gaps)) == log.count
    blank = sum(not line.strip() for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    readable = sum(entry is not None for entry in log.entries)
    in_conflict = sum(bool(log.lines[at].strip()) for at in log.conflict)
    lines_there = len(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    assert log.unreadable_count + in_conflict + readable == lines_there - blank


@pytest.mark.row("P9", "I3")
@given(FILES, TOPICS, GAPS)
def test_a_save_leaves_every_other_line_as_it_was(data: bytes, topic: str, gap: str) -> None:
    log = MemoryLog.parse(data)
    draft = Draft(topic=topic, missing_context=gap, lesson="rule")
    try:
        after, saved, _ = upsert(log, draft, now=LATER)
    except RefusedError as error:
        assert error.key == "id_collision"
        return
    kept = [
        line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\n")
        for at, (line, entry) in enumerate(zip(log.lines, log.entries, strict=True))
        if not isinstance(entry, Record)
        or (at not in log.leftover_lines and entry in log.records and named(entry) != named(saved))
    ]
    now = iter([line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\n") for line in after.lines])
    assert all(line in now for line in kept)  # in their order
    assert [record for record in after.records if named(record) == named(saved)] == [saved]
    before, now_there = ({record.id for record in it.records} for it in (log, after))
    assert now_there == before | {saved.id}
    assert MemoryLog.parse(after.to_bytes()).records == after.records


@pytest.mark.row("001 5-1.i", "I3")
@given(FILES, st.data())
def test_a_deletion_takes_exactly_the_named_records(data: bytes, drawn: st.DataObject) -> None:
    log = MemoryLog.parse(data)
    named = drawn.draw(st.lists(st.sampled_from(log.records), unique_by=id)) if log.records else []
    after, removal = delete(log, [record.version_id for record in named])
    assert list(removal.removed_records) == named
    assert after.records == [record for record in log.records if record not in named]
    assert delete(after, [record.version_id for record in named])[0].to_bytes() == after.to_bytes()


@pytest.mark.row("I5")
@given(st.dictionaries(GAPS, st.sampled_from([NOW, LATER]), min_size=1))
def test_saves_of_different_gaps_commute_up_to_the_order_of_lines(saves: dict[str, str]) -> None:
    def saved(gaps: list[str]) -> set[bytes]:
        log = MemoryLog()
        for gap in gaps:
            draft = Draft(topic="t", missing_context=gap, lesson="l")
            log, _, _ = upsert(log, draft, now=saves[gap])
        return set(log.lines)

    assert saved([*saves]) == saved([*saves][::-1])


class Memory(RuleBasedStateMachine):
    """The file against a dict: saves, deletions, compactions and strangers' lines in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / ".context" / "memory_log.jsonl"
        self.stores = [MemoryStore(self.path, now=lambda: NOW) for _ in range(2)]
        self.model: dict[str, Record] = {}
        self.foreign: list[bytes] = []

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(which=st.integers(0, 1), topic=TOPICS, gap=GAPS, lesson=st.sampled_from(["a", "나"]))
    def save(self, which: int, topic: str, gap: str, lesson: str) -> None:
        draft = Draft(topic=topic, missing_context=gap, lesson=lesson)
        known = self.model.get(record_id(draft))
        before = self.stores[which].read_bytes()
        try:
            saved = self.stores[which].upsert_log(draft).record
        except RefusedError as error:
            assert error.key == "id_collision"
            assert known is not None
            assert (known.topic, known.missing_context) != (topic, gap)
            assert self.stores[which].read_bytes() == before
            return
        assert (saved.topic, saved.missing_context, saved.lesson) == (topic, gap, lesson)
        if known:
            said = known.lesson == lesson  # within the day: nothing came back
            assert (saved.created, saved.seen) == (known.created, known.seen + (not said))
        self.model[saved.id] = saved

    @rule(which=st.integers(0, 1), data=st.data())
    @precondition(lambda self: self.model)
    def delete(self, which: int, data: Any) -> None:
        record = data.draw(st.sampled_from(list(self.model.values())))
        outcome = self.stores[which].delete_by_ids([record.version_id])
        assert outcome.removed_records == (record,)
        del self.model[record.id]

    @rule(which=st.integers(0, 1), data=st.data(), lesson=st.sampled_from(["P", "원칙", "Q"]))
    @precondition(lambda self: self.model)
    def compact(self, which: int, data: Any, lesson: str) -> None:
        chosen = data.draw(st.lists(st.sampled_from(list(self.model.values())), unique_by=id))
        draft = Draft(topic="auth", lesson=lesson, type="principle")
        chosen = [record for record in chosen if record.id != record_id(draft)]
        saved = self.stores[which].upsert_log(draft, [record.version_id for record in chosen])
        assert list(saved.removed_records) == chosen
        for record in chosen:
            del self.model[record.id]
        self.model[saved.record.id] = saved.record

    @rule(line=st.sampled_from([b"<<<<<<< HEAD", b"note", b"\xff", b'{"id": 1}', b""]))
    def stranger(self, line: bytes) -> None:
        if self.path.exists():
            with self.path.open("ab") as file:
                file.write(line + b"\n")
            self.foreign.append(line + b"\n")

    @invariant()
    def the_file_is_the_model_and_the_strangers_lines(self) -> None:
        data = self.stores[0].read_bytes()
        assert {record.id: record for record in self.stores[0].read().records} == self.model
        assert self.stores[1].read().count == len(self.model)
        lines_now = data.splitlines(keepends=True) if data else []
        assert [line for line in lines_now if parse_line(line) is None] == self.foreign
        assert len(lines_now) == len(self.model) + len(self.foreign)
        litter = [item.name for item in self.path.parent.glob(".*.tmp")]
        assert litter == []


Memory.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestMemory = pytest.mark.row("I2", "I6", "I13", "I14")(Memory.TestCase)
