"""Tests what may be stored of a draft: no secret, no blank, nothing above its limit."""

import base64
import random
from dataclasses import replace
from typing import Any

import pytest

from rooms.sessions.draft import client_name, prepared
from rooms.sessions.session import POINTS, Changes, Draft, Point, SessionsError

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HALVES = f"{TOKEN[:20]}\u200b{TOKEN[20:]}"


def a_point(kind: str, text: str) -> Point:
    """A point with this in every declared field that is no word of ours and no moment."""
    ours = {"result", "is_resolved", "at", "resolved_at"}
    fields: Any = dict.fromkeys({*POINTS[kind].names.values()} - ours, text)
    return Point(**fields)


def whole(text: str) -> Draft:
    """A draft with this in every text of it."""
    return Draft(
        goal=text,
        summary=text,
        tags=(text,),
        decisions=(a_point("decisions", text),),
        approaches=(replace(a_point("approaches", text), result="failed"),),
        blockers=(a_point("blockers", text),),
        changes=Changes(modified_files=(text,), summary=text),
    )


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


FIELDS: dict[str, dict[str, Any]] = {
    "goal": {"goal": "x {}"},
    "summary": {"summary": "x {}"},
    "tags": {"tags": ("x {}",)},
    "decisions": {"decisions": (Point(text="w", why="x {}"),)},
    "approaches": {"approaches": (Point(text="d", why="x {}", result="success"),)},
    "blockers": {"blockers": (Point(text="x {}"),)},
    "codeChanges": {"changes": Changes(modified_files=("x {}",))},
}


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


@pytest.mark.row("003 T86")
@pytest.mark.parametrize("field", FIELDS)
def test_what_one_field_gives_away_goes_from_the_others(field: str) -> None:
    """The value alone looks like nothing; the field with its name tells what it is."""
    value = "Xk29vQp7LmR4"
    given = filled(FIELDS[field], f"password={value}")
    draft = Draft(**{"goal": f"try {value} again", "summary": f"and {value}", **given})
    done = prepared(draft)
    assert value not in repr(done.draft) and done.redacted


def test_hidden_characters_split_no_secret_off_from_the_same_one_elsewhere() -> None:
    value = "Xk29vQp7LmR4"
    split = f"{value[:5]}\u2060{value[5:]}"
    done = prepared(Draft(goal=f"password={split}", summary=f"with {value} and {split}"))
    assert "Xk29" not in repr(done.draft)


@pytest.mark.parametrize("field", FIELDS)
def test_a_strict_store_refuses_a_secret_by_the_name_of_its_field(field: str) -> None:
    draft = Draft(**{"goal": "g", **filled(FIELDS[field], TOKEN)})
    said = refusal(draft, strict=True)
    assert said.startswith(f"{field}: this looks like a secret (")
    assert "Nothing was saved" in said and TOKEN not in said


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


def test_a_text_that_no_redaction_makes_short_enough_is_refused_at_once() -> None:
    assert "1,000,000 characters" in refusal(Draft(goal="x" * 1_000_000))


COUNTS: list[tuple[str, int, dict[str, Any]]] = [
    ("tags", 20, {"tags": tuple(f"t{at}" for at in range(21))}),
    ("decisions", 100, {"decisions": tuple(Point(text=f"d{at}") for at in range(101))}),
    ("approaches", 100, {"approaches": (Point(text="d", result="success"),) * 101}),
    ("blockers", 100, {"blockers": (Point(text="b"),) * 101}),
    ("codeChanges", 500, {"changes": Changes(modified_files=("f",) * 501)}),
]


@pytest.mark.parametrize(("field", "most", "given"), COUNTS)
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


@pytest.mark.parametrize("field", FIELDS)
def test_half_a_character_is_refused(field: str) -> None:
    said = refusal(Draft(**{"goal": "g", **filled(FIELDS[field], "a\ud800b")}))
    assert said.startswith(f"{field}: it contains half of a character")


@pytest.mark.row("003 T10")
def test_blanks_around_goal_and_tags_doubles_and_empty_ones_are_left_out() -> None:
    draft = Draft(
        goal="  fix it \n",
        tags=(" JWT", "JWT", "", "  ", "가", "\u1100\u1161"),
        changes=Changes(modified_files=("a.py", "", "a.py", "b.py")),
    )
    done = prepared(draft).draft
    assert done.goal == "fix it"
    assert done.tags == ("JWT", "가")
    assert done.changes == Changes(modified_files=("a.py", "b.py"))


def test_dates_of_an_import_are_taken_when_they_are_dates() -> None:
    done = prepared(
        Draft(
            goal="g",
            decisions=(Point(text="w", at="2025-12-20T10:00:00.5+09:00"),),
            approaches=(Point(text="d", at=f"key {TOKEN}", result="success"),),
            blockers=(Point(text="b", at="2025-12-20", resolved_at="soon"),),
        )
    ).draft
    assert done.decisions[0].at == "2025-12-20T01:00:00+00:00"
    assert done.approaches[0].at == ""
    assert done.blockers[0].at == "2025-12-20T00:00:00+00:00"
    assert done.blockers[0].resolved_at == ""


@pytest.mark.row("003 T11")
def test_the_name_of_a_client_is_one_short_line_without_a_secret() -> None:
    assert client_name(" claude-code\n") == "claude-code"
    assert client_name("a\x1b[31m\ud800b") == "a\ufffd[31m\ufffdb"
    assert client_name("x" * 5_000) == "x" * 100
    assert client_name(f"client {TOKEN}") == ""
