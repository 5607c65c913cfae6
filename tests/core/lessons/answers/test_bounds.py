"""Tests that no record makes an answer longer than its budget, or a call longer than its log."""

import json
import time
from collections.abc import Callable

import pytest

from core.config import Settings
from core.lessons.answers import Frame, search_answer
from core.lessons.compaction import compaction_answer, deletion_answer, fit_deletion
from core.lessons.log import MemoryLog
from core.text.plain import Budget, estimate_tokens
from core.text.wording import TOPICS_COMPARED, similar_topics
from tests.support.changes import delete
from tests.support.fitting import whole_records
from tests.support.samples import a_record

FRAME = Frame(project="/shop", settings=Settings())
LARGE = 200_000


def large(field: str, char: str = "vat ") -> MemoryLog:
    fields = {**a_record().as_json(), field: char * (LARGE // len(char))}
    return MemoryLog.parse(json.dumps(fields, ensure_ascii=False).encode())


def is_within(answer: str) -> bool:
    settings = FRAME.settings
    most = settings.budget_chars, settings.budget_tokens
    return (len(answer), estimate_tokens(answer)) <= most


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("field", ["missing_context", "lesson", "ask_next_time"])
@pytest.mark.parametrize("char", ["vat ", "환", "\u200b"])
def test_a_record_larger_than_an_answer_is_begun_and_keeps_its_token(field: str, char: str) -> None:
    log = large(field, char)
    [record] = log.records
    offered = compaction_answer(log, FRAME)
    assert is_within(offered)
    assert record.token in offered
    assert "shortened" in offered
    assert is_within(search_answer(log, FRAME, query="vat"))
    assert len(whole_records([record], "vat", Budget(1_500, 45_000))) < 10_000


def test_a_large_record_that_is_deleted_is_repeated_as_far_as_there_is_room() -> None:
    log = large("lesson")
    tokens, put_off = fit_deletion(log, [log.records[0].token], FRAME)
    after, outcome = delete(log, tokens)
    answer = deletion_answer(outcome, FRAME, put_off)
    assert (after.count, put_off) == (0, [])
    assert is_within(answer)
    assert "shortened" in answer


def took(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


@pytest.mark.long  # it measures the time
def test_topics_that_are_all_made_of_the_same_letters_do_not_hold_a_call() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz012345"
    turned = [letters[at % 32 :] + letters[: at % 32] for at in range(TOPICS_COMPARED)]
    topics = [f"{name}{at:04d}" for at, name in enumerate(turned)]
    assert took(lambda: similar_topics(topics)) < 15  # some 2 s; without a bound half a minute


@pytest.mark.long  # it measures the time
def test_a_search_of_four_times_the_records_takes_about_four_times_as_long() -> None:
    def searching(count: int) -> float:
        records = (a_record(f"VAT of {at}", topic=f"topic {at % 50}") for at in range(count))
        lines = [record.to_line() for record in records]
        log = MemoryLog.parse(b"".join(lines))
        assert log.count == count
        return took(lambda: search_answer(log, FRAME, query="VAT rounding"))

    assert searching(24_000) < 10 * searching(6_000) + 0.3
