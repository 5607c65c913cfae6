"""Tests that every answer says what a merge or a hand has left in the log."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.config import Settings
from core.lessons.answers import Frame, saved_answer, search_answer
from core.lessons.compaction import compaction_answer, deletion_answer
from core.lessons.log import MemoryLog
from core.lessons.record import Record, new_record
from core.messages import Facts, Language
from core.store import MemoryStore
from tests.support.changes import delete
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record
from tests.support.sentences import in_language, sentence

FRAME = Frame(project="/tmp/project", settings=Settings())
ONE, TWO = a_record("one"), a_record("two", topic="auth")
HIDER = replace(
    new_record(a_principle("x", topic="ui"), now=LATER), source_ids=(ONE.token, TWO.token)
)
BY = f"{HIDER.id[:8]} [ui]"


def log_of(*records: Record) -> MemoryLog:
    return MemoryLog.parse(b"".join(record.to_line() for record in records))


def a_store(tmp_path: Path, *records: Record) -> MemoryStore:
    path = tmp_path / ".context" / "memory_log.jsonl"
    path.parent.mkdir()
    path.write_bytes(log_of(*records).to_bytes())
    return MemoryStore(path, now=lambda: NOW)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_answers_say_how_many_records_are_hidden_and_by_which_line(lang: Language) -> None:
    log = log_of(ONE, TWO, HIDER, a_record("three"))
    note = sentence(lang, "answers.hidden", count=2, by=BY)
    assert note in in_language(lang, search_answer, log, FRAME, query="").split("\n")
    assert note in in_language(lang, compaction_answer, log, FRAME).split("\n")


def test_answers_say_which_topics_have_a_gap_in_two_versions() -> None:
    log = log_of(ONE, replace(ONE, lesson="in other words"), TWO)
    note = sentence("en", "answers.unsettled", count=1, topics="payment")
    assert note in search_answer(log, FRAME, query="").split("\n")
    assert note in compaction_answer(log, FRAME).split("\n")
    assert "in other words" in search_answer(log, FRAME, query="")


def test_an_answer_about_a_whole_log_has_no_such_note() -> None:
    answer = search_answer(log_of(ONE, TWO), FRAME, query="")
    assert "WARNING" not in answer
    assert "version" not in answer


def test_a_save_names_the_hidden_records_that_it_took_out(tmp_path: Path) -> None:
    store = a_store(tmp_path, ONE, TWO, HIDER)
    answer = saved_answer(store.upsert_log(a_draft("three")), FRAME)
    tokens = f"{ONE.token}, {TWO.token}"
    assert sentence("en", "answers.hidden_went", count=2, tokens=tokens) in answer.split("\n")


def test_a_deletion_names_the_hidden_records_that_it_took_out() -> None:
    _, outcome = delete(log_of(ONE, HIDER, TWO, a_record("three")), [a_record("three").token])
    assert ONE.token in deletion_answer(outcome, FRAME)


def test_a_save_that_settles_versions_says_so(tmp_path: Path) -> None:
    store = a_store(tmp_path, ONE, replace(ONE, lesson="in other words"))
    answer = saved_answer(store.upsert_log(a_draft("one", lesson="both")), FRAME)
    assert sentence("en", "answers.settled", count=2) in answer.split("\n")


def test_a_save_of_the_same_words_says_that_nothing_was_saved(tmp_path: Path) -> None:
    store = a_store(tmp_path, ONE)
    before = store.read_bytes()
    answer = saved_answer(store.upsert_log(a_draft("one")), FRAME)
    facts: Facts = {"topic": "payment", "count": 1, "project": "/tmp/project"}
    assert answer.split("\n")[0] == sentence("en", "answers.saved_same", **facts)
    assert store.read_bytes() == before
