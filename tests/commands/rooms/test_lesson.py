"""Tests that a person's lesson goes through the door of all lessons, and that one is corrected."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.rooms.lesson import HEADING, edited, editor_in, sections_in, text_for_editor
from core.lessons.record import LIMITS_BYTES
from core.store import MemoryStore
from tests.support.cli_process import Command, Desk, Run
from tests.support.git_clones import saved
from tests.support.samples import a_record

VAT = a_record(ask_next_time="어느 국가?", paths=["src/**"], when=["vat_of(", "tax, all"])


def test_a_lesson_is_saved_under_the_version_id_that_was_shown(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = "2026-03-02T09:00:00+00:00"  # the clock goes on while a person decides
    monkeypatch.setattr("commands.rooms.lesson.utc_now", lambda: moment)
    done = command("add", "--topic", "ci", "--missing", "Node", "--lesson", "Use 22", "--yes")
    [record] = saved(project)
    assert record.created == moment
    assert set(re.findall(r"[0-9a-f]{16}@[0-9a-f]{6}", done.out)) == {record.token}


@pytest.mark.long  # it costs much
def test_at_a_terminal_two_questions_are_asked_and_no_typing_is_lost(desk: Desk) -> None:
    desk.write(a_record("gap", topic="node"), a_record("other gap", topic="ci"))
    known = "Which node CI has\nUse 22\n"  # names a topic that there is
    done = Run.at_terminal("add", answer=f"{known}y\n", **desk.place())
    assert (done.code, done.errors) == (0, "")
    record = MemoryStore(desk.log).read().records[-1]
    assert (record.topic, record.missing_context) == ("node", "Which node CI has")
    assert record.lesson == "Use 22"
    before = desk.files()
    done = Run.at_terminal("add", answer=f"What?\n{'가' * 342}\nbuild\n", **desk.place())
    assert (done.code, desk.files()) == (1, before)
    assert "(so far: " in done.out
    assert done.errors.startswith("lesson: 1,026 bytes")
    again = f"python cli.py add --topic=build --missing='What?' --lesson='{'가' * 342}'"
    assert done.errors.splitlines()[-1].endswith(again)
    done = Run.at_terminal("add", answer="\n", **desk.place())
    assert (done.code, desk.files()) == (1, before)
    assert done.errors.startswith("The answer is blank. Nothing was saved.")


def test_the_editor_is_the_one_that_the_environment_names() -> None:
    for environment, words in (
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "'/my tools/ed' -x"}, ["/my tools/ed", "-x"]),
        ({"EDITOR": "'open"}, []),
        ({}, []),
    ):
        assert editor_in(environment, is_terminal=False) == words


ANY = st.text(st.characters(codec="utf-8"), max_size=40).filter(
    lambda text: not HEADING.search(text.replace("\r", "\n"))
) | st.sampled_from(["a\r\nb\rc", "# x", "\n\n== topic\n ", "\\== lesson =="])


@given(st.tuples(*[ANY] * len(LIMITS_BYTES)))
def test_every_text_comes_back_from_the_editor_as_it_is(texts: tuple[str, ...]) -> None:
    record = replace(VAT, **dict(zip(LIMITS_BYTES, texts, strict=True)))  # type: ignore[arg-type]
    before = sections_in(text_for_editor(record))
    assert edited(record, {}, Path()) == (record, [])
    for name, text in zip(LIMITS_BYTES, record.texts, strict=True):
        expected = re.sub(r"\A(?:\s*\n)+|(?:\n\s*)+\Z", "", text.replace("\r\n", "\n"))
        assert before[name].strip() == expected.strip()
