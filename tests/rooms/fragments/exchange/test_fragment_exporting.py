"""Tests that an export holds the room whole, and where it may be written."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.text.plain import estimate_tokens
from rooms.fragments.engine import Wanted
from rooms.fragments.errors import ExchangeError, FragmentsError
from rooms.fragments.exchange.exporting import Choice, document, export
from rooms.fragments.exchange.importing import carry_out, planned
from rooms.fragments.exchange.sources import read_source, read_text
from rooms.fragments.fragment import (
    Activity,
    Fragment,
    Link,
    Suspicion,
    TaskFeedback,
    ToolFeedback,
    Version,
    hash_of,
)
from rooms.fragments.kinds import KINDS, LIFETIMES, PRIVACIES, TIERS, Relation
from rooms.fragments.room import Room
from rooms.fragments.saving.drafting import Draft, prepared
from tests.support.both_engines import IN_A_FILE
from tests.support.both_engines import kept_in_seldom as kept_in_seldom
from tests.support.cli_process import TOKEN
from tests.support.fragments_room import START, Clock, a_room, is_unused
from tests.support.sentences import in_language

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


def text_of(room: Room, choice: Choice | None = None) -> str:
    with document(room, choice or Choice()) as (_, pieces):
        return "".join(pieces)


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


def imported(folder: Path, data: bytes, now: str = LATER) -> Room:
    """An empty room after an import of this file."""
    room = a_room(folder, clock=Clock(now))
    carry_out(room, planned(room, read_text(data, "x.jsonl")))
    return room


@pytest.mark.row("002 2.98", "004 4.15")
def test_an_export_makes_an_empty_room_equal(room: Room, tmp_path: Path) -> None:
    data = text_of(room).encode()
    other = imported(tmp_path / "other", data)
    assert everything(other) == everything(room)
    again = planned(other, read_text(data, "x.jsonl"))
    assert (again.new, again.links, again.entries, again.known) == ([], [], [], 5)
    assert again.in_bin == 1


def test_the_first_line_says_what_it_is_and_how_much_is_private(room: Room) -> None:
    first, *lines = map(json.loads, text_of(room).splitlines())
    assert first == {
        "format": "sentinel-memory-fragments",
        "version": 1,
        "exported": START,
        "fragments": 6,
        "private": 4,
    }
    kinds = [it["kind"] for it in lines]
    assert kinds == sorted(kinds, key=kinds.index)
    assert {*kinds} == {
        *("fragment", "link", "version", "tool_feedback", "task_feedback"),
        *("activity", "suspicion"),
    }


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
    assert everything(imported(folder / "two", text_of(room).encode())) == everything(room)


@pytest.mark.row("004 4.3.a")
def test_a_public_export_has_nothing_that_is_not(room: Room) -> None:
    choice = Choice(only_public=True)
    first, *lines = map(json.loads, text_of(room, choice).splitlines())
    assert (first["fragments"], first["private"]) == (2, 0)
    assert [it.get("id") for it in lines] == ["cccccc", "dddddd", None]
    assert lines[-1]["from_id"] == "dddddd"


def test_secrets_that_came_in_otherwise_do_not_go_out(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    with room.engine.writing() as writing:
        writing.add([fragment_of("aaaaaa", f"The token is {TOKEN}.", keywords=(TOKEN,))])
    assert TOKEN not in text_of(room)


def test_an_empty_room_has_a_head_alone_and_is_not_made(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    assert len(text_of(room).splitlines()) == 1
    assert is_unused(room)


class TestFiles:
    def test_an_export_replaces_an_earlier_one_only(self, room: Room, tmp_path: Path) -> None:
        path = tmp_path / "new" / "a.jsonl"
        done = export(room, str(path), Choice())
        assert (done.path, done.count, done.private) == (path, 6, 4)
        assert export(room, str(path), Choice(only_public=True)).count == 2
        assert read_source(path).form == "export"
        other = tmp_path / "b.jsonl"
        other.write_text("{}\n", encoding="utf-8")
        for name, key in (
            *(("b.jsonl", "output_exists"), ("c.txt", "output_name")),
            *(("c.html", "output_name"), (".c.jsonl", "output_reserved")),
        ):
            with pytest.raises(ExchangeError) as refused:
                export(room, str(tmp_path / name), Choice())
            assert refused.value.key == key
            assert in_language("ko", str, refused.value)

    @IN_A_FILE
    @pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
    def test_a_link_is_not_followed_and_the_mode_is_that_of_the_database(
        self, room: Room, tmp_path: Path
    ) -> None:
        os.chmod(room.config.path, 0o600)
        path = tmp_path / "near" / "a.jsonl"
        export(room, str(path), Choice())
        assert path.stat().st_mode & 0o777 == 0o600
        (tmp_path / "far").mkdir()
        (tmp_path / "near" / "l.jsonl").symlink_to(tmp_path / "far" / "x.jsonl")
        with pytest.raises(ExchangeError) as refused:
            export(room, str(tmp_path / "near" / "l.jsonl"), Choice())
        assert refused.value.key == "output_outside"


@pytest.fixture(autouse=True)
def _closed(room: Room) -> Iterator[None]:
    yield
    room.engine.close()
