"""Tests that texts of records do nothing where a page renders them or a runner prints them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from commands.comparison import Report
from commands.report import code, markdown
from commands.revisions import Revisions, Side
from core.lessons.record import Record
from core.text.plain import printable
from tests.support.samples import LATER, a_record
from tests.support.tables import table

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PIECES = table("commands/report_texts")["pieces"]
COMMAND = re.compile(r"^\s*::|##(?:vso)?\[", re.I | re.M)
# What the report itself is made of, all around the texts of records.
OURS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *("code_inline", "hardbreak", "softbreak", "strong_open", "strong_close"),
    *("table_open", "table_close", "thead_open", "thead_close", "tbody_open", "tbody_close"),
    *("tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close"),
}

hostile = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), min_size=1, max_size=12
).map("".join)


def tokens_of(document: str) -> Iterator[Token]:
    for token in MARKDOWN.parse(document):
        yield token
        yield from token.children or ()


def words(text: str) -> str:
    """What is to be read of a text, whatever blanks stand between and around code."""
    return "".join(text.split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *[("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "`—`"), ("a\nb", "`a b`")],
        ("`a` and ``b``", "``` `a` and ``b`` ```"),
        ("one\u200btwo", "`one<U+200B>two`"),
    ],
)
def test_a_text_is_code_whatever_it_holds(text: str, shown: str) -> None:
    assert code(text) == shown
    inline = MARKDOWN.parseInline(code(text))[0].children or []
    assert [token.type for token in inline] == ["code_inline"]


@given(hostile)
@example("\\`a` <b>`")
def test_every_word_of_a_text_is_there_to_be_read(text: str) -> None:
    [token] = MARKDOWN.parseInline(code(text))[0].children or []
    lines = re.split("\r\n|[\n\r\u2028\u2029]", text)
    assert words(token.content) == words("".join(map(printable, lines))) or token.content == "—"


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("text", ["`" * 50_000, "`a" * 50_000, "(" * 50_000])
def test_a_long_run_of_signs_takes_no_long_time(text: str) -> None:
    assert code(text)


def document(one: str, two: str, topic: str) -> str:
    """A report in which these texts stand in every part that shows any."""
    texts: dict[str, Any] = {"missing_context": "m" + one, "lesson": two, "ask_next_time": one}
    plain, changing, gone = map(a_record, ("plain", "changing", "gone"))
    odd = replace(plain, **texts, id="a" * 16, topic=topic, paths=(one, two), when=(one, two))
    lost = replace(plain, **texts, id="c" * 16, topic=topic)
    sums: dict[str, Any] = {"type": "principle", "source_ids": (gone.token,)}
    principle = replace(gone, **texts, **sums, id="b" * 16, topic=topic)
    changed = replace(changing, lesson=two, updated=LATER, seen=2)
    moved = replace(plain, id="d" * 16, topic=topic, source_ids=(plain.token,))
    told = a_range([plain, changing, gone, lost], [odd, principle, changed, moved])
    return markdown(Report(told, threshold=50))


def a_range(before: list[Record], after: list[Record]) -> Revisions:
    """The two logs, as if one commit lay between them."""
    sides = [
        Side(name, b"".join(record.to_line() for record in records))
        for name, records in (("a", before), ("b", after))
    ]
    return Revisions("l", *sides)


def prose_of(text: str) -> set[str]:
    """What stands outside of code, without the sums at both ends."""
    parts = text.partition("### Figures")[0].partition("\n")[2]
    return {token.content.strip() for token in tokens_of(parts) if token.type == "text"}


OUR_PROSE = prose_of(document("x", "y", "t")) | prose_of(document("\u200b", "\u200b", "t"))
OUR_PROSE |= {"after: —", "before: —", "—", ""}  # a text of blanks is shown as a dash


@pytest.mark.long  # it costs much
@given(hostile, hostile, hostile)
@example("::error::x\n##[error]x", "a\n ::stop-commands::b", "##vso[task.x]")
@example("`@kim`", "```\n# a", "</details>")
def test_no_text_changes_the_form_of_a_report_or_stands_outside_of_code(
    one: str, two: str, topic: str
) -> None:
    told = document(one, two, "t" + topic)  # a blank topic is none
    assert {token.type for token in tokens_of(told)} <= OURS
    kinds = [token.type for token in tokens_of(told)]
    assert kinds.count("heading_open") == told.count("\n### ")
    prose = {re.sub("^: [a-z-]+,", ": hidden-text,", it) for it in prose_of(told)}
    assert prose <= OUR_PROSE
    assert not COMMAND.search(told)
