"""Tests what is read of a command."""

import pytest

from core.lessons.action import phrases_in, tool_files


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("uv lock", {"uv.lock", "pyproject.toml"}),
        ("uv --quiet lock", {"uv.lock", "pyproject.toml"}),
        ("uv run pytest", set()),
        ("npm test", set()),
        ("npm --prefix web install left-pad", {"package.json", "package-lock.json"}),
        ("sudo terraform -chdir=infra apply", {"*.tf", "*.tfvars"}),
        ("CI=1 ./gradlew build | tee out", {"build.gradle", "build.gradle.kts"}),
        ("make && git push", {"makefile"}),
        ("", set()),
        ("|| && ;", set()),
    ],
)
def test_a_tool_works_on_files_that_its_command_does_not_name(
    command: str, files: set[str]
) -> None:
    found = {name for name, _ in tool_files(command)}
    assert files <= found
    assert bool(files) == bool(found)


def test_a_command_that_writes_a_file_is_told_from_one_that_reads_it() -> None:
    assert dict(tool_files("uv lock && make test")) == {
        "uv.lock": True,
        "pyproject.toml": True,
        "makefile": False,
    }


def test_two_words_in_a_row_are_read_of_each_program() -> None:
    command = "sudo env A=1 git push --force origin main; uv run alembic upgrade head"
    assert set(phrases_in(command)) == {
        ("git", "push"),
        ("push", "origin"),
        ("origin", "main"),
        ("alembic", "upgrade"),
        ("upgrade", "head"),
    }
