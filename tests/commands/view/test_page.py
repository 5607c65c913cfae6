"""Tests what the page of a memory shows: order, authors, and no secret."""

from dataclasses import replace
from pathlib import Path

import pytest

from commands.view.page import Page, page_of
from core.lessons.answers.frame import Frame
from core.lessons.git.commits import Commit
from core.lessons.git.lineage import Lineage, lineage_of
from core.lessons.log import MemoryLog
from core.lessons.record import Record, new_record
from core.settings import Settings
from tests.support.cli_process import TOKEN
from tests.support.git_clones import git, new_project, path_of, store_of
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record

LAST = "2026-03-09T12:00:00+00:00"
FIRST = Commit(id="a" * 40, author="web", date=NOW, subject="Log it")
SECOND = Commit(id="b" * 40, author="결제팀", date=LATER, subject="Log it again")


def page(
    *records: Record, lineage: Lineage | None = None, project: str = "shop", threshold: int = 50
) -> Page:
    log = MemoryLog.parse(b"".join(record.to_line() for record in records))
    frame = Frame(project="/shop", settings=Settings(), own_threshold=threshold)
    return page_of(log, lineage or Lineage(), frame, project=project, now=LAST)


def a_lineage(
    added: dict[str, Commit] | None = None,
    saved: dict[str, Commit] | None = None,
) -> Lineage:
    return Lineage(added=added or {}, saved=saved or {})


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


def test_a_record_knows_who_brought_it_and_who_saved_it_last() -> None:
    again = replace(a_record(), seen=2, updated=LATER)
    other = a_record("other", topic="z")
    lineage = a_lineage(
        added={again.id: FIRST, other.id: FIRST}, saved={again.token: SECOND, other.token: FIRST}
    )
    entries = page(again, other, lineage=lineage).entries
    assert [(entry.added, entry.saved) for entry in entries] == [(FIRST, SECOND), (FIRST, None)]


def test_without_git_nobody_is_named() -> None:
    [entry] = page(a_record()).entries
    assert (entry.added, entry.saved) == (None, None)


def test_no_secret_is_left_in_records_authors_and_names() -> None:
    kept = replace(a_record("1"), topic=f"topic {TOKEN}", ask_next_time=TOKEN)
    who = replace(FIRST, author=f"bot {TOKEN}", subject=f"token {TOKEN}")
    shown = page(kept, lineage=a_lineage(added={kept.id: who}), project=f"shop-{TOKEN}")
    assert TOKEN[4:] not in repr((shown.topics, shown.questions))
    assert TOKEN[4:] not in shown.project
    [entry] = shown.entries
    assert entry.record.topic == "topic [REDACTED]"
    assert entry.added == replace(FIRST, author="bot [REDACTED]", subject="token [REDACTED]")
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


@pytest.mark.long  # it costs much
def test_a_real_repository_names_authors(tmp_path: Path) -> None:
    clone = new_project(tmp_path / "shop", "1", "2")
    tokens = [record.token for record in store_of(clone).read().records]
    store_of(clone, LATER).upsert_log(a_principle("both"), tokens)
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--author=결제팀 <a@example.invalid>", "-m", "Compact")
    store_of(clone, LAST).upsert_log(a_draft("not committed", topic="new"))
    log = store_of(clone).read()
    frame = Frame(project=str(clone), settings=Settings())
    shown = page_of(log, lineage_of(path_of(clone), log), frame, project="shop", now=LAST)
    new, rule = shown.entries
    assert rule.added and (rule.added.author, rule.added.subject) == ("결제팀", "Compact")
    assert (new.added, new.saved) == (None, None)
