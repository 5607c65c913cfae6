"""Tests `cli.py demo --full` as people run it: what it shows and what it leaves behind."""

import io
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import cli
from commands.demo.demo import demo
from commands.demo.stage import DemoFailedError
from core.store import MemoryStore
from tests.support.cli_process import Run
from tests.support.stdio_client import ROOT

SECRET = re.compile("ghp" + "_[A-Za-z0-9]{20,}")


pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Demo:
    """One finished demo, and the directory below which it could have written."""

    code: int
    text: str
    errors: str
    at: Path

    def scene(self, number: int) -> str:
        """What was printed between the heading of a scene and the next, in one line."""
        between = re.search(rf"\n{number}\. (.*?)(?:\n\n|\Z)", self.text, re.DOTALL)
        assert between, f"no scene {number} in {self.text}"
        return " ".join(between[1].replace("\n  | ", "\n").split())


def run_demo(at: Path, *options: str, full: bool = True, **variables: str) -> Demo:
    """Run the demo in an environment that tries to lead it astray."""
    options = ("--full", *options) if full else options
    for name in ("temporary", "elsewhere"):
        (at / name).mkdir(parents=True)
    (at / "elsewhere" / ".env").write_text("FASTMCP_LOG_LEVEL=nonsense\n", encoding="utf-8")
    temporary, elsewhere = str(at / "temporary"), str(at / "elsewhere")
    environment = {
        **os.environ,
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
        **dict.fromkeys(("SENTINEL_MEMORY_PROJECT", "CLAUDE_PROJECT_DIR", "GIT_DIR"), elsewhere),
        "SENTINEL_MEMORY_BUDGET": "nonsense",
        "SENTINEL_MEMORY_LANG": "en",
        **variables,
    }
    start = Run.started if full else Run.typed
    done = start("demo", *options, cwd=at / "elsewhere", environment=environment)
    return Demo(*done, at)


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A run in English with git."""
    return run_demo(tmp_path_factory.mktemp("english"))


@pytest.fixture(scope="module")
def korean(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A run in Korean that finds no git and keeps its project."""
    at = tmp_path_factory.mktemp("korean")
    path = os.environ["PATH"] if os.name == "nt" else str(at)  # DLLs come from PATH there
    kept = ("--keep", str(at / "kept"))
    return run_demo(at, *kept, SENTINEL_MEMORY_LANG="ko", PATH=path)


def test_the_demo_ends_well_and_quietly(english: Demo) -> None:
    assert (english.code, english.errors) == (0, "")


@pytest.mark.row("001 9.c")
@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "Please ask the user the following: 1. Are there core constraints for this module?"),
        (1, "ok: three questions, and no file was made"),
        (2, "Saved: new log in topic"),
        (2, "ok: all 3 lessons came back whole"),
        (3, "updated, seen 2 times. Records: 3"),
        (3, "ok: still 3 records in the file, this one seen 2 times"),
        (4, "ok: the secret is not in the file and not in the answer"),
        (4, "Secrets redacted: 1"),
        (4, "never paste one like [REDACTED] into a file."),
        (4, "missing_context: it is blank. The file is unchanged."),
        (4, "ok: refused; the file is unchanged, byte for byte"),
        (5, "Compaction is required: 51 records, threshold 50. Call compact_memory now."),
        (5, "ok: the notice came with record 51, not before"),
        (6, "similar topics: "),
        (6, "db-migration ~ db (shared words: db; keep db)"),
        (7, "This demo has no language model"),
        (7, "auth + auth-login: "),
        (7, "Originals replaced by this principle: "),
        (7, "nothing to do, every topic shown is already compact"),
        (8, "none of the originals is left"),
        (8, "Already replaced by a principle: "),
        (8, "ok: the second save of the same words changed nothing"),
        (8, "ok: the search returns every principle"),
        (9, '-{"id": '),
        (9, '+{"id": '),
    ],
)
def test_each_scene_shows_what_it_claims(english: Demo, number: int, said: str) -> None:
    assert said in english.scene(number)


def test_every_lesson_of_the_project_takes_part(english: Demo) -> None:
    lessons = (ROOT / "commands/demo/lessons.jsonl").read_text("utf-8").splitlines()
    tokens = re.search(r"ok: (\d+) tokens for (\d+) records", english.scene(6))
    assert tokens and tokens[1] == tokens[2] and int(tokens[1]) > len(lessons)


def test_nothing_is_left_behind(english: Demo) -> None:
    assert list((english.at / "temporary").iterdir()) == []
    assert [path.name for path in (english.at / "elsewhere").iterdir()] == [".env"]


def test_no_secret_is_printed_or_kept(english: Demo, korean: Demo) -> None:
    printed = english.text + english.errors + korean.text + korean.errors
    kept = [
        path.read_bytes().decode("latin-1")
        for path in (korean.at / "kept").rglob("*")
        if path.is_file()
    ]
    assert not SECRET.search("".join([printed, *kept]))


def test_lines_fit_into_a_hundred_columns(english: Demo) -> None:
    assert [line for line in english.text.splitlines() if len(line) > 100] == []


def test_in_korean_headings_and_answers_are_korean(korean: Demo) -> None:
    assert (korean.code, korean.errors) == (0, "")
    assert "사용자에게 다음을 질문하세요" in korean.scene(1)
    assert "compact 필수: 기록 51건, 기준 50건." in korean.scene(5)
    assert "할 일 없음, 표시된 topic은 모두 이미 통합됨" in korean.scene(7)
    assert " | " not in korean.scene(9).partition("ok:")[2]


@pytest.mark.skipif(os.name == "nt", reason="git is found there in any case")
def test_without_git_the_diff_is_made_all_the_same(korean: Demo) -> None:
    assert "git이 없어 직접 비교함" in korean.scene(9)
    assert '+{"id": ' in korean.scene(9)


def test_keep_leaves_a_compacted_project(korean: Demo) -> None:
    log = MemoryStore((korean.at / "kept") / ".context" / "memory_log.jsonl").read()
    assert (log.skipped, {record.type for record in log.records}) == (0, {"principle"})
    assert sum(record.source_count or 0 for record in log.records) > 50
    assert len({record.topic for record in log.records}) == len(log.records)
    assert str(korean.at / "kept") in korean.text
    assert list((korean.at / "temporary").iterdir()) == []


def test_a_directory_with_something_in_it_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    with pytest.raises(DemoFailedError, match=r"is not an empty directory\. Nothing was written\."):
        demo(tmp_path, out=io.StringIO())
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_what_stops_the_demo_is_said_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "en")
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    assert cli.main(["demo", "--keep", str(tmp_path)]) == 1
    assert capsys.readouterr() == (
        "",
        f"The demo stopped: {tmp_path} is not an empty directory. Nothing was written. Name a new"
        " one with --keep.\n",
    )


def test_a_server_that_does_not_start_ends_in_a_sentence(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text("raise SystemExit('no good day')\n", encoding="utf-8")
    out = io.StringIO()
    with pytest.raises(DemoFailedError) as failed:
        demo(full=True, server=server, out=out)
    assert str(failed.value) == (
        f"The demo stopped: {server} did not start as a server: no good day"
    )
    assert out.getvalue() == ""


def test_a_server_that_forgets_is_found_out(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    said = json.dumps("No related past records found.")
    server.write_text(
        "from fastmcp import FastMCP\n"
        "mcp = FastMCP('forgetful')\n"
        "@mcp.tool(output_schema=None)\n"
        f"def search_memory(query: str = '') -> str:\n    return {said}\n"
        "mcp.run(transport='stdio', show_banner=False)\n",
        encoding="utf-8",
    )
    with pytest.raises(DemoFailedError) as failed:
        demo(full=True, server=server, out=io.StringIO())
    assert str(failed.value) == (
        "The demo stopped: this did not hold: three questions, and no file was made"
    )
