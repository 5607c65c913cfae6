"""Tests the tools of the sessions as a client in the same process sees them, in lines of text."""

import json
import re
from pathlib import Path
from threading import Event
from threading import enumerate as enumerate_threads
from typing import Any

import pytest

from core.disk.copies import copies_of
from core.disk.database import DatabaseCopyError
from core.lessons.record import utc_now
from rooms.sessions import tools
from rooms.sessions.session import STATUSES, Approach
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep.copying import keep_copies
from tests.support.room import OLD, act, saved
from tests.support.sentences import say
from tests.support.session_tools import GOALS, Call, work

DAY = utc_now()[:10]
SHORT = DAY[5:].replace("-", "/")
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
CONFIG = ".context/sessions/config.json"


def configure(project: Path, text: str) -> None:
    path = project / CONFIG
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


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
        keep_copies(store)
        raise DatabaseCopyError(path="there", reason="no room")

    monkeypatch.setattr("rooms.sessions.upkeep.copying.keep_copies", keep)
    for _ in range(2):  # the second finds a thread that is at it
        assert call("context_save", **LOGIN).startswith("Saved #")
        assert begun.wait(60) and copies_of(store.path) == []
    [thread] = [it for it in enumerate_threads() if it.name == "copy"]
    goes_on.set()
    thread.join(60)
    assert len(copies_of(store.path)) == 1
    assert "The daily copy of the database there could not be made (no room)" in caplog.text


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T20.a", "003 T45", "003 T47", "003 T51", "003 T53", "003 T71")
def test_a_saved_session_is_found_read_and_warned_of(call: Call, project: Path) -> None:
    assert call("context_save", **LOGIN).splitlines()[0] == "Saved #1."
    assert call("context_search", query="login") == (
        "Sessions: 1 of 1. context_get(id) shows one.\n"
        f"#1 {DAY} ! Add JWT login to the checkout service\n"
        "#1 has failures on this."
    )
    said = call("context_get", id="#1")
    assert re.sub("ctx_[0-9a-f]{12}", "ctx_ID", said) == (
        f"#1 ctx_ID · completed · tests · saved {DAY} · tags: auth, jwt\n"
        "goal: Add JWT login to the checkout service\n"
        "summary: Login works.\n"
        "  Refresh is missing.\n"
        "failed: Axios for the upload (why: CORS is refused)\n"
        "blocked: staging has no test card\n"
        "decided: Sign with RS256 (why: the gateway has no secret)\n"
        "changes: login form\n"
        "files: src/login.ts"
    )
    assert call("context_warn", currentGoal="JWT login of the admin service") == (
        f"! #1 Axios for the upload: CORS is refused ({SHORT})\n"
        f"! #1 staging has no test card ({SHORT})"
    )


def test_the_same_goal_again_updates_its_session(call: Call) -> None:
    call("context_save", goal="Fix the login")
    assert call("context_save", goal="Fix the login", summary="done") == "Updated #1."
    assert call("context_save", goal="Fix the logout", id="1") == "Updated #1."
    assert "goal: Fix the logout" in call("context_get", id="1")


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T48")
@pytest.mark.parametrize("name", ["#1", "1", 1, " #1 "])
def test_a_session_has_its_number_in_every_spelling(call: Call, name: object) -> None:
    call("context_save", goal="Fix the login")
    assert "goal: Fix the login" in call("context_get", id=name)


@pytest.mark.row("003 T48")
def test_a_session_has_its_id(call: Call, store: SessionStore) -> None:
    call("context_save", goal="Fix the login")
    assert "goal: Fix the login" in call("context_get", id=store.get("#1").id)


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
    assert [it.what for it in session.decisions] == ["Sign with RS256"]
    assert [(it.description, it.result, it.reason) for it in session.approaches] == [
        ("Axios", "failed", "")
    ]
    assert [it.description for it in session.blockers] == ["no test card"]
    assert session.changes.modified_files == ("src/login.ts",)
    assert call("context_search", query=None, status="", limit="3", offset=None, scope=None)


def wrong(field: str, expected: str, tool: str = "context_save") -> str:
    return say("en", "wrong_type", field=field, tool=tool, expected=expected)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"goal": None}, wrong("goal", "a text")),
        ({"tags": [1]}, wrong("tags", "a text")),
        ({"decisions": 5}, wrong("decisions", "a list")),
        ({"decisions": [5]}, wrong("decisions", "an object")),
        ({"decisions": [{"what": ["SECRET"]}]}, wrong("decisions[0].what", "a text")),
        ({"blockers": [{"description": "x", "resolved": "SECRET"}]},
         wrong("blockers[0].resolved", "true or false")),
        ({"codeChanges": {"modifiedFiles": [7]}},
         wrong("codeChanges.modifiedFiles[0]", "a text")),
        ({"decisions": [{"what": "ok"}, {"why": "SECRET"}]},
         say("en", "missing_argument", field="decisions[1].what", tool="context_save")),
        ({"decisions": [{"what": "ok", "color": "SECRET"}]},
         say("en", "unknown_part", field="decisions[0].color", tool="context_save",
             known="what, why")),
        ({"codeChanges": {"files": ["SECRET"]}},
         say("en", "unknown_part", field="codeChanges.files", tool="context_save",
             known="modifiedFiles, summary")),
        ({"status": "SECRET"},
         say("en", "wrong_word", field="status", tool="context_save", known=", ".join(STATUSES))),
        ({"approaches": [{"description": "x", "result": "SECRET"}]},
         say("en", "wrong_word", field="approaches[0].result", tool="context_save",
             known="success, failed, partial")),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named_and_never_repeated(
    refused: Call, project: Path, arguments: dict[str, Any], expected: str
) -> None:
    assert refused("context_save", **{"goal": "Fix the login", **arguments}) == expected
    assert not (project / ".context").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"limit": 21}, wrong("limit", "a whole number of at most 20", "context_search")),
        ({"limit": 0}, wrong("limit", "a whole number of 1 or more", "context_search")),
        ({"limit": True}, wrong("limit", "a whole number", "context_search")),
        ({"offset": -1}, wrong("offset", "a whole number of 0 or more", "context_search")),
        ({"scope": "SECRET"},
         say("en", "wrong_word", field="scope", tool="context_search", known="project, global")),
        ({"dateRange": {"since": "SECRET"}},
         say("en", "unknown_part", field="dateRange.since", tool="context_search",
             known="from, to")),
    ],
)  # fmt: skip
def test_a_wrong_argument_of_a_search_is_named(
    refused: Call, arguments: dict[str, Any], expected: str
) -> None:
    assert refused("context_search", **arguments) == expected


def test_many_wrong_parts_are_named_by_the_first_few(refused: Call) -> None:
    said = refused("context_save", goal="x", decisions=[{"what": 1}] * 50)
    assert len(said.splitlines()) == 5


def test_a_day_that_is_none_is_refused(refused: Call) -> None:
    said = refused("context_search", dateRange={"from": "SECRET"})
    assert said.startswith("dateRange.from: it is not a date such as 2026-11-22.")


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T36", "003 T38", "003 T39", "003 T40", "003 T41", "003 T43", "003 T46")
def test_a_search_filters_and_turns_pages(call: Call, store: SessionStore) -> None:
    for at in range(4):
        saved(store, f"Login page {at}", now=f"2026-05-0{at + 1}T10:00:00+00:00", tags=("auth",))
    saved(store, "Invoice export", now=OLD, tags=("billing",), status="paused")

    def found(**arguments: Any) -> list[str]:
        return re.findall("^#([0-9]+) ", call("context_search", **arguments), re.M)

    assert found() == ["4", "3", "2", "1", "5"]
    assert found(limit=2) == ["4", "3"]
    assert found(limit=2, offset=3) == ["1", "5"]
    assert found(tags="billing") == ["5"]
    assert found(status="paused") == ["5"]
    assert found(agent="CURSOR-vscode", limit=1) == ["4"]
    assert found(dateRange={"from": "2026-05-02", "to": "2026-05-03"}) == ["3", "2"]
    assert found(dateRange={"to": "2024-03-01T11:00:00+01:00"}) == ["5"]
    assert "More: offset=2." in call("context_search", limit=2)
    assert call("context_search", offset=9) == "Sessions: 5; none from offset 9 on."
    assert call("context_search", query="nothing of this") == "No session found."


@pytest.mark.row("003 T42", "003 T76")
def test_the_configuration_sets_how_many_a_search_gives(
    call: Call, store: SessionStore, project: Path
) -> None:
    for at in range(4):
        saved(store, f"Login page {at}")
    configure(project, '{"search": {"defaultLimit": 2}}')
    assert call("context_search").startswith("Sessions: 2 of 4.")


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T50")
def test_a_chain_is_listed_and_its_sessions_are_not_called_related(call: Call) -> None:
    call("context_save", goal="Build the login page")
    assert call("context_save", goal="Fix the login page", parentId="#1") == "Saved #2."
    assert call("context_save", goal="Test the login page").startswith(
        "Saved #3.\nRelated earlier work:\n#"
    )
    assert call("context_get", id=2, includeChain=True).endswith(
        f"chain, oldest first:\n#1 {DAY} Build the login page\n#2 {DAY} Fix the login page"
    )
    assert "continues #1" in call("context_get", id=2)


@pytest.mark.row("003 T77")
def test_who_wants_no_recommendations_gets_none(call: Call, project: Path) -> None:
    call("context_save", goal="Build the login page")
    configure(project, '{"recommendations": {"enabled": false}}')
    assert call("context_save", goal="Fix the login page") == "Saved #2."
    assert call("context_warn", currentGoal="login page") == "Nothing like this failed before."
    assert call("context_recommend", currentGoal="login page").startswith("#")


@pytest.mark.row("003 T77")
def test_who_wants_no_warnings_of_failures_gets_none(call: Call, project: Path) -> None:
    call("context_save", **LOGIN)
    configure(project, '{"recommendations": {"warnOnFailedPatterns": false}}')
    said = call("context_warn", currentGoal="JWT login of the admin service")
    assert said == f"! #1 staging has no test card ({SHORT})"


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T56")
def test_a_warning_counts_what_it_has_no_room_for(call: Call) -> None:
    for at in range(8):
        call("context_save", **work("en", at))
    lines = call("context_warn", currentGoal=GOALS["en"].format(at=9)).splitlines()
    assert all(line.startswith("! #") for line in lines[:-1])
    assert lines[-1] == f"+{8 - len(lines[:-1])} more: context_recommend."


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T54.a")
def test_the_same_failure_is_told_once(call: Call) -> None:
    for at in range(3):
        call("context_save", **{**work("en", 0), "goal": GOALS["en"].format(at=at)})
    said = call("context_warn", currentGoal=GOALS["en"].format(at=9))
    assert said.count("Replace axios with fetch") == 1


@pytest.mark.row("003 T54")
def test_a_warning_of_another_year_says_which(call: Call, store: SessionStore) -> None:
    failed = (Approach(description="Axios", result="failed"),)
    saved(store, "Fix the login page", now="2023-12-20T10:00:00+00:00", approaches=failed)
    assert call("context_warn", currentGoal="the login page") == "! #1 Axios (2023/12/20)"


def test_a_session_resolved_and_redacted_says_so(call: Call) -> None:
    call("context_save", goal="Pay", blockers=[{"description": "no test card"}])
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    said = call(
        "context_save",
        goal="Pay again",
        summary=f"the key is {token}",
        parentId="1",
        blockers=[{"description": "no test card", "resolved": True, "resolution": "asked"}],
    )
    assert token not in said
    assert said.startswith("Saved #2. Secrets were redacted: ")
    assert said.endswith(" Also resolved in #1.")
    assert "unblocked: no test card → asked" in call("context_get", id=2)


@pytest.mark.row("003 T49")
def test_actions_are_shown_with_a_session_unless_they_are_left_out(
    call: Call, store: SessionStore
) -> None:
    act(store, saved(store, "Fix the login"), "npm test", "npm run build")
    assert call("context_get", id=1).endswith(
        "actions:\n- command: npm test → success\n- command: npm run build → success"
    )
    assert "npm" not in call("context_get", id=1, includeActions=False)


@pytest.mark.row("003 T22")
def test_what_has_no_room_is_counted_and_how_to_see_it_is_said(
    call: Call, store: SessionStore
) -> None:
    long = "A sentence on what happened in this part of the work. " * 36
    decisions = [{"what": f"Decision {at} on the tables", "why": "because"} for at in range(60)]
    call("context_save", goal="Big", summary=long.strip(), decisions=decisions)
    act(store, store.get("1"), *[f"npm run test -- {at}" for at in range(10)])
    lines = call("context_get", id=1).splitlines()
    shown = sum(line.startswith("decided: ") for line in lines)
    done = sum(line.startswith("- command") for line in lines)
    cut = re.search(r"… \(\+([0-9,]+) characters\)$", lines[2])
    assert cut
    assert lines[-1] == (
        f"Left out: characters of the summary: {cut[1]}, items: {60 - shown}, actions: {10 - done}."
        ' All of it: context_export(format="markdown", contextIds=["#1"]).'
    )
    assert lines[-2] == "- command: npm run test -- 9 → success"


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T57", "003 T58")
def test_statistics_count_by_status_client_and_tag(call: Call, store: SessionStore) -> None:
    call("context_save", **LOGIN)
    act(store, store.get("1"), "npm test", "npm run build", "npm start")
    saved(store, "Old work", now=OLD, tags=("auth",))
    assert call("context_stats") == (
        "Sessions: 2 (all)\nstatus: completed 2\nagents: cursor 1, tests 1\n"
        "tags: auth 2, jwt 1\nfailed approaches: 1; actions a session: 1.5"
    )
    assert call("context_stats", range="last_7_days").splitlines()[0] == (
        "Sessions: 1 (last_7_days)"
    )
    assert call("context_stats", range=None) == call("context_stats", range="ALL")


def test_without_any_session_every_tool_says_so_and_makes_nothing(
    call: Call, project: Path
) -> None:
    assert call("context_search") == "No session found."
    assert call("context_warn", currentGoal="login") == "Nothing like this failed before."
    assert call("context_recommend", currentGoal="login") == (
        "No earlier session resembles this goal."
    )
    assert call("context_stats") == "Sessions: 0 (all)"
    assert list(project.iterdir()) == []


@pytest.mark.row("003 T64", "003 T65")
def test_a_recommendation_has_summary_tags_and_failures(call: Call) -> None:
    call("context_save", **LOGIN)
    said = call("context_recommend", currentGoal="jwt login of the checkout")
    assert said == (
        f"#1 {DAY} ! Add JWT login to the checkout service [high] #jwt\n"
        "  Login works. Refresh is missing.\n"
        f"  ! Axios for the upload: CORS is refused ({SHORT})\n"
        f"  ! staging has no test card ({SHORT})"
    )


def test_a_korean_tag_is_matched_with_a_particle_and_an_english_one_as_a_word(
    call: Call,
) -> None:
    call("context_save", goal="결제 재시도 화면 만들기", tags=["결제", "ui"], status="completed")
    said = call("context_recommend", currentGoal="결제를 재시도하는 build 화면")
    assert "#결제" in said
    assert "#ui" not in said


def test_sessions_are_exported_as_text_and_into_a_file(call: Call, project: Path) -> None:
    call("context_save", **LOGIN)
    assert "Add JWT login to the checkout service" in call("context_export", format="markdown")
    said = call("context_export", format="html", output="out/sessions.html")
    assert said == "Exported sessions: 1, to out/sessions.html"
    assert (project / "out" / "sessions.html").is_file()


def test_korean_answers_are_korean(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    call("context_save", **LOGIN)
    assert call("context_save", goal="로그인 화면 고치기") == "#2(으)로 저장했습니다.".replace(
        "(으)", ""
    )
    assert call("context_search", query="login").startswith("세션 1개 중 1개.")
    assert "실패한 시도: Axios for the upload (이유: CORS is refused)" in call("context_get", id=1)


def test_outside_of_a_server_the_functions_work_and_know_no_client(store: SessionStore) -> None:
    assert tools.context_save("Fix the login") == "Saved #1."
    assert store.get("1").agent == ""


def test_a_configuration_that_cannot_be_used_is_said(refused: Call, project: Path) -> None:
    configure(project, json.dumps({"search": {"defaultLimit": 500}}))
    assert "search.defaultLimit must be a whole number from 1 to 20" in refused("context_search")
