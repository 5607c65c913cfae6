"""Tests one session: the limits of a draft, and the session that a save makes of it."""

import base64
import json
import os
import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.text.plain import moment_of
from rooms.sessions.answers import session_answer
from rooms.sessions.draft import agent_of, continue_session, redact_draft
from rooms.sessions.hints import hint_of
from rooms.sessions.search import Criteria, find_similar, search
from rooms.sessions.session import (
    CHANGES,
    POINTS,
    SESSION,
    Changes,
    Draft,
    Point,
    Session,
    SessionsError,
    fields_in_metadata,
    metadata_of,
    read_session,
    shorten,
)
from rooms.sessions.store import SessionStore
from rooms.sessions.upkeep import delete_session
from tests.core.guard.secret_corpus import sampled
from tests.support.cli_process import TOKEN
from tests.support.sentences import in_language
from tests.support.session_samples import every_byte
from tests.support.tables import table

FIRST, LATER = "2026-03-01T09:00:00+00:00", "2026-03-02T09:00:00+00:00"
BARE = Session(number=1, id="ctx_1", goal="g", started_at=FIRST, created_at=FIRST)
TABLE = table("sessions/points")
LIMITS = TABLE["limits"]  # field, limit, and the arguments of a save with `{}` for a text


def fill(value: Any, text: str) -> Any:
    """The value with this text for `{}`, however deep."""
    if isinstance(value, str):
        return value.replace("{}", text)
    if isinstance(value, list):
        return [fill(item, text) for item in value]
    if isinstance(value, dict):
        return {name: fill(item, text) for name, item in value.items()}
    return value


def points_of(name: str, objects: list[dict[str, Any]]) -> tuple[Point, ...]:
    return tuple(map(POINTS[name].read, objects))


def draft_of(arguments: dict[str, Any], text: str = "") -> Draft:
    """The draft of the arguments of a save, with this text for `{}`."""
    data = {"goal": "g", **fill(arguments, text)}
    points: Any = {name: points_of(name, data.get(name, [])) for name in POINTS}
    tags = tuple(data["tags"]) if "tags" in data else None
    changes = CHANGES.read(data["codeChanges"]) if "codeChanges" in data else None
    texts: Any = {"goal": data["goal"], "summary": data.get("summary")}
    return Draft(**texts, tags=tags, changes=changes, **points)


def draft_filled_with(text: str) -> Draft:
    """A draft with this in every text of it: in every declared field that is no word of ours."""
    own_names = {"result", "is_resolved", "at", "resolved_at"}
    points: Any = {
        name: (Point(**dict.fromkeys({*shape.names.values()} - own_names, text)),)  # type: ignore[arg-type]
        for name, shape in POINTS.items()
    }
    points["approaches"] = (replace(points["approaches"][0], result="failed"),)
    changes = Changes(modified_files=(text,), summary=text)
    return Draft(goal=text, summary=text, tags=(text,), changes=changes, **points)


def refusal_of(draft: Draft, **more: bool) -> str:
    with pytest.raises(SessionsError) as caught:
        redact_draft(draft, **more)
    return str(caught.value)


@pytest.mark.row("003 T10", "003 T11")
def test_a_draft_is_stored_as_it_is_without_blanks_around_it_and_doubles() -> None:
    draft = draft_filled_with("a text: `rm -rf`, 100 %, “quotes”\n\ttwo lines")
    assert redact_draft(draft) == (draft, ())
    tags = (" JWT", "JWT", "", "  ", "가", "\u1100\u1161")
    changes = Changes(modified_files=("a.py", "", "a.py", "b.py"))
    draft = redact_draft(Draft(goal="  fix it \n", tags=tags, changes=changes))[0]
    assert (draft.goal, draft.tags) == ("fix it", ("JWT", "가"))
    assert draft.changes == Changes(modified_files=("a.py", "b.py"))
    names = (" Cursor-VSCode\n", "a\x1b[31m\ud800b", "x" * 5_000)
    assert [agent_of(name) for name in names] == ["cursor", "a[31mb", "x" * 40]


@pytest.mark.row("003 T86")
@pytest.mark.parametrize("text", [TOKEN, f"{TOKEN[:20]}\u200b{TOKEN[20:]}"])
def test_a_secret_goes_from_every_field(text: str) -> None:
    draft, [_] = redact_draft(draft_filled_with(f"key {text} it"))
    text = repr(draft)
    assert text.count("[REDACTED]") == 12
    assert TOKEN not in text.replace("\u200b", "").replace("\\u200b", "")


@pytest.mark.row("003 T86")
def test_a_secret_that_one_field_gives_away_goes_from_the_others() -> None:
    """The value alone looks like nothing; the field with its name tells that it is a secret."""
    value = "Xk29vQp7LmR4"
    texts = {"goal": f"try {value} again", "summary": f"and {value}"}
    for field, _, arguments in LIMITS:
        draft, kinds = redact_draft(draft_of({**texts, **arguments}, f"x password={value}"))
        assert value not in repr(draft) and kinds, field
    split = f"{value[:5]}\u2060{value[5:]}"
    draft, _ = redact_draft(Draft(goal=f"password={split}", summary=f"with {value} and {split}"))
    assert "Xk29" not in repr(draft)


def refused_drafts() -> Iterator[tuple[Draft, bool, str]]:
    """Drafts, whether the store is strict, and the beginning of their refusals."""
    for field, most, arguments in LIMITS:
        for text, is_strict, sentence in (
            (TOKEN, True, "this looks like a secret (github-token). Nothing was saved."),
            ("👩" * (most + 1), False, f"{most + 1:,} characters, 1 above the limit of {most:,}."),
            ("a\ud800b", False, "it contains half of a character"),
        ):
            yield draft_of(arguments, text), is_strict, f"{field}: {sentence}"
    for field, most, arguments in TABLE["counts"]:
        several = json.loads(json.dumps(arguments))
        holder = several["codeChanges"] if field == "codeChanges" else several
        [name] = holder
        holder[name] = [fill(item, f"{i}") for i in range(most + 1) for item in holder[name]]
        yield draft_of(several), False, f"{field}: {most + 1} given, at most {most} allowed."
    for field, arguments in TABLE["blank"]:
        yield draft_of(arguments), False, f"{field}: it is blank. Nothing was saved."


@pytest.mark.row("003 T19")
def test_a_value_that_cannot_be_stored_is_refused_by_the_name_of_its_field() -> None:
    for draft, is_strict, beginning in refused_drafts():
        sentence = refusal_of(draft, strict=is_strict)
        assert sentence.startswith(beginning)
        assert TOKEN not in sentence
    for field, most, arguments in LIMITS:
        for letter in "a한👩":
            exact = draft_of(arguments, letter * most)
            assert redact_draft(exact)[0] == exact, field


def test_a_limit_holds_for_the_text_without_its_secrets() -> None:
    chance = random.Random(1)
    lines = [base64.b64encode(chance.randbytes(48)).decode() for _ in range(50)]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    assert len(key) > 3_000
    assert len(redact_draft(Draft(goal="g", summary=f"the key\n{key}"))[0].summary or "") < 100
    assert "4,000 characters" in refusal_of(Draft(goal="g", summary="word " * 800))
    # A text that no redaction makes short enough is refused at once.
    assert "1,000,000 characters" in refusal_of(Draft(goal="x" * 1_000_000))


# saved drafts


def first(**fields: Any) -> Session:
    draft = Draft(goal="g", **fields)
    return continue_session(replace(BARE, number=0), draft, agent="codex", now=FIRST)


def later(session: Session, **fields: Any) -> Session:
    return continue_session(session, Draft(**{"goal": "g", **fields}), agent="cursor", now=LATER)


@pytest.mark.row("003 T12", "003 T13", "003 T14", "003 T33")
@pytest.mark.parametrize("case", TABLE["joined"])
def test_points_join_and_keep_the_time_at_which_they_were_told_first(case: str) -> None:
    row = TABLE["joined"][case]
    name, expected = row["kind"], points_of(row["kind"], row["expected"])
    session = first(**{name: points_of(name, row["stored"])})
    session = later(session, **{name: points_of(name, row["told"])})
    assert (getattr(session, name), session.has_warnings) == (expected, row["warns"])
    assert later(session, **{name: expected}) == session


def test_saves_that_add_up_to_too_much_are_refused() -> None:
    decided = first(decisions=tuple(Point(text=f"{i}") for i in range(100)))
    with pytest.raises(SessionsError, match="decisions: 101 given"):
        later(decided, decisions=(Point(text="more"),))
    changed = first(changes=Changes(modified_files=tuple(f"{i}.py" for i in range(500))))
    with pytest.raises(SessionsError, match="codeChanges: 501 given"):
        later(changed, changes=Changes(modified_files=("more.py",)))


# how it is stored and given out


@pytest.mark.row("003 T12", "003 T13", "003 T14", "003 T15")
def test_the_column_and_the_object_give_back_every_value_put_into_them() -> None:
    session = read_session(TABLE["whole"])
    data = {**SESSION.as_json(session), "updatedAt": LATER, "former": session.former_objects}
    assert data == TABLE["whole"]  # empty optional fields are left out
    fields = {name: getattr(session, name) for name in (*POINTS, "changes", "former")}
    assert fields_in_metadata(metadata_of(session)) == fields
    assert metadata_of(BARE) == "{}"
    assert not {"parentId", "endedAt"} & SESSION.as_json(BARE).keys()


ODD = [*TABLE["odd_metadata"], "[" * 100_000, '{"decisions":' + "[" * 90_000]


@pytest.mark.row("003 T12", "003 T13", "003 T14", "003 T15")
@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_a_text_that_others_put_into_the_column_breaks_nothing(text: str) -> None:
    session = replace(BARE, **fields_in_metadata(text))
    assert all(isinstance(text, str) for text in session.texts)
    assert json.loads(json.dumps(SESSION.as_json(session)))


@pytest.mark.row("003 T18")
@given(st.text(max_size=300), st.integers(2, 100))
def test_a_short_form_is_one_line_within_its_characters(text: str, most: int) -> None:
    cut, line = shorten(text, most), " ".join(text.split())
    if len(line) <= most:
        assert cut == line
    else:
        assert len(cut) <= most and cut.endswith("…")
        assert line.startswith(cut[:-1].rstrip())


def test_a_date_from_outside_becomes_a_moment_in_utc_or_nothing() -> None:
    assert {text: moment_of(text) for text in TABLE["dates"]} == TABLE["dates"]


HOSTILE = table("hostile_texts")  # for a database, a terminal, a page or a model
# Characters that would end a line, move the cursor or turn the direction of the text after them.
OBEYED = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def is_line(text: str) -> bool:
    return not OBEYED.search(text)


def a_draft(text: str, goal: str) -> Draft:
    """This text in every field, behind a word, since blanks are trimmed."""
    tags = (f"tag {text}"[:50].strip(),)
    return replace(draft_filled_with(f"w {text}".strip()), goal=f"{goal} {text}".strip(), tags=tags)


def texts_in(content: Draft | Session) -> list[object]:
    """The texts of a draft or session, without the fields that a save adds."""
    points = [point for name in POINTS for point in getattr(content, name)]
    texts = [(point.text, point.why, point.result, point.is_resolved) for point in points]
    return [content.goal, content.summary, content.tags, content.changes, *texts]


def assert_comes_back(store: SessionStore, draft: Draft) -> Session:
    """Saved, every text comes back as it was cleaned, from the store and from outside."""
    expected, _ = redact_draft(draft)
    saved = store.save(draft, agent="", process=os.urandom(8).hex()).session  # continues nothing
    session = store.get(f"#{saved.number}")
    assert session == saved
    assert texts_in(session) == texts_in(expected)
    with closing(sqlite3.connect(store.path)) as connection:
        statement = "SELECT goal, summary, tags, metadata FROM contexts WHERE id = ?"
        [(goal, summary, tags, metadata)] = connection.execute(statement, (session.id,))
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")
    assert (goal, summary) == (expected.goal, expected.summary)
    assert tuple(json.loads(tags)) == expected.tags
    assert json.loads(metadata)["decisions"][0]["what"] == expected.decisions[0].text
    assert json.loads(store.current_path.read_bytes())["goal"] == expected.goal
    return session


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T88")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_is_stored_found_shown_and_removed_as_text(
    store: SessionStore, kind: str
) -> None:
    text = HOSTILE[kind]
    session = assert_comes_back(store, a_draft(text, "g"))
    line = hint_of(session)
    assert line.startswith("#1 ") and is_line(line)
    harmless = store.save(a_draft("plain words", "h"), agent="a", process="p").session
    answers = (session_answer(saved, instruction="x") for saved in (session, harmless))
    lines = [answer.split("\n") for answer in answers]
    assert all(map(is_line, lines[0])), lines[0]
    labels = [line.partition(":")[0] for line in lines[0][1:] if not line.startswith("  ")]
    known_labels = [line.partition(":")[0] for line in lines[1][1:]]
    assert set(labels) <= {*known_labels, "Left out"} and len(labels) <= len(known_labels) + 1
    for query in (text, text[:20], f'"{text}"'):
        assert search(store, Criteria(query=query), limit=5).total <= 2
        find_similar(store, query, limit=3)
    assert search(store, Criteria(tags=(text,), agent=text), limit=5).total == 0
    with store.writing() as connection:
        delete_session(connection, store.get("#1"))
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")


ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=120)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANY)
def test_any_text_comes_back(store: SessionStore, text: str) -> None:
    session = assert_comes_back(store, a_draft(text, "g"))
    assert is_line(hint_of(session)) and is_line(in_language("ko", hint_of, session))
    assert all(map(is_line, session_answer(session, instruction="x").split("\n")))


FIELDS = {field: arguments for field, _, arguments in reversed(LIMITS)}
SAMPLE, SEED = 140, 20261123


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T86")
def test_no_byte_of_a_secret_is_on_disk(store: SessionStore) -> None:
    """Sampled: a text that the redactor misses is its own business, and none is here."""
    secrets = list[tuple[str, str, str]]()
    for i, (field, case, case_secrets) in enumerate(sampled(tuple(FIELDS), SAMPLE, SEED)):
        if field == "tags" and len(case.text) > 200:
            field = "summary"
        try:
            outcome = store.save(draft_of(FIELDS[field], case.text), agent="a", process=f"p{i}")
        except SessionsError as error:  # too long for its field, tags most of all
            assert error.key == "too_long", error
            continue
        assert outcome.secret_kinds, (field, case.kind, case.placement)
        secrets += [(field, case.kind, secret) for secret in case_secrets]
    assert len(secrets) > SAMPLE / 2 and {field for field, _, _ in secrets} == set(FIELDS)
    for _ in range(2):  # with its journals, and after it was closed
        data = every_byte(store.root)
        assert [secret for secret in secrets if secret[2].encode() in data] == []
        store.database.close()
