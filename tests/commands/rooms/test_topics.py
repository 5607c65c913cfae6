"""Tests that a topic is renamed with all ids, also where git merges, and compaction asked for."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import cli
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
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record
from tests.support.sentences import raised

VAT, DATE = a_record(), a_record("dates are UTC", ask_next_time="Which zone?")
RULE = new_record(a_principle(), now=NOW)
RULE = replace(RULE, source_count=2, source_ids=("0123456789abcdef@abcdef",))

posix = pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
with_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

Rename = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two logs and a principle in topic payment."""
    monkeypatch.setenv("COLUMNS", "120")
    write(project, VAT, DATE, RULE)
    return project


@pytest.fixture
def rename(command: Command, project: Path) -> Rename:
    """Carries out `topics rename`: status, lines, errors."""

    def carry_out(*arguments: str) -> tuple[int, list[str], str]:
        done = command("topics", "rename", *arguments)
        return done.code, done.lines, done.errors

    return carry_out


def rename_in(clone: Path, old: str = "payment", new: str = "billing") -> None:
    assert cli.main(["topics", "rename", old, new, "--yes", "--project", str(clone)]) == 0


def test_every_record_gets_the_topic_and_the_id_that_follows_from_it(
    rename: Rename, project: Path
) -> None:
    code, lines, errors = rename("payment", "billing", "--yes")
    assert (code, errors) == (0, "")
    after = saved(project)
    assert [it.topic for it in after] == ["billing"] * 3
    assert [it.id for it in after] == [record_id(replace(it, topic="billing")) for it in after]
    assert [it.lesson for it in after] == [VAT.lesson, DATE.lesson, RULE.lesson]
    assert [it.created for it in after] == [NOW] * 3
    assert after[1].ask_next_time == "Which zone?"
    assert lines[0] == (
        "[payment] will be renamed to [billing], a new topic (records: 3). Their ids will change,"
        " too."
    )
    told = zip((VAT, DATE, RULE), after, strict=True)
    assert lines[7:11] == [
        "Renamed in one write: 3.",
        *(f"  {before.id} → {it.id}" for before, it in told),
    ]


def test_the_versions_before_are_listed_so_that_no_merge_brings_them_back(
    rename: Rename, project: Path
) -> None:
    rename("payment", "billing", "--yes")
    with path_of(project).open("ab") as file:
        file.write(VAT.to_line() + DATE.to_line() + RULE.to_line())
    assert [it.topic for it in saved(project)] == ["billing"] * 3
    principle = saved(project)[2]
    assert (principle.source_count, principle.former) == (2, (RULE.fingerprint(),))
    assert principle.source_ids == (*RULE.source_ids, RULE.token)


def test_a_topic_can_be_renamed_there_and_back(rename: Rename, project: Path) -> None:
    rename("payment", "billing", "--yes")
    rename("billing", "payment", "--yes")
    assert [(it.id, it.topic) for it in saved(project)] == [
        (it.id, "payment") for it in (VAT, DATE, RULE)
    ]


def test_other_records_keep_their_bytes(rename: Rename, project: Path) -> None:
    other = b'{"id": "x",   "type": "log", "topic": "auth", "missing_context": "m", '
    other += b'"lesson": "l", "meta": {"created": "2026-03-01"}}\n'
    path_of(project).write_bytes(other + VAT.to_line() + b"a note\n")
    rename("payment", "billing", "--yes")
    lines = path_of(project).read_bytes().splitlines(keepends=True)
    assert (lines[0], lines[2]) == (other, b"a note\n")


def test_a_topic_goes_into_one_that_exists(rename: Rename, project: Path) -> None:
    write(project, VAT, a_record("gap", topic="billing"))
    _, lines, _ = rename("payment", "billing", "--yes")
    assert lines[0] == (
        "[payment] (records: 1) will be merged into [billing] (records: 1). The ids from [payment]"
        " will change, too."
    )
    assert [it.topic for it in saved(project)] == ["billing", "billing"]


def test_the_same_gap_under_both_topics_becomes_one_record_that_loses_nothing(
    rename: Rename, project: Path
) -> None:
    there = replace(a_record(topic="billing", lesson="ask finance", now=LATER), seen=3)
    write(project, there, replace(VAT, ask_next_time="Where?", paths=("src/**",)))
    _, lines, _ = rename("payment", "billing", "--yes")
    [record] = saved(project)
    assert record.lesson == "ask finance\ncheck the tax table first"
    assert (record.id, record.seen, record.created) == (there.id, 4, NOW)
    assert (record.ask_next_time, record.paths) == ("Where?", ("src/**",))
    assert there.fingerprint() in record.former
    assert any(line.startswith("Records about the same gap that become one") for line in lines)
    assert f"  {there.token}  log [billing]" in lines


def test_an_old_record_above_its_limit_is_named(rename: Rename, project: Path) -> None:
    long = replace(a_record("long"), lesson="y" * 1_100)
    write(project, a_record(), long)
    before = path_of(project).read_bytes()
    code, lines, errors = rename("payment", "billing", "--yes")
    assert (code, lines) == (1, [])
    assert errors.startswith(f"{long.token}: lesson: 1,100 bytes of UTF-8, 76 above")
    assert path_of(project).read_bytes() == before


def test_texts_that_do_not_fit_into_one_record_are_refused(rename: Rename, project: Path) -> None:
    there = a_record(topic="billing", lesson="x" * 600)
    write(project, there, a_record(lesson="y" * 600))
    before = path_of(project).read_bytes()
    code, lines, errors = rename("payment", "billing", "--yes")
    assert (code, lines) == (1, [])
    assert there.token in errors
    assert "one record with 1,201 bytes of lesson; the limit is 1,024" in errors
    assert path_of(project).read_bytes() == before


def test_an_id_that_belongs_to_another_text_is_refused(rename: Rename, project: Path) -> None:
    taken = a_record("ing gap", topic="bill")
    write(project, taken, a_record(" gap"))
    code, _, errors = rename("payment", "billing", "--yes")
    assert (code, errors.startswith(f"id {taken.id}: it already belongs")) == (1, True)
    assert [it.topic for it in saved(project)] == ["bill", "payment"]


def test_without_joining_the_same_gap_is_refused(project: Path) -> None:
    there = a_record(topic="billing")
    write(project, there, VAT)
    with raised(RefusedError, "same_gap") as caught:
        MemoryStore(path_of(project)).renew({VAT.token: replace(VAT, topic="billing")}, join=False)
    assert caught.value.facts == {"token": there.token}


def test_two_records_that_become_one_gap_are_refused_without_joining(project: Path) -> None:
    gap = VAT.missing_context
    changed = {it.token: replace(it, topic="billing", missing_context=gap) for it in (VAT, DATE)}
    with raised(RefusedError, "same_gap") as caught:
        MemoryStore(path_of(project)).renew(changed, join=False)
    assert caught.value.facts == {"token": VAT.token}


def test_a_version_that_is_not_the_present_one_is_refused(project: Path) -> None:
    store = MemoryStore(path_of(project))
    store.upsert_log(a_draft())
    before = path_of(project).read_bytes()
    with raised(RefusedError, "record_changed"):
        store.renew({VAT.token: replace(VAT, topic="billing")}, join=True)
    assert path_of(project).read_bytes() == before


def test_a_topic_that_is_not_there_is_a_sentence(rename: Rename) -> None:
    rest = "Nothing was changed. python cli.py topics lists them.\n"
    assert rename("pay", "x", "--yes") == (1, [], f"There is no topic pay. {rest}")
    sentence = f"There is no topic payments; similar: payment. {rest}"
    assert rename("payments", "x", "--yes") == (1, [], sentence)


@pytest.mark.parametrize(
    ("new", "said"), [(" ", "topic: it is blank."), ("가" * 22, "topic: 66 bytes of UTF-8")]
)
def test_a_name_that_can_be_no_topic_is_refused(
    rename: Rename, project: Path, new: str, said: str
) -> None:
    before = path_of(project).read_bytes()
    code, lines, errors = rename("payment", new, "--yes")
    assert (code, lines, errors.startswith(said)) == (1, [], True)
    assert path_of(project).read_bytes() == before


def test_the_same_name_changes_nothing(rename: Rename, project: Path) -> None:
    before = path_of(project).read_bytes()
    sentence = "Both names mean the same topic. Nothing was changed."
    assert rename("payment", " payment ", "--yes") == (0, [sentence], "")
    assert path_of(project).read_bytes() == before


def test_the_records_are_redacted_and_a_secret_in_the_topic_is_pointed_out(
    rename: Rename, project: Path
) -> None:
    write(project, a_record(lesson=f"the key is {TOKEN}"))
    _, lines, _ = rename("payment", TOKEN, "--yes")
    assert saved(project)[0].lesson == "the key is [REDACTED]"
    sentence = "topic: this looks like a secret and is saved unchanged. Remove it."
    assert sentence in lines


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


# Merges


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Two clones of a project with two gaps in topic payment."""
    ours = new_project(tmp_path / "ours", "one", "two")
    return ours, copied(ours, tmp_path / "theirs")


def gaps_by_topic(clone: Path) -> list[tuple[str, str]]:
    return sorted((it.topic, it.missing_context) for it in store_of(clone).read_all())


@pytest.mark.long  # it costs much
@with_git
@pytest.mark.parametrize("forth", [True, False])
def test_a_merge_with_what_a_colleague_added_brings_no_old_record_back(
    clones: tuple[Path, Path], forth: bool
) -> None:
    ours, theirs = clones
    rename_in(ours)
    commit(ours)
    save("three", now=LATER)(theirs)
    commit(theirs)
    into, other = (ours, theirs) if forth else (theirs, ours)
    pull(into, other)
    expected = [("billing", "one"), ("billing", "two"), ("payment", "three")]
    assert gaps_by_topic(into) == expected
    rename_in(into)
    assert {topic for topic, _ in gaps_by_topic(into)} == {"billing"}


@pytest.mark.long  # it costs much
@with_git
def test_what_a_colleague_updated_under_the_old_topic_is_not_lost(
    clones: tuple[Path, Path],
) -> None:
    ours, theirs = clones
    rename_in(ours)
    commit(ours)
    save("one", "a newer lesson", LATER)(theirs)
    commit(theirs)
    pull(ours, theirs)
    assert gaps_by_topic(ours) == [("billing", "one"), ("billing", "two"), ("payment", "one")]
    rename_in(ours)
    assert gaps_by_topic(ours) == [("billing", "one"), ("billing", "two")]
    [one] = [it for it in store_of(ours).read_all() if it.missing_context == "one"]
    assert sorted(one.lesson.splitlines()) == ["a newer lesson", "check the tax table first"]
    commit(ours)
    pull(theirs, ours)
    assert gaps_by_topic(theirs) == [("billing", "one"), ("billing", "two")]


@with_git
def test_two_clones_that_rename_alike_have_the_same_records(clones: tuple[Path, Path]) -> None:
    ours, theirs = clones
    for clone in clones:
        rename_in(clone)
        commit(clone)
    pull(ours, theirs)
    assert gaps_by_topic(ours) == [("billing", "one"), ("billing", "two")]


@pytest.mark.long  # it costs much
@with_git
def test_the_versions_of_a_renamed_record_hold_those_before(
    command: Command, tmp_path: Path
) -> None:
    project = new_project(tmp_path / "moved", "VAT differs by country")
    [before] = saved(project)
    rename_in(project)
    now = saved(project)[0]
    lines = command("show", now.id, "--versions", "--project", str(project)).lines
    tokens = [line.split()[0] for line in lines if "  log [" in line]
    assert tokens == [now.token, before.token]
    lines = command("show", before.id, "--versions", "--project", str(project)).lines
    assert f"log {now.token} in topic billing replaced version {before.token}." in lines
