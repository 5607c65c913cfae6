"""Tests what an amendment changes of a fragment, what it keeps, and what it refuses."""

from dataclasses import replace
from typing import Any

import pytest

from rooms.fragments.bin import forget, pin
from rooms.fragments.fragment import TYPES, Suspicion, Version, hash_of
from rooms.fragments.links import link
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from rooms.fragments.versions import Amended, Amendment, amend
from tests.support.fragments_room import Clock, figures, links_of, now_of, refused, saved, stored

NODE, BUN = "The shop runs on Node.js 20", "The shop runs on Bun"


def amended(room: Room, id_: str, agent: str = "", **fields: Any) -> Amended:
    return amend(room, Amendment(id=id_, **fields), agent=agent)


def versions(room: Room, id_: str = "") -> list[Version]:
    with room.engine.reading() as rows:
        return rows.entries(Version, of=id_)


@pytest.mark.row("002 2.18.a", "002 2.18.b", "002 2.18.c", "002 2.18.d", "002 2.18.e")
@pytest.mark.row("002 2.18.f", "002 2.18.g", "002 2.18.h", "002 2.42")
def test_an_amendment_keeps_the_id_and_what_was_said_before(room: Room, clock: Clock) -> None:
    first = saved(room, NODE, topic="node", keywords=("node",))
    now = clock.wait(days=1)
    done = amended(room, f" #{first.id} ", "cursor", content="The shop runs on Node.js 22")
    assert (done.fragment.id, done.before, done.is_new) == (first.id, first, False)
    assert done.fragment.content_hash == hash_of("The shop runs on Node.js 22")
    assert (done.fragment.updated_at, done.fragment.verified_at) == (now, now)
    assert stored(room, first.id) == [done.fragment]
    version = Version(fragment_id=first.id, content=NODE, topic="node", keywords=("node",))
    version = replace(version, importance=0.5, amended_at=now, amended_by="cursor")
    assert versions(room, first.id) == [version]
    assert recall(room, Query(text="node 22")).fragments == [done.fragment]


@pytest.mark.row("002 2.12.q")
def test_what_changes_nothing_notes_no_version_but_that_it_holds(room: Room, clock: Clock) -> None:
    first = saved(room, NODE)
    now = clock.wait(days=9)
    for fields in ({"content": NODE}, {"topic": "general"}, {"is_anchor": False}, {"type": "fact"}):
        assert amended(room, first.id, **fields).fragment == replace(first, verified_at=now)
        assert now_of(room, first) == replace(first, verified_at=now)
    assert versions(room, first.id) == []


def test_keywords_that_were_found_in_the_content_follow_it(room: Room) -> None:
    found, given_ = saved(room, NODE).id, saved(room, "Bun is faster", keywords=("speed",)).id
    after = amended(room, found, content="pnpm installs").fragment
    assert after.keywords == ("pnpm", "installs")
    assert amended(room, given_, content="pnpm is faster").fragment.keywords == ("speed",)
    assert amended(room, given_, keywords=()).fragment.keywords == ("pnpm", "faster")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("word", TYPES)
def test_another_type_has_another_life(room: Room, clock: Clock, word: str) -> None:
    first = saved(room, NODE, type="episodic" if word != "episodic" else "error", importance=0.33)
    clock.wait(days=5)
    done, row = amended(room, first.id, type=word.upper()).fragment, TYPES[word]
    assert (done.kind, done.lifetime, done.stale_days) == (*row[:2], row.stale_days)
    assert (bool(done.expires_at), done.importance) == (bool(row.hours), 0.33)


@pytest.mark.row("002 2.43")
def test_what_cannot_be_amended_is_refused_and_changes_nothing(room: Room) -> None:
    one, other = saved(room, NODE).id, saved(room, "other", agent="cursor").id
    twin, gone, old = (saved(room, text).id for text in ("twin", "gone", "old"))
    forget(room, id=gone)
    new = amended(room, old, content=BUN, supersedes=True).fragment.id
    cases: list[tuple[str, str, str, dict[str, Any]]] = [
        ("nothing to change", one, "", {}),
        ("no such fragment", "nosuch", "", {"topic": "t"}),
        ("no such fragment", "\ud800" * 200, "", {"topic": "t"}),
        ("no such fragment", other, "codex", {"topic": "t"}),
        ("is in the bin", gone, "", {"topic": "t"}),
        ("content: it is blank", one, "", {"content": " "}),
        ("topic: it is blank", one, "", {"topic": " "}),
        ("importance: ", one, "", {"importance": 2}),
        ("type: ", one, "", {"type": "idea"}),
        (twin, one, "", {"content": "twin"}),
        ("hard=true", one, "", {"content": "gone"}),
        ("supersedes: ", one, "", {"content": NODE, "supersedes": True}),
        ("supersedes: ", one, "", {"topic": "t", "supersedes": True}),
        (new, old, "", {"topic": "t"}),
        (new, old, "", {"content": "x", "supersedes": True}),
    ]
    for said, id_, agent, fields in cases:
        assert said in refused(room, amended, id_, agent, **fields)
    forget(room, id=new, hard=True)
    assert f"restore {old}" in refused(room, amended, old, topic="t")
    saved(room, "theirs", agent="cursor")  # the content of another agent is no twin
    assert amended(room, one, content="theirs").fragment.content == "theirs"


@pytest.mark.row("002 2.43")
def test_a_fragment_that_supersedes_is_new_and_takes_over_what_was_known(
    room: Room, clock: Clock
) -> None:
    error = saved(room, "The build fails", type="error")
    fields: dict[str, Any] = {"topic": "node", "type": "decision", "importance": 0.8}
    old = saved(room, NODE, is_anchor=True, source="shop", **fields)
    link(room, error.id, old.id, "resolved_by")
    now = clock.wait(days=200)
    done = amended(room, old.id, content=BUN, supersedes=True)
    new = done.fragment
    assert done.is_new and new.id != old.id
    assert (new.topic, new.kind, new.importance, new.source) == ("node", "decision", 0.8, "shop")
    assert (new.is_anchor, new.tier, new.created_at) == (True, "permanent", now)
    assert now_of(room, old) == replace(old, importance=0.3, superseded_at=now)
    assert links_of(room, new.id) == {
        (old.id, "superseded_by", new.id),
        (error.id, "resolved_by", new.id),
    }
    assert recall(room, Query(text="shop runs", with_links=False)).fragments == [new]
    assert versions(room, old.id) == []


def test_one_that_says_the_new_content_already_takes_the_place(room: Room) -> None:
    old, known = saved(room, NODE), saved(room, BUN)
    with room.engine.writing() as rows:
        rows.note([Suspicion(first_id=old.id, second_id=known.id, similarity=0.9)])
    done = amended(room, old.id, content=BUN, supersedes=True)
    assert (done.fragment.id, done.is_new) == (known.id, True)
    assert links_of(room, old.id) == {(old.id, "superseded_by", known.id)}
    with room.engine.reading() as rows:
        assert rows.entries(Suspicion) == []
    assert amended(room, known.id, content=NODE, supersedes=True).fragment.id == old.id
    assert links_of(room, old.id) == {(known.id, "superseded_by", old.id)}
    assert [it.is_live for it in stored(room, old.id, known.id)] == [True, False]
    forget(room, id=known.id)
    assert amended(room, old.id, content=BUN, supersedes=True).fragment.is_live
    assert figures(room)["restored"] == 1


def test_an_amendment_pins_and_unpins(room: Room, clock: Clock) -> None:
    first = saved(room, NODE, type="episodic")
    assert amended(room, first.id, is_anchor=True).fragment.tier == "permanent"
    assert pin(room, first.id, pinned=True).is_anchor
    clock.wait(days=400)
    loose = amended(room, first.id, is_anchor=False).fragment
    assert (loose.tier, loose.decayed_at, loose.expires_at > clock()) == ("warm", clock(), True)
