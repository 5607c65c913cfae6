"""Tests that a join of two real clones brings all records once, and none that was replaced."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from core.lessons.file import GITATTRIBUTES
from tests.support.git_clones import (
    WITHOUT_UNION,
    Edit,
    Shown,
    commit,
    compact,
    conflict_styles,
    copied,
    delete,
    ended_in_conflict,
    gaps,
    git,
    lend_branches,
    log,
    markers,
    new_project,
    path_of,
    principle,
    pull,
    records_by_id,
    save,
    shown,
    store_of,
    tokens_of,
)
from tests.support.samples import LATER, NOW, a_draft, a_principle

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

EARLIER = "2026-02-28T09:00:00+00:00"
LATEST = "2026-03-03T09:00:00+00:00"
NUMBERS = ("one", "two", "three", "four")
REST = [log("one"), log("three"), log("four")]
ALL = [*REST, log("two")]

NEWER = "theirs, newer"


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What both sides do after the gaps one to four, and what is shown once they are joined.

    clash: whether both changed the same place, so that git without a union merge asks a person.
    first: whether neither side had a memory before.
    """

    mine: tuple[Edit, ...]
    theirs: tuple[Edit, ...]
    expected: list[Shown]
    clash: bool = True
    first: bool = False


SCENARIOS = {
    "append-append": Scenario(
        mine=(save("five"),), theirs=(save("six"),), expected=[*ALL, log("five"), log("six")]
    ),
    "first-saves": Scenario(
        mine=(save("five"),), theirs=(save("six"),), expected=[log("five"), log("six")], first=True
    ),
    "same-new-gap": Scenario(
        mine=(save("five", "mine, older"),),
        theirs=(save("five", NEWER, LATER), save("six")),
        expected=[*ALL, log("five", "mine, older"), log("five", NEWER), log("six")],
    ),
    "same-known-gap": Scenario(
        mine=(save("two", "mine, older"),),
        theirs=(save("two", NEWER, LATER),),
        expected=[*REST, log("two", "mine, older"), log("two", NEWER)],
    ),
    "update-append": Scenario(
        mine=(save("two", "mine"),),
        theirs=(save("five"),),
        expected=[*REST, log("two", "mine"), log("five")],
        clash=False,
    ),
    "compaction-append": Scenario(
        mine=(compact("rule"),), theirs=(save("five"),), expected=[principle("rule"), log("five")]
    ),
    "part-compaction-append": Scenario(
        mine=(compact("rule", "one", "two"),),
        theirs=(save("five"),),
        expected=[principle("rule"), log("three"), log("four"), log("five")],
        clash=False,
    ),
    "compaction-update": Scenario(
        mine=(compact("rule"),),
        theirs=(save("two", "changed meanwhile", LATER),),
        expected=[principle("rule"), log("two", "changed meanwhile")],
    ),
    "compaction-compaction": Scenario(
        mine=(compact("rule"),),
        theirs=(compact("their rule", now=NOW),),
        expected=[principle("rule"), principle("their rule")],
    ),
    "overlapping-compactions": Scenario(
        mine=(compact("rule", "one", "two", "three"),),
        theirs=(compact("their rule", "two", "three", "four"), save("five")),
        expected=[principle("rule"), principle("their rule"), log("five")],
    ),
    "same-principle": Scenario(
        mine=(compact("rule", "one", "two", "three"), save("five")),
        theirs=(compact("rule", "two", "four", now=LATEST), save("six")),
        expected=[principle("rule"), log("five"), log("six")],
    ),
    "same-compaction": Scenario(
        mine=(compact("rule"),), theirs=(compact("rule", now=LATEST),), expected=[principle("rule")]
    ),
    "second-generation": Scenario(
        mine=(compact("rule", "one", "two"), save("seven"), compact("newer rule")),
        theirs=(save("five"),),
        expected=[principle("newer rule"), log("five")],
    ),
    "two-generations": Scenario(
        mine=(compact("rule"), save("seven"), compact("newer rule")),
        theirs=(compact("rule", now=LATEST), save("five")),
        expected=[principle("newer rule"), principle("rule"), log("five")],
    ),
    "update-of-a-compacted-principle": Scenario(
        mine=(compact("rule", "one", "two", now=NOW), compact("newer rule", now=NOW)),
        theirs=(save("two", "theirs", LATER), save("five")),
        expected=[principle("newer rule"), log("two", "theirs"), log("five")],
    ),
    "update-then-compaction": Scenario(
        mine=(save("two", "mine", LATER), compact("rule", now=LATEST)),
        theirs=(save("five"),),
        expected=[principle("rule"), log("five")],
    ),
    "update-then-compactions": Scenario(
        mine=(compact("rule"),),
        theirs=(save("two", "theirs", LATER), compact("their rule")),
        expected=[principle("rule"), principle("their rule")],
    ),
    "gap-again-append": Scenario(
        mine=(compact("rule"), save("two", "once more", LATEST)),
        theirs=(save("five"),),
        expected=[principle("rule"), log("two", "once more"), log("five")],
    ),
    "gap-again-by-a-slow-clock": Scenario(
        mine=(compact("rule", now=EARLIER), save("two", "once more", EARLIER)),
        theirs=(save("five"),),
        expected=[principle("rule"), log("two", "once more"), log("five")],
    ),
    "gap-again-twice": Scenario(
        mine=(compact("rule"), save("two", "once more", LATER)),
        theirs=(compact("their rule"), save("two", NEWER, LATEST)),
        expected=[
            *(principle("rule"), principle("their rule")),
            *(log("two", "once more"), log("two", NEWER)),
        ],
    ),
    "same-deletion": Scenario(
        mine=(delete("four"), save("five")),
        theirs=(delete("four"), save("six")),
        expected=[log("one"), log("two"), log("three"), log("five"), log("six")],
    ),
}

UNION = "union"
MARKERS = {
    UNION: [],
    "merge": ["<<<<<<<", "=======", ">>>>>>>"],
    "diff3": ["<<<<<<<", "|||||||", "=======", ">>>>>>>"],
    "zdiff3": ["<<<<<<<", "|||||||", "=======", ">>>>>>>"],
}
STYLES = (UNION, *conflict_styles())


@dataclass
class Pair:
    """Both clones after their edits.

    Each has the other's commit in its branch `other`, and one more save of the other in `later`.
    """

    mine: Path
    theirs: Path


def merge(clone: Path, style: str) -> tuple[Path, bool]:
    return clone, ended_in_conflict(clone, *style_of(style), "merge", "--quiet", "other")


def rebase(clone: Path, style: str) -> tuple[Path, bool]:
    return clone, ended_in_conflict(clone, *style_of(style), "rebase", "--quiet", "other")


def cherry_pick(clone: Path, style: str) -> tuple[Path, bool]:
    return clone, ended_in_conflict(clone, *style_of(style), "cherry-pick", "other")


def stash_pop(clone: Path, style: str) -> tuple[Path, bool]:
    git(clone, "reset", "--quiet", "--soft", "main~1")
    git(clone, "stash", "push", "--quiet")
    git(clone, "merge", "--quiet", "--ff-only", "other")
    return clone, ended_in_conflict(clone, *style_of(style), "stash", "pop", "--quiet")


def merge_in_a_worktree(clone: Path, style: str) -> tuple[Path, bool]:
    tree = clone.parent / "tree"
    git(clone, "worktree", "add", "--quiet", "-b", "tree", str(tree), "other")
    return tree, ended_in_conflict(tree, *style_of(style), "merge", "--quiet", "main")


def style_of(style: str) -> list[str]:
    return ["-c", f"merge.conflictStyle={'merge' if style == UNION else style}"]


Join = Callable[[Path, str], tuple[Path, bool]]
JOINS: dict[str, Join] = {
    "merge": merge,
    "merge-into-theirs": merge,
    "rebase": rebase,
    "cherry-pick": cherry_pick,
    "stash-pop": stash_pop,
    "worktree": merge_in_a_worktree,
}


@dataclass
class Joined:
    """One cell of the matrix: what was shown after the join, the next save and a second join."""

    scenario: Scenario
    clone: Path
    join: Join
    style: str

    @cached_property
    def at_first(self) -> tuple[Path, list[Shown]]:
        folder, conflict = self.join(self.clone, self.style)
        assert conflict == (self.scenario.clash and self.style != UNION)
        assert markers(folder) == (MARKERS[self.style] if conflict else [])
        return folder, shown(folder)

    @cached_property
    def after_a_save(self) -> list[Shown]:
        folder, _ = self.at_first
        save("nine", now=LATEST)(folder)
        return shown(folder)

    @cached_property
    def after_joining_again(self) -> list[Shown]:
        """All is committed, and the other side went on from its own commit meanwhile."""
        assert self.after_a_save
        folder, _ = self.at_first
        finish(folder)
        ended_in_conflict(folder, *style_of(self.style), "merge", "--quiet", "later")
        return shown(folder)


def finish(clone: Path) -> None:
    """Commit everything as it stands, conflict markers too, and end a rebase that waits for it."""
    if (clone / ".git" / "rebase-merge").is_dir():
        git(clone, "add", "--all")
        git(clone, "rebase", "--continue")
    else:
        git(clone, "commit", "--quiet", "--all", "--message", "joined")


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bool], Pair]:
    """Both clones of a scenario before they are joined, with the union merge or without it."""
    folder = tmp_path_factory.mktemp("edited")
    bases: dict[tuple[bool, bool], Path] = {}
    pairs: dict[tuple[str, bool], Pair] = {}

    def base(first: bool, union: bool) -> Path:
        if (first, union) not in bases:
            bases[first, union] = new_project(
                folder / f"base-{first}-{union}",
                *(() if first else NUMBERS),
                attributes=None if union else WITHOUT_UNION,
            )
        return bases[first, union]

    def pair(name: str, union: bool) -> Pair:
        if (name, union) not in pairs:
            scenario, clones = SCENARIOS[name], folder / f"{name}-{union}"
            made = Pair(clones / "mine", clones / "theirs")
            for clone, edits in ((made.mine, scenario.mine), (made.theirs, scenario.theirs)):
                copied(base(scenario.first, union), clone)
                for edit in edits:
                    edit(clone)
                commit(clone)
                git(clone, "branch", "own")
                save("ten", now=LATEST)(clone)
                git(clone, "commit", "--quiet", "--all", "--message", "later")
                git(clone, "branch", "own-later")
                git(clone, "reset", "--quiet", "--hard", "own")
            for clone, other in ((made.mine, made.theirs), (made.theirs, made.mine)):
                lend_branches(other, clone, other="own", later="own-later")
            pairs[name, union] = made
        return pairs[name, union]

    return pair


USUAL = ("append-append", "same-known-gap", "compaction-append", "compaction-compaction")
JOINED_IN_EVERY_WAY = ("same-known-gap", "compaction-append")


def is_usual(name: str, join: str, style: str) -> bool:
    """Whether this way of joining belongs to every run."""
    if name in USUAL and join == "merge":
        return style in STYLES[:2]
    return style == UNION and (join == "merge" or name in JOINED_IN_EVERY_WAY)


CELLS = [
    pytest.param(
        (name, join, style),
        id=f"{name}-{join}-{style}",
        marks=() if is_usual(name, join, style) else pytest.mark.long,
    )
    for name, scenario in SCENARIOS.items()
    for join in JOINS
    for style in (STYLES if scenario.clash else STYLES[:2])
]


@pytest.fixture(scope="module", params=CELLS)
def joined(
    request: pytest.FixtureRequest,
    edited: Callable[[str, bool], Pair],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Joined]:
    name, join, style = request.param
    folder = tmp_path_factory.mktemp("joined")
    pair = edited(name, style == UNION)
    clone = copied(pair.theirs if join == "merge-into-theirs" else pair.mine, folder / "clone")
    yield Joined(SCENARIOS[name], clone, JOINS[join], style)
    shutil.rmtree(folder)


@pytest.mark.row("P11")
def test_a_join_shows_the_records_of_both_sides_once(joined: Joined) -> None:
    _, after = joined.at_first
    assert after == sorted(joined.scenario.expected)


def test_a_save_after_a_join_changes_nothing_else(joined: Joined) -> None:
    _, before = joined.at_first
    assert joined.after_a_save == sorted([*before, log("nine")])


@pytest.mark.long  # it costs much
@pytest.mark.row("P11")
def test_joining_again_after_a_commit_brings_nothing_back(joined: Joined) -> None:
    assert joined.after_joining_again == sorted(
        [*joined.scenario.expected, log("nine"), log("ten")]
    )


@pytest.mark.long  # it costs much
@pytest.mark.row("P11")
@pytest.mark.parametrize("name", SCENARIOS)
def test_two_clones_that_each_merge_the_other_show_the_same_records(
    name: str, edited: Callable[[str, bool], Pair], tmp_path: Path
) -> None:
    pair = edited(name, True)
    mine, theirs = copied(pair.mine, tmp_path / "mine"), copied(pair.theirs, tmp_path / "theirs")
    git(mine, "merge", "--quiet", "other")
    git(theirs, "merge", "--quiet", "other")
    assert records_by_id(mine) == records_by_id(theirs)


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Two clones of a project with the gaps one to four."""
    new_project(tmp_path / "origin", *NUMBERS)
    for name in ("mine", "theirs"):
        copied(tmp_path / "origin", tmp_path / name)
    return tmp_path / "mine", tmp_path / "theirs"


@pytest.mark.row("001 8.d", "P8")
def test_the_lock_and_temporary_files_are_not_offered_to_git(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    (mine / ".context" / ".memory_log.jsonl.0123456789abcdef.tmp").write_bytes(b"half")
    store_of(mine).upsert_log(a_draft("five"))
    tracked = git(mine, "ls-files", ".context").split()
    assert tracked == [
        ".context/.gitattributes",
        ".context/.gitignore",
        ".context/memory_log.jsonl",
    ]
    changed = git(mine, "status", "--short", "--untracked-files=all").split()
    assert changed == ["M", ".context/memory_log.jsonl"]


@pytest.mark.row("001 3-3.j")
def test_one_new_record_is_one_added_line(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    store_of(mine).upsert_log(a_draft("five"))
    assert git(mine, "diff", "--numstat").split()[:2] == ["1", "0"]


@pytest.mark.long  # it costs much
@pytest.mark.row("001 1-1.b", "001 1-3.b")
def test_both_sides_of_two_appends_are_there_after_a_pull(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    store_of(mine).upsert_log(a_draft("five"))
    store_of(theirs).upsert_log(a_draft("six"))
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    pull(theirs, mine)
    assert gaps(mine) == gaps(theirs) == ["five", "four", "one", "six", "three", "two"]


@pytest.mark.long  # it costs much
def test_the_same_gap_in_other_words_on_both_sides_is_shown_twice_until_a_save(
    clones: tuple[Path, Path],
) -> None:
    mine, theirs = clones
    store_of(mine, NOW).upsert_log(a_draft("two", lesson="mine, older"))
    store_of(theirs, LATER).upsert_log(a_draft("two", lesson="theirs, newer"))
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    assert gaps(mine) == ["four", "one", "three", "two", "two"]
    versions = [record for record in store_of(mine).read_all() if record.missing_context == "two"]
    assert {record.lesson for record in versions} == {"mine, older", "theirs, newer"}
    store_of(mine, LATEST).upsert_log(a_draft("two", lesson="both"))
    commit(mine)
    pull(theirs, mine)
    for clone in (mine, theirs):
        [two] = [record for record in store_of(clone).read_all() if record.missing_context == "two"]
        assert two.lesson == "both"


@pytest.mark.long  # it costs much
def test_a_compaction_keeps_what_a_colleague_added_and_changed(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    compact("rule")(mine)
    store_of(theirs, LATER).upsert_log(a_draft("two", lesson="changed meanwhile"))
    store_of(theirs, LATER).upsert_log(a_draft("five"))
    commit(mine)
    commit(theirs)
    pull(theirs, mine)
    pull(mine, theirs)
    assert gaps(mine) == gaps(theirs) == ["five", "rule", "two"]
    store_of(theirs).upsert_log(a_draft("six"))
    assert path_of(theirs).read_bytes().count(b"\n") == 4


@pytest.mark.long  # it costs much
def test_two_compactions_of_the_same_records_bring_no_original_back(
    clones: tuple[Path, Path],
) -> None:
    mine, theirs = clones
    compact("rule")(mine)
    store_of(theirs).upsert_log(a_principle("their rule"), tokens_of(theirs))
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    assert gaps(mine) == ["rule", "their rule"]


@pytest.mark.long  # it costs much
def test_a_principle_that_both_sides_saved_keeps_the_originals_of_both(
    clones: tuple[Path, Path],
) -> None:
    mine, theirs = clones
    originals = tokens_of(mine)
    compact("rule", "one", "two")(mine)
    compact("rule", "three", "four", now=LATEST)(theirs)
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    save("five")(mine)
    [rule, _] = store_of(mine).read_all()
    assert (sorted(rule.source_ids), rule.source_count) == (sorted(originals), 4)


@pytest.mark.long  # it costs much
def test_a_save_changes_nothing_else_where_one_of_two_versions_was_replaced(
    clones: tuple[Path, Path],
) -> None:
    mine, theirs = clones
    compact("rule", "two")(mine)
    compact("rule", "one", now=LATEST)(theirs)
    commit(mine)
    commit(theirs)
    third = copied(theirs, theirs.parent / "third")
    save("five")(third)
    compact("newer rule", "rule", now=LATEST)(theirs)
    commit(third)
    commit(theirs)
    pull(mine, third)
    pull(mine, theirs)
    before = shown(mine)
    save("nine")(mine)
    assert shown(mine) == sorted([*before, log("nine")])


@pytest.mark.long
def test_three_clones_in_a_ring_end_with_the_same_records(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    third = copied(mine, mine.parent / "third")
    compact("rule", "one", "two", "three")(mine)
    save("five")(theirs)
    save("two", "changed meanwhile", LATER)(theirs)
    compact("third rule", "three", "four")(third)
    save("six")(third)
    ring = (mine, theirs, third)
    for clone in ring:
        commit(clone)
    for _ in range(2):
        for at, clone in enumerate(ring):
            pull(clone, ring[at - 1])
            save(f"round {clone.name}")(clone)
            commit(clone)
    pull(mine, third)
    pull(theirs, mine)
    pull(third, theirs)
    assert records_by_id(mine) == records_by_id(theirs) == records_by_id(third)
    assert shown(mine) == sorted(
        [
            *(principle("rule"), principle("third rule"), log("two", "changed meanwhile")),
            *(log(gap) for gap in ("five", "six", "round mine", "round theirs", "round third")),
        ]
    )


def resolve(clone: Path) -> None:
    """Keep both sides of every conflict, as a person would."""
    data = re.sub(rb"(?ms)^\|{7} .*?(?=^={7}$)", b"", path_of(clone).read_bytes())
    path_of(clone).write_bytes(re.sub(rb"(?m)^(<{7} .*|={7}|>{7} .*)\n", b"", data))
    assert markers(clone) == []


@pytest.mark.long
@pytest.mark.parametrize("resolved", [True, False], ids=["resolved", "markers-committed"])
@pytest.mark.parametrize("style", STYLES)
def test_a_criss_cross_merge_shows_the_records_of_both_sides_once(
    tmp_path: Path, style: str, resolved: bool
) -> None:
    attributes = None if style == UNION else WITHOUT_UNION
    mine = new_project(tmp_path / "mine", *NUMBERS, attributes=attributes)
    theirs = copied(mine, tmp_path / "theirs")
    for clone, rule, gap in ((mine, "rule", "five"), (theirs, "their rule", "six")):
        compact(rule)(clone)
        save(gap)(clone)
        commit(clone)
    git(mine, "fetch", "--quiet", str(theirs), "main:other")
    git(theirs, "fetch", "--quiet", str(mine), "main:other")
    for clone, gap in ((mine, "seven"), (theirs, "eight")):
        ended_in_conflict(clone, *style_of(style), "merge", "--quiet", "other")
        if resolved:
            resolve(clone)
        save(gap)(clone)
        commit(clone)
    git(mine, "fetch", "--quiet", str(theirs), "main")
    assert len(git(mine, "merge-base", "--all", "main", "FETCH_HEAD").split()) == 2
    conflict = ended_in_conflict(mine, *style_of(style), "merge", "--quiet", "FETCH_HEAD")
    assert conflict == (style != UNION)
    rules = [principle("rule"), principle("their rule")]
    expected = sorted([*rules, *(log(gap) for gap in ("five", "six", "seven", "eight"))])
    assert shown(mine) == expected
    save("nine")(mine)
    assert shown(mine) == sorted([*expected, log("nine")])


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES)
def test_a_rebase_of_several_commits_keeps_every_save(tmp_path: Path, style: str) -> None:
    attributes = None if style == UNION else WITHOUT_UNION
    mine = new_project(tmp_path / "mine", *NUMBERS, attributes=attributes)
    git(mine, "branch", "other")
    for edit in (save("five"), compact("rule"), save("two", "once more", LATEST)):
        edit(mine)
        commit(mine)
    git(mine, "switch", "--quiet", "other")
    for edit in (save("six"), save("three", "changed meanwhile", LATER)):
        edit(mine)
        commit(mine)
    git(mine, "switch", "--quiet", "main")
    stopped = ended_in_conflict(mine, *style_of(style), "rebase", "--quiet", "other")
    assert stopped == (style != UNION)
    while stopped:
        git(mine, "add", "--all")
        stopped = ended_in_conflict(mine, *style_of(style), "rebase", "--continue")
    assert shown(mine) == sorted(
        [
            *(principle("rule"), log("six")),
            *(log("two", "once more"), log("three", "changed meanwhile")),
        ]
    )


def test_the_checkout_of_a_windows_clone_keeps_the_line_ends(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    git(mine.parent, "clone", "--quiet", "--config", "core.autocrlf=true", "origin", "windows")
    assert path_of(mine.parent / "windows").read_bytes() == path_of(mine).read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("attributes", [None, "", "memory_log.jsonl merge=union\n"])
@pytest.mark.parametrize("style", STYLES[1:])
def test_a_clone_with_carriage_returns_joins_like_any_other(
    tmp_path: Path, attributes: str | None, style: str
) -> None:
    origin = new_project(tmp_path / "origin", *NUMBERS, attributes=attributes)
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", "origin", "windows")
    windows, crlf = tmp_path / "windows", attributes is not None
    assert (b"\r\n" in path_of(windows).read_bytes()) == crlf
    compact("rule", "two", "three", "four")(windows)
    save("five")(windows)
    commit(windows)
    delete("one")(origin)
    save("two", "changed meanwhile", LATER)(origin)
    save("six")(origin)
    commit(origin)
    pulled = ("pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
    conflict = ended_in_conflict(windows, *style_of(style), *pulled)
    assert conflict == (attributes == "")
    expected = [principle("rule"), log("two", "changed meanwhile"), log("five"), log("six")]
    assert [record for record in shown(windows) if record != log("one")] == sorted(expected)
    commit(windows)
    pull(origin, windows)
    assert records_by_id(origin) == records_by_id(windows)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("style", STYLES)
def test_a_base_section_is_no_record_where_lines_end_in_carriage_returns(
    tmp_path: Path, style: str
) -> None:
    attributes = "" if style != UNION else "memory_log.jsonl merge=union\n"
    origin = new_project(tmp_path / "origin", *NUMBERS, attributes=attributes)
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", "origin", "windows")
    windows = tmp_path / "windows"
    for clone, gap in ((windows, "five"), (origin, "six")):
        delete("four")(clone)
        save(gap)(clone)
        commit(clone)
    pulled = ("pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main")
    assert ended_in_conflict(windows, *style_of(style), *pulled) == (style != UNION)
    assert gaps(windows) == ["five", "one", "six", "three", "two"]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("style", "torn"),
    [
        pytest.param(
            style, torn, marks=() if style == UNION or torn == "both" else pytest.mark.long
        )
        for style in STYLES
        for torn in ("mine", "theirs", "both")
    ],
)
def test_a_last_line_without_a_newline_stays_a_line_of_its_own(
    tmp_path: Path, style: str, torn: str
) -> None:
    attributes = None if style == UNION else WITHOUT_UNION
    mine = new_project(tmp_path / "mine", *NUMBERS, attributes=attributes)
    theirs = copied(mine, tmp_path / "theirs")
    for clone, gap in ((mine, "five"), (theirs, "six")):
        save(gap)(clone)
        if torn in (clone.name, "both"):
            path_of(clone).write_bytes(path_of(clone).read_bytes().removesuffix(b"\n"))
        commit(clone)
    git(mine, "fetch", "--quiet", str(theirs), "main:other")
    conflict = ended_in_conflict(mine, *style_of(style), "merge", "--quiet", "other")
    assert conflict == (style != UNION)
    assert gaps(mine) == ["five", "four", "one", "six", "three", "two"]
    save("nine")(mine)
    assert gaps(mine) == ["five", "four", "nine", "one", "six", "three", "two"]


@pytest.mark.long  # it costs much
def test_a_removed_newline_at_the_end_does_not_hide_a_new_record(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    path_of(mine).write_bytes(path_of(mine).read_bytes().removesuffix(b"\n"))
    commit(mine)
    save("five")(theirs)
    commit(theirs)
    pull(mine, theirs)
    pull(theirs, mine)
    assert gaps(mine) == gaps(theirs) == ["five", "four", "one", "three", "two"]


@pytest.fixture
def without_attributes(clones: tuple[Path, Path]) -> tuple[Path, Path]:
    """A clone that compacted, and one that appended and has its attributes no more."""
    mine, theirs = clones
    compact("rule")(mine)
    commit(mine)
    (theirs / ".context" / ".gitattributes").unlink()
    save("five")(theirs)
    git(theirs, "commit", "--quiet", "--all", "--message", "memory")
    git(mine, "fetch", "--quiet", str(theirs), "main:other")
    git(theirs, "fetch", "--quiet", str(mine), "main:other")
    return clones


@pytest.mark.long  # it costs much
def test_a_clone_with_its_attributes_merges_a_branch_without_them(
    without_attributes: tuple[Path, Path],
) -> None:
    mine, _ = without_attributes
    git(mine, "merge", "--quiet", "other")
    assert gaps(mine) == ["five", "rule"]


@pytest.mark.long  # it costs much
def test_a_clone_without_attributes_shows_both_sides_of_the_conflict(
    without_attributes: tuple[Path, Path],
) -> None:
    _, theirs = without_attributes
    assert ended_in_conflict(theirs, "merge", "--quiet", "other")
    assert gaps(theirs) == ["five", "rule"]


@pytest.mark.long  # it costs much
def test_a_merge_after_the_attributes_were_deleted_shows_both_sides(
    without_attributes: tuple[Path, Path],
) -> None:
    mine, theirs = without_attributes
    git(mine, "merge", "--quiet", "other")
    save("six")(mine)
    commit(mine)
    save("seven")(theirs)
    commit(theirs)
    git(mine, "fetch", "--quiet", str(theirs), "main")
    ended_in_conflict(mine, "merge", "--quiet", "FETCH_HEAD")
    assert gaps(mine) == ["five", "rule", "seven", "six"]


def test_the_attributes_are_those_of_the_server(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    assert (mine / ".context" / ".gitattributes").read_text(encoding="ascii") == GITATTRIBUTES


def test_a_switch_of_the_branch_shows_at_the_next_read(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    store = store_of(mine)
    git(mine, "switch", "--quiet", "--create", "side")
    compact("rule")(mine)
    commit(mine)
    assert [record.key_text for record in store.read_all()] == ["rule"]
    git(mine, "switch", "--quiet", "main")
    assert [record.key_text for record in store.read_all()] == list(NUMBERS)
    git(mine, "switch", "--quiet", "side")
    assert [record.key_text for record in store.read_all()] == ["rule"]


def test_a_revert_of_a_compaction_gives_the_originals_back(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    before = store_of(mine).read_all()
    compact("rule")(mine)
    commit(mine)
    git(mine, "revert", "--no-edit", "HEAD")
    assert store_of(mine).read_all() == before


@pytest.mark.long  # it costs much
def test_a_revert_of_a_compaction_reaches_the_other_clone(clones: tuple[Path, Path]) -> None:
    mine, theirs = clones
    before = store_of(mine).read_all()
    compact("rule")(mine)
    commit(mine)
    pull(theirs, mine)
    git(mine, "revert", "--no-edit", "HEAD")
    pull(theirs, mine)
    assert store_of(theirs).read_all() == before


def test_a_revert_of_a_compaction_loses_no_later_save(clones: tuple[Path, Path]) -> None:
    mine, _ = clones
    compact("rule")(mine)
    commit(mine)
    save("five")(mine)
    commit(mine)
    git(mine, "revert", "--no-edit", "HEAD~1")
    assert log("five") in shown(mine)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("style", STYLES)
def test_a_stashed_save_comes_back_beside_a_later_one(tmp_path: Path, style: str) -> None:
    attributes = None if style == UNION else WITHOUT_UNION
    mine = new_project(tmp_path / "mine", *NUMBERS, attributes=attributes)
    save("five")(mine)
    save("two", "stashed, newer", LATER)(mine)
    git(mine, "stash", "push", "--quiet")
    assert shown(mine) == sorted(ALL)
    save("six")(mine)
    save("two", "older")(mine)
    commit(mine)
    conflict = ended_in_conflict(mine, *style_of(style), "stash", "pop", "--quiet")
    assert conflict == (style != UNION)
    both = [log("two", "stashed, newer"), log("two", "older")]
    assert shown(mine) == sorted([*REST, *both, log("five"), log("six")])
    save("nine")(mine)
    assert gaps(mine) == sorted([*NUMBERS, "two", "five", "six", "nine"])


@pytest.mark.long  # it costs much
def test_a_log_and_a_principle_with_one_id_survive_a_merge_and_the_next_save(
    clones: tuple[Path, Path],
) -> None:
    mine, theirs = clones
    store_of(mine).upsert_log(a_draft("Sessions expire", lesson="refresh the token"))
    store_of(theirs).upsert_log(a_principle("Sessions expire"))
    commit(mine)
    commit(theirs)
    pull(mine, theirs)
    store_of(mine).upsert_log(a_draft("five"))
    wanted = [*ALL, log("Sessions expire", "refresh the token"), log("five")]
    assert shown(mine) == sorted([*wanted, principle("Sessions expire")])
