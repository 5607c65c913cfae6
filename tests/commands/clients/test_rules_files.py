"""Tests which lines of a Markdown file import another one, and which only look like it."""

import pytest

from commands.setup.rules_files import imported
from tests.support.tables import table

ROWS = table("commands/rules_files")


@pytest.mark.parametrize(
    ("text", "name", "found"), ROWS["an_import_is_a_word_of_the_text_and_counts_from_its_file"]
)
def test_an_import_is_a_word_of_the_text_and_counts_from_its_file(
    text: str, name: str, found: list[str]
) -> None:
    assert imported(text, name) == found
