"""Tests that a topic is renamed with all ids, also where git merges, and compaction asked for."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import RefusedError
from core.lessons.record import new_record, record_id
from core.store import MemoryStore
from tests.support.cli_process import TOKEN, Command
from tests.support.git_clones import (
    commit,
    copied,
    new_project,
    path_of,
    pull,
    save,
    saved,
    store_of,
    write,
)
from tests.support.samples import LATER, NOW, a_principle, a_record
from tests.support.sentences import raised

VAT, DATE = a_record(), a_record("dates are UTC", ask_next_time="Which zone?")
RULE = new_record(a_principle(), now=NOW)
RULE = replace(RULE, source_count=2, source_ids=("0123456789abcdef@abcdef",))
with_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@pytest.fixture
def project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two logs and a principle in topic payment."""
    monkeypatch.setenv("COLUMNS", "120")
    write(project, VAT, DATE, RULE)
    return project


@pytest.fixture
def rename(command: Command) -> Command:
    return lambda *words: command("topics", "rename", *words, "--yes")


def test_every_record_moves_with_its_id_and_no_merge_brings_the_old_ones_back(
    rename: Command, project: Path
) -> None:
    done = rename("payment", "billing")
    after = saved(project)
    assert (done.code, done.errors) == (0, "")
    assert [it.id for it in after] == [
        record_id(replace(it, topic="billing")) for it in (VAT, DATE, RULE)
    ]
    assert [(it.lesson, it.ask_next_time, it.created) for it in after] == [
        (it.lesson, it.ask_next_time, NOW) for it in (VAT, DATE, RULE)
    ]
    assert done.lines[0] == (
        "[payment] will be renamed to [billing], a new topic (records: 3). Their ids will change,"
        " too."
    )
    told = [f"  {was.id} → {now.id}" for was, now in zip((VAT, DATE, RULE), after, strict=True)]
    assert done.lines[7:11] == ["Renamed in one write: 3.", *told]
    with path_of(project).open("ab") as file:
        file.write(VAT.to_line() + DATE.to_line() + RULE.to_line())
    assert [it.topic for it in saved(project)] == ["billing"] * 3
    principle = saved(project)[2]
    assert (principle.source_count, principle.former) == (2, (RULE.fingerprint(),))
    assert principle.source_ids == (*RULE.source_ids, RULE.token)
    rename("billing", "payment")  # and back
    assert {(it.id, it.topic) for it in saved(project)} == {
        (it.id, "payment") for it in (VAT, DATE, RULE)
    }


def test_other_records_keep_their_bytes(rename: Command, project: Path) -> None:
    other = b'{"id": "x",   "type": "log", "topic": "auth", "missing_context": "m", '
    other += b'"lesson": "l", "meta": {"created": "2026-03-01"}}\n'
    path_of(project).write_bytes(other + VAT.to_line() + b"a note\n")
    rename("payment", "billing")
    lines = path_of(project).read_bytes().splitlines(keepends=True)
    assert (lines[0], lines[2]) == (other, b"a note\n")


def test_the_same_gap_under_both_topics_becomes_one_record_that_loses_nothing(
    rename: Command, project: Path
) -> None:
    there = replace(a_record(topic="billing", lesson="ask finance", now=LATER), seen=3)
    write(project, there, replace(VAT, ask_next_time="Where?", paths=("src/**",)))
    lines = rename("payment", "billing").lines
    [record] = saved(project)
    assert record.lesson == "ask finance\ncheck the tax table first"
    assert (record.id, record.seen, record.created) == (there.id, 4, NOW)
    assert (record.ask_next_time, record.paths) == ("Where?", ("src/**",))
    assert there.fingerprint() in record.former
    assert lines[0].startswith("[payment] (records: 1) will be merged into [billing] (records: 1)")
    assert any(line.startswith("Records about the same gap that become one") for line in lines)
    assert f"  {there.id}  log [billing]" in lines


LONG = replace(a_record("long"), lesson="y" * 1_100)
HALF = a_record(topic="billing", lesson="x" * 600)
TAKEN = a_record("ing gap", topic="bill")


@pytest.mark.parametrize(
    ("records", "new", "said"),
    [
        ((VAT, LONG), "billing", f"{LONG.token}: lesson: 1,100 bytes of UTF-8, 76 above"),
        ((HALF, a_record(lesson="y" * 600)), "billing", "one record with 1,201 bytes of lesson;"),
        ((TAKEN, a_record(" gap")), "billing", f"id {TAKEN.id}: it already belongs"),
        ((VAT,), " ", "topic: it is blank."),
        ((VAT,), "가" * 22, "topic: 66 bytes of UTF-8"),
    ],
)
def test_what_cannot_be_renamed_is_named_and_changes_nothing(
    rename: Command, project: Path, records: tuple[object, ...], new: str, said: str
) -> None:
    write(project, *records)  # type: ignore[arg-type]
    before = path_of(project).read_bytes()
    done = rename("payment", new)
    assert (done.code, done.out, said in done.errors) == (1, "", True)
    assert path_of(project).read_bytes() == before


def test_without_joining_the_same_gap_or_a_former_version_is_refused(project: Path) -> None:
    write(project, a_record(topic="billing"), VAT, DATE)
    before = path_of(project).read_bytes()
    gap, store = VAT.missing_context, MemoryStore(path_of(project))
    for key, changed in (
        ("same_gap", {VAT.token: replace(VAT, topic="billing")}),
        ("same_gap", {it.token: replace(it, topic="x", missing_context=gap) for it in (VAT, DATE)}),
        ("record_changed", {f"{VAT.id}@000000": replace(VAT, topic="x")}),
    ):
        with raised(RefusedError, key):
            store.renew(changed, join=False)
    assert path_of(project).read_bytes() == before


def test_a_topic_that_is_not_there_and_the_same_name_change_nothing(
    rename: Command, project: Path
) -> None:
    before = path_of(project).read_bytes()
    rest = "Nothing was changed. python cli.py topics lists them.\n"
    assert rename("pay", "x") == (1, "", f"There is no topic pay. {rest}")
    sentence = f"There is no topic payments; similar: payment. {rest}"
    assert rename("payments", "x") == (1, "", sentence)
    assert rename("payment", " payment ").lines == [
        "Both names mean the same topic. Nothing was changed."
    ]
    assert path_of(project).read_bytes() == before


def test_the_records_are_redacted_and_a_secret_in_the_topic_is_pointed_out(
    rename: Command, project: Path
) -> None:
    write(project, a_record(lesson=f"the key is {TOKEN}"))
    lines = rename("payment", TOKEN).lines
    assert saved(project)[0].lesson == "the key is [REDACTED]"
    assert "topic: this looks like a secret and is saved unchanged. Remove it." in lines


def test_the_project_can_be_named_before_and_after_the_action(
    project: Path, command: Command, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, VAT)
    named = ("--project", str(elsewhere))
    assert command("topics", *named, "rename", "payment", "b", "--yes").code == 0
    assert command("topics", "rename", "b", "c", "--yes", *named).code == 0
    assert [it.topic for it in saved(elsewhere)] == ["c"]
    assert [it.topic for it in saved(project)] == ["payment"] * 3


def test_compact_prints_the_line_that_a_client_takes(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("compact").lines[0].startswith("Compaction is not due yet (records: 3,")
    monkeypatch.setenv("SENTINEL_MEMORY_THRESHOLD", "2")
    said, _, line = command("compact", "payment").lines
    assert said.startswith("Compaction is due (records: 3, threshold: 2).")
    assert 'compact_memory(target_topic="payment")' in line
    assert "call compact_memory, " in command("compact").lines[-1]
    assert command("compact", "payments").errors.startswith("There is no topic payments; similar")


@pytest.mark.long  # it costs much
@with_git
@pytest.mark.parametrize("forth", [True, False])
def test_what_a_colleague_saved_under_the_old_topic_is_not_lost_and_brings_nothing_old_back(
    rename: Command, command: Command, tmp_path: Path, forth: bool
) -> None:
    ours = new_project(tmp_path / "ours", "one", "two")
    theirs = copied(ours, tmp_path / "theirs")

    def gaps(clone: Path) -> list[tuple[str, str]]:
        return sorted((it.topic, it.missing_context) for it in store_of(clone).read_all())

    [before, _] = saved(ours)
    assert rename("payment", "billing", "-p", str(ours)).code == 0
    commit(ours)
    save("one", "a newer lesson", LATER)(theirs)
    save("three", now=LATER)(theirs)
    commit(theirs)
    into, other = (ours, theirs) if forth else (theirs, ours)
    pull(into, other)
    moved = [("billing", "one"), ("billing", "two")]
    assert gaps(into) == [*moved, ("payment", "one"), ("payment", "three")]
    rename("payment", "billing", "-p", str(into))
    assert gaps(into) == [("billing", "one"), ("billing", "three"), ("billing", "two")]
    [one] = [it for it in store_of(into).read_all() if it.missing_context == "one"]
    assert sorted(one.lesson.splitlines()) == ["a newer lesson", "check the tax table first"]
    commit(into)
    pull(other, into)
    assert gaps(other) == gaps(into)
    assert before.token in command("show", one.id, "--versions", "--project", str(into)).out


@pytest.mark.long  # it costs much
@with_git
def test_two_clones_that_rename_alike_have_the_same_records(
    rename: Command, tmp_path: Path
) -> None:
    ours = new_project(tmp_path / "ours", "one", "two")
    theirs = copied(ours, tmp_path / "theirs")
    for clone in (ours, theirs):
        rename("payment", "billing", "-p", str(clone))
        commit(clone)
    pull(ours, theirs)
    assert [(it.topic, it.missing_context) for it in store_of(ours).read_all()] == [
        ("billing", "one"),
        ("billing", "two"),
    ]
