"""Tests what no story can say of `show --versions`, `restore` and `topics rename`."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import RefusedError
from core.lessons.record import new_record
from tests.support import git_clones
from tests.support.cli_process import GoodRun as Run
from tests.support.cli_process import said_yes, without_settings
from tests.support.memory_steps import needs_git
from tests.support.samples import LATER, a_principle, a_record
from tests.support.sentences import raised

pytestmark = needs_git

LATEST = "2026-03-03T09:00:00+00:00"
ONE, TWO, THREE, VAT = (a_record(gap) for gap in ("one", "two", "three", "VAT differs by country"))
RULE = new_record(a_principle("rule"), now=LATER).id


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    without_settings(monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three gaps; the second one changed; then the first two were compacted."""
    project = git_clones.new_project(tmp_path / "shop", "one", "two", "three")
    git_clones.save("two", "changed", LATER)(project)
    git_clones.commit(project, "change two")
    git_clones.compact("rule", "one", "two")(project)
    git_clones.commit(project, "compact")
    return project


@pytest.mark.long  # it costs much
def test_json_tells_the_same_as_data(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = git_clones.now_of(project, RULE)
    words = ("show", TWO.id, "--versions", "--json", "--project", str(project))
    newer, older = Run.of(capsys, *words).told["versions"]
    kept = [it for it in git_clones.store_of(project).read_replaced() if it.record.id == TWO.id]
    assert (newer["token"], older["token"]) == (kept[0].token, TWO.token)
    assert (newer["lesson"], older["lesson"]) == ("changed", TWO.lesson)
    commits = git_clones.git(project, "log", "--format=%H%n%aI").split()
    assert [it["places"] for it in (newer, older)] == [
        {
            "log": None,
            "kept_since": left.at,
            "replaced_by": by,
            "commit": commits[at],
            "committed_at": commits[at + 1],
        }
        for left, by, at in zip(kept, (rule.token, newer["token"]), (2, 4), strict=True)
    ]


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name != "posix", reason="it needs a terminal of POSIX")
def test_a_record_that_changed_while_somebody_looked_is_not_restored_over(project: Path) -> None:
    git_clones.save("three", "looked at", LATER)(project)
    words = ("restore", THREE.token, "--project", str(project))
    code, errors = said_yes(
        *words, meanwhile=lambda: git_clones.save("three", "changed meanwhile", LATEST)(project)
    )
    assert (code, THREE.id in errors) == (1, True)
    assert git_clones.now_of(project, THREE.id).lesson == "changed meanwhile"


# a renamed topic


def test_a_renaming_that_would_join_or_hide_a_record_is_refused(tmp_path: Path) -> None:
    there, taken = a_record(topic="billing"), a_record("ing gap", topic="bill")
    git_clones.write(tmp_path, there, ONE, TWO, taken, VAT, a_record(" gap"))
    before, store = git_clones.path_of(tmp_path).read_bytes(), git_clones.store_of(tmp_path)
    gap, spaced = VAT.missing_context, a_record(" gap")
    for key, changed in (
        ("same_gap", {VAT.token: replace(VAT, topic="billing")}),
        ("same_gap", {it.token: replace(it, topic="x", missing_context=gap) for it in (ONE, TWO)}),
        ("record_changed", {f"{ONE.id}@000000": replace(ONE, topic="x")}),
        ("id_collision", {spaced.token: replace(spaced, topic="billing")}),
    ):
        with raised(RefusedError, key):
            store.renew(changed, join=False)
    assert git_clones.path_of(tmp_path).read_bytes() == before


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("forth", [True, False])
def test_what_a_colleague_saved_under_the_old_topic_is_not_lost_and_brings_nothing_old_back(
    tmp_path: Path, forth: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = git_clones.new_project(tmp_path / "ours", "one", "two")
    theirs, alike = (git_clones.copied(ours, tmp_path / name) for name in ("theirs", "alike"))

    def gaps_of(clone: Path) -> list[tuple[str, str]]:
        return sorted(
            (it.topic, it.missing_context) for it in git_clones.store_of(clone).read_all()
        )

    def rename(clone: Path) -> None:
        words = ("topics", "rename", "payment", "billing", "--yes", "-p", str(clone))
        assert Run.of(capsys, *words).code == 0

    [before, _] = git_clones.saved(ours)
    for clone in (ours, alike):
        rename(clone)
        git_clones.commit(clone)
    git_clones.pull(ours, alike)  # who renames alike has the same records
    assert gaps_of(ours) == (moved := [("billing", "one"), ("billing", "two")])
    git_clones.save("one", "a newer lesson", LATER)(theirs)
    git_clones.save("three", now=LATER)(theirs)
    git_clones.commit(theirs)
    into, other = (ours, theirs) if forth else (theirs, ours)
    git_clones.pull(into, other)
    assert gaps_of(into) == [*moved, ("payment", "one"), ("payment", "three")]
    rename(into)
    assert gaps_of(into) == [("billing", "one"), ("billing", "three"), ("billing", "two")]
    [one] = [it for it in git_clones.store_of(into).read_all() if it.missing_context == "one"]
    assert sorted(one.lesson.splitlines()) == ["a newer lesson", "check the tax table first"]
    git_clones.commit(into)
    git_clones.pull(other, into)
    assert gaps_of(other) == gaps_of(into)
    told = Run.of(capsys, "show", one.id, "--versions", "--project", str(into))
    assert before.token in told.out
