"""Tests that `cli.py scan` finds secrets in every room, and takes them out of every byte."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from rooms.fragments.fragment import Fragment
from rooms.fragments.storage.sqlite import SqliteEngine
from tests.support.cli_process import TOKEN, Run
from tests.support.desk import Desk
from tests.support.room import a_room, act, every_byte, saved, stored

DATE = "2026-05-01T10:00:00+00:00"
KEPT = "damaged-20260101T000000000000Z"


class Held(NamedTuple):
    """A room in which one item is clean and one holds a secret."""

    desk: Desk
    name: str
    place: str  # what people call all of it
    path: Path
    shown: str
    item: str

    def scan(self, *words: str, **variables: str) -> Run:
        fragments = {"SENTINEL_MEMORY_FRAGMENTS": str(self.path)} if "memory" in self.shown else {}
        done = self.desk.run("scan", *words, **fragments, **variables)
        assert TOKEN not in done.out + done.errors
        return done

    @property
    def as_data(self) -> dict[str, object]:
        key = self.name.removesuffix("s")
        return {"path": self.shown, key: self.item, "kinds": ["github-token"]}

    @property
    def line(self) -> str:
        return f"{self.shown}: github-token in {self.name.removesuffix('s')} {self.item}"


@pytest.fixture(params=["sessions", "fragments"])
def held(request: pytest.FixtureRequest, desk: Desk, tmp_path: Path) -> Held:
    if request.param == "sessions":
        store = a_room(desk.root)
        saved(store, "Fix the login")
        session = stored(store, goal=f"Rotate {TOKEN}")
        act(store, session, f"export TOKEN={TOKEN}")
        saved(store, "Add a basket")
        store.database.close()
        shown = ".context/sessions/history.db"
        return Held(desk, "sessions", "sessions", store.path, shown, "#2")
    engine = SqliteEngine(tmp_path / "kept" / "memory.db", timeout_s=5)
    with engine.writing() as writing:
        for id_, content in (("aaaa", "Fix the login"), ("bbbb", f"Rotate {TOKEN}")):
            writing.add([Fragment(id=id_, content=content, created_at=DATE)])
    engine.close()
    place = "fragments (on this machine, over all projects)"
    return Held(desk, "fragments", place, engine.path, str(engine.path), "bbbb")


@pytest.mark.row("003 T91")
@pytest.mark.row("002 2.99")
def test_what_holds_a_secret_is_said_and_taken_out_of_every_byte(held: Held) -> None:
    done = held.scan()
    assert (done.code, done.errors) == (1, "")
    assert done.lines[-3:] == [
        held.line,
        f"Places with secrets among the {held.place}: 1.",
        f"Run python cli.py scan --redact to remove them from the log and from: {held.place}."
        " Rotate every real secret at its provider.",
    ]
    assert held.scan("--json").told[held.name] == [held.as_data]
    assert "에서 비밀 값이 있는 곳 1군데." in held.scan(SENTINEL_MEMORY_LANG="ko").out
    planned = held.scan("--redact", "--dry-run")
    asked_for = f"Places among the {held.place} from which secrets are to be removed: 1."
    assert planned.lines[:2] == [asked_for, f"  {held.line}"]
    assert held.scan("--redact").code == 1  # nobody is asked
    told = held.scan("--redact", "--json", "--dry-run").told
    assert told == {"would_redact": [], f"would_redact_{held.name}": [held.as_data]}
    assert TOKEN.encode() in every_byte(held.path.parent)
    done = held.scan("--redact", "--yes")
    last = "1. Rotate every real secret at its provider."
    assert done.lines == [f"Redacted among the {held.place}: 1", f"  {held.line}", last]
    assert TOKEN.encode() not in every_byte(held.path.parent)
    assert held.scan().code == 0
    told = held.scan("--redact", "--json", "--yes").told
    assert told == {"redacted": [], "left": [], held.name: [], f"{held.name}_left": []}


def test_a_damaged_database_is_named_and_hides_nothing_that_was_found_elsewhere(
    held: Held,
) -> None:
    kept = held.path.with_name(f"{held.path.name}.{KEPT}")
    kept.write_bytes(b"x")
    assert (
        f"{held.shown}.{KEPT}: not scanned, a damaged database that a repair has kept. Delete it"
        " once nothing is missing."
    ) in held.scan().lines
    for beside in held.path.parent.glob(f"{held.path.name}-*"):
        beside.unlink()
    held.path.write_bytes(b"no database " * 999)
    held.desk.write(json.dumps({"token": TOKEN}).encode() + b"\n")
    done = held.scan()
    assert (done.code, "memory_log.jsonl:1: github-token" in done.out) == (2, True)
    assert done.errors == (
        f"{held.shown}: damaged, so not scanned. Run python cli.py doctor --fix, then scan again.\n"
    )
    cleaned = held.scan("--redact", "--yes")
    assert (cleaned.code, cleaned.errors) == (2, done.errors)
    assert TOKEN.encode() not in held.desk.log.read_bytes()
