"""Makes the pictures of both editions of the README anew, from the memory of a team.

`python -m tests.support.view_pictures [FOLDER]` writes them to docs, or to the folder.
It needs chromium, chromedriver and a font for Hangul (fonts-noto-cjk).
"""

import re
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

import cli
from core.lessons.log import MemoryLog
from core.messages import Language
from tests.support.git_clones import path_of
from tests.support.headless import Browser
from tests.support.session_samples import make_sample_store
from tests.support.team_memory import make_team_memory

DOCS = Path(__file__).parents[2] / "docs"
SIZE = (1280, 900)
PICTURES: dict[str, tuple[Language, bool]] = {
    "view.png": ("en", False),
    "view.ko.png": ("ko", True),
}


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
                (folder / name).write_bytes(browser.picture())


if __name__ == "__main__":
    make_pictures(Path(sys.argv[1]) if sys.argv[1:] else DOCS)
