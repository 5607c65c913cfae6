"""Tests the way of a fragment into the memory log of a project, and back, as a person goes it."""

from pathlib import Path

import pytest

from core.lessons.record import Draft
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


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.3.b")
def test_an_error_and_its_cure_become_a_lesson_and_a_fragment_again(
    command: Command, room: Room, project: Path, store: MemoryStore, pair: tuple[str, str]
) -> None:
    error, cure = pair
    shown = command("promote", error, "-p", str(project), "--dry-run")
    assert shown.code == 0, shown.errors
    assert store.read().count == 0
    assert set(recalled(room)) == {*pair}
    done = command("promote", f"`{error}`", "-p", str(project), "--yes")
    assert done.code == 0, done.errors
    [record] = store.read().records
    assert record.texts[:3] == (
        *("deploy", "The deploy serves the old bundle", "Purge the cache before a deploy"),
    )
    assert f"promote --undo {error}" in done.out
    assert recalled(room) == [cure]
    again = command("promote", error, "-p", str(project), "--yes")
    assert (again.code, store.read().count) == (0, 1)
    assert f"it is the lesson {record.id} already" in again.out
    assert record.id in command("fragments", "show", error).out
    back = command("promote", "--undo", error, "-p", str(project), "--yes")
    assert (back.code, store.read().count) == (0, 0)
    assert f"{error} is a fragment again." in back.out
    assert set(recalled(room)) == {*pair}
    twice = command("promote", "--undo", error, "-p", str(project), "--yes")
    assert twice.code == 1
    assert "it is no lesson of a memory log" in twice.errors


def test_what_a_fragment_does_not_say_must_be_given(
    command: Command, room: Room, project: Path, store: MemoryStore
) -> None:
    lone = saved(room, "Run make restart after a rotation", type="procedure", topic="redis")
    refused = command("promote", lone.id, "-p", str(project), "--yes")
    assert refused.code == 2
    assert "--missing" in refused.errors
    assert store.read().count == 0
    given = ("--missing", "How the worker gets the password", "--path", "ops/**", "--topic", "ops")
    assert command("promote", lone.id, *given, "-p", str(project), "--yes").code == 0
    [record] = store.read().records
    assert (record.topic, record.paths) == ("ops", ("ops/**",))
    assert record.lesson == lone.content


def test_the_logs_own_door_redacts_and_refuses(
    command: Command, room: Room, project: Path, store: MemoryStore, pair: tuple[str, str]
) -> None:
    given = ("--lesson", f"Use the token {TOKEN}")
    assert command("promote", pair[0], *given, "-p", str(project), "--yes").code == 0
    [record] = store.read().records
    assert TOKEN not in record.lesson
    lone = saved(room, "Fees are rounded down", type="procedure")
    long = ("--missing", "x" * 1_025)
    refused = command("promote", lone.id, *long, "-p", str(project), "--yes")
    assert refused.code == 1
    assert [it.id for it in recall(room, Query(text="fees rounded")).fragments] == [lone.id]


@pytest.mark.long  # it costs much
def test_a_record_that_was_there_or_was_changed_stays(
    command: Command, room: Room, project: Path, store: MemoryStore, pair: tuple[str, str]
) -> None:
    error, cure = pair
    command("promote", error, "-p", str(project), "--yes")
    [record] = store.read().records
    joined = command("promote", cure, "-p", str(project), "--yes")
    assert (joined.code, store.read().count) == (0, 1)
    assert recalled(room) == []
    back = command("promote", "--undo", cure, "-p", str(project), "--yes")
    assert (back.code, store.read().count) == (0, 1)
    assert f"Record {record.id} stays in the log" in back.out
    texts = ("--topic", "deploy", "--missing", record.missing_context, "--lesson", "Other")
    assert command("add", *texts, "-p", str(project), "--yes").code == 0
    back = command("promote", "--undo", error, "-p", str(project), "--yes")
    assert [it.lesson for it in store.read().records] == ["Other"]
    assert f"Record {record.id} stays in the log" in back.out


@pytest.mark.long  # it costs much
def test_a_lesson_that_the_log_has_is_joined_and_nothing_is_asked(
    command: Command, room: Room, project: Path, store: MemoryStore
) -> None:
    lone = saved(room, "Run make restart after a rotation", type="procedure", topic="redis")
    texts = ("--topic", "ops", "--missing", "How the worker comes back", "--lesson")
    there = command("add", *texts, "Run make  restart after a rotation", "-p", str(project), "-y")
    assert there.code == 0
    before = store.read().records
    shown = command("promote", lone.id, "-p", str(project), "--dry-run")
    assert (shown.code, room_ids(room)) == (0, [lone.id])
    assert "The log has this lesson already" in shown.out
    done = command("promote", lone.id, "-p", str(project), "--yes")
    assert (done.code, room_ids(room)) == (0, [])
    back = command("promote", "--undo", lone.id, "-p", str(project), "--yes")
    assert (back.code, room_ids(room)) == (0, [lone.id])
    assert f"Record {before[0].id} stays in the log" in back.out
    assert store.read().records == before
    given = ("--missing", "What to do after a rotation", "--yes")
    assert command("promote", lone.id, *given, "-p", str(project)).code == 0
    assert store.read().count == 2  # who says what was missing wants a record


def room_ids(room: Room) -> list[str]:
    return [it.id for it in recall(room, Query(text="restart rotation")).fragments]


def test_what_was_merged_into_a_principle_stays_there_and_is_named(
    command: Command, room: Room, project: Path, store: MemoryStore, pair: tuple[str, str]
) -> None:
    command("promote", pair[0], "-p", str(project), "--yes")
    [record] = store.read().records
    draft = Draft(type="principle", topic="deploy", missing_context="", lesson="Purge caches")
    principle = store.upsert_log(draft, [record.token]).record
    back = command("promote", "--undo", pair[0], "-p", str(project), "--yes")
    assert back.code == 0, back.errors
    assert f"Record {record.id} was merged into the principle {principle.id}" in back.out
    assert [it.id for it in store.read().records] == [principle.id]
    assert set(recalled(room)) == {*pair}


@pytest.mark.long  # it costs much
def test_in_another_project_only_the_fragment_comes_back(
    command: Command, room: Room, project: Path, store: MemoryStore, tmp_path: Path,
    pair: tuple[str, str],
) -> None:  # fmt: skip
    command("promote", pair[0], "-p", str(project), "--yes")
    other = tmp_path / "blog"
    (other / ".context").mkdir(parents=True)
    back = command("promote", "--undo", pair[0], "-p", str(other), "--yes")
    assert back.code == 0, back.errors
    assert "is not in the log of this project" in back.out
    assert store.read().count == 1


@pytest.mark.parametrize("option", [("--topic", "x"), ("--lesson", "x"), ("--path", "a")])
def test_undoing_takes_no_texts(
    command: Command, room: Room, project: Path, option: tuple[str, str]
) -> None:
    refused = command("promote", "--undo", "x", *option, "-p", str(project))
    assert refused.code == 2
    assert option[0] in refused.errors


def test_unknown_fragments_and_no_log_are_said(
    command: Command, room: Room, project: Path, tmp_path: Path, pair: tuple[str, str]
) -> None:
    unknown = command("promote", "nosuch99", "-p", str(project), "--yes")
    assert unknown.code == 1
    assert "there is no such fragment" in unknown.errors
    assert "`python cli.py fragments` lists them" in unknown.errors
    assert set(recalled(room)) == {*pair}
