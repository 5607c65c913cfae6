"""Tests what of a Markdown text is code, and that no text holds the answer up."""

import time

import pytest

from commands.documents.markdown_code import without_code


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("see @a.md and `@b.md`", "see @a.md and `"),
        ("``@a `b` @c`` @d", "` @d"),
        ("a ` b\n\n@c ` d", "a ` b\n\n@c ` d"),  # the paragraph ends before the span does
        ("a ``` b `` @c", "a ``` b `` @c"),
        ("``` @a", "`"),
        ("text\n```py\n@a\n``\n```\n@b", "text\n`\n@b"),
        ("~~~\n@a\n```\n~~~~\n@b", "`\n@b"),
        ("> - ```\n> @a\n> ```\n@b", "`\n@b"),
        ("    @a\n@b\n\t@c", "`\n@b\n`"),
        ("x <!-- @a\n\n--> @b <!-- @c", "x ` @b `"),
        ("`@a\nb` @c", "` @c"),
        ("", ""),
    ],
)
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
