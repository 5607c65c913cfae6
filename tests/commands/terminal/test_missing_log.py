"""Tests that a log which git has and which is gone is no empty memory and no place for another."""

from pathlib import Path

import pytest

from tests.support.cli_process import Run
from tests.support.git_clones import commit, git, store_of
from tests.support.samples import a_draft

LOG = ".context/memory_log.jsonl"
ADD = ("add", "--topic", "a", "--missing", "b", "--lesson", "c", "--yes")
SAVED = f"git restore {LOG}"


@pytest.fixture
def gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose log was committed and deleted without git."""
    git(tmp_path, "init", "--quiet")
    store_of(tmp_path).upsert_log(a_draft("one"))
    (tmp_path / "CLAUDE.md").write_text("- Use Node 22\n")
    commit(tmp_path)
    (tmp_path / LOG).unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", [("list",), ("search", "one"), ADD, ("import", "CLAUDE.md")])
def test_the_way_back_is_named_and_no_log_begins(
    gone: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    done = Run.of(capsys, *words)
    assert (done.code, done.out) == (1, "")
    assert SAVED in done.errors
    assert not (gone / LOG).exists()
    git(gone, *SAVED.split()[1:])
    assert "Records: 1 of 1" in Run.of(capsys, "list").out


def test_one_that_was_deleted_on_purpose_is_an_empty_memory(
    gone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(gone, "rm", "--quiet", "--cached", LOG)
    assert Run.of(capsys, "list").code == 0
    assert Run.of(capsys, *ADD).code == 0
    assert (gone / LOG).is_file()
