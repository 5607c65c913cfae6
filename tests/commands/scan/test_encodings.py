"""Tests that a scan finds a secret in every encoding, and fails where it cannot look."""

import io
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


@pytest.fixture
def scan(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one scan."""
    (project / ".context").mkdir()
    return partial(Run.of, capsys, "scan")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_looked_at_in_every_encoding(
    scan: Command, project: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FILES[kind]
    write(project, data)
    for arguments in ([], [LOG], ["."], ["--json"]):
        found = scan(*arguments)
        assert (found.code, found.errors) == (1, ""), arguments
        assert "github-token" in found.out
    (project / "notes.txt").write_bytes(data)
    if kind != "UTF-32":  # git and editors take it for binary, too
        assert scan("notes.txt").code == 1
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert scan("-").code == 1


@pytest.mark.long  # it costs much
@needs_git
@pytest.mark.parametrize("kind", one_in(3, FILES))
def test_the_history_and_a_report_are_looked_at_in_every_encoding(
    capsys: pytest.CaptureFixture[str], scan: Command, project: Path, kind: str
) -> None:
    git(project, "init", "--quiet")
    for version in (FIRST, FILES[kind]):
        write(project, version)
        commit(project)
    told = Run.of(capsys, "report", "HEAD~1..HEAD")
    assert (told.code, "github-token" in told.out) == (1, True)
    write(project, FIRST)
    commit(project)
    assert scan().code == 0
    found = scan("--history")
    assert (found.code, f" {LOG}:" in found.out) == (1, True)


def test_a_mark_before_utf_8_takes_no_record_and_no_secret_from_anybody(
    scan: Command, project: Path
) -> None:
    for kind in ("FF FE before UTF-8", "FE FF before UTF-8", "an odd length"):
        log = MemoryLog.parse(FILES[kind])
        assert (log.records, log.skipped) == ([FIRST, BAD], 0)
        assert not begins_like_utf_16(FILES[kind])
        assert ("bom", (1,)) in [(it.kind, it.lines) for it in examine(log, now=NOW) if it.fixable]
        mended = repair(FILES[kind]).data
        assert (mended[:1], MemoryLog.parse(mended).records) == (b"{", [FIRST, BAD])
        write(project, FILES[kind])
        assert scan("--redact", "--yes").code == 0
        assert TOKEN.encode() not in path_of(project).read_bytes()


def test_what_begins_like_utf_16_is_named_let_be_and_not_clean(
    scan: Command, project: Path
) -> None:
    for kind, finding in ROWS["what_begins_like_utf_16_is_named_and_let_be"]:
        data = FILES[kind]
        found = examine(MemoryLog.parse(data), now=NOW)
        assert [(it.kind, it.fixable) for it in found] == [(finding, False)]
        assert repair(data).data == data
    assert MemoryLog.parse(FILES["FF FE, a NUL and UTF-8"]).records == [FIRST, BAD]
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):  # without a secret
        write(project, FIRST.to_line().decode().encode(encoding))
        done = scan()
        said = f"{LOG}: cannot be read (it begins like UTF-16, and the memory is UTF-8"
        assert (done.code, done.errors[: len(said)]) == (2, said)
        assert (scan(LOG).code, scan("--redact", "--yes").code) == (2, 2)


def test_one_encoding_is_read_once() -> None:
    assert readings(UTF_8) == readings(FILES["UTF-8 with a mark"]) == [UTF_8]
    for kind in ("UTF-16 LE", "UTF-16 BE", "UTF-16 LE with a mark", "UTF-16 BE with a mark"):
        assert readings(FILES[kind]) == [UTF_8]
    chinese = "支付模块的税率表必须先检查: a.b.c\n" * 400
    assert readings(chinese.encode("utf-16")) == [chinese.encode()]
