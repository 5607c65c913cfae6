"""Tests how the program puts its block into a file of the user and takes it out again."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commands.documents.markdown_code import without_code
from commands.documents.marked_block import (
    BrokenBlockError,
    block_in,
    markers,
    with_block,
    without_block,
)
from tests.support.tables import table

BEGIN, END = markers("rules")

PIECES = ["a", "가", " ", "#", "<!--", "\ufeff"]
TEXTS = st.sampled_from(["\n", "\r\n"]).flatmap(
    lambda newline: st.lists(st.sampled_from([*PIECES, newline]), max_size=12).map("".join)
)


def test_a_block_goes_to_the_end_after_a_blank_line() -> None:
    assert with_block("# Ours\n", "rules", "Do it.\nTwice.") == (
        f"# Ours\n\n{BEGIN}\nDo it.\nTwice.\n{END}\n"
    )


def test_a_block_that_is_there_is_replaced_where_it_stands() -> None:
    text = f"one\n{BEGIN}\nold\n{END}\ntwo\n"
    assert with_block(text, "rules", "new") == f"one\n{BEGIN}\nnew\n{END}\ntwo\n"


def test_an_empty_file_holds_the_block_alone() -> None:
    assert with_block("", "rules", "Do it.") == f"{BEGIN}\nDo it.\n{END}\n"
    assert without_block(f"{BEGIN}\nDo it.\n{END}\n", "rules") == ""


def test_windows_line_ends_are_kept() -> None:
    text = with_block("# Ours\r\n", "rules", "Do it.\nTwice.")
    assert text == f"# Ours\r\n\r\n{BEGIN}\r\nDo it.\r\nTwice.\r\n{END}\r\n"
    assert block_in(text, "rules") == "Do it.\r\nTwice."


def test_a_block_that_says_the_same_keeps_its_own_line_ends() -> None:
    text = f"# Ours\r\n\r\n{BEGIN}\nDo it.\nTwice.\n{END}\r\n"
    assert with_block(text, "rules", "Do it.\nTwice.") == text


@example("a\r", "b")
@given(TEXTS, st.text("ab가\n", min_size=1).filter(lambda body: bool(body.strip("\n"))))
def test_taking_out_what_was_put_in_gives_the_text_back(text: str, body: str) -> None:
    put_in = with_block(text, "rules", body)
    assert without_block(put_in, "rules") == text
    assert with_block(put_in, "rules", body) == put_in


def test_text_that_was_written_behind_the_block_stays() -> None:
    text = with_block("# Ours\n", "rules", "Do it.") + "\nMore.\n"
    assert without_block(text, "rules") == "# Ours\n\nMore.\n"


def test_a_text_without_the_block_stays_as_it_is() -> None:
    assert without_block("# Ours\n", "rules") == "# Ours\n"
    assert block_in("# Ours\n", "rules") is None


def test_blocks_of_other_names_are_not_touched() -> None:
    text = with_block(with_block("", "rules", "one"), "principles", "two")
    assert block_in(without_block(text, "rules"), "principles") == "two"


@pytest.mark.parametrize(
    "text",
    [BEGIN, END, f"{END}\n{BEGIN}\n", f"{BEGIN}\na\n{END}\n{BEGIN}\nb\n{END}\n", f"{BEGIN}\n" * 2],
)
def test_markers_that_do_not_pair_are_an_error(text: str) -> None:
    for change in (block_in, without_block):
        with pytest.raises(BrokenBlockError):
            change(text, "rules")
    with pytest.raises(BrokenBlockError):
        with_block(text, "rules", "Do it.")


ROWS = table("commands/markdown_code")


@pytest.mark.parametrize(("text", "rest"), ROWS["code_and_comments_become_one_backtick"])
def test_code_and_comments_become_one_backtick(text: str, rest: str) -> None:
    assert without_code(text) == rest


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "`" * 1_600,
        "` " * 50_000,
        "".join("`" * length + " " for length in range(1, 500)),
        "`a``b```c" * 10_000,
        "```\n~~~\n" * 12_000,
        "````\n" + "```\n" * 25_000,
        "<!--" * 25_000,
        "> " * 50_000,
        "    \n" * 20_000,
    ],
)
def test_no_text_holds_it_up(text: str) -> None:
    began = time.process_time()
    without_code(text)
    assert time.process_time() - began < 20
