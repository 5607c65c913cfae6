"""Tests what the report shows of originals that are only kept beside the log, on this machine."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core.lessons.upkeep.replaced import Replaced
from tests.support.cli_process import TOKEN
from tests.support.git_clones import commit, compact, git, saved, store_of, without_side_file
from tests.support.report_desk import Report, written
from tests.support.samples import NOW, a_draft, a_record

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

ONE = a_record("one", lesson="lesson one")
UNKNOWN = "  - In none of the versions read: 1."


def original(gap: str, indent: str = "  ") -> list[str]:
    token = a_record(gap, lesson=f"lesson {gap}").token
    return [f"{indent}- lesson {gap}\\", f"{indent}  `{token}` (payment)"]


def merged(project: Path, *gaps: str) -> str:
    """The commit of one gap, after which others came and a principle replaced them all."""
    base = written(project, ONE)
    for gap in gaps:
        store_of(project).upsert_log(a_draft(gap, lesson=f"lesson {gap}"))
    compact("all of it")(project)
    return base


def folded(out: str) -> list[str]:
    """What stands in the folded part of the report."""
    lines = [line for line in out.splitlines() if line]
    return lines[lines.index("  <details>") + 1 : lines.index("  </details>")]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("how", ["file", "staged", "range"])
def test_originals_that_git_never_had_are_shown_as_kept_here(
    how: str, project: Path, report: Report
) -> None:
    base = merged(project, "two", "three")
    git(project, "add", "--all")
    if how == "range":
        commit(project)
    words = {"file": (), "staged": ("--staged",), "range": (f"{base}..HEAD",)}[how]
    told = report(*words)
    assert (told.code, told.first) == (0, "**Memory:** 3 records compacted.")
    assert folded(told.out) == [
        "  <summary>Replaced: 3</summary>",
        *original("one"),
        "  - In none of the versions read, but kept beside the log on this machine: 2.",
        *original("two", "    "),
        *original("three", "    "),
    ]


@pytest.mark.long
def test_it_is_said_in_korean(
    project: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged(project, "two")
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    kept = "  - 살펴본 어느 버전에도 없지만 이 컴퓨터의 로그 옆에 보관된 것 1건."
    assert kept in report().out.splitlines()


@pytest.mark.long
def test_the_data_tell_what_git_has_from_what_is_only_kept(project: Path, report: Report) -> None:
    merged(project, "two")
    two = a_record("two", lesson="lesson two")

    def compacted() -> dict[str, object]:
        [found] = report("--json").told["compacted"]
        return {key: found[key] for key in ("originals", "kept", "unknown")}

    first = {"token": ONE.token, "record": ONE.as_json()}
    second = {"token": two.token, "record": two.as_json()}
    assert compacted() == {"originals": [first], "kept": [second], "unknown": 0}
    without_side_file(project)
    assert compacted() == {"originals": [first], "kept": [], "unknown": 1}


@pytest.mark.long
def test_a_version_that_git_shows_is_not_taken_from_beside_the_log(
    project: Path, report: Report
) -> None:
    base = merged(project)
    forged = replace(ONE, lesson="forged [REDACTED]")
    line = Replaced(record=forged, token=ONE.token, at=NOW).to_line()
    store_of(project).replaced_path.write_bytes(line)
    for words in ((), (base,)):
        assert folded(report(*words).out) == ["  <summary>Replaced: 1</summary>", *original("one")]


@pytest.mark.long
def test_a_file_that_git_tracks_counts_for_nothing(project: Path, report: Report) -> None:
    """Whoever made the branch would say what was replaced."""
    base = merged(project, "two")
    git(project, "add", "--force", ".context/memory_log.replaced.jsonl")
    commit(project)
    told = report(f"{base}..HEAD")
    assert folded(told.out) == ["  <summary>Replaced: 2</summary>", *original("one"), UNKNOWN]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("kind", ["folder", "link", "broken"])
def test_what_is_no_such_file_holds_no_report_up(kind: str, project: Path, report: Report) -> None:
    merged(project, "two")
    side = store_of(project).replaced_path
    data = side.read_bytes()
    side.unlink()
    if kind == "folder":
        side.mkdir()
    elif kind == "link":
        (project / "elsewhere.jsonl").write_bytes(data)
        os.symlink("../elsewhere.jsonl", side)
    else:
        side.write_bytes(b"\xff\x00 torn\n" + data[: len(data) // 2])
    told = report()
    assert (told.code, folded(told.out)[-1]) == (0, UNKNOWN)


def test_no_secret_is_shown_of_what_is_kept(project: Path, report: Report) -> None:
    written(project, ONE)
    secret = replace(a_record("two"), lesson=f"the key is {TOKEN}")
    with store_of(project).path.open("ab") as file:
        file.write(secret.to_line())
    compact("all of it")(project)
    told = report()
    assert "    - the key is `[REDACTED]`\\" in told.out.splitlines()
    [now] = saved(project)
    assert secret.token in now.source_ids
    assert f"      `{secret.token}` (payment)" in told.out.splitlines()


@pytest.mark.long
def test_of_many_originals_the_first_fifty_are_shown(project: Path, report: Report) -> None:
    merged(project, *(f"gap {at}" for at in range(53)))
    told = report()
    assert told.out.count("    - lesson gap ") == 50
    assert "    - And 3 more." in told.out.splitlines()
