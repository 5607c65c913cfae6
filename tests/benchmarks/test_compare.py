"""Tests what benchmarks/compare.py says of servers whose faults are known, and how it reports.

The peers are not needed here: a small server with a chosen fault stands in for them.
"""

import json
import os
import random
import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.lessons.record import Draft
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import compare
from damage import DAMAGES, after_damage, damage_section
from experiments import Outcome, burst, judged, killed, kills_section, race, races_section
from peers import OTHERS, OURS, Call, LibsqlMemory, Peer, ReferenceMemory, marked_lessons
from plan import QUICK, Plan, rotated
from process import Refused, processor_s, resident_mb, tree
from prose import HEAD, TAIL
from report import (
    BEHIND_TEXT,
    Section,
    as_markdown,
    as_table,
    behind,
    compared,
    counted,
    document,
    measured,
)

DRAFT = Draft(topic="auth", missing_context="gap", lesson="rule", ask_next_time="which?")


class Fake(ReferenceMemory):
    """The server of fake_memory.py with one fault."""

    file_name = "fake.jsonl"
    durability = "None."

    def __init__(self, fault: str, name: str = "") -> None:
        self.fault, self.name = fault, name or fault

    @property
    def version(self) -> str:
        return "1"

    def command(self, store: Path) -> list[str | Path]:
        return [
            sys.executable,
            "-S",
            "-E",
            ROOT / "tests/support/fake_memory.py",
            store,
            self.fault,
        ]

    def save(self, draft: Draft, name: str) -> Call:
        return "save", {"text": draft.lesson}

    def read_all(self) -> Call:
        return "read", {}

    def held(self, store: Path) -> set[str]:
        return OURS.held(store)


def a_plan(tmp_path: Path, *peers: Peer) -> Plan:
    return Plan(scratch=tmp_path / "scratch", rounds=QUICK, peers=peers)


def cells(section: Section, label: str) -> list[object]:
    [row] = [row for row in section.rows if row.label == label]
    return [row.cells.get(name) for name in section.columns]


@pytest.mark.long  # it costs much
def test_two_processes_of_an_honest_server_lose_nothing(tmp_path: Path) -> None:
    outcome = race(Fake("honest"), tmp_path / "it", 2, 10)
    assert (len(outcome.acknowledged), outcome.lost, outcome.refused) == (20, set(), set())
    assert outcome.readable


@pytest.mark.long  # it costs much
def test_a_save_that_was_acknowledged_and_never_made_is_lost(tmp_path: Path) -> None:
    outcome = race(Fake("forgets"), tmp_path / "it", 2, 10)
    assert (len(outcome.acknowledged), len(outcome.lost)) == (20, 10)


@pytest.mark.long  # it costs much
def test_a_save_that_was_refused_is_not_lost(tmp_path: Path) -> None:
    outcome = race(Fake("refuses"), tmp_path / "it", 2, 10)
    assert (len(outcome.acknowledged), len(outcome.refused), outcome.lost) == (10, 10, set())


@pytest.mark.long  # it costs much
def test_saves_in_flight_are_judged_by_their_own_answers(tmp_path: Path) -> None:
    forgotten = burst(Fake("forgets"), tmp_path / "one", 10)
    refused = burst(Fake("refuses"), tmp_path / "two", 10)
    odd = {f"mark-{number:05d}" for number in range(1, 10, 2)}
    assert (len(forgotten.acknowledged), forgotten.lost) == (10, odd)
    assert (refused.refused, refused.lost) == (odd, set())


@pytest.mark.long  # it costs much
def test_a_kill_shows_which_acknowledged_and_which_older_records_are_gone(tmp_path: Path) -> None:
    store = tmp_path / "it"
    honest = Fake("honest")
    honest.fill(store, (draft for _, draft in marked_lessons(0, 3)))
    outcome = killed(honest, store, random.Random(1))
    assert outcome.acknowledged and not outcome.lost and not outcome.older_lost
    store.write_bytes(b"")
    outcome.held = honest.held(store)
    assert outcome.lost == outcome.acknowledged
    assert outcome.older_lost == {"mark-00000", "mark-00001", "mark-00002"}


@pytest.mark.long  # it costs much
def test_a_file_that_a_fresh_server_refuses_counts_as_unreadable(tmp_path: Path) -> None:
    store = tmp_path / "it"
    store.write_bytes(b"{torn\n")
    outcome = race(Fake("strict"), store, 1, 1)
    assert not outcome.readable and not outcome.acknowledged


def test_a_record_that_the_next_server_brings_back_is_not_lost(tmp_path: Path) -> None:
    store = tmp_path / "it"
    store.write_bytes(b"")
    (tmp_path / "it.journal").write_text('{"lesson": "mark-00001"}\n', "utf-8")
    assert judged(Outcome(acknowledged={"mark-00001"}), Fake("mends"), store).lost == set()


@pytest.mark.long  # it costs much
def test_temporary_files_count_only_when_they_outlive_the_next_save(tmp_path: Path) -> None:
    store = tmp_path / "it"
    store.write_bytes(b"")
    assert killed(Fake("litters"), store, random.Random(1)).litter > 0
    assert killed(Fake("sweeps"), store, random.Random(1)).litter == 0


@pytest.mark.long  # it costs much
def test_a_server_that_cannot_save_after_a_kill_does_not_end_the_comparison(tmp_path: Path) -> None:
    store = tmp_path / "it"
    store.write_bytes(b"")
    assert killed(Fake("tears"), store, random.Random(1)).readable is False


@pytest.mark.long
def test_what_this_project_loses_is_said_and_what_a_peer_loses_is_only_counted(
    tmp_path: Path,
) -> None:
    forgets, honest = Fake("forgets"), Fake("honest")
    ours_lost = races_section(a_plan(tmp_path / "a", forgets, honest))
    peer_lost = races_section(a_plan(tmp_path / "b", honest, forgets))
    label = "1 process, 10 saves in flight"
    assert f"{label}: forgets lost 5 records." in ours_lost.broken
    assert peer_lost.broken == []
    assert cells(peer_lost, f"{label}: acknowledged and lost") == ["0", "5"]


@pytest.mark.long
def test_kills_are_summed_up_and_the_same_moments_come_to_all(tmp_path: Path) -> None:
    section = kills_section(a_plan(tmp_path, Fake("honest"), Fake("forgets")))
    lost, lost_by_peer = cells(section, "acknowledged and lost")
    assert lost == 0
    assert isinstance(lost_by_peer, int) and lost_by_peer > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "verdicts"),
    [
        ("honest", {"torn end": "kept", "garbage": "kept", "git": "kept"}),
        ("tidies", {"torn end": "gone", "garbage": "gone", "git": "gone"}),
    ],
)
def test_foreign_text_that_a_save_drops_is_gone(
    tmp_path: Path, fault: str, verdicts: dict[str, str]
) -> None:
    plan = a_plan(tmp_path, Fake(fault))
    for damage, verdict in zip(DAMAGES, verdicts.values(), strict=True):
        _, saved, _, foreign = after_damage(Fake(fault), plan.store(Fake(fault), 20), damage)
        assert (saved, foreign) == ("accepted", verdict)


@pytest.mark.long
def test_a_server_that_gives_up_on_a_damaged_file_reads_none_and_refuses(tmp_path: Path) -> None:
    section = damage_section(a_plan(tmp_path, Fake("honest"), Fake("strict")))
    assert cells(section, "git conflict markers: readable of 20") == [20, "none, an error"]
    assert cells(section, "git conflict markers: a save afterwards") == ["accepted", "refused"]
    assert cells(section, "git conflict markers: of 20 still in the file") == [20, 20]
    assert cells(section, "torn end: readable of 20") == [19, "none, an error"]


@pytest.mark.long
def test_a_database_gets_no_conflict_markers(tmp_path: Path) -> None:
    fake = Fake("honest")
    fake.line_based = False
    section = damage_section(a_plan(tmp_path, fake))
    assert cells(section, "git conflict markers: readable of 20") == [None]


def test_each_peer_is_given_every_text_of_a_lesson() -> None:
    for peer in (OURS, *OTHERS):
        said = json.dumps(peer.save(DRAFT, "auth-1")[1])
        assert all(text in said for text in ("auth-1", "gap", "rule", "which?")[peer is OURS :])


def test_lessons_of_a_topic_share_an_entity_where_that_is_asked_for() -> None:
    _, arguments = ReferenceMemory().save_by_topic([DRAFT, DRAFT])
    [entity] = arguments["entities"]
    assert (entity["name"], entity["observations"]) == ("auth", ["gap", "rule", "which?"] * 2)


def test_records_in_a_file_of_lines_are_found_beside_lines_that_are_none(tmp_path: Path) -> None:
    store = tmp_path / "memory.jsonl"
    good = json.dumps({"type": "entity", "observations": ["a mark-00001"]})
    store.write_text(f'{good}\n<<<<<<< HEAD\n{{"observations": ["mark-00002"\n[1]\n', "utf-8")
    assert ReferenceMemory().held(store) == {"mark-00001"}


def test_records_in_a_database_are_found_and_none_in_a_broken_one(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("CREATE TABLE observations (content TEXT)")
        database.execute("INSERT INTO observations VALUES ('a mark-00003')")
    assert LibsqlMemory().held(store) == {"mark-00003"}
    store.write_bytes(b"no database" * 100)
    assert LibsqlMemory().held(store) == set()


def test_what_is_said_of_durability_was_read_in_the_pinned_versions() -> None:
    package = json.loads((ROOT / "benchmarks/peers/package.json").read_text("utf-8"))
    pinned = {it.package: it.checked_version for it in OTHERS if isinstance(it, ReferenceMemory)}
    assert package["dependencies"] == pinned
    locked = json.loads((ROOT / "benchmarks/peers/package-lock.json").read_text("utf-8"))
    assert locked["packages"][""]["dependencies"] == pinned


def test_marked_lessons_are_all_different() -> None:
    drafts = [draft for _, draft in marked_lessons(0, 300)]
    assert len({(draft.topic, draft.missing_context) for draft in drafts}) == 300
    assert len({draft.lesson for draft in drafts}) == 300


def test_a_tool_that_reports_an_error_raises(tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(b"{torn\n")
    with Fake("strict").start(tmp_path / "it") as server, pytest.raises(Refused):
        server.call("read", {})


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux tells about processes")
def test_the_cost_of_a_process_includes_that_of_its_children(tmp_path: Path) -> None:
    with Fake("honest").start(tmp_path / "it") as server:
        assert server.pid in tree(os.getpid())
        of_child, of_all = resident_mb(server.pid), resident_mb(os.getpid())
        used_by_child, used_by_all = processor_s(server.pid), processor_s(os.getpid())
    assert of_child and of_all and 0 < of_child < of_all
    assert used_by_child and used_by_all and 0 < used_by_child < used_by_all


def test_every_turn_begins_with_another_server() -> None:
    assert [rotated("abc", turn) for turn in range(4)] == [[*"abc"], [*"bca"], [*"cab"], [*"abc"]]


def a_section() -> Section:
    return Section(
        title="Start",
        text="How long it takes.",
        columns=["ours", "theirs", "absent"],
        rows=[
            measured("time", {"ours": [1, 2, 30], "theirs": [2, 1, 15], "absent": []}, "ms"),
            compared("size", {"ours": 2_000, "theirs": 4_000, "absent": None}, "tokens"),
            counted("a|b", {"ours": 0, "theirs": "refused"}),
        ],
        notes=["Not the same."],
        broken=["ours lost 1 record."],
    )


def test_figures_are_medians_and_ratios_are_taken_within_each_round() -> None:
    time, size, _ = a_section().rows
    assert time.cells == {"ours": 2, "theirs": 2, "absent": None}
    assert time.ratios == {"theirs": 0.5}
    assert size.ratios == {"theirs": 2.0}


def test_the_document_holds_tables_notes_and_what_was_broken() -> None:
    assert as_markdown(a_section()) == (
        "## Start\n\nHow long it takes.\n\n"
        "|  | ours | theirs | absent |\n| --- | ---: | ---: | ---: |\n"
        "| time | 2.00 ms | 2.00 ms (0.50 x) | – |\n"
        "| size | 2,000 tokens | 4,000 tokens (2.00 x) | – |\n"
        "| a\\|b | 0 | refused | – |\n\n"
        "- Not the same.\n- **ours lost 1 record.**\n"
    )


def test_the_screen_gets_the_same_in_columns() -> None:
    assert as_table(a_section()) == (
        "Start\n"
        "              ours                 theirs  absent\n"
        "time       2.00 ms       2.00 ms (0.50 x)       –\n"
        "size  2,000 tokens  4,000 tokens (2.00 x)       –\n"
        "a|b              0                refused       –\n"
        "  Not the same.\n  ours lost 1 record.\n"
    )


def test_the_document_says_where_this_project_needs_more() -> None:
    sentence = "Start, time: theirs 0.50 x"
    assert behind([a_section()]) == [sentence]
    assert behind([replace(a_section(), floor="theirs")]) == []
    text = document("Head.\n", [a_section()], "Tail.")
    assert text.startswith("Head.\n") and text.endswith("\nTail.\n")
    assert f"## Where Sentinel-Memory needs more\n\n{BEHIND_TEXT}\n\n- {sentence}\n" in text


def test_the_head_has_a_place_for_every_figure_and_the_words_have_none() -> None:
    assert set(re.findall(r"\{(\w+)\}", HEAD)) == {"facts", "durability"}
    assert not re.search(r"\d(\.\d+)? (s|ms|MB|x)\b", HEAD.replace("0.50 x", "") + TAIL)


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *words: str, peers: list[Peer]) -> int:
    monkeypatch.setattr(sys, "argv", ["compare.py", *words])
    monkeypatch.setattr(compare, "OURS", peers[0])
    monkeypatch.setattr(compare, "available", lambda: peers[1:])
    monkeypatch.setattr(compare, "REPORT", tmp_path / "report.md")
    return compare.main()


@pytest.mark.long
def test_a_report_is_written_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "mine.md"
    words = ["--quick", "--only", "damage", "--output", str(target)]
    peers: list[Peer] = [Fake("honest"), Fake("tidies"), Fake("strict")]
    assert run(monkeypatch, tmp_path, *words, peers=peers) == 0
    text = target.read_text("utf-8")
    assert "## Damage" in text and "honest 1, tidies 1, strict 1" in text
    assert str(tmp_path) not in text


@pytest.mark.long
def test_a_quick_run_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ["--quick", "--only", "damage"]
    assert run(monkeypatch, tmp_path, *words, peers=[Fake("honest")]) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_no_report_is_written_without_the_peers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ["--quick", "--only", "damage", "--output", str(tmp_path / "mine.md")]
    assert run(monkeypatch, tmp_path, *words, peers=[Fake("honest")]) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_record_that_this_project_loses_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ["--quick", "--only", "kills"]
    assert run(monkeypatch, tmp_path, *words, peers=[Fake("forgets")]) == 1
