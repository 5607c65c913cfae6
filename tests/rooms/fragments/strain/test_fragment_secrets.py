"""Tests that no byte of a secret reaches the disk, by whatever field of a fragment it comes."""

from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.draft import reflect, remember
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Draft, Reflection
from rooms.fragments.room import Room
from tests.rooms.fragments.lives import VERBS, Life
from tests.support.fragments_room import Clock, a_room, saved
from tests.support.secret_corpus import sampled
from tests.support.session_samples import every_byte
from tests.support.tables import table

SAMPLE, SEED = 120, 20261123
TOKEN = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


# By what a caller does with a text: the verb and its arguments.
WAYS: dict[str, tuple[str, dict[str, Any]]] = table("fragment_texts")["ways"]


def done(room: Room, way: str, text: str) -> None:
    """Do this with a text."""

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(it) for name, it in value.items()}
        if isinstance(value, list):
            return [filled(it) for it in value]
        words = {"TEXT": text, "SHORT": text[:200], "c NEW": f"c{len(text)}"}
        return words.get(value, value)

    verb, given = WAYS[way]
    given = filled(given)
    if "id" in given:
        given["id"] = saved(room, f"before {way} {len(text)}").id
    if way == "feedback":
        given["suggestion"] = text[:500]
    life = Life(room, Clock())
    values = {name: life.meant(name, value) for name, value in given.items()}
    VERBS[verb](life, **values)


@pytest.mark.long  # it costs much
def test_no_byte_of_a_secret_is_on_disk(tmp_path: Path) -> None:
    """Sampled: a text that the redactor misses is its own business, and none is here."""
    room, told = a_room(tmp_path), list[tuple[str, str, str]]()
    for way, case, secrets in sampled([*WAYS], SAMPLE, SEED):
        try:
            done(room, way, case.text)
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
    done(room, way, f"one {TOKEN}")
    done(room, way, "two " + "\u200b".join((TOKEN[:9], TOKEN[9:21], TOKEN[21:])))
    data = every_byte(tmp_path)
    assert [part for part in (TOKEN[4:9], TOKEN[9:21], TOKEN[21:]) if part.encode() in data] == []
    assert TOKEN[4:].lower().encode() not in data  # an index spells words small


@pytest.mark.parametrize("way", ["content", "topic", "keywords", "source", "reflect"])
def test_a_refused_secret_leaves_nothing_on_disk(tmp_path: Path, way: str) -> None:
    with pytest.raises(FragmentsError) as caught:
        done(a_room(tmp_path, strict=True), way, TOKEN)
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
