"""Tests `cli.py demo`: one story in a screenful, with what really came back."""

import io
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import cli
from commands.demo.demo import demo
from commands.demo.stage import DemoFailedError
from commands.demo.story import FIELDS
from commands.terminal.screen import cells
from tests.support.cli_process import Run
from tests.support.sentences import pair

MOST_LINES, COLUMNS = 35, 80
LANGUAGES = {"en": 0, "ko": 1}


pytestmark = pytest.mark.long  # it costs much


@dataclass(frozen=True)
class Demo:
    """One finished demo, and the directory below which it could have written."""

    code: int
    text: str
    errors: str
    at: Path


def run_demo(at: Path, *options: str, **variables: str) -> Demo:
    """Run the demo in an environment that tries to lead it astray."""
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
    done = Run.typed("demo", *options, cwd=at / "elsewhere", environment=environment)
    return Demo(*done, at)


@pytest.fixture(scope="module", params=["en", "ko"])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A run in a language, with git."""
    lang = request.param
    variables = {"SENTINEL_MEMORY_LANG": lang, "COLUMNS": str(COLUMNS)}
    return run_demo(tmp_path_factory.mktemp(lang), **variables)


@pytest.fixture
def at(told: Demo) -> int:
    """Where the sentences of its language are in a table."""
    return LANGUAGES[told.at.name.rstrip("0123456789")]


def test_the_story_fits_on_a_screen_and_ends_well(told: Demo) -> None:
    assert (told.code, told.errors) == (0, "")
    lines = told.text.splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if cells(line) > COLUMNS] == []


def test_the_first_line_says_what_is_to_be_seen_and_the_last_line_what_to_run(
    told: Demo, at: int
) -> None:
    lines = told.text.splitlines()
    assert lines[0] == pair("demo.story")[at]
    assert lines[-1].endswith("python cli.py setup --all --project DIR")


def test_server_hook_and_report_say_the_lesson_in_the_language_of_the_reader(
    told: Demo, at: int
) -> None:
    saved, warned, reported = (
        [line for line in part.splitlines() if line.startswith("  | ")]
        for part in told.text.split("\n\n")[1:4]
    )
    lesson = pair("demo.saved_lesson")[at]
    assert ("Saved: new log", "저장됨")[at] in saved[0]
    assert f"  | → {lesson}" in warned
    assert f"  | - {lesson}" in reported
    texts = [pair(f"demo.saved_{name}")[1 - at] for name in FIELDS if name != "topic"]
    assert [text for text in texts if text in told.text] == []


def test_it_says_where_it_happened_and_leaves_nothing_there(told: Demo) -> None:
    place = re.search(r": ?(\S+?web-shop)", told.text.replace("\n", ""))
    assert place and not Path(place[1]).exists()
    assert list((told.at / "temporary").iterdir()) == []
    assert [path.name for path in (told.at / "elsewhere").iterdir()] == [".env"]


def test_a_project_that_is_kept_is_not_said_to_go(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    told = run_demo(tmp_path, "--keep", str(kept))
    assert (told.code, told.errors, "removed" in told.text) == (0, "", False)
    assert len((kept / ".context" / "memory_log.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="git is found there in any case")
def test_without_git_a_colleague_reads_the_diff_of_the_file(tmp_path: Path) -> None:
    without_git = run_demo(tmp_path, PATH=str(tmp_path))
    assert (without_git.code, without_git.errors) == (0, "")
    assert '\n  | +{"id": ' in without_git.text


def test_a_hook_that_keeps_silent_ends_the_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cli.py").write_text("", encoding="utf-8")
    monkeypatch.setattr("commands.demo.stage.CLI_FILE", tmp_path / "cli.py")
    out = io.StringIO()
    with pytest.raises(DemoFailedError, match="no answer"):
        demo(out=out)
    assert out.getvalue().endswith(f"{pair('demo.story_hook')[0]}\n")


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
        demo(server=server, out=out)
    assert str(failed.value) == (
        f"The demo stopped: {server} did not start as a server: no good day"
    )
    assert len(out.getvalue().splitlines()) == 3  # no scene of it


def test_a_server_that_does_not_save_is_found_out(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "from fastmcp import FastMCP\n"
        "mcp = FastMCP('forgetful')\n"
        "@mcp.tool(output_schema=None)\n"
        "def log_memory(topic: str, missing_context: str, lesson: str, ask_next_time: str = '',\n"
        "               paths: list = [], when: list = []) -> str:\n"
        "    return 'Saved.'\n"
        "mcp.run(transport='stdio', show_banner=False)\n",
        encoding="utf-8",
    )
    with pytest.raises(DemoFailedError) as failed:
        demo(server=server, out=io.StringIO())
    assert str(failed.value) == "The demo stopped: Saved."
