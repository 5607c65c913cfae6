"""Tests `cli.py report` where nobody sits: on GitHub, in a hook, and as its documents set it up."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from commands.report.github import MOST_SUMMARY_BYTES
from core.messages import Language
from tests.support.cli_process import TOKEN
from tests.support.git_clones import git, install_hook, path_of, run_git, write
from tests.support.report_desk import LOG, ORDER, Report, Run, head, written
from tests.support.samples import a_record
from tests.support.sentences import sentence
from tests.support.stdio_client import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
posix = pytest.mark.skipif(os.name == "nt", reason="a hook of POSIX, and its names of files")

PLAIN = a_record("plain")
SECRET = a_record("the key is " + TOKEN)
ORDERED = a_record("odd", topic="100%: a, b\n::error::x", lesson=ORDER)
STOPPED = re.compile(r"::stop-commands::([0-9a-f]{32})\n(.*)\n::\1::\n", re.S)


# GitHub.


@pytest.mark.long  # it costs much
def test_findings_become_annotations_as_the_runner_reads_them(
    project: Path, report: Report
) -> None:
    base = written(project, PLAIN)
    bad = written(project, PLAIN, a_record("gone " + TOKEN))
    written(project, PLAIN, SECRET, ORDERED, b"torn\n")
    told = report(f"{base}..HEAD", "--github")
    assert (told.code, told.errors) == (1, "")
    gone = a_record("gone " + TOKEN).token
    where = f"file={LOG},line="
    assert told.out.splitlines()[:4] == [
        f"::error {where}2,title=Possible secret in the memory log::"
        f"{LOG}:2: github-token in missing_context of record {SECRET.token} [payment]",
        f"::error title=Possible secret in the memory log::commit {bad[:10]}: {LOG}:2:"
        f" github-token in missing_context of record {gone} [payment]. A later commit removed"
        " it, but git's history keeps it unless the commits are squashed.",
        f"::error {where}4,title=Damaged memory log::{LOG}:4: an unreadable line",
        f"::warning {where}3,title=Reads like instructions to a model::"
        f"{LOG}:3: warning: reads like instructions to a model: override, in lesson of record"
        f' {ORDERED.token} ["100%25: a, b\\n::error::x"]',
    ]


@pytest.mark.long  # it costs much
@posix
def test_a_path_is_escaped_as_a_property_and_left_out_where_it_may_not_be_printed(
    project: Path, report: Report
) -> None:
    for name in ("50%, a:b", "line\nend", TOKEN):
        (project / name / ".context").mkdir(parents=True)
        (project / name / LOG).write_bytes(b"torn\n")
    for name, begin in {
        "50%, a:b": f"::error file=50%25%2C a%3Ab/{LOG},line=1,title=Damaged memory log::50%25, a",
        "line\nend": "::error title=Damaged memory log::line end/",
        TOKEN: "::error title=Damaged memory log::(a name that contains a secret):1: ",
    }.items():
        told = report("--github", "--project", str(project / name))
        assert told.code == 1
        assert told.first.startswith(begin)


@pytest.mark.long  # it costs much
def test_no_more_annotations_are_made_than_github_shows(project: Path, report: Report) -> None:
    write(project, *(f"torn {at}\n".encode() for at in range(11)))
    told = report("--github")
    errors = [line for line in told.out.splitlines() if line.startswith("::error ")]
    assert len(errors) == 10
    assert errors[-1] == (
        "::error title=More in the memory log::And 2 more; the report counts them all."
    )
    write(project, *(f"torn {at}\n".encode() for at in range(10)))
    assert "And 1 more" not in report("--github").out


@pytest.mark.long  # it costs much
def test_without_a_summary_the_report_is_printed_where_no_text_is_a_command(
    project: Path, report: Report
) -> None:
    written(project, PLAIN)
    write(project, PLAIN, a_record("odd", lesson="::error::x\n##[error]x\n::stop-commands::a"))
    shown = report()
    tokens = set()
    for _ in range(2):
        told = report("--github")
        found = STOPPED.fullmatch(told.out)
        assert found
        assert found[2] + "\n" == shown.out
        tokens.add(found[1])
    assert len(tokens) == 2


@pytest.mark.long  # it costs much
def test_the_report_is_added_to_the_summary_of_the_step(
    project: Path, report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(project, PLAIN)
    write(project, PLAIN, a_record("새 lesson"))
    shown = report()
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    told = report("--github")
    found = STOPPED.fullmatch(told.out)
    assert found and found[2] == "**Memory:** 1 lesson added."
    assert summary.read_bytes().decode() == shown.out
    summary.write_bytes(b"of another command")
    assert report("--github", "-o", "report.md").code == 0
    assert summary.read_bytes().decode() == "of another command\n" + shown.out
    assert (project / "report.md").read_text(encoding="utf-8") == shown.out


@pytest.mark.long  # it costs much
def test_a_summary_never_grows_above_its_limit(
    project: Path, report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, *(a_record(f"new {at}", lesson="새 lesson " * 200) for at in range(40)))
    shown = report()
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    full = b"x" * (MOST_SUMMARY_BYTES - 100)
    summary.write_bytes(full)
    told = report("--github")
    assert (told.code, summary.read_bytes()) == (0, full)
    found = STOPPED.fullmatch(told.out)
    said = "The summary of this step has no room for the report, so it is printed here.\n\n"
    assert found and found[2] + "\n" == said + shown.out


@pytest.mark.long  # it costs much
def test_a_summary_can_be_filled_to_its_last_byte(
    project: Path, report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(project, PLAIN)
    size = len(report().out)
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    full = MOST_SUMMARY_BYTES
    for taken, held in {full - size - 1: full, full - size: full - size}.items():
        summary.write_bytes(b"x" * taken)  # a line end stands before the report
        assert report("--github").code == 0
        assert summary.stat().st_size == held


def test_a_summary_that_cannot_be_written_is_said(
    project: Path, report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, PLAIN)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    told = report("--github")
    assert told.code == 2
    assert told.errors.startswith(f"{tmp_path} could not be written (")


# The index, and the hook.


def test_of_a_commit_to_be_only_what_is_staged_is_told(project: Path, report: Report) -> None:
    written(project, PLAIN)
    write(project, PLAIN, a_record("staged"))
    git(project, "add", "--all")
    write(project, PLAIN, a_record("staged"), SECRET)
    told = report("--staged", "--json")
    assert told.code == 0
    assert told.told["before"]["version"] == head(project)
    assert told.told["after"]["version"] == "index"
    assert [it["record"]["missing_context"] for it in told.told["added"]] == ["staged"]


@pytest.mark.long  # it costs much
def test_before_the_first_commit_everything_staged_is_new(
    project: Path, report: Report, tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "--quiet")
    write(fresh, PLAIN)
    nothing = report("--staged", "--project", str(fresh))
    assert nothing.first.startswith("**Memory:** there is no memory log here")
    git(fresh, "add", "--all")
    for arguments in (["--staged"], []):
        told = report(*arguments, "--project", str(fresh))
        assert (told.code, told.first) == (0, "**Memory:** 1 lesson added.")


@pytest.mark.long  # it costs much
def test_an_open_merge_has_to_be_resolved_first(project: Path, report: Report) -> None:
    written(project, PLAIN)
    git(project, "checkout", "--quiet", "-b", "side")
    written(project, a_record("of the side"))
    git(project, "checkout", "--quiet", "main")
    written(project, a_record("of main"))
    assert run_git(project, "merge", "--quiet", "side").returncode == 1
    told = report("--staged")
    assert (told.code, told.out) == (2, "")
    assert told.errors.startswith(f"{LOG}: a merge is still open")


def hook_of(name: str) -> dict[str, str]:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    for part in re.split(r"^- ", text, flags=re.M)[1:]:
        keys = dict(line.strip().split(": ", 1) for line in part.splitlines())
        if keys["id"] == name:
            return keys
    raise AssertionError(name)


@pytest.mark.long  # it costs much
@posix
def test_the_hook_shows_what_a_commit_brings_and_refuses_a_secret(project: Path) -> None:
    keys = hook_of("sentinel-memory-report")
    wanted = {"language": "python", "pass_filenames": "false", "verbose": "true"}
    assert {name: keys[name] for name in wanted} == wanted
    assert re.search(keys["files"], f"app/{LOG}")
    _, *options = shlex.split(keys["entry"])
    install_hook(project, f"exec {shlex.join([sys.executable, str(ROOT / 'cli.py'), *options])}")
    write(project, PLAIN)
    git(project, "add", "--all")
    done = run_git(project, "commit", "--message", "good")
    assert done.returncode == 0
    assert "**Memory:** 1 lesson added." in done.stdout + done.stderr
    write(project, PLAIN, SECRET)
    for how in (["--all"], [LOG]):  # git gives the hook an index of its own
        refused = run_git(project, "commit", "--message", "bad", *how)
        assert refused.returncode == 1
        assert "1 possible secret" in refused.stdout + refused.stderr
        assert TOKEN not in refused.stdout + refused.stderr
    assert git(project, "log", "--format=%s").split("\n")[0] == "good"


# The documents.


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


PARTS = "refused reads_like added_head changed_head returned_head compacted_head undone_head"
PARTS += " renamed_head removed_head figures"


@pytest.mark.parametrize(("name", "lang"), [("report.md", "en"), ("report.ko.md", "ko")])
def test_the_documents_name_the_parts_as_the_report_does(name: str, lang: Language) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    listed = re.findall(r"\*\*([^*]+)\*\*", "\n".join(re.findall(r"^\d\. .+$", text, re.M)))
    assert [part.rstrip(".") for part in listed] == [
        sentence(lang, f"report.{part}") for part in PARTS.split()
    ]


@pytest.mark.parametrize("name", ["report.md", "report.ko.md"])
def test_the_documents_name_the_keys_there_are(name: str, project: Path, report: Report) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    write(project, PLAIN)
    told = report("--json").told
    rows = " ".join(re.findall(r"^\| (`.*?) \|", text, re.M))
    assert set(told) <= set(re.findall(r"`(\w+)`", rows))


@pytest.mark.long  # it costs much
@posix
@pytest.mark.parametrize("name", ["ci.md", "ci.ko.md"])
def test_the_step_of_the_workflow_does_what_the_document_says(
    name: str, project: Path, tmp_path: Path
) -> None:
    [workflow] = [block for block in blocks(name, "yaml") if "pull_request:" in block]
    assert re.findall(r"^on:\n  (.*):$", workflow, re.M) == ["pull_request"]
    assert "permissions:\n  contents: read\n" in workflow
    assert "secrets." not in workflow
    [script] = re.findall(r"        run: >-\n((?:          .*\n)+)", workflow)
    assert "${{" not in script
    base = written(project, PLAIN)
    tip = written(project, PLAIN, SECRET)
    summary = tmp_path / "summary.md"
    (tmp_path / "sentinel-memory").symlink_to(ROOT)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(summary),
        "BASE": base,
        "HEAD": tip,
    }
    command = ("bash", "-e", "-c", " ".join(script.split()))
    done = Run.process(*command, cwd=project, environment=environment)
    assert done.code == 1
    assert done.out.startswith(f"::error file={LOG},line=2,title=")
    assert summary.read_text(encoding="utf-8").startswith("**Memory:** 1 possible secret,")
    assert path_of(project).is_file()
