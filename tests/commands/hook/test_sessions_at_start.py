"""Tests what the start of a client's session shows of earlier sessions, behind the lessons."""

import json
import sys
from pathlib import Path

import pytest

from core.text.plain import estimate_tokens
from rooms.sessions.config import config_path
from tests.support.cli_process import Run
from tests.support.client_events import Ran, claude, environment_of, run_hook
from tests.support.room import a_room, failed, saved
from tests.support.samples import a_line, a_record
from tests.support.stdio_client import ROOT

LESSON = "Refunds above 500 EUR wait for a second approver."


class Desk:
    """A project with one lesson."""

    def __init__(self, top: Path) -> None:
        self.root, self.top = top / "shop", top
        (self.root / ".context").mkdir(parents=True)
        record = a_record("who approves a refund", topic="refunds", lesson=LESSON)
        (self.root / ".context" / "memory_log.jsonl").write_bytes(a_line(record))

    def start(self, **variables: str) -> Ran:
        given = claude("SessionStart", self.root, source="startup")
        words = ("session-start", "--client", "claude-code")
        where = environment_of(self.top / "state", **variables)
        return run_hook(*words, given=given, cwd=self.top, environment=where)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_lessons_come_first_then_what_is_open_or_failed(desk: Desk) -> None:
    tried = failed("fetch without a proxy", "CORS")
    saved(a_room(desk.root), "Add a login", now="", status="coding", approaches=(tried,))
    text = desk.start().text
    lessons, sessions = text.split("\n\n")[0], text.split("\n\n")[-1]
    assert LESSON in lessons and LESSON not in sessions
    assert "#1" in sessions and "fetch without a proxy" in sessions and "Add a login" in sessions


def test_a_project_without_sessions_is_shown_its_lessons_only(desk: Desk) -> None:
    text = desk.start().text
    assert LESSON in text and "\n\n" not in text


def test_settings_may_leave_the_sessions_out(desk: Desk) -> None:
    saved(a_room(desk.root), "Add a login", now="", status="coding")
    config = {"recommendations": {"showOnSessionStart": False}}
    config_path(desk.root).write_text(json.dumps(config))
    assert "#1" not in desk.start().text


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("broken", ["no database at all, and quite long " * 100, ""])
def test_a_broken_database_takes_nothing_from_the_lessons(broken: str, desk: Desk) -> None:
    store = a_room(desk.root)
    saved(store, "Add a login", now="", status="coding")
    store.database.close()
    store.path.write_text(broken)
    done = desk.start()
    assert done.code == 0
    assert LESSON in json.loads(done.out)["hookSpecificOutput"]["additionalContext"]
    assert done.errors.count("\n") <= 1


def test_broken_settings_take_nothing_from_the_lessons(desk: Desk) -> None:
    config_path(desk.root).parent.mkdir()
    config_path(desk.root).write_text("[]")
    done = desk.start()
    assert LESSON in done.out
    assert "config.json" in done.errors


@pytest.mark.long  # it costs much
def test_both_stay_within_what_a_hook_may_show(desk: Desk) -> None:
    for at in range(30):
        tried = failed(f"approach {at} {'with many words ' * 10}", "it broke")
        saved(a_room(desk.root), f"Goal {at}", now="", status="coding", approaches=(tried,))
    text = desk.start(SENTINEL_MEMORY_HOOK_BUDGET="200").text
    assert LESSON in text
    assert estimate_tokens(text) <= 200


LOADED = """
import sys
sys.path.insert(0, {root!r})
import cli
try:
    cli.main(["hook", *sys.argv[1:]])
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("has_sessions", [False, True])
def test_sqlite_is_loaded_only_where_there_are_sessions(has_sessions: bool, desk: Desk) -> None:
    if has_sessions:
        saved(a_room(desk.root), "Add a login", now="", status="coding")
    given = json.dumps(claude("SessionStart", desk.root, source="startup")).encode()
    words = (sys.executable, "-c", LOADED.format(root=str(ROOT)), "session-start")
    where = environment_of(desk.top / "state")
    done = Run.process(
        *words, "--client", "claude-code", given=given, cwd=desk.top, environment=where
    )
    loaded = set(done.errors.split())
    assert {"sqlite3", "rooms"} & loaded == ({"sqlite3", "rooms"} if has_sessions else set())
    assert not {"fastmcp", "pydantic", "filelock", "mcp"} & loaded
