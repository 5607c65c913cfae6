"""Tests that texts of records do nothing where GitHub or GitLab render them, and stay readable."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from commands.documents.github_markdown import code, inert, inert_lines
from commands.report.findings import report_on
from commands.report.markdown import markdown
from commands.report.revisions import Revisions, Side
from commands.scan.findings import fresh_lines
from core.lessons.record import Record
from core.text.plain import listed, printable
from tests.support.samples import LATER, a_record
from tests.support.tables import table

ROWS = table("commands/report_texts")

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# What stands in a text outside of code: letters, numbers, and marks that begin nothing.
HARMLESS = re.compile(r"""(?:[^\x00-\x7f]|[A-Za-z0-9 \t.,;:!?'"()%/&+=-])*""")
# And what some reader of rendered text would take for a name among these.
TRIGGERS = re.compile(
    r"@\w|[#!&%]\d|[A-Za-z]+-\d|\b[0-9a-fA-F]{7,40}\b|:\w+:|https?:|www\.|\w/\w|&\w+;|^/\w", re.A
)
PIECES = ROWS["pieces"]

hostile = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), min_size=1, max_size=12
).map("".join)
spaced = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join)


def tokens_of(document: str) -> Iterator[Token]:
    for token in MARKDOWN.parse(document):
        yield token
        yield from token.children or ()


def words(text: str) -> str:
    """What is to be read of a text, whatever blanks stand between and around code."""
    return "".join(text.replace("`", "").split())


@pytest.mark.parametrize(
    ("text", "shown"), ROWS["a_word_that_could_act_becomes_code_and_no_other_does"]
)
def test_a_word_that_could_act_becomes_code_and_no_other_does(text: str, shown: str) -> None:
    assert inert_lines(text) == [shown]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "`—`"), ("a\nb", "`a b`")],
)
def test_a_name_is_code_whatever_it_holds(text: str, shown: str) -> None:
    assert code(text) == shown
    inline = MARKDOWN.parseInline(code(text))[0].children or []
    assert [token.type for token in inline] == ["code_inline"]


@pytest.mark.long  # it costs much
@given(st.one_of(hostile, spaced))
@example("- `a``b` and `c`")
@example("`a`@kim`b`")
@example("\\`a` <b>`")
def test_no_text_makes_anything_but_words_and_code(text: str) -> None:
    document = "\n".join(listed("- ", inert_lines(text)))
    for token in tokens_of(document):
        assert token.type in {
            *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
            *("paragraph_open", "paragraph_close", "inline", "text", "code_inline", "hardbreak"),
        }, (document, token)
    kinds = [token.type for token in tokens_of(document)]
    assert kinds.count("bullet_list_open") == kinds.count("list_item_open") == 1


@given(st.one_of(hostile, spaced))
def test_nothing_outside_of_code_can_be_taken_for_a_name(text: str) -> None:
    for line in inert_lines(text):
        for token in tokens_of(line):
            if token.type == "text":
                assert HARMLESS.fullmatch(token.content), (line, token.content)
                assert not TRIGGERS.search(token.content), (line, token.content)


@given(st.one_of(hostile, spaced))
def test_every_word_of_a_text_is_there_to_be_read(text: str) -> None:
    rendered = "".join(
        token.content
        for line in inert_lines(text)
        for token in tokens_of(line)
        if token.type in ("text", "code_inline")
    )
    lines = re.split("\r\n|[\n\r\u2028\u2029]", text)
    assert words(rendered) == words("".join(printable(line) for line in lines))


@given(hostile)
def test_a_heading_stays_one_heading(text: str) -> None:
    kinds = [token.type for token in MARKDOWN.parse(f"### {inert(text)}")]
    assert kinds == ["heading_open", "inline", "heading_close"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("text", ["`" * 50_000, "`a" * 50_000, "(" * 50_000, ")" * 50_000 + "a"])
def test_a_long_run_of_signs_takes_no_long_time(text: str) -> None:
    assert inert_lines(text)


def a_range(before: list[Record], after: list[Record]) -> Revisions:
    """The two logs, as if one commit lay between them."""
    sides = [
        Side.of(name, b"".join(record.to_line() for record in records))
        for name, records in (("a", before), ("b", after))
    ]
    known: set[bytes] = set()
    fresh_lines(sides[0].data, known)
    fresh = fresh_lines(sides[1].data, known)
    return Revisions(path="l", before=sides[0], after=sides[1], fresh=fresh, kept=[])


OURS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *("code_inline", "hardbreak", "softbreak", "strong_open", "strong_close"),
    *("table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close"),
    *("tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close"),
}
FOLD = ["<details>\n<summary>Replaced: 1</summary>", "</details>"]


@pytest.mark.long  # it costs much
@given(hostile, hostile, hostile)
def test_no_text_changes_the_form_of_a_whole_report(one: str, two: str, topic: str) -> None:
    topic = "t" + topic  # a blank one is none
    texts: dict[str, Any] = {"missing_context": "m" + one, "lesson": two, "ask_next_time": one}
    plain, changing, gone = map(a_record, ("plain", "changing", "gone"))
    odd = replace(plain, **texts, id="a" * 16, topic=topic, paths=(one, two), when=(one, two))
    lost = replace(plain, **texts, id="c" * 16, topic=topic)
    sources = (gone.token,)
    principle = replace(
        gone, **texts, id="b" * 16, type="principle", topic=topic, source_ids=sources
    )
    changed = replace(changing, lesson=two, updated=LATER)
    moved = replace(plain, id="d" * 16, topic=topic, source_ids=(plain.token,))
    report = report_on(
        a_range([plain, changing, gone, lost], [odd, principle, changed, moved]), threshold=50
    )
    document = markdown(report)
    headings = 0
    for token in tokens_of(document):
        if token.type == "html_block":
            assert token.content.strip().replace("  <", "<") in FOLD
        else:
            assert token.type in OURS, (document, token)
        headings += token.type == "heading_open"
    assert headings == document.count("\n### ") + document.count("\n#### ")
