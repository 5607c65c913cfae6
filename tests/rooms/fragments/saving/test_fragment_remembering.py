"""Tests what is stored of a draft, and what becomes of one that says what is there already."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from rooms.fragments.bin import forget
from rooms.fragments.draft import Draft, Remembered, remember
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import TYPES, Activity, Fragment, Wanted
from rooms.fragments.links import cures, link
from rooms.fragments.recall import Query, recall
from rooms.fragments.room import Room
from tests.support.both_engines import kept_in as kept_in
from tests.support.fragments_room import START, Clock, a_room, figures

NODE = "The shop runs on Node.js 20"


def saved(
    room: Room, content: str = NODE, agent: str = "", session: str = "", **fields: Any
) -> Remembered:
    return remember(room, Draft(content=content, **fields), agent=agent, session=session)


def all_of(room: Room, state: Any = "all") -> list[Fragment]:
    with room.engine.reading() as reading:
        return reading.find(Wanted(state=state), limit=1_000)


@pytest.mark.long  # it costs much
@pytest.mark.row("004 4.2")
def test_a_draft_is_stored_with_what_its_type_says(room: Room) -> None:
    for word, row in TYPES.items():
        fragment = saved(room, f"about {word}", type=word).fragment
        assert (fragment.kind, fragment.lifetime) == (row.kind, row.lifetime)
        assert (fragment.importance, fragment.stale_days) == (row.importance, row.stale_days)
        assert bool(fragment.expires_at) == bool(row.hours)
    assert figures(room)["remembered"] == len(TYPES)
    assert saved(room, "x", type="episodic").fragment.expires_at == "2026-07-30T10:00:00+00:00"


def test_what_a_draft_leaves_out_gets_a_default(room: Room) -> None:
    fragment = saved(room, "x" * 301, topic="", keywords=("Redis", "b")).fragment
    assert (fragment.topic, fragment.keywords) == ("Redis", ("Redis", "b"))
    fragment = saved(room).fragment
    assert (fragment.topic, fragment.keywords) == ("general", ("shop", "runs", "Node.js"))
    assert (fragment.agent, fragment.session, fragment.tier) == ("default", "", "hot")
    assert (fragment.created_at, fragment.verified_at) == (START, START)
    assert fragment.estimated_tokens > 0
    assert all_of(room)[-1] == fragment


@pytest.mark.row("002 2.32")
def test_the_same_content_again_returns_what_is_there(room: Room, clock: Clock) -> None:
    first = saved(room).fragment
    now = clock.wait(days=3)
    again = saved(room, "  The shop  runs on\nNode.js 20 ")
    assert not again.is_new
    assert again.was == ""
    assert again.fragment == replace(first, verified_at=now, updated_at=now)
    assert all_of(room) == [again.fragment]


@pytest.mark.row("002 2.12.k", "002 2.13.a")
def test_each_agent_has_its_own(room: Room) -> None:
    ids = {saved(room, agent=agent).fragment.id for agent in ("", "default", "cursor", "codex")}
    assert len(ids) == 3


def test_an_agent_is_no_secret(room: Room) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with pytest.raises(FragmentsError, match="agentId: this looks like a secret") as caught:
        saved(room, agent=token)
    assert token not in str(caught.value)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", ["x" * 101, "a\ud800", "a\0b"])
def test_a_name_that_cannot_be_kept_is_refused(room: Room, name: str) -> None:
    for names in ({"agent": name}, {"session": name}):
        with pytest.raises(FragmentsError, match=r"^(agentId|sessionId): "):
            saved(room, **names)
    assert not all_of(room)


def test_saying_it_again_pins_and_lengthens_but_never_shortens(room: Room, clock: Clock) -> None:
    saved(room, type="episodic")
    clock.wait(days=80)
    assert saved(room, type="working").fragment.expires_at == "2026-07-30T10:00:00+00:00"
    assert saved(room, type="episodic").fragment.expires_at > "2026-10-01"
    kept = saved(room, type="fact", is_anchor=True).fragment
    assert (kept.expires_at, kept.lifetime, kept.is_anchor) == ("", "semantic", True)
    assert kept.tier == "permanent"
    assert saved(room, type="working").fragment.expires_at == ""


@pytest.mark.row("002 2.28.a")
def test_working_memory_belongs_to_its_session(room: Room) -> None:
    fragment = saved(room, type="decision", is_working=True, session=" s1 ").fragment
    assert (fragment.session, fragment.lifetime, fragment.kind) == ("s1", "working", "decision")
    assert fragment.expires_at == "2026-05-03T10:00:00+00:00"
    with pytest.raises(FragmentsError, match=r"scope: .* needs a session"):
        saved(room, is_working=True)
    assert saved(room, "other", type="decision", session="s1").fragment.session == ""


def test_working_memory_that_is_said_for_good_stays(room: Room) -> None:
    saved(room, is_working=True, session="s1")
    assert saved(room, is_working=True, session="s2").fragment.session == "s2"
    kept = saved(room).fragment
    assert (kept.session, kept.lifetime, kept.expires_at) == ("", "semantic", "")
    assert saved(room, is_working=True, session="s2").fragment.session == ""


@pytest.mark.row("002 2.32")
def test_one_in_the_bin_comes_back_when_it_is_said_again(room: Room) -> None:
    first = saved(room).fragment
    forget(room, id=first.id)
    back = saved(room)
    assert (back.was, back.is_new, back.fragment.id) == ("bin", False, first.id)
    assert recall(room, Query(text="shop node")).fragments == [back.fragment]
    assert figures(room)["restored"] == 1


def test_one_that_was_superseded_comes_back_and_its_successor_is_proposed(room: Room) -> None:
    old, new = saved(room).fragment, saved(room, "The shop runs on Node.js 22").fragment
    link(room, old.id, new.id, "superseded_by")
    back = saved(room)
    assert (back.was, back.fragment.is_live, back.fragment.importance) == ("superseded", True, 0.5)
    [proposal] = back.proposals
    assert (proposal.from_id, proposal.to_id) == (new.id, old.id)
    with room.engine.reading() as reading:
        assert reading.links([old.id], ["superseded_by"]) == []


@pytest.mark.row("002 2.12.j")
def test_links_that_a_draft_names_are_made(room: Room) -> None:
    first, second = saved(room, "alpha").fragment, saved(room, "bravo").fragment
    made = saved(room, linked_to=(f" #{first.id}", second.id, first.id)).fragment
    saved(room, linked_to=(first.id, made.id))
    with room.engine.reading() as reading:
        assert [(it.from_id, it.to_id) for it in reading.links([made.id])] == [
            (made.id, first.id),
            (made.id, second.id),
        ]


@pytest.mark.row("002 2.36")
def test_a_link_to_what_is_not_there_saves_nothing(room: Room) -> None:
    hidden = saved(room, "theirs", agent="codex").fragment
    binned = saved(room, "alpha").fragment
    forget(room, id=binned.id)
    before = all_of(room)
    for wrong, said in (("nosuch", "there is no such"), (binned.id, "bin"), ("\ud800", "no such")):
        with pytest.raises(FragmentsError, match=said):
            saved(room, linked_to=(wrong,))
    with pytest.raises(FragmentsError, match="there is no such fragment"):
        saved(room, agent="cursor", linked_to=(hidden.id,))
    assert all_of(room) == before
    assert saved(room, linked_to=(hidden.id,)).is_new


def relations(done: Remembered) -> list[tuple[str, str, str]]:
    return [(it.relation, it.from_id, it.to_id) for it in done.links]


POOL = "The connection pool of the shop has at most 20 connections and a timeout of two minutes"
LOOP = "Redis NOAUTH at the start of the queue worker in the staging cluster"


def among_others(room: Room) -> None:
    """Put fragments about other things beside those of a test, so that its words are rare."""
    for at in range(20):
        saved(room, f"filler number{at} about something{at} else{at}")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.37", "002 2.37.c")
def test_what_is_alike_is_linked_by_itself(room: Room) -> None:
    among_others(room)
    old = saved(room, POOL, topic="db").fragment
    other = saved(room, f"{POOL} today", topic="db", type="decision")
    assert relations(other) == [("related", other.fragment.id, old.id)]
    elsewhere = saved(room, f"{POOL} there", topic="web")
    assert (elsewhere.links, elsewhere.proposals) == ((), ())
    hidden = saved(room, f"{POOL} here", topic="db", agent="cursor")
    seen = saved(room, f"{POOL} now", topic="db", agent="codex")
    assert hidden.fragment.id not in repr((seen.links, seen.proposals))


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.37.a")
def test_what_is_nearly_the_same_is_proposed_as_outdated_and_not_decided(room: Room) -> None:
    among_others(room)
    old = saved(room, POOL, topic="db").fragment
    new = saved(room, f"{POOL} now", topic="db")
    assert new.links == ()
    [proposal] = new.proposals
    assert (proposal.from_id, proposal.to_id) == (old.id, new.fragment.id)
    assert proposal.relation == "superseded_by"
    with room.engine.reading() as reading:
        assert reading.links([old.id]) == []
        assert reading.by_ids([old.id]) == [old]


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.37")
def test_no_more_than_three_links_are_made_by_themselves(room: Room) -> None:
    among_others(room)
    for kind in ("fact", "decision", "error", "preference", "relation"):
        saved(room, f"{POOL} {kind}", topic="db", type=kind)
    done = saved(room, POOL, topic="db", type="procedure")
    assert len(done.links) + len(done.proposals) == 3


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.37.b")
def test_an_error_and_its_cure_are_linked_from_the_error(room: Room) -> None:
    among_others(room)
    error = saved(room, LOOP, type="error", topic="redis").fragment
    cure = saved(room, f"{LOOP}: set password", type="procedure", topic="redis")
    assert relations(cure) == [("resolved_by", error.id, cure.fragment.id)]
    earlier = saved(room, "Queue worker timeout fixed by visibility", type="decision", topic="q")
    later = saved(room, "Queue worker timeout by low visibility", type="error", topic="q")
    assert relations(later) == [("resolved_by", later.fragment.id, earlier.fragment.id)]


@pytest.mark.parametrize(
    ("kind", "content", "is_cure"),
    [
        ("procedure", "set the password", True),
        ("decision", "set the password", False),
        ("decision", "solved by the password", True),
        ("error", "NOAUTH, 비밀번호를 넣어 해결", True),
        ("error", "NOAUTH, 아직 미해결", False),
        ("preference", "solved by the password", False),
    ],
)
def test_a_cure_is_a_procedure_or_says_so(kind: Any, content: str, is_cure: bool) -> None:
    error = Fragment(id="e", content="NOAUTH at the start", kind="error")
    assert cures(Fragment(id="c", content=content, kind=kind), error) == is_cure
    assert not cures(error, replace(error, kind="fact"))
    assert not cures(Fragment(id="c", content=content), replace(error, content="It is fixed"))


@pytest.mark.long  # it costs much
def test_working_memory_is_linked_with_nothing(room: Room) -> None:
    among_others(room)
    saved(room, POOL, is_working=True, session="s")
    durable = saved(room, f"{POOL} here")
    assert (durable.links, durable.proposals) == ((), ())
    other = saved(room, f"{POOL} there", is_working=True, session="s")
    assert (other.links, other.proposals) == ((), ())


@pytest.mark.row("002 2.33")
def test_secrets_are_gone_before_the_hash_and_the_answer_says_so(room: Room) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    first = saved(room, f"The key is {token}")
    assert first.redacted
    assert not saved(room, "The key is [REDACTED]").is_new
    assert token not in repr(all_of(room))


@pytest.mark.row("002 2.87")
def test_a_session_counts_its_calls_and_what_it_wrote(room: Room, clock: Clock) -> None:
    saved(room, session="s1", agent="cursor")
    clock.wait(hours=1)
    saved(room, session="s1", agent="cursor")
    saved(room, "more", session="s1", agent="cursor")
    with room.engine.reading() as reading:
        assert reading.entries(Activity) == [
            Activity(
                session_id="s1",
                agent="cursor",
                started_at=START,
                last_at=clock(),
                calls=3,
                written=2,
            )
        ]


@pytest.mark.long  # it costs much
def test_threads_that_say_the_same_make_one_fragment(room: Room) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda at: saved(room, f"fact {at % 4}"), range(40)))
    assert sum(it.is_new for it in done) == 4
    assert len({it.fragment.id for it in done}) == 4
    assert figures(room)["remembered"] == 4


def test_stale_days_of_the_settings_hold(tmp_path: Any) -> None:
    room = a_room(tmp_path, stale_days=(("fact", 7), ("error", 9)))
    assert saved(room).fragment.stale_days == 7
    assert saved(room, "e", type="error").fragment.stale_days == 0
