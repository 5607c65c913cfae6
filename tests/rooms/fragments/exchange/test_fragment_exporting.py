"""Tests that the rows of an export hold the room whole, and no secret."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.text.plain import estimate_tokens
from rooms.fragments.draft import Draft, prepared
from rooms.fragments.errors import FragmentsError
from rooms.fragments.exchange.exporting import rows_of
from rooms.fragments.exchange.importing import Plan, carry_out, planned
from rooms.fragments.exchange.lines import line_of
from rooms.fragments.exchange.sources import of_rows
from rooms.fragments.fragment import (
    KINDS,
    LIFETIMES,
    PRIVACIES,
    TIERS,
    Activity,
    Fragment,
    Link,
    Relation,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    Wanted,
    hash_of,
)
from rooms.fragments.room import Room
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.cli_process import TOKEN
from tests.support.fragments_room import START, Clock, a_room, is_unused

HOSTILE = "<script>alert(1)</script> # a\u202eb ]( `x` @./.env"
LATER = "2026-06-01T10:00:00+00:00"


def everything(room: Room) -> dict[str, Any]:
    """What the room holds, but for the numbers of its rows."""
    kinds = (Version, ToolFeedback, TaskFeedback, Activity, Suspicion)
    with room.engine.reading() as reading:
        fragments = reading.find(Wanted(state="all"), limit=10_000)
        links = reading.links([it.id for it in fragments])
        entries = {kind.__name__: sorted(map(repr, reading.entries(kind))) for kind in kinds}
    rows = [{**as_dict(it), "number": 0} for it in fragments]
    return {"fragments": rows, "links": sorted(map(repr, links)), **entries}


def as_dict(fragment: Fragment) -> dict[str, Any]:
    return {name: getattr(fragment, name) for name in Fragment.__slots__}


def fragment_of(id_: str, content: str, **values: Any) -> Fragment:
    given = {"created_at": START, "updated_at": START, "content_hash": hash_of(content)}
    tokens = estimate_tokens(content)
    return Fragment(id=id_, content=content, estimated_tokens=tokens, **{**given, **values})


def lines_of(room: Room, *, only_public: bool = False) -> list[dict[str, Any]]:
    with room.engine.reading() as reading:
        rows = rows_of(reading, Wanted(state="all"), only_public=only_public)
        return [*map(line_of, rows)]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    """Six fragments of several kinds, with all that is kept beside them."""
    room = a_room(tmp_path / "own")
    with room.engine.writing() as writing:
        writing.add(
            [
                fragment_of("aaaaaa", "The shop runs on Node 20.", topic="shop", is_anchor=True),
                fragment_of("bbbbbb", HOSTILE, kind="error", keywords=("a`b", "<i>")),
                fragment_of("cccccc", "배포 전에 캐시를 비운다.", topic="배포", privacy="public"),
                fragment_of("dddddd", "Ports begin at 56000.", topic="shop", privacy="public"),
                fragment_of("eeeeee", "Old news.", deleted_at=START, deletion="forgotten"),
                fragment_of("ffffff", "Node 18.", topic="shop", superseded_at=START),
            ]
        )
        writing.put_links(
            [
                Link(from_id="bbbbbb", to_id="cccccc", relation="resolved_by", created_at=START),
                Link(from_id="ffffff", to_id="aaaaaa", relation="superseded_by", created_at=START),
                Link(from_id="dddddd", to_id="cccccc", created_at=START),
            ]
        )
        version = Version(fragment_id="aaaaaa", content="It ran on Node 16.", amended_at=START)
        said = ToolFeedback(tool_name="recall", relevant=True, sufficient=False, created_at=START)
        writing.note(
            [
                *(version, version, said, said),
                TaskFeedback(session_id="s", tool_highlights=("recall",), created_at=START),
                Activity(session_id="s", started_at=START, last_at=START, written=2),
                Suspicion(first_id="aaaaaa", second_id="dddddd", similarity=0.5, found_at=START),
            ]
        )
    return room


def plan_of(room: Room, lines: list[dict[str, Any]]) -> Plan:
    return planned(room, of_rows([*enumerate(lines, 1)], "x.jsonl"))


def imported(folder: Path, lines: list[dict[str, Any]], now: str = LATER) -> Room:
    """An empty room after an import of these rows."""
    room = a_room(folder, clock=Clock(now))
    carry_out(room, plan_of(room, lines))
    return room


@pytest.mark.row("002 2.98", "004 4.15")
def test_an_export_makes_an_empty_room_equal(room: Room, tmp_path: Path) -> None:
    lines = lines_of(room)
    other = imported(tmp_path / "other", lines)
    assert everything(other) == everything(room)
    again = plan_of(other, lines)
    assert (again.new, again.links, again.entries, again.known) == ([], [], [], 5)
    assert again.in_bin == 1


def test_fragments_come_before_what_belongs_to_them(room: Room) -> None:
    kinds = [it["kind"] for it in lines_of(room)]
    assert kinds == sorted(kinds, key=kinds.index)
    assert [*dict.fromkeys(kinds)] == [
        *("fragment", "link", "version", "tool_feedback", "task_feedback"),
        *("activity", "suspicion"),
    ]


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=30)
MOMENTS = st.datetimes().map(lambda it: f"20{it.year % 25:02}-01-{it.day:02}T10:00:00+00:00")
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 10_000)


@st.composite
def drawn(draw: st.DrawFn, number: int) -> Fragment:
    """A fragment as this room would store it."""
    draft = Draft(
        content=f"{number} {draw(WORDS)}",
        topic=draw(WORDS) or "general",
        keywords=tuple(draw(st.lists(WORDS, max_size=4))),
        source=draw(WORDS),
    )
    ready = prepared(draft).draft
    return fragment_of(
        f"frag{number:04}x",
        ready.content,
        topic=ready.topic or "general",
        keywords=ready.keywords,
        source=ready.source,
        kind=draw(st.sampled_from(KINDS)),
        lifetime=draw(st.sampled_from(LIFETIMES)),
        tier=draw(st.sampled_from(TIERS)),
        privacy=draw(st.sampled_from(PRIVACIES)),
        importance=draw(SHARES),
        utility=draw(st.floats(0, 1e6)),
        access_count=draw(COUNTS),
        sessions_count=draw(COUNTS),
        stale_days=draw(COUNTS),
        is_anchor=draw(st.booleans()),
        created_at=draw(MOMENTS),
        **{
            name: draw(st.one_of(st.just(""), MOMENTS))
            for name in ("accessed_at", "updated_at", "verified_at", "expires_at", "checked_at")
        },
        **draw(
            st.sampled_from(
                [{}, {"superseded_at": START}, {"deleted_at": START, "deletion": "stale"}]
            )
        ),
    )


@st.composite
def rooms(draw: st.DrawFn) -> tuple[list[Fragment], list[Link], list[Any]]:
    try:
        fragments = [draw(drawn(number)) for number in range(draw(st.integers(0, 4)))]
    except FragmentsError:  # what is drawn is no fragment
        fragments = []
    ids = [it.id for it in fragments]
    links = dict[tuple[str, str], Link]()
    for from_id in ids:
        for to_id in ids:
            if from_id != to_id and draw(st.booleans()):
                relation = draw(st.sampled_from(get_args(Relation)))
                link = Link(from_id=from_id, to_id=to_id, relation=relation, created_at=START)
                links[from_id, to_id] = link
    entries = [
        Version(fragment_id=it.id, content=it.content, keywords=it.keywords, amended_at=START)
        for it in fragments
        for _ in range(draw(st.integers(0, 2)))
    ]
    return fragments, list(links.values()), entries


@pytest.mark.long  # it costs much
@settings(
    deadline=None,
    max_examples=min(settings().max_examples, 40),
    suppress_health_check=list(HealthCheck),
)
@given(rooms())
def test_whatever_the_room_holds_comes_back_equal(
    tmp_path_factory: pytest.TempPathFactory,
    held: tuple[list[Fragment], list[Link], list[Any]],
) -> None:
    folder = tmp_path_factory.mktemp("room")
    room = a_room(folder / "one", clock=Clock(LATER))
    fragments, links, entries = held
    with room.engine.writing() as writing:
        writing.add(fragments)
        writing.put_links(links)
        writing.note(entries)
    assert everything(imported(folder / "two", lines_of(room))) == everything(room)


@pytest.mark.row("004 4.3.a")
def test_a_public_export_has_nothing_that_is_not(room: Room) -> None:
    lines = lines_of(room, only_public=True)
    assert [it.get("id") for it in lines] == ["cccccc", "dddddd", None]
    assert lines[-1]["from_id"] == "dddddd"


def test_secrets_that_came_in_otherwise_do_not_go_out(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    with room.engine.writing() as writing:
        writing.add([fragment_of("aaaaaa", f"The token is {TOKEN}.", keywords=(TOKEN,))])
    assert TOKEN not in str(lines_of(room))


def test_an_empty_room_has_no_rows_and_is_not_made(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    assert lines_of(room) == []
    assert is_unused(room)


@pytest.fixture(autouse=True)
def _closed(room: Room) -> Iterator[None]:
    yield
    room.engine.close()
