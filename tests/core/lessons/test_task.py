"""Tests what is read of an action, which records are near to the work, and what a prompt is about.

The records, works, prompts and commands stand in tests/data/task.json.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lessons.action import Vocabulary, phrases_in, terms_of, tool_files
from core.lessons.record import Record
from core.lessons.task import MOST_RANKED, Work, by_work, for_prompt
from tests.support.samples import a_record
from tests.support.tables import none_of, table

TABLES = table("task")
ALL = [
    a_record(gap, topic=topic, lesson=lesson, paths=paths)
    for gap, topic, lesson, paths in TABLES["records"]
]
REFUND, WEBHOOK, STYLE, ANCHORED, _ = ALL
OTHERS = [
    a_record(f"gap {at}", topic=f"topic{at}", lesson=f"Rule about subject{at}.") for at in range(20)
]
PROMPT = "Let the approver see every refund"


def asked(prompt: str) -> list[Record]:
    records = [*ALL, *OTHERS]
    return for_prompt(prompt, records, len(records), {})


def test_a_record_is_near_to_work_whose_words_or_files_it_has_the_changed_ones_most() -> None:
    found = [by_work([*ALL, *OTHERS], Work(**work))[0].topic for work, _ in TABLES["work"]]
    none_of(row for row, it in zip(TABLES["work"], found, strict=True) if it != row[1])
    assert by_work([*ALL, *OTHERS], Work(changed=["src/webhook.py"])) == [WEBHOOK]
    assert by_work(ALL, Work()) == []
    assert by_work([], Work(branch="refund")) == []
    one, other = (replace(ANCHORED, id=name, paths=(f"{name}/**",)) for name in ("one", "other"))
    work = Work(changed=["one/a.py"], commits=[("Tidy up", ["other/b.py"])])
    assert by_work([*OTHERS, one, other], work) == [one, other]
    huge = replace(REFUND, lesson="refund " * 10_000)
    assert by_work([huge, STYLE], Work(branch="refund")) == []
    assert for_prompt("A refund needs a second approver", [huge, STYLE], 2, {}) == []
    many = [replace(REFUND, id=str(at)) for at in range(MOST_RANKED + 1)]
    ranked = by_work(many, Work(branch="refund"))
    assert [it.id for it in ranked] == [str(at) for at in range(MOST_RANKED, 0, -1)]
    common = [replace(STYLE, id=str(at), lesson="A refund again.") for at in range(10)]
    ranked = by_work([*common, WEBHOOK], Work(branch="refund-signature"))
    assert ranked[0] == WEBHOOK  # a word that many have tells little


def test_a_prompt_gets_the_record_that_two_of_its_words_or_a_file_tell_of() -> None:
    none_of(row for row in TABLES["prompts"] if asked(row[0])[0].topic != row[1])
    none_of(prompt for prompt in TABLES["nothing said"] if asked(prompt))
    assert for_prompt(PROMPT, ALL, 5_000, {}) == [REFUND]
    assert for_prompt(PROMPT, ALL, 5_000, {"refund": 4_000, "approver": 4_000}) == []


@pytest.mark.long  # it costs much
@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_has_an_answer(text: str, paths: list[str]) -> None:
    work = Work(branch=text, changed=paths, commits=[(text, paths)])
    assert set(map(id, by_work(ALL, work))) <= set(map(id, ALL))
    assert set(map(id, for_prompt(text, ALL, len(ALL), {}))) <= set(map(id, ALL))


# What is read of an action: its words, and the files and phrases of its command.

PIECES = [*"ab9B_-. \nﬁ환불이İK", "is", "ok", "Foo", "bar", "ies", "ing", "s", "ｆ", "É"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(TEXTS, TEXTS)
def test_what_is_shared_is_what_both_have(one: str, other: str) -> None:
    assert Vocabulary(terms_of(one)).shared(other) == terms_of(one) & terms_of(other)


def test_the_files_and_the_phrases_of_a_command_are_read() -> None:
    for command, files in TABLES["files of a tool"]:
        found = tool_files(command)
        assert found.items() >= files.items()
        assert bool(files) == bool(found)
    command = "sudo env A=1 git push --force origin main; uv run alembic upgrade head"
    words = {"git push", "push origin", "origin main", "alembic upgrade", "upgrade head"}
    assert set(phrases_in(command)) == words
