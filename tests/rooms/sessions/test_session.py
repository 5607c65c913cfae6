"""Tests one session: what may be stored of a draft, what a save makes of it, how it is stored."""

import base64
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.plain import moment_of
from rooms.sessions.draft import agent_of, continued, prepared, with_resolved
from rooms.sessions.session import (
    POINTS,
    STATUSES,
    Action,
    Changes,
    Draft,
    Former,
    Point,
    Session,
    SessionsError,
    from_metadata,
    read_session,
    shortened,
    to_metadata,
)

FIRST, LATER = "2026-03-01T09:00:00+00:00", "2026-03-02T09:00:00+00:00"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HALVES = f"{TOKEN[:20]}\u200b{TOKEN[20:]}"
BARE = Session(number=1, id="ctx_1", goal="g", started_at=FIRST, created_at=FIRST)
WHOLE = Session(
    number=0,
    id="ctx_3",
    parent_id="ctx_2",
    goal="로그인 버그 수정",
    summary="done",
    status="completed",
    tags=("인증", "JWT"),
    agent="claude-code",
    decisions=(Point(text="w", why="y", made_by="claude-code", at=FIRST),),
    approaches=(Point(text="d", result="failed", why="r", at=FIRST),),
    blockers=(Point(text="b", is_resolved=True, why="s", at=FIRST, resolved_at=FIRST),),
    changes=Changes(modified_files=("a.py",), summary="c"),
    former=(Former(at=FIRST, goal="an older one", tags=("auth",)),),
    started_at=FIRST,
    ended_at=FIRST,
    created_at=FIRST,
)


# what may be stored of a draft


def whole(text: str) -> Draft:
    """A draft with this in every text of it: in every declared field that is no word of ours."""
    ours = {"result", "is_resolved", "at", "resolved_at"}
    points: Any = {
        name: (Point(**dict.fromkeys({*shape.names.values()} - ours, text)),)  # type: ignore[arg-type]
        for name, shape in POINTS.items()
    }
    points["approaches"] = (replace(points["approaches"][0], result="failed"),)
    changes = Changes(modified_files=(text,), summary=text)
    return Draft(goal=text, summary=text, tags=(text,), changes=changes, **points)


def refusal(draft: Draft, **more: bool) -> str:
    with pytest.raises(SessionsError) as caught:
        prepared(draft, **more)
    return str(caught.value)


def test_a_draft_without_anything_wrong_comes_back_as_it_is() -> None:
    draft = whole("a text: `rm -rf`, 100 %, “quotes”\n\ttwo lines")
    assert prepared(draft) == (draft, ())


@pytest.mark.row("003 T86")
@pytest.mark.parametrize("text", [TOKEN, HALVES])
def test_a_secret_goes_from_every_field(text: str) -> None:
    done = prepared(whole(f"key {text} it"))
    assert len(done.redacted) == 1
    shown = repr(done.draft)
    assert shown.count("[REDACTED]") == 12
    assert TOKEN not in shown.replace("\u200b", "").replace("\\u200b", "")


# By field and limit: the parts of a draft with `{}` for a text.
LIMITS: list[tuple[str, int, dict[str, Any]]] = [
    ("goal", 500, {"goal": "{}"}),
    ("summary", 2000, {"summary": "{}"}),
    ("tags", 50, {"tags": ("{}",)}),
    ("decisions", 1000, {"decisions": (Point(text="{}"),)}),
    ("decisions", 1000, {"decisions": (Point(text="w", why="{}"),)}),
    ("approaches", 1000, {"approaches": (Point(text="{}", result="success"),)}),
    ("approaches", 1000, {"approaches": (Point(text="d", why="{}", result="success"),)}),
    ("blockers", 1000, {"blockers": (Point(text="{}"),)}),
    ("blockers", 1000, {"blockers": (Point(text="b", why="{}"),)}),
    ("codeChanges", 1000, {"changes": Changes(summary="{}")}),
    ("codeChanges", 500, {"changes": Changes(modified_files=("{}",))}),
]


def filled(value: Any, text: str) -> Any:
    """The value with this text for `{}`, however deep."""
    if isinstance(value, str):
        return value.replace("{}", text)
    if isinstance(value, tuple):
        return tuple(filled(it, text) for it in value)
    if isinstance(value, dict):
        return {name: filled(it, text) for name, it in value.items()}
    if isinstance(value, Point | Changes):
        fields = {name: getattr(value, name) for name in value.__slots__}
        return type(value)(**{name: filled(it, text) for name, it in fields.items()})
    return value


def drafts(text: str, **others: str) -> list[tuple[str, int, Draft]]:
    """A draft for each place of a text, with the field and its limit."""
    return [
        (field, most, Draft(**{"goal": "g", **others, **filled(template, text)}))
        for field, most, template in LIMITS
    ]


@pytest.mark.row("003 T86")
def test_what_one_field_gives_away_goes_from_the_others() -> None:
    """The value alone looks like nothing; the field with its name tells what it is."""
    value = "Xk29vQp7LmR4"
    others = {"goal": f"try {value} again", "summary": f"and {value}"}
    for field, _, draft in drafts(f"x password={value}", **others):
        done = prepared(draft)
        assert value not in repr(done.draft) and done.redacted, field
    split = f"{value[:5]}\u2060{value[5:]}"
    done = prepared(Draft(goal=f"password={split}", summary=f"with {value} and {split}"))
    assert "Xk29" not in repr(done.draft)


def test_a_strict_store_refuses_a_secret_by_the_name_of_its_field() -> None:
    for field, _, draft in drafts(TOKEN):
        said = refusal(draft, strict=True)
        assert said.startswith(f"{field}: this looks like a secret (")
        assert "Nothing was saved" in said and TOKEN not in said


@pytest.mark.row("003 T19")
@pytest.mark.parametrize("letter", ["a", "한", "👩"])
def test_limits_are_characters_of_what_is_stored(letter: str) -> None:
    for field, most, template in LIMITS:
        exact = Draft(**{"goal": "g", **filled(template, letter * most)})
        assert prepared(exact).draft == exact, field
        said = refusal(Draft(**{"goal": "g", **filled(template, letter * (most + 1))}))
        assert said.startswith(f"{field}: {most + 1:,} characters, 1 above the limit of {most:,}.")


def test_a_limit_holds_for_the_text_without_its_secrets() -> None:
    chance = random.Random(1)
    lines = [base64.b64encode(chance.randbytes(48)).decode() for _ in range(50)]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    assert len(key) > 3_000
    assert len(prepared(Draft(goal="g", summary=f"the key\n{key}")).draft.summary or "") < 100
    assert "4,000 characters" in refusal(Draft(goal="g", summary="word " * 800))
    # What no redaction makes short enough is refused at once.
    assert "1,000,000 characters" in refusal(Draft(goal="x" * 1_000_000))


@pytest.mark.parametrize(
    ("field", "most", "given"),
    [
        ("tags", 20, {"tags": tuple(f"t{at}" for at in range(21))}),
        ("decisions", 100, {"decisions": tuple(Point(text=f"d{at}") for at in range(101))}),
        ("approaches", 100, {"approaches": (Point(text="d", result="success"),) * 101}),
        ("blockers", 100, {"blockers": (Point(text="b"),) * 101}),
        ("codeChanges", 500, {"changes": Changes(modified_files=("f",) * 501)}),
    ],
)
def test_too_many_of_a_kind_are_refused(field: str, most: int, given: dict[str, Any]) -> None:
    said = refusal(Draft(goal="g", **given))
    assert said.startswith(f"{field}: {most + 1} given, at most {most} allowed.")


@pytest.mark.parametrize(
    ("field", "draft"),
    [
        ("goal", Draft(goal=" \n\t\u3000")),
        ("decisions", Draft(goal="g", decisions=(Point(text=" "),))),
        ("approaches", Draft(goal="g", approaches=(Point(text="", result="success"),))),
        ("blockers", Draft(goal="g", blockers=(Point(text="\n"),))),
    ],
)
def test_what_must_be_told_must_not_be_blank(field: str, draft: Draft) -> None:
    assert refusal(draft).startswith(f"{field}: it is blank. Nothing was saved.")


def test_half_a_character_is_refused() -> None:
    for field, _, draft in drafts("a\ud800b"):
        assert refusal(draft).startswith(f"{field}: it contains half of a character")


@pytest.mark.row("003 T10")
def test_blanks_around_goal_and_tags_doubles_and_empty_ones_are_left_out() -> None:
    draft = Draft(
        goal="  fix it \n",
        tags=(" JWT", "JWT", "", "  ", "가", "\u1100\u1161"),
        changes=Changes(modified_files=("a.py", "", "a.py", "b.py")),
    )
    done = prepared(draft).draft
    assert (done.goal, done.tags) == ("fix it", ("JWT", "가"))
    assert done.changes == Changes(modified_files=("a.py", "b.py"))


@pytest.mark.row("003 T11")
def test_the_name_of_a_client_is_one_short_line() -> None:
    assert agent_of(" Cursor-VSCode\n") == "cursor"
    assert agent_of("a\x1b[31m\ud800b") == "a[31mb"
    assert agent_of("x" * 5_000) == "x" * 40


# what a save makes of it


def first(**fields: Any) -> Session:
    draft = Draft(goal="g", **fields)
    return continued(replace(BARE, number=0), draft, agent="codex", now=FIRST)


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
    cure = (Point(text="no  access.", is_resolved=True, why="asked"),)
    solved = later(blocked, blockers=cure)
    [it] = solved.blockers
    assert (it.is_resolved, it.why, it.at, it.resolved_at) == (True, "asked", FIRST, LATER)
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


@pytest.mark.row("003 T14.a")
def test_a_later_session_resolves_the_open_blockers_that_it_names() -> None:
    done = Point(text="done", is_resolved=True, why="so")
    before = first(blockers=(Point(text="no access", why="wait"), Point(text="slow CI"), done))
    told = (
        Point(text="No access", is_resolved=True, why="asked"),
        Point(text="slow CI"),
        replace(done, why="otherwise"),
    )
    after = with_resolved(before, told, LATER)
    assert after.has_warnings  # slow CI is still open
    assert [(it.is_resolved, it.why, it.resolved_at) for it in after.blockers] == [
        *((True, "asked", LATER), (False, "", ""), (True, "so", FIRST)),
    ]
    all_told = (*told, Point(text="slow CI", is_resolved=True))
    assert not with_resolved(before, all_told, LATER).has_warnings
    assert after.updated_at == before.updated_at
    assert with_resolved(before, (Point(text="other", is_resolved=True),), LATER) is before


# how it is stored and given out


def test_what_is_optional_and_empty_is_left_out_of_the_objects() -> None:
    assert not {"parentId", "endedAt"} & BARE.as_json().keys()
    tried = POINTS["approaches"].as_json(Point(text="d", at=FIRST, result="success"))
    assert tried == {"description": "d", "result": "success", "timestamp": FIRST}
    blocked = POINTS["blockers"].as_json(Point(text="b", at=FIRST))
    assert blocked == {"description": "b", "resolved": False, "discoveredAt": FIRST}
    done = Action(id="a", kind="command", content="ls", created_at=FIRST).as_json()
    assert done == {"id": "a", "type": "command", "content": "ls", "createdAt": FIRST}


@pytest.mark.row("003 T12", "003 T13", "003 T14", "003 T15")
def test_the_column_and_the_object_give_back_what_was_put_into_them() -> None:
    names = (*POINTS, "changes", "former")
    assert from_metadata(to_metadata(WHOLE)) == {name: getattr(WHOLE, name) for name in names}
    assert to_metadata(BARE) == "{}"
    told = {**WHOLE.as_json(), "former": WHOLE.former_objects}
    assert read_session(json.loads(json.dumps(told))) == WHOLE


ODD = """ [] 7 null "x" { {"decisions":7} {"decisions":[7,null,"x",[]]} {"approaches":{}} NaN
 {"blockers":[{"description":7,"resolved":"yes"}]} {"codeChanges":[]} not\x00json
 {"codeChanges":{"modifiedFiles":[1,"a"],"summary":[]}} """.split()


@pytest.mark.row("003 T12", "003 T13", "003 T14", "003 T15")
@pytest.mark.parametrize("text", [*ODD, "", "[" * 100_000, '{"decisions":' + "[" * 90_000])
def test_what_others_put_into_the_column_breaks_nothing(text: str) -> None:
    session = replace(BARE, **from_metadata(text))
    assert all(isinstance(it, str) for it in session.texts)
    assert json.loads(json.dumps(session.as_json()))


@pytest.mark.row("003 T18")
@given(st.text(max_size=300), st.integers(2, 100))
def test_a_short_form_is_one_line_within_its_characters(text: str, most: int) -> None:
    short = shortened(text, most)
    line = " ".join(text.split())
    assert len(short) <= most and "\n" not in short
    assert short == line or (short.endswith("…") and line.startswith(short[:-1].rstrip()))


def test_the_short_forms_have_fifty_and_a_hundred_characters() -> None:
    long = replace(BARE, goal="가" * 500, summary="나" * 2000)
    assert (long.goal_short, long.summary_short) == ("가" * 49 + "…", "나" * 99 + "…")
    exact = replace(BARE, goal="가" * 50, summary="나" * 100)
    assert (exact.goal_short, exact.summary_short) == (exact.goal, exact.summary)


DATES = {
    "2026-03-01T09:00:00+00:00": FIRST,
    "2026-03-01T18:00:00.123+09:00": FIRST,
    "2026-03-01T09:00:00Z": FIRST,
    "2026-03-01 09:00:00": FIRST,
    "2026-03-01": "2026-03-01T00:00:00+00:00",
    **dict.fromkeys(("yesterday", "now", "", "2026-13-45"), ""),
    **dict.fromkeys(("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"), ""),
}


def test_a_date_from_outside_becomes_a_moment_in_utc_or_nothing() -> None:
    assert {text: moment_of(text) for text in DATES} == DATES
