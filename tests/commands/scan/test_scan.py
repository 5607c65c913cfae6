"""Tests the findings and the output of `cli.py scan`, as people, pre-commit and CI run it."""

import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from commands import suspicions
from commands.suspicions import readings_of
from core.lessons.log import MemoryLog, begins_like_utf_16
from core.lessons.upkeep import CheckedLines, check_lines, examine, repair
from tests.support import git_clones
from tests.support.cli_process import TOKEN, Command
from tests.support.cli_process import DiscreetRun as Run
from tests.support.costly import one_in
from tests.support.samples import NOW, a_record
from tests.support.tables import ROOT, table

SAFE, BAD = a_record("plain"), a_record("the key is " + TOKEN)
LOG = ".context/memory_log.jsonl"


@pytest.fixture
def project(project: Path) -> Path:
    (project / ".context").mkdir()
    return project


@pytest.fixture
def scan(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    return partial(Run.of, capsys, "scan")


def test_only_a_line_feed_ends_a_line_and_standard_input_is_named_so(
    scan: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"one\r\ntwo\x0c\u2028\x85\x0b three\n{TOKEN}\r\nfour {TOKEN}".encode()
    (project / "a.txt").write_bytes(text)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    for name, printed in (("a.txt", "a.txt"), ("-", "<stdin>")):
        lines = [f"{printed}:{line}: github-token" for line in (3, 4)]
        assert scan(name).lines == [*lines, "Secrets: 2, warnings: 0, files: 1."]
    monkeypatch.setattr("sys.stdin", None)
    assert scan("-").errors == "<stdin>: cannot be read (closed)\n"


def test_no_name_of_a_file_harms_whoever_reads_it(scan: Command, project: Path) -> None:
    odd, command = os.fsdecode(b"odd\xff\x1b[31m.txt"), "::error title=x::y"
    for name in (odd, command):
        (project / name).write_text(TOKEN, encoding="utf-8")
    (project / f"{TOKEN}.txt").write_bytes(b"\0")
    assert scan(odd, command, f"{TOKEN}.txt").lines[:3] == [
        "odd\ufffd\ufffd[31m.txt:1: github-token",
        "./::error title=x::y:1: github-token",
        "(a name that contains a secret): skipped, a binary file",
    ]
    assert "\x1b" not in scan(odd, "--json").out


@pytest.mark.long  # it costs much
def test_a_file_that_nobody_may_read_is_said(project: Path) -> None:
    for name in ("a.txt", "closed.txt"):
        (project / name).write_text(TOKEN, encoding="utf-8")
    (project / "closed.txt").chmod(0)
    done = Run.started("scan", "closed.txt", "a.txt")
    assert (done.code, done.lines[0]) == (2, "a.txt:1: github-token")
    assert done.errors == "closed.txt: cannot be read (Permission denied)\n"
    assert Run.started("scan", "closed.txt").code == 2
    (project / "shut").mkdir()
    (project / "shut/a.txt").write_text("fine", encoding="utf-8")
    git_clones.git(project, "init", "--quiet")
    git_clones.git(project, "add", "shut")  # a tracked file in a folder without rights
    (project / "shut").chmod(0)
    try:
        done = Run.started("scan", ".")
    finally:
        (project / "shut").chmod(0o755)
    assert (done.code, done.lines[0]) == (2, "Secrets: 0, warnings: 0, files: 0.")
    assert done.errors == "shut/a.txt: cannot be read (Permission denied)\n"
    git_clones.write(project, BAD)  # in a checkout that is only read
    git_clones.path_of(project).parent.chmod(0o555)
    try:
        assert Run.started("scan").code == 1
        done = Run.started("scan", "--redact", "--yes")
    finally:
        git_clones.path_of(project).parent.chmod(0o755)
    assert (done.code, done.out) == (2, "")
    assert "could not be written (Permission denied)" in done.errors
    assert git_clones.path_of(project).read_bytes() == BAD.to_line()


@pytest.mark.long  # it costs much
def test_it_runs_with_the_standard_library_alone(project: Path) -> None:
    alone = partial(Run.started, "scan", options=["-S", "-E", "-s"])
    (project / "a.txt").write_text(TOKEN, encoding="utf-8")
    done = alone("a.txt")
    assert done == Run(1, "a.txt:1: github-token\nSecrets: 1, warnings: 0, files: 1.\n", "")
    git_clones.write(project, BAD)
    assert alone("--project", str(project)).code == 1
    git_clones.git(project, "init", "--quiet")
    done = Run.started("report", options=["-S", "-E", "-s"])
    assert (done.code, done.out.partition(",")[0]) == (1, "**Memory:** 1 possible secret")
    done = alone("--redact", "-y", "--project", str(project))
    assert (done.code, done.out) == (2, "") and "no fastmcp, filelock" in done.errors
    assert git_clones.path_of(project).read_bytes() == BAD.to_line()


# History.


def test_each_different_line_of_the_history_is_looked_at_once(
    scan: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def counted(log: MemoryLog) -> Iterator[CheckedLines]:
        looked.append(len(log.lines))
        return check_lines(log)

    monkeypatch.setattr(suspicions, "check_lines", counted)
    git_clones.git(project, "init", "--quiet")
    for records in ((SAFE,), (SAFE, BAD), (BAD, SAFE)):
        git_clones.write(project, *records)
        git_clones.commit(project)
    assert scan("--history").lines[-2] == "Secrets in the history: 1, versions of the log: 3."
    assert sum(looked) == 2


# The log.


def test_a_log_is_never_too_large_but_a_line_that_is_not_looked_at_is_a_failure(
    scan: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suspicions, "MOST_BYTES", 100)
    git_clones.write(project, SAFE, b"x" * 101)
    assert scan(LOG).code == 0
    monkeypatch.setattr(suspicions, "MOST_LOOKED_BYTES", 1_000)
    git_clones.write(project, b'{"missing_context": "' + b"x" * 1_000 + b'"}\n')
    git_clones.git(project, "init", "--quiet")
    git_clones.commit(project)
    for arguments in ([], [LOG], ["--history"]):
        done = scan(*arguments)
        assert (done.code, "line 1: only its first 1,000 bytes" in done.errors) == (2, True)


# The hooks of pre-commit, and the documents.


@pytest.mark.long  # it costs much
def test_a_commit_with_a_secret_is_refused_by_each_hook(project: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    parts = re.split(r"^- ", text, flags=re.M)[1:]
    offered = [dict(line.strip().split(": ", 1) for line in part.splitlines()) for part in parts]
    hooks = {hook["id"]: hook for hook in offered}
    text = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    assert re.findall(r"      - id: (sentinel-.+)", text) == [*hooks]
    assert re.findall(r"^- `(sentinel-[a-z-]+)`", text, re.M) == [*hooks]
    assert re.findall(r"^- (\d): ", text, re.M) == ["0", "1", "2"]
    assert [*hooks] == [f"sentinel-memory-{kind}" for kind in ("scan", "scan-all", "report")]
    assert {keys["language"] for keys in hooks.values()} == {"python"}
    scan, scan_all, report = hooks.values()
    assert scan["entry"] == scan_all["entry"] == "sentinel-memory scan"
    assert (report["pass_filenames"], report["verbose"]) == ("false", "true")
    paths = (LOG, f"app/{LOG}", "x.context/a.jsonl")
    for keys in (scan, report):
        matches = [path for path in paths if re.search(keys["files"], path)]
        assert matches == [LOG, f"app/{LOG}"]
    _, *options = shlex.split(report["entry"])
    cli = (sys.executable, str(ROOT / "cli.py"))
    added = "**Memory:** 1 lesson added."
    scripts = {
        f"exec {shlex.join([*cli, *options])}": (added, "1 possible secret"),
        f"git diff --cached --name-only -z | xargs -0 {shlex.join(cli)} scan": ("", "github-token"),
        f"{shlex.join(cli)} scan --staged": ("", f"{LOG}:2: github-token in missing_context of"),
    }
    git_clones.git(project, "init", "--quiet")
    path = project / ".git" / "hooks" / "pre-commit"
    path.parent.mkdir(exist_ok=True)
    for script, (output, refusal) in scripts.items():
        path.write_text(f'#!/bin/sh\nPATH="{Path(sys.executable).parent}:$PATH"\n{script}\n')
        path.chmod(0o755)
        git_clones.write(project, SAFE)
        git_clones.git(project, "add", "--all")
        done = git_clones.run_git(project, "commit", "--allow-empty", "--message", "good")
        assert (done.returncode, output in done.stdout + done.stderr) == (0, True)
        git_clones.write(project, SAFE, BAD)
        for words in (["--all"], [LOG]):  # git gives the hook an index of its own
            refused = git_clones.run_git(project, "commit", "--message", "bad", *words)
            text = refused.stdout + refused.stderr
            assert (refused.returncode != 0, refusal in text, TOKEN in text) == (True, True, False)
    assert git_clones.git(project, "log", "--format=%s").split() == ["good"] * len(scripts)


# Encodings.

ROWS = table("commands/encodings")
FIRST = a_record("첫 번째 격차")
TEXT = (FIRST.to_line() + BAD.to_line()).decode()
UTF_8 = TEXT.encode()


def even(data: bytes, of: bytes) -> bytes:
    """Bytes of an even number, so that a program could take all of them for UTF-16."""
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
    "CP949": "".join(chr(ord(char) + 0xFEE0) for char in TOKEN).encode("cp949"),  # wide letters
}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_looked_at_in_every_encoding(
    scan: Command, project: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FILES[kind]
    git_clones.write(project, data)
    for arguments in ([], [LOG], ["."], ["--json"]):
        done = scan(*arguments)
        assert (done.code, done.errors) == (1, ""), arguments
        assert "github-token" in done.out
    (project / "notes.txt").write_bytes(data)
    if kind != "UTF-32":  # git and editors take it for binary, too
        assert scan("notes.txt").code == 1
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert scan("-").code == 1


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("kind", one_in(3, FILES))
def test_the_history_and_a_report_are_looked_at_in_every_encoding(
    capsys: pytest.CaptureFixture[str], scan: Command, project: Path, kind: str
) -> None:
    git_clones.git(project, "init", "--quiet")
    for version in (FIRST, FILES[kind]):
        git_clones.write(project, version)
        git_clones.commit(project)
    done = Run.of(capsys, "report", "HEAD~1..HEAD")
    assert (done.code, "github-token" in done.out) == (1, True)
    git_clones.write(project, FIRST)
    git_clones.commit(project)
    assert scan().code == 0
    history = scan("--history")
    assert (history.code, f" {LOG}:" in history.out) == (1, True)


def test_a_mark_before_utf_8_takes_no_record_and_no_secret(scan: Command, project: Path) -> None:
    for kind in ("FF FE before UTF-8", "FE FF before UTF-8", "an odd length"):
        log = MemoryLog.parse(FILES[kind])
        assert (log.records, log.unreadable_count) == ([FIRST, BAD], 0)
        assert not begins_like_utf_16(FILES[kind])
        assert ("bom", (1,)) in [(it.kind, it.lines) for it in examine(log, now=NOW) if it.fixable]
        mended = repair(FILES[kind]).data
        assert (mended[:1], MemoryLog.parse(mended).records) == (b"{", [FIRST, BAD])
        git_clones.write(project, FILES[kind])
        assert scan("--redact", "--yes").code == 0
        assert TOKEN.encode() not in git_clones.path_of(project).read_bytes()


def test_a_log_that_begins_like_utf_16_is_named_and_not_clean(scan: Command, project: Path) -> None:
    for kind, finding in ROWS["a_log_that_begins_like_utf_16_is_named_and_let_be"]:
        data = FILES[kind]
        findings = examine(MemoryLog.parse(data), now=NOW)
        assert [(item.kind, item.fixable) for item in findings] == [(finding, False)]
        assert repair(data).data == data
    assert MemoryLog.parse(FILES["FF FE, a NUL and UTF-8"]).records == [FIRST, BAD]
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):  # without a secret
        git_clones.write(project, FIRST.to_line().decode().encode(encoding))
        done = scan()
        sentence = f"{LOG}: cannot be read (it begins like UTF-16, and the memory is UTF-8"
        assert (done.code, done.errors[: len(sentence)]) == (2, sentence)
        assert (scan(LOG).code, scan("--redact", "--yes").code) == (2, 2)


def test_one_encoding_is_read_once() -> None:
    assert readings_of(UTF_8) == readings_of(FILES["UTF-8 with a mark"]) == [UTF_8]
    for kind in ("UTF-16 LE", "UTF-16 BE", "UTF-16 LE with a mark", "UTF-16 BE with a mark"):
        assert readings_of(FILES[kind]) == [UTF_8]
    chinese = "支付模块的税率表必须先检查: a.b.c\n" * 400
    assert readings_of(chinese.encode("utf-16")) == [chinese.encode()]
