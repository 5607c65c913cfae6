"""Tests that an export holds the room, for this program whole, for people readable."""

import json
import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.messages import Language
from core.text.tokens import estimate_tokens
from rooms.fragments.engine import Wanted
from rooms.fragments.errors import FragmentsError
from rooms.fragments.exchange.errors import ExchangeError
from rooms.fragments.exchange.exporting import Choice, FormName, document, export
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


def text_of(room: Room, form: FormName, choice: Choice | None = None, lang: Language = "en") -> str:
    with document(room, form, choice or Choice(), lang) as (_, pieces):
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
    data = text_of(room, "jsonl").encode()
    other = imported(tmp_path / "other", data)
    assert everything(other) == everything(room)
    again = planned(other, read_text(data, "x.jsonl"))
    assert (again.new, again.links, again.entries, again.known) == ([], [], [], 5)
    assert again.in_bin == 1


def test_the_first_line_says_what_it_is_and_how_much_is_private(room: Room) -> None:
    first, *lines = map(json.loads, text_of(room, "jsonl").splitlines())
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
    assert everything(imported(folder / "two", text_of(room, "jsonl").encode())) == everything(room)


@pytest.mark.row("004 4.3.a")
def test_a_public_export_has_nothing_that_is_not(room: Room) -> None:
    choice = Choice(only_public=True)
    first, *lines = map(json.loads, text_of(room, "jsonl", choice).splitlines())
    assert (first["fragments"], first["private"]) == (2, 0)
    assert [it.get("id") for it in lines] == ["cccccc", "dddddd", None]
    assert lines[-1]["from_id"] == "dddddd"
    for form in ("markdown", "html"):
        text = text_of(room, form, choice)
        assert "Ports begin" in text
        assert "Node" not in text
        assert "alert" not in text


def test_secrets_that_came_in_otherwise_do_not_go_out(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    with room.engine.writing() as writing:
        writing.add([fragment_of("aaaaaa", f"The token is {TOKEN}.", keywords=(TOKEN,))])
    for form in ("jsonl", "markdown", "html"):
        assert TOKEN not in text_of(room, form)


def test_markdown_groups_what_can_be_recalled_by_topic(room: Room) -> None:
    escaped = "&lt;script>alert(1)&lt;/script> # a&lt;U+202E>b \\]\\( `x` &#64;./.env"
    assert text_of(room, "markdown").splitlines() == [
        "<!-- sentinel-memory-fragments: the next export may replace this file -->",
        "# Fragments",
        "",
        "Fragments: 4. Exported 2026-05-01.",
        "",
        "## general",
        "",
        f"- {escaped}",
        "  - error; importance 0.5; saved 2026-05-01; `bbbbbb`; a\\`b, `<i>`",
        "  - resolved by `cccccc`: 배포 전에 캐시를 비운다.",
        "",
        "## shop",
        "",
        "- The shop runs on Node 20.",
        "  - fact; importance 0.5; pinned; saved 2026-05-01; `aaaaaa`",
        "  - until 2026-05-01: It ran on Node 16.",
        "  - until 2026-05-01: It ran on Node 16.",
        "- Ports begin at 56000.",
        "  - fact; importance 0.5; saved 2026-05-01; `dddddd`",
        "  - related to `cccccc`: 배포 전에 캐시를 비운다.",
        "",
        "## 배포",
        "",
        "- 배포 전에 캐시를 비운다.",
        "  - fact; importance 0.5; saved 2026-05-01; `cccccc`",
        f"  - resolves `bbbbbb`: {escaped}",
        "  - related to `dddddd`: Ports begin at 56000.",
    ]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags, self.ids, self.goals = set[str](), set[str](), set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        self.goals.add(given.get("href") or "")
        assert not {"src", "onclick", "style"} & given.keys()


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_page_is_one_file_without_a_script_and_its_links_lead_somewhere(
    room: Room, lang: Language
) -> None:
    text, seen = text_of(room, "html", lang=lang), _Tags()
    seen.feed(text)
    assert not {"script", "i", "img", "iframe"} & seen.tags
    assert {goal.removeprefix("#") for goal in seen.goals} <= seen.ids
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")
    assert ("조각" in text) == (lang == "ko")


def test_an_empty_room_is_said(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    assert "No fragment fits." in text_of(room, "markdown")
    assert "해당하는 조각이 없습니다." in text_of(room, "html", lang="ko")
    assert len(text_of(room, "jsonl").splitlines()) == 1
    assert is_unused(room)


class TestFiles:
    def test_an_export_replaces_an_earlier_one_only(self, room: Room, tmp_path: Path) -> None:
        path = tmp_path / "new" / "a.jsonl"
        done = export(room, "jsonl", str(path), Choice())
        assert (done.path, done.count, done.private) == (path, 6, 4)
        assert export(room, "jsonl", str(path), Choice(only_public=True)).count == 2
        assert read_source(path).form == "export"
        other = tmp_path / "b.jsonl"
        other.write_text("{}\n", encoding="utf-8")
        for name, key in (
            *(("b.jsonl", "output_exists"), ("c.txt", "output_name")),
            *(("CLAUDE.md", "output_name"), (".c.jsonl", "output_reserved")),
        ):
            with pytest.raises(ExchangeError) as refused:
                export(room, "jsonl", str(tmp_path / name), Choice())
            assert refused.value.key == key
            assert refused.value.text("ko")
        with pytest.raises(ExchangeError) as refused:
            export(room, "markdown", str(tmp_path / "CLAUDE.md"), Choice())
        assert refused.value.key == "output_reserved"

    @IN_A_FILE
    @pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
    def test_a_link_is_not_followed_and_the_mode_is_that_of_the_database(
        self, room: Room, tmp_path: Path
    ) -> None:
        os.chmod(room.config.path, 0o600)
        path = tmp_path / "near" / "a.jsonl"
        export(room, "jsonl", str(path), Choice())
        assert path.stat().st_mode & 0o777 == 0o600
        (tmp_path / "far").mkdir()
        (tmp_path / "near" / "l.jsonl").symlink_to(tmp_path / "far" / "x.jsonl")
        with pytest.raises(ExchangeError) as refused:
            export(room, "jsonl", str(tmp_path / "near" / "l.jsonl"), Choice())
        assert refused.value.key == "output_outside"


@pytest.fixture(autouse=True)
def _closed(room: Room) -> Iterator[None]:
    yield
    room.engine.close()
