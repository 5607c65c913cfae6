import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.store import count, read_all
from server import compact_memory, log_memory, search_memory
from tests.contract.given import GAP, LOG, lines, log, tokens, write


def lessons() -> set[str]:
    return {record["lesson"] for record in read_all()}


def git(*arguments: str) -> str:
    name = ("-c", "user.name=kim", "-c", "user.email=kim@example.org")
    done = subprocess.run(["git", *name, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commit() -> None:
    git("add", "-A")
    git("commit", "-qm", "memory")


@contextmanager
def branch(name: str) -> Iterator[None]:
    git("switch", "-qc", name)
    yield
    commit()
    git("switch", "-q", "trunk")


@pytest.fixture
def repository(project: Path) -> Path:
    git("init", "-qb", "trunk", ".")
    for number in range(3):
        log_memory("payment", f"gap {number}", f"lesson {number}")
    commit()
    return project


@pytest.fixture
def split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        log_memory("payment", GAP, f"the way of {name}")
        merged += lines()
    (tmp_path / "merged").mkdir()
    monkeypatch.chdir(tmp_path / "merged")
    write(*(line + "\n" for line in merged))


def test_an_older_version_gives_way_to_its_successor() -> None:
    log_memory("payment", GAP, "the first way")
    old = lines()[0] + "\n"
    log_memory("payment", GAP, "the second way")
    write(lines()[0] + "\n", old)
    assert lessons() == {"the second way"}
    assert count() == 1


@pytest.mark.row("001 5-1.o")
@pytest.mark.usefixtures("split")
def test_two_versions_that_do_not_know_each_other_are_both_shown() -> None:
    answer = search_memory("")
    assert "the way of one" in answer and "the way of two" in answer
    assert re.search("version|both|concurrent", answer, re.I)
    assert "the way of one" in compact_memory() and "the way of two" in compact_memory()


@pytest.mark.usefixtures("split")
def test_writing_something_else_keeps_both_versions() -> None:
    log_memory("ui", "gap", "lesson")
    assert {"the way of one", "the way of two"} <= lessons()


@pytest.mark.usefixtures("split")
def test_logging_the_gap_again_settles_it() -> None:
    log_memory("payment", GAP, "the way of both")
    assert [record["lesson"] for record in read_all()] == ["the way of both"]


@pytest.mark.usefixtures("split")
def test_a_compaction_takes_both_versions_by_their_tokens() -> None:
    found = tokens(compact_memory())
    assert len(found) == 2
    log_memory("payment", "", "the way of all", type="principle", source_ids=found)
    assert lessons() == {"the way of all"}


@pytest.mark.row("001 5-1.o")
@pytest.mark.usefixtures("repository")
def test_two_branches_that_append_merge_without_a_conflict() -> None:
    with branch("one"):
        log_memory("ui", "gap", "lesson of one")
    with branch("two"):
        log_memory("db", "gap", "lesson of two")
    git("merge", "-q", "one")
    git("merge", "-q", "-m", "merge", "two")
    assert "<<<<" not in LOG.read_text("utf-8")
    assert {"lesson of one", "lesson of two"} <= lessons()
    assert count() == 5


@pytest.mark.usefixtures("repository")
def test_a_compaction_merges_with_an_append() -> None:
    with branch("one"):
        found = tokens(compact_memory())
        log_memory("payment", "", "a principle", type="principle", source_ids=found)
    with branch("two"):
        log_memory("payment", "a new gap", "a new lesson")
    git("merge", "-q", "one")
    git("merge", "-q", "-m", "merge", "two")
    assert lessons() == {"a principle", "a new lesson"}


@pytest.mark.row("001 5-1.o")
@pytest.mark.usefixtures("repository")
def test_an_update_on_each_branch_loses_no_lesson() -> None:
    for name in ("one", "two"):
        with branch(name):
            log_memory("payment", "gap 1", f"the way of {name}")
    git("merge", "-q", "one")
    git("merge", "-q", "-m", "merge", "two")
    assert lessons() == {"lesson 0", "the way of one", "the way of two", "lesson 2"}


@pytest.mark.usefixtures("repository")
def test_an_update_beside_a_compaction_stays() -> None:
    with branch("one"):
        found = tokens(compact_memory())
        log_memory("payment", "", "a principle", type="principle", source_ids=found)
    with branch("two"):
        log_memory("payment", "gap 1", "a better lesson")
    git("merge", "-q", "one")
    git("merge", "-q", "-m", "merge", "two")
    assert {"a principle", "a better lesson"} <= lessons()


def test_the_same_record_on_two_branches_is_one() -> None:
    write(log(), log("ui", "gap"), log())
    assert count() == 2
    assert search_memory("").count(GAP) == 1
