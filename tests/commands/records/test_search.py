"""Tests what `cli.py search` shows of its hits, and what it says where there is none."""

from functools import partial
from itertools import product
from pathlib import Path

import pytest

from commands.terminal.columns import cells, uncoloured
from commands.terminal.days import day_text
from tests.support.cli_process import Command
from tests.support.cli_process import GoodRun as Run
from tests.support.costly import one_in
from tests.support.git_clones import write
from tests.support.rows import none_of
from tests.support.samples import NOW, a_record

WIDTHS = [40, 60, 80, 120, 200]

LONG = a_record(
    "Saves that wait behind a held lock fill the worker threads.",
    topic="store",
    lesson="Take one lock among the threads of a process, and let its holder ask for the file lock;"
    " both share one deadline, after which a timeout is told.",
    ask_next_time="How long may a save wait?",
    paths=["core/disk/lock.py"],
)
PARSER = a_record(
    "Usage errors ended a hook.",
    topic="hooks",
    lesson="A hook reads its arguments itself, without argparse.",
)
KOREAN = a_record("환불 기한", topic="결제", lesson="환불은 7일 안에만 된다.")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    write(project, LONG, PARSER, KOREAN)
    return partial(Run.of, capsys)


def test_a_word_that_the_line_has_no_room_for_is_shown_below_with_its_field(
    command: Command,
) -> None:
    lines = command("search", "timeouts", "saves", "disk").lines
    day = day_text(NOW)
    assert lines[1].startswith(f"  {LONG.id[:8]}  {day}  store  Take one lock among the")
    assert lines[2:5] == [
        "    lesson: …file lock; both share one deadline, after which a timeout is told.",
        "    missing: Saves that wait behind a held lock fill the worker threads.",
        "    paths: core/disk/lock.py",
    ]
    assert lines[5:] == ["", "1 of 1 found, the most relevant first. Not matching: 2."]


def test_the_words_are_coloured_and_the_table_around_them_is_not(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    head, line, *_ = command("search", "환불").lines
    assert head.startswith("\x1b[1m")
    day = day_text(NOW)
    assert line == f"  {KOREAN.id[:8]}  {day}  결제   \x1b[33m환불\x1b[0m은 7일 안에만 된다."
    line = command("search", "hooks").lines[1]
    assert line.count("\x1b[33m") == 2  # the topic and the lesson
    assert uncoloured(line).startswith(f"  {PARSER.id[:8]}  {day}  hooks  A hook reads")


def test_without_a_hit_the_words_are_counted(command: Command) -> None:
    assert command("search", "lock", "argprase", "환블").lines == [
        "No record has all of these words (records: 3). The search does not know synonyms",
        "or translations.",
        "Records with each word: lock 1, argprase 0, 환블 0.",
    ]
    assert command("search", "zzz").lines[2:] == []


def test_the_words_are_found_as_a_model_finds_them(command: Command) -> None:
    """In their forms, with any particle, by a beginning; not by single letters."""

    def found(*words: str) -> int:
        return int(command("search", *words, "--json").told["found"])

    assert found("timeouts") == found("deadlines", "threads") == found("argparse,") == 1
    assert found("환불이") == found("기한을", "결제") == found("argpars") == 1
    assert found("the", "hooks") == 1
    assert found("ㅎㅂ") == found("환부") == found("rgparse") == found("zzz", "hooks") == 0


def test_a_filter_hides_hits_and_changes_nothing_else(command: Command) -> None:
    assert command("search", "hook", "--topic", "store", "--json").told["found"] == 0
    assert command("search", "hook", "--topic", "hooks", "--json").told["found"] == 1


def test_an_id_a_token_and_a_date_find_their_record(command: Command) -> None:
    def ids(*words: str) -> list[str]:
        return [it["id"] for it in command("search", *words, "--json").told["records"]]

    assert ids(LONG.id[:6]) == ids(LONG.token) == [LONG.id]
    assert len(ids("2026-03")) == 3


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "query", one_in(2, [("lock",), ("deadline", "save"), ("환불",), ("zzz", "lock"), ("pars",)])
)
def test_no_line_is_wider_than_the_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, query: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for width, lang in product(WIDTHS, ("en", "ko")):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
        none_of(line for line in command("search", *query).lines if cells(uncoloured(line)) > width)
