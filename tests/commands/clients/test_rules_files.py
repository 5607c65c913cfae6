"""Tests which lines of a Markdown file import another one, and which only look like it."""

import pytest

from commands.clients.rules_files import imported


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("See @AGENTS.md\n", "CLAUDE.md", ["AGENTS.md"]),
        ("- @./AGENTS.md#top\r\n", "CLAUDE.md", ["AGENTS.md"]),
        ("@../AGENTS.md", "CLAUDE.md", ["../AGENTS.md"]),
        ("@AGENTS.md @../AGENTS.md", ".claude/CLAUDE.md", [".claude/AGENTS.md", "AGENTS.md"]),
        ("@/AGENTS.md @~/AGENTS.md", "CLAUDE.md", []),
        ("a@AGENTS.md (@AGENTS.md)", "CLAUDE.md", []),
        ("See @AGENTS.md.", "CLAUDE.md", ["AGENTS.md."]),
        ("```\n@a\n```\n@b\n", "c", ["b"]),
        ("````\n```\n@a\n````\n@b\n", "c", ["b"]),
        ("~~~\r\n```\r\n@a\r\n~~~\r\n@b\r\n", "c", ["b"]),
        ("- ```\n\n  @a\n  ```\n@b\n", "c", ["b"]),
        ("```\n@a\n", "c", []),
        ("    @a\n\t@b\n@c", "d", ["c"]),
        ("`@a` ``` `@b` ``` @c", "d", ["c"]),
        ("one ` alone @a\n\n@b", "c", ["a", "b"]),
        ("<!-- @a -->\n<!--\n@b\n```\n-->\n@c\n", "d", ["c"]),
        ("```\n<!--\n```\n@a", "b", ["a"]),
    ],
)
def test_an_import_is_a_word_of_the_text_and_counts_from_its_file(
    text: str, name: str, found: list[str]
) -> None:
    assert imported(text, name) == found
