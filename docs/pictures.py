"""Makes the pictures of both editions of the README anew, from the memory of a team.

`python docs/pictures.py [FOLDER]` writes them to docs, or to the folder. It needs chromium,
chromedriver and a font for Hangul (fonts-noto-cjk).
"""

import json
import re
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cli
from core.lessons.log import MemoryLog
from core.lessons.record import Draft
from core.messages import Language
from core.store import MemoryStore
from tests.support.git_clones import path_of
from tests.support.headless import Browser
from tests.support.session_samples import make_sample_store
from tests.support.tables import ROOT, table

DOCS = ROOT / "docs"
SIZE = (1280, 900)
PICTURES: dict[str, tuple[Language, bool]] = {
    "view.png": ("en", False),
    "view.ko.png": ("ko", True),
}
LESSONS = ROOT / "benchmarks/lessons.jsonl"


def make_team_memory(folder: Path) -> Path:
    """A project with the memory that a team has after half a year, in a new folder."""
    folder.mkdir(parents=True)
    log = path_of(folder)
    lines = LESSONS.read_text(encoding="utf-8").splitlines()
    lessons: list[dict[str, Any]] = [{"ask_next_time": "", **json.loads(it)} for it in lines]
    for at, lesson in enumerate(lessons):
        _save(log, Draft(type="log", **lesson), date=_date(at))
    for at in (4, 4, 17, 4):
        _save(log, Draft(type="log", **lessons[at]), date=_date(54 + at % 5))
    for principle in table("picture_principles"):
        topics = principle.pop("topics")
        merged = [it.version_id for it in MemoryStore(log).read().records if it.topic in topics]
        draft = Draft(type="principle", missing_context="", **principle)
        _save(log, draft, merged, date=_date(62))
    _save(log, Draft(type="log", **lessons[17]), date=_date(65))
    return folder


def _date(at: int) -> str:
    """A working day of the half year before the summer of 2026; `at`: 0 to 65."""
    month, day = divmod(at * 2 + at // 3, 28)
    return f"2026-{month + 1:02}-{day + 1:02}T{9 + at % 8:02}:15:00+00:00"


def _save(log: Path, draft: Draft, replaced: list[str] | None = None, *, date: str) -> None:
    MemoryStore(log, now=lambda: date).upsert_log(draft, replaced or ())


def in_front(log: bytes, lang: Language) -> bytes:
    """The same log, with the lessons in another language a year older."""
    lines = []
    for record in MemoryLog.parse(log).records:
        is_own = bool(re.search("[가-힣]", record.lesson)) == (lang == "ko")
        line = record.to_line()
        lines.append(line if is_own else line.replace(b'"2026-', b'"2025-'))
    return b"".join(lines)


def make_pictures(folder: Path) -> None:
    """The first screen of the page: in English and light, in Korean and dark."""
    with tempfile.TemporaryDirectory() as scratch:
        project = make_team_memory(Path(scratch, "shop"))
        log = path_of(project).read_bytes()
        make_sample_store(project, 6).database.close()
        with Browser(Path(scratch, "profile")) as browser:
            for name, (lang, dark) in PICTURES.items():
                path_of(project).write_bytes(in_front(log, lang))
                page = Path(scratch, f"{name}.html")
                environment = {"SENTINEL_MEMORY_LANG": lang, "HOME": scratch}
                with mock.patch.dict("os.environ", environment), redirect_stdout(StringIO()):
                    assert cli.main(["view", "--project", str(project), "-o", str(page)]) == 0
                browser.open(page, "#room=lessons", size=SIZE, dark=dark)
                (folder / name).write_bytes(browser.driver.get_screenshot_as_png())


if __name__ == "__main__":
    make_pictures(Path(sys.argv[1]) if sys.argv[1:] else DOCS)
