"""Tests what the page of a memory shows: order, anchors, and no secret."""

from dataclasses import replace

import pytest

from commands.view.page import Page, page_of
from core.lessons.answer import Frame
from core.lessons.log import MemoryLog
from core.lessons.record import Record, new_record
from core.settings import Settings
from tests.support.cli_process import TOKEN
from tests.support.samples import LATER, NOW, a_principle, a_record

LAST = "2026-03-09T12:00:00+00:00"


def page(*records: Record, project: str = "shop", threshold: int = 50) -> Page:
    log = MemoryLog.parse(b"".join(record.to_line() for record in records))
    frame = Frame(project="/shop", settings=Settings(), own_threshold=threshold)
    return page_of(log, frame, project=project, now=LAST)


def test_topics_with_the_most_records_come_first_and_then_their_names_decide() -> None:
    records = [
        a_record("1", topic="one"),
        a_record("2", topic="three"),
        a_record("3", topic="three", now=LATER),
        a_record("4", topic="three"),
        new_record(a_principle("rule", topic="ruled"), now=NOW),
    ]
    shown = page(*records)
    assert [topic.name for topic in shown.topics] == ["three", "one", "ruled"]


def test_a_topic_is_named_in_the_address_as_a_browser_writes_it() -> None:
    names = {"결제": "%EA%B2%B0%EC%A0%9C", "a b/c&d": "a%20b%2Fc%26d", "(it's)!*~": "(it's)!*~"}
    topics = page(*(a_record(name, topic=name) for name in names)).topics
    assert {topic.name: topic.anchor for topic in topics} == {
        name: f"topic={written}" for name, written in names.items()
    }


def test_the_newest_records_are_those_that_were_saved_last() -> None:
    records = [a_record(str(at), now=f"2026-03-0{at}T09:00:00+00:00") for at in range(1, 9)]
    again = replace(records[0], updated=LAST, seen=2)
    shown = page(again, *records[1:])
    assert [entry.record for entry in shown.newest] == [again, *reversed(records[4:])]


def test_in_a_topic_principles_come_first_and_then_what_was_saved_last() -> None:
    old, new, updated = a_record("old"), a_record("new", now=LATER), a_record("updated")
    updated = replace(updated, updated=LAST, seen=2)
    rule = new_record(a_principle("rule"), now=NOW)
    [topic] = page(old, new, updated, rule).topics
    assert [entry.record for entry in topic.entries] == [rule, updated, new, old]


def test_no_secret_is_left_in_records_and_names() -> None:
    kept = replace(a_record("1"), topic=f"topic {TOKEN}", ask_next_time=TOKEN)
    shown = page(kept, project=f"shop-{TOKEN}")
    assert TOKEN[4:] not in repr((shown.topics, shown.questions))
    assert TOKEN[4:] not in shown.project
    [entry] = shown.entries
    assert entry.record.topic == "topic [REDACTED]"
    assert len(shown.redacted) == 2


def test_the_token_is_that_of_the_record_in_the_log_even_where_a_secret_is_left_out() -> None:
    record = a_record(lesson=f"use {TOKEN} here")
    [entry] = page(record).entries
    assert entry.token == record.token
    assert entry.anchor == f"r-{record.id}"


@pytest.mark.parametrize("id", ["query", "a b", '"><img>', f"x{TOKEN}", "한글"])
def test_an_id_of_a_stranger_is_an_anchor_only_when_it_is_plain(id: str) -> None:
    [entry] = page(replace(a_record(), id=id)).entries
    is_plain = id == "query"
    assert entry.anchor == ("r-query" if is_plain else "record-1")
    assert bool(entry.token) == is_plain


def test_two_records_of_one_id_have_two_anchors() -> None:
    one, other = replace(a_record(), id="same"), replace(a_record("other"), id="same")
    anchors = [entry.anchor for entry in page(one, other).entries]
    assert sorted(anchors) == ["r-same", "record-2"]


def test_an_empty_memory_has_no_topics() -> None:
    assert page().topics == ()
