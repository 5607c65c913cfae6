"""Tests that what `reflect` and `context_save` both could keep is kept once, by the right room."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.settings import Settings
from protocol.tools import SessionlessServer
from rooms.fragments import tools as fragments
from rooms.fragments.engine import Wanted
from rooms.fragments.room import open_room
from rooms.sessions import tools as sessions
from rooms.sessions.store import open_sessions
from tests.conftest import StartServer
from tests.support.http_server import HttpServer
from tests.support.offered_rooms import both_rooms, rooms_at
from tests.support.session_tools import calling
from tests.support.stdio_client import ServerProcess

TOKEN = "ghp_" + "Ab3" * 12
REFLECTION: dict[str, Any] = {
    "summary": "The refund screen works on staging.",
    "decisions": ["Refunds above 500 wait for a second approver"],
    "open_questions": ["Who owns the DNS of staging?"],
}


class Desk:
    """A project with both rooms on, and what they keep."""

    def __init__(self, top: Path) -> None:
        self.root, self.database = top / "shop", top / "memory.db"
        self.root.mkdir()
        self.call = calling(self.offered)

    def offered(self) -> SessionlessServer:
        server = both_rooms(has_lessons=True)
        fragments.hand_over_to(sessions.take_reflection, sessions.has_saved)
        return server

    @property
    def contents(self) -> list[str]:
        """What the fragments say."""
        room = open_room(Settings(), {"SENTINEL_MEMORY_FRAGMENTS": str(self.database)})
        with room.engine.reading() as reading:
            return [it.content for it in reading.find(Wanted(), limit=100)]

    @property
    def saved(self) -> list[tuple[str, str, str]]:
        """Goal, summary and status of each session, the first one first."""
        with open_sessions(self.root, Settings()).database.reading() as connection:
            question = "SELECT goal, summary, status FROM contexts ORDER BY number"
            return connection.execute(question).fetchall() if connection else []


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path)
    rooms_at(desk.root, monkeypatch)
    return desk


@pytest.mark.long  # it costs much
def test_a_reflection_without_a_session_begins_one_with_its_summary(desk: Desk) -> None:
    said = desk.call("reflect", **REFLECTION)
    head, _, rest = said.partition("). ")
    assert head.startswith("Kept from this session: 1 (")
    assert rest == "Summary and open questions are in session #1."
    assert desk.contents == REFLECTION["decisions"]
    summary = REFLECTION["summary"]
    assert desk.saved == [(summary, summary, "completed")]
    assert "blocked: Who owns the DNS of staging?" in desk.call("context_get", id="#1")


def test_a_reflection_goes_to_the_session_that_this_process_saved(desk: Desk) -> None:
    desk.call("context_save", goal="Refund screen", status="completed", summary="The API works.")
    said = desk.call("reflect", summary=REFLECTION["summary"])
    assert said == "The summary is in session #1."
    whole = "The API works.\n\nThe refund screen works on staging."
    assert desk.saved == [("Refund screen", whole, "completed")]
    assert desk.contents == []


@pytest.mark.long  # it costs much
def test_a_second_reflection_that_says_the_same_adds_nothing(desk: Desk) -> None:
    desk.call("reflect", **REFLECTION)
    before = desk.saved, desk.contents
    assert "Known already" in desk.call("reflect", **REFLECTION)
    assert (desk.saved, desk.contents) == before


def test_context_save_makes_no_fragment(desk: Desk) -> None:
    desk.call("context_save", goal="Refund screen", decisions=[{"what": "Use JWT"}])
    assert desk.contents == []


def test_in_korean_it_is_one_sentence_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    assert desk.call("reflect", **REFLECTION).endswith("요약과 열린 질문은 세션 #1에 있습니다.")


def test_an_answer_as_json_says_where_the_summary_went(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    assert '"message":"The summary is in session #1."' in desk.call("reflect", summary="It works.")


def no_database(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = desk.root / ".context" / "sessions"
    folder.mkdir(parents=True)
    (folder / "history.db").write_bytes(b"no database at all, and quite long " * 100)


def no_settings(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = desk.root / ".context" / "sessions"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"storage": 1}')


def no_project(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(desk.root))
    monkeypatch.setenv("USERPROFILE", str(desk.root))


def too_long(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REFLECTION, "summary", " ".join(f"Step {at} works." for at in range(200)))


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("spoil", [no_database, no_settings, no_project, too_long])
def test_what_the_sessions_cannot_take_is_a_fragment_and_the_answer_says_so(
    spoil: Callable[[Desk, pytest.MonkeyPatch], None], desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(desk, monkeypatch)
    said = desk.call("reflect", **REFLECTION)
    assert "No session took the summary, so it is kept as a fragment (" in said
    assert "\n" not in said
    kept = "\n".join(desk.contents)
    wanted = (*REFLECTION["open_questions"], *REFLECTION["decisions"])
    assert all(it in kept for it in (*wanted, *REFLECTION["summary"].split(". ")))


@pytest.mark.long  # it costs much
def test_secrets_reach_neither_room(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    said = desk.call("reflect", summary=f"{'x' * 80} {TOKEN} works", open_questions=[TOKEN])
    assert "Secrets were redacted" in said
    monkeypatch.setenv("SENTINEL_MEMORY_STRICT", "1")
    before = desk.saved
    with pytest.raises(Exception, match="secret"):
        desk.call("reflect", summary="It runs", decisions=[f"Use {TOKEN}"])
    assert desk.saved == before
    for file in desk.root.parent.rglob("*"):
        assert file.is_dir() or TOKEN.encode() not in file.read_bytes()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("rooms", ["fragments,sessions", "lessons,sessions:core,fragments"])
def test_the_order_of_the_rooms_makes_no_difference(
    rooms: str, tmp_path: Path, start_server: StartServer
) -> None:
    server = _started(tmp_path, start_server, rooms)
    said = server.call("reflect", **REFLECTION)
    assert said.endswith("Summary and open questions are in session #1.")


@pytest.mark.long  # it costs much
def test_without_sessions_a_reflection_is_fragments_as_before(
    tmp_path: Path, start_server: StartServer
) -> None:
    server = _started(tmp_path, start_server, "lessons,fragments")
    said = server.call("reflect", **REFLECTION)
    assert said.startswith("Kept from this session: 3 (") and "session #" not in said
    assert not (tmp_path / "shop" / ".context").exists()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("saves", [True, False])
def test_the_end_of_a_process_notes_only_what_nobody_saved(
    saves: bool, tmp_path: Path, start_server: StartServer
) -> None:
    server = _started(tmp_path, start_server, "fragments,sessions")
    server.call("remember", content="The vault has two doors")
    if saves:
        server.call("context_save", goal="Count the doors")
    assert server.close() == 0
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        noted = connection.execute("SELECT content FROM fragments WHERE topic = 'session'")
        assert len(noted.fetchall()) == (0 if saves else 1)


def _started(tmp_path: Path, start_server: StartServer, rooms: str) -> ServerProcess:
    root = tmp_path / "shop"
    root.mkdir()
    environment = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    words = ("--project", str(root), "--rooms", rooms)
    return start_server(*words, cwd=root, environment=environment)


@pytest.mark.long  # it costs much
def test_over_http_each_caller_has_a_session_of_its_own(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    words = ("--rooms", "sessions,fragments", "--project", str(desk.root))
    given = {"SENTINEL_MEMORY_FRAGMENTS": str(desk.database)}
    with HttpServer(tmp_path / "home", *words, environment=given) as server:
        one, other = server.begin(), server.begin()
        server.tool("context_save", one, goal="Refund screen", summary="The API works.")
        server.tool("remember", one, content="The vault has two doors")
        server.tool("remember", other, content="The tower has a bell")
        taken = server.tool("reflect", one, summary="The screen works.")
        assert taken == "The summary is in session #1."
        assert server.tool("reflect", other, summary="The bell rings.").endswith("session #2.")
        third = server.begin()
        server.tool("remember", third, content="The cellar has a well")
        server.tool("context_save", third, goal="Dig the well")
        for session in (one, other, third):
            server.ask("DELETE", "/mcp", headers={"Mcp-Session-Id": session})
        _, answer = server.call_stateless(
            "tools/call", {"name": "reflect", "arguments": {"summary": "The well is dug."}}
        )
        assert answer["result"]["content"][0]["text"] == "The summary is in session #4."
    goals = [goal for goal, _, _ in desk.saved]
    assert goals == ["Refund screen", "The bell rings.", "Dig the well", "The well is dug."]
    assert desk.saved[0][1] == "The API works.\n\nThe screen works."
    assert not [it for it in desk.contents if "without reflect" in it]
