"""Tests what git knows of the records of a log, in real repositories.

Long histories are made with `git fast-import`: one process for any number of commits.
"""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.lessons import changes
from core.lessons.git.errors import HistoryError
from core.lessons.git.lineage import (
    Lineage,
    lineage_of,
)
from core.lessons.git.old_logs import OldLogs
from core.lessons.git.versions import History
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from tests.support.git_clones import (
    WITHOUT_UNION,
    commit,
    compact,
    copied,
    delete,
    ended_in_conflict,
    git,
    new_project,
    now_of,
    path_of,
    pull,
    save,
    store_of,
)
from tests.support.samples import LATER, NOW, a_draft, a_principle, a_record

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

LATEST = "2026-03-03T09:00:00+00:00"
START_S = 1_772_355_600
ONE, TWO, THREE, FOUR = (a_record(gap) for gap in ("one", "two", "three", "four"))


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of whoever runs the tests."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two gaps in a commit."""
    return new_project(tmp_path / "shop", "one", "two")


@dataclass(frozen=True, kw_only=True)
class Made:
    """A commit to be made: the file after it (None: no file), and its parents by their numbers."""

    data: bytes | None
    parents: tuple[int, ...] = ()
    at_s: int = START_S
    made_s: int | None = None


def imported(folder: Path, commits: Sequence[Made]) -> Path:
    """A repository with these commits, their subjects numbered from 0, the last one checked out."""
    folder.mkdir()
    git(folder, "init", "--quiet")
    stream = []
    for number, made in enumerate(commits):
        made_s = made.at_s if made.made_s is None else made.made_s
        subject = str(number)
        parents = [f"{'merge' if at else 'from'} :{it + 1}" for at, it in enumerate(made.parents)]
        head = [
            *(["reset refs/heads/main", ""] if not parents else []),
            *("commit refs/heads/main", f"mark :{number + 1}"),
            f"author test <test@example.invalid> {made.at_s} +0000",
            f"committer test <test@example.invalid> {made_s} +0000",
            *(f"data {len(subject)}", subject, *parents, "deleteall"),
        ]
        stream.append("\n".join(head).encode("ascii") + b"\n")
        if made.data is not None:
            stream.append(b"M 100644 inline .context/memory_log.jsonl\n")
            stream.append(b"data %d\n%s\n" % (len(made.data), made.data))
    done = subprocess.run(
        ["git", "fast-import", "--quiet", "--date-format=raw"],
        cwd=folder,
        input=b"".join(stream),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    git(folder, "reset", "--quiet", "--hard", "main")
    return folder


def lines(*records: Record) -> bytes:
    return b"".join(record.to_line() for record in records)


def commit_as(project: Path, subject: str, author: str = "test", date: str = NOW) -> None:
    commit(project, subject, "--author", f"{author} <someone@example.invalid>", "--date", date)


def log_of(project: Path) -> MemoryLog:
    path = path_of(project)
    return MemoryLog.parse(path.read_bytes() if path.exists() else b"")


def lineage(project: Path) -> Lineage:
    return lineage_of(path_of(project), log_of(project))


def added(project: Path) -> dict[str, str]:
    """By id, the subject of the commit that first brought a record."""
    return {name: commit.subject for name, commit in lineage(project).added.items()}


def saved(project: Path) -> dict[str, str]:
    """By token, the subject of the commit that first brought a version."""
    return {token: commit.subject for token, commit in lineage(project).saved.items()}


def test_each_version_names_the_commit_that_brought_it(project: Path) -> None:
    save("three")(project)
    commit_as(project, "세 번째", "김철수", "2026-03-05T10:11:12+09:00")
    save("three", "changed", LATER)(project)
    commit_as(project, "change three", "Zoë", "2026-03-06T00:00:00+00:00")
    changed = now_of(project, THREE.id)
    told = lineage(project)
    first, newest = told.saved[THREE.token], told.saved[changed.token]
    assert told.added[THREE.id] == first
    assert (first.author, first.date, first.subject) == (
        *("김철수", "2026-03-05T10:11:12+09:00", "세 번째"),
    )
    assert (newest.author, newest.subject) == ("Zoë", "change three")
    assert [first.id, newest.id] == git(project, "log", "-2", "--reverse", "--format=%H").split()


def test_git_is_asked_no_longer_than_wanted(project: Path) -> None:
    with pytest.raises(HistoryError) as found:
        lineage_of(path_of(project), log_of(project), deadline_s=time.monotonic())
    assert found.value.key == "git_slow"
    history = History(path_of(project), log_of(project), deadline_s=time.monotonic() + 60)
    with OldLogs(history.repository) as logs:
        [commit, *_] = history.commits.matching()
        history.repository.git.deadline_s = time.monotonic()
        with pytest.raises(HistoryError, match=r"did not answer within [0-9]+ s"):
            logs.content(commit.changes[0].after)


@pytest.mark.long  # it costs much
def test_an_author_in_another_encoding_is_read(project: Path) -> None:
    git(project, "config", "i18n.commitEncoding", "EUC-KR")
    save("three")(project)
    git(project, "add", "--all")
    subject, author = project / "subject", "김철수".encode("euc-kr")
    subject.write_bytes("결제".encode("euc-kr"))
    environment = {**os.environb, b"GIT_AUTHOR_NAME": author} if os.name != "nt" else None
    if environment is None:
        pytest.skip("the environment is Unicode there")
    names = (b"GIT_AUTHOR_EMAIL", b"GIT_COMMITTER_NAME", b"GIT_COMMITTER_EMAIL")
    subprocess.run(
        ["git", "commit", "--quiet", "--file", str(subject)],
        cwd=project,
        env={**environment, **dict.fromkeys(names, b"test")},
        check=True,
    )
    three = lineage(project).added[THREE.id]
    assert (three.author, three.subject) == ("김철수", "결제")


def test_an_amended_commit_is_named_as_it_is_now(project: Path) -> None:
    save("three")(project)
    commit_as(project, "first words")
    git(project, "commit", "--quiet", "--amend", "--message", "better words")
    assert added(project)[THREE.id] == "better words"


@pytest.mark.long  # it costs much
def test_a_record_that_was_removed_and_came_back_names_its_first_commit(project: Path) -> None:
    delete("two")(project)
    commit_as(project, "delete")
    save("two")(project)
    commit_as(project, "again")
    assert (added(project)[TWO.id], saved(project)[TWO.token]) == ("memory", "memory")


def test_what_is_not_committed_has_no_commit(project: Path) -> None:
    save("two", "changed", LATER)(project)
    save("three")(project)
    told = lineage(project)
    assert told.added.keys() == {ONE.id, TWO.id}
    assert told.saved.keys() == {ONE.token, TWO.token}
    assert told.notes == ()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("change", [{"topic": "tax"}, {"missing_context": "two, in other words"}])
@pytest.mark.parametrize("is_committed", [True, False])
def test_a_record_under_another_id_still_names_who_brought_it(
    project: Path, change: dict[str, Any], is_committed: bool
) -> None:
    save("three")(project)
    commit_as(project, "bring three", "web")
    record = now_of(project, THREE.id)
    changed = store_of(project, LATER).renew({record.token: replace(record, **change)}, join=False)
    if is_committed:
        commit_as(project, "change three", "platform")
    now = changed.renewals[0].after
    told = lineage(project)
    assert now.id != THREE.id
    assert told.added[now.id].author == "web"
    assert [told.saved[it].author for it in (now.token,) if it in told.saved] == (
        ["platform"] if is_committed else []
    )


def test_records_that_became_one_name_the_older_commit(project: Path) -> None:
    store_of(project, LATER).upsert_log(a_draft("one", topic="tax"))
    commit_as(project, "the same gap under another topic", "platform")
    records = [it for it in store_of(project).read_all() if it.topic == "payment"]
    changed = {it.token: replace(it, topic="tax") for it in records}
    store_of(project, LATEST).renew(changed, join=True)
    commit_as(project, "rename the topic", "platform")
    joined = next(it for it in store_of(project).read_all() if it.missing_context == "one")
    assert added(project)[joined.id] == "memory"


def test_a_changed_principle_names_who_brought_it_and_not_its_originals(project: Path) -> None:
    compact("rule", "one", "two")(project)
    commit_as(project, "compact", "web")
    [rule] = store_of(project).read_all()
    changed = {rule.token: replace(rule, lesson="a better rule")}
    done = store_of(project, LATEST).renew(changed, join=False)
    commit_as(project, "say it better", "platform")
    assert added(project)[done.renewals[0].after.id] == "compact"


def test_a_moved_line_and_other_spacing_are_no_new_version(project: Path) -> None:
    path = path_of(project)
    path.write_bytes(TWO.to_line() + ONE.to_line().replace(b'": "', b'" :  "'))
    commit_as(project, "by hand")
    assert saved(project) == {ONE.token: "memory", TWO.token: "memory"}


@pytest.mark.long  # it costs much
def test_a_merge_leaves_each_record_with_the_side_that_brought_it(
    project: Path, tmp_path: Path
) -> None:
    other = copied(project, tmp_path / "other")
    save("three")(other)
    commit_as(other, "theirs")
    save("four")(project)
    commit_as(project, "mine")
    pull(project, other)
    assert git(project, "log", "-1", "--format=%p").count(" ") == 1
    assert added(project) == {
        **{ONE.id: "memory", TWO.id: "memory"},
        **{THREE.id: "theirs", FOUR.id: "mine"},
    }


@pytest.mark.long  # it costs much
def test_what_only_a_merge_by_hand_brought_names_the_merge(tmp_path: Path) -> None:
    project = new_project(tmp_path / "shop", "one", attributes=WITHOUT_UNION)
    other = copied(project, tmp_path / "other")
    save("two", "theirs")(other)
    commit_as(other, "theirs")
    save("two", "mine")(project)
    commit_as(project, "mine")
    git(project, "fetch", "--quiet", str(other), "main")
    assert ended_in_conflict(project, "merge", "--quiet", "FETCH_HEAD")
    both = replace(TWO, lesson="both")
    path_of(project).write_bytes(lines(ONE, both, THREE))
    commit_as(project, "joined")
    assert saved(project) == {
        **{ONE.token: "memory", both.token: "joined", THREE.token: "joined"},
        **{replace(TWO, lesson=side).token: side for side in ("theirs", "mine")},
    }
    assert lineage(project).added[TWO.id].subject in ("theirs", "mine")


@pytest.mark.long  # it costs much
def test_a_version_that_a_reader_put_together_has_no_commit(project: Path, tmp_path: Path) -> None:
    other = copied(project, tmp_path / "other")
    save("two", "the same words", LATEST)(other)
    commit_as(other, "theirs")
    save("two", "the same words", LATER)(project)
    commit_as(project, "mine")
    pull(project, other)
    together = now_of(project, TWO.id)
    assert together.token not in log_tokens(project)
    told = lineage(project)
    assert together.token not in told.saved
    assert told.added[TWO.id].subject == "memory"


def log_tokens(project: Path) -> set[str]:
    """The tokens of the lines of the file, each as it stands."""
    return {record.token for _, record in log_of(project).all_records()}


def test_conflict_markers_in_a_commit_hide_no_record(project: Path) -> None:
    marked = [b"<<<<<<< mine\n", lines(THREE), b"||||||| base\n", lines(TWO), b"=======\n"]
    path_of(project).write_bytes(lines(ONE) + b"".join(marked) + lines(FOUR) + b">>>>>>> theirs\n")
    commit_as(project, "conflict")
    told = lineage(project)
    assert [told.added[it.id].subject for it in (TWO, THREE, FOUR)] == [
        *("memory", "conflict", "conflict")
    ]


def test_the_lineage_goes_on_before_the_log_was_moved(project: Path) -> None:
    (project / "packages").mkdir()
    git(project, "mv", ".context", "packages/.context")
    commit_as(project, "move")
    moved = project / "packages"
    save("three")(moved)
    commit_as(moved, "after")
    told = lineage(moved)
    assert {name: commit.subject for name, commit in told.added.items()} == {
        **{ONE.id: "memory", TWO.id: "memory", THREE.id: "after"}
    }


@pytest.mark.long  # it costs much
def test_a_shallow_clone_names_its_oldest_commit_and_says_so(project: Path, tmp_path: Path) -> None:
    save("three")(project)
    commit_as(project, "newer")
    git(tmp_path, "clone", "--quiet", "--depth=1", project.as_uri(), "shallow")
    shallow = tmp_path / "shallow"
    assert lineage(shallow).notes == ("cut",)
    assert added(shallow) == {ONE.id: "newer", TWO.id: "newer", THREE.id: "newer"}


@pytest.mark.parametrize(("ignored", "note"), [("", "not_committed"), (".context/\n", "ignored")])
def test_a_log_that_git_does_not_have_has_an_empty_lineage(
    tmp_path: Path, ignored: str, note: str
) -> None:
    project = new_project(tmp_path / "shop")
    (project / ".gitignore").write_text(ignored, encoding="ascii")
    save("one")(project)
    assert lineage(project) == Lineage(notes=(note,))


def test_a_branch_without_commits_has_no_lineage_of_its_own(project: Path) -> None:
    git(project, "switch", "--quiet", "--orphan", "new")
    told = lineage(project)
    assert (told.added, told.notes) == ({}, ())


def test_a_log_that_is_not_there_has_its_past(project: Path) -> None:
    shutil.rmtree(project / ".context")
    assert added(project) == {ONE.id: "memory", TWO.id: "memory"}


@pytest.mark.parametrize(("repository", "key"), [(False, "no_repository"), (True, "no_commits")])
def test_without_history_there_is_a_sentence(tmp_path: Path, repository: bool, key: str) -> None:
    if repository:
        git(tmp_path, "init", "--quiet")
    save("one")(tmp_path)
    with pytest.raises(HistoryError) as refusal:
        lineage(tmp_path)
    assert refusal.value.key == key


@pytest.mark.skipif(os.name == "nt", reason="git is found there in any case")
def test_without_git_there_is_a_sentence(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(HistoryError) as refusal:
        lineage(project)
    assert refusal.value.key == "no_git"


def test_a_damaged_object_ends_in_a_sentence(project: Path) -> None:
    blob = git(project, "rev-parse", "HEAD:.context/memory_log.jsonl").strip()
    (project / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(HistoryError) as refusal:
        lineage(project)
    assert refusal.value.facts == {"reason": f"cat-file {blob[:10]}"}


HOSTILE = {
    "a huge line": b'{"id": "' + b"x" * 300_000 + b'"}\n',
    "NUL bytes": b"\0\0\0\n",
    "not UTF-8": b"\xff\xfe{\n",
    "half of a record": ONE.to_line()[:40] + b"\n",
    "deep nesting": b"[" * 100_000 + b"\n",
    "a line of a diff": b"@@ -1 +1 @@\n+++ b/memory_log.jsonl\n",
    "carriage returns": b"\r\r\r\n",
    "an array": b"[1, 2]\n",
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "names", [[*HOSTILE], *(pytest.param([name], marks=pytest.mark.long) for name in HOSTILE)]
)
def test_lines_that_are_no_records_take_no_commit_from_others(
    tmp_path: Path, names: list[str]
) -> None:
    bad = b"".join(HOSTILE[name] for name in names)
    commits = [
        Made(data=lines(ONE) + bad),
        Made(data=lines(ONE) + bad + bad + lines(TWO), parents=(0,)),
        Made(data=bad + lines(ONE, TWO), parents=(1,)),
    ]
    project = imported(tmp_path / "shop", commits)
    assert saved(project) == {ONE.token: "0", TWO.token: "1"}


def test_line_ends_and_marks_of_editors_make_no_new_version(tmp_path: Path) -> None:
    two = replace(TWO, lesson="split\u2028here\u0085and\rthere")
    plain = lines(ONE, two)
    commits = [
        Made(data=plain.rstrip(b"\n")),
        Made(data=plain.replace(b"\n", b"\r\n"), parents=(0,)),
        Made(data=b"\xef\xbb\xbf" + plain, parents=(1,)),
        Made(data=b"\xef\xbb\xbf" + plain + b"\xef\xbb\xbf" + lines(THREE), parents=(2,)),
    ]
    project = imported(tmp_path / "shop", commits)
    assert saved(project) == {ONE.token: "0", two.token: "0"}


def test_programs_that_a_repository_names_are_not_started(project: Path) -> None:
    trap = project.parent / "trap"
    for name in ("diff.external", "core.pager", "core.fsmonitor", "diff.x.textconv", "gpg.program"):
        git(project, "config", name, f"touch '{trap.as_posix()}'; cat")
    git(project, "config", "log.showSignature", "true")
    (project / ".gitattributes").write_text("*.jsonl diff=x\n", encoding="ascii")
    assert len(lineage(project).added) == 2
    assert not trap.exists()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("setting", ["log.follow=true", "log.diffMerges=off", "log.date=relative"])
def test_settings_of_a_user_change_nothing(project: Path, tmp_path: Path, setting: str) -> None:
    other = copied(project, tmp_path / "other")
    save("three")(other)
    commit_as(other, "theirs")
    save("four")(project)
    commit_as(project, "mine")
    pull(project, other)
    before = lineage(project)
    git(project, "config", *setting.split("="))
    assert lineage(project) == before


def random_history(seed: int) -> list[Made]:
    """Branches in which gaps are saved, changed, deleted, compacted and joined in several ways."""
    chance = random.Random(seed)
    logs = [MemoryLog()]
    commits = [Made(data=b"")]
    for number in range(1, 30):
        parents = [chance.choice([number - 1, max(0, number - chance.randrange(1, 5))])]
        log = logs[parents[0]]
        other = chance.randrange(max(0, number - 6), number)
        if chance.random() < 0.35 and other not in parents:
            parents.append(other)
            log = MemoryLog.parse(b"".join(dict.fromkeys((*log.lines, *logs[other].lines))))
        if len(parents) == 1 or chance.random() < 0.4:
            log = edited(log, number, chance)
        logs.append(log)
        at_s = START_S + 60 * number + chance.choice((0, 0, -600))
        commits.append(Made(data=log.to_bytes(), parents=tuple(parents), at_s=at_s))
    return commits


def edited(log: MemoryLog, number: int, chance: random.Random) -> MemoryLog:
    now = f"2026-03-01T09:{number:02}:00+00:00"
    kind = chance.choice(("save", "save", "save", "save", "delete", "compact", "lost", "by hand"))
    if kind == "by hand":
        changed = log.to_bytes().replace(b"lesson 1", b"lesson 2", chance.randrange(3))
        return MemoryLog.parse(changed.replace(b"\n", b"\r\n", 1))
    if kind != "compact":
        gap = a_draft(f"gap {chance.randrange(6)}", lesson=f"lesson {chance.randrange(4)}")
        log = changes.upsert(log, gap, now=now)[0]
    tokens = [record.token for record in log.records]
    some = chance.sample(tokens, min(len(tokens), 2))
    if kind == "delete":
        return changes.delete(log, some[:1])[0]
    if kind == "save":
        return log
    return changes.upsert(log, a_principle(f"rule {chance.randrange(3)}"), some, now=now)[0]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_a_lineage_agrees_with_the_histories_of_its_records(tmp_path: Path, seed: int) -> None:
    commits = random_history(seed)
    project = imported(tmp_path / "shop", commits)
    git(project, "branch", "side", "main")
    git(project, "reset", "--quiet", "--hard", f"HEAD~{seed % 3}")
    told, history = lineage(project), History(path_of(project), log_of(project))
    order = git(project, "log", "--all", "--reflog", "--date-order", "--format=%H").split()
    brought = {
        name: [it.commit.id for it in history.versions({name}) if it.commit] for name in told.added
    }
    oldest = {name: max(commits, key=order.index) for name, commits in brought.items()}
    assert {name: commit.id for name, commit in told.added.items()} == oldest
