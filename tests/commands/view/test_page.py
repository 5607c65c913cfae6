"""Tests the page of `cli.py view`: what is on it, where it goes, and that a text stays a text."""

import json
import os
import stat
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.view import view
from core.messages import Language
from rooms.fragments.fragment import Privacy
from rooms.room import Item
from server import VERSION
from tests.support.cli_process import TOKEN, Run
from tests.support.cli_process import Desk as AnyDesk
from tests.support.git_clones import new_project
from tests.support.room_samples import a_fragment, keep_fragments
from tests.support.samples import NOW, a_record
from tests.support.sentences import LANGUAGES, in_language, sentence
from tests.support.session_samples import keep, make_sample_store, sample_sessions

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" ' ` & <!-- ]]> {title}"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a forked command needs POSIX")


def an_item(text: str = "Refund once. Never twice.", **changed: Any) -> Item:
    """A lesson, or what else is named."""
    facts: dict[str, Any] = {
        **{"room": "lessons", "id": "3f2a91bc00000000", "version": "3f2a91bc@1", "date": NOW},
        **{"kind": "log", "topic": "payment", "mark": "", "facts": ("saved",), "data": {}},
        "texts": (("lesson", text), ("missing", "How often")),
    }
    return Item(**{**facts, **changed})


class Document(HTMLParser):
    """A page as a browser takes it. inside: the text of each element, up to the next tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.is_inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside.append("")
        self.is_inside = True

    def handle_endtag(self, tag: str) -> None:
        self.is_inside = False

    def handle_data(self, data: str) -> None:
        if self.is_inside:
            self.inside[-1] += data

    def texts(self, tag: str) -> list[str]:
        """What is inside each element of this name."""
        parts = zip(self.elements, self.inside, strict=True)
        return [text for (name, _), text in parts if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        """The items, as the script reads them."""
        data, _script = self.texts("script")
        return dict(json.loads(data))


def page_of(*items: Item, lang: Language = "en", project: str = "shop") -> Document:
    return Document(in_language(lang, view.page, items, project=project))


# The document


def test_the_page_allows_itself_its_own_style_and_script_and_nothing_else() -> None:
    page = page_of(an_item(HOSTILE))
    [policy] = [it["content"] for _, it in page.elements if "http-equiv" in it]
    hashes = [
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for text in (page.texts("style")[0], page.texts("script")[1])
    ]
    assert policy == (
        f"default-src 'none'; style-src {hashes[0]}; script-src {hashes[1]};"
        " base-uri 'none'; form-action 'none'"
    )
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {it for it in names if it in ("src", "href", "style") or it.startswith("on")}


SHAPE = [tag for tag, _ in page_of().elements]


@given(text=st.text() | st.sampled_from([HOSTILE, "<!--<script>", "\u2028</SCRIPT >"]))
def test_whatever_an_item_says_the_page_has_the_same_elements(text: str) -> None:
    texts = ((text, f"a{text}"), ("", text))
    page = page_of(an_item(id=text, topic=text, kind=text, facts=(text,), texts=texts))
    assert [tag for tag, _ in page.elements] == SHAPE
    assert len(page.data["items"]) == 1


def test_the_name_of_a_project_stays_text_and_what_is_hidden_is_spelled_out() -> None:
    page = page_of(project=f"</title><script>x</script>{TOKEN}")
    assert [tag for tag, _ in page.elements] == SHAPE
    assert page.texts("h1") == ["Memory of </title><script>x</script>[REDACTED]"]
    odd = an_item("one\r\ntwo\u202e\n", topic="a\u200bb\nc", date="<b>")
    [item] = page_of(odd).data["items"]
    assert (item["texts"][0][1], item["topic"]) == ("one\ntwo<U+202E>", "a<U+200B>b c")
    assert item["date"] == "????-??-??"  # what is no date is none


@pytest.mark.parametrize("lang", LANGUAGES)
def test_words_are_in_the_language_of_the_reader(lang: Language) -> None:
    page = page_of(an_item(), an_item(room="notes", kind="loose"), lang=lang)
    words = page.data["words"]
    assert [tag for tag, _ in page.elements] == SHAPE
    assert page.elements[0] == ("html", {"lang": lang})
    assert words["rooms"] == {"lessons": sentence(lang, "rooms.lessons"), "notes": "notes"}
    assert words["kinds"]["lessons.log"] == sentence(lang, "lessons.kinds.log")
    assert words["kinds"]["notes.loose"] == "loose"  # a room without words of its own
    assert VERSION in words["made"]


# The command


class Desk(AnyDesk):
    """A project with one record, and a browser."""

    @property
    def pages(self) -> list[Path]:
        return sorted((self.home / ".local" / "state").rglob("*.html"))

    def view(self, *options: str, **variables: Any) -> Run:
        if "BROWSER" in variables:  # Python looks for browsers once in a process
            return self.started("view", *options, **variables)
        return self.run("view", *options, **variables)

    def page(self, *options: str, **variables: str) -> Document:
        """The page that a call prints; nothing went wrong."""
        told = self.view("-o", "-", *options, **variables)
        assert (told.code, told.errors) == (0, "")
        return Document(told.out)

    def browser(self, code: int = 0) -> dict[str, str]:
        """A browser that writes down what it is to show, and ends so."""
        program = self.home / "browser"
        program.write_text(f'#!/bin/sh\nprintf %s "$1" > "{self.home}/shown"\nexit {code}\n')
        program.chmod(0o700)
        return {"BROWSER": f"{program} %s"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(new_project(tmp_path / "shop", "VAT differs by country"), tmp_path / "home")


@pytest.mark.long  # it costs much
def test_the_browser_is_given_a_private_page_that_the_next_call_replaces(desk: Desk) -> None:
    for _ in range(2):
        code, out, errors = desk.view(**desk.browser())
        [page] = desk.pages
        assert (code, errors) == (0, "")
        assert out.startswith(f"The page opens in your browser: {page}.")
        assert (desk.home / "shown").read_text(encoding="utf-8") == page.as_uri()
    modes = [stat.S_IMODE(it.stat().st_mode) for it in (page.parent, page)]
    assert modes == [0o700, 0o600]
    said = sentence("en", "view.no_browser", path=str(page))
    assert desk.view(PATH=os.defpath, **desk.browser(code=1)) == (1, "", f"{said}\n")


def test_lines_that_are_no_records_are_said_and_of_very_many_items_the_newest_are_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(b"a note\n", a_record(), b"<<<<<<< ours\n", b"=======\n", b">>>>>>> theirs\n")
    [note] = Document(desk.view("-o", "-").out).data["notes"]
    assert note.startswith("Unreadable lines: 1, conflicts: 1,")
    monkeypatch.setattr(view, "MOST_ITEMS", 2)
    desk.write(*[a_record(f"gap {at}", now=f"2026-03-0{at}T09:00:00+00:00") for at in (1, 3, 2)])
    data = desk.page().data
    assert [it["date"] for it in data["items"]] == ["2026-03-03", "2026-03-02"]
    assert data["notes"] == [
        "Shown of lessons: the newest 2 of 3."
        " `sentinel-memory list --room lessons` lists the others."
    ]


# The other rooms


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """Where the fragments of the user are, with two private ones and a public one."""
    texts: dict[str, Privacy] = {"Salaries": "private", "Style guide": "public", "Rota": "team"}
    one = a_fragment("frag0001")
    fragments = [
        replace(one, number=at, id=f"frag{at}", content=text, privacy=privacy)
        for at, (text, privacy) in enumerate(texts.items(), 1)
    ]
    keep_fragments(tmp_path / "memory.db", fragments).close()
    return {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}


def named(items: Sequence[dict[str, Any]], room: str) -> list[str]:
    """The first words of the items of a room."""
    return sorted(it["texts"][0][1].split()[0] for it in items if it["room"] == room)


@pytest.mark.row("002 2.99", "004 4.3.a")
def test_a_page_of_ones_own_has_all_fragments_and_a_file_only_those_that_were_asked_for(
    desk: Desk, place: dict[str, str]
) -> None:
    page = desk.root / "page.html"
    told = desk.view("-o", page.name, **place)
    assert told.out.splitlines()[1] == (
        "Your own fragments are not in it, since others may read it (left out: 3). To write the"
        " public ones: --public. To write all: --room fragments."
    )
    assert desk.view("-o", "-", **place).errors == f"{told.out.splitlines()[1]}\n"
    assert named(Document(page.read_text("utf-8")).data["items"], "fragments") == []
    assert stat.S_IMODE(page.stat().st_mode) & 0o044
    for rooms in ((), ("--room", "fragments", "--room", "lessons")):
        public = desk.page("--public", *rooms, **place).data
        assert named(public["items"], "fragments") == ["Style"]
        assert "Salaries" not in str(public) and "Rota" not in str(public)
    desk.view("-o", page.name, "--room", "fragments", "--force", **place)
    [note] = Document(page.read_text("utf-8")).data["notes"]
    assert note.startswith("This page holds private fragments (count: 1).")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600  # it is the user's alone
    desk.view(PATH="", **place)
    own = Document(desk.pages[0].read_text("utf-8")).data
    assert named(own["items"], "fragments") == ["Rota", "Salaries", "Style"]
    assert own["notes"] == []


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T1.b")
@pytest.mark.row("003 T91")
def test_sessions_are_on_the_page_wherever_their_settings_keep_them(desk: Desk) -> None:
    settings = desk.root / ".context" / "sessions" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"storage": {"location": ".context-sync"}}')
    make_sample_store(desk.root, 30).database.close()
    assert desk.view("-o", "page.html").out == "Written: page.html (items: 31).\n"
    page = desk.root / "page.html"
    items = Document(page.read_text("utf-8")).data["items"]
    assert len(named(items, "sessions")) == 30
    days = [it["date"] for it in items]
    assert days == sorted(days, reverse=True)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert {it["room"] for it in desk.page("--room", "lessons").data["items"]} == {"lessons"}


def test_no_secret_that_a_hand_put_into_a_room_is_on_the_page(desk: Desk, tmp_path: Path) -> None:
    desk.write(a_record(lesson=f"Use {TOKEN}", topic=TOKEN, ask_next_time=TOKEN))
    session, actions = sample_sessions(1)[0]
    spoiled = replace(session, goal=TOKEN, summary=TOKEN, tags=(TOKEN,), agent=TOKEN)
    store = make_sample_store(desk.root, 0)
    keep(store, [(spoiled, actions)])
    store.database.close()
    fragment = a_fragment("frag0001")
    fragments = [replace(fragment, content=TOKEN, topic=TOKEN, agent=TOKEN, keywords=(TOKEN,))]
    keep_fragments(tmp_path / "own.db", fragments).close()
    where = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "own.db")}
    rooms = ("lessons", "sessions", "fragments")
    told = desk.view("-o", "-", *[f"--room={room}" for room in rooms], **where)
    assert {it["room"] for it in Document(told.out).data["items"]} == {*rooms}
    assert TOKEN not in told.out
