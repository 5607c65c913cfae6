"""Tests what `cli.py scan` finds, says and never says, as people, pre-commit and CI run it."""

import io
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import cli
from commands import suspicions
from core.lessons.log import MemoryLog
from core.lessons.upkeep import Looked, look
from tests.support.cli_process import TOKEN, Command
from tests.support.cli_process import DiscreetRun as Run
from tests.support.git_clones import commit, git, install_hook, path_of, run_git, write
from tests.support.said import sentences
from tests.support.samples import a_record
from tests.support.stdio_client import ROOT

SAFE, BAD = a_record("plain"), a_record("the key is " + TOKEN)
LOG = ".context/memory_log.jsonl"
ROTATE = "1. Rotate every real secret at its provider."
COMMITTED = (
    "1. Rotate every real secret at its provider. Git's history still contains it; run python"
    " cli.py scan --history to see where."
)
REWRITE = (
    "Whoever has the repository can read what a commit keeps. Rotate every real secret at its"
    " provider. To remove them from the history as well, rewrite it (git filter-repo) and"
    " replace every clone with a fresh one."
)

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="permissions, pipes and names of POSIX")


@pytest.fixture
def project(project: Path) -> Path:
    """A project with the folder of a memory."""
    (project / ".context").mkdir()
    return project


@pytest.fixture
def scan(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one scan."""
    return partial(Run.of, capsys, "scan")


# The memory log.


def test_a_log_that_cannot_be_read_is_said_and_is_neither_clean_nor_leaking(
    scan: Command, project: Path
) -> None:
    path_of(project).mkdir()
    for arguments in ([], ["--redact", "--yes"]):
        found = scan(*arguments)
        assert (found.code, found.out) == (2, "")
        assert found.errors.startswith(f"The memory log {path_of(project)} cannot be read")
    assert scan("--project", str(project / "none")).code == 2


def test_a_log_of_another_encoding_is_read(scan: Command, project: Path) -> None:
    write(project, f"one\n{TOKEN}\n".encode("utf-16"))
    assert scan().lines[0] == f"{LOG}:2: github-token"
    assert scan("--redact", "--yes") == Run(
        2,
        "",
        f"The memory log {path_of(project)} begins like UTF-16, and the memory is UTF-8. Nothing"
        " was changed. python cli.py doctor says how to save the file as UTF-8; then repeat"
        " this.\n",
    )


# Files.


def test_only_a_line_feed_ends_a_line(scan: Command, project: Path) -> None:
    text = f"one\r\ntwo\x0c\u2028\x85\x0b three\n{TOKEN}\r\nfour {TOKEN}"
    (project / "a.txt").write_bytes(text.encode())
    assert scan("a.txt").lines == [
        "a.txt:3: github-token",
        "a.txt:4: github-token",
        "Secrets: 2, warnings: 0, files: 1.",
    ]


def test_standard_input_is_named_so(
    scan: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SimpleNamespace(buffer=io.BytesIO(f"x\n{TOKEN}".encode()))
    monkeypatch.setattr("sys.stdin", given)
    assert scan("-") == Run(1, "<stdin>:2: github-token\nSecrets: 1, warnings: 0, files: 1.\n", "")
    monkeypatch.setattr("sys.stdin", None)
    assert scan("-").errors == "<stdin>: cannot be read (closed)\n"


def test_what_is_no_text_is_passed_over_with_a_note(scan: Command, project: Path) -> None:
    (project / "image").write_bytes(b"\x89PNG\0" + TOKEN.encode())
    write(project, SAFE)
    assert scan("image", LOG) == Run(
        0, "image: skipped, a binary file\nSecrets: 0, warnings: 0, files: 1.\n", ""
    )


def test_a_text_that_is_too_large_is_a_failure_and_a_log_never_is(
    scan: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suspicions, "MOST_BYTES", 100)
    (project / "large.txt").write_bytes(b"x" * 101)
    (project / "image").write_bytes(b"\x89PNG\0" * 101)
    write(project, SAFE, b"x" * 101)
    found = scan("large.txt", "image", LOG)
    assert (found.code, found.lines) == (
        2,
        [
            "large.txt: not scanned, larger than 5,000,000 bytes",
            "image: skipped, a binary file",
            "Secrets: 0, warnings: 0, files: 1.",
        ],
    )


@posix
def test_pipes_devices_and_odd_names_stop_nothing(scan: Command, project: Path) -> None:
    os.mkfifo(project / "pipe")
    odd = os.fsdecode(b"odd\xff\x1b[31m.txt")
    (project / odd).write_text(TOKEN, encoding="utf-8")
    (project / f"{TOKEN}.txt").write_text("nothing", encoding="utf-8")
    found = scan("pipe", "/dev/null", odd)
    assert found.lines == [
        "odd\ufffd\ufffd[31m.txt:1: github-token",
        "pipe: not scanned, not a regular file",
        "/dev/null: not scanned, not a regular file",
        "Secrets: 1, warnings: 0, files: 1.",
    ]
    assert "\x1b" not in scan(odd, "--json").out
    (project / f"{TOKEN}.txt").write_bytes(b"\0")
    assert scan(f"{TOKEN}.txt").lines[0] == (
        "(a name that contains a secret): skipped, a binary file"
    )


def test_what_is_not_there_is_said_and_the_others_are_scanned(scan: Command, project: Path) -> None:
    (project / "a.txt").write_text(TOKEN, encoding="utf-8")
    reason = os.strerror(2)
    assert scan("none.txt", "a.txt") == Run(
        2,
        "a.txt:1: github-token\nSecrets: 1, warnings: 0, files: 1.\n",
        f"none.txt: cannot be read ({reason})\n",
    )
    assert scan("none.txt", "--json").told["unreadable"] == [{"path": "none.txt", "reason": reason}]


@pytest.mark.long  # it costs much
@posix
def test_what_nobody_may_read_is_said(project: Path) -> None:
    (project / "a.txt").write_text(TOKEN, encoding="utf-8")
    (project / "closed.txt").write_text(TOKEN, encoding="utf-8")
    (project / "closed.txt").chmod(0)
    found = Run.started("scan", "closed.txt", "a.txt")
    assert (found.code, found.lines[0]) == (2, "a.txt:1: github-token")
    assert found.errors == "closed.txt: cannot be read (Permission denied)\n"


@pytest.mark.long  # it costs much
def test_it_runs_with_the_standard_library_alone(project: Path) -> None:
    (project / "a.txt").write_text(TOKEN, encoding="utf-8")
    found = Run.started("scan", "a.txt", options=["-S", "-E", "-s"])
    assert found == Run(1, "a.txt:1: github-token\nSecrets: 1, warnings: 0, files: 1.\n", "")
    write(project, BAD)
    found = Run.started(
        "scan", "--redact", "-y", "--project", str(project), options=["-S", "-E", "-s"]
    )
    assert found == Run(
        2,
        "",
        "The package filelock is not installed. Nothing was written. Run the command with the"
        " Python that runs the server.\n",
    )
    assert path_of(project).read_bytes() == BAD.to_line()


# History.


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log that was moved; secrets in an old version, a deleted branch and the stash."""
    project = tmp_path_factory.mktemp("made") / "shop"
    old = project / "app" / LOG
    old.parent.mkdir(parents=True)
    git(project, "init", "--quiet")
    git(project, "config", "core.logAllRefUpdates", "true")
    logging = ("-c", "core.logAllRefUpdates=true")
    old.write_bytes(SAFE.to_line() + BAD.to_line())
    commit(project)
    old.write_bytes(SAFE.to_line())
    commit(project)
    (project / ".context").mkdir()
    old.rename(path_of(project))
    commit(project)
    git(project, *logging, "checkout", "--quiet", "-b", "side")
    write(project, SAFE, replace(BAD, lesson="of a branch"))
    git(project, *logging, "commit", "--quiet", "--all", "--message", "side")
    git(project, *logging, "checkout", "--quiet", "main")
    git(project, "branch", "--quiet", "-D", "side")
    write(project, SAFE, b"note " + TOKEN.encode() + b"\n")
    git(project, *logging, "stash", "--quiet")
    return project


@pytest.mark.long  # it costs much
@needs_git
def test_the_history_is_searched_across_a_move_a_deleted_branch_and_the_stash(
    scan: Command, made: Path
) -> None:
    found = scan("--history", "--project", str(made))
    assert (found.code, found.errors) == (1, "")
    heads = [line for line in found.lines if re.match("[0-9a-f]{10}  ", line)]
    assert [head.split("  ")[2:] for head in heads] == [
        ["test", "app/" + LOG],
        ["test", LOG],
        ["test", LOG],
    ]
    first = git(made, "rev-list", "--max-parents=0", "HEAD")[:10]
    assert heads[0].startswith(first)
    assert [line for line in found.lines if line not in heads] == [
        f"  line 2: github-token in missing_context of record {BAD.token} [payment]",
        f"  line 2: github-token in missing_context of record"
        f" {replace(BAD, lesson='of a branch').token} [payment]",
        "  line 2: github-token",
        "Secrets in the history: 3, versions of the log: 4.",
        REWRITE,
    ]


@needs_git
def test_the_history_can_be_had_as_data(scan: Command, made: Path) -> None:
    told = scan("--history", "--json", "--project", str(made)).told
    first = git(made, "rev-list", "--max-parents=0", "HEAD").strip()
    assert told["findings"][0] == {
        "path": "app/" + LOG,
        "line": 2,
        "severity": "error",
        "kind": "github-token",
        "field": "missing_context",
        "token": BAD.token,
        "topic": "payment",
        "commit": first,
        "date": git(made, "show", "-s", "--format=%aI", first).strip(),
        "author": "test",
    }
    assert (told["secrets"], told["files"], told["shallow"]) == (3, 4, False)


@needs_git
def test_a_history_without_secrets_passes_and_a_shallow_one_says_so(
    scan: Command, project: Path, made: Path
) -> None:
    git(project.parent, "clone", "--quiet", "--depth=1", made.as_uri(), "shallow")
    found = scan("--history", "--project", str(project.parent / "shallow"))
    assert found == Run(
        0,
        "Secrets in the history: 0, versions of the log: 1.\nThis is a shallow clone without the"
        " older history; git fetch --unshallow gets it.\n",
        "",
    )


@needs_git
def test_without_a_history_a_sentence_says_so(scan: Command, project: Path) -> None:
    found = scan("--history")
    assert (found.code, found.out) == (2, "")
    assert f"{project / '.context'} is not in a git work tree" in found.errors
    git(project, "init", "--quiet")
    none = "git has no version of this log, so there is no history to scan: "
    assert scan("--history") == Run(0, f"{none}{LOG}\n", "")
    (project / "a.txt").write_text("a", encoding="utf-8")
    git(project, "add", "a.txt")
    git(project, "commit", "--quiet", "--message", "a")
    assert scan("--history") == Run(0, f"{none}{LOG}\n", "")


@needs_git
def test_each_different_line_is_looked_at_once(
    scan: Command, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def counted(log: MemoryLog) -> Iterator[Looked]:
        looked.append(len(log.lines))
        return look(log)

    monkeypatch.setattr(suspicions, "look", counted)
    scan("--history", "--project", str(made))
    assert sum(looked) == 4  # the plain record, the bad one, its other version, the note


# Redaction.


@pytest.mark.long  # it costs much
@needs_git
def test_of_the_history_only_a_committed_secret_says_something(
    scan: Command, project: Path
) -> None:
    git(project, "init", "--quiet")
    write(project, BAD)
    assert ROTATE in scan("--redact", "--yes").lines
    commit(project)
    write(project, BAD)
    assert ROTATE in scan("--redact", "--yes").lines
    write(project, BAD)
    commit(project)
    assert COMMITTED in scan("--redact", "--yes").lines


@pytest.mark.long  # it costs much
@posix
def test_a_read_only_checkout_can_be_scanned_and_says_why_it_cannot_be_redacted(
    project: Path,
) -> None:
    write(project, BAD)
    path_of(project).parent.chmod(0o555)
    try:
        assert Run.started("scan").code == 1
        found = Run.started("scan", "--redact", "--yes")
    finally:
        path_of(project).parent.chmod(0o755)
    assert (found.code, found.out) == (2, "")
    assert "could not be written (Permission denied)" in found.errors
    assert path_of(project).read_bytes() == BAD.to_line()


@pytest.mark.parametrize(
    ("topic", "shown"),
    [
        ("##[add-mask]payment", "##\ufffdadd-mask]payment"),
        ("a ##vso[task.x]", "a ##vso\ufffdtask.x]"),
        ("a ## b [c]", "a ## b [c]"),
    ],
)
def test_no_topic_can_be_a_command_of_a_runner(
    project: Path, scan: Command, topic: str, shown: str
) -> None:
    write(project, replace(BAD, topic=topic))
    [line, *_] = scan().lines
    assert line.endswith(f'["{shown}"]')


@posix
def test_no_path_can_be_a_command_of_a_runner(project: Path, scan: Command) -> None:
    (project / "::error title=x::y").write_text(f"the key is {TOKEN}\n", encoding="utf-8")
    [line, *_] = scan("::error title=x::y").lines
    assert line == "./::error title=x::y:1: github-token"


# The hook of pre-commit, and the documents.


def hooks() -> dict[str, dict[str, str]]:
    """By id, the keys of each hook that scans."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    found = {}
    for part in re.split(r"^- ", text, flags=re.M)[1:]:
        keys = dict(line.strip().split(": ", 1) for line in part.splitlines())
        if keys["entry"] == "sentinel-memory scan":
            found[keys["id"]] = keys
    return found


def test_the_hooks_start_the_installed_command() -> None:
    assert list(hooks()) == ["sentinel-memory-scan", "sentinel-memory-scan-all"]
    assert {hook["language"] for hook in hooks().values()} == {"python"}
    files = re.compile(hooks()["sentinel-memory-scan"]["files"])
    paths = (LOG, f"app/{LOG}", "x.context/a.jsonl")
    assert [path for path in paths if files.search(path)] == [LOG, f"app/{LOG}"]


@pytest.mark.long  # it costs much
@needs_git
@posix
def test_a_commit_with_a_secret_is_refused_by_the_hook(project: Path) -> None:
    started_so = shlex.join([sys.executable, str(ROOT / "cli.py"), "scan"])
    git(project, "init", "--quiet")
    install_hook(project, f"git diff --cached --name-only -z | xargs -0 {started_so}")
    write(project, SAFE)
    git(project, "add", "--all")
    assert run_git(project, "commit", "--quiet", "--message", "good").returncode == 0
    write(project, SAFE, BAD)
    git(project, "add", "--all")
    refused = run_git(project, "commit", "--quiet", "--message", "bad")
    assert refused.returncode != 0
    assert TOKEN not in refused.stdout + refused.stderr
    assert f"{LOG}:2: github-token in missing_context of record" in refused.stdout + refused.stderr
    assert git(project, "log", "--format=%s").split() == ["good"]


@pytest.mark.parametrize("name", ["ci.md", "ci.ko.md"])
def test_the_document_on_ci_names_every_hook(name: str) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    offered = re.findall(
        r"^- id: (.+)$", (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"), re.M
    )
    assert re.findall(r"      - id: (sentinel-.+)", text) == offered
    assert re.findall(r"^\| `(sentinel-[a-z-]+)`", text, re.M) == offered
    assert re.findall(r"^\| (\d) \|", text, re.M) == ["0", "1", "2"]


def test_the_sentences_name_commands_that_exist() -> None:
    said = " ".join(text for key, text in sentences("en").items() if key.startswith("scan."))
    assert set(re.findall(r"cli\.py ([a-z]+)", said)) <= cli.COMMANDS.keys()


def test_a_line_that_is_too_long_to_be_looked_at_is_a_failure_and_not_a_clean_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(suspicions, "MOST_LOOKED_BYTES", 1_000)
    scan = suspicions.Scan()
    scan.add("memory_log.jsonl", b'{"missing_context": "' + b"x" * 1_000 + b'"}\n', is_log=True)
    [(path, reason)] = scan.unreadable
    assert (path, "line 1" in reason) == ("memory_log.jsonl", True)
