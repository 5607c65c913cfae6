"""Tests the words of a project that hooks count, in a file that may be lost or broken."""

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
    Survey,
    changes_in,
    load_survey,
    save_survey,
)
from core.lessons.recall import Sample, Surroundings
from tests.support.client_events import LESSON, LOGIN, REFUND, Desk, claude
from tests.support.git_clones import commit, git, new_project, run_git

COUNTS = {"changes": (3, {"refund": 2}), "actions": (1, {"refund": 1}), "anchors": (2, {"a/**": 1})}
WORDS = Surroundings(**{name: Sample(*counts) for name, counts in COUNTS.items()})


def test_the_kept_surroundings_are_read_back_and_do_not_grow_without_end(tmp_path: Path) -> None:
    directory = str(tmp_path / "state" / "shop")
    save_survey(directory, Survey("log", WORDS))
    assert load_survey(directory) == Survey("log", WORDS)
    save_survey(directory, load_survey(directory).with_action({"refund", "approver"}))
    assert load_survey(directory).counts.actions == Sample(2, {"refund": 2, "approver": 1})
    assert [it.name for it in Path(directory).iterdir()] == [FILE]
    known = Survey("log", Surroundings(actions=Sample(MOST_ACTIONS, {"a": MOST_ACTIONS, "b": 1})))
    fewer = Sample(MOST_ACTIONS // 2 + 1, {"a": MOST_ACTIONS // 2, "c": 1})
    assert known.with_action({"c"}).counts.actions == fewer
    many = {f"word{number}": number % 50 for number in range(200_000)}
    save_survey(directory, Survey("log", Surroundings(changes=Sample(50, many))))
    assert Path(directory, FILE).stat().st_size < MOST_BYTES / 5
    assert load_survey(directory).counts.changes.counts["word49"] == 49


def test_a_broken_file_is_an_empty_one_and_without_a_place_nothing_is_kept(tmp_path: Path) -> None:
    odd = [
        json.dumps({"log": "", **{name: sample for name in WORDS._fields}}).encode()
        for sample in ([1, {"a": "1"}], [1, {"a": 2}], [-1, {}], [True, {}])
    ]
    odd += [b"", b"[]", b"\xff", b'{"log": 1}', b'{"log": "", "changes": [1, {"a": 2}]}']
    for held in (*odd, b"[" * MOST_BYTES, b" " * (MOST_BYTES + 1)):
        (tmp_path / FILE).write_bytes(held)
        assert load_survey(str(tmp_path)) == Survey(), held[:40]
    for place in ("", str(tmp_path / FILE)):
        assert not save_survey(place, Survey("log", WORDS))
        assert load_survey(place) == Survey()


# Hooks that use the counts.


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


@pytest.mark.long  # it costs much
def test_the_project_is_read_at_first_and_when_the_log_has_changed(desk: Desk) -> None:
    assert desk.edit().text == LESSON
    [path] = desk.state.rglob(FILE)
    known = load_survey(str(path.parent))
    assert known.counts.changes.size == known.counts.changes.counts["approver"] == 20 - 1
    assert (known.counts.names, known.counts.actions.counts["refund"]) == (Sample(1, {}), 1)
    assert b"hunter" not in path.read_bytes()
    assert path.stat().st_mode & 0o77 == 0
    save_survey(str(path.parent), known._replace(counts=WORDS))
    desk.edit("src/b.py")
    assert load_survey(str(path.parent)).counts.changes == WORDS.changes
    desk.write(REFUND)
    desk.start()
    around = load_survey(str(path.parent)).counts
    assert (around.changes.size, around.actions.size) == (20 - 1, 2)


@pytest.mark.long  # it costs much
def test_a_word_that_all_changes_have_or_a_file_holds_is_no_reason_for_a_lesson(desk: Desk) -> None:
    desk.write(replace(REFUND, paths=()), LOGIN)
    for session, text in (("one", LESSON), ("another", "")):
        ran = desk.edit("src/b.py", new="approver(refund_above=500)", session_id=session)
        assert ran.text == text
    path = desk.root / "src" / "b.py"
    lines = [f"value_{number} = {number}" for number in range(300)]
    path.write_text("\n".join(["approver(refund_above=500)", *lines]), encoding="utf-8")
    desk.write(replace(REFUND, paths=(), when=("refund_above=",)), LOGIN)
    for written, text in (("approver(refund_above=500)", ""), ("refund_above=800", LESSON)):
        content = "\n".join([*lines, written, "x = 1"])
        given = {"file_path": str(path), "content": content}
        more = {"tool_name": "Write", "tool_input": given, "session_id": "a third"}
        payload = claude("PreToolUse", desk.root, **more)
        assert desk.hook("claude-code", "before-action", payload).text == text


# The last commits, as git tells them.


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "project", "VAT differs by country")


def changed(project: Path, subject: str, **files: str) -> None:
    """A commit that gives these files these texts; `__` in a name stands for a dot."""
    for name, text in files.items():
        (project / name.replace("__", ".")).write_text(text, encoding="utf-8", newline="\n")
    commit(project, subject)


def hunks(project: Path) -> list[tuple[str, str, str]]:
    """Of each change: the file, the added text and the removed text."""
    return [(it.paths[0], it.text, it.removed) for it in changes_in(str(project))]


def test_each_hunk_has_its_lines_under_any_settings(project: Path, tmp_path: Path) -> None:
    lines = [f"line {at}\n" for at in range(30)]
    lines[3:5] = ["\n", "\n"]
    changed(project, "begin", pay__py="".join(lines))
    whole = "".join(lines).rstrip("\n")
    lines[2], lines[25] = "second\n", "--- late\n"
    changed(project, "Fix: both", pay__py="".join(lines).rstrip("\n"))
    expected = [
        ("pay.py", "second", "line 2"),
        ("pay.py", "--- late\nline 29", "line 25\nline 29"),
        ("pay.py", whole, ""),
    ]
    assert hunks(project) == expected
    for setting in (
        *("diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.suppressBlankEmpty=true"),
        *("diff.context=0", "diff.wordRegex=.", "color.ui=always", "log.date=relative"),
        *("log.abbrevCommit=true", "format.pretty=oneline", "log.decorate=full"),
        *("diff.submodule=log", "diff.renames=false", "diff.external=false"),
    ):
        git(project, "config", *setting.split("="))
    assert hunks(project) == expected
    changed(project, "after", pay__py="3\n")
    git(tmp_path, "clone", "--quiet", "--depth=2", project.as_uri(), "cut")
    of_clone = hunks(tmp_path / "cut")  # whose first commit is not taken for its work
    assert [text for _, text, _ in of_clone] == ["3"]


def test_the_memory_a_rename_a_deletion_a_merge_and_no_text_are_no_work(project: Path) -> None:
    changed(project, "begin", old__py="one\ntwo\nthree\n")
    git(project, "checkout", "--quiet", "-b", "side")
    (project / "shop").mkdir()
    changed(project, "side", **{"shop/결제 a": "side\n", 'shop/quote"__py': "git would quote it\n"})
    git(project, "checkout", "--quiet", "main")
    git(project, "mv", "old.py", "new.py")
    (project / ".context" / "memory_log.jsonl").write_text("{}\n")
    commit(project, "move")
    git(project, "rm", "--quiet", "README")
    commit(project, "remove")
    git(project, "merge", "--quiet", "--no-edit", "side")
    (project / "logo.png").write_bytes(bytes(range(256)))
    commit(project, "logo")
    assert sorted(path for path, *_ in hunks(project)) == ["old.py", "shop/결제 a"]
    assert [path for path, *_ in hunks(project / "shop")] == ["결제 a"]  # below the top


@pytest.mark.long  # it costs much
def test_of_a_huge_change_the_beginning_is_read(project: Path) -> None:
    changed(project, "many", **{f"f{at}__py": "x\n" for at in range(MOST_HUNKS + 20)})
    changed(project, "wide", f0__py="y" * 1_000_000 + "\n")
    changed(project, "long", f1__py="z" * 99 + "\n" + "z\n" * 200_000)
    changed(project, "after", f2__py="after\n")
    (after, long, wide), many = hunks(project)[:3], hunks(project)[3:]
    assert (after[1], len(many)) == ("after", MOST_OF_COMMIT)
    assert max(len(it[1]) for it in (long, wide)) <= MOST_HUNK_BYTES


def test_without_time_a_commit_or_git_nothing_is_read(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git(tmp_path, "init", "--quiet")
    assert hunks(tmp_path) == []
    (tmp_path / ".git").rename(tmp_path / "git")
    assert hunks(tmp_path) == []
    monkeypatch.setattr(surroundings, "MOST_S", 0)
    assert hunks(project) == []
