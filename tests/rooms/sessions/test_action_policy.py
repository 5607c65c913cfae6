"""Tests which command lines are recorded."""

import pytest

from rooms.sessions.config import EXCLUDED, INCLUDED
from rooms.sessions.policy import MOST_CHARS, commands_in, is_recorded
from tests.support.stdio_client import ROOT

DATA = ROOT / "tests/data"


@pytest.mark.row("003 T26", "003 T29", "003 T30")
def test_a_command_line_is_recorded_for_a_command_that_is_included_and_not_excluded() -> None:
    recorded = (DATA / "commands_recorded.txt").read_text("utf-8").splitlines()
    passed_over = (DATA / "commands_passed_over.txt").read_text("utf-8").splitlines()
    assert len(recorded) > 30 and len(passed_over) > 20
    assert [line for line in recorded if not is_default(line)] == []
    assert [line for line in passed_over if is_default(line)] == []


def is_default(line: str) -> bool:
    return is_recorded(line, INCLUDED, EXCLUDED)


def test_lines_that_a_command_reads_are_no_commands() -> None:
    assert not is_default("cat > a <<'END'\nnpm test\nEND")
    assert not is_default("cat > a <<-EOF\nnpm test\n  EOF")
    assert not is_default("cat > a <<END\nnpm test")
    assert is_default("cat > a <<END\nls\nEND\nnpm test")
    assert is_default("ls\nnpm test")


@pytest.mark.row("003 T30")
def test_what_is_excluded_wins() -> None:
    assert is_recorded("git push", ["git"], ["git status"])
    assert not is_recorded("git status", ["git"], ["git status"])
    assert not is_recorded("git status", ["git status"], ["git"])
    assert not is_recorded("npm test", ["npm"], ["npm test"])
    assert is_recorded("npm run x && npm test", ["npm"], ["npm test"])


@pytest.mark.row("003 T29")
def test_no_include_stands_for_every_command() -> None:
    assert is_recorded("cargo build", [], EXCLUDED)
    assert not is_recorded("cd a; ls", [], EXCLUDED)
    assert not is_recorded("", [], [])
    assert not is_recorded("cargo build", ["", "  "], [])


def test_a_version_at_the_end_of_a_name_may_be_left_out() -> None:
    assert is_recorded("python3 x.py", ["python"], [])
    assert is_recorded("python3 x.py", ["python3"], [])
    assert not is_recorded("python x.py", ["python3"], [])
    assert not is_recorded("7z x", [""], [])


def test_the_words_of_each_command_are_read_as_a_shell_does() -> None:
    line = r"""A=1 git -c "user.name=a b" commit -m 'it'\''s; done' && (npm test) | tee out"""
    assert list(commands_in(line)) == [
        ["git", "-c", "user.name=a b", "commit", "-m", "it's; done"],
        ["npm", "test"],
        ["tee", "out"],
    ]


@pytest.mark.long  # it costs much
def test_odd_lines_end_soon() -> None:
    for text in ("'", '"', "`", "\\", "$(", "<<A\n", "a 'b\" ", "sudo ", "sh -c ", "-", "&", "\0"):
        assert not is_recorded(text * (2 * MOST_CHARS), ["npm test"], ())
