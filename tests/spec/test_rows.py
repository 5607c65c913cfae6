"""Tests that each row of the specifications is held by a test or a story, or says why none can."""

import re

import pytest

from tests.spec import rows as spec
from tests.support.tables import none_of

MARK = '@pytest.mark.row("P1", "001 3-1.a")\n'
FORMS = {
    "a test": f"{MARK}def test_it() -> None: ...\n",
    "a test of a class": f"class TestIt:\n    {MARK}    async def test_it(self) -> None: ...\n",
    "a class": f"{MARK}class TestIt: ...\n",
    "a state machine": 'TestIt = pytest.mark.row("P1", "001 3-1.a")(It.TestCase)\n',
}
NO_MARKS = {
    "above a helper": f"{MARK}def helper() -> None: ...\n",
    "of a file": 'pytestmark = pytest.mark.row("P1")\n',
    "of a case": 'CASES = [pytest.param(1, marks=pytest.mark.row("P1"))]\n',
    "by a name": "@pytest.mark.row(ROW)\ndef test_it() -> None: ...\n",
}


def test_each_row_is_held_by_tests_that_there_are_or_says_why_none_can_hold_it() -> None:
    rows, claims = spec.rows_of(spec.FILE.read_text(encoding="utf-8")), spec.claims_in(spec.TESTS)
    assert len(rows) > 500
    none_of([*spec.unknown_in(rows, claims), *spec.open_in(rows, spec.holders_of(rows, claims))])


@pytest.mark.parametrize("form", FORMS)
def test_a_mark_is_read_above(form: str) -> None:
    claims = spec.claims_of_tests(FORMS[form], "test_file.py")
    assert [claim.row for claim in claims] == ["P1", "001 3-1.a"]
    assert {claim.holder.split("::")[1] for claim in claims} <= {"test_it", "TestIt"}


def test_a_mark_that_holds_nothing_and_a_row_that_is_none_are_refused() -> None:
    for source in NO_MARKS.values():
        with pytest.raises(ValueError):
            spec.claims_of_tests(source, "test_file.py")
    for text in ('["001 3-1"]\nrequires = "It."', '["005 1"]\nrequires = "It."'):
        with pytest.raises(ValueError, match="write"):
            spec.rows_of(text)
    for field in ('reading = "It."', 'requires = "It."\nreason = "It."', "requires = true"):
        with pytest.raises(TypeError):
            spec.rows_of(f'["P1"]\n{field}')


def test_a_row_without_a_holder_is_open_unless_it_says_why() -> None:
    rows = {
        "P1": spec.Row("P1", "Held."),
        "P2": spec.Row("P2", "Open.", reading="Read so."),
        "P3": spec.Row("P3", "Free.", outside="Nobody can."),
        "P4": spec.Row("P4", "Left.", otherwise="Not done."),
    }
    claims = spec.claims_of_tests('@pytest.mark.row("P1")\ndef test_it() -> None: ...\n', "f.py")
    [fault] = spec.open_in(rows, spec.holders_of(rows, claims))
    assert fault.startswith("P2: Open.")


def test_a_story_holds_the_rows_of_its_head_and_none_of_a_section() -> None:
    text = "# Of a tool.\n\n## a lesson is kept  [001 3-1.a, P1, 001 3-1]\nlog_memory topic=[x]\n"
    claims = spec.claims_of_stories(text, "stories/log.txt")
    rows = ["001 3-1.a", "001 3-1.b", "P1"]
    story = "stories/log.txt: a lesson is kept"
    assert spec.holders_of(rows, claims) == {"001 3-1.a": [story], "001 3-1.b": [], "P1": [story]}
    assert spec.unknown_in(rows, claims) == []


@pytest.mark.parametrize(
    ("row", "ask"),
    [
        ("001 3-1", "name a row of it, 001 3-1.a to 001 3-1.b"),
        ("001 3-1.c", "correct the id"),
        ("002 2", "correct the id"),
    ],
)
def test_a_test_that_names_no_row_is_told_what_to_name(row: str, ask: str) -> None:
    mark = f'@pytest.mark.row("{row}")\ndef test_it() -> None: ...\n'
    claims = spec.claims_of_tests(mark, "test_file.py")
    [fault] = spec.unknown_in(["001 3-1.a", "001 3-1.b", "002 2.1"], claims)
    assert fault.startswith(f"test_file.py::test_it: '{row}' is ")
    assert ask in fault


def test_the_command_prints_all_rows_or_those_that_are_open(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = spec.rows_of(spec.FILE.read_text(encoding="utf-8")).values()
    assert spec.main([]) == 0
    assert set(re.findall(r"^(\S.*?): ", capsys.readouterr().out, re.M)) == {it.id for it in rows}
    assert spec.main(["--open"]) == 0
    free = {it.id for it in rows if not it.needs_holder}
    shown = re.findall(r"^(\S.*?): ", capsys.readouterr().out, re.M)
    assert free <= set(shown) and "P1" not in shown
