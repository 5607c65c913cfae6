"""Makes the pictures of docs/view.md anew, from the memory of a team.

`python -m tests.support.view_pictures [FOLDER]` writes them to docs, or to the folder.
It needs chromium, chromedriver and a font for Hangul (fonts-noto-cjk).
"""

import os
import sys
import tempfile
from pathlib import Path

import cli
from tests.support.headless import Browser
from tests.support.team_memory import make_team_memory

DOCS = Path(__file__).parents[2] / "docs"
SIZE = (1280, 1060)
PICTURES = {"view.png": ("en", False), "view.ko.png": ("ko", True)}


def make_pictures(folder: Path) -> None:
    """The first screen of the page: in English and light, in Korean and dark."""
    with tempfile.TemporaryDirectory() as scratch:
        project = make_team_memory(Path(scratch, "shop"))
        with Browser(Path(scratch, "profile")) as browser:
            for name, (lang, dark) in PICTURES.items():
                page = Path(scratch, f"{name}.html")
                os.environ["SENTINEL_MEMORY_LANG"] = lang
                assert cli.main(["view", "--project", str(project), "-o", str(page)]) == 0
                browser.open(page, size=SIZE, dark=dark)
                (folder / name).write_bytes(browser.picture())


if __name__ == "__main__":
    make_pictures(Path(sys.argv[1]) if sys.argv[1:] else DOCS)
