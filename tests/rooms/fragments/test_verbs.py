"""Tests what no life of the verbs can tell: threads, other processes, bytes, any text at all."""

import base64
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.room.copies import copies_of
from core.sanitizer import find_secrets
from rooms.fragments import fragment as schema
from rooms.fragments import texts
from rooms.fragments.activity import count_later
from rooms.fragments.draft import end_session, make_id, redact_draft, reflect, remember
from rooms.fragments.fragment import Draft, Filter, Fragment, FragmentsError, Link
from rooms.fragments.links import cures, link
from rooms.fragments.recall import recall
from rooms.fragments.room import Room
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.fragments.versions import amend, forget
from tests.support import fragments_room as kit
from tests.support.sentences import in_language
from tests.support.tables import table
from tests.support.team_engines import IN_A_FILE
from tests.support.team_engines import kept_in as kept_in

HOSTILE: dict[str, str] = table("hostile_texts")
TEXTS: dict[str, Any] = table("fragment_texts")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ANY = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
costly = pytest.mark.long  # it costs much
SOME = settings(
    max_examples=min(settings().max_examples, 60),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


@costly
@pytest.mark.row("002 2.32")
def test_threads_that_say_the_same_make_one_fragment(room: Room) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda at: remember(room, Draft(content=f"fact {at % 4}")), range(40)))
    assert sum(it.is_new for it in done) == 4
    assert len({it.fragment.id for it in done}) == 4
    assert kit.state_of(room)["remembered"] == "4"


def test_an_id_begins_with_a_letter_and_so_is_no_number(room: Room) -> None:
    with room.engine.writing() as rows:
        assert all(make_id(rows)[0].isalpha() for _ in range(60))


def goes_through(room: Room, text: str) -> None:
    """Saved, a text comes back as it was cleaned, also from outside; found, changed and removed."""
    draft = Draft(content=f"c {text}", topic=f"t {text}"[:50].strip(), source=f"s {text}"[:200],
                  keywords=(f"k {text}"[:50].strip(), "crowd"))  # fmt: skip
    expected, _ = redact_draft(draft)
    one = remember(room, draft).fragment
    assert kit.stored(room, one.id) == [one]
    told = (one.content, one.topic, one.keywords, one.source)
    assert told == (expected.content, expected.topic, expected.keywords, expected.source)
    if not room.engine.keeps_agents_apart:  # a server keeps no NUL as it is
        with closing(sqlite3.connect(room.engine.name)) as connection:
            statement = "SELECT content, topic, source FROM fragments WHERE id = ?"
            [row] = connection.execute(statement, (one.id,))
            check = "INSERT INTO fragments_fts(fragments_fts) VALUES ('integrity-check')"
            connection.execute(check)
        assert row == (expected.content, expected.topic, expected.source)
    assert kit.all_of(room, Filter(topics=(one.topic,), keywords=one.keywords)) == [one]
    for asked in (text, text[:20], f'"{text}"'):
        recall(room, schema.Query(text=asked, keywords=(text,)))
        recall(room, schema.Query(keywords=(asked,), topic=asked, tags=(asked,)))
    amend(room, schema.Amendment(id=one.id, content=f"other {text}"))
    forget(room, id=one.id, hard=True)
    with room.engine.writing() as rows:
        assert not rows.mend_index()


@costly
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_is_stored_found_changed_and_removed_as_text(room: Room, kind: str) -> None:
    goes_through(room, HOSTILE[kind])
    with pytest.raises(FragmentsError):
        recall(room, schema.Query(since=HOSTILE[kind]))


@costly
@IN_A_FILE
@SOME
@given(ANY)
def test_any_text_comes_back_and_any_question_is_answered(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    room = kit.a_room(tmp_path_factory.mktemp("any"))  # in which no other says the same already
    goes_through(room, text)
    room.engine.close()


def test_a_cure_is_a_procedure_or_says_so() -> None:
    error = Fragment(id="e", content="NOAUTH at the start", kind="error")
    for kind, content, is_cure in TEXTS["cures"]:
        assert cures(Fragment(id="c", content=content, kind=kind), error) == is_cure
        assert not cures(error, replace(error, kind="fact"))
        assert not cures(Fragment(id="c", content=content), replace(error, content="It is fixed"))


def test_a_fragment_that_is_another_by_now_than_was_seen_is_kept(room: Room) -> None:
    first, other = kit.saved(room, "alpha", topic="t"), kit.saved(room, "bravo", topic="t")
    done = forget(room, topic="t", is_meant=lambda it: it.id == first.id)
    assert (done.fragments, done.kept_count) == ([first], 1)
    assert forget(room, id=other.id, is_meant=lambda it: False).fragments == []
    assert kit.stored(room, other.id) == [other]


@IN_A_FILE
def test_a_fragment_gone_for_good_leaves_no_word_in_the_index(room: Room) -> None:
    for at in range(20):
        kit.saved(room, f"The shop has door {at}")
    gone = kit.saved(room, "Zanzibaromat is the name of the vault")
    room.engine.keep_copy()
    assert len(copies_of(room.config.path)) == 1
    forget(room, id=gone.id, hard=True)
    room.engine.close()
    assert copies_of(room.config.path) == []
    files = room.config.path.parent.glob("memory.db*")
    assert not any(b"zanzibaromat" in it.read_bytes().lower() for it in files)


@IN_A_FILE
def test_a_fragment_is_gone_though_its_bytes_have_to_wait(room: Room) -> None:
    room = replace(room, engine=SqliteEngine(room.config.path, timeout_s=0.2))
    gone = kit.saved(room, "The vault has two doors")
    with closing(sqlite3.connect(room.config.path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM fragments").fetchone()
        assert forget(room, id=gone.id, hard=True).is_gone
        assert not room.engine.purge()
    assert kit.stored(room, gone.id) == []


@costly
def test_a_place_is_taken_over_with_very_many_links_in_one_go(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub, new = kit.saved(room, "The hub of all").id, kit.saved(room, "What comes after").id
    calls = list[str]()

    def counting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **named: calls.append(name) or method(*arguments, **named)  # type: ignore[func-returns-value]

    numbers = map(str, range(1_200))
    spokes = [Fragment(id=f"spoke{it}", content=it, created_at=kit.START) for it in numbers]
    with room.engine.writing() as rows:
        rows.add(spokes)
        rows.put_links(Link(from_id=hub, to_id=it.id, created_at=kit.START) for it in spokes)
    for name in ("links", "by_ids", "by_numbers", "find", "put_links", "replace", "entries"):
        monkeypatch.setattr(type(rows), name, counting(name, getattr(type(rows), name)))
    link(room, hub, new, "superseded_by")
    assert 0 < len(calls) < 60  # and not some for each link
    assert len(kit.links_of(room, new)) == len(spokes) + 1


def test_the_fact_of_a_session_is_of_the_language_of_the_call(room: Room) -> None:
    kit.saved(room, "alpha", session="s1")
    korean = in_language("ko", end_session, room, "s1")
    assert korean and korean.content.startswith("2026-05-01 10:00(UTC)에 시작한 default 세션이")


@costly
def test_a_secret_is_found_before_a_text_is_parted_and_in_every_item(room: Room) -> None:
    for padding in range(960, 1_030, 7):
        text = "x " * (padding // 2) + TOKEN + " more" * 30
        reflection = schema.Reflection(
            summary="x", decisions=(f"{padding} {text}",), open_questions=(f"is {TOKEN} it",)
        )
        assert reflect(room, reflection).secret_kinds
    everything = repr(kit.all_of(room))
    assert TOKEN[4:12] not in everything and TOKEN[-8:] not in everything


@costly
def test_a_reflection_that_is_broken_off_stores_nothing(tmp_path: Path) -> None:
    left, counts = 0, set[tuple[int, int]]()

    def clock() -> str:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return kit.START

    reflection = schema.Reflection(
        summary="It works", decisions=("Use pnpm", "Use Bun"), open_questions=("Who owns it?",)
    )
    for most in range(1, 12):
        left, room = most, kit.a_room(tmp_path / str(most), clock=clock)
        with suppress(KeyboardInterrupt):
            reflect(room, reflection, session="s1")
        left = 100
        counts.add((len(kit.all_of(room)), len(kit.state_of(room))))
    assert counts == {(0, 0), (4, 1)}


@costly
@given(ANY.filter(str.strip), st.integers(4, 60))
def test_parting_a_text_loses_nothing_but_blanks(text: str, most: int) -> None:
    parts = texts.parts_of(text * 8, most)
    assert all(0 < len(it.encode()) <= most for it in parts)
    assert "".join("".join(parts).split()) == "".join((text * 8).split())


def test_a_text_is_parted_where_sentences_end() -> None:
    for text, most, parts in TEXTS["parts"]:
        assert texts.parts_of(text, most) == parts


def test_a_server_may_answer_before_use_is_counted_and_a_busy_database_counts_none(
    room: Room, tmp_path: Path
) -> None:
    kit.add(room, "Ledger")
    for session in ("one", "one", "two"):
        recall(room, schema.Query(text="ledger", session=session), count=count_later)
    for thread in threading.enumerate():
        if thread.name == "fragments-use":
            thread.join()
    with kit.a_room(tmp_path).engine.writing():
        [found] = recall(room, schema.Query(text="ledger")).fragments
    [used] = kit.stored(room, "f0")
    assert (found.content, used.access_count, used.sessions_count) == ("Ledger", 3, 2)


@pytest.mark.row("002 2.12.b")
def test_the_limit_of_a_content_holds_behind_the_redactor() -> None:
    body = base64.encodebytes(random.Random(1).randbytes(1_200)).decode()
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----"
    draft, _ = redact_draft(Draft(content=key))
    assert len(draft.content) < 100


@pytest.mark.long  # it measures time
@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        (tuple(f"{at} {'x' * 9_990}" for at in range(400)), "keywords: 400 given"),
        (("a," * 2_000_000,), "keywords: 2,000,001 given"),
        (("x" * 4_000_000,), "keywords: 4,000,000 characters"),
        # Separators of a secret part it in a text that is too long to be looked through.
        ((f"{' ' * 11_000}password='Xk29bQw7,zLp4Rt55'",), "keywords: 11,0"),
    ],
)
def test_keywords_are_counted_before_they_are_looked_at(keywords: tuple[str], said: str) -> None:
    start = time.process_time()
    with pytest.raises(FragmentsError) as caught:
        redact_draft(Draft(content="x", keywords=keywords))
    assert str(caught.value).startswith(said)
    assert time.process_time() - start < 2


@costly
@given(st.text(max_size=400), st.lists(st.text(max_size=60), max_size=8))
def test_any_text_is_stored_whole_or_refused(content: str, keywords: list[str]) -> None:
    try:
        done, redacted = redact_draft(Draft(content=content, keywords=tuple(keywords)))
    except FragmentsError as error:
        assert error.key in ("blank", "too_large", "too_long", "too_many", "lone_surrogate")
        return
    assert 0 < len(done.content.encode()) <= 1_024
    assert redact_draft(done)[0] == done
    assert not find_secrets(done.content) or redacted == ()


@costly
@pytest.mark.row("002 2.94")
@given(ANY, st.sampled_from(["", "\0", "\x1f", "\u200b", "\x9f"]))
def test_no_secret_survives_a_character_that_hides_it(around: str, hider: str) -> None:
    content = f"{around} {TOKEN[:12]}{hider}{TOKEN[12:]} {around}"
    [text], _ = texts.redact_texts([texts.Text("content", content, 4_000)], strict=False)
    assert TOKEN not in text.replace("\u200b", "")


@pytest.mark.row("002 2.34")
def test_the_keywords_of_a_text_are_its_names_and_nouns() -> None:
    known: dict[str, list[str]] = table("fragment_keywords")
    assert {text: [*texts.keywords_of(text)] for text in known} == known


@costly
@given(st.text())
def test_any_text_has_few_keywords_that_differ(text: str) -> None:
    found = texts.keywords_of(text)
    assert len({schema.plain_keyword(each) for each in found}) == len(found) <= texts.MOST_FOUND
    assert all(1 < len(each) <= texts.KEYWORD_CHARS for each in found)


@pytest.mark.long
@pytest.mark.parametrize("piece", ["a-", "a_", "A", "가", "가 ", "x.", "ア", "를", "漢"])
def test_a_text_at_its_limit_takes_no_time(piece: str) -> None:
    start = time.process_time()
    texts.keywords_of(piece * (10_000 // len(piece)))
    assert time.process_time() - start < 5
