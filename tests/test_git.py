"""Two real clones of one project: what a pull brings, and that nothing comes back or gets lost."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from core.record import Record
from core.store import MemoryStore
from samples import LATER, NOW, a_draft, a_principle

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def store_of(clone: Path, now: str = NOW) -> MemoryStore:
    return MemoryStore(clone / ".context" / "memory_log.jsonl", now=lambda: now)


def commit(clone: Path) -> None:
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "memory")


def pull(clone: Path, other: Path) -> None:
    git(clone, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "main")


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Two clones of a project with the gaps one to four."""
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch", "main")
    for gap in ("one", "two", "three", "four"):
        store_of(origin).upsert_log(a_draft(gap))
    commit(origin)
    for name in ("mine", "theirs"):
        git(tmp_path, "clone", "--quiet", "origin", name)
    return tmp_path / "mine", tmp_path / "theirs"


def gaps(clone: Path) -> list[str]:
    return sorted(record.key_text for record in store_of(clone).read_all())


def compact(clone: Path) -> Record:
    tokens = [record.token for record in store_of(clone).read_all()]
    return store_of(clone, LATER).upsert_log(a_principle("rule"), tokens).record


def test_the_lock_and_temporary_files_are_not_offered_to_git(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    (mine / ".context" / ".memory_log.jsonl.0123456789abcdef.tmp").write_bytes(b"half")
    store_of(mine).upsert_log(a_draft("five"))
    tracked = git(mine, "ls-files", ".context").split()
    assert tracked == [
        ".context/.gitattributes",
        ".context/.gitignore",
        ".context/memory_log.jsonl",
    ]
    changed = git(mine, "status", "--short", "--untracked-files=all").split()
    assert changed == ["M", ".context/memory_log.jsonl"]


def test_one_new_record_is_one_added_line(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    store_of(mine).upsert_log(a_draft("five"))
    assert git(mine, "diff", "--numstat").split()[:2] == ["1", "0"]


def test_both_sides_of_two_appends_are_there_after_a_pull(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    store_of(mine).upsert_log(a_draft("five"))
    store_of(theirs).upsert_log(a_draft("six"))
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    pull(theirs, mine)
    assert gaps(mine) == gaps(theirs) == ["five", "four", "one", "six", "three", "two"]


def test_the_same_gap_on_both_sides_is_one_record_the_newest(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    store_of(mine, NOW).upsert_log(a_draft("two", lesson="mine, older"))
    store_of(theirs, LATER).upsert_log(a_draft("two", lesson="theirs, newer"))
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    assert gaps(mine) == ["four", "one", "three", "two"]
    [two] = [record for record in store_of(mine).read_all() if record.missing_context == "two"]
    assert two.lesson == "theirs, newer"


def test_a_compaction_keeps_what_a_colleague_added_and_changed(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    compact(mine)
    store_of(theirs, LATER).upsert_log(a_draft("two", lesson="changed meanwhile"))
    store_of(theirs, LATER).upsert_log(a_draft("five"))
    commit(mine)
    commit(theirs)
    pull(theirs, mine)
    pull(mine, theirs)
    assert gaps(mine) == gaps(theirs) == ["five", "rule", "two"]
    store_of(theirs).upsert_log(a_draft("six"))
    assert theirs.joinpath(".context/memory_log.jsonl").read_bytes().count(b"\n") == 4


def test_two_compactions_of_the_same_records_bring_no_original_back(
    clones: tuple[Path, Path],
) -> None:
    mine, theirs = clones
    compact(mine)
    tokens = [record.token for record in store_of(theirs).read_all()]
    store_of(theirs).upsert_log(a_principle("their rule"), tokens)
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    assert gaps(mine) == ["rule", "their rule"]
