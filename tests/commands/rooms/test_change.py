"""Tests `forget` and `restore`: nothing goes or comes back unseen, in whatever room it is."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.store import MemoryStore
from rooms.fragments.room import Room as FragmentsRoom
from rooms.room import rooms_of
from rooms.sessions.session import NoSuchSessionError
from rooms.sessions.store import SessionStore
from tests.commands.rooms.test_read import opened
from tests.support.cli_process import Command, said_yes
from tests.support.git_clones import path_of, write
from tests.support.room import OLD, a_room, act, every_byte, saved
from tests.support.room_samples import RECORD, a_fragment, a_session, stored
from tests.support.samples import a_draft, a_record
from tests.support.session_samples import keep

NAMES = {"lessons": RECORD.id, "sessions": "#2", "fragments": "redis001"}
FATES = {
    "lessons": ("To delete: 1.", "Deleted: 1."),
    "sessions": ("To remove for good: 1. There is no way back.", "Removed: 1."),
    "fragments": (
        "To move into the bin, which keeps them for 30 days: 1.",
        "Moved into the bin: 1. `python cli.py restore redis001` takes one out.",
    ),
}


def there(command: Command) -> dict[str, list[str]]:
    """The ids in each room."""
    data = command("list", "--json").told
    return {name: [it["id"] for it in data[name]["items"]] for name in NAMES}


# nothing goes unseen


@pytest.mark.parametrize("owner", NAMES)
def test_what_goes_is_shown_first_and_somebody_has_to_agree(
    three: FragmentsRoom, command: Command, owner: str
) -> None:
    before, name = there(command), NAMES[owner]
    whole = command("show", name).out
    for options in ((), ("--dry-run",)):  # there is no terminal to confirm on
        done = command("forget", name, *options)
        assert (done.code, done.lines[0]) == (0 if options else 1, FATES[owner][0])
        assert whole in done.out
        assert there(command) == before
        refusal = "Nothing was changed: there is no terminal to confirm on."
        assert done.errors.startswith("" if options else refusal)
    done = command("forget", name, "--yes")
    assert (done.code, done.errors) == (0, "")
    assert FATES[owner][1] in done.lines
    after = there(command)
    assert len(after.pop(owner)) == len(before.pop(owner)) - 1
    assert after == before


@pytest.mark.parametrize("name", ["nobody12", "#9"])
def test_nothing_goes_where_one_id_names_nothing(
    three: FragmentsRoom, command: Command, name: str
) -> None:
    before = there(command)
    done = command("forget", *NAMES.values(), name, "--yes")
    assert (done.code, done.out, done.errors.startswith(f"{name}: ")) == (1, "", True)
    assert there(command) == before


def test_several_go_together_each_once(three: FragmentsRoom, command: Command) -> None:
    done = command("forget", *NAMES.values(), RECORD.token, "2", "--yes")
    assert (done.code, done.errors) == (0, "")
    assert [it for it in done.lines if ": 1" in it] == [
        *(FATES[room][0] for room in NAMES),
        *(FATES[room][1] for room in NAMES),
    ]
    assert there(command) == {"lessons": [], "sessions": [f"ctx_{1:012x}"], "fragments": []}


def test_of_two_records_with_one_id_only_a_version_id_names_one(
    project: Path, command: Command
) -> None:
    other = a_record("-x gap", topic="auth")
    twin = replace(a_record("x gap", topic="auth-"), id=other.id)
    write(project, other, twin)
    done = command("forget", other.id, "--yes")
    assert (done.code, done.out) == (1, "")
    assert done.errors.startswith(
        f"{other.id}: several records share this id: {other.token} [auth]"
    )
    assert len(command("show", other.id, "--json").told["lessons"]["items"]) == 2
    assert command("forget", other.token, "--yes").code == 0
    assert [it.topic for it in MemoryStore(path_of(project)).read_all()] == ["auth-"]


# what changed since it was shown stays


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
def test_a_record_that_was_updated_while_somebody_looked_stays(project: Path) -> None:
    first, second = a_record(), a_record("another gap")
    write(project, first, second)
    store = MemoryStore(path_of(project))
    words = ("forget", first.id, second.id)
    code, errors = said_yes(*words, meanwhile=lambda: store.upsert_log(a_draft()))
    assert code == 1
    kept = f"Changed or removed in the meantime, so left unchanged: {first.id}."
    assert errors.startswith(kept)
    assert [it.id for it in MemoryStore(path_of(project)).read_all()] == [first.id]


def _say_more(project: Path, room: FragmentsRoom) -> dict[str, Callable[[], Any]]:
    """What changes the thing of each room."""

    def amend() -> None:
        with room.engine.writing() as writing:
            writing.replace([replace(stored(room)["redis001"], content="Another text.")])

    return {
        "lessons": lambda: MemoryStore(path_of(project)).upsert_log(
            a_draft(RECORD.missing_context, topic=RECORD.topic, lesson="Something else")
        ),
        "sessions": lambda: saved(a_room(project), "Move redis to the new host 2", id="#2"),
        "fragments": amend,
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_item_is_forgotten_in_the_version_that_was_shown(
    three: FragmentsRoom, project: Path, command: Command, name: str
) -> None:
    [room] = rooms_of(opened(project), [name])
    shown = room.named(NAMES[name])
    _say_more(project, three)[name]()
    done = room.forget(shown, hard=False)
    assert ([*done.items], [it.id for it in done.stayed]) == ([], [shown[0].id])
    assert room.named(NAMES[name])[0].version != shown[0].version
    assert room.forget(room.named(NAMES[name]), hard=False).items
    assert room.forget(shown, hard=False).stayed == shown  # one that is gone is none of a second


def test_to_recall_a_fragment_does_not_change_it(three: FragmentsRoom, project: Path) -> None:
    [room] = rooms_of(opened(project), ["fragments"])
    shown = room.named("redis001")
    with three.engine.writing() as writing:
        writing.touch([1], {"access_count": 5, "tier": "warm"})
    assert room.forget(shown, hard=False).items


# sessions


@pytest.fixture
def old_store(project: Path) -> SessionStore:
    """An old session that has ended, and a new one that continues it."""
    old_store = a_room(project)
    first = saved(old_store, "Feed the zebra", OLD, summary="It eats hay.")
    act(old_store, first, "npm run zebra")
    saved(old_store, "Feed the foal", parent=first.id)
    return old_store


@pytest.mark.long  # it costs much
def test_a_session_is_gone_from_every_byte(
    old_store: SessionStore, command: Command, state: Path
) -> None:
    command("sessions", "share")
    planned = command("forget", "#1", "--dry-run")
    assert "  goal: Feed the zebra" in planned.lines
    assert "  chain: #1, #2" in planned.lines
    assert "npm run zebra" in planned.out
    done = command("forget", "#1", "--yes")
    assert (done.code, done.lines[-1], done.errors) == (0, "Removed: 1.", "")
    assert b"zebra" not in every_byte(old_store.root, state)
    assert old_store.get("2").parent_id == ""
    with pytest.raises(NoSuchSessionError):
        old_store.get("1")
    refused = command("restore", "#1", "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert refused.errors.startswith("#1: a session that was removed is gone for good.")


def test_an_archived_session_is_shown_by_none_and_says_where_it_went(
    old_store: SessionStore, command: Command
) -> None:
    command("sessions", "archive", "--before", "2999-01-01", "--yes")
    for words in (("show", "1"), ("forget", "#1", "--yes")):
        refused = command(*words)
        assert (refused.code, "was archived on" in refused.errors) == (1, True)


@pytest.mark.long
def test_bytes_that_another_process_holds_are_said(
    old_store: SessionStore, command: Command
) -> None:
    with closing(sqlite3.connect(old_store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        done = command("forget", "#1", "--yes")
    assert (done.code, done.lines[-1]) == (1, "Removed: 1.")
    assert done.errors == (
        f"{old_store.path}: the bytes of what was removed are still in this file, because another"
        " process reads it or there is no room. End the clients that use this project, then run"
        " python cli.py scan --redact.\n"
    )
    command("scan", "--redact")
    assert b"zebra" not in every_byte(old_store.root)


# fragments


def test_a_fragment_goes_into_the_bin_and_comes_back(
    three: FragmentsRoom, command: Command
) -> None:
    assert command("forget", "redis001", "--yes").code == 0
    assert stored(three)["redis001"].deletion == "forgotten"
    assert "in the bin since " in " ".join(command("show", "redis001").out.split())
    again = command("forget", "redis001", "--yes")
    assert (again.code, again.errors) == (
        1,
        "redis001: this fragment is in the bin already. Nothing was changed. Remove it for good"
        " with `python cli.py forget redis001 --hard`\n",
    )
    for options in ((), ("--dry-run",)):
        planned = command("restore", "redis001", *options)
        assert (planned.code, planned.lines[0]) == (0 if options else 1, "To bring back: 1.")
        assert stored(three)["redis001"].deleted_at
    assert command("restore", "redis001", "--yes").lines[0] == "Brought back: 1."
    assert stored(three)["redis001"].is_live
    known = command("restore", "redis001")
    assert known.lines == ["redis001: recall finds this fragment. There is nothing to do."]
    assert command("forget", "redis001", "--hard", "--yes").lines[-1] == "Removed: 1."
    assert stored(three) == {}


def test_what_has_a_successor_comes_back_into_recall(
    three: FragmentsRoom, command: Command
) -> None:
    with three.engine.writing() as writing:
        writing.add([replace(a_fragment("redis002", "Old."), superseded_at=RECORD.created)])
    assert command("restore", "redis002", "--yes").code == 0
    assert stored(three)["redis002"].is_live


def test_what_is_pinned_is_not_forgotten(three: FragmentsRoom, command: Command) -> None:
    with three.engine.writing() as writing:
        pinned = replace(a_fragment("redis002", "Pinned."), is_anchor=True, tier="permanent")
        writing.add([pinned])
    for more in ((), ("--hard",)):
        named = command("forget", "redis001", "redis002", *more, "--yes")
        assert (named.code, named.out) == (1, "")
        assert named.errors == (
            "redis002: this fragment is pinned. Nothing was removed. Unpin it with"
            " `python cli.py fragments unpin redis002`, then repeat the command.\n"
        )
    assert stored(three)["redis001"].is_live


def test_a_lesson_cannot_be_removed_for_good(
    three: FragmentsRoom, project: Path, log: bytes, command: Command
) -> None:
    refused = command("forget", "redis001", RECORD.id, "--hard", "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert refused.errors.startswith(f"{RECORD.id}: a lesson stays beside the log and in git")
    assert path_of(project).read_bytes() == log
    assert stored(three)["redis001"].is_live


def test_a_fragment_is_found_to_be_restored_beside_a_log_without_git(
    three: FragmentsRoom, sessions: SessionStore, command: Command
) -> None:
    keep(sessions, [(a_session(3), [])])
    assert command("forget", RECORD.id, "redis001", "--yes").code == 0
    assert command("restore", "redis001", "--yes").code == 0
    assert command("restore", RECORD.id[:6], "--yes").code == 0
    assert [RECORD.id] == there(command)["lessons"]
    unknown = command("restore", "nobody12", "--yes")
    assert (unknown.code, unknown.out) == (1, "")
