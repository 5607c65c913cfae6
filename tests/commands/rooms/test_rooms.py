"""Tests that commands for rooms print, load, save and forget, where no story can say it."""

import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rooms
from commands.rooms.lesson import HEADING, edit_record, editor_in, sections_in, text_for_editor
from commands.rooms.read import table_lines
from commands.terminal.screen import Screen, cells, without_colours
from core.config import Settings, find_project
from core.errors import RefusedError
from core.lessons.record import LIMITS_BYTES
from core.store import MemoryStore, open_store
from rooms.fragments.for_people import ForPeople as Fragments
from rooms.fragments.fragment import Link, Version
from rooms.fragments.room import Room, open_room
from rooms.lessons import item_of
from rooms.room import LESSONS, Filter, Memory, rooms_of
from rooms.sessions.search import shared_roots
from rooms.sessions.session import Action, NoSuchSessionError, Point
from rooms.sessions.store import open_sessions
from tests.stories.story import Story, held, read_stories
from tests.support.cli_process import TOKEN, Command, Desk, GoodRun, Run
from tests.support.fragments_room import stored
from tests.support.git_clones import path_of, store_of, write
from tests.support.room_samples import RECORD, a_fragment, a_session, keep_fragments
from tests.support.samples import a_draft, a_record
from tests.support.sentences import raised
from tests.support.session_samples import OLD, a_room, act, every_byte, keep, saved
from tests.support.tables import ROOT

SETTINGS = Settings()
NAMES = {"lessons": RECORD.id, "sessions": "#2", "fragments": "redis001"}
VAT = a_record(ask_next_time="어느 국가에서 파나요?", when=["vat_of(", "tax, all"])
REFUND = a_record("환불 기한", topic="결제-환불", lesson="환불은 7일 안에만. 부분 환불은 다르다.")


def opened(root: Path) -> Memory:
    project = find_project(str(root), {}, root)
    return Memory(project=project, settings=SETTINGS, store=open_store(project, SETTINGS))


# lists


def test_colours_change_nothing_but_the_colour_and_an_id_is_as_long_as_it_must() -> None:
    items = [item_of(record) for record in (VAT, REFUND)]
    for width in (40, 60, 80, 200):
        plain = table_lines(items, Screen(width=width), "tax 환불")
        coloured = table_lines(items, Screen(width=width, colours=True), "tax 환불")
        assert [without_colours(line) for line in coloured] == plain
    assert coloured[0].startswith("\x1b[1m")
    assert coloured[2].count("\x1b[33m환불\x1b[0m") == 3  # its topic, and twice in its text
    assert "\x1b[33m" not in coloured[1].partition("payment")[0]
    twins = [replace(VAT, id=VAT.id[:8] + digit * 8) for digit in "01"]  # with longer ids
    lines = table_lines([*map(item_of, twins)], Screen(width=80))
    assert [line.split()[0] for line in lines[1:]] == [item.id for item in twins]
    wide = table_lines([item_of(replace(VAT, id="가" * 16))], Screen(width=20))
    assert wide[0].startswith("  가가가…  ")


@pytest.mark.long  # it measures time
def test_a_short_list_reads_few_of_many_sessions(project: Path, command: Command) -> None:
    many = [a_session(at, updated_at=OLD) for at in range(1, 5_001)]
    keep(open_sessions(project, SETTINGS), [(session, []) for session in many])

    def took(limit: int) -> float:
        began = time.process_time()
        text = command("list", "--room", "sessions", "--limit", f"{limit}").out
        assert f"#{5_001 - limit} " in text and f"{limit:,} of 5,000" in text
        return time.process_time() - began

    took(1)  # the first one loads modules
    assert 30 * min(took(5), took(5)) <= took(5_000)


@pytest.mark.long  # it costs much
def test_a_terminal_gets_colours_the_newest_25_and_the_command_for_the_rest(project: Path) -> None:
    write(project, *[a_record(f"gap {number}") for number in range(30)])
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    words = ("list", "--topic", "payment")
    done = GoodRun.at_terminal(*words, environment={**environment, "TERM": "xterm"})
    assert done.lines[0].startswith("\x1b[1m")
    assert done.lines[26:] == [
        "Lessons: 25 of 30, the newest first.",
        "… 5 more: `python cli.py list --topic payment --room lessons --limit 30`",
    ]
    assert len(GoodRun.at_terminal("list", "--limit", "28").lines) == 31
    elsewhere = GoodRun.started("list", environment=environment)
    assert ("\x1b" in elsewhere.out, len(elsewhere.lines)) == (False, 32)
    assert max(map(cells, elsewhere.lines)) <= 80


AGES_H = {"hour": 0.5, "day": 20, "week": 24 * 6, "month": 24 * 29, "year": 24 * 360, "old": 10_000}
SINCE = {"1h": 1, "24h": 2, "1d": 2, "7d": 3, "1w": 3, "1m": 4, "1y": 5, "9y": 6}


def test_a_list_reads_only_the_beginning_of_a_text_that_no_save_takes(project: Path) -> None:
    write(project, record := replace(VAT, lesson="vat " * 100_000))
    [room] = rooms_of(opened(project), [LESSONS])
    [item], [whole] = (room.find(Filter(is_brief=is_brief)).items for is_brief in (True, False))
    assert item.version == record.version_id
    assert len(item.data["lesson"]) < 10_000 < len(whole.data["lesson"])


def test_since_counts_back_from_now(command: Command, project: Path) -> None:
    moments = {gap: datetime.now(UTC) - timedelta(hours=hours) for gap, hours in AGES_H.items()}
    write(project, *(a_record(gap, now=moment.isoformat()) for gap, moment in moments.items()))
    for since, count in SINCE.items():
        items = command("list", "--since", since, "--json").told["lessons"]["items"]
        assert [item["missing_context"] for item in items] == list(AGES_H)[:count], since


DEFAULT_PLACE = ".local/share/sentinel-memory/memory.db"
PLACES = ("", "  ", "{}/memory.db", "{}", "{}/other.db", " {}/other.db ", "~/other.db", "{}/none/x")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", ["", "memory.db", "other.db", DEFAULT_PLACE])
def test_the_file_is_that_of_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    if name:
        keep_fragments(tmp_path / name, []).close()
    for place in PLACES:
        monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", place.format(tmp_path))
        if sys.platform == "linux" or place.strip():
            room = open_room(SETTINGS, os.environ)
            assert Fragments(opened(tmp_path)).is_there() == room.engine.exists(), place
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", "relative/memory.db")
    assert Fragments(opened(tmp_path)).is_there()  # the room refuses it


LOADED = """
import sys, cli
for words in sys.argv[1:]:
    cli.main(words.split())
loaded = {"rooms.sessions.store", "rooms.fragments.room", "sqlite3"} & set(sys.modules)
print(sorted(loaded), file=sys.stderr)
"""


@pytest.mark.long  # it costs much
def test_a_room_is_loaded_only_where_it_is(log: bytes, project: Path) -> None:
    def loaded(*lines: str) -> str:
        words = (sys.executable, "-c", LOADED, *lines)
        done = Run.process(*words, cwd=project, environment={**os.environ, "PYTHONPATH": str(ROOT)})
        assert done.code == 0
        return done.errors.splitlines()[-1]

    lines = ["list", "search redis", f"show {RECORD.id}", f"forget {RECORD.id} -n", "list --json"]
    assert loaded(*lines) == "[]"
    keep(open_sessions(project, SETTINGS), [(a_session(1), [])])
    for line in lines:
        assert loaded(line) == "['rooms.sessions.store', 'sqlite3']", line


# texts that must not be printed

BAD_SIGNS = "\x1b\u202e\r\x00\u2028"
HOSTILE = "a\x1b[31m\nb\u202e ##vso[task.x]\r\x00\u2028c"
TEXTS: dict[str, Any] = {"hostile": HOSTILE, "secret": f"the key is {TOKEN}"}
SHOWING = (
    *("list", "search word", f"show {VAT.id} 1 hostile1", f"show {VAT.id} hostile1 --versions"),
    *("show redis001", f"forget {VAT.id} 1 hostile1 -n", "list --topic \x1b[31m"),
    *("show \x1b[31m##vso[x]", f"forget {VAT.id} 1 hostile1 --yes", "list --forgotten"),
    *(f"restore {VAT.id} -n", f"restore {VAT.id} --yes", "restore hostile1 --yes"),
)


@pytest.mark.parametrize("kind", [pytest.param("hostile", marks=pytest.mark.long), "secret"])
def test_a_text_that_a_hand_put_into_a_room_is_shown_without_controls_and_secrets(
    project: Path, room: Room, command: Command, kind: str
) -> None:
    text = TEXTS[kind]
    fields = {it: f"{text} word" for it in ("topic", "lesson", "missing_context", "ask_next_time")}
    record = replace(VAT, **fields, paths=(f"src/{text}",), when=("refund(", text))  # type: ignore[arg-type]
    write(project, record)
    session = a_session(1, goal=f"{text} word", summary=text, agent=text, status=text)
    session = replace(session, tags=(text,), blockers=(Point(text=text),))
    action = Action(id="a1", kind=text, content=text, result=text, created_at=text)
    keep(open_sessions(project, SETTINGS), [(session, [action])])
    about: dict[str, Any] = {"topic": text, "keywords": (text,), "source": text, "agent": text}
    with room.engine.writing() as writing:
        writing.add([replace(a_fragment("hostile1", f"{text} word"), **about)])
        writing.put_links([Link(from_id="hostile1", to_id="redis001")])
        writing.put_entries([Version(fragment_id="hostile1", content=text, amended_by=text)])
    assert record.version_id in command("show", VAT.id).out
    for words in SHOWING:
        for more in [()] if words.startswith(("forget", "restore")) else [(), ("--json",)]:
            done = command(*words.split(), *more)
            output = done.out + done.errors
            assert output and TOKEN not in output, words
            assert not set(BAD_SIGNS) & set(output), words
            assert more or "##vso[" not in output, words
            assert done.code == ("\x1b" in words and not words.startswith("list")), words


# an item that changed since it was shown stays


def test_a_record_that_changed_while_somebody_looked_is_not_forgotten_or_restored_over(
    project: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = a_record(), a_record("another gap")
    write(project, first, second)
    store = MemoryStore(path_of(project))
    stayed = f"Changed or removed in the meantime, so left unchanged: {first.id}."
    for lesson, words in (
        ("one", ("forget", first.id, second.id)),
        ("two", ("restore", first.version_id)),
    ):

        def says_yes(lesson: str = lesson) -> str:
            store.upsert_log(a_draft(lesson=lesson))
            return "y"

        monkeypatch.setattr("builtins.input", says_yes)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        done = command(*words)
        expected = stayed if lesson == "one" else first.id
        assert (done.code, expected in done.errors) == (1, True)
        assert [record.lesson for record in store.read().records] == [lesson]


@pytest.mark.parametrize("name", NAMES)
def test_the_version_that_was_shown_is_forgotten(
    three: Room, project: Path, command: Command, name: str
) -> None:
    def amend() -> None:
        with three.engine.writing() as writing:
            writing.replace([replace(*stored(three, "redis001"), content="Another text.")])

    draft = a_draft(RECORD.missing_context, topic=RECORD.topic, lesson="Something else")
    changes: dict[str, Callable[[], object]] = {
        "lessons": lambda: MemoryStore(path_of(project)).upsert_log(draft),
        "sessions": lambda: saved(a_room(project), "Move redis to the new host 2", id="#2"),
        "fragments": amend,
    }
    [room] = rooms_of(opened(project), [name])
    items = room.find_by_name(NAMES[name])
    changes[name]()
    done = room.forget(items, hard=False)
    assert [item.id for item in done.changed_items] == [items[0].id]
    now = room.find_by_name(NAMES[name])
    assert now[0].version != items[0].version
    with three.engine.writing() as writing:  # to recall a fragment does not change it
        writing.set_fields([1], {"access_count": 5, "tier": "warm"})
    assert room.forget(now, hard=False).changed_items == []
    assert room.forget(items, hard=False).changed_items == items  # it is gone already


# sessions


@pytest.mark.long  # it costs much
def test_a_session_is_gone_from_every_byte(project: Path, command: Command, state: Path) -> None:
    """An old session that has ended, and a new one that continues it."""
    store = a_room(project)
    first = saved(store, "Feed the zebra", OLD, summary="It eats hay.")
    act(store, first, "npm run zebra")
    saved(store, "Feed the foal", parent=first.id)
    command("sessions", "share")
    planned = command("forget", "#1", "--dry-run")
    assert {"  goal: Feed the zebra", "  chain: #1, #2"} <= {*planned.lines}
    assert "npm run zebra" in planned.out
    with closing(sqlite3.connect(store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        done = command("forget", "#1", "--yes")
    assert (done.code, done.lines[-1]) == (1, "Removed: 1.")
    assert done.errors == (
        f"{store.path}: the bytes of what was removed are still in this file, because another"
        " process reads it or there is no room. End the clients that use this project, then run"
        " python cli.py scan --redact.\n"
    )
    command("scan", "--redact")
    assert b"zebra" not in every_byte(store.root, state)
    with pytest.raises(NoSuchSessionError):
        store.get("1")
    assert store.get("2").parent_id == ""
    done = command("forget", "#2", "--yes")  # while nobody reads
    assert (done.code, done.lines[-1], done.errors) == (0, "Removed: 1.", "")
    assert b"foal" not in every_byte(store.root, state)


def test_a_repository_cannot_share_by_a_file_it_carries(project: Path, state: Path) -> None:
    store = open_sessions(project, SETTINGS)
    keep(store, [(a_session(1), [])])
    for name in ("sessions-are-shared", "share"):
        (store.path.parent / name).write_text(str(store.root), encoding="utf-8")
    (store.path.parent / "config.json").write_text('{"share": true}', encoding="utf-8")
    keep(store, [(a_session(5), [])])
    assert shared_roots(store.root, os.environ) == []
    assert not state.exists()


# a renamed topic


def test_a_renaming_that_would_join_or_hide_a_record_is_refused(project: Path) -> None:
    pair = a_record("one"), a_record("two")
    other, billed = a_record(topic="billing"), a_record("ing gap", topic="bill")
    write(project, other, *pair, billed, VAT, a_record(" gap"))
    before, store = path_of(project).read_bytes(), store_of(project)
    gap, spaced = VAT.missing_context, a_record(" gap")
    moved = {record.version_id: replace(record, topic="x", missing_context=gap) for record in pair}
    for key, changed in (
        ("same_gap", {VAT.version_id: replace(VAT, topic="billing")}),
        ("same_gap", moved),
        ("record_changed", {f"{pair[0].id}@000000": replace(pair[0], topic="x")}),
        ("id_collision", {spaced.version_id: replace(spaced, topic="billing")}),
    ):
        with raised(RefusedError, key):
            store.renew(changed, join=False)
    assert path_of(project).read_bytes() == before


# a lesson that a person saves or corrects

EDITED = a_record(ask_next_time="어느 국가?", paths=["src/**"], when=["vat_of(", "tax, all"])


def test_a_lesson_is_saved_under_the_version_id_that_was_shown(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = "2026-03-02T09:00:00+00:00"  # the clock goes on while a person decides
    monkeypatch.setattr("commands.rooms.lesson.utc_now", lambda: moment)
    done = command("add", "--topic", "ci", "--missing", "Node", "--lesson", "Use 22", "--yes")
    [record] = store_of(project).read().records
    assert record.created == moment
    assert set(re.findall(r"[0-9a-f]{16}@[0-9a-f]{6}", done.out)) == {record.version_id}


def test_an_editor_for_whose_text_there_is_no_place_is_not_opened(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = store_of(project).upsert_log(a_draft("gap")).record
    monkeypatch.setenv("VISUAL", "true")
    monkeypatch.setattr("tempfile.tempdir", str(project / "absent"))
    assert "absent/sentinel-memory-" in command("edit", record.id).errors


@pytest.mark.long  # it costs much
def test_at_a_terminal_two_questions_are_asked_and_no_typing_is_lost(desk: Desk) -> None:
    desk.write(a_record("gap", topic="node"), a_record("other gap", topic="ci"))
    answer = "Which node CI has\nUse 22\n"  # names a topic that there is
    done = Run.at_terminal("add", answer=f"{answer}y\n", **desk.place())
    assert (done.code, done.errors) == (0, "")
    record = MemoryStore(desk.log).read().records[-1]
    assert (record.topic, record.missing_context) == ("node", "Which node CI has")
    assert record.lesson == "Use 22"
    before = desk.files()
    done = Run.at_terminal("add", answer=f"What?\n{'가' * 342}\nbuild\n", **desk.place())
    assert (done.code, desk.files()) == (1, before)
    assert "(so far: " in done.out
    assert done.errors.startswith("lesson: 1,026 bytes")
    retyped = f"python cli.py add --topic=build --missing='What?' --lesson='{'가' * 342}'"
    assert done.errors.splitlines()[-1].endswith(retyped)
    done = Run.at_terminal("add", answer="\n", **desk.place())
    assert (done.code, desk.files()) == (1, before)
    assert done.errors.startswith("The answer is blank. Nothing was saved.")


def test_the_editor_is_the_one_that_the_environment_names() -> None:
    for environment, words in (
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "'/my tools/ed' -x"}, ["/my tools/ed", "-x"]),
        ({"EDITOR": "'open"}, []),
        ({}, []),
    ):
        assert editor_in(environment, is_terminal=False) == words


ANY = st.text(st.characters(codec="utf-8"), max_size=40).filter(
    lambda text: not HEADING.search(text.replace("\r", "\n"))
) | st.sampled_from(["a\r\nb\rc", "# x", "\n\n== topic\n ", "\\== lesson =="])


@given(st.tuples(*[ANY] * len(LIMITS_BYTES)))
def test_every_text_comes_back_from_the_editor_as_it_is(texts: tuple[str, ...]) -> None:
    record = replace(EDITED, **dict(zip(LIMITS_BYTES, texts, strict=True)))  # type: ignore[arg-type]
    before = sections_in(text_for_editor(record))
    assert edit_record(record, {}, Path()) == (record, [])
    for name, text in zip(LIMITS_BYTES, record.texts, strict=True):
        expected = re.sub(r"\A(?:\s*\n)+|(?:\n\s*)+\Z", "", text.replace("\r\n", "\n"))
        assert before[name].strip() == expected.strip()


# a room that nobody has heard of is one folder, and appears in every command

NOTES = read_stories(ROOT / "tests/data/commands/fourth_room.txt")


@pytest.mark.parametrize("story", NOTES, ids=lambda story: story.name)
def test_a_fourth_room(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(ROOT / "tests/commands/rooms/notes_room")
    monkeypatch.setattr(rooms, "__path__", [*rooms.__path__, folder])
    for name in ("shop", "home"):
        (tmp_path / name).mkdir()
    calls_no_tool: Any = None
    try:
        held(story, tmp_path / "shop", tmp_path / "home", calls_no_tool)
    finally:
        for name in [name for name in sys.modules if name.startswith("rooms.notes")]:
            del sys.modules[name]
