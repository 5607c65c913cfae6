"""Tests what is read of an action: its words, and the files and phrases of its command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lessons.action import Vocabulary, phrases_in, terms_of, tool_files

PIECES = [*"ab9B_-. \nﬁ환불이İK", "is", "ok", "Foo", "bar", "ies", "ing", "s", "ｆ", "É"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(TEXTS, TEXTS)
def test_what_is_shared_is_what_both_have(one: str, other: str) -> None:
    assert Vocabulary(terms_of(one)).shared(other) == terms_of(one) & terms_of(other)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("uv lock", {"uv.lock": True, "pyproject.toml": True}),
        ("uv --quiet lock", {"uv.lock": True, "pyproject.toml": True}),
        ("npm --prefix web install left-pad", {"package.json": True, "package-lock.json": True}),
        ("sudo terraform -chdir=infra apply", {"*.tf": False, "*.tfvars": False}),
        ("CI=1 ./gradlew build | tee out", {"build.gradle": False, "build.gradle.kts": False}),
        ("uv lock && make && git push", {"uv.lock": True, "makefile": False}),
        *((nothing, {}) for nothing in ("uv run pytest", "npm test", "", "|| && ;")),
    ],
)
def test_a_tool_reads_or_writes_files_that_its_command_does_not_name(
    command: str, files: dict[str, bool]
) -> None:
    found = tool_files(command)
    assert found.items() >= files.items()
    assert bool(files) == bool(found)


def test_two_words_in_a_row_are_read_of_each_program() -> None:
    command = "sudo env A=1 git push --force origin main; uv run alembic upgrade head"
    words = {"git push", "push origin", "origin main", "alembic upgrade", "upgrade head"}
    assert set(phrases_in(command)) == words
