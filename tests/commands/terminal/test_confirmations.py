"""Tests that each command that repairs or brings back shows what it would do first, and asks."""

from collections.abc import Callable
from itertools import cycle
from typing import NamedTuple

import pytest

from core.lessons.record import Record, new_record
from core.store import MemoryStore
from tests.support.cli_process import TOKEN, Desk, Run
from tests.support.samples import NOW, a_principle, a_record

ONE = a_record("one")
RULE = new_record(a_principle("rule"), now=NOW)


class Asking(NamedTuple):
    """A command that asks: what it shows first, the log that it needs, and what happened to it."""

    words: str
    shows: str
    log: tuple[Record | bytes, ...] = (ONE,)
    before: Callable[[MemoryStore], object] = lambda store: None

    def prepare(self, desk: Desk) -> list[str]:
        """Make what it needs; its words."""
        desk.write(*self.log)
        (desk.root / "rules.md").write_bytes(b"- Use Node 22\n")
        self.before(MemoryStore(desk.log, now=lambda: NOW))
        return self.words.split()


ASKING = [
    Asking("scan --redact", "github-token", (a_record(lesson=f"use {TOKEN} here"),)),
    Asking("doctor --fix", "not a record", (ONE, b"no record\n")),
    Asking(
        *(f"restore {ONE.id}", "To bring back: 1."),
        before=lambda store: store.delete_by_ids([ONE.token]),
    ),
    Asking(
        *(f"restore --originals {RULE.id}", "To bring back: 1."),
        before=lambda store: store.upsert_log(a_principle("rule"), [ONE.token]),
    ),
    Asking(f"forget {ONE.id}", "To delete: 1."),
    Asking(f"topics rename {ONE.topic} billing", "will be renamed to [billing]"),
    Asking("add --topic ci --missing Which_Node --lesson Use_Node_22", "To save:"),
    Asking("import rules.md", "* Use Node 22"),
]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("asking", "answer"), [*zip(ASKING, cycle(["y\n", "예\n", "\n"]), strict=False)]
)
def test_nothing_is_changed_unseen_and_a_person_decides(
    asking: Asking, answer: str, desk: Desk
) -> None:
    """Without a terminal, on trial, by who sits at one, and with `--yes`."""
    words = asking.prepare(desk)
    before = desk.files()
    done = desk.run(*words)
    assert (done.code, asking.shows in done.out, desk.files()) == (1, True, before)
    assert done.errors.startswith("Nothing was ") and "--yes" in done.errors
    done = desk.run(*words, "--dry-run")
    assert (done.errors, asking.shows in done.out, desk.files()) == ("", True, before)
    assert done.out.splitlines()[-1].startswith("Nothing was ") and "(--dry-run)" in done.out
    is_repair = asking.words in ("scan --redact", "doctor --fix")
    assert done.code == is_repair  # what is wrong still is
    if asking.words == "doctor --fix":
        as_data = desk.run(*words, "--json", "-n")
        assert (as_data.code, as_data.errors, desk.files()) == (1, "", before)
        assert as_data.told
    done = Run.at_terminal(*words, answer=answer, **desk.place())
    assert asking.shows in done.out and "? [y/N] " in done.out
    assert (desk.files() != before) == (answer != "\n")
    assert ("Nothing was " in done.out) == (answer == "\n")
    asking.prepare(desk)
    before = desk.files()
    done = desk.run(*words, "-y")
    assert (done.code, done.errors, "[y/N]" in done.out) == (0, "", False)
    assert desk.files() != before


def test_where_nothing_is_to_be_done_nobody_is_asked(desk: Desk) -> None:
    desk.write(ONE)
    assert desk.run("restore", ONE.token).code == 0
    assert desk.run("scan", "--redact").code == 0
