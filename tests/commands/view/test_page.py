"""Tests the page of `cli.py view`: its content, its place, and that a text stays a text."""

import json
from base64 import b64encode
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
from rooms.room import Item
from server import VERSION
from tests.support.cli_process import TOKEN, Desk
from tests.support.git_clones import new_project
from tests.support.room_samples import a_fragment, keep_fragments
from tests.support.samples import NOW, a_record
from tests.support.sentences import LANGUAGES, in_language, sentence
from tests.support.session_samples import keep, make_sample_store, sample_sessions

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" ' ` & <!-- ]]> {title}"


def an_item(text: str = "Refund once. Never twice.", **changed: Any) -> Item:
    """A lesson, with the fields that are named changed."""
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
        parts = zip(self.elements, self.inside, strict=True)
        return [text for (name, _), text in parts if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        """The items, as the script reads them."""
        data, _script = self.texts("script")
        return dict(json.loads(data))


def page_of(*items: Item, lang: Language = "en", project: str = "shop") -> Document:
    return Document(in_language(lang, view.build_page, items, project=project))


# The document


def test_the_page_allows_itself_its_own_style_and_script_and_nothing_else() -> None:
    page = page_of(an_item(HOSTILE))
    [policy] = [attrs["content"] for _, attrs in page.elements if "http-equiv" in attrs]
    hashes = [
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
        for text in (page.texts("style")[0], page.texts("script")[1])
    ]
    assert policy == (
        f"default-src 'none'; style-src {hashes[0]}; script-src {hashes[1]};"
        " base-uri 'none'; form-action 'none'"
    )
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name in ("src", "href", "style") or name.startswith("on")}


SHAPE = [tag for tag, _ in page_of().elements]


@given(text=st.text() | st.sampled_from([HOSTILE, "<!--<script>", "\u2028</SCRIPT >"]))
def test_the_page_has_the_same_elements_for_any_text_of_an_item(text: str) -> None:
    texts = ((text, f"a{text}"), ("", text))
    page = page_of(an_item(id=text, topic=text, kind=text, facts=(text,), texts=texts))
    assert [tag for tag, _ in page.elements] == SHAPE
    assert len(page.data["items"]) == 1


def test_the_name_of_a_project_stays_text_and_hidden_characters_are_spelled_out() -> None:
    page = page_of(project=f"</title><script>x</script>{TOKEN}")
    assert [tag for tag, _ in page.elements] == SHAPE
    assert page.texts("h1") == ["Memory of </title><script>x</script>[REDACTED]"]
    odd = an_item("one\r\ntwo\u202e\n", topic="a\u200bb\nc", date="<b>")
    [item] = page_of(odd).data["items"]
    assert (item["texts"][0][1], item["topic"]) == ("one\ntwo<U+202E>", "a<U+200B>b c")
    assert item["date"] == "????-??-??"  # an invalid date is not shown


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


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(new_project(tmp_path / "shop", "VAT differs by country"), tmp_path / "home")


def test_lines_that_are_no_records_are_said_and_of_very_many_items_the_newest_are_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(b"a note\n", a_record(), b"<<<<<<< ours\n", b"=======\n", b">>>>>>> theirs\n")
    [note] = Document(desk.run("view", "-o", "-").out).data["notes"]
    assert note.startswith("Unreadable lines: 1, conflicts: 1,")
    monkeypatch.setattr(view, "MOST_ITEMS", 2)
    desk.write(*[a_record(f"gap {at}", now=f"2026-03-0{at}T09:00:00+00:00") for at in (1, 3, 2)])
    data = Document(desk.run("view", "-o", "-").out).data
    assert [item["date"] for item in data["items"]] == ["2026-03-03", "2026-03-02"]
    assert data["notes"] == [
        "Shown of lessons: the newest 2 of 3."
        " `sentinel-memory list --room lessons` lists the others."
    ]


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
    done = desk.run("view", "-o", "-", *[f"--room={room}" for room in rooms], **where)
    assert {item["room"] for item in Document(done.out).data["items"]} == {*rooms}
    assert TOKEN not in done.out
