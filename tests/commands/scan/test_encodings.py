"""Tests that a scan finds a secret in every encoding, and fails where it cannot look."""

import errno
import io
import os
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from commands.suspicions import readings
from core.lessons.log import MemoryLog, begins_like_utf_16
from core.lessons.upkeep import examine, repair
from tests.support.cli_process import TOKEN, Command
from tests.support.cli_process import DiscreetRun as Run
from tests.support.costly import one_in
from tests.support.git_clones import commit, git, path_of, write
from tests.support.samples import NOW, a_record
from tests.support.tables import table

ROWS = table("commands/encodings")

LOG = ".context/memory_log.jsonl"
FIRST, BAD = a_record("첫 번째 격차"), a_record("배포 키는 " + TOKEN)
TEXT = (FIRST.to_line() + BAD.to_line()).decode()
UTF_8 = TEXT.encode()

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def even(data: bytes, of: bytes) -> bytes:
    """Bytes that a program could take for UTF-16 altogether."""
    return data + of * (len(data) % 2)


FILES = {
    "UTF-8": UTF_8,
    "UTF-8 with a mark": b"\xef\xbb\xbf" + UTF_8,
    "FF FE before UTF-8": even(b"\xff\xfe" + UTF_8, b"\n"),
    "FE FF before UTF-8": even(b"\xfe\xff" + UTF_8, b"\n"),
    "FF FE on a line of its own": even(b"\xff\xfe\n" + UTF_8, b"\n"),
    "an odd length": b"\xff\xfe" + UTF_8 + b" " * (len(UTF_8) % 2 == 0),
    "FF FE, a NUL and UTF-8": even(b'\xff\xfe{\0"\0 \n' + UTF_8, b"\n"),
    "UTF-16 LE": TEXT.encode("utf-16-le"),
    "UTF-16 BE": TEXT.encode("utf-16-be"),
    "UTF-16 LE with a mark": ("\ufeff" + TEXT).encode("utf-16-le"),
    "UTF-16 BE with a mark": ("\ufeff" + TEXT).encode("utf-16-be"),
    "UTF-16 with the mark of the other": b"\xfe\xff" + TEXT.encode("utf-16-le"),
    "UTF-16 after a stray byte": b"x" + TEXT.encode("utf-16-le"),
    "UTF-16 cut off": ("\ufeff" + TEXT).encode("utf-16-le")[:-1],
    "UTF-16 before UTF-8": ("\ufeff" + FIRST.to_line().decode()).encode("utf-16") + BAD.to_line(),
    "UTF-8 before UTF-16": FIRST.to_line() + BAD.to_line().decode().encode("utf-16"),
    "UTF-8 with a NUL": b"\0\n" + UTF_8,
    "UTF-32": TEXT.encode("utf-32"),
}
each_file = pytest.mark.parametrize("data", FILES.values(), ids=FILES)
some_files = pytest.mark.parametrize("data", one_in(3, FILES.values()), ids=FILES)


@pytest.fixture
def scan(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one scan."""
    (project / ".context").mkdir()
    return partial(Run.of, capsys, "scan")


@pytest.mark.long  # it costs much
@each_file
def test_a_file_is_looked_at_in_every_encoding(
    scan: Command, project: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, data)
    for arguments in ([], [LOG], ["."], ["--json"]):
        found = scan(*arguments)
        assert (found.code, found.errors) == (1, ""), arguments
        assert "github-token" in found.out
    (project / "notes.txt").write_bytes(data)
    if data is not FILES["UTF-32"]:  # git and editors take it for binary, too
        assert scan("notes.txt").code == 1
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert scan("-").code == 1


@pytest.mark.long  # it costs much
@needs_git
@some_files
def test_the_history_and_a_report_are_looked_at_in_every_encoding(
    capsys: pytest.CaptureFixture[str], scan: Command, project: Path, data: bytes
) -> None:
    git(project, "init", "--quiet")
    for version in (FIRST, data):
        write(project, version)
        commit(project)
    told = Run.of(capsys, "report", "HEAD~1..HEAD")
    assert (told.code, "github-token" in told.out) == (1, True)
    write(project, FIRST)
    commit(project)
    assert scan().code == 0
    found = scan("--history")
    assert (found.code, f" {LOG}:" in found.out) == (1, True)


@pytest.mark.parametrize("kind", ["FF FE before UTF-8", "FE FF before UTF-8", "an odd length"])
def test_a_mark_before_utf_8_takes_no_record_from_readers(kind: str) -> None:
    data = FILES[kind]
    assert not begins_like_utf_16(data)
    log = MemoryLog.parse(data)
    assert (log.records, log.skipped) == ([FIRST, BAD], 0)
    assert ("bom", (1,)) in [(it.kind, it.lines) for it in examine(log, now=NOW) if it.fixable]
    mended = repair(data).data
    assert mended.startswith(b"{")
    assert MemoryLog.parse(mended).records == [FIRST, BAD]


@pytest.mark.parametrize(("kind", "finding"), ROWS["what_begins_like_utf_16_is_named_and_let_be"])
def test_what_begins_like_utf_16_is_named_and_let_be(kind: str, finding: str) -> None:
    data = FILES[kind]
    found = examine(MemoryLog.parse(data), now=NOW)
    assert [(it.kind, it.fixable) for it in found] == [(finding, False)]
    assert repair(data).data == data


def test_records_behind_a_beginning_of_utf_16_are_read() -> None:
    assert MemoryLog.parse(FILES["FF FE, a NUL and UTF-8"]).records == [FIRST, BAD]


def test_one_encoding_is_read_once() -> None:
    assert readings(UTF_8) == readings(FILES["UTF-8 with a mark"]) == [UTF_8]
    for kind in ("UTF-16 LE", "UTF-16 BE", "UTF-16 LE with a mark", "UTF-16 BE with a mark"):
        assert readings(FILES[kind]) == [UTF_8]
    chinese = "支付模块的税率表必须先检查: a.b.c\n" * 400
    assert readings(chinese.encode("utf-16")) == [chinese.encode()]


def test_a_redaction_of_a_log_behind_a_mark_leaves_no_secret(scan: Command, project: Path) -> None:
    write(project, FILES["FF FE before UTF-8"])
    assert scan("--redact", "--yes").code == 0
    assert TOKEN.encode() not in path_of(project).read_bytes()
    assert scan().code == 0


@needs_git
def test_a_tracked_file_in_a_folder_without_rights_is_a_failure(
    scan: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "init", "--quiet")
    for name in ("open.txt", "shut/a.txt"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("fine", encoding="utf-8")
    git(project, "add", "--all")
    lstat = os.lstat

    def refused(path: str) -> os.stat_result:
        if "shut" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return lstat(path)

    monkeypatch.setattr("commands.suspicions.os.lstat", refused)
    found = scan(".")
    assert (found.code, found.out) == (2, "Secrets: 0, warnings: 0, files: 1.\n")
    assert found.errors == os.path.join("shut", "a.txt") + ": cannot be read (Permission denied)\n"
