"""Tests what a person sees of fragments at the terminal, and what the commands do to them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from commands.terminal.rooms_here import has_fragments
from commands.terminal.screen import cells
from core.config import Settings
from core.text.plain import estimate_tokens
from rooms.fragments.engine import Wanted
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import Fragment, Link, Version, hash_of
from rooms.fragments.room import Room, open_room
from tests.support.cli_process import Command
from tests.support.fragment_samples import keep_fragments
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


@pytest.mark.long  # it costs much
def test_an_empty_room_says_what_it_is_and_makes_nothing(place: Path, command: Command) -> None:
    for words in ("fragments", "fragments list", "fragments search x", "fragments consolidate"):
        assert command(*words.split()).lines == EMPTY
    export = command("fragments", "export")
    assert (export.code, export.out) == (1, "")
    assert export.errors.splitlines()[0] == EMPTY[0]
    assert command("fragments", "--json").told == {"found": 0, "fragments": []}
    assert not place.exists()


def test_a_narrow_terminal_gets_two_lines_for_each(
    two: Room, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    done = command("fragments")
    assert done.lines[:2] == [
        "  deploy02  2020. 3. 2.  절차  0.70",
        "    * Purge the cache before a deploy.",
    ]
    monkeypatch.setenv("COLUMNS", "24")
    for words in (("fragments",), ("fragments", "show", "deploy01", "deploy02")):
        assert max(map(cells, command(*words).lines)) <= 24


@pytest.mark.long  # it costs much
def test_filters_narrow_the_list_down(two: Room, command: Command) -> None:
    def ids(*words: str) -> list[str]:
        return [it["id"] for it in command("fragments", *words, "--json").told["fragments"]]

    assert ids("--type", "error") == ["deploy01"]
    assert ids("--type", "procedural") == ["deploy02"]
    assert ids("--tag", "CDN", "--tag", "cache") == ["deploy01"]
    assert ids("--agent", "codex") == ["deploy02"]
    assert ids("--since", "2020-03-02") == ["deploy02"]
    assert ids("--until", "2020-03-01") == ["deploy01"]
    assert ids("list", "--topic", "none") == []
    assert ids("search", "bundle", "--type", "procedure") == []
    assert ids("search", "old", "bundle") == ["deploy01"]
    both = command("fragments", "--topic", "deplo", "--agent", "code").lines
    assert both == [
        "No fragment fits these filters. Those that can be recalled: 2.",
        "There is no topic deplo; similar: deploy.",
        "No fragment is from code; there are some from: codex.",
    ]
    assert command("fragments", "search", "zebra").lines == [
        "Nothing was found. Those that can be recalled: 2."
    ]
    refused = command("fragments", "--state", "bin", "search", "x").refused
    assert refused == "--state can only be used with fragments list"


def test_the_bin_and_what_was_superseded_have_lists_of_their_own(
    room: Room, command: Command
) -> None:
    gone: dict[str, Any] = {"deleted_at": DAY.format(3), "deletion": "expired"}
    kept(
        room,
        a_fragment("aaaaaa", "Gone.", **gone),
        a_fragment("bbbbbb", "Old.", superseded_at=DAY.format(4)),
    )
    assert command("fragments", "--state", "bin").lines[:2] == [
        "  id      deleted      kind  imp.  fragment",
        "  aaaaaa   3 Mar 2020  fact  0.50  (expired) Gone.",
    ]
    assert command("fragments", "--state", "superseded").lines[1].endswith("0.50  Old.")
    assert command("fragments").lines == [
        "No fragment fits these filters. Those that can be recalled: 0."
    ]
    shown = command("fragments", "show", "aaaaaa", "bbbbbb").out
    assert "state: in the bin since 2020-03-03 10:00 (expired);" in shown
    assert "state: superseded since 2020-03-04 10:00: recall leaves it out" in shown


def test_a_whole_fragment_has_its_links_and_what_it_said_before(
    two: Room, command: Command
) -> None:
    with two.engine.writing() as writing:
        version = Version(
            fragment_id="deploy01",
            content="The deploy is stale.",
            amended_at=DAY.format(1),
            amended_by="codex",
        )
        writing.note([version])
        writing.touch([1], {"access_count": 2, "accessed_at": DAY.format(5)})
    assert command("fragments", "show", "deploy01").lines == [
        "deploy01  The deploy serves the old bundle.",
        "  error, semantic; importance 0.80; hot",
        "  topic: deploy",
        "  keywords: cdn, cache",
        "  agent: default",
        "  scope: private",
        "  dates: saved 2020-03-01 10:00",
        "  recalled: 2 times, last 2020-03-05 10:00",
        "  resolved by deploy02: Purge the cache before a deploy.",
        "  before (until 2020-03-01 10:00, by codex): The deploy is stale.",
    ]
    assert "  resolves deploy01:" in command("fragments", "show", "deploy02").out
    [told] = command("fragments", "show", "deploy01", "--json").told["fragments"]
    assert (told["type"], told["keywords"]) == ("error", ["cdn", "cache"])
    assert told["links"][0]["relation_type"] == "resolved_by"
    assert told["versions"][0]["content"] == "The deploy is stale."
    unknown = command("fragments", "show", "nothere1")
    assert unknown.code == 1
    assert unknown.errors.startswith("nothere1: there is no such fragment. Nothing was changed.")


@pytest.mark.long  # it costs much
def test_forgetting_shows_asks_and_moves_to_the_bin(two: Room, command: Command) -> None:
    table = [LISTED[0].replace(" (* pinned)", "").replace("kind     ", "kind ")]
    dry = command("fragments", "forget", "deploy01", "--dry-run")
    assert dry.lines[0] == "To move into the bin, which keeps them for 30 days: 1."
    assert dry.lines[1] == table[0]
    assert dry.lines[-1] == "Nothing was changed (--dry-run)."
    asked = command("fragments", "forget", "deploy01")
    assert asked.code == 1
    assert asked.errors.startswith("Nothing was changed: there is no terminal to confirm on.")
    assert not stored(two)["deploy01"].deleted_at
    done = command("fragments", "forget", "deploy01", "--yes")
    assert done.lines[-1] == (
        "Moved into the bin: 1. `python cli.py fragments restore deploy01` takes one out."
    )
    assert stored(two)["deploy01"].deletion == "forgotten"
    assert command("fragments", "forget", "deploy01", "-y").lines == ["There is nothing to forget."]
    assert command("fragments", "restore", "deploy01").lines == ["Restored: deploy01."]
    assert stored(two)["deploy01"].is_live
    hard = command("fragments", "forget", "deploy01", "--hard", "--yes")
    assert hard.lines[-1] == "Removed: 1."
    assert [*stored(two)] == ["deploy02"]


def test_what_is_pinned_is_not_forgotten(two: Room, command: Command) -> None:
    named = command("fragments", "forget", "deploy01", "deploy02", "--yes")
    assert named.code == 1
    assert named.errors == (
        "deploy02: this fragment is pinned. Nothing was removed. Unpin it with"
        " `python cli.py fragments unpin deploy02`, then repeat the command.\n"
    )
    assert stored(two)["deploy01"].is_live
    assert command("fragments", "forget", "--topic", "deploy", "--yes").code == 0
    assert [it.id for it in stored(two).values() if it.is_live] == ["deploy02"]
    assert command("fragments", "unpin", "deploy02").lines == [
        "Unpinned: deploy02. It ages from now on."
    ]
    refused = command("fragments", "--json", "pin", "deploy02").refused
    assert refused == "--json can only be used with fragments list"
    assert command("fragments", "pin", "deploy02").lines[0].startswith("Pinned: deploy02.")
    assert stored(two)["deploy02"].is_anchor


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("words", [(), ("deploy01", "--topic", "deploy")])
def test_forgetting_needs_ids_or_a_topic(
    two: Room, command: Command, words: tuple[str, ...]
) -> None:
    refused = command("fragments", "forget", *words, "--yes").refused
    assert refused == "give ids or --topic, one of the two"


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


@pytest.mark.long  # it costs much
def test_what_a_terminal_would_obey_is_not_printed(room: Room, command: Command) -> None:
    texts: dict[str, Any] = {
        "topic": HOSTILE,
        "keywords": (HOSTILE,),
        "source": HOSTILE,
        "agent": HOSTILE,
    }
    kept(room, a_fragment("aaaaaa", f"{HOSTILE} word", **texts), a_fragment("bbbbbb", "x word"))
    with room.engine.writing() as writing:
        writing.put_links([Link(from_id="aaaaaa", to_id="bbbbbb", created_at=DAY)])
        writing.note([Version(fragment_id="aaaaaa", content=HOSTILE, amended_by=HOSTILE)])
    for words in (
        *(("list",), ("search", "word"), ("show", "aaaaaa", "bbbbbb"), ("list", "--json")),
        *(("forget", "aaaaaa", "-n"), ("consolidate",), ("show", "aaaaaa", "--json")),
    ):
        done = command("fragments", *words)
        assert done.code == 0
        commands = () if "--json" in words else ("##vso[",)
        for bad in ("\x1b", "\u202e", "\r", "\x00", "\u2028", *commands):
            assert bad not in done.out


PLACES = ("", "  ", "{}/memory.db", "{}", "{}/other.db", " {}/other.db ", "~/other.db", "{}/none/x")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "name", ["", "memory.db", "other.db", ".local/share/sentinel-memory/memory.db"]
)
def test_the_same_file_is_looked_for_as_the_room_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, name: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    if name:
        keep_fragments(tmp_path / name, []).close()
    environment = {"SENTINEL_MEMORY_FRAGMENTS": place.format(tmp_path)}
    if sys.platform == "linux" or place.strip():
        room = open_room(Settings(), environment)
        assert has_fragments(environment) == room.engine.exists()


def test_a_place_that_is_none_is_left_to_the_room_to_refuse() -> None:
    environment = {"SENTINEL_MEMORY_FRAGMENTS": "relative/memory.db"}
    assert has_fragments(environment)
    with pytest.raises(FragmentsError):
        open_room(Settings(), environment)
