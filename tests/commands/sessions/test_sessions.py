"""Tests what a person sees of sessions: a list, one of them whole, a chain, an export."""

import json
import re
import shlex
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from commands.terminal.screen import uncoloured
from core.config import STATE_VARIABLE, Settings
from rooms.sessions.errors import NoSuchSessionError
from rooms.sessions.session import Action, Approach, Blocker, Changes, Decision, Session
from rooms.sessions.store import SessionStore, open_sessions
from rooms.sessions.upkeep.archive import archives_of
from tests.support.cli_process import Command, Run
from tests.support.room import OLD, a_room, act, every_byte, saved
from tests.support.session_samples import keep, make_sample_store
from tests.support.tables import table

ROWS = table("commands/sessions")

EMPTY = [
    "This project has no sessions yet.",
    "Sessions keep what was done: goals, decisions, failures, blockers, commands.",
    "If they are still off: `python cli.py setup --all --rooms lessons,sessions`",
]
HOSTILE = "a\x1b[31m\nb\u202e ##vso[task.x]\r\x00\u2028c"


@pytest.fixture
def store(project: Path) -> SessionStore:
    """The sessions of the project in which commands are given."""
    return make_sample_store(project, 24)


def a_session(number: int, goal: str, parent: int = 0, **more: str) -> Session:
    day = f"2020-03-{number:02}T10:00:00+00:00"
    session = Session(
        number=number,
        id=f"ctx_{number:012x}",
        goal=goal,
        parent_id=f"ctx_{parent:012x}" if parent else "",
        status="coding",
        started_at=day,
        created_at=day,
        updated_at=day,
    )
    return replace(session, **more)  # type: ignore[arg-type]


def kept(project: Path, *sessions: Session) -> SessionStore:
    store = open_sessions(project, Settings())
    keep(store, [(session, []) for session in sessions])
    return store


# the list


@pytest.mark.long  # it costs much
def test_filters_narrow_the_list_down(store: SessionStore, command: Command) -> None:
    def numbers(*words: str) -> list[int]:
        return [it["number"] for it in command("sessions", *words, "--json").told["sessions"]]

    sessions = [store.get(str(number)) for number in range(24, 0, -1)]
    for status in ("debugging", "testing"):
        assert numbers("--status", status) == [s.number for s in sessions if s.status == status]
    assert numbers("--tag", "auth") == [s.number for s in sessions if "auth" in s.tags]
    assert numbers("--agent", "codex") == [s.number for s in sessions if s.agent == "codex"]
    assert numbers("--since", "2026-11-17", "--until", "2026-11-19") == [23, 22]
    assert numbers("list", "--since", "2026-11-19T14:35", "--limit", "1") == [24]
    assert numbers("--until", "100y") == []
    found = [store.get(str(number)) for number in numbers("list", "결제", "중복")]
    assert found
    assert all("결제" in " ".join(it.texts) for it in found[:1])


def test_what_is_not_shown_is_counted_with_the_command_that_shows_it(
    store: SessionStore, command: Command
) -> None:
    last = command("sessions", "list", "결제 승인", "--tag", "결제", "--limit", "1").lines[-1]
    options = re.fullmatch(r"… (\d+) more: `python cli.py sessions (.*)`", last)
    assert options
    words = shlex.split(options[2])
    assert words == ["list", "결제", "승인", "--tag", "결제", "--limit", f"{int(options[1]) + 1}"]
    assert len(command("sessions", *words, "--json").told["sessions"]) > 1


def test_a_filter_that_nothing_fits_names_what_was_meant(
    store: SessionStore, command: Command
) -> None:
    assert command("sessions", "--tag", "databse", "--status", "coding").lines == [
        "No session fits these filters (sessions: 24).",
        "There is no tag databse; similar: database.",
    ]
    told = command("sessions", "--agent", "nobody").lines[1]
    assert told.startswith("No session is from nobody; there are some from: ")


@pytest.mark.parametrize("words", ["sessions", "sessions list", "sessions list word --tag x"])
def test_without_sessions_three_lines_say_what_they_are(
    project: Path, command: Command, words: str
) -> None:
    assert command(*words.split()).lines == EMPTY
    assert list(project.iterdir()) == []


def test_without_sessions_data_is_empty(project: Path, command: Command) -> None:
    told = command("sessions", "--json").told
    assert told == {"project": str(project), "found": 0, "sessions": []}
    assert list(project.iterdir()) == []


def test_data_has_every_key(project: Path, command: Command) -> None:
    kept(project, a_session(1, "One"))
    [told] = command("sessions", "--json").told["sessions"]
    assert told == ROWS["data_has_every_key"]


# one session


@pytest.mark.long  # it costs much
def test_a_whole_session_says_all_of_it(project: Path, command: Command) -> None:
    session = replace(
        a_session(2, "Move refunds to PostgreSQL 16", 1),
        summary="Replication lags by 40 s under load; the window for the move is on Sunday.",
        agent="codex",
        tags=("database", "migration"),
        decisions=(Decision(what="Logical replication", why="A dump takes two hours."),),
        approaches=(Approach(description="A dump", result="failed", reason="Too slow"),),
        blockers=(
            Blocker(description="Only 4 slots"),
            Blocker(description="No figures", resolved=True, resolution="On the dashboard"),
        ),
        changes=Changes(modified_files=("ops/move.sql", "ops/a.sh"), summary="Sets sequences"),
        ended_at="2020-03-02T11:00:00+00:00",
    )
    moment = "2020-03-02T10:30:00+00:00"
    edit = Action(id="a1", kind="edit", content="ops/move.sql", created_at=moment)
    kept(project, a_session(1, "One"))
    run = Action(id="a2", kind="command", content="make", result="failed", created_at=moment)
    keep(open_sessions(project, Settings()), [(session, [edit, run])])
    shown = command("sessions", "show", "2").lines
    assert shown == ROWS["a_whole_session_says_all_of_it"]


def test_data_of_a_session_has_its_actions_and_its_chain(
    store: SessionStore, command: Command
) -> None:
    told = command("sessions", "show", "#24", store.get("23").id, "24", "--json").told["sessions"]
    assert [it["number"] for it in told] == [24, 23]
    assert [it["number"] for it in told[0]["chain"]] == [23, 24]
    assert told[0]["actions"] == [it.as_json() for it in store.actions(store.get("24"))]


@pytest.mark.long  # it costs much
def test_hostile_texts_stay_in_their_line_and_give_no_orders(
    project: Path, command: Command
) -> None:
    session = a_session(1, HOSTILE, summary=HOSTILE, agent=HOSTILE, status=HOSTILE)
    session = replace(session, tags=(HOSTILE,), blockers=(Blocker(description=HOSTILE),))
    kept(project, session)
    plain = len(command("sessions").lines)
    assert plain == 4
    for words in ("sessions", "sessions show 1", "sessions chain 1", "sessions export"):
        out = command(*words.split()).out
        assert not {"\x1b", "\u202e", "\x00", "\u2028", "\r"} & set(out)
        assert "##vso[" not in out
    assert json.loads(command("sessions", "--json").out)["sessions"][0]["goal"] == HOSTILE


# a chain


@pytest.mark.row("003 T69")
def test_a_chain_is_a_tree_from_the_oldest_on(project: Path, command: Command) -> None:
    sessions = [(1, "Root", 0), (2, "Next", 1), (3, "Left", 2), (4, "Right", 2), (5, "Leaf", 3)]
    kept(project, *(a_session(number, goal, parent) for number, goal, parent in sessions))
    expected = [
        "#1   1 Mar 2020  coding  Root",
        "#2   2 Mar 2020  coding  Next",
        "├─ #3   3 Mar 2020  coding  Left",
        "│  #5   5 Mar 2020  coding  Leaf",
        "└─ #4   4 Mar 2020  coding  Right",
    ]
    assert command("sessions", "chain", "5").lines == expected
    assert command("sessions", "chain", "#1").lines == expected
    told = command("sessions", "chain", "4", "--json").told["sessions"]
    assert [it["number"] for it in told] == [1, 2, 3, 4, 5]


def test_a_long_chain_stays_at_the_margin(project: Path, command: Command) -> None:
    kept(project, *(a_session(number, "Step", number - 1) for number in range(1, 31)))
    lines = command("sessions", "chain", "17").lines
    assert [line.split()[0] for line in lines] == [f"#{number}" for number in range(1, 31)]
    assert {line[0] for line in lines} == {"#"}


# an export


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("name", "start"), [("a.md", "<!-- sent"), ("a.json", '{"format'), ("b.html", "<!doctype")]
)
def test_the_name_of_a_file_tells_its_form(
    store: SessionStore, command: Command, project: Path, name: str, start: str
) -> None:
    done = command("sessions", "export", "23", "24", "-o", f"docs/{name}")
    assert done == Run(0, f"Written: docs/{name} (sessions: 2).\n", "")
    assert (project / "docs" / name).read_text(encoding="utf-8").startswith(start)


@pytest.mark.long  # it costs much
def test_an_export_without_a_file_is_printed(store: SessionStore, command: Command) -> None:
    text = command("sessions", "export", "--format", "json", "--since", "2026-11-17").out
    assert len(json.loads(text)["contexts"]) == 3
    assert (
        command("sessions", "export", "--format", "json", "-o", "-").out.count('"id": "ctx_') == 24
    )


@pytest.mark.long  # it costs much
def test_a_relative_file_is_meant_from_where_the_command_is_given(
    store: SessionStore, command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "docs").mkdir()
    monkeypatch.chdir(project / "docs")
    done = command("sessions", "--project", str(project), "export", "-o", "../a.md")
    assert done.out == "Written: a.md (sessions: 24).\n"


def test_without_sessions_there_is_nothing_to_export(project: Path, command: Command) -> None:
    assert command("sessions", "export", "-o", "a.md") == Run(1, "", "\n".join([*EMPTY, ""]))
    assert list(project.iterdir()) == []


# arguments


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("words", "said"), ROWS["a_wrong_argument_is_told"])
def test_a_wrong_argument_is_told(command: Command, words: str, said: str) -> None:
    assert said in command(*words.split()).refused


@pytest.mark.parametrize("words", ["sessions", "sessions show 1", "sessions export"])
def test_a_database_of_another_program_is_named_and_stays(
    project: Path, command: Command, words: str
) -> None:
    database = project / ".context" / "sessions" / "history.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"no database at all, but long enough for a page" * 100)
    before = database.read_bytes()
    done = command(*words.split())
    assert (done.code, done.out) == (1, "")
    assert str(database) in done.errors
    assert database.read_bytes() == before


def test_options_before_the_action_hold_for_it(store: SessionStore, command: Command) -> None:
    before = command("sessions", "--status", "paused", "--json", "list")
    assert before == command("sessions", "list", "--status", "paused", "--json")
    assert before.told["sessions"]


def test_colours_mark_the_head_and_the_session_that_was_named(
    store: SessionStore, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = command("sessions", "chain", "23").lines
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = command("sessions", "chain", "23").lines
    assert [uncoloured(line) for line in shown] == plain
    assert [line.startswith("\x1b[1m") for line in shown] == [True, False]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state directory; the user has no fragments."""
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.setenv("SENTINEL_MEMORY_FRAGMENTS", str(tmp_path / "data" / "memory.db"))
    return tmp_path / "state"


@pytest.fixture
def old_store(project: Path) -> SessionStore:
    """An old session that has ended, one that has not, and a new one that continues the first."""
    old_store = a_room(project)
    first = saved(old_store, "Feed the zebra", OLD, summary="It eats hay.")
    act(old_store, first, "npm run zebra")
    saved(old_store, "Feed the lion", OLD, status="paused")
    saved(old_store, "Feed the bear", OLD, status="coding")
    saved(old_store, "Feed the foal", parent=first.id)
    return old_store


# archive


def test_an_archive_is_planned_first_and_made_with_yes(
    old_store: SessionStore, command: Command
) -> None:
    planned = command("sessions", "archive", "--before", "2025-01-01", "--dry-run")
    assert (planned.code, planned.lines[0]) == (0, "To archive: 2 (archive-2024.db: 2).")
    assert [line.split()[0] for line in planned.lines[2:4]] == ["1", "2"]
    assert planned.lines[4:] == [
        "As old, but not ended, so they stay: 1. --open archives them, too.",
        "Nothing was changed (--dry-run).",
    ]
    assert archives_of(old_store) == []
    asked = command("sessions", "archive", "--before", "2025-01-01")
    assert (asked.code, archives_of(old_store)) == (1, [])
    done = command("sessions", "archive", "--before", "2025-01-01", "--open", "--yes")
    assert done.lines[-1] == (
        "Archived: 3. They are still found, and shown whole from the files in"
        f" {old_store.path.parent}/; back these up with the database."
    )
    assert [old_store.get(name).archive for name in "1234"] == ["archive-2024.db"] * 3 + [""]
    again = command("sessions", "archive", "--before", "2025-01-01", "--yes")
    assert again == (0, "No session is that old; nothing was archived.\n", "")


def test_an_archive_needs_a_date(old_store: SessionStore, command: Command) -> None:
    assert command("sessions", "archive").code == 2
    assert command("sessions", "archive", "--before", "soon").code == 2


# share


def test_sharing_says_what_leaves_and_how_to_stop(
    old_store: SessionStore, command: Command
) -> None:
    assert command("sessions", "share") == (
        0,
        "Your other projects on this machine now find the sessions of this one: 4.\n"
        "They get short goals, tags, dates, status, client and the name of the project; a session"
        " is read whole from here. To stop: python cli.py sessions share --off\n",
        "",
    )
    assert command("sessions", "share", "--off") == (
        0,
        "Your other projects no longer find the sessions of this one. Hints removed: 4.\n",
        "",
    )


def test_a_repository_cannot_share_by_what_it_carries(
    old_store: SessionStore, command: Command, state: Path
) -> None:
    for name in ("sessions-are-shared", "share"):
        (old_store.path.parent / name).write_text(str(old_store.root), encoding="utf-8")
    (old_store.path.parent / "config.json").write_text('{"share": true}', encoding="utf-8")
    saved(a_room(old_store.root), "Feed the cat")
    assert not state.exists()


# forget


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", [("sessions", "forget", "1"), ("forget", "#1")])
def test_what_goes_is_shown_and_gone_from_every_byte(
    old_store: SessionStore, command: Command, state: Path, words: tuple[str, ...]
) -> None:
    command("sessions", "share")
    planned = command(*words, "--dry-run")
    assert planned.code == 0
    assert planned.lines[0] == "To remove for good: 1. There is no way back."
    assert "#1  Feed the zebra" in planned.lines
    assert "  Continued by #4; only that link goes." in planned.lines
    assert "npm run zebra" in planned.out
    assert command(*words).code == 1
    assert old_store.get("1").goal == "Feed the zebra"

    done = command(*words, "--yes")
    assert (done.code, done.lines[-1], done.errors) == (0, "Removed: 1.", "")
    assert b"zebra" not in every_byte(old_store.root, state)
    assert old_store.get("4").parent_id == ""
    with pytest.raises(NoSuchSessionError):
        old_store.get("1")


def test_an_archived_session_is_shown_whole_and_forgotten_in_its_archive(
    old_store: SessionStore, command: Command
) -> None:
    command("sessions", "archive", "--before", "2025-01-01", "--yes")
    shown = command("sessions", "show", "1").out.replace("\n   ", "")
    assert "archived in archive-2024.db" in shown
    done = command("sessions", "forget", old_store.get("1").id, "--yes")
    assert "npm run zebra" in done.out
    assert done.lines[-1] == "Removed: 1."
    assert b"zebra" not in every_byte(old_store.root)


def test_a_session_that_is_not_there_stops_all(old_store: SessionStore, command: Command) -> None:
    done = command("sessions", "forget", "1", "99", "--yes")
    assert done.code == 1
    assert "99: this project has no such session." in done.errors
    assert old_store.get("1").goal == "Feed the zebra"


@pytest.mark.long
def test_bytes_that_another_process_holds_are_said(
    old_store: SessionStore, command: Command
) -> None:
    with closing(sqlite3.connect(old_store.path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM contexts").fetchone()
        done = command("sessions", "forget", "1", "--yes")
    assert done.code == 1
    assert done.errors == (
        f"{old_store.path}: the bytes of what was removed are still in this file, because another"
        " process reads it or there is no room. End the clients that use this project, then run"
        " python cli.py scan --redact.\n"
    )
    command("scan", "--redact")
    assert b"zebra" not in every_byte(old_store.root)
