"""Tests what the doctor finds in the lines of a log, and that a repair loses nothing.

tests/data/upkeep.json has the lines of a log, what is found (kind, severity, lines), and what a
repair keeps and sets aside.
"""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from core.lessons.log import MemoryLog, following
from core.lessons.record import Record, parse_line
from core.lessons.upkeep import Finding, examine, flaw_of, repair
from tests.core.lessons.test_properties import FILES
from tests.support.changes import log_of, upsert
from tests.support.samples import AHEAD, LATER, NOW, a_draft, a_line, a_principle, a_record
from tests.support.tables import table

TABLES = table("upkeep")
BOM = b"\xef\xbb\xbf"
ONE, TWO = a_record("one"), a_record("두 번째")

LATIN_1 = "unreadable lines, bytes as in Latin-1"


def file_of(*parts: bytes | Record) -> bytes:
    return log_of(*parts).to_bytes()


def found(*parts: bytes | Record, threshold: int = 50) -> list[tuple[str, str, tuple[int, ...]]]:
    findings = examine(log_of(*parts), now=NOW, threshold=threshold)
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
        assert (log.records, log.skipped, log.conflicts) == ([ONE, TWO], 1, 0)
        after, saved, _ = upsert(log, a_draft("three"), now=LATER)
        assert after.to_bytes() == log.to_bytes() + saved.to_line()
        finding = Finding(
            kind="unreadable",
            severity="error",
            lines=(2,),
            facts={"reason": reason, "key": key},
            fixable=True,
        )
        assert finding in examine(log, now=NOW)
        repaired = repair(log.to_bytes())
        assert repaired.data == file_of(ONE, TWO)
        assert repaired.aside == b"# line 2: unreadable\n" + line


@given(FILES)
def test_a_line_has_a_flaw_exactly_when_it_is_no_record(data: bytes) -> None:
    for line in data.split(b"\n"):
        assert (flaw_of(line) == ("", "")) == (parse_line(line) is not None)


GONE, NEWER = a_record("gone"), following(replace(TWO, updated=LATER, lesson="newer"), TWO)
HIDING = replace(TWO, lesson="older", source_ids=(ONE.token,))
HIDING_LATER = replace(TWO, lesson=ONE.lesson, updated=LATER)
HIDER = following(HIDING_LATER, HIDING, HIDING_LATER)
TWIN = replace(a_record("edited"), id=TWO.id, missing_context="one", updated=LATER)
HALF = json.dumps(replace(a_record("half"), lesson="\ud800").as_json()).encode() + b"\n"
BARE, BARE_TWO = (it.to_line().rstrip(b"\n") for it in (ONE, TWO))
PARTS: dict[str, Record | bytes] = {  # what tests/data/upkeep.json calls them
    **{"ONE": ONE, "TWO": TWO, "GONE": GONE, "NEWER": NEWER, "BARE": BARE, "BARE TWO": BARE_TWO},
    "PRINCIPLE": upsert(log_of(ONE), a_principle(), [ONE.token], now=LATER)[1],
    "HIDING": HIDING,
    "HIDING LATER": HIDING_LATER,
    "HIDER": replace(HIDER, source_count=1, source_ids=(ONE.token,)),
    "EDITED": replace(ONE, missing_context="edited by hand"),
    "EDITED RIGHTLY": a_record("edited by hand"),
    "TWIN": TWIN,
    "BOTH": following(replace(TWIN, id=ONE.id), ONE, replace(TWIN, id=ONE.id)),
    "SHARED": a_record("-login missing", topic="auth"),
    "SHARED TOO": a_record(" missing", topic="auth-login"),
    "ODD TOPIC": ONE.to_line().replace(b'"payment"', '"  결제 "'.encode()),
    "USUAL TOPIC": a_record("one", topic="결제"),
    "KEY TWICE": ONE.to_line().replace(b'"lesson": "', b'"lesson": "first", "lesson": "'),
    "ON ONE LINE": BARE + TWO.to_line(),
    "IN A LIST": BARE + b", " + BARE_TWO + b",\n",
    "IN A DIFF": b"+" + BARE + TWO.to_line(),
    "IN EUC-KR": TWO.to_line().decode().encode("euc-kr"),
    "BESIDE RUBBISH": BARE + b" {torn\n",
    "LONG": a_record("long", lesson="가" * 400),
    "BLANK": replace(ONE, lesson=" "),
    "ODD DATE": replace(TWO, updated="yesterday"),
    "AHEAD": replace(a_record("ahead"), updated=AHEAD),
    "ODD SOURCE": replace(a_record("odd"), source_ids=("abc",)),
    "HALF": HALF,
}


def parts_of(names: list[str]) -> list[Record | bytes]:
    return [PARTS.get(name, name.encode()) for name in names]


def test_a_flaw_is_found_and_a_repair_sets_aside_what_it_takes_out() -> None:
    for name in TABLES:
        lines, findings, kept, aside = TABLES[name]
        log = log_of(*parts_of(lines))
        found = examine(log, now=NOW)
        assert {it.facts["key"] for it in found if it.kind == "key_twice"} <= {"lesson"}
        told = [f"{it.kind} {it.severity} {' '.join(map(str, it.lines))}" for it in found]
        assert "; ".join(told) == findings
        repaired = repair(log.to_bytes())
        assert repaired.data == file_of(*parts_of(kept))
        assert repaired.aside == file_of(*parts_of(aside))


def test_many_records_are_a_note_and_a_line_that_goes_lies_aside_as_it_stood_there() -> None:
    records = [a_record(f"gap {number}") for number in range(5)]
    assert found(*records, threshold=5) == []
    assert found(*records, threshold=4) == [("overdue", "note", ())]
    assert found(*records, threshold=2) == [("overdue", "warning", ())]
    twin = replace(ONE, id="0123456789abcdef", updated="2026-02-01T09:00:00+00:00")
    assert found(twin, ONE) == [("same_gap", "warning", (1, 2)), ("id_misfit", "warning", (1,))]
    repaired = repair(file_of(twin, ONE))
    assert MemoryLog.parse(repaired.data).count == 1
    lines = repaired.aside.splitlines(keepends=True)
    assert lines[0].startswith(b"# line ")
    assert lines[1:] in ([twin.to_line()], [ONE.to_line()])


@pytest.mark.row("P10")
@given(FILES)
def test_a_repair_loses_no_record_and_no_line_and_leaves_nothing_to_mend(data: bytes) -> None:
    before = MemoryLog.parse(data)
    repaired = repair(data)
    after = MemoryLog.parse(repaired.data)
    kept = {(record.type, record.topic, record.key_text, record.lesson) for record in after.records}
    for at, line in enumerate(before.lines):
        content = line.removeprefix(BOM if at == 0 else b"").removesuffix(b"\n")
        record = before.entries[at]
        shown = record and (record.type, record.topic, record.key_text, record.lesson)
        assert shown in kept or not content.strip() or content in repaired.aside
    assert [item for item in examine(after, now=LATER) if item.fixable] == []
    again = repair(repaired.data)
    assert (again.data, again.aside) == (repaired.data, b"")
