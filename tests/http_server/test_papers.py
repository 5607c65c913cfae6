"""Tests what papers promise, on a SQLite file and on a PostgreSQL server."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from http_server.papers import Paper, sqlite_papers
from tests.http_server.conftest import Open
from tests.support.login_flow import Clock
from tests.support.stdio_client import ROOT

PAPER = Paper(
    kind="access",
    key="a1",
    agent="alice",
    parent="k1",
    body={"client": "c", "list": [1, "둘"]},
    expires_at=1_800_001_000.0,
    made_at=1_800_000_000.5,
    used_at=1_800_000_000.5,
)


def test_a_paper_comes_back_as_it_was_put_also_later(opens: Open) -> None:
    papers = opens()
    papers.check()
    assert papers.get("access", "a1") is None
    papers.put(PAPER)
    assert papers.get("access", "a1") == PAPER
    assert papers.get("refresh", "a1") is None
    papers.put(replace(PAPER, agent="bob"))
    papers.close()
    assert [it.agent for it in opens().listed("access")] == ["bob"]


def test_one_of_many_takes_a_paper(opens: Open) -> None:
    opens().put(replace(PAPER, kind="code"))
    several = [opens() for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda n: several[n % 4].take("code", "a1"), range(16)))
    assert len([it for it in taken if it]) == 1


def test_papers_take_the_place_of_one_that_is_as_it_was(opens: Open) -> None:
    papers = opens()
    family = replace(PAPER, kind="refresh", key="f1", body={"secret": "1"})
    renewed, access = replace(family, body={"secret": "2"}), replace(PAPER, parent="f1")
    assert not papers.replace(family, renewed, access)
    papers.put(family)
    assert papers.replace(family, renewed, access)
    assert not opens().replace(family, replace(family, body={"secret": "3"}))
    assert (papers.get("refresh", "f1"), papers.get("access", "a1")) == (renewed, access)
    assert papers.drop("refresh", "f1") == 2
    assert not papers.replace(renewed, family)
    assert papers.listed("refresh") == []


def test_a_paper_goes_with_what_it_was_given_for(opens: Open) -> None:
    papers = opens()
    key = replace(PAPER, kind="key", key="k1", parent="", expires_at=0.0)
    family = replace(PAPER, kind="refresh", key="f1", parent="k1")
    access = replace(PAPER, parent="f1")
    session = replace(PAPER, kind="ended", key="s1", parent="a1")
    other = replace(PAPER, kind="access", key="other", parent="k2")
    for paper in (key, family, access, session, other):
        papers.put(paper)
    assert papers.drop("key", "nothing") == 0
    assert papers.drop("key", "k1") == 4
    assert [papers.get(it.kind, it.key) for it in (key, family, access, session)] == [None] * 4
    assert papers.get("access", "other") == other


def test_a_paper_expires_and_is_swept(opens: Open, clock: Clock) -> None:
    papers = opens()
    papers.put(PAPER)
    papers.put(replace(PAPER, key="for ever", expires_at=0.0))
    clock.now = PAPER.expires_at
    assert papers.get("access", "a1") is None
    assert [it.key for it in papers.listed("access")] == ["for ever"]
    assert papers.take("access", "a1") is None
    papers.put(PAPER)
    assert (papers.sweep(), papers.sweep()) == (1, 0)


def test_papers_are_listed_the_oldest_first(opens: Open) -> None:
    papers = opens()
    for made_at, key in ((30.0, "c"), (10.0, "a"), (20.0, "b")):
        papers.put(replace(PAPER, key=key, made_at=made_at))
    assert [it.key for it in papers.listed("access")] == ["a", "b", "c"]


PUTTING = """
import sys
from pathlib import Path
from http_server.papers import Paper
from http_server.papers import sqlite_papers
papers = sqlite_papers(Path(sys.argv[1]))
for number in range(20):
    papers.put(Paper(kind="key", key=f"{sys.argv[2]}-{number}"))
"""


@pytest.mark.long  # it costs much
def test_several_processes_put_papers_into_one_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "http_server.db"
    command = [sys.executable, "-c", PUTTING, str(path)]
    running = [subprocess.Popen([*command, str(n)], cwd=ROOT) for n in range(4)]
    assert [it.wait(60) for it in running] == [0] * 4
    assert len(sqlite_papers(path).listed("key")) == 80
    assert path.stat().st_mode & 0o077 == 0
