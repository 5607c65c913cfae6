"""Tests that no byte of a secret reaches the disk, by whatever field of a fragment it comes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rooms.fragments.activity import give_feedback
from rooms.fragments.draft import Draft, remember
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import TaskFeedback, ToolFeedback
from rooms.fragments.reflection import Reflection, reflect
from rooms.fragments.room import Room
from rooms.fragments.versions import Amendment, amend
from tests.support.fragments_room import a_room, saved
from tests.support.room import every_byte
from tests.support.secret_corpus import sampled

SAMPLE, SEED = 120, 20261123
TOKEN = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def correct(room: Room, text: str) -> None:
    amend(room, Amendment(id=saved(room, f"before {len(text)}").id, content=text))


def supersede(room: Room, text: str) -> None:
    it = saved(room, f"superseded {len(text)}")
    amend(room, Amendment(id=it.id, content=text, supersedes=True))


def rate(room: Room, text: str) -> None:
    give_feedback(
        room,
        ToolFeedback(
            tool_name="recall", relevant=True, sufficient=False, suggestion=text[:500],
            context=text[:200],
        ),
    )  # fmt: skip


def look_back(room: Room, text: str) -> None:
    done = TaskFeedback(session_id="s", tool_highlights=(text,), tool_pain_points=(text,))
    reflect(
        room,
        Reflection(
            summary=text, decisions=(text,), errors_resolved=(text,), new_procedures=(text,),
            open_questions=(text,), source=text[:200], effectiveness=done,
        ),
        session="s",
    )  # fmt: skip


# By what a caller does with a text.
WAYS: dict[str, Callable[[Room, str], object]] = {
    "content": lambda room, text: remember(room, Draft(content=text)),
    "topic": lambda room, text: remember(room, Draft(content=f"c{len(text)}", topic=text)),
    "keywords": lambda room, text: remember(
        room, Draft(content=f"c{len(text)}", keywords=("k", text))
    ),
    "source": lambda room, text: remember(room, Draft(content=f"c{len(text)}", source=text)),
    "amend": correct,
    "supersede": supersede,
    "feedback": rate,
    "reflect": look_back,
}


@pytest.mark.long  # it costs much
def test_no_byte_of_a_secret_is_on_disk(tmp_path: Path) -> None:
    """Sampled: a text that the redactor misses is its own business, and none is here."""
    room, told = a_room(tmp_path), list[tuple[str, str, str]]()
    for way, case, secrets in sampled([*WAYS], SAMPLE, SEED):
        try:
            WAYS[way](room, case.text)
        except FragmentsError as error:  # too long for its field, a topic or a keyword most of all
            assert error.key in ("too_long", "too_large", "same_content"), error
            continue
        told += [(way, case.kind, secret) for secret in secrets]
    assert len(told) > SAMPLE / 3 and {way for way, _, _ in told} >= {"content", "amend", "reflect"}
    written = every_byte(tmp_path)
    room.engine.close()
    for data in (written, every_byte(tmp_path)):
        assert [it for it in told if it[2].encode() in data] == []


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("way", WAYS)
def test_a_token_of_any_field_is_in_no_byte_whole_or_split(tmp_path: Path, way: str) -> None:
    room = a_room(tmp_path)
    WAYS[way](room, f"one {TOKEN}")
    WAYS[way](room, "two " + "\u200b".join((TOKEN[:9], TOKEN[9:21], TOKEN[21:])))
    data = every_byte(tmp_path)
    assert [part for part in (TOKEN[4:9], TOKEN[9:21], TOKEN[21:]) if part.encode() in data] == []
    assert TOKEN[4:].lower().encode() not in data  # an index spells words small


@pytest.mark.parametrize("way", ["content", "topic", "keywords", "source", "reflect"])
def test_a_refused_secret_leaves_nothing_on_disk(tmp_path: Path, way: str) -> None:
    with pytest.raises(FragmentsError) as caught:
        WAYS[way](a_room(tmp_path, strict=True), TOKEN)
    assert "this looks like a secret (" in str(caught.value)
    assert TOKEN not in str(caught.value) and list(tmp_path.iterdir()) == []


def test_a_session_is_not_named_by_a_secret(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    for way in (
        lambda: remember(room, Draft(content="one", is_working=True), session=TOKEN),
        lambda: remember(room, Draft(content="two"), session=TOKEN),
        lambda: reflect(room, Reflection(summary="three"), session=TOKEN),
    ):
        with pytest.raises(FragmentsError) as caught:
            way()
        assert caught.value.key == "secret_refused" and TOKEN not in str(caught.value)
    assert TOKEN.encode() not in every_byte(tmp_path)


@pytest.mark.parametrize("separator", [",", ";", "，"])
def test_a_secret_is_not_parted_where_keywords_are(tmp_path: Path, separator: str) -> None:
    first, second = "Xk29v", "Qp7LmR4tZ"
    address = f"postgres://admin:{first}{separator}{second}@db.shop.io/main"
    done = remember(a_room(tmp_path), Draft(content="x", keywords=(f"redis, {address}; shop",)))
    assert {*done.fragment.keywords} > {"redis", "shop"} and len(done.fragment.keywords) == 3
    data = every_byte(tmp_path)
    assert first.encode() not in data and second.encode() not in data
