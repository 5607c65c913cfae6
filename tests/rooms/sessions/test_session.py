"""Tests one session: what a save makes of it, its short forms, its objects and its column."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.plain import moment_of
from rooms.sessions.draft import continued, with_resolved
from rooms.sessions.session import (
    POINTS,
    STATUSES,
    Action,
    Changes,
    Draft,
    Point,
    Session,
    from_metadata,
    shortened,
    to_metadata,
)

NOW = "2026-03-01T09:00:00+00:00"
WHOLE = Session(
    number=3,
    id="ctx_3",
    parent_id="ctx_2",
    goal="로그인 버그 수정",
    summary="done",
    status="completed",
    tags=("인증", "JWT"),
    agent="claude-code",
    decisions=(Point(text="w", why="y", made_by="claude-code", at=NOW),),
    approaches=(Point(text="d", result="failed", why="r", at=NOW),),
    blockers=(Point(text="b", is_resolved=True, why="s", at=NOW, resolved_at=NOW),),
    changes=Changes(modified_files=("a.py",), summary="c"),
    started_at=NOW,
    ended_at=NOW,
    created_at=NOW,
)


def test_what_is_optional_and_empty_is_left_out_of_the_objects() -> None:
    bare = Session(number=1, id="ctx_1", goal="g", started_at=NOW, created_at=NOW)
    assert not {"parentId", "endedAt"} & bare.as_json().keys()
    assert POINTS["approaches"].as_json(Point(text="d", at=NOW, result="success")) == {
        "description": "d",
        "result": "success",
        "timestamp": NOW,
    }
    assert POINTS["blockers"].as_json(Point(text="b", at=NOW)) == {
        "description": "b",
        "resolved": False,
        "discoveredAt": NOW,
    }
    assert Action(id="a", kind="command", content="ls", created_at=NOW).as_json() == {
        "id": "a",
        "type": "command",
        "content": "ls",
        "createdAt": NOW,
    }


@pytest.mark.row("003 T12", "003 T13", "003 T14", "003 T15")
def test_the_column_gives_back_what_was_put_into_it() -> None:
    told = from_metadata(to_metadata(WHOLE))
    assert told == {
        "decisions": WHOLE.decisions,
        "approaches": WHOLE.approaches,
        "blockers": WHOLE.blockers,
        "changes": WHOLE.changes,
        "former": WHOLE.former,
    }
    assert to_metadata(Session(number=1, id="ctx_1", goal="g")) == "{}"


ODD = """ [] 7 null "x" { {"decisions":7} {"decisions":[7,null,"x",[]]} {"approaches":{}} NaN
 {"blockers":[{"description":7,"resolved":"yes"}]} {"codeChanges":[]} not\x00json
 {"codeChanges":{"modifiedFiles":[1,"a"],"summary":[]}} """.split()


@pytest.mark.row("003 T12", "003 T13", "003 T14", "003 T15")
@pytest.mark.parametrize("text", [*ODD, "", "[" * 100_000, '{"decisions":' + "[" * 90_000])
def test_what_others_put_into_the_column_breaks_nothing(text: str) -> None:
    session = Session(number=1, id="ctx_1", goal="g", **from_metadata(text))
    assert all(isinstance(it, str) for it in session.texts)
    assert json.loads(json.dumps(session.as_json()))


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T18")
@given(st.text(max_size=300), st.integers(2, 100))
def test_a_short_form_is_one_line_within_its_characters(text: str, most: int) -> None:
    short = shortened(text, most)
    line = " ".join(text.split())
    assert len(short) <= most and "\n" not in short
    assert short == line or (short.endswith("…") and line.startswith(short[:-1].rstrip()))


def test_the_short_forms_have_fifty_and_a_hundred_characters() -> None:
    long = Session(number=1, id="ctx_1", goal="가" * 500, summary="나" * 2000)
    assert long.goal_short == "가" * 49 + "…"
    assert long.summary_short == "나" * 99 + "…"
    exact = Session(number=1, id="ctx_1", goal="가" * 50, summary="나" * 100)
    assert (exact.goal_short, exact.summary_short) == (exact.goal, exact.summary)


DATES = {
    "2026-03-01T09:00:00+00:00": "2026-03-01T09:00:00+00:00",
    "2026-03-01T18:00:00.123+09:00": "2026-03-01T09:00:00+00:00",
    "2026-03-01T09:00:00Z": "2026-03-01T09:00:00+00:00",
    "2026-03-01 09:00:00": "2026-03-01T09:00:00+00:00",
    "2026-03-01": "2026-03-01T00:00:00+00:00",
    "yesterday": "",
    "now": "",
    "": "",
    "2026-13-45": "",
    "0001-01-01T00:00:00+14:00": "",
    "9999-12-31T23:59:59-14:00": "",
}


def test_a_date_from_outside_becomes_a_moment_in_utc_or_nothing() -> None:
    assert {text: moment_of(text) for text in DATES} == DATES


FIRST, LATER = "2026-03-01T09:00:00+00:00", "2026-03-02T09:00:00+00:00"


def first(**fields: Any) -> Session:
    new = Session(number=0, id="ctx_1", goal="g", started_at=FIRST, created_at=FIRST)
    return continued(new, Draft(goal="g", **fields), agent="codex", now=FIRST)


def later(session: Session, **fields: Any) -> Session:
    return continued(session, Draft(**{"goal": "g", **fields}), agent="cursor", now=LATER)


@pytest.mark.row("003 T9", "003 T17")
def test_a_new_session_begins_now_and_is_being_planned() -> None:
    session = first()
    assert (session.status, session.agent) == ("planning", "codex")
    assert session.started_at == session.created_at == session.updated_at == FIRST
    assert (session.ended_at, session.has_warnings) == ("", False)


@pytest.mark.row("003 T26.c", "003 T33.a")
def test_what_a_draft_leaves_open_stays_and_what_it_gives_is_taken() -> None:
    session = first(summary="s", status="coding", tags=("a",), parent="ctx_0")
    same = later(session)
    assert (same.summary, same.status, same.tags) == ("s", "coding", ("a",))
    assert (same.parent_id, same.agent) == ("ctx_0", "cursor")
    assert (same.started_at, same.created_at, same.updated_at) == (FIRST, FIRST, LATER)
    other = later(session, goal="h", summary="", status="testing", tags=(), parent="ctx_9")
    assert (other.goal, other.summary, other.status) == ("h", "", "testing")
    assert (other.tags, other.parent_id) == ((), "ctx_9")


@pytest.mark.row("003 T9.a", "003 T17")
@pytest.mark.parametrize("status", STATUSES)
def test_completed_and_paused_end_a_session(status: str) -> None:
    ends = status in ("completed", "paused")
    assert first(status=status).ended_at == (FIRST if ends else "")
    again = later(first(status="completed"), status=status)
    assert again.ended_at == (LATER if ends else "")  # with the last save that says so
    assert later(first(status="completed")).ended_at == FIRST


@pytest.mark.row("003 T12", "003 T33")
def test_a_decision_joins_and_keeps_the_time_at_which_it_was_told_first() -> None:
    session = later(
        first(decisions=(Point(text="use JWT", why="stateless"),)),
        decisions=(Point(text="Use JWT."), Point(text="no cookies", why="CORS")),
    )
    assert session.decisions == (
        Point(text="use JWT", why="stateless", made_by="codex", at=FIRST),
        Point(text="no cookies", why="CORS", made_by="cursor", at=LATER),
    )
    again = later(session, decisions=(Point(text="use JWT", why="stateless"),))
    assert again.decisions == session.decisions
    changed = later(session, decisions=(Point(text="use JWT", why="one login for all"),))
    assert changed.decisions[0] == Point(
        text="use JWT", why="one login for all", made_by="cursor", at=LATER
    )
    assert len(changed.decisions) == 2


@pytest.mark.row("003 T13", "003 T33")
def test_an_approach_is_replaced_once_it_went_otherwise() -> None:
    session = first(approaches=(Point(text="fetch", result="partial", why="slow"),))
    assert later(session, approaches=session.approaches).approaches == session.approaches
    told_again = (Point(text="Fetch", result="partial"),)
    assert later(session, approaches=told_again).approaches == session.approaches
    failed = later(session, approaches=(Point(text="fetch", result="failed"),))
    assert failed.approaches == (Point(text="fetch", result="failed", at=LATER),)
    assert failed.has_warnings and not session.has_warnings


@pytest.mark.row("003 T14", "003 T33")
def test_a_blocker_keeps_its_discovery_and_is_resolved_once() -> None:
    blocked = first(blockers=(Point(text="no access"),))
    assert blocked.blockers == (Point(text="no access", at=FIRST),)
    assert blocked.has_warnings
    solved = later(blocked, blockers=(Point(text="no  access.", is_resolved=True,
                                              why="asked"),))  # fmt: skip
    [it] = solved.blockers
    assert (it.is_resolved, it.why) == (True, "asked")
    assert (it.at, it.resolved_at) == (FIRST, LATER)
    assert not solved.has_warnings
    again = later(solved, blockers=(Point(text="no access", is_resolved=True),))
    assert (again.blockers[0].why, again.blockers[0].resolved_at) == ("asked", LATER)
    open_again = later(solved, blockers=(Point(text="no access"),))
    assert open_again.has_warnings
    assert (open_again.blockers[0].why, open_again.blockers[0].resolved_at) == ("", "")


@pytest.mark.row("003 T15", "003 T33")
def test_files_add_up_and_the_newer_words_on_them_stay() -> None:
    session = first(changes=Changes(modified_files=("a", "b"), summary="one"))
    more = later(session, changes=Changes(modified_files=("b", "c"), summary="two"))
    assert more.changes == Changes(modified_files=("a", "b", "c"), summary="two")
    assert later(more, changes=Changes(modified_files=("d",))).changes.summary == "two"
    assert later(more).changes == more.changes


def test_dates_that_an_import_gives_stay() -> None:
    given = "2025-12-20T00:00:00+00:00"
    session = first(
        decisions=(Point(text="w", made_by="someone", at=given),),
        approaches=(Point(text="d", at=given, result="success"),),
        blockers=(
            Point(text="b", is_resolved=True, at=given, resolved_at=given),
            Point(text="c", resolved_at=given),
        ),
    )
    assert (session.decisions[0].made_by, session.decisions[0].at) == ("someone", given)
    assert session.approaches[0].at == given
    assert (session.blockers[0].at, session.blockers[0].resolved_at) == (given, given)
    assert session.blockers[1].resolved_at == ""  # of an open one there is none


@pytest.mark.row("003 T14.a")
def test_a_later_session_resolves_the_open_blockers_that_it_names() -> None:
    before = first(
        blockers=(
            Point(text="no access", why="wait"),
            Point(text="slow CI"),
            Point(text="done", is_resolved=True, why="so"),
        )
    )
    told = (
        Point(text="No access", is_resolved=True, why="asked"),
        Point(text="slow CI"),
        Point(text="done", is_resolved=True, why="otherwise"),
    )
    after = with_resolved(before, told, LATER)
    assert after.has_warnings  # slow CI is still open
    assert [(it.is_resolved, it.why, it.resolved_at) for it in after.blockers] == [
        (True, "asked", LATER),
        (False, "", ""),
        (True, "so", FIRST),
    ]
    all_told = (*told, Point(text="slow CI", is_resolved=True))
    assert not with_resolved(before, all_told, LATER).has_warnings
    assert after.updated_at == before.updated_at
    untouched = with_resolved(before, (Point(text="other", is_resolved=True),), LATER)
    assert untouched is before
