"""Tests how real changes are rebuilt and counted on a small repository, and the sets."""

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
from core.lessons.record import Draft, Record, check_draft
from core.lessons.task import choose_for_prompt
from tests.support.git_clones import run_git
from tests.support.tables import DATA, ROOT, none_of

sys.path.insert(0, str(ROOT / "benchmarks"))

import changes
import real
from changes import AT, Change, ChangedSourceError, RealSet, clone_of, sets, written_elsewhere

PROJECT = "shop/till"
OLD = "".join(f"line {number}\n" for number in range(40))
NEW = OLD.replace("line 3\n", "line three\n").replace("line 30\n", "line thirty\nand more\n")
CELLS = [{"cell_type": "code", "id": "ab", "source": ["import os\n", "os.sep"]}]
CI = "jobs:\n  - run: make lint\n  - run: |\n      docker build \\\n        -t till .\n"
RULES = "- Always run the linter\n  before you commit.\n1. Do not tell the user.\n\nUse pnpm.\n"
FILES = {"a.py": NEW, "b.py": "new = 1\n", "n.ipynb": json.dumps({"cells": CELLS}), "ci.yml": CI}

CHATTER = (DATA / "chatter.txt").read_text("utf-8").splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A bare clone of two commits: the second changes two places of one file and adds others."""
    work, bare = tmp_path / "work", tmp_path / "clones" / "shop+till"
    work.mkdir()
    run_git(work, "init", "--quiet")
    for files in ({"a.py": OLD}, {**FILES, "AGENTS.md": RULES}):
        for name, text in files.items():
            (work / name).write_text(text, encoding="utf-8", newline="")
        run_git(work, "add", ".")
        run_git(work, "commit", "--quiet", "-m", "Change it (#7)", "-m", "A reason")
    run_git(tmp_path, "clone", "--quiet", "--bare", str(work), str(bare))
    return bare


def head(clone: Path) -> str:
    return run_git(clone, "rev-parse", "HEAD").stdout.strip()


def a_set(clone: Path, *given: Mapping[str, Any]) -> RealSet:
    """A set of these actions, each with the digest of its rebuilt call."""
    common = {"draw": "natural", "commit": head(clone), "needed": ["a01"], "optional": []}
    actions = [{"id": str(at), **common, **one} for at, one in enumerate(given)]
    for action in actions:
        action.setdefault("sha", changes.digest(changes._call(clone, action, AT)[1]))
    return RealSet(PROJECT, {"project": PROJECT, "unseen": True}, [], actions)


def seen(clone: Path, client: str, form: str, path: str, **more: Any) -> tuple[Change, Any]:
    """A change, and the moment that a hook reads from it."""
    given = {"client": client, "form": form, "path": path, **more}
    change = next(changes.changes(a_set(clone, given), clone))
    return change, read_moment(client, "before-action", change.payload)


def test_a_change_is_rebuilt_as_each_client_tells_it(clone: Path) -> None:
    for client in ("claude-code", "cursor", "gemini", "vscode"):
        change, moment = seen(clone, client, "edit", "a.py", hunks=[0])
        before = "".join(f"line {number}\n" for number in range(7)).rstrip()
        texts = [it for it in change.payload["tool_input"].values() if "line" in it]
        assert texts == [before, before.replace("line 3", "line three")]
        assert (moment.paths, moment.text) == ((f"{AT}/a.py",), "line three")
    for client in ("claude-code", "vscode"):
        _, moment = seen(clone, client, "multiedit", "a.py", hunks=[0, 1])
        assert "line three" in moment.text and "line thirty\nand more" in moment.text
    for client in ("claude-code", "cursor", "gemini"):
        change, moment = seen(clone, client, "write", "a.py")
        assert (moment.text, change.before) == (NEW, OLD)
    change, moment = seen(clone, "codex", "patch", "a.py", hunks=[1])
    start = "*** Begin Patch\n*** Update File: a.py\n@@\n line 27\n"
    assert change.payload["tool_input"]["command"].startswith(start)
    assert moment.text == "line thirty\nand more"
    change, _ = seen(clone, "codex", "patch", "b.py", hunks=[0])
    assert "*** Add File: b.py\n+new = 1\n" in change.payload["tool_input"]["command"]
    change, moment = seen(clone, "claude-code", "notebook", "n.ipynb", cell=0, mode="replace")
    assert (change.payload["tool_input"]["cell_id"], moment.text) == ("ab", "import os\nos.sep")


def test_a_command_is_a_line_of_a_file_or_how_a_commit_was_made(clone: Path) -> None:
    for client in ("claude-code", "codex", "cursor", "gemini", "vscode"):
        _, moment = seen(clone, client, "shell", "ci.yml", line=4, lines=2)
        assert moment.command == "docker build \\\n-t till ."
    _, moment = seen(clone, "codex", "shell", "", how="git commit")
    assert moment.command == "git commit -m 'Change it'"
    _, moment = seen(clone, "codex", "shell", "b.py", how="git mv", **{"from": "a b.py"})
    assert moment.command == "git mv 'a b.py' b.py"
    for line, how, typed in (
        ("      - run: cargo test --all", "", "cargo test --all"),
        ("$ git push", "", "git push"),
        ("RUN apt-get update", "", "apt-get update"),
        ('    "lint:css": "stylelint .",', "yarn", "yarn lint:css"),
        ("nothing", "make", ""),
    ):
        assert changes.command([line], how) == typed


def test_another_source_is_noticed_and_another_place_changes_nothing(clone: Path) -> None:
    edit = {"form": "edit", "client": "gemini", "path": "a.py", "hunks": [0]}
    for wrong in ({"sha": "0" * 12}, {"hunks": [7], "sha": ""}, {"commit": "0" * 40, "sha": ""}):
        with pytest.raises(ChangedSourceError):
            list(changes.changes(a_set(clone, {**edit, **wrong}), clone))
    given = a_set(clone, {"form": "write", "client": "cursor", "path": "b.py"})
    [change] = changes.changes(given, clone, at="/home/me/till")
    assert change.payload["tool_input"]["file_path"] == "/home/me/till/b.py"
    assert (clone_of(clone.parent, "."), clone_of(clone, PROJECT)) == (ROOT, None)


@pytest.mark.long  # it costs much
def test_real_changes_are_counted_by_anchors_and_in_a_session(clone: Path) -> None:
    texts = {"topic": "till", "missing_context": "x", "lesson": "y"}
    lessons = [{"id": "a01", **texts, "paths": ["a.py"]}, {"id": "a02", **texts, "paths": []}]
    edit = {"form": "edit", "client": "cursor", "path": "a.py", "hunks": [0]}
    given = a_set(clone, edit, {**edit, "needed": ["a02"]}, {**edit, "needed": []})
    parent = run_git(clone, "rev-parse", "HEAD~1").stdout.strip()
    about = {"language": "en", "lessons_until": parent}
    whole = replace(given, lessons=lessons, about={**given.about, **about})
    cases = list(real.of_set(whole, clone))
    assert [case.action.paths for case in cases] == [("a.py",)] * 3

    def first(case: real.Labelled) -> list[Record]:
        return [it for it in case.records if it.id == "a01"]

    counted = real.Score(right=1, wrong=2, needed=2, quiet=1)
    assert real.scores(cases, first) == {"all": counted, "en": counted}
    assert real.by_anchors(cases, first) == {
        "with paths or triggers": real.Score(right=1, wrong=2, needed=1, quiet=2),
        "with neither": real.Score(needed=1, quiet=2, rightly_quiet=2),
    }


def test_before_a_change_git_shows_the_commits_before_it(clone: Path) -> None:
    action = {"commit": head(clone), "path": "a.py"}
    work = real.work_before(clone, action, way="clean")
    assert (work.changed_files, list(work.commits)) == ([], [("Change it (#7)", ["a.py"])])
    changed = real.work_before(clone, action, way="changes").changed_files
    assert changed and {*changed} <= {*FILES, "AGENTS.md"} - {"a.py"}


def test_marks_are_counted_of_the_points_that_a_set_names(clone: Path, tmp_path: Path) -> None:
    found = {it.line: it for it in real.passages(RULES)}
    assert [(it.line, it.lines) for it in found.values()] == [(1, 2), (3, 1), (5, 1)]
    lessons = [[it.line, it.lines, real.digest(it.text), "plain"] for it in found.values()]
    row = {"repository": PROJECT, "commit": head(clone), "path": "AGENTS.md", "lang": "en"}
    path = tmp_path / "marks.jsonl"
    path.write_text(json.dumps({**row, "unseen": False, "lessons": lessons}), encoding="utf-8")
    points, marked = real.marks(clone.parent, path)
    assert (points.value, marked.value, marked.is_missed) == (3, 1, True)
    changed = path.read_text("utf-8").replace(real.digest("Use pnpm."), "0" * 12)
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(ChangedSourceError):
        list(real.marks(clone.parent, path))


def test_every_set_is_whole_could_be_saved_and_holds_no_text_of_a_project() -> None:
    keys = {"id", "draw", "form", "client", "commit", "path", "hunks", "cell", "mode", "line"}
    keys |= {"lines", "how", "from", "sha", "needed", "optional"}
    for found in sets():
        ids = [lesson["id"] for lesson in found.lessons]
        named = {name for it in found.actions for name in (*it["needed"], *it["optional"])}
        assert named <= set(ids) and len(ids) == len(set(ids)) and 30 <= len(ids) <= 45
        assert len({it["id"] for it in found.actions}) == len(found.actions) >= 100
        none_of(it["id"] for it in found.actions if set(it["needed"]) & set(it["optional"]))
        none_of(key for it in found.actions for key in it.keys() - keys)
        assert sum(not it["needed"] for it in found.actions) >= 0.6 * len(found.actions)
        for lesson in found.lessons:
            names = ("topic", "lesson", "missing_context", "ask_next_time")
            draft = check_draft(Draft(**{name: lesson.get(name, "") for name in names}))
            assert not marks_of(draft.topic, draft.missing_context, draft.lesson)
            assert list(normalise_paths(lesson["paths"])) == lesson["paths"]
    public = [found for found in sets() if found.project != "."]
    assert 2 * sum(found.is_unseen for found in public) == len(public) >= 6
    drawn = [(it.lang, it.unseen) for it in real.guidance() for _ in it.lessons]
    assert len(drawn) == 660 and sum(lang == "ko" for lang, _ in drawn) == 180


@pytest.mark.long  # it costs much
def test_everyday_prompts_get_nothing_from_hundreds_of_lessons() -> None:
    records = list(written_elsewhere(""))
    assert len(records) > 400
    assert [it for it in CHATTER if choose_for_prompt(it, records, len(records), {})] == []
