"""Tests `cli.py show --versions` and `restore` in real repositories."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import RefusedError
from core.lessons.record import new_record, utc_now
from core.messages import filled
from tests.support import git_clones
from tests.support.cli_process import GoodRun, said_yes, without_settings
from tests.support.memory_steps import MemorySteps, cases, needs_git
from tests.support.samples import LATER, NOW, a_principle, a_record
from tests.support.sentences import raised
from tests.support.tables import table

pytestmark = needs_git

LATEST = "2026-03-03T09:00:00+00:00"
SECRET = "ghp" + "_" + "a1B2" * 9
ONE, TWO, THREE, FOUR = (a_record(gap) for gap in ("one", "two", "three", "four"))
VAT = a_record()
RULE = new_record(a_principle("rule"), now=LATER).id
NEWER_RULE = new_record(a_principle("newer rule"), now=LATER).id
DAYS = table("commands/versions")


class Run(GoodRun):
    """One finished command."""

    @property
    def refusal(self) -> str:
        """The sentence of a command that did not do it."""
        assert (self.code, self.out) == (1, "")
        return self.errors.removesuffix("\n")


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    without_settings(monkeypatch)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with three gaps; the second one changed; then the first two were compacted."""
    project = git_clones.new_project(
        tmp_path_factory.mktemp("made") / "shop", "one", "two", "three"
    )
    git_clones.save("two", "changed", LATER)(project)
    git_clones.commit(project, "change two")
    git_clones.compact("rule", "one", "two")(project)
    git_clones.commit(project, "compact")
    return project


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return git_clones.copied(made, tmp_path / "shop")


class Day(MemorySteps):
    """Changes the project, and asks for versions or brings records back.

    `${one}` is the id of that gap, `${one_v}` its first version, `${two_changed}` the second one
    of `two`; `${now}`, `${later}` and `${latest}` are moments. The three commits that the project
    comes with are `${c0}` to `${c2}`. What `says` says may name a token that is new after it.
    """

    filled_later = frozenset({"says"})

    def __init__(
        self, project: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
    ) -> None:
        records = {"one": ONE, "two": TWO, "three": THREE, "four": FOUR}
        rule = git_clones.now_of(project, RULE)
        replaced = git_clones.store_of(project).read_replaced()
        [changed] = [it.token for it in replaced if it.record.lesson == "changed"]
        facts = {
            **{name: it.id for name, it in records.items()},
            **{f"{name}_v": it.token for name, it in records.items()},
            **{f"{name}_begins": it.id[:6] for name, it in records.items()},
            **{"two_changed": changed, "rule": RULE, "rule_v": rule.token, "newer": NEWER_RULE},
            **{"to_rule": filled("principle {rule}(으)로", {"rule": rule.token})},
            **{"secret_gap": a_record("secret").id},
            **{"now": NOW, "later": LATER, "latest": LATEST},
            **{"secret": SECRET, "other": SECRET[:-1] + "z", "folder": str(project.parent)},
        }
        super().__init__(project, patch, facts)
        self._capsys = capsys
        for revision in ("HEAD~2", "HEAD~1", "HEAD"):
            self._name_commit(revision)

    def run(self, *arguments: str) -> Run:
        return Run.of(self._capsys, *arguments, "--project", str(self._project))

    def says(self, arguments: list[str], *lines: str) -> None:
        """A command that prints these lines and no others."""
        said = self.run(*self._filled(arguments)).lines
        self._name_tokens()
        self._facts["today"] = utc_now()[:10]
        assert said == self._filled(list(lines))

    def part(self, arguments: list[str], at: int, *lines: str) -> None:
        """A command that prints these lines, the first of them in this place."""
        assert self.run(*arguments).lines[at:][: len(lines)] == list(lines)

    def has(self, arguments: list[str], part: str) -> None:
        assert part in self.run(*arguments).out

    def places(self, name: str, *lines: str) -> None:
        """The line of each version that says where it lies."""
        said = self.run("show", name, "--versions").lines
        assert [line for line in said if re.match(r"\d+\. ", line)] == list(lines)

    def lessons(self, name: str, *lessons: str) -> None:
        """The lesson of each version."""
        versions = self.run("show", name, "--versions", "--json").told["versions"]
        assert [it["lesson"] for it in versions] == list(lessons)

    def notes(self, name: str, *notes: str) -> None:
        assert self.run("show", name, "--versions", "--json").told["notes"] == list(notes)

    def refused(self, arguments: list[str], said: str) -> None:
        assert self.run(*arguments).refusal == said

    def refused_in_part(self, arguments: list[str], part: str) -> None:
        assert part in self.run(*arguments).refusal

    def unknown(self, name: str, said: str) -> None:
        """A name that every command refuses."""
        for asked in (["show", "--versions"], ["restore"], ["restore", "--originals"]):
            refusal = self.run(*asked, name).refusal
            assert refusal.startswith(f"{name}: {said} Nothing was changed.")

    def unchanged(self, *step: Any) -> None:
        """A step that leaves the file as it is."""
        before = git_clones.path_of(self._project).read_bytes()
        self.live(*step)
        assert git_clones.path_of(self._project).read_bytes() == before

    def gaps(self, *wanted: str) -> None:
        """What a reader sees."""
        assert git_clones.gaps(self._project) == list(wanted)

    def lesson(self, record_id: str, wanted: str) -> None:
        assert git_clones.now_of(self._project, record_id).lesson == wanted

    def created(self, record_id: str, moment: str) -> None:
        assert git_clones.now_of(self._project, record_id).created == moment

    def not_in_file(self, text: str) -> None:
        assert text.encode() not in git_clones.path_of(self._project).read_bytes()


@pytest.mark.parametrize("name", cases(DAYS))
def test_versions_are_told_and_brought_back(
    name: str, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    day = Day(project, capsys, monkeypatch)
    for step in DAYS[name]:
        day.live(*step)


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
