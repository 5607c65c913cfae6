"""Tests `cli.py demo`: one story in a screenful, with what really came back."""

import io
import os
import re
from pathlib import Path

import pytest

from commands.demo.demo import demo
from commands.demo.stage import DemoFailedError
from commands.demo.words import STORY, WORDS
from commands.terminal.columns import cells
from tests.commands.demo.test_demo import Demo, run_demo

MOST_LINES, COLUMNS = 35, 80
LANGUAGES = {"en": 0, "ko": 1}


@pytest.fixture(scope="module", params=["en", pytest.param("ko", marks=pytest.mark.long)])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """A run in a language, with git."""
    lang = request.param
    variables = {"SENTINEL_MEMORY_LANG": lang, "COLUMNS": str(COLUMNS)}
    return run_demo(tmp_path_factory.mktemp(lang), full=False, **variables)


@pytest.fixture
def at(told: Demo) -> int:
    """Where the sentences of its language are in a table."""
    return LANGUAGES[told.at.name.rstrip("0123456789")]


@pytest.mark.long  # it costs much
def test_the_story_fits_on_a_screen_and_ends_well(told: Demo) -> None:
    assert (told.code, told.errors) == (0, "")
    lines = told.text.splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if cells(line) > COLUMNS] == []


@pytest.mark.long  # it costs much
def test_the_first_line_says_what_is_to_be_seen_and_the_last_lines_what_to_run(
    told: Demo, at: int
) -> None:
    lines = told.text.splitlines()
    assert lines[0] == WORDS["story"][at]
    assert lines[-2].endswith("python cli.py setup --all --project DIR")
    assert lines[-1].endswith("python cli.py demo --full")


@pytest.mark.long  # it costs much
def test_server_hook_and_report_say_the_lesson_in_the_language_of_the_reader(
    told: Demo, at: int
) -> None:
    saved, warned, reported = (
        [line for line in part.splitlines() if line.startswith("  | ")]
        for part in told.text.split("\n\n")[1:4]
    )
    lesson = STORY["lesson"][at]
    assert ("Saved: new log", "저장됨")[at] in saved[0]
    assert f"  | → {lesson}" in warned
    assert f"  | - {lesson}" in reported
    texts = [text[1 - at] for name, text in STORY.items() if name != "topic"]
    assert [text for text in texts if text in told.text] == []


@pytest.mark.long  # it costs much
def test_it_says_where_it_happened_and_leaves_nothing_there(told: Demo) -> None:
    place = re.search(r": ?(\S+?web-shop)", told.text.replace("\n", ""))
    assert place and not Path(place[1]).exists()
    assert list((told.at / "temporary").iterdir()) == []
    assert [path.name for path in (told.at / "elsewhere").iterdir()] == [".env"]


@pytest.mark.long
def test_a_project_that_is_kept_is_not_said_to_go(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    told = run_demo(tmp_path, "--keep", str(kept), full=False)
    assert (told.code, told.errors, "removed" in told.text) == (0, "", False)
    assert len((kept / ".context" / "memory_log.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="git is found there in any case")
def test_without_git_a_colleague_reads_the_diff_of_the_file(tmp_path: Path) -> None:
    without_git = run_demo(tmp_path, full=False, PATH=str(tmp_path))
    assert (without_git.code, without_git.errors) == (0, "")
    assert '\n  | +{"id": ' in without_git.text


@pytest.mark.long
def test_a_hook_that_keeps_silent_ends_the_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cli.py").write_text("", encoding="utf-8")
    monkeypatch.setattr("commands.demo.stage.CLI_FILE", tmp_path / "cli.py")
    out = io.StringIO()
    with pytest.raises(DemoFailedError, match="no answer"):
        demo(out=out)
    assert out.getvalue().endswith(f"{WORDS['story_hook'][0]}\n")
