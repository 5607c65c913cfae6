"""Tests one session: its short forms, its declared objects, and what its column may hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.normal_form import moment_of
from rooms.sessions.session import (
    Action,
    Approach,
    Blocker,
    Changes,
    Decision,
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
    decisions=(Decision(what="w", why="y", made_by="claude-code", timestamp=NOW),),
    approaches=(Approach(description="d", result="failed", reason="r", timestamp=NOW),),
    blockers=(
        Blocker(description="b", resolved=True, resolution="s", discovered_at=NOW, resolved_at=NOW),
    ),
    changes=Changes(modified_files=("a.py",), summary="c"),
    started_at=NOW,
    ended_at=NOW,
    created_at=NOW,
)


def test_what_is_optional_and_empty_is_left_out_of_the_objects() -> None:
    bare = Session(number=1, id="ctx_1", goal="g", started_at=NOW, created_at=NOW)
    assert not {"parentId", "endedAt"} & bare.as_json().keys()
    assert Approach(description="d", timestamp=NOW).as_json() == {
        "description": "d",
        "result": "success",
        "timestamp": NOW,
    }
    assert Blocker(description="b", discovered_at=NOW).as_json() == {
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
