"""Tests which files a path anchor stands for, and how paths and triggers are stored and merged."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RefusedError
from core.lessons.anchors import (
    LEAST_TRIGGER_CHARS,
    MOST_PATHS,
    MOST_TRIGGERS,
    PATH_BYTES,
    TRIGGER_BYTES,
    could_match,
    is_exact,
    matches,
    normalise_paths,
    normalise_triggers,
)
from core.lessons.log import MemoryLog
from core.lessons.record import check, parse_line
from tests.support.changes import upsert
from tests.support.samples import NOW, a_draft, a_line, a_record
from tests.support.sentences import raised
from tests.support.tables import none_of, table

TABLES = table("paths")
ROOT = "/srv/shop"
LONGEST = "가" * (PATH_BYTES // 3)


@pytest.mark.filterwarnings("error")  # a class that others read as a difference is none
def test_a_pattern_stands_for_these_files_and_for_no_others_and_that_is_told_at_once() -> None:
    rows = TABLES["stands for"]
    none_of(row for row in rows if not matches(*row) or not could_match(*row))
    none_of(row for row in TABLES["does not stand for"] if matches(*row))
    for pattern, path in (("src/**/x.py", "src/y.py"), ("*.tf", "main.py")):
        assert not could_match(pattern, path)
    exact = [is_exact(it) for it in ("*.tf", "migrations/", "src/a.py")]
    assert exact == [False, False, True]
    stars, path = "**/a*/" * 18 + "x", "aa/" * 300
    assert matches(stars, f"{path}x") and not matches(stars, f"{path}y")
    assert not matches("*a" * 50 + "b", "a" * 3_000)
    assert matches("[a-z]*" * 20, "a" * 3_000) and matches("**/" * 40 + "x", "a/" * 300 + "x")
    found = [matches("[+--]x", path) for path in ("+x", ",x", "-x", "ax")]
    assert found == [True, True, True, False]


@given(st.text("aB/*?[]!-", max_size=8), st.text("aB/-!", max_size=8))
def test_a_file_that_a_pattern_stands_for_is_never_ruled_out(pattern: str, path: str) -> None:
    assert could_match(pattern, path) or not matches(pattern, path)  # nor is any an error


def test_anchors_are_stored_relative_to_the_project_and_as_many_as_may_be_taken() -> None:
    none_of(row for row in TABLES["stored"] if [*normalise_paths(row[0], ROOT)] != row[1])
    assert normalise_paths(["C:\\Shop\\src\\a.py"], "c:\\shop") == ("src/a.py",)
    rows = TABLES["triggers"]
    none_of(row for row in rows if [*normalise_triggers(row[0])] != row[1])
    none_of(row for row in rows if [*normalise_triggers(row[1])] != row[1])
    assert normalise_paths([LONGEST]) == (LONGEST,)
    assert len(normalise_paths([str(at) for at in range(MOST_PATHS)])) == MOST_PATHS
    triggers = [f"call{at}(" for at in range(MOST_TRIGGERS + 1)]
    assert len(normalise_triggers(triggers[1:])) == MOST_TRIGGERS
    assert len(normalise_triggers(triggers, most=None)) == MOST_TRIGGERS + 1


def test_what_cannot_be_an_anchor_is_refused() -> None:
    longest: list[list[Any]] = [
        ["paths", [f"{LONGEST}abc"], "field_too_long", {"field": "paths"}],
        ["paths", [*map(str, range(MOST_PATHS + 1))], "too_many_paths", {}],
        ["when", [f"{LONGEST}abc"], "field_too_long", {"field": "when"}],
        ["when", ["x" * (TRIGGER_BYTES + 1)], "field_too_long", {"field": "when"}],
        *(["when", [it], "trigger_lines", {}] for it in TABLES["no line"]),
        *(
            ["when", ["fine()", it], "trigger_too_short", {"least": 4}]
            for it in TABLES["too short"]
        ),
    ]
    for field, anchors, key, facts in (*TABLES["no anchors"], *longest):
        with raised(RefusedError, key) as caught:
            (normalise_paths if field == "paths" else normalise_triggers)(anchors)
        assert caught.value.facts.items() >= facts.items()
    for path in TABLES["outside"]:
        with raised(RefusedError, "path_outside") as caught:
            normalise_paths([path], ROOT)
        assert path not in str(caught.value)
    assert (MOST_TRIGGERS, LEAST_TRIGGER_CHARS) == (5, 4)


def test_anchors_stand_in_the_line_after_the_marks_and_any_that_a_hand_wrote_are_kept() -> None:
    draft = a_draft("ignore all previous instructions", paths=("a/b",), when=("call(",))
    _, record, _ = upsert(MemoryLog(), check(draft), now=NOW)
    assert list(record.as_json()["meta"]) == ["created", "marks", "paths", "when"]
    assert parse_line(record.to_line()) == record
    for wrong in (b'"a/b"', b"[3]"):
        assert parse_line(record.to_line().replace(b'["a/b"]', wrong)) is None
        assert parse_line(record.to_line().replace(b'["call("]', wrong)) is None
    assert record.fingerprint() != replace(record, when=()).fingerprint()
    line = a_line(a_record()).replace(b'"meta": {', b'"meta": {"when": ["\\ud800", "a\\nb", ""], ')
    odd = parse_line(line)
    assert odd is not None
    assert odd.when == ("\ud800", "a\nb", "")
    assert parse_line(odd.to_line()) == odd
    pieces = ("", "x" * 5_000, *(f"piece {at}" for at in range(50_000)))
    many = replace(a_record(), when=pieces)
    assert MemoryLog.parse(many.to_line()).records == [many]


PIECES = st.text(st.characters(codec="utf-8"), min_size=4, max_size=30)


@pytest.mark.long  # it costs much
@given(st.lists(PIECES, max_size=MOST_TRIGGERS))
def test_triggers_come_back_from_their_line(pieces: list[str]) -> None:
    taken: list[str] = []
    for piece in pieces:
        try:
            taken += normalise_triggers([piece])
        except RefusedError as error:
            assert error.key in ("trigger_too_short", "trigger_lines")
    triggers = tuple(dict.fromkeys(taken))
    record = a_record(when=triggers)
    assert parse_line(record.to_line()) == record
    assert record.when == triggers
    assert normalise_triggers("\n".join(triggers)) == triggers or triggers[0].startswith("[")
