"""Tests the comparison of servers whose faults are known; a fake stands in for peers."""

import json
import os
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.lessons.record import Draft
from tests.support.tables import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import compare
from compare import QUICK, Plan, damages, measured, races
from losses import DAMAGES, Outcome, after_damage, burst, judged, killed, race
from measure import RefusedError, processor_s, resident_mb
from peers import OTHERS, OURS, Call, LibsqlMemory, Peer, ReferenceMemory, marked_lessons

ODD = {f"mark-{number:05d}" for number in range(1, 10, 2)}


class Fake(ReferenceMemory):
    """The server of fake_memory.py with one fault."""

    file_name = "fake.jsonl"

    def __init__(self, fault: str) -> None:
        self.fault = self.name = fault

    @property
    def version(self) -> str:
        return "1"

    def command(self, store: Path) -> list[str | Path]:
        return [sys.executable, "-SE", ROOT / "tests/benchmarks/fake_memory.py", store, self.fault]

    def save(self, draft: Draft, name: str) -> Call:
        return "save", {"text": draft.lesson}

    def read_all(self) -> Call:
        return "read", {}

    def held(self, store: Path) -> set[str]:
        return OURS.held(store)


def a_plan(scratch: Path, *faults: str) -> Plan:
    return Plan(scratch=scratch, rounds=QUICK, peers=[Fake(fault) for fault in faults])


@pytest.mark.long  # it costs much
def test_an_acknowledged_save_that_is_not_there_is_lost_and_a_refused_one_is_not(
    tmp_path: Path,
) -> None:
    counts = {"honest": (20, 0, 0), "forgets": (20, 10, 0), "refuses": (10, 0, 10)}
    for fault, expected in counts.items():
        outcome = race(Fake(fault), tmp_path / fault, 2, 10)
        found = len(outcome.acknowledged), len(outcome.lost), len(outcome.refused)
        assert found == expected
        # By the number of each answer.
        flight = burst(Fake(fault), tmp_path / f"{fault}.flight", 10)
        assert flight.lost == (ODD if fault == "forgets" else set())
        assert flight.refused == (ODD if fault == "refuses" else set())


@pytest.mark.long  # it costs much
def test_a_kill_shows_which_acknowledged_and_which_older_records_are_gone(tmp_path: Path) -> None:
    store, honest = tmp_path / "it", Fake("honest")
    honest.fill(store, (draft for _, draft in marked_lessons(0, 3)))
    outcome = killed(honest, store, random.Random(1))
    assert outcome.acknowledged and not outcome.lost and not outcome.older_lost
    store.write_bytes(b"")
    outcome.held = honest.held(store)
    assert outcome.lost == outcome.acknowledged
    assert outcome.older_lost == {"mark-00000", "mark-00001", "mark-00002"}
    store.write_bytes(b"")
    assert not killed(Fake("tears"), store, random.Random(1)).readable


def test_a_fresh_server_judges_a_file(tmp_path: Path) -> None:
    store = tmp_path / "it"
    store.write_bytes(b"")
    (tmp_path / "it.journal").write_text('{"lesson": "mark-00001"}\n', "utf-8")
    assert judged(Outcome(acknowledged={"mark-00001"}), Fake("mends"), store).lost == set()
    store.write_bytes(b"{torn\n")
    assert not judged(Outcome(), Fake("strict"), store).readable
    with Fake("strict").start(store) as server, pytest.raises(RefusedError):
        server.call("read", {})


@pytest.mark.long
def test_a_save_lost_by_this_project_ends_with_1_and_a_save_lost_by_a_peer_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = "1 process, 10 saves in flight: of these lost"
    ours = {row.label: row for row in races(a_plan(tmp_path / "a", "forgets", "honest"))}
    theirs = {row.label: row for row in races(a_plan(tmp_path / "b", "honest", "forgets"))}
    assert ours[label].broken.startswith("forgets lost 5")
    assert (theirs[label].broken, theirs[label].values) == ("", {"honest": "0", "forgets": "5"})
    monkeypatch.setattr(compare, "available", list[Peer])
    for words, fault, status in (
        ("--quick --only damage", "honest", 0),
        ("--quick --only kills", "forgets", 1),
        ("--record --only damage", "honest", 1),  # a peer is missing
    ):
        monkeypatch.setattr(sys, "argv", ["compare.py", *words.split()])
        monkeypatch.setattr(compare, "OURS", Fake(fault))
        assert compare.main() == status


@pytest.mark.long
def test_damage_shows_the_records_a_server_reads_takes_and_keeps(tmp_path: Path) -> None:
    plan = a_plan(tmp_path, "honest", "strict")
    rows = {row.label: [*row.values.values()] for row in damages(plan)}
    assert rows["git conflict markers: readable of 20"] == [20, "none, an error"]
    assert rows["git conflict markers: a save afterwards"] == ["accepted", "refused"]
    assert rows["torn end: readable of 20"] == [19, "none, an error"]
    for fault, verdict in (("honest", "kept"), ("tidies", "gone")):
        for damage in DAMAGES:
            found = after_damage(Fake(fault), plan.store(Fake(fault), 20), damage)
            assert (found[1], found[3]) == ("accepted", verdict)
    binary = Fake("honest")
    binary.line_based = False  # git puts no markers into a database
    alone = Plan(scratch=tmp_path, rounds=QUICK, peers=[binary])
    [read] = [it for it in damages(alone) if it.label == "git conflict markers: readable of 20"]
    assert read.values == {"honest": None}


def test_each_peer_is_given_every_text_and_read_from_its_file(tmp_path: Path) -> None:
    draft = Draft(topic="auth", missing_context="gap", lesson="rule", ask_next_time="which?")
    for peer in (OURS, *OTHERS):
        said = json.dumps(peer.save(draft, "auth-1")[1])
        assert all(text in said for text in ("auth-1", "gap", "rule", "which?")[peer is OURS :])
    lines, database = tmp_path / "memory.jsonl", tmp_path / "memory.db"
    good = json.dumps({"type": "entity", "observations": ["a mark-00001"]})
    lines.write_text(f'{good}\n<<<<<<< HEAD\n{{"observations": ["mark-00002"\n[1]\n', "utf-8")
    assert ReferenceMemory().held(lines) == {"mark-00001"}
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE observations (content TEXT)")
        connection.execute("INSERT INTO observations VALUES ('a mark-00003')")
    assert LibsqlMemory().held(database) == {"mark-00003"}
    database.write_bytes(b"no database" * 100)
    assert LibsqlMemory().held(database) == set()
    assert len({it.missing_context for _, it in marked_lessons(0, 300)}) == 300


def test_the_statements_on_durability_were_read_in_the_pinned_versions() -> None:
    package = json.loads((ROOT / "benchmarks/peers/package.json").read_text("utf-8"))
    pinned = {it.package: it.checked_version for it in OTHERS if isinstance(it, ReferenceMemory)}
    assert package["dependencies"] == pinned
    locked = json.loads((ROOT / "benchmarks/peers/package-lock.json").read_text("utf-8"))
    assert locked["packages"][""]["dependencies"] == pinned


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux tells about processes")
def test_the_cost_of_a_process_includes_that_of_its_children(tmp_path: Path) -> None:
    with Fake("honest").start(tmp_path / "it") as server:
        of_child, of_all = resident_mb(server.pid), resident_mb(os.getpid())
        used_by_child, used_by_all = processor_s(server.pid), processor_s(os.getpid())
    assert of_child and of_all and 0 < of_child < of_all
    assert used_by_child and used_by_all and 0 < used_by_child < used_by_all


def test_figures_are_medians_and_ratios_are_taken_within_each_round() -> None:
    time = measured("time", {"ours": [1, 2, 30], "theirs": [2, 1, 15], "absent": []}, "ms")
    assert time.values == {"ours": 2, "theirs": 2, "absent": None}
    assert time.ratios == {"theirs": 0.5}
