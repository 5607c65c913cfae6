"""Tests `cli.py demo`: one story in a screenful, with real answers."""

import os
import re
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from commands import demo
from commands.terminal.screen import cells
from core.errors import SentinelError
from core.messages import Language
from tests.support.cli_process import Run
from tests.support.sentences import LANGUAGES, sentence
from tests.support.tables import table

MOST_LINES, COLUMNS = 35, 80

pytestmark = pytest.mark.long  # it costs much


def tell(at: Path, **variables: str) -> Run:
    """Run the demo in an environment that tries to lead it astray."""
    for name in ("temporary", "elsewhere"):
        (at / name).mkdir(parents=True)
    temporary, elsewhere = str(at / "temporary"), str(at / "elsewhere")
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary)
    places |= dict.fromkeys(("SENTINEL_MEMORY_PROJECT", "CLAUDE_PROJECT_DIR", "GIT_DIR"), elsewhere)
    settings = {"SENTINEL_MEMORY_BUDGET": "nonsense", "SENTINEL_MEMORY_LANG": "en", **variables}
    environment = {**os.environ, **places, **settings}
    return Run.typed("demo", cwd=at / "elsewhere", environment=environment)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_story_fits_on_a_screen_and_leaves_nothing(tmp_path: Path, lang: Language) -> None:
    run = tell(tmp_path, SENTINEL_MEMORY_LANG=lang, COLUMNS=str(COLUMNS))
    assert (run.code, run.errors) == (0, "")
    lines = run.out.splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if cells(line) > COLUMNS] == []
    assert lines[0] == sentence(lang, "demo.story")
    assert "python cli.py setup" in lines[-1]
    server, hook, report = (
        [line for line in part.splitlines() if line.startswith("  | ")]
        for part in run.out.split("\n\n")[1:4]
    )
    lesson = sentence(lang, "demo.saved_lesson")
    assert {"en": "Saved: new log", "ko": "저장됨"}[lang] in server[0]
    assert f"  | → {lesson}" in hook
    assert lesson in " ".join(report)
    other: Language = "en" if lang == "ko" else "ko"
    texts = [sentence(other, f"demo.saved_{name}") for name in demo.FIELDS if name != "topic"]
    assert [text for text in texts if text in run.out] == []
    place = re.search(r": ?(\S+?web-shop)", run.out.replace("\n", ""))
    assert place and not Path(place[1]).exists()
    for name in ("temporary", "elsewhere"):
        assert list((tmp_path / name).iterdir()) == []


def test_without_git_a_colleague_reads_the_diff_of_the_file(tmp_path: Path) -> None:
    run = tell(tmp_path, PATH=str(tmp_path))
    assert (run.code, run.errors) == (0, "")
    assert '\n  | +{"id": ' in run.out


# By the program that is there instead of ours: its file, its text, and why the demo stops.
OTHERS = table("demo")


@pytest.mark.parametrize(("file", "text", "reason"), OTHERS.values(), ids=OTHERS)
def test_a_step_that_is_not_as_the_story_says_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, file: str, text: str, reason: str
) -> None:
    for name in ("cli.py", "server.py"):
        (tmp_path / name).symlink_to(demo.ROOT / name)
    (tmp_path / file).unlink()
    (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.setattr(demo, "ROOT", tmp_path)
    with pytest.raises(SentinelError) as failed:
        demo.demo(Namespace())
    reason = reason.replace("{server}", str(tmp_path / "server.py"))
    assert str(failed.value).startswith(f"The demo stopped: {reason}")
    has_begun = sentence("en", "demo.story_tuesday", file=demo.FILE) in capsys.readouterr().out
    assert has_begun == (file == "cli.py")
