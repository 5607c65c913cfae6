"""Tests which records no action can call up, and which nearly every change of a file would."""

import time
from dataclasses import replace

import pytest

from core.lessons.reach import LEAST_FILES, MOST_LOOKED_AT, can_be_shown, shown_everywhere
from core.lessons.record import Record
from tests.support.samples import a_record

MUTE = a_record("always new", topic="a", lesson="Never use it; do it like that instead.")
FILES = [f"src/{at}.py" for at in range(60)] + [f"docs/{at}.md" for at in range(40)]


@pytest.mark.parametrize(
    "record",
    [
        MUTE,
        replace(MUTE, missing_context="없는 것", lesson="다시 하지 않고 바로 하면 된다."),
        replace(MUTE, missing_context="", lesson="1 + 2 = 3", topic="→"),
        replace(MUTE, when=("", "  "), paths=("",)),
        replace(MUTE, paths=("x" * 600,)),
    ],
)
def test_a_record_without_a_telling_word_is_never_shown(record: Record) -> None:
    assert not can_be_shown(record)


@pytest.mark.parametrize(
    "record",
    [
        replace(MUTE, paths=("src/",)),
        replace(MUTE, when=("call(",)),
        replace(MUTE, topic="payment"),
        replace(MUTE, lesson="환불은 바로 하지 않는다."),
        replace(MUTE, lesson="Use a.b instead."),
        a_record(),
    ],
)
def test_an_anchor_a_trigger_or_one_word_is_enough(record: Record) -> None:
    assert can_be_shown(record)


def found(*paths: str, files: list[str] = FILES) -> list[int]:
    return [percent for _, percent in shown_everywhere([a_record(paths=paths)], files)]


@pytest.mark.parametrize(
    ("paths", "percent"),
    [
        (("**",), [100]),
        (("*.py",), [60]),
        (("*.PY", "src/"), [60]),
        (("*.py", "*.md"), [100]),
        (("src/1*.py", "src/2*.py", "docs/1*.md"), [33]),
        (("src/1*.py", "docs/1*.md"), []),
        (("src/1.py",), []),
        (("lib/",), []),
        ((), []),
    ],
)
def test_a_record_for_more_than_a_quarter_of_the_files_is_shown_everywhere(
    paths: tuple[str, ...], percent: list[int]
) -> None:
    assert found(*paths) == percent


def test_of_few_files_a_quarter_says_nothing() -> None:
    assert found("**", files=FILES[: LEAST_FILES - 1]) == []
    assert found("**", files=FILES[:LEAST_FILES]) == [100]


def test_of_many_files_some_are_looked_at_evenly() -> None:
    files = [f"{part}/{at}.py" for part in "abcd" for at in range(MOST_LOOKED_AT)]
    assert found("a/", "b/", files=files) == [50]
    assert found("a/", files=files) == []


@pytest.mark.long  # it measures the time
def test_no_log_holds_the_question_up() -> None:
    records = [
        replace(a_record(str(at)), paths=tuple(f"**/a{at}*b{it}*" for it in range(300)))
        for at in range(300)
    ]
    began = time.process_time()
    assert list(shown_everywhere(records, ["a" * 100 for _ in range(30_000)])) == []
    assert time.process_time() - began < 10
