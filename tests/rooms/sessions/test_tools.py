"""Tests what no story of these tools can tell: odd arguments, rows of others, archives, budgets."""

import itertools
import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from threading import enumerate as enumerate_threads
from typing import Any

import pytest

import server
from core.room.copies import copies_of
from core.room.database import DatabaseError
from protocol.arguments import LONE_SURROGATE
from rooms.sessions import tools
from rooms.sessions.everywhere import share
from rooms.sessions.hints import FAILURE_CHARS
from rooms.sessions.session import STATUSES, Point
from rooms.sessions.store import SessionStore, keep_copy
from tests.support.costly import one_in
from tests.support.room import LATER, a_room, act, failed, saved
from tests.support.session_tools import Call

LOGIN: dict[str, Any] = {
    "goal": "Add JWT login to the checkout service",
    "summary": "Login works.\nRefresh is missing.",
    "status": "completed",
    "tags": ["auth", "jwt"],
    "decisions": [{"what": "Sign with RS256", "why": "the gateway has no secret"}],
    "approaches": [
        {"description": "Axios for the upload", "result": "failed", "reason": "CORS is refused"}
    ],
    "blockers": [{"description": "staging has no test card"}],
    "codeChanges": {"modifiedFiles": ["src/login.ts"], "summary": "login form"},
}


def test_a_save_has_the_daily_copy_made_beside_its_answer(
    call: Call,
    store: SessionStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun, goes_on = Event(), Event()

    def keep(store: SessionStore) -> None:
        begun.set()
        assert goes_on.wait(60)
        keep_copy(store)
        raise DatabaseError("copy", path="there", reason="no room")

    monkeypatch.setattr("rooms.sessions.store.keep_copy", keep)
    for _ in range(2):  # the second finds a thread that is at it
        assert call("context_save", **LOGIN).startswith("Saved #")
        assert begun.wait(60) and copies_of(store.path) == []
    [thread] = [it for it in enumerate_threads() if it.name == "copy"]
    goes_on.set()
    thread.join(60)
    assert len(copies_of(store.path)) == 1
    assert "The daily copy of the database there could not be made (no room)" in caplog.text


def test_what_models_send_where_they_err_is_taken(call: Call, store: SessionStore) -> None:
    call(
        "context_save",
        goal="Fix the login",
        summary=None,
        status=" Completed ",
        tags="auth, jwt",
        parentId=None,
        decisions='[{"what": "Sign with RS256", "madeBy": "x", "timestamp": "2025"}]',
        approaches={"description": "Axios", "result": "Failure", "reason": None},
        blockers="no test card",
        codeChanges='{"modifiedFiles": "src/login.ts", "summary": null}',
        id=None,
    )
    session = store.get("1")
    assert (session.status, session.tags) == ("completed", ("auth", "jwt"))
    assert [it.text for it in session.decisions] == ["Sign with RS256"]
    assert [(it.text, it.result, it.why) for it in session.approaches] == [("Axios", "failed", "")]
    assert [it.text for it in session.blockers] == ["no test card"]
    assert session.changes.modified_files == ("src/login.ts",)
    assert call("context_search", query=None, status="", limit="3", offset=None, scope=None)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"goal": None}, "goal: Input should be a valid string"),
        ({"tags": [1]}, "tags[0]: Input should be a valid string"),
        ({"decisions": 5}, "decisions: Input should be a valid list"),
        ({"decisions": [5]},
         "decisions[0]: Input should be a valid dictionary or instance of DecisionPart"),
        ({"decisions": [{"what": ["SECRET"]}]},
         "decisions[0].what: Input should be a valid string"),
        ({"blockers": [{"description": "x", "resolved": "SECRET"}]},
         "blockers[0].resolved: Input should be a valid boolean, unable to interpret input"),
        ({"codeChanges": {"modifiedFiles": [7]}},
         "codeChanges.modifiedFiles[0]: Input should be a valid string"),
        ({"decisions": [{"what": "ok"}, {"why": "SECRET"}]}, "decisions[1].what: Field required"),
        ({"decisions": [{"what": "ok", "color": "SECRET"}]},
         "decisions[0].color: Extra inputs are not permitted; known: what, why"),
        ({"codeChanges": {"files": ["SECRET"]}},
         "codeChanges.files: Extra inputs are not permitted; known: modifiedFiles, summary"),
        ({"status": "SECRET"},
         "status: Input should be " + " or ".join(", ".join(map(repr, STATUSES)).rsplit(", ", 1))),
        ({"approaches": [{"description": "x", "result": "SECRET"}]},
         "approaches[0].result: Input should be 'success', 'failed' or 'partial'"),
        ({"decisions": [LONE_SURROGATE]},
         "decisions[0]: it contains half of a character (a lone surrogate). Send the text again"
         " without it"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named_and_never_repeated(
    refused: Call, project: Path, arguments: dict[str, Any], said: str
) -> None:
    answer = refused("context_save", **{"goal": "Fix the login", **arguments})
    assert answer == f"{said}. Nothing was changed. Call context_save again with other arguments."
    assert not (project / ".context").exists()


def test_many_wrong_parts_are_named_by_the_first_few(refused: Call) -> None:
    said = refused("context_save", goal="x", decisions=[{"what": 1}] * 50)
    assert len(said.splitlines()) == 5


@pytest.mark.row("003 T54")
def test_a_warning_of_another_year_says_which(call: Call, store: SessionStore) -> None:
    failed = (Point(text="Axios", result="failed"),)
    saved(store, "Fix the login page", now="2023-12-20T10:00:00+00:00", approaches=failed)
    assert call("context_warn", currentGoal="the login page") == "#1 Axios (2023/12/20)"


def test_a_korean_tag_is_matched_with_a_particle_and_an_english_one_as_a_word(
    call: Call,
) -> None:
    call("context_save", goal="결제 재시도 화면 만들기", tags=["결제", "ui"], status="completed")
    said = call("context_recommend", currentGoal="결제를 재시도하는 build 화면")
    assert "#결제" in said
    assert "#ui" not in said


def test_outside_of_a_server_the_functions_work_and_know_no_client(store: SessionStore) -> None:
    assert tools.context_save("Fix the login") == "Saved #1."
    assert store.get("1").agent == ""


GOAL = "the login page"


@pytest.fixture
def many(store: SessionStore) -> None:
    """Seven sessions of one kind of work, without a failure."""
    for at in range(7):
        saved(store, f"Build the login page of shop {at}")


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T56")
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("limit", "has_more"), [(None, True), (6, True), (7, False)])
def test_a_warning_says_whether_more_is_there(
    call: Call, monkeypatch: pytest.MonkeyPatch, limit: int | None, has_more: bool
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    told = json.loads(call("context_warn", currentGoal=GOAL, limit=limit))
    assert told["hasMore"] is has_more


@pytest.mark.row("003 T57")
def test_statistics_count_the_days_of_their_range(call: Call, store: SessionStore) -> None:
    for days in (6, 8, 29, 31, 89, 91):
        moment = datetime.now(UTC) - timedelta(days=days)
        saved(store, f"Work of {days} days ago", now=moment.isoformat(timespec="seconds"))
    counted = {
        range_: int(re.findall(r"^Sessions: (\d+)", call("context_stats", range=range_))[0])
        for range_ in ("last_7_days", "last_30_days", "last_90_days", "all")
    }
    assert counted == {"last_7_days": 1, "last_30_days": 3, "last_90_days": 5, "all": 6}


YEARS_LATER = "2025-01-01"


@pytest.fixture
def bank(project: Path) -> SessionStore:
    """Another project, which shares."""
    store = a_room(project.with_name("bank"))
    saved(store, "Build the OAuth login", approaches=(failed("implicit flow", "it is gone"),))
    share(store.root, os.environ)
    return store


@pytest.mark.long  # it costs much
def test_a_search_of_all_projects_names_the_project_and_the_id_opens_it(
    call: Call, bank: SessionStore, store: SessionStore
) -> None:
    saved(store, "Sell shoes")
    id_ = bank.get("1").id
    said = call("context_search", query="OAuth login", scope="global")
    assert said.splitlines()[1:] == [
        f"{id_} 2026-05-01 ! [bank] Build the OAuth login",
    ]
    assert call("context_search", query="OAuth login") == "No session found."
    whole = call("context_get", id=id_)
    assert whole.startswith(f"[bank] {id_} · ")
    assert "goal: Build the OAuth login" in whole
    assert "failed: implicit flow (why: it is gone)" in whole


def test_a_hit_of_another_project_is_a_declared_hint_too(
    call: Call, bank: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    [hint] = json.loads(call("context_search", query="OAuth", scope="global"))["hints"]
    assert hint == {
        "id": bank.get("1").id,
        "goal": "[bank] Build the OAuth login",
        "date": "2026-05-01",
        "hasWarnings": True,
    }


def test_json_spells_out_what_nobody_sees(
    call: Call, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")
    goal = "Fix\u202e the\u200b login"
    saved(store, goal)
    said = call("context_get", id=1)
    assert "\\u202e" in said
    assert "\u202e" not in said
    assert json.loads(said)["context"]["goal"] == goal


def test_rows_that_others_wrote_are_shown_as_far_as_they_are_sound(
    call: Call, store: SessionStore
) -> None:
    saved(store, "Fix the login page", approaches=(Point(text="x", result="failed"),))
    with store.writing() as connection:
        connection.execute(
            "UPDATE contexts SET metadata = 'no json', tags = '{}', agent = NULL,"
            " updated_at = 'yesterday\n#2', status = 'odd\n#3'"
        )
    assert call("context_search").splitlines()[1] == "#1 ????-??-?? ! Fix the login page"
    assert call("context_stats").startswith("Sessions: 1 (all)\nstatus: odd #3 1\n")
    assert "\n#" not in call("context_get", id=1)


ODD_METADATA = (
    '{"approaches": ["tried", {"result": ["failed"]}], "blockers": "none", "decisions": [1]}'
)
COLUMNS = ("goal", "summary", "status", "tags", "agent", "metadata", "created_at", "updated_at")
VALUES = (b"\xff\x00login", None, 7, ODD_METADATA, "{", "[1]")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("column", "value"), one_in(5, itertools.product(COLUMNS, VALUES), names=2)
)
def test_whatever_stands_in_a_column_is_answered_in_every_tool(
    call: Call, store: SessionStore, column: str, value: object
) -> None:
    saved(store, "Fix the login", approaches=(failed("retry"),), tags=("auth",))
    saved(store, "Fix the login of the shop", approaches=(failed("wait"),), tags=("auth",))
    if column == "goal" and value is None:
        pytest.skip("the table does not take it")
    with store.writing() as connection:
        connection.execute(f"UPDATE contexts SET {column} = ? WHERE number = 2", (value,))
    for tool, arguments in (
        ("context_search", {"query": "login"}),
        ("context_search", {"tags": ["auth"], "scope": "global"}),
        ("context_get", {"id": 2, "includeChain": True}),
        ("context_warn", {"currentGoal": "Fix the login"}),
        ("context_recommend", {"currentGoal": "Fix the login"}),
        ("context_stats", {}),
        ("context_export", {"format": "json"}),
        ("context_save", {"goal": "Go on", "parentId": "#2"}),
    ):
        assert call(tool, **arguments)


def test_a_lost_count_of_changes_begins_anew(call: Call, store: SessionStore) -> None:
    saved(store, "Fix the login")
    with store.writing() as connection:
        connection.execute("DELETE FROM counters WHERE name = 'revision'")
    assert call("context_save", goal="Go on") == "Saved #2."
    assert call("context_save", goal="Go on") == "Updated #2."


FAILED = (Point(text="Axios", result="failed", why="CORS", at=LATER),)


@pytest.fixture
def as_json(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")


@pytest.mark.usefixtures("as_json")
def test_of_many_actions_the_last_ones_fit(
    call: Call, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_BUDGET", "1000")
    commands = [f"npm test {'long ' * 200}{at}" for at in range(9)]
    act(store, saved(store, "Fix the login"), *commands)
    actions = json.loads(call("context_get", id=1))["actions"]
    assert 1 <= len(actions) < 9
    assert actions[-1]["content"].endswith(" 8")


@pytest.mark.usefixtures("as_json")
@pytest.mark.row("003 T54", "003 T55")
def test_a_warning_names_what_failed_the_lessons_of_the_team_and_what_is_alike(
    call: Call, store: SessionStore, project: Path
) -> None:
    log = project / ".context" / "memory_log.jsonl"

    server.log_memory("login", "The login page must stay without axios", "Use fetch on login pages")
    [line] = log.read_text("utf-8").splitlines()
    session = saved(store, "Fix the login page", approaches=FAILED)
    other = saved(store, "Build the login page")
    told = json.loads(call("context_warn", currentGoal="Test the login page with axios"))
    assert [it["contextId"] for it in told["warnings"]] == [
        f"memory://record/{json.loads(line)['id']}",
        session.id,
    ]
    assert told["warnings"][1]["message"].startswith("Axios: CORS (")
    assert told["recommendations"] == [{"id": other.id, "goal": "Build the login page"}]
    assert told["hasMore"] is False


@pytest.mark.usefixtures("as_json")
@pytest.mark.long  # it costs much
def test_a_recommendation_names_a_few_failures_in_short(call: Call, store: SessionStore) -> None:
    tried = tuple(failed(f"Attempt {at} " + "x" * 900) for at in range(100))
    saved(store, "Fix the login page", approaches=tried)
    [told] = json.loads(call("context_recommend", currentGoal="the login page"))["recommendations"]
    assert len(told["failedApproaches"]) == 10
    assert told["failedApproaches"][-1].startswith("Attempt 99 x")
    assert max(map(len, told["failedApproaches"])) == FAILURE_CHARS
