"""Tests what `cli.py stats` tells of fragments: figures as text and JSON, none without any."""

import json
import os
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from core.messages import Language
from tests.support.cli_process import Run
from tests.support.costly import enough
from tests.support.desk import Desk
from tests.support.fragment_samples import (
    NEWEST,
    keep_fragments,
    make_sample_fragments,
    sample_fragments,
)
from tests.support.git_clones import new_project
from tests.support.shown_pages import LANGUAGES
from tests.support.stdio_client import ROOT

WHEN = NEWEST.isoformat()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(new_project(tmp_path / "shop", "VAT differs by country"), tmp_path / "home")


@pytest.fixture
def place(tmp_path: Path) -> str:
    make_sample_fragments(tmp_path / "memory.db").close()
    return str(tmp_path / "memory.db")


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.99")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_figures_follow_those_of_the_project(desk: Desk, place: str, lang: Language) -> None:
    before = desk.run("stats", SENTINEL_MEMORY_LANG=lang)
    told = desk.run("stats", SENTINEL_MEMORY_FRAGMENTS=place, SENTINEL_MEMORY_LANG=lang)
    assert (told.code, told.errors) == (0, "")
    head, lessons, fragments, rest = told.out.split("\n", 3)
    assert [lessons, fragments] == {
        "en": ["Lessons: 1; gaps that came back: 0", "Fragments: 19; recalled at least once: 10"],
        "ko": ["교훈 1건, 재발 0건", "조각 19개, 한 번 이상 회상 10개"],
    }[lang]
    own = f"{head}\n{rest}".removeprefix(before.out)
    assert (
        own.splitlines()[1:4]
        == {
            "en": [
                "Fragments over all your projects: 19",
                "  By kind: fact 5, procedure 4, decision 3, error 3, preference 3, relation 1.",
                "  By tier: hot 15, permanent 2, cold 1, warm 1.",
            ],
            "ko": [
                "모든 프로젝트의 조각: 19개",
                "  종류별: fact 5, procedure 4, decision 3, error 3, preference 3, relation 1.",
                "  단계별: hot 15, permanent 2, cold 1, warm 1.",
            ],
        }[lang]
    )
    used = {
        "en": "  Pinned: 2. Recalled at least once: 10 of 19; recalls in all: 245.",
        "ko": "  고정: 2개. 한 번 이상 회상한 조각: 19개 중 10개. 회상 횟수: 245회.",
    }
    assert used[lang] in own


def test_the_same_figures_as_json(desk: Desk, place: str) -> None:
    before = json.loads(desk.run("stats", "--json").out)
    told = json.loads(desk.run("stats", "--json", SENTINEL_MEMORY_FRAGMENTS=place).out)
    found = told.pop("fragments")
    assert told.keys() == before.keys()
    assert (found["live"], found["superseded"], found["pinned"]) == (19, 1, 2)
    assert (found["recalled"], found["recalls"], found["versions"]) == (10, 245, 2)
    assert found["tiers"] == {"cold": 1, "hot": 15, "permanent": 2, "warm": 1}
    assert sum(found["kinds"].values()) == sum(found["agents"].values()) == 19
    assert sum(found["links"].values()) == 12
    assert (found["bin"], found["purged"], found["last_upkeep"]) == ({}, 0, None)


def test_what_is_in_the_bin_is_counted_by_why_it_is_there(desk: Desk, tmp_path: Path) -> None:
    fragments = [
        replace(it, deleted_at=WHEN, deletion=why)
        for it, why in zip(sample_fragments(3), ("expired", "expired", "forgotten"), strict=True)
    ]
    keep_fragments(tmp_path / "memory.db", fragments).close()
    variables = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    told = desk.run("stats", **variables)
    assert "  In the bin: expired 2, forgotten 1.\n" in told.out
    assert "Pinned" not in told.out
    found = json.loads(desk.run("stats", "--json", **variables).out)["fragments"]
    assert (found["live"], found["bin"]) == (0, {"expired": 2, "forgotten": 1})


def test_an_agent_with_a_secret_or_orders_for_a_terminal_for_a_name_is_not_shown(
    desk: Desk, tmp_path: Path
) -> None:
    token = "ghp_" + "a1B2" * 9
    [fragment] = sample_fragments(1)
    fragments = [replace(fragment, agent=token), replace(fragment, id="b", agent="\x1b[31mred")]
    keep_fragments(tmp_path / "memory.db", fragments).close()
    variables = {"SENTINEL_MEMORY_FRAGMENTS": str(tmp_path / "memory.db")}
    for options in ((), ("--json",)):
        told = desk.run("stats", *options, **variables)
        assert told.code == 0
        assert token not in told.out and "\x1b" not in told.out


def test_fragments_that_cannot_be_read_leave_the_figures_of_the_project(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "memory.db").write_bytes(b"no database" * 400)
    told = desk.run("stats", SENTINEL_MEMORY_FRAGMENTS=str(tmp_path / "memory.db"))
    assert (told.code, told.out) == (0, desk.run("stats").out)
    assert told.errors.startswith("Without fragments: ")


LOADED = """
import sys, cli
assert cli.main([sys.argv[2], "--project", sys.argv[1], *sys.argv[3:]]) == 0
print(sorted({name.partition(".")[0] for name in sys.modules} & {"rooms", "sqlite3", "numpy"}),
      file=sys.stderr)
"""


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("command", "has_fragments"),
    enough(
        product(
            [("stats",), ("stats", "--json"), ("view", "-o", "-", "--fragments", "all")],
            [False, True],
        ),
        lambda _, has_fragments: has_fragments,
        names=2,
    ),
)
def test_the_room_is_loaded_only_where_there_are_fragments(
    desk: Desk, tmp_path: Path, place: str, command: tuple[str, ...], has_fragments: bool
) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environment |= {"SENTINEL_MEMORY_FRAGMENTS": place} if has_fragments else {}
    started = (sys.executable, "-c", LOADED, str(desk.root), *command)
    told = Run.process(*started, cwd=tmp_path, environment=environment)
    loaded = "['rooms', 'sqlite3']" if has_fragments else "[]"
    assert (told.code, told.errors.splitlines()[-1]) == (0, loaded)
