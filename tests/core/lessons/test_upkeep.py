"""Tests the findings of the doctor in a log, and that a repair and a cleaning lose nothing.

tests/data/upkeep.json has the lines of a log, the findings (kind, severity, lines), and the lines
that a repair keeps and sets aside; tests/data/log_secrets.json has fields and lines before and
after a cleaning, bytes as in Latin-1.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lessons import upkeep
from core.lessons.log import BOM, MemoryLog
from core.lessons.record import (
    LIMITS_BYTES,
    MOST_LINE_BYTES,
    Record,
    normalise_topic,
    parse_line,
    with_own_id,
)
from core.sanitizer import redact
from core.store import MemoryStore
from tests.core.lessons.test_properties import FILES
from tests.support.changes import log_of, upsert
from tests.support.cli_process import TOKEN
from tests.support.samples import LATER, NOW, a_draft, a_line, a_record
from tests.support.tables import table, text_of

TABLES = table("upkeep")
ONE, TWO = a_record("one"), a_record("두 번째")

LATIN_1 = "unreadable lines, bytes as in Latin-1"


def file_of(*parts: bytes | Record) -> bytes:
    return log_of(*parts).to_bytes()


def found(*parts: bytes | Record, threshold: int = 50) -> list[tuple[str, str, tuple[int, ...]]]:
    findings = upkeep.examine(log_of(*parts), now=NOW, threshold=threshold)
    return [(finding.kind, finding.severity, finding.lines) for finding in findings]


UNREADABLE: list[tuple[bytes, str, str]] = [  # the reason, and the key that is wrong
    *((text.encode("latin-1"), *why) for text, *why in table("record")[LATIN_1]),
    (a_record("torn").to_line()[:60], "not_json", ""),
    (b"x" * 1_000_000, "not_json", ""),
    (a_record().to_line().replace(b'"meta"', b'"x": 1e999, "meta"'), "not_json", ""),
    (b"[" * 100_000, "too_deep", ""),
    (b'{"id": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "too_deep", ""),
    (b'{"id": ' + b"9" * 5_000 + b"}", "not_json", ""),
    (b'{"id": "' + b"x" * 1_000_000 + b'"}', "missing", "type"),
    (a_line(ONE).replace(b'"created"', b'"made"'), "missing", "meta.created"),
    (a_line(ONE).replace(b'"type": "log"', b'"type": "rule"'), "wrong_type", "type"),
    (a_line(ONE).replace(b'"lesson": "', b'"lesson": 1, "x": "'), "wrong_type", "lesson"),
    (a_line(ONE, seen="2"), "wrong_type", "meta.seen"),
    (a_line(ONE, source_ids=[1]), "wrong_type", "meta.source_ids"),
    (json.dumps({**ONE.as_json(), "meta": []}).encode(), "wrong_type", "meta"),
]


def test_an_unreadable_line_is_named_stays_through_a_save_and_is_set_aside_by_a_repair() -> None:
    for line, reason, key in UNREADABLE:
        line = line.rstrip(b"\n") + b"\n"
        log = log_of(ONE, line, TWO)
        assert (log.records, log.unreadable_count, log.conflict_count) == ([ONE, TWO], 1, 0)
        after, saved, _ = upsert(log, a_draft("three"), now=LATER)
        assert after.to_bytes() == log.to_bytes() + saved.to_line()
        facts = {"reason": reason, "key": key}
        finding = upkeep.Finding("unreadable", "error", lines=(2,), facts=facts, fixable=True)
        assert finding in upkeep.examine(log, now=NOW)
        repaired = upkeep.repair(log.to_bytes())
        assert repaired.data == file_of(ONE, TWO)
        assert repaired.aside == b"# line 2: unreadable\n" + line


@given(FILES)
def test_a_line_has_a_flaw_exactly_when_it_is_no_record(data: bytes) -> None:
    for line in data.split(b"\n"):
        assert (upkeep.flaw_of(line) == ("", "")) == (parse_line(line) is not None)


LATIN_1 = TABLES.pop("parts, bytes as in Latin-1")
PARTS = {name: text.encode("latin-1") for name, text in LATIN_1.items()}


def parts_of(names: list[str]) -> list[Record | bytes]:
    return [PARTS.get(name, name.encode()) for name in names]


def test_a_flaw_is_found_and_lines_that_a_repair_takes_out_lie_aside_as_they_stood() -> None:
    for name in TABLES:
        lines, wanted, kept, aside = TABLES[name]
        log = log_of(*parts_of(lines))
        findings = upkeep.examine(log, now=NOW)
        assert {it.facts["key"] for it in findings if it.kind == "key_twice"} <= {"lesson"}
        told = [f"{it.kind} {it.severity} {' '.join(map(str, it.lines))}" for it in findings]
        assert "; ".join(told) == wanted
        repaired = upkeep.repair(log.to_bytes())
        assert repaired.data == file_of(*parts_of(kept))
        assert repaired.aside == file_of(*parts_of(aside))
    records = [a_record(f"gap {number}") for number in range(5)]
    assert found(*records, threshold=5) == []
    assert found(*records, threshold=4) == [("overdue", "note", ())]
    assert found(*records, threshold=2) == [("overdue", "warning", ())]
    twin = replace(ONE, id="0123456789abcdef", updated="2026-02-01T09:00:00+00:00")
    assert found(twin, ONE) == [("same_gap", "warning", (1, 2)), ("id_misfit", "warning", (1,))]
    repaired = upkeep.repair(file_of(twin, ONE))
    assert MemoryLog.parse(repaired.data).count == 1
    lines = repaired.aside.splitlines(keepends=True)
    assert lines[0].startswith(b"# line ")
    assert lines[1:] in ([twin.to_line()], [ONE.to_line()])


@pytest.mark.row("P10")
@given(FILES)
def test_a_repair_loses_no_record_and_no_line_and_leaves_nothing_to_mend(data: bytes) -> None:
    before = MemoryLog.parse(data)
    repaired = upkeep.repair(data)
    after = MemoryLog.parse(repaired.data)
    kept = {(record.type, record.topic, record.key_text, record.lesson) for record in after.records}
    for at, line in enumerate(before.lines):
        content = line.removeprefix(BOM).removesuffix(b"\n")
        record = before.entries[at]
        shown = record and (record.type, record.topic, record.key_text, record.lesson)
        assert shown in kept or not content.strip() or content in repaired.aside
    assert [item for item in upkeep.examine(after, now=LATER) if item.fixable] == []
    again = upkeep.repair(repaired.data)
    assert (again.data, again.aside) == (repaired.data, b"")


# The secrets that go out of a log, and those that a merge brings back.

KEY = TOKEN.encode()
OTHER = "ghp" + "_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"
LATEST = "2026-03-03T09:00:00+00:00"
WITH_KEY, PLAIN = a_record(f"the key is {TOKEN}"), a_record("plain")


def cleaned(*parts: Record | bytes) -> tuple[list[bytes], tuple[upkeep.RedactedLines, ...]]:
    """The lines of a log after a cleaning, which leaves no secret, and the reported changes."""
    cleaning = upkeep.redact_log(log_of(*parts).to_bytes(), now=LATEST)
    assert KEY not in cleaning.data
    assert OTHER.encode() not in cleaning.data
    assert upkeep.redact_log(cleaning.data, now=LATEST).data == cleaning.data
    return cleaning.data.splitlines(keepends=True), cleaning.changes


def of(line: bytes) -> Record:
    record = parse_line(line.removeprefix(BOM))
    assert record is not None
    return record


# Lines.

BLOCK = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + f"{'MIIEpAIBAAKCAQEA7x' * 3}\n" * 8
FACTS = {
    **{"TOKEN": TOKEN, "BEGINNING": TOKEN[:9], "END": TOKEN[9:], "OTHER": OTHER},
    **{"PASSWORD": "vX7kQ2" + "mZp9Lt", "AWS": "AKIA" + "Q3EGRZ7XK2LMN5PT"},
    "BLOCK": BLOCK + "-----END RSA PRIVATE" + " KEY-----\n",
}
ESCAPED = {name: json.dumps(text)[1:-1] for name, text in FACTS.items()}
SECRETS = json.loads(text_of("log_secrets.json", **ESCAPED))


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(it) if isinstance(it, list) else it for key, it in row.items()}


def test_a_field_and_other_keys_lose_their_secrets_and_keep_the_rest() -> None:
    for before, after, kinds in SECRETS["fields"]:
        found, after = replace(PLAIN, **fields_of(before)), fields_of(after)
        lines, changes = cleaned(found)
        assert {name: getattr(of(lines[0]), name) for name in after} == after
        assert len(changes[0].kinds) == kinds
        assert log_of(found, *lines).records == log_of(*lines, found).records == [of(lines[0])]
    line = a_line(replace(PLAIN, id=TOKEN), updated=f"{TOKEN}", source_ids=[TOKEN])
    record = of(cleaned(line)[0][0])  # of a line that only a hand can have written
    assert (record.id, record.updated, record.source_ids) == (PLAIN.id, LATEST, ("[REDACTED]",))


OLDER = replace(PLAIN, lesson=TOKEN)
NEWER_ONE = replace(PLAIN, updated=LATER, former=(OLDER.fingerprint(),))
LINE_PARTS = {"PLAIN": PLAIN, "TWO": a_record("two"), "OLDER": OLDER, "NEWER": NEWER_ONE}
TWICE = PLAIN.to_line().replace(b'"lesson"', b'"lesson": "' + KEY + b'", "lesson"')


def test_a_line_that_is_no_record_loses_its_secret_and_others_and_markers_stay() -> None:
    for before, after, at in SECRETS["lines"]:
        parts, wanted = (
            [LINE_PARTS.get(it) or it.encode("latin-1") for it in texts]
            for texts in (before, after)
        )
        lines, changes = cleaned(*parts)
        assert b"".join(lines) == log_of(*wanted).to_bytes()
        assert [change.lines for change in changes] == [(at,)]
        assert changes[0].after is None and changes[0].kinds
    assert of(TWICE) == PLAIN
    [looked] = upkeep.check_lines(log_of(TWICE))
    assert [(spot.line, spot.field) for spot in looked.spots] == [(0, "whole_line")]
    lines, _ = cleaned(TWICE)
    assert of(lines[0]).lesson == PLAIN.lesson
    markers = (b"<<<<<<< HEAD\n", b"||||||| base\n", b"=======\n", b">>>>>>> x\n")
    one, two, three, four = markers
    lines, changes = cleaned(one, WITH_KEY, two, WITH_KEY, three, PLAIN, four)
    assert tuple(lines[::2]) == markers
    assert [change.lines for change in changes] == [(2,), (4,)]


@pytest.mark.long  # it costs much
def test_of_a_long_line_the_beginning_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST_LOOKED_BYTES", MOST_LINE_BYTES)
    secret = b"password = 'Tr0ub4dor&3xyz' "
    [looked] = upkeep.check_lines(log_of(secret + b"." * MOST_LINE_BYTES + secret + b"\n"))
    assert len(looked.spots) == 1
    assert looked.raw.startswith(b"password = ")
    assert looked.raw.endswith(b"." + secret + b"\n")


# Records.


def test_a_cleaned_record_is_shown_although_a_principle_lists_it_as_replaced() -> None:
    lines, _ = cleaned(WITH_KEY)
    principle = replace(a_record("rule", type="principle"), source_ids=(of(lines[0]).version_id,))
    lines, changes = cleaned(WITH_KEY, principle)
    assert log_of(*lines).records == [changes[0].after, principle]


def test_the_store_cleans_in_one_write_and_loses_no_save_meanwhile(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "memory_log.jsonl", now=lambda: LATEST)
    store.path.write_bytes(PLAIN.to_line())
    assert store.redact().changes == ()  # and nothing is written
    assert [path.name for path in tmp_path.iterdir()] == ["memory_log.jsonl"]
    store.path.write_bytes(b"".join(a_record(f"{gap} {TOKEN}").to_line() for gap in range(5)))
    with ThreadPoolExecutor() as pool:
        saves = [pool.submit(store.upsert_log, a_draft(f"gap {gap}")) for gap in range(10)]
        cleanings = [pool.submit(store.redact) for _ in range(3)]
        for saved in saves:
            saved.result()
        changed = [change for cleaning in cleanings for change in cleaning.result().changes]
    assert (store.read().count, len(changed)) == (15, 5)
    assert KEY not in store.read_bytes()


TEXTS = st.lists(st.sampled_from([TOKEN, OTHER, "plain", "\n", " ", "결제", '"', "\\"]), max_size=5)
JOINED = TEXTS.map(" ".join)
FIELDS: dict[str, Any] = dict.fromkeys(LIMITS_BYTES, JOINED)
FIELDS["type"] = st.sampled_from(["log", "principle"])
FIELDS["extra"] = st.dictionaries(st.sampled_from(["a", TOKEN]), JOINED, max_size=1)
RECORDS = st.fixed_dictionaries(FIELDS).map(lambda it: with_own_id(replace(PLAIN, **it)))
LINES = st.one_of(
    RECORDS.map(Record.to_line),
    JOINED.map(lambda text: text.encode() + b"\n"),
    st.sampled_from([b"\xff\n", b"\n", b"<<<<<<< HEAD\n", b"=======\n", b'{"a": 1}\r\n']),
)


@given(st.lists(LINES, max_size=6))
def test_no_secret_stays_no_record_goes_and_no_other_line_changes(lines: list[bytes]) -> None:
    log = log_of(*lines)
    new, _ = cleaned(*lines)
    after = log_of(*new)
    wanted = {
        (it.type, normalise_topic(redact(it.topic).text), redact(it.key_text).text)
        for it in log.records
    }
    assert {record.gap for record in after.records} == wanted
    told = "\n".join(record.lesson for record in after.records)
    for record in log.records:
        assert redact(record.lesson).text.strip() in told
    if not log.leftover_lines and len(after.records) == len(log.records):
        kept = [line for line in log.lines if KEY not in line]
        assert [line for line in kept if OTHER.encode() not in line and line not in new] == []
    assert {it.gap for it in log_of(log.to_bytes(), after.to_bytes()).records} == wanted
