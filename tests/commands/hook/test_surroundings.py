"""Tests what hooks keep of a project: counts of words, in a file that may be lost or broken."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from commands.hook import surroundings
from commands.hook.surroundings import (
    FILE,
    MOST_ACTIONS,
    MOST_BYTES,
    MOST_HUNK_BYTES,
    MOST_HUNKS,
    MOST_OF_COMMIT,
    Known,
    changes_in,
    load,
    save,
)
from core.lessons.recall import Sample, Surroundings
from tests.support.client_events import claude, claude_edit
from tests.support.git_clones import commit, git, new_project, run_git
from tests.support.hook_desk import LESSON, LOGIN, REFUND, Desk

WORDS = Surroundings(
    changes=Sample(3, {"refund": 2}),
    actions=Sample(1, {"refund": 1}),
    anchors=Sample(2, {"a/**": 1}),
)


def broken(sample: object) -> bytes:
    """A file in which each sample is this."""
    return json.dumps({"log": "", **{name: sample for name in WORDS._fields}}).encode()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A project with a history of twenty commits, of which each changes an approver."""
    desk = Desk(tmp_path / "shop", tmp_path / "elsewhere")
    git(desk.root, "init", "-q", "-b", "main")
    for number in range(20):
        (desk.root / "src").mkdir(exist_ok=True)
        (desk.root / "src" / "a.py").write_text(f"approver({number})\npassword = 'hunter2'\n")
        git(desk.root, "add", "-A")
        git(desk.root, "commit", "-qm", f"Change {number}")
    desk.write(REFUND, LOGIN)
    return desk


def kept(desk: Desk) -> tuple[Path, Known]:
    (path,) = desk.state.rglob(FILE)
    return path, load(str(path.parent))


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    directory = str(tmp_path / "state" / "shop")
    save(directory, Known("log", WORDS))
    assert load(directory) == Known("log", WORDS)
    save(directory, load(directory).with_action({"refund", "approver"}))
    assert load(directory).around.actions == Sample(2, {"refund": 2, "approver": 1})
    assert [it.name for it in Path(directory).iterdir()] == [FILE]


@pytest.mark.parametrize(
    "held",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"log": 1}',
        b'{"log": "", "changes": [1, {"a": 2}]}',
        broken([1, {"a": "1"}]),
        broken([1, {"a": 2}]),
        broken([-1, {}]),
        broken([True, {}]),
        b"[" * MOST_BYTES,
        b" " * (MOST_BYTES + 1),
    ],
)
def test_a_broken_file_is_an_empty_one(tmp_path: Path, held: bytes) -> None:
    (tmp_path / FILE).write_bytes(held)
    assert load(str(tmp_path)) == Known()


def test_without_a_place_for_it_nothing_is_kept(tmp_path: Path) -> None:
    assert not save("", Known("log", WORDS))
    assert load("") == Known()
    (tmp_path / "file").write_text("")
    assert not save(str(tmp_path / "file"), Known("log", WORDS))
    assert load(str(tmp_path / "file")) == Known()


@pytest.mark.long  # it costs much
def test_the_file_does_not_grow_without_end(tmp_path: Path) -> None:
    known = Known("log", Surroundings(actions=Sample(MOST_ACTIONS, {"a": MOST_ACTIONS, "b": 1})))
    assert known.with_action({"c"}).around.actions == Sample(
        MOST_ACTIONS // 2 + 1, {"a": MOST_ACTIONS // 2, "c": 1}
    )
    many = {f"word{number}": number % 50 for number in range(200_000)}
    save(str(tmp_path), Known("log", Surroundings(changes=Sample(50, many))))
    assert (tmp_path / FILE).stat().st_size < MOST_BYTES / 5
    assert load(str(tmp_path)).around.changes.counts["word49"] == 49


@pytest.mark.long  # it costs much
def test_the_first_hook_reads_the_project_and_keeps_only_words_of_the_log(desk: Desk) -> None:
    assert desk.edit().text == LESSON
    path, known = kept(desk)
    assert known.around.changes.size == 20 - 1
    assert known.around.changes.counts["approver"] == 20 - 1
    assert known.around.names == Sample(1, {})
    assert known.around.actions.counts["refund"] == 1
    assert b"hunter" not in path.read_bytes()
    assert path.stat().st_mode & 0o77 == 0


@pytest.mark.long  # it costs much
def test_the_project_is_read_anew_when_the_log_has_changed(desk: Desk) -> None:
    desk.edit()
    path, known = kept(desk)
    save(str(path.parent), known._replace(around=WORDS))
    desk.edit("src/b.py")
    assert kept(desk)[1].around.changes == WORDS.changes
    desk.write(REFUND)
    given = claude("SessionStart", desk.root, source="startup")
    desk.hook("claude-code", "session-start", given)
    assert kept(desk)[1].around.changes.size == 20 - 1
    assert kept(desk)[1].around.actions.size == 2


@pytest.mark.long  # it costs much
def test_what_all_changes_have_is_no_reason_to_show_a_lesson(desk: Desk) -> None:
    desk.write(replace(REFUND, paths=()), LOGIN)

    def shown(session: str) -> str:
        text = "approver(refund_above=500)"
        given = claude_edit(desk.root, "src/b.py", new=text, session_id=session)
        return desk.hook("claude-code", "before-action", given).text

    assert shown("one") == LESSON
    assert shown("another") == ""


@pytest.mark.long  # it costs much
def test_a_broken_repository_and_a_full_state_hold_up_nothing(desk: Desk) -> None:
    (desk.root / ".git" / "HEAD").write_text("nonsense")
    desk.state.write_text("a file where a directory should be")
    ran = desk.edit()
    assert REFUND.lesson in json.loads(ran.out)["hookSpecificOutput"]["additionalContext"]
    assert (ran.code, len(ran.errors.splitlines())) == (0, 1)


@pytest.mark.long  # it costs much
def test_what_a_file_already_holds_is_not_written_anew(desk: Desk) -> None:
    path = desk.root / "src" / "b.py"
    lines = [f"value_{number} = {number}" for number in range(300)]
    path.write_text("\n".join(["approver(refund_above=500)", *lines]), encoding="utf-8")
    desk.write(replace(REFUND, paths=(), when=("refund_above=",)), LOGIN)

    def write(*lines: str) -> str:
        written = {"file_path": str(path), "content": "\n".join(lines)}
        given = claude("PreToolUse", desk.root, tool_name="Write", tool_input=written)
        return desk.hook("claude-code", "before-action", given).text

    assert write(*lines, "approver(refund_above=500)", "x = 1") == ""
    assert write(*lines, "approver(refund_above=800)") == LESSON


# What git tells of the last commits.


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "project", "VAT differs by country")


def changed(project: Path, subject: str, **files: str) -> None:
    """A commit that gives these files these texts; `__` in a name stands for a dot."""
    for name, text in files.items():
        (project / name.replace("__", ".")).write_text(text, encoding="utf-8", newline="\n")
    commit(project, subject)


def hunks(project: Path) -> list[tuple[str, str, str]]:
    """Of each change: the file, what came and what went."""
    return [(it.paths[0], it.text, it.removed) for it in changes_in(str(project))]


def test_each_hunk_has_its_lines_before_and_after_the_change(project: Path) -> None:
    lines = [f"line {at}\n" for at in range(30)]
    changed(project, "begin", pay__py="".join(lines))
    whole = "".join(lines).rstrip("\n")
    lines[2], lines[25] = "second\n", "--- late\n"
    changed(project, "Fix: both", pay__py="".join(lines).rstrip("\n"))
    assert hunks(project) == [
        ("pay.py", "second", "line 2"),
        ("pay.py", "--- late\nline 29", "line 25\nline 29"),
        ("pay.py", whole, ""),
    ]


def test_the_memory_a_rename_a_deletion_and_a_merge_are_no_work(project: Path) -> None:
    changed(project, "begin", old__py="one\ntwo\nthree\n")
    git(project, "checkout", "--quiet", "-b", "side")
    changed(project, "side", side__py="side\n")
    git(project, "checkout", "--quiet", "main")
    git(project, "mv", "old.py", "new.py")
    (project / ".context" / "memory_log.jsonl").write_text("{}\n")
    commit(project, "move")
    git(project, "rm", "--quiet", "README")
    commit(project, "remove")
    git(project, "merge", "--quiet", "--no-edit", "side")
    (project / "logo.png").write_bytes(bytes(range(256)))
    commit(project, "logo")
    assert sorted(path for path, *_ in hunks(project)) == ["old.py", "side.py"]


def test_a_name_may_hold_what_git_does_not_quote(project: Path) -> None:
    names = ["결제 모듈.py", "a b.py", "a+++ b.py"]
    for name in (*names, 'quote".py'):  # git would quote that one
        (project / name).write_text("x\n")
    commit(project, "names")
    assert sorted(path for path, *_ in hunks(project)) == sorted(names)


def test_a_project_below_the_top_has_its_own_files_by_their_names_there(project: Path) -> None:
    (project / "shop").mkdir()
    (project / "shop" / "pay.py").write_text("x\n")
    changed(project, "both", other__py="x\n")
    assert [path for path, *_ in hunks(project / "shop")] == ["pay.py"]


@pytest.mark.long  # it costs much
def test_settings_of_the_repository_do_not_change_what_is_read(project: Path) -> None:
    changed(project, "begin", pay__py="a\n\n\nb\n")
    changed(project, "change", pay__py="a\n\n\nc\n")
    before = hunks(project)
    for setting in (
        *("diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.suppressBlankEmpty=true"),
        *("diff.context=0", "diff.wordRegex=.", "color.ui=always", "log.date=relative"),
        *("log.abbrevCommit=true", "format.pretty=oneline", "log.decorate=full"),
        *("diff.submodule=log", "diff.renames=false", "diff.external=false"),
    ):
        git(project, "config", *setting.split("="))
    assert hunks(project) == before == [("pay.py", "c", "b"), ("pay.py", "a\n\n\nb", "")]


@pytest.mark.long  # it costs much
def test_of_what_is_huge_the_beginning_is_read(project: Path) -> None:
    changed(project, "many", **{f"f{at}__py": "x\n" for at in range(MOST_HUNKS + 20)})
    changed(project, "wide", f0__py="y" * 1_000_000 + "\n")
    changed(project, "long", f1__py="z" * 99 + "\n" + "z\n" * 200_000)
    changed(project, "after", f2__py="after\n")
    (after, long, wide), many = hunks(project)[:3], hunks(project)[3:]
    assert (after[1], len(many)) == ("after", MOST_OF_COMMIT)
    assert max(len(it[1]) for it in (long, wide)) <= MOST_HUNK_BYTES


def test_the_commit_at_which_a_shallow_clone_begins_is_not_taken_for_its_work(
    project: Path, tmp_path: Path
) -> None:
    for text in ("1\n", "2\n", "3\n"):
        changed(project, text, pay__py=text)
    git(tmp_path, "clone", "--quiet", "--depth=2", project.as_uri(), "cut")
    assert hunks(tmp_path / "cut") == [("pay.py", "3", "2")]


def test_a_git_that_does_not_end_is_not_waited_for(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "MOST_S", 0)
    assert changes_in(str(project)) == []


def test_without_a_commit_or_git_nothing_is_read(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    assert changes_in(str(tmp_path)) == []
    (tmp_path / ".git").rename(tmp_path / "git")
    assert changes_in(str(tmp_path)) == []
