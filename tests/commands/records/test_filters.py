"""Tests which records `--since` and `--author` leave."""

import shutil
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.lessons.record import Record
from tests.support.cli_process import Command
from tests.support.git_clones import git, write
from tests.support.samples import a_record

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
AGES_H = {"hour": 0.5, "day": 20, "week": 24 * 6, "month": 24 * 29, "year": 24 * 360, "old": 10_000}


def aged(gap: str, hours: float) -> Record:
    created = datetime.now(UTC) - timedelta(hours=hours)
    return a_record(gap, now=created.isoformat(timespec="seconds"))


def gaps(command: Command, *words: str) -> list[str]:
    return [it["missing_context"] for it in command("list", *words, "--json").told["records"]]


@pytest.mark.parametrize(
    ("since", "count"),
    [("1h", 1), ("24h", 2), ("1d", 2), ("7d", 3), ("1w", 3), ("1m", 4), ("1y", 5), ("9y", 6)],
)
def test_since_counts_back_from_now(
    command: Command, project: Path, since: str, count: int
) -> None:
    write(project, *(aged(gap, hours) for gap, hours in AGES_H.items()))
    assert gaps(command, "--since", since) == list(AGES_H)[:count]


@pytest.mark.parametrize(
    "since", ["d", "7", "-7d", "7 d", "7D", "12345d", "2026-02-30", "26-01-01"]
)
def test_what_is_no_time_is_refused(command: Command, since: str) -> None:
    assert command("list", f"--since={since}").refused.startswith("--since: it must be a date such")


@pytest.fixture
def team(project: Path) -> Path:
    """A memory to which two people have added one record each, and a third one updated one."""
    git(project, "init", "-q")
    one, two = a_record("one"), a_record("two")
    for name, parts in (("Ada Kim", [one]), ("김민준", [one, two])):
        write(project, *parts)
        commit_of(project, name)
    write(project, a_record("one", lesson="now otherwise"), two)
    commit_of(project, "Grace")
    write(project, a_record("one", lesson="now otherwise"), two, a_record("three"))
    return project


def commit_of(project: Path, name: str) -> None:
    git(project, "add", ".")
    git(project, "-c", f"user.name={name}", "-c", "user.email=a@b", "commit", "-q", "-m", "memory")


@pytest.mark.long  # it costs much
@needs_git
@pytest.mark.parametrize(("name", "found"), [("ada", ["one"]), ("민준", ["two"]), ("KIM", ["one"])])
def test_an_author_is_who_added_the_record(
    team: Path, command: Command, name: str, found: list[str]
) -> None:
    assert gaps(command, "--author", name) == found
    assert command("search", *found, "--author", name).code == 0


@needs_git
def test_a_name_that_nobody_has_is_answered_with_those_there_are(
    team: Path, command: Command
) -> None:
    done = command("list", "--author", "grace")
    assert (done.code, done.out) == (1, "")
    assert done.errors == ("No committed record was added by grace. Authors: Ada Kim, 김민준.\n")


def test_without_git_an_author_is_answered_with_a_sentence(project: Path, command: Command) -> None:
    write(project, a_record())
    done = command("list", "--author", "ada")
    assert (done.code, done.out) == (1, "")
    assert "git" in done.errors


@needs_git
@pytest.mark.long
def test_an_author_is_found_among_4000_commits_in_bounded_time(
    project: Path, command: Command
) -> None:
    git(project, "init", "-q")
    lines = [a_record(f"gap {at}").to_line() for at in range(4_000)]
    file = project.parent / "stream"
    with file.open("wb") as stream:
        for at in range(4_000):
            data = b"".join(lines[max(0, at - 99) : at + 1])
            who = f"P{at % 7} <a@b> {1_700_000_000 + at * 60} +0000"
            head = f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata 1\nx\n"
            stream.write(head.encode() + b"M 100644 inline .context/memory_log.jsonl\n")
            stream.write(b"data %d\n" % len(data) + data + b"\n")
    with file.open("rb") as given:
        subprocess.run(["git", "fast-import", "--quiet"], cwd=project, stdin=given, check=True)
    git(project, "symbolic-ref", "HEAD", "refs/heads/main")
    git(project, "reset", "-q", "--hard")
    started_s = time.monotonic()
    assert len(gaps(command, "--author", "P3")) in (14, 15)
    assert time.monotonic() - started_s < 20
