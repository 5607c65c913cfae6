"""Tests that a join of two real clones brings all records once, and none that was replaced.

The steps of the clones and the expected records stand in tests/data/joining.json, one step a line.
"""

import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import git_clones as clones
from tests.support.samples import LATER, NOW, a_principle
from tests.support.tables import table

TABLES = table("joining")
NUMBERS = ("one", "two", "three", "four")
LATEST = "2026-03-03T09:00:00+00:00"
MOMENTS = {"EARLIER": "2026-02-28T09:00:00+00:00", "NOW": NOW, "LATER": LATER, "LATEST": LATEST}


def edit_of(text: str) -> clones.Edit:
    """Read `save GAP: LESSON`, `compact LESSON of GAP + GAP` or `delete GAP`, `@` a moment."""
    what, _, moment = text.partition(" @ ")
    word, _, rest = what.partition(" ")
    at = {"now": MOMENTS[moment]} if moment else {}
    if word == "save":
        gap, _, lesson = rest.partition(": ")
        return clones.save(gap, lesson or clones.LESSON, **at)
    if word == "delete":
        return lambda clone: clones.store_of(clone).delete_by_ids(clones.tokens_of(clone, rest))
    if word == "principle":
        return lambda clone: clones.store_of(clone).upsert_log(a_principle(rest))
    lesson, _, gaps = rest.partition(" of ")
    return clones.compact(lesson, *filter(None, gaps.split(" + ")), **at)


def shown(clone: Path) -> list[str]:
    """The records that a reader sees, each as `GAP`, `GAP: LESSON` or `principle LESSON`."""
    found = []
    for it in clones.saved(clone):
        ends = f": {it.lesson}" if it.lesson != clones.LESSON else ""
        found.append(f"principle {it.lesson}" if it.type == "principle" else it.key_text + ends)
    return sorted(found)


UNION, WITHOUT_UNION = "union", "memory_log.jsonl text eol=lf\n"
WITH_BASE = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
MARKERS = {"merge": ["<<<<<<<", "=======", ">>>>>>>"], "diff3": WITH_BASE, "zdiff3": WITH_BASE}
STYLES = (UNION, *clones.conflict_styles())


def ended_in_conflict(folder: Path, *arguments: str) -> bool:
    """Carry out a command that joins two histories; whether it left a conflict in the log."""
    done = clones.run_git(folder, *arguments)
    said = f"git {' '.join(arguments)}: {done.stdout}{done.stderr}"
    assert done.returncode == 0 or (done.returncode == 1 and markers(folder)), said
    return done.returncode == 1


def markers(clone: Path) -> list[str]:
    """The kinds of conflict markers in the log, without their labels, in order."""
    lines = clones.path_of(clone).read_bytes().splitlines()
    found = [line.split(b" ")[0].decode("ascii") for line in lines if line[:1] in b"<|=>"]
    return list(dict.fromkeys(found))


def lend_branches(clone: Path, to: Path, **names: str) -> None:
    """Give another clone branches of this one, as quick as `git fetch clone NAME:OTHER_NAME`.

    names: the name of each branch here, by its name there.
    """
    ours, theirs = clone / ".git", to / ".git"
    left_out = shutil.ignore_patterns("info")
    shutil.copytree(ours / "objects", theirs / "objects", ignore=left_out, dirs_exist_ok=True)
    for there, here in names.items():
        shutil.copyfile(ours / "refs" / "heads" / here, theirs / "refs" / "heads" / there)


def use_style(clone: Path, style: str) -> None:
    if style != UNION:
        with (clone / ".git" / "config").open("a", encoding="utf-8") as config:
            config.write(f"[merge]\n\tconflictStyle = {style}\n")


# Two branches of one memory, joined in every way. A scenario has the steps of both sides after the
# gaps one to four, and the records after the join. "apart": they changed different places, so that
# git asks nobody without a union merge. "first": neither side had a memory before.

SCENARIOS: dict[str, dict[str, Any]] = TABLES["scenarios"]
JOINS = {  # the last command of each joins, in a work tree of its own where there is one
    "merge": ("merge --quiet other",),
    "merge-into-theirs": ("merge --quiet other",),
    "rebase": ("rebase --quiet other",),
    "cherry-pick": ("cherry-pick other",),
    "stash-pop": (
        *("reset --quiet --soft main~1", "stash push --quiet"),
        *("merge --quiet --ff-only other", "stash pop --quiet"),
    ),
    "worktree": ("worktree add --quiet -b tree ../tree other", "merge --quiet main"),
}


def finish(clone: Path) -> bool:
    """End a rebase with everything as it stands, conflict markers too; whether there was one."""
    waits = (clone / ".git" / "rebase-merge").is_dir()
    stopped = waits
    while stopped:
        clones.git(clone, "add", "--all")
        stopped = ended_in_conflict(clone, "rebase", "--continue")
    return waits


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], Path]:
    """Makes the clones `mine` and `theirs` of a scenario, with the union merge or without it.

    Each has the other's commit in its branch `other`, and one more save of the other in `later`.
    """

    @cache
    def pair(name: str, union: bool) -> Path:
        scenario, folder = SCENARIOS[name], tmp_path_factory.mktemp("edited")
        gaps = () if "first" in scenario else NUMBERS
        attributes = None if union else WITHOUT_UNION
        base = clones.new_project(folder / "base", *gaps, attributes=attributes)
        for side in ("mine", "theirs"):
            clone = clones.copied(base, folder / side)
            for edit in scenario[side]:
                edit_of(edit)(clone)
            clones.commit(clone)
            clones.git(clone, "branch", "own")
            clones.save("ten", now=LATEST)(clone)
            clones.git(clone, "commit", "--quiet", "--all", "--message", "later")
            clones.git(clone, "branch", "own-later")
            clones.git(clone, "reset", "--quiet", "--hard", "own")
        for side, other in (("mine", "theirs"), ("theirs", "mine")):
            lend_branches(folder / other, folder / side, other="own", later="own-later")
        return folder

    return pair


USUAL = ("append-append", "same-known-gap", "compaction-append", "compaction-compaction")
JOINED_IN_EVERY_WAY = ("same-known-gap", "compaction-append")


def cells() -> Iterator[Any]:
    """Each scenario in each way, in each style where it is merged, else with union and one more.

    So any two of a scenario, a way and a style meet. Those that belong to every run are not long.
    """
    for (at, name), join in itertools.product(enumerate(SCENARIOS), JOINS):
        styles = STYLES[:2] if "apart" in SCENARIOS[name] else STYLES
        if join != "merge":
            conflicts = styles[1:]
            styles = (UNION, conflicts[(at + len(join)) % len(conflicts)])
        for style in styles:
            if name in USUAL and join == "merge":
                is_usual = style in STYLES[:2]
            else:
                is_usual = style == UNION and (join == "merge" or name in JOINED_IN_EVERY_WAY)
            marks = () if is_usual else pytest.mark.long
            yield pytest.param(name, join, style, id=f"{name}-{join}-{style}", marks=marks)


@pytest.mark.row("P11")
@pytest.mark.parametrize(("name", "join", "style"), [*cells()])
def test_a_join_shows_both_sides_once_and_neither_a_save_nor_another_join_changes_more(
    name: str, join: str, style: str, edited: Callable[[str, bool], Path], tmp_path: Path
) -> None:
    scenario, wanted = SCENARIOS[name], sorted(SCENARIOS[name]["shown"])
    side = "theirs" if join == "merge-into-theirs" else "mine"
    clone = clones.copied(edited(name, style == UNION) / side, tmp_path / "clone")
    use_style(clone, style)
    *before, last = JOINS[join]
    for words in before:
        clones.git(clone, *words.split())
    folder = clone.parent / "tree" if join == "worktree" else clone
    conflict = ended_in_conflict(folder, *last.split())
    assert conflict == ("apart" not in scenario and style != UNION)
    assert markers(folder) == (MARKERS[style] if conflict else [])
    assert shown(folder) == wanted
    clones.save("nine", now=LATEST)(folder)
    assert shown(folder) == sorted([*wanted, "nine"])
    if not finish(folder):
        clones.commit(folder)
    ended_in_conflict(folder, "merge", "--quiet", "later")  # the other side went on meanwhile
    assert shown(folder) == sorted([*wanted, "nine", "ten"])


@pytest.mark.long  # it costs much
@pytest.mark.row("P11")
@pytest.mark.parametrize("name", SCENARIOS)
def test_two_clones_that_each_merge_the_other_show_the_same_records(
    name: str, edited: Callable[[str, bool], Path], tmp_path: Path
) -> None:
    for side in ("mine", "theirs"):
        clone = clones.copied(edited(name, True) / side, tmp_path / side)
        clones.git(clone, "merge", "--quiet", "other")
    is_like(tmp_path / "mine", "theirs")


# Longer lives of some clones. The first one is called `mine`, and has the gaps one to four.


def resolve(clone: Path, _: str) -> None:
    """Keep both sides of every conflict, as a person would."""
    data = re.sub(rb"(?ms)^\|{7} .*?(?=^={7}$)", b"", clones.path_of(clone).read_bytes())
    clones.path_of(clone).write_bytes(re.sub(rb"(?m)^(<{7} .*|={7}|>{7} .*)\n", b"", data))
    assert markers(clone) == []


def cut(clone: Path, _: str) -> None:
    """Take the newline at the end away, as an editor may."""
    clones.path_of(clone).write_bytes(clones.path_of(clone).read_bytes().removesuffix(b"\n"))


def shows(clone: Path, wanted: str) -> None:
    assert shown(clone) == sorted(wanted.split(" | "))


def is_like(clone: Path, other: str) -> None:
    ours, theirs = (
        sorted(clones.saved(it), key=lambda record: (record.id, record.lesson))
        for it in (clone, clone.parent / other)
    )
    assert ours == theirs


def has_bases(clone: Path, count: str) -> None:
    assert len(clones.git(clone, "merge-base", "--all", "main", "FETCH_HEAD").split()) == int(count)


PULL = ("pull", "--quiet", "--no-rebase", "--no-edit")  # it must not end in a conflict
WINDOWS = ("clone", "--quiet", "--config", "core.autocrlf=true")
STEPS: dict[str, Callable[[Path, str], object]] = {
    "copy": lambda clone, other: clones.copied(clone.parent / other, clone),
    "windows": lambda clone, origin: clones.git(clone.parent, *WINDOWS, origin, clone.name),
    "commit": lambda clone, _: clones.commit(clone),
    "pull": lambda clone, other: clones.git(clone, *PULL, f"../{other}", "HEAD"),
    "fetch": lambda clone, other: clones.git(clone, "fetch", "-q", f"../{other}", "main:other"),
    "git": lambda clone, words: clones.git(clone, *words.split()),
    "try": lambda clone, words: clones.run_git(clone, *words.split()),
    "finish": lambda clone, _: finish(clone),
    "resolve": resolve,
    "torn": cut,
    "lacks": lambda clone, name: (clone / name).unlink(),
    "bases": has_bases,
    "shows": shows,
    "like": is_like,
}


def lives() -> Iterator[Any]:
    """Each life with the attributes of its project and a style of conflicts."""
    for name, life in TABLES["lives"].items():
        ways: list[tuple[str | None, str]] = [(None, UNION)]
        if "each" in life:
            ways += [(WITHOUT_UNION, style) for style in STYLES[1:]]
        elif "attributes" in life:
            named = [(it, STYLES[1:] if it == "" else STYLES[:1]) for it in life["attributes"]]
            ways = [(attributes, style) for attributes, styles in named for style in styles]
        for attributes, style in ways:
            mark = () if "quick" in life else pytest.mark.long
            id_ = f"{name}-{style}-{attributes is None}"
            yield pytest.param(life["steps"], attributes, style, id=id_, marks=mark)


@pytest.mark.row("001 1-1.b", "001 1-3.b", "P11")
@pytest.mark.parametrize(("steps", "attributes", "style"), list(lives()))
def test_clones_that_live_on_show_the_outcome_of_each_of_their_steps(
    steps: list[str], attributes: str | None, style: str, tmp_path: Path
) -> None:
    use_style(clones.new_project(tmp_path / "mine", *NUMBERS, attributes=attributes), style)
    for step in steps:
        name, _, what = step.partition(": ")
        word, _, rest = what.partition(" ")
        clone = tmp_path / name
        try:
            if word == "join":
                assert ended_in_conflict(clone, *rest.split(), "--quiet") == (style != UNION)
            elif word in STEPS:
                STEPS[word](clone, rest)
            else:
                edit_of(what)(clone)
        except AssertionError as error:
            error.add_note(step)
            raise
        if word == "windows":
            use_style(clone, style)
            keeps = attributes is None
            assert (b"\r\n" in clones.path_of(clone).read_bytes()) != keeps
