"""Tests how benchmarks/real_changes.py rebuilds changes, on a small repository, and its sets."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands.hook.events import read_moment
from core.guard.injection import marks_of
from core.lessons.anchors import normalise_paths
from core.lessons.recall import Sample
from core.lessons.record import Draft, check
from tests.support.git_clones import run_git
from tests.support.rows import none_of
from tests.support.stdio_client import ROOT

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import real_changes
import recall
from real_changes import (
    AT,
    Change,
    ChangedSourceError,
    RealSet,
    changes,
    clone_of,
    command,
    digest,
    hunks,
    main,
    missing,
    read_set,
    sets,
)

PROJECT = "shop/till"
OLD = "".join(f"line {number}\n" for number in range(40))
NEW = OLD.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\nand more\n")
CELLS = [{"cell_type": "code", "id": "ab", "source": ["import os\n", "os.sep"]}]
CI = "jobs:\n  - run: make lint\n  - run: |\n      docker build \\\n        -t till .\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A bare clone of two commits: the second changes two places of one file and adds others."""
    work, bare = tmp_path / "work", tmp_path / "clones" / "shop+till"
    work.mkdir()
    run_git(work, "init", "--quiet")
    for files in (
        {"a.py": OLD},
        {"a.py": NEW, "b.py": "new = 1\n", "n.ipynb": json.dumps({"cells": CELLS}), "ci.yml": CI},
    ):
        for name, text in files.items():
            (work / name).write_text(text, encoding="utf-8", newline="")
        run_git(work, "add", ".")
        run_git(work, "commit", "--quiet", "-m", "Change it (#7)")
    run_git(tmp_path, "clone", "--quiet", "--bare", str(work), str(bare))
    return bare


def head(clone: Path) -> str:
    return run_git(clone, "rev-parse", "HEAD").stdout.strip()


def real(clone: Path, *given: Mapping[str, Any]) -> RealSet:
    """A set of these actions, each with the digest of what it is rebuilt to."""
    common = {"draw": "natural", "commit": head(clone), "needed": ["a01"], "optional": []}
    actions = [{"id": str(at), **common, **one} for at, one in enumerate(given)]
    for action in actions:
        action.setdefault("sha", digest(real_changes._call(clone, action, AT)[1]))
    return RealSet(PROJECT, {"project": PROJECT, "unseen": True}, [], actions)


def built(clone: Path, **given: Any) -> Change:
    return next(changes(real(clone, given), clone))


def seen(change: Change) -> tuple[tuple[str, ...], str, str]:
    """Files, command and text that a hook reads of it."""
    moment = read_moment(change.client, "before-action", change.payload)
    return moment.paths, moment.command, moment.text


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", ["claude-code", "cursor", "gemini", "vscode"])
def test_an_edit_holds_both_texts_with_their_context(clone: Path, client: str) -> None:
    change = built(clone, form="edit", client=client, path="a.py", hunks=[0])
    before = "".join(f"line {number}\n" for number in range(7)).rstrip()
    paths, _, text = seen(change)
    assert paths == (f"{AT}/a.py",)
    texts = [it for it in change.payload["tool_input"].values() if "line" in it]
    assert texts == [before, before.replace("line 3", "line three")]
    assert text == "line three"
    assert (change.chars, change.changed) == (len("".join(texts)), len("line 3\nline three"))


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", ["claude-code", "vscode"])
def test_several_edits_are_one_call(clone: Path, client: str) -> None:
    change = built(clone, form="multiedit", client=client, path="a.py", hunks=[0, 1])
    paths, _, text = seen(change)
    assert paths == (f"{AT}/a.py",)
    assert "line three" in text and "line thirty\nand more" in text


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", ["claude-code", "cursor", "gemini"])
def test_a_file_is_written_whole(clone: Path, client: str) -> None:
    new = built(clone, form="write", client=client, path="b.py")
    assert seen(new) == ((f"{AT}/b.py",), "", "new = 1\n")
    over = built(clone, form="write", client=client, path="a.py")
    assert seen(over)[2] == NEW and over.changed < over.chars
    assert (new.before, over.before) == ("", OLD)


def test_a_patch_is_that_of_codex(clone: Path) -> None:
    change = built(clone, form="patch", client="codex", path="a.py", hunks=[1])
    patch = change.payload["tool_input"]["command"]
    assert patch.startswith("*** Begin Patch\n*** Update File: a.py\n@@\n line 27\n")
    assert seen(change) == (("a.py",), "", "line thirty\nand more")
    added = built(clone, form="patch", client="codex", path="b.py", hunks=[0])
    assert "*** Add File: b.py\n+new = 1\n" in added.payload["tool_input"]["command"]


def test_a_cell_of_a_notebook_is_replaced(clone: Path) -> None:
    change = built(
        clone, form="notebook", client="claude-code", path="n.ipynb", cell=0, mode="replace"
    )
    assert change.payload["tool_input"]["cell_id"] == "ab"
    assert seen(change) == ((f"{AT}/n.ipynb",), "", "import os\nos.sep")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor", "gemini", "vscode"])
def test_a_command_stands_in_a_line_of_a_file(clone: Path, client: str) -> None:
    change = built(clone, form="shell", client=client, path="ci.yml", line=2, lines=1)
    assert seen(change) == ((), "make lint", "")
    long = built(clone, form="shell", client=client, path="ci.yml", line=4, lines=2)
    assert seen(long)[1] == "docker build \\\n-t till ."


def test_a_commit_and_a_move_are_commands_of_git(clone: Path) -> None:
    how = {"form": "shell", "client": "codex", "path": ""}
    assert seen(built(clone, **how, how="git commit"))[1] == "git commit -m 'Change it'"
    moved = {**how, "path": "b.py", "from": "a b.py"}
    assert seen(built(clone, **moved, how="git mv"))[1] == "git mv 'a b.py' b.py"
    assert seen(built(clone, **moved, how="git rm"))[1] == "git rm b.py"


@pytest.mark.parametrize(
    ("line", "how", "typed"),
    [
        ("      - run: cargo test --all", "", "cargo test --all"),
        ("$ git push", "", "git push"),
        ("RUN apt-get update", "", "apt-get update"),
        ("\t@go vet ./...", "", "go vet ./..."),
        ('    "lint:css": "stylelint .",', "yarn", "yarn lint:css"),
        ("migrate target: build", "make", "make migrate"),
        ("nothing", "make", ""),
    ],
)
def test_a_line_becomes_what_is_typed(line: str, how: str, typed: str) -> None:
    assert command([line], how) == typed


@pytest.mark.long  # it costs much
def test_real_changes_are_counted_by_half_and_by_anchors(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"topic": "till", "missing_context": "x", "lesson": "y"}
    lessons = [{"id": "a01", **texts, "paths": ["a.py"]}, {"id": "a02", **texts, "paths": []}]
    edit = {"form": "edit", "client": "cursor", "path": "a.py", "hunks": [0]}
    actions = ({**edit, "client": "gemini"}, {**edit, "needed": ["a02"]}, {**edit, "needed": []})
    given = real(clone, *actions)
    until = {"lessons_until": run_git(clone, "rev-parse", "HEAD~1").stdout.strip()}
    until["language"] = "en"
    whole = replace(given, lessons=lessons, about={**given.about, **until})
    monkeypatch.setattr(recall, "sets", lambda: [whole])
    assert list(recall.real(clone.parent, unseen=False)) == []
    cases = list(recall.real(clone.parent, unseen=True))
    assert [case.action.paths for case in cases] == [("a.py",)] * 3
    assert cases[0].around.anchors == Sample(1, {"a.py": 1})
    assert cases[0].parts == (PROJECT, "edit", "gemini", "natural draw", "en", "up to 150")
    parts = recall.scores(cases, recall.anchored_only)
    assert parts["all"] == recall.Score(right=1, wrong=2, needed=2, quiet=1)
    assert parts["gemini"] == recall.Score(right=1, needed=1)
    assert recall.by_anchors(cases, recall.anchored_only) == {
        "with paths": recall.Score(right=1, wrong=2, needed=1, quiet=2),
        "with triggers": recall.Score(quiet=3, rightly_quiet=3),
        "with paths or triggers": recall.Score(right=1, wrong=2, needed=1, quiet=2),
        "with neither": recall.Score(needed=1, quiet=2, rightly_quiet=2),
    }
    # A session shows a record once, and at two of three actions it would be wrong.
    wrong = recall.wrong_in_a_session(cases, recall.anchored_only)
    assert wrong == pytest.approx(2 / 3, abs=0.05)
    assert recall.tokens(cases, recall.anchored_only) > recall.tokens(cases, lambda _: []) == 0


def test_a_source_that_changed_is_noticed(clone: Path) -> None:
    edit = {"form": "edit", "client": "gemini", "path": "a.py", "hunks": [0]}
    for wrong in ({"sha": "0" * 12}, {"hunks": [7], "sha": ""}, {"commit": "0" * 40, "sha": ""}):
        with pytest.raises(ChangedSourceError):
            list(changes(real(clone, {**edit, **wrong}), clone))


def test_the_first_commit_adds_all_of_its_files(clone: Path) -> None:
    first = run_git(clone, "rev-list", "--max-parents=0", "HEAD").stdout.strip()
    [hunk] = hunks(clone, first, "a.py")
    assert (hunk.old, hunk.new) == ("", OLD.rstrip())


def test_another_place_of_the_project_changes_no_digest(clone: Path) -> None:
    given = real(clone, {"form": "write", "client": "cursor", "path": "b.py"})
    [change] = changes(given, clone, at="/home/me/till")
    assert change.payload["tool_input"]["file_path"] == "/home/me/till/b.py"
    assert change.payload["workspace_roots"] == ["/home/me/till"]


def test_the_script_names_missing_clones_and_changed_sources(
    clone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    given = real(clone, {"form": "write", "client": "gemini", "path": "b.py"})
    rows = [given.about, {"lesson": {"id": "a01"}}, {"action": given.actions[0]}]
    (folder / "till.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main([str(tmp_path)], folder) == 0
    assert capsys.readouterr().out == (
        f"missing: git clone --bare https://github.com/shop/till {tmp_path / 'shop+till'}\n"
    )
    assert missing(clone.parent, folder) == []
    assert main([str(clone.parent)], folder) == 0
    assert capsys.readouterr().out.startswith("shop/till: 1 lessons, 1 actions, 0 need nothing")
    rows[2]["action"]["sha"] = "0" * 12
    (folder / "till.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main([str(clone.parent)], folder) == 1
    assert capsys.readouterr().out == "changed: shop/till 0\n"


def test_the_clone_of_the_own_project_is_the_checkout(tmp_path: Path) -> None:
    assert clone_of(tmp_path, ".") == ROOT
    assert clone_of(tmp_path, PROJECT) is None


def test_every_set_is_whole() -> None:
    for found in sets():
        ids = [lesson["id"] for lesson in found.lessons]
        named = {name for it in found.actions for name in (*it["needed"], *it["optional"])}
        assert named <= set(ids) and len(ids) == len(set(ids)) and 30 <= len(ids) <= 45
        assert len({it["id"] for it in found.actions}) == len(found.actions) >= 100
        none_of(it["id"] for it in found.actions if set(it["needed"]) & set(it["optional"]))
        quiet = sum(not it["needed"] for it in found.actions)
        assert quiet >= 0.6 * len(found.actions)
    public = [found for found in sets() if found.project != "."]
    assert 2 * sum(found.is_unseen for found in public) == len(public) >= 6


@pytest.mark.long  # it costs much
def test_every_lesson_could_be_saved() -> None:
    for found in sets():
        for lesson in found.lessons:
            names = ("topic", "lesson", "missing_context", "ask_next_time")
            draft = check(Draft(**{name: lesson.get(name, "") for name in names}))
            assert not marks_of(draft.topic, draft.missing_context, draft.lesson)
            assert list(normalise_paths(lesson["paths"])) == lesson["paths"]
            assert len(lesson["when"]) <= 5
            none_of(piece for piece in lesson["when"] if len(piece) < 4 or "\n" in piece)


def test_a_set_holds_no_text_of_a_project() -> None:
    keys = {"id", "draw", "form", "client", "commit", "path", "hunks", "cell", "mode", "line"}
    keys |= {"lines", "how", "from", "sha", "needed", "optional"}
    none_of(key for found in sets() for it in found.actions for key in it.keys() - keys)


def test_a_set_is_read_from_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"project": "a/b", "unseen": false}\n{"lesson": {"id": "x"}}\n', "utf-8")
    found = read_set(path)
    assert (found.project, found.is_unseen, found.lessons, found.actions) == (
        *("a/b", False),
        *([{"id": "x"}], []),
    )
