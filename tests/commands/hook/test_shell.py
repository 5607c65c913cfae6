"""Tests which files a command line is seen to edit, and that one which only reads edits none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.hook.shell import Edits, edits_of
from tests.support.tables import none_of, table

FILE, ROWS = "src/pay/refund.py", table("commands/shell")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text("x")
    return tmp_path


def read(command: str, root: Path) -> Edits:
    return edits_of(command.replace("FILE", FILE).replace("ROOT", str(root)), str(root), str(root))


@pytest.mark.parametrize("kind", ROWS["edits"])
def test_a_command_that_edits_a_file_is_seen_to_do_so(kind: str, root: Path) -> None:
    commands = ROWS["edits"][kind]
    none_of(it for it in commands if str(root / FILE) not in read(it, root).paths)


@pytest.mark.parametrize("command", ROWS["with_a_text"])
def test_of_a_here_document_the_file_and_the_text_are_seen(command: str, root: Path) -> None:
    edits = read(command, root)
    assert str(root / FILE) in edits.paths
    assert "x = 1" in edits.text


def test_a_command_that_only_reads_edits_nothing(root: Path) -> None:
    none_of(it for it in ROWS["reads"] if read(it, root).paths not in ((), ("/tmp/a.py",)))


def test_what_stands_for_many_files_tells_nothing(root: Path) -> None:
    for at in range(60):
        (root / f"src/{at}.py").write_text("x")
    for command in ("black .", "rm -rf src", "sed -i s/a/b/ src/*.py"):
        assert edits_of(command, str(root), str(root)).paths == ()


@given(st.text(st.sampled_from(list("'\"\\$(){}<>|;&\n =-*[]~#aF/.")), max_size=80))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for command in (text, f"sed -i {text}", f"cat <<{text}", f"bash -c {text}", f"A={text}; rm $A"):
        edits_of(command, "/nowhere", "/")


@pytest.mark.long  # it costs much
def test_odd_and_long_commands_are_read_soon() -> None:
    """Each would take minutes if its time grew with the square of its length."""
    for text in ("'", '"', '\\"', "$(", "<<a\n", "(", "a=a;$a ", "{a,a}", "bash -c '", "\\", "# "):
        edits_of(f"rm {text * 8_000}", "/nowhere", "/")
