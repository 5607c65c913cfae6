"""Tests that each command that repairs or brings back shows what it would do first, and asks."""

from collections.abc import Callable
from itertools import cycle

import pytest

from core.store import MemoryStore
from tests.support.cli_process import TOKEN, Run
from tests.support.desk import Desk
from tests.support.samples import a_principle, a_record

ONE = a_record("one")


def secret(desk: Desk) -> tuple[str, ...]:
    desk.write(a_record(lesson=f"use {TOKEN} here"))
    return "scan", "--redact"


def damage(desk: Desk) -> tuple[str, ...]:
    desk.write(ONE, b"no record\n")
    return "doctor", "--fix"


def deletion(desk: Desk) -> tuple[str, ...]:
    desk.write(ONE)
    MemoryStore(desk.log).delete_by_ids([ONE.token])
    return "restore", ONE.id


def compaction(desk: Desk) -> tuple[str, ...]:
    desk.write(ONE)
    rule = MemoryStore(desk.log).upsert_log(a_principle("rule"), [ONE.token]).record
    return "restore", "--originals", rule.id


def removal(desk: Desk) -> tuple[str, ...]:
    desk.write(ONE)
    return "forget", ONE.id


def renaming(desk: Desk) -> tuple[str, ...]:
    desk.write(ONE)
    return "topics", "rename", ONE.topic, "billing"


def addition(desk: Desk) -> tuple[str, ...]:
    desk.write(ONE)
    return "add", "--topic", "ci", "--missing", "Which Node", "--lesson", "Use Node 22"


Made = Callable[[Desk], tuple[str, ...]]
SHOWN: dict[Made, str] = {
    secret: "github-token",
    damage: "not a record",
    deletion: "To bring back: 1.",
    compaction: "To bring back: 1.",
    removal: "To delete: 1.",
    renaming: "will be renamed to [billing]",
    addition: "To save:",
}
ANSWERED = [("y\n", True), ("예\n", True), ("\n", False)]
EACH = pytest.mark.parametrize("made", SHOWN, ids=lambda it: it.__name__)


@pytest.mark.long  # it costs much
@EACH
def test_without_a_terminal_nothing_is_changed_and_yes_is_named(made: Made, desk: Desk) -> None:
    words = made(desk)
    before = desk.files()
    done = desk.run(*words)
    assert (done.code, desk.files()) == (1, before)
    assert SHOWN[made] in done.out
    assert done.errors.startswith("Nothing was changed: ") and "--yes" in done.errors


@pytest.mark.long  # it costs much
@EACH
def test_a_dry_run_shows_the_same_and_changes_nothing_and_yes_does_it_without_a_question(
    made: Made, desk: Desk
) -> None:
    words = made(desk)
    before = desk.files()
    done = desk.run(*words, "--dry-run")
    assert (done.errors, desk.files()) == ("", before)
    assert SHOWN[made] in done.out
    assert done.out.endswith("\nNothing was changed (--dry-run).\n")
    assert done.code == (1 if made in (secret, damage) else 0)  # what is wrong still is
    if made in (secret, damage):
        as_data = desk.run(*words, "--json", "-n")
        assert (as_data.code, as_data.errors, desk.files()) == (1, "", before)
        assert as_data.told
    done = desk.run(*words, "-y")
    assert (done.code, done.errors, "[y/N]" in done.out) == (0, "", False)
    assert desk.files() != before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("made", "answer", "is_done"),
    [(made, *answered) for made, answered in zip(SHOWN, cycle(ANSWERED), strict=False)],
)
def test_a_person_at_the_terminal_decides(
    made: Made, answer: str, is_done: bool, desk: Desk
) -> None:
    words = made(desk)
    before = desk.log.read_bytes()
    done = Run.at_terminal(*words, answer=answer, **desk.place())
    assert SHOWN[made] in done.out and "? [y/N] " in done.out
    assert (desk.log.read_bytes() != before) == is_done
    assert ("Nothing was changed." in done.out) != is_done


def test_where_nothing_is_to_be_done_nobody_is_asked(desk: Desk) -> None:
    desk.write(ONE)
    assert desk.run("restore", ONE.token).code == 0
    assert desk.run("scan", "--redact").code == 0
