"""Tests `cli.py doctor` as people and CI run it, with real git, and what a repair leaves."""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from commands import doctor as module
from core.lessons.file import GITIGNORE
from core.lessons.record import Record
from core.store import MemoryStore
from rooms import lessons
from tests.commands.doctor.conftest import Desk, Run, tree_of
from tests.support.costly import one_in
from tests.support.git_clones import ended_in_conflict, git, install_hook
from tests.support.samples import a_record
from tests.support.tables import ROOT, table
from tests.support.tables import text_of as recorded

LONG_AGO, LATER = "2025-03-01T09:00:00+00:00", "2025-03-02T09:00:00+00:00"
ONE, TWO = a_record("one", now=LONG_AGO), a_record("두 번째", now=LONG_AGO)
NO_GIT = "No git repository: the memory is not shared and has no history."

pytestmark = pytest.mark.long  # each costs much
posix = pytest.mark.skipif(os.name == "nt", reason="permissions, links and pipes of POSIX")


def test_another_directory_and_a_narrow_terminal_change_what_is_said(healthy: Desk) -> None:
    named = healthy.doctor("--project", str(healthy.root), cwd=healthy.home)
    assert named.lines[1] == f"Project  {healthy.root} (from --project)"
    assert named.lines[4] == f"    python cli.py setup --project {shlex.quote(str(healthy.root))}"
    told = healthy.doctor("--json")
    assert list(told.told) == ["project", "source", "log", "findings", "fixed"]
    assert told.well("lessons_ok") == {"count": 1, "lines": 1, "bytes": healthy.log.stat().st_size}
    if os.name == "posix":  # what is well breaks between two parts
        place = healthy.place(COLUMNS="24", NO_COLOR="1")
        assert Run.at_terminal("doctor", **place).lines[:2] == ["✓ lessons 1", "✓ git merge=union"]


# What is in the file


LONG = a_record("long", lesson="가" * 400, now=LONG_AGO)
PRINCIPLE = replace(
    a_record("", lesson="all", type="principle", now=LATER), source_ids=(ONE.token,)
)
FLAWS = table("commands/doctor")["flaws"]  # the bytes of a log as Latin-1, and what is said of it
IN_THE_FILE: dict[str, tuple[list[bytes | Record], str]] = {
    **{case: ([text.encode("latin-1")], said) for case, (text, said) in FLAWS.items()},
    "unreadable, too deep": (
        [ONE, b"[" * 100_000 + b"\n"],
        FLAWS["unreadable, not JSON"][1].replace("not JSON", "JSON nested too deeply"),
    ),
}


@pytest.mark.parametrize("case", IN_THE_FILE)
def test_each_flaw_of_a_line_is_told_with_its_severity(bare: Desk, case: str) -> None:
    parts, said = IN_THE_FILE[case]
    bare.write(*parts)
    done = bare.doctor()
    width = len(said.split()[0])
    assert done.found == [said, f"{'note':<{width}}  {NO_GIT}"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_the_command_that_is_named_saves_a_utf_16_log_as_utf_8(bare: Desk, encoding: str) -> None:
    bare.write(ONE)
    data = bare.log.read_bytes()
    bare.log.write_bytes(data.decode().encode(encoding))
    [command] = re.findall(r"`(python3? -c .*)`", "\n".join(bare.doctor().found))
    program = shlex.split(command)[2]
    subprocess.run([sys.executable, "-c", program], cwd=bare.root, check=True)
    assert bare.log.read_bytes() == data


# What is around it


PERMISSIONS = {  # a place, its mode, the status, and how the finding begins
    "a log that cannot be written": (
        ".context/memory_log.jsonl", 0o444, 0, "note  {} cannot be written"),
    "a folder that cannot be written": (".context", 0o555, 0, "note  {} cannot be written"),
    "a log that cannot be read": (
        ".context/memory_log.jsonl", 0, 1, "error  The memory log {} cannot be read (Permission"),
    "a folder that cannot be entered": (".context", 0, 1, "error  The memory log {}/memory_log"),
    "a folder that cannot be listed": (".context", 0o311, 0, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", one_in(3, PERMISSIONS))
def test_no_right_to_read_is_an_error_to_write_a_note(
    healthy: Desk, bound: None, case: str
) -> None:
    place, mode, code, said = PERMISSIONS[case]
    path = healthy.root / place
    before = path.stat().st_mode
    path.chmod(mode)
    done = Run(*healthy.started("doctor"))
    path.chmod(before)
    said = said.format(path)
    assert (done.code, [it[: len(said)] for it in done.found]) == (code, [said] if said else [])


def test_a_network_disk_is_a_note(
    healthy: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(healthy.root).replace(" ", "\\040")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {place} nfs4 rw 0 0\n")
    monkeypatch.setattr(module, "MOUNTS", mounts)
    [found] = healthy.doctor().found
    assert found.startswith("note  The log is on a network file system (nfs4), where locks may not")


def test_a_lock_of_another_user_is_an_error(bare: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    bare.write(ONE)
    lock = bare.log.with_name(f"{bare.log.name}.lock")
    lock.touch()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != lock and real(path, mode))
    done = bare.doctor()
    assert done.code == 1
    assert any(line.startswith("error") and f"`rm -f {lock}`" in line for line in done.found)


# git


@pytest.fixture
def torn(project: Desk) -> Desk:
    """A repository in the middle of a merge that conflicts in the log."""
    project.companions(attributes="memory_log.jsonl text eol=lf\n")
    project.write(ONE)
    project.commit()
    git(project.root, "checkout", "--quiet", "-b", "theirs")
    project.write(ONE, PRINCIPLE)
    project.commit()
    git(project.root, "checkout", "--quiet", "main")
    project.write(ONE, TWO)
    project.commit()
    assert ended_in_conflict(project.root, "merge", "--quiet", "theirs")
    return project


def test_a_torn_log_is_told_alike_in_every_form_and_its_way_out_works(torn: Desk) -> None:
    """Looking, in whatever form, changes nothing and creates nothing."""
    torn.log.with_name(".memory_log.jsonl.0123456789abcdef.tmp").write_bytes(b"half")
    before = tree_of(torn.root)
    for options in ((), ("--json",), ("--fix", "--dry-run")):
        assert torn.doctor(*options).code == 1
    assert torn.doctor(SENTINEL_MEMORY_THRESHOLD="1").code == 1
    assert tree_of(torn.root) == before
    assert list(torn.home.iterdir()) == [torn.home / ".gemini"]
    text, told = torn.doctor(), torn.doctor("--json")
    for line, one in zip(text.found, told.findings, strict=True):
        assert line.startswith(one["severity"]) and line.endswith(one["text"])
    [conflict] = [it for it in told.findings if it["kind"] == "conflict"]
    assert conflict == {
        "kind": "conflict",
        "severity": "error",
        "lines": [2, 4, 6],
        "facts": {},
        "fixable": True,
        "text": (
            "git conflict markers. The records of both sides are read. Delete exactly these"
            " lines, or run --fix; then git add the file."
        ),
    }
    korean = torn.doctor(SENTINEL_MEMORY_LANG="ko")
    facts = {"root": torn.root, "principle": PRINCIPLE.id, "one": ONE.id}
    assert (korean.code, korean.out) == (1, recorded("commands/doctor.ko.txt", **facts))
    done = torn.doctor("--fix", "--yes", "--json")
    assert (done.code, done.kinds) == (1, [("unmerged", "error"), ("set_aside", "note")])
    torn.asides()[0].unlink()
    git(torn.root, "add", ".context/memory_log.jsonl", ".context/.gitattributes")
    git(torn.root, "commit", "--quiet", "--no-edit")
    assert torn.doctor().found == []
    before = tree_of(torn.root)
    assert torn.doctor("--fix", "--yes").lines[0] == "There was nothing to repair."
    assert tree_of(torn.root) == before
    ignored = torn.log.with_name(".gitignore")
    ignored.write_bytes(b"# ours\r\nscratch/\r\n")
    assert torn.doctor("--fix", "--yes").lines[0] == "Repaired (1):"
    assert ignored.read_bytes() == b"# ours\r\nscratch/\r\n" + GITIGNORE.encode()
    assert {record.id for record in MemoryStore(torn.log).read_all()} == {TWO.id, PRINCIPLE.id}


@posix
def test_a_git_that_refuses_to_answer_is_a_warning(healthy: Desk, tmp_path: Path) -> None:
    program = tmp_path / "programs" / "git"  # as it would be for another user
    program.parent.mkdir()
    as_another = 'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "$GIT" "$@"\n'
    program.write_text("#!/bin/sh\n" + as_another.replace("$GIT", str(shutil.which("git"))))
    program.chmod(0o755)
    done = healthy.doctor(PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert (done.code, done.found) == (
        1,
        [
            "warning  git does not answer here (detected dubious ownership in repository at"
            f" '{healthy.root}'), so nothing about git was checked. Make git status work in the"
            " project, then run this again."
        ],
    )


@posix
def test_as_a_hook_it_stops_only_a_commit_of_a_torn_log(healthy: Desk, tmp_path: Path) -> None:
    folder, report = healthy.root / "src", tmp_path / "report"
    folder.mkdir()
    (folder / "code").write_text("1\n")
    healthy.commit()
    command = shlex.join([sys.executable, str(ROOT / "cli.py"), "doctor"])
    install_hook(healthy.root, f"{command} >{shlex.quote(str(report))} 2>&1")
    names = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
    environment = healthy.environment(**dict.fromkeys(names, "t@example"))

    def commits(*options: str) -> bool:
        words = ("git", "commit", "--quiet", "--no-edit", "--message=code", *options)
        return Run.process(*words, cwd=folder, environment=environment).code == 0

    for at, options in enumerate(((), ("--all",), ("--", "code"))):
        (folder / "code").write_text(f"2{at}\n")
        git(folder, "add", "code")
        assert commits(*options)
        assert report.read_text().endswith("\nerrors: 0, warnings: 0, notes: 1\n")
    healthy.log.write_bytes(b"torn\n")
    git(healthy.root, "add", "--all")
    assert not commits()
    assert "✗ line 1: not a record: not JSON." in report.read_text()


# Repairs


ILL: list[bytes | Record] = [
    b"\xef\xbb\xbf",
    b"a note\r\n",
    b"\n",
    ONE.to_line().rstrip(b"\n") + TWO.to_line(),
    b"\xff\xfe\x00 binary\n",
    replace(a_record("edited", now=LONG_AGO), missing_context="by hand"),
    replace(LONG, seen=3),
    b"{torn",
]


@pytest.mark.row("P9")
@pytest.mark.parametrize("place", one_in(2, [".context", ".context/memory_log.jsonl"]))
def test_a_log_that_cannot_be_written_is_not_repaired(bare: Desk, bound: None, place: str) -> None:
    before = bare.write(*ILL)
    path = bare.root / place
    mode = path.stat().st_mode
    path.chmod(mode & ~0o222)
    done = Run(*bare.started("doctor", "--fix", "--yes"))
    path.chmod(mode)
    assert done.code == 1
    assert f"The memory log {bare.log} could not be written (Permission" in done.out + done.errors
    assert (bare.log.read_bytes(), bare.asides()) == (before, [])


@pytest.mark.row("P10")
def test_what_a_repair_takes_out_lies_beside_the_log_byte_for_byte(bare: Desk) -> None:
    """It says what it did and what is left."""
    before = bare.write(*ILL)
    bare.log.chmod(0o640)
    done = bare.doctor("--fix", "--yes")
    [aside] = bare.asides()
    assert (done.code, done.errors) == (1, "")
    facts = {"root": bare.root, "aside": aside}
    assert done.out == recorded("commands/doctor.repair.txt", **facts)
    assert os.name == "nt" or stat.S_IMODE(bare.log.stat().st_mode) == 0o640
    kept = aside.read_bytes().split(b"\n")
    for at in (0, 2, 3, 6):
        line = before.split(b"\n")[at].removeprefix(b"\xef\xbb\xbf")
        assert kept[kept.index(line) - 1].startswith(b"# line %d: " % (at + 1))
    assert bare.log.read_bytes() == b"".join(
        record.to_line()
        for record in (ONE, TWO, a_record("by hand", now=LONG_AGO), replace(LONG, seen=3))
    )


# Hostile input


HOSTILE = "\x1b[2J\n\x9b31m\u202eevil\u2028\x7f\ud800"


@pytest.mark.row("P13")
def test_nothing_of_a_record_reaches_the_terminal_as_a_command(bare: Desk) -> None:
    twice = f'"lesson": "", {json.dumps(HOSTILE)}: 1, {json.dumps(HOSTILE)}: 2, "lesson": '
    line = replace(ONE, id=HOSTILE).to_line().replace(b'"lesson": ', twice.encode())
    for options in ((), ("--json",), ("--fix", "--yes"), ("--fix", "--yes", "--json")):
        bare.write(line, b"\x1b[2J\x9b\n")
        done = bare.doctor(*options)
        assert done.errors == ""
        assert {char for char in done.out if not char.isprintable()} == {"\n"}
    keys = [one["facts"]["key"] for one in done.told["fixed"] if one["kind"] == "key_twice"]
    assert keys == ["lesson", HOSTILE]


def test_secrets_of_large_logs_are_for_scan(bare: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lessons, "MOST_SECRETS_BYTES", 1)
    bare.write(ONE)
    assert bare.doctor().found[0] == (
        "note  The log is too large to look for secrets here. `python cli.py scan` does."
    )


def test_random_bytes_are_told_in_a_few_lines_and_kept_by_a_repair(bare: Desk) -> None:
    data = bare.write(Random(1).randbytes(30_000))
    done = bare.doctor()
    assert (done.code, len(done.found) < 10) == (1, True)
    assert bare.doctor("--fix", "--yes").code == 0
    [aside] = bare.asides()
    kept = aside.read_bytes()
    assert all(line.rstrip(b"\r") in kept for line in data.split(b"\n"))
