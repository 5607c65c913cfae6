"""Tests what an export holds in each form, every text as text, and where it may be written."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from core.config import Settings
from rooms.sessions.document import FORMS as WRITTEN
from rooms.sessions.document import FormName, Head, Whole, export
from rooms.sessions.draft import cleaned
from rooms.sessions.session import (
    ACTION,
    SESSION,
    Action,
    Changes,
    Point,
    Session,
)
from rooms.sessions.store import SessionStore, open_sessions
from tests.support.session_samples import keep, sample_sessions
from tests.support.tables import table

FORMS: Sequence[FormName] = ("markdown", "json", "html")
DAY = "2026-11-20T10:00:00+00:00"
TABLE = table("sessions/exports")
TEXTS = st.lists(st.sampled_from(TABLE["signs"]), min_size=1, max_size=8).map("".join)


def document(
    sessions: Iterable[tuple[Session, Sequence[Action]]], name: FormName, *, project: str = "shop"
) -> str:
    """The document of these sessions, as the tool writes it."""
    form, whole = WRITTEN[name], [cleaned(*it) for it in sessions]
    numbers = {it.session.id: it.session.number for it in whole}
    texts = [
        form.session(Whole(it.session, it.actions, numbers.get(it.session.parent_id, 0)))
        for it in whole
    ]
    return form.begin(Head(project, len(whole), DAY)) + form.between.join(texts) + form.end(0)


def hostile(text: str) -> tuple[Session, list[Action]]:
    """A session with this text wherever one stands."""
    session = Session(
        number=7,
        id="ctx_00000000000a",
        goal=text,
        summary=text,
        status=text,
        tags=(text,),
        agent=text,
        decisions=(Point(text=text, why=text, made_by=text),),
        approaches=(Point(text=text, result="failed", why=text),),
        blockers=(Point(text=text, why=text),),
        changes=Changes(modified_files=(text,), summary=text),
        started_at=DAY,
        created_at=DAY,
        updated_at=DAY,
    )
    action = Action(id="act_1", kind=text, content=text, result=text, file_path=f"{text}x")
    return session, [action]


class Tags(HTMLParser):
    """The tags of a page with their attributes, and whether anything else is in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found = list[tuple[str, tuple[str, ...]]]()
        self.comments = list[str]()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs if name not in ("lang", "dir"))))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def blocks(text: str) -> list[str]:
    """The kinds of the blocks and spans of a Markdown document, but for those of plain text."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    kinds = []
    for token in parser.parse(text):
        kinds += [token.type, *(it.type for it in token.children or ())]
    plain = {"text", "inline", "softbreak", "hardbreak", "code_inline", "text_special"}
    return [kind for kind in kinds if kind not in plain]


@pytest.mark.long  # it costs much
@given(TEXTS)
@example("<script>")
@example("# x```")
@example("  1. x`")
@example("x\n# heading\n| a |\n| - |\n[l](u)")
def test_no_text_becomes_markup_in_any_form(text: str) -> None:
    quiet, loud = hostile("x"), hostile(text)
    page, spoken, told = (document([loud], form) for form in ("html", "markdown", "json"))
    expected, found = Tags(document([quiet], "html")), Tags(page)
    assert {*found.found} - {("br", ())} <= {*expected.found}
    for tag in ("h1", "h2", "h3", "strong"):
        assert found.found.count((tag, ())) <= expected.found.count((tag, ()))
    assert found.comments == expected.comments
    expected_kinds = blocks(document([quiet], "markdown"))
    assert set(blocks(spoken)) <= set(expected_kinds)
    assert blocks(spoken).count("heading_open") <= expected_kinds.count("heading_open")
    assert json.loads(told)["contexts"][0]["goal"] == text
    assert {"\x1b", "\x00", "\u202e", "\ud800"}.isdisjoint(page + spoken + told)


@pytest.mark.row("003 T59", "003 T63")
@pytest.mark.parametrize("form", FORMS)
def test_an_answer_keeps_to_its_budget_with_whole_sessions_and_a_file_has_all(
    store: SessionStore, form: FormName
) -> None:
    keep(store, sample_sessions(24))
    small = open_sessions(store.root, Settings(budget_tokens=2_000, budget_chars=9_000))
    done = export(small, form)
    assert 0 < done.count < 24
    assert len(done.text) <= 9_000 or form == "html"  # whose style alone is half of that
    assert f": {24 - done.count}. Give output a file" in done.text
    output = f"all{WRITTEN[form].suffixes[0]}"
    export(small, form, output=output)
    text = (store.root / output).read_text(encoding="utf-8")
    begins = {"markdown": "^## ", "html": "^<h2>", "json": '^{"id": '}
    assert len(re.findall(begins[form], text, re.M)) == 24
    if form == "json":  # the declared objects with their actions
        assert len(json.loads(done.text)["contexts"]) == done.count
        told, (session, actions) = json.loads(text), sample_sessions(24)[-1]
        assert (told["format"], told["version"]) == ("sentinel-memory-sessions", 1)
        expected = {**SESSION.as_json(session), "updatedAt": session.updated_at}
        assert told["contexts"][0] == {
            **expected,
            "actions": [ACTION.as_json(it) for it in actions],
        }
    # An answer without room for one session has none.
    tiny = open_sessions(store.root, Settings(budget_tokens=1_000, budget_chars=1_500))
    keep(store, [(replace(hostile("x " * 900)[0], number=99, id="ctx_99"), [])])
    done = export(tiny, form, names=["99"])
    assert done.count == 0 and ": 1. Give output a file" in done.text


# where it is written, beside what a story tells
