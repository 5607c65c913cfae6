"""Tests what only fragments have: pins, upkeep, an export of their own, embeddings."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.text.plain import estimate_tokens
from rooms.fragments.engine import Wanted
from rooms.fragments.fragment import Fragment, Link, hash_of
from rooms.fragments.room import Room
from tests.support.cli_process import Command
from tests.support.said import sentences

DAY = "2020-03-{:02}T10:00:00+00:00"
HOSTILE = "a\x1b[31m\nb\u202e ##vso[task.x]\r\x00\u2028c"
EMPTY = [
    "There are no fragments yet.",
    "Fragments keep what is known across projects: facts, decisions, errors,",
    "preferences, procedures.",
    "If they are still off: `python cli.py setup --all --rooms lessons,fragments`",
]
LISTED = [
    "  id        saved        kind       imp.  fragment (* pinned)",
    "  deploy02   2 Mar 2020  procedure  0.70  * Purge the cache before a deploy.",
    "  deploy01   1 Mar 2020  error      0.80  The deploy serves the old bundle.",
]


def a_fragment(id_: str, content: str, /, *, day: int = 1, **values: Any) -> Fragment:
    moment = DAY.format(day)
    given = {"created_at": moment, "updated_at": moment, "verified_at": moment, **values}
    tokens = estimate_tokens(content)
    hash_ = hash_of(content)
    return Fragment(id=id_, content=content, content_hash=hash_, estimated_tokens=tokens, **given)


def kept(room: Room, *fragments: Fragment, links: tuple[Link, ...] = ()) -> Room:
    with room.engine.writing() as writing:
        writing.add(fragments)
        writing.put_links(links)
    return room


@pytest.fixture
def two(room: Room) -> Room:
    """An error and its cure."""
    error = a_fragment(
        "deploy01",
        "The deploy serves the old bundle.",
        topic="deploy",
        kind="error",
        importance=0.8,
        keywords=("cdn", "cache"),
    )
    cure = a_fragment(
        "deploy02",
        "Purge the cache before a deploy.",
        day=2,
        topic="deploy",
        kind="procedure",
        lifetime="procedural",
        importance=0.7,
        is_anchor=True,
        tier="permanent",
        agent="codex",
    )
    link = Link(from_id="deploy01", to_id="deploy02", relation="resolved_by", created_at=DAY)
    return kept(room, error, cure, links=(link,))


def stored(room: Room, **wanted: Any) -> dict[str, Fragment]:
    with room.engine.reading() as reading:
        return {it.id: it for it in reading.find(Wanted(state="all", **wanted), limit=99)}


def test_without_fragments_three_lines_say_what_they_are(place: Path, command: Command) -> None:
    assert command("fragments", "consolidate").lines == EMPTY
    export = command("fragments", "export")
    assert (export.code, export.out) == (1, "")
    assert export.errors.splitlines()[0] == EMPTY[0]
    assert not place.exists()


def test_a_pin_is_set_and_taken_away(two: Room, command: Command) -> None:
    said = "Unpinned: deploy02. It ages from now on."
    assert command("fragments", "unpin", "deploy02").lines == [said]
    assert not stored(two)["deploy02"].is_anchor
    assert command("fragments", "pin", "deploy02").lines[0].startswith("Pinned: deploy02.")
    assert stored(two)["deploy02"].is_anchor
    unknown = command("fragments", "pin", "nothere1")
    assert unknown.code == 1
    assert unknown.errors.startswith("nothere1: there is no such fragment. Nothing was changed.")


@pytest.mark.long  # it costs much
def test_consolidating_says_what_each_step_did(two: Room, command: Command) -> None:
    done = command("fragments", "consolidate").lines
    assert done[0] == "  step            changed  figures"
    assert done[13].startswith("Consolidated. Changes: ")
    told = command("fragments", "consolidate", "--json").told
    assert [it["name"] for it in told["steps"]][:3] == ["tiers", "decay", "expiry"]
    assert len(told["steps"]) == 11
    assert "dryRun" not in told


def test_every_step_and_figure_has_its_words(room: Room) -> None:

    from rooms.fragments.upkeep.running import STEPS

    figures = {name for step in STEPS for name in step.figures}
    keys = {name if name.startswith("to_") else f"n_{name}" for name in figures}
    assert {f"fragment_commands.{it}" for it in {it.name for it in STEPS} | keys} <= {
        *sentences("en")
    }


class TestExport:
    def test_the_terminal_gets_the_lines_and_a_warning(self, two: Room, command: Command) -> None:
        done = command("fragments", "export")
        assert json.loads(done.lines[0])["fragments"] == 2
        assert done.errors.startswith("Private ones among them: 2.")
        assert "deploy" not in command("fragments", "export", "--public").out

    def test_a_file_is_written_and_no_other_one_replaced(
        self, two: Room, command: Command, project: Path
    ) -> None:
        assert command("fragments", "export", "-o", "a.jsonl").lines == [
            "Written: a.jsonl (fragments: 2).",
            "Private ones among them: 2. Keep the file to yourself; --public leaves them out.",
        ]
        first = (project / "a.jsonl").read_text(encoding="utf-8").splitlines()[0]
        assert json.loads(first)["fragments"] == 2
        assert command("fragments", "export", "-o", "x.ndjson", "--topic", "x").lines == [
            "Written: x.ndjson (fragments: 0)."
        ]
        (project / "b.jsonl").write_text("mine", encoding="utf-8")
        for name, said in {
            "b.jsonl": "b.jsonl is there already and is no earlier export",
            "a.html": "a.html: a file for an export of fragments ends with .jsonl, .ndjson.",
        }.items():
            refused = command("fragments", "export", "-o", name)
            assert (refused.code, refused.errors.startswith(said)) == (1, True), refused.errors


def test_embedding_without_a_model_says_which_setting_names_one(
    two: Room, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SENTINEL_MEMORY_EMBEDDINGS", raising=False)
    done = command("fragments", "embed")
    assert done.code == 1
    assert "SENTINEL_MEMORY_EMBEDDINGS" in done.errors
