"""Tests that the tools of the sessions give exactly the declared JSON objects where asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from rooms.sessions.answers.recommended import MOST_FAILURES
from rooms.sessions.answers.warnings import FAILURE_CHARS
from rooms.sessions.session import Approach
from rooms.sessions.store import SessionStore
from tests.support.room import LATER, act, failed, saved
from tests.support.session_tools import Call

ID = "ctx_"
FAILED = (Approach(description="Axios", result="failed", reason="CORS", timestamp=LATER),)


@pytest.fixture(autouse=True)
def as_json(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_ANSWERS", "json")


@pytest.mark.row("003 T35")
def test_a_save_gives_its_id_a_message_and_related_sessions(
    call: Call, store: SessionStore
) -> None:
    assert json.loads(call("context_save", goal="Fix the login page")) == {
        "id": store.get("1").id,
        "message": "Saved #1.",
    }
    saved(store, "Build the login page", summary="It stands.", tags=("auth",))
    told = json.loads(call("context_save", goal="Build the login page again"))
    assert {tuple(it) for it in told["relatedContexts"]} == {
        ("id", "goal", "summary", "similarity")
    }
    assert {it["similarity"] for it in told["relatedContexts"]} <= {"high", "medium"}


@pytest.mark.row("003 T20", "003 T20.a", "003 T45", "003 T46", "003 T47")
def test_a_search_gives_hints_a_total_and_where_failures_are(
    call: Call, store: SessionStore
) -> None:
    session = saved(store, "Fix the login page", approaches=FAILED)
    saved(store, "Build the login page")
    assert json.loads(call("context_search", query="fix login", limit=1)) == {
        "hints": [
            {
                "id": session.id,
                "goal": "Fix the login page",
                "date": "2026-05-01",
                "hasWarnings": True,
            }
        ],
        "total": 2,
        "hasMore": True,
        "suggestion": f"{session.id} has failures on this.",
    }
    assert list(json.loads(call("context_search"))) == ["hints", "total", "hasMore"]


@pytest.mark.row("003 T49", "003 T50", "003 T51", "003 T52")
def test_a_session_is_the_declared_object_with_actions_and_chain(
    call: Call, store: SessionStore
) -> None:
    first = saved(store, "Build the login page", status="coding")
    session = saved(store, "Fix the login page", parent="#1", approaches=FAILED, tags=("auth",))
    act(store, session, "npm test")
    expected: dict[str, Any] = {
        "context": {
            "id": session.id,
            "parentId": first.id,
            "goal": "Fix the login page",
            "summary": "",
            "status": "completed",
            "tags": ["auth"],
            "agent": "cursor",
            "metadata": {
                "decisions": [],
                "approaches": [FAILED[0].as_json()],
                "blockers": [],
                "codeChanges": {"modifiedFiles": [], "summary": ""},
            },
            "startedAt": LATER,
            "endedAt": LATER,
            "createdAt": LATER,
        }
    }
    assert json.loads(call("context_get", id=2, includeActions=False)) == expected
    told = json.loads(call("context_get", id=2, includeChain=True))
    assert told.pop("chain") == [
        {"id": it.id, "goal": it.goal, "createdAt": LATER} for it in (first, session)
    ]
    [action] = told.pop("actions")
    assert list(action) == ["id", "type", "content", "result", "createdAt"]
    assert told == expected


def test_of_many_actions_the_last_ones_fit(
    call: Call, store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_BUDGET", "1000")
    commands = [f"npm test {'long ' * 200}{at}" for at in range(9)]
    act(store, saved(store, "Fix the login"), *commands)
    actions = json.loads(call("context_get", id=1))["actions"]
    assert 1 <= len(actions) < 9
    assert actions[-1]["content"].endswith(" 8")


@pytest.mark.row("003 T54", "003 T55")
def test_a_warning_names_what_failed_the_lessons_of_the_team_and_what_is_alike(
    call: Call, store: SessionStore, project: Path
) -> None:
    log = project / ".context" / "memory_log.jsonl"
    import server

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


@pytest.mark.row("003 T58")
def test_statistics_are_the_declared_object(call: Call, store: SessionStore) -> None:
    act(store, saved(store, "Fix the login", approaches=FAILED, tags=("auth",)), "a", "b", "c")
    saved(store, "Build the login", status="paused")
    assert json.loads(call("context_stats")) == {
        "totalSessions": 2,
        "byStatus": {"completed": 1, "paused": 1},
        "byAgent": {"cursor": 2},
        "topTags": [{"tag": "auth", "count": 1}],
        "failedApproaches": 1,
        "avgActionsPerSession": 1.5,
    }


@pytest.mark.row("003 T63")
def test_an_export_gives_the_content_or_the_file(call: Call, store: SessionStore) -> None:
    saved(store, "Fix the login")
    told = json.loads(call("context_export", format="markdown"))
    assert list(told) == ["content", "exportedCount"]
    assert "Fix the login" in told["content"]
    assert json.loads(call("context_export", format="json", output="sessions.json")) == {
        "filePath": "sessions.json",
        "exportedCount": 1,
    }


@pytest.mark.row("003 T35.a", "003 T64", "003 T65")
def test_a_recommendation_is_the_declared_object(call: Call, store: SessionStore) -> None:
    session = saved(store, "Fix the login page", approaches=FAILED, tags=("login", "jwt"))
    saved(store, "Fix the logout page")
    told = json.loads(call("context_recommend", currentGoal="the login page"))["recommendations"]
    assert told[0] == {
        "id": session.id,
        "goal": "Fix the login page",
        "summary": "",
        "relevance": "high",
        "matchedTags": ["login"],
        "failedApproaches": ["Axios"],
    }
    assert list(told[1]) == ["id", "goal", "summary", "relevance", "matchedTags"]


def test_a_refusal_is_a_sentence_still(refused: Call) -> None:
    assert refused("context_get", id="#7").startswith("#7: this project has no such session.")


@pytest.mark.long  # it costs much
def test_a_recommendation_names_a_few_failures_in_short(call: Call, store: SessionStore) -> None:
    tried = tuple(failed(f"Attempt {at} " + "x" * 900) for at in range(100))
    saved(store, "Fix the login page", approaches=tried)
    [told] = json.loads(call("context_recommend", currentGoal="the login page"))["recommendations"]
    assert len(told["failedApproaches"]) == MOST_FAILURES
    assert told["failedApproaches"][-1].startswith("Attempt 99 x")
    assert max(map(len, told["failedApproaches"])) == FAILURE_CHARS
