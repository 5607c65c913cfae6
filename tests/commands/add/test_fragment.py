"""Tests how a person makes a lesson of a fragment, and takes both steps back."""

from functools import partial
from pathlib import Path

import pytest

from core.project import find_project
from core.settings import Settings
from core.store import MemoryStore, open_store
from rooms.fragments.recall.recalling import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.saving.linking import link
from tests.support.cli_process import TOKEN, Command
from tests.support.fragments_room import a_room, saved


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    folder = tmp_path / "data"
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(folder / "memory.db"))
    return a_room(folder)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".context").mkdir(parents=True)
    (folder / ".context/memory_log.jsonl").touch()
    return folder


@pytest.fixture
def store(project: Path) -> MemoryStore:
    return open_store(find_project(str(project), {}, project), Settings())


@pytest.fixture
def pair(room: Room) -> tuple[str, str]:
    """An error and its cure."""
    error = saved(room, "The deploy serves the old bundle", type="error", topic="deploy")
    cure = saved(room, "Purge the cache before a deploy", type="procedure", topic="deploy")
    link(room, error.id, cure.id, "resolved_by")
    return error.id, cure.id


def recalled(room: Room) -> list[str]:
    return [it.id for it in recall(room, Query(text="deploy cache bundle")).fragments]


@pytest.fixture
def add(command: Command, project: Path) -> Command:
    """Carries out `add --fragment ID` in the project."""
    return partial(command, "add", "-p", str(project), "--fragment")


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.3.b")
def test_an_error_and_its_cure_become_a_lesson_and_a_fragment_again(
    add: Command, command: Command, room: Room, project: Path, store: MemoryStore,
    pair: tuple[str, str],
) -> None:  # fmt: skip
    error, cure = pair
    shown = add(error, "--dry-run")
    assert shown.code == 0, shown.errors
    assert store.read().count == 0
    assert set(recalled(room)) == {*pair}
    done = add(f"`{error}`", "--yes")
    assert done.code == 0, done.errors
    [record] = store.read().records
    assert record.texts[:3] == (
        *("deploy", "The deploy serves the old bundle", "Purge the cache before a deploy"),
    )
    assert f"fragments restore {error}" in done.out
    assert recalled(room) == [cure]
    again = add(error, "--yes")
    assert (again.code, store.read().count) == (0, 1)
    assert f"it is the lesson {record.id} already" in again.out
    told = " ".join(command("fragments", "show", error).out.split())
    assert f"record {record.id}; recall leaves it out" in told
    assert command("fragments", "restore", error).code == 0
    assert set(recalled(room)) == {*pair}
    assert store.read().records == [record]
    assert command("forget", record.id, "-p", str(project), "--yes").code == 0
    assert store.read().count == 0
    assert add(error, "--yes").code == 0  # and once more
    assert [it.id for it in store.read().records] == [record.id]


def test_what_a_fragment_does_not_say_must_be_given(
    add: Command, room: Room, store: MemoryStore
) -> None:
    lone = saved(room, "Run make restart after a rotation", type="procedure", topic="redis")
    refused = add(lone.id, "--yes")
    assert refused.code == 2
    assert "--missing" in refused.errors
    assert store.read().count == 0
    given = ("--missing", "How the worker gets the password", "--path", "ops/**", "--topic", "ops")
    assert add(lone.id, *given, "--yes").code == 0
    [record] = store.read().records
    assert (record.topic, record.paths) == ("ops", ("ops/**",))
    assert record.lesson == lone.content


def test_the_logs_own_door_redacts_and_refuses(
    add: Command, room: Room, store: MemoryStore, pair: tuple[str, str]
) -> None:
    assert add(pair[0], "--lesson", f"Use the token {TOKEN}", "--yes").code == 0
    [record] = store.read().records
    assert TOKEN not in record.lesson
    lone = saved(room, "Fees are rounded down", type="procedure")
    refused = add(lone.id, "--missing", "x" * 1_025, "--yes")
    assert refused.code == 1
    assert [it.id for it in recall(room, Query(text="fees rounded")).fragments] == [lone.id]


@pytest.mark.long  # it costs much
def test_the_cure_of_a_lesson_joins_its_record(
    add: Command, room: Room, store: MemoryStore, pair: tuple[str, str]
) -> None:
    error, cure = pair
    add(error, "--yes")
    before = store.read().records
    joined = add(cure, "--yes")
    assert (joined.code, store.read().records) == (0, before)
    assert recalled(room) == []


@pytest.mark.long  # it costs much
def test_a_lesson_that_the_log_has_is_joined_and_nothing_is_asked(
    add: Command, command: Command, room: Room, project: Path, store: MemoryStore
) -> None:
    lone = saved(room, "Run make restart after a rotation", type="procedure", topic="redis")
    texts = ("--topic", "ops", "--missing", "How the worker comes back", "--lesson")
    there = command("add", *texts, "Run make  restart after a rotation", "-p", str(project), "-y")
    assert there.code == 0
    before = store.read().records
    shown = add(lone.id, "--dry-run")
    assert (shown.code, room_ids(room)) == (0, [lone.id])
    assert "The log has this lesson already" in shown.out
    assert (add(lone.id, "--yes").code, room_ids(room)) == (0, [])
    assert before[0].id in command("fragments", "show", lone.id).out
    assert (command("fragments", "restore", lone.id).code, room_ids(room)) == (0, [lone.id])
    assert store.read().records == before
    assert add(lone.id, "--missing", "What to do after a rotation", "--yes").code == 0
    assert store.read().count == 2  # who says what was missing wants a record


def room_ids(room: Room) -> list[str]:
    return [it.id for it in recall(room, Query(text="restart rotation")).fragments]


def test_unknown_and_superseded_fragments_are_refused(
    add: Command, room: Room, store: MemoryStore, pair: tuple[str, str]
) -> None:
    unknown = add("nosuch99", "--yes")
    assert unknown.code == 1
    assert "there is no such fragment" in unknown.errors
    assert "`python cli.py fragments` lists them" in unknown.errors
    assert set(recalled(room)) == {*pair}
    link(room, pair[0], pair[1], "superseded_by")
    superseded = add(pair[0], "--yes")
    assert (superseded.code, store.read().count) == (1, 0)
    assert "superseded" in superseded.errors
