"""Makes pages of memories and tells what a reader sees of them in a real browser."""

import os
from pathlib import Path

import pytest

from commands.view.html import page_html
from commands.view.page import page_of
from core.config import Settings
from core.lessons.answers import Frame
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.messages import Language
from tests.support.headless import Browser, found
from tests.support.samples import LATER
from tests.support.sentences import in_language

LANGUAGES: tuple[Language, ...] = ("en", "ko")

AXE = Path(__file__).parents[2] / "tests" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
NARROW = (320, 640)

needs_browser = [
    pytest.mark.night,
    pytest.mark.skipif(
        not found() and not os.environ.get("CI"),
        reason="there is no chromium with its chromedriver on the PATH",
    ),
]
needs_axe = pytest.mark.skipif(
    not AXE.is_file() and not os.environ.get("CI"),
    reason="axe-core is missing: npm ci --prefix tests/browser --ignore-scripts",
)


def html_of(
    *records: Record | bytes,
    lang: Language = "en",
    project: str = "shop",
    now: str = LATER,
) -> str:
    """The page of these records, or of lines as a hand wrote them."""
    lines = b"".join(it if isinstance(it, bytes) else it.to_line() for it in records)
    frame = Frame(project="/shop", settings=Settings())
    page = page_of(MemoryLog.parse(lines), frame, project=project, now=now)
    return in_language(lang, page_html, page)


class Shown(Browser):
    """A browser that tells what a reader sees of a page."""

    def records(self) -> list[str]:
        """The lessons of what was found, or else of all records, folded or not, in their order."""
        return self.lessons("#found-records" if self.is_narrowed() else "#topics")

    def lessons(self, within: str) -> list[str]:
        """The lessons of the records in a part of the page."""
        found: list[str] = self.js(
            "return [...document.querySelectorAll(arguments[0])].map((it) => it.textContent)",
            f"{within} article > .lesson",
        )
        return found

    def is_narrowed(self) -> bool:
        return bool(self.js("return !document.querySelector('#results').hidden"))

    def state(self) -> str:
        """What the address says of the page."""
        hash: str = self.js("return decodeURIComponent(location.hash)")
        return hash

    def choose(self, name: str, value: str) -> None:
        """Choose a filter, or an order."""
        self.js(
            "const it = document.getElementById(arguments[0]); it.value = arguments[1];"
            "it.dispatchEvent(new Event('change', { bubbles: true }))",
            name,
            value,
        )

    def open_topics(self) -> list[str]:
        """The names of the topics that are unfolded."""
        return self.texts(".topic[open] > summary h3")

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that are not hidden."""
        found: list[str] = self.js(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter((it) => it.checkVisibility()).map((it) => it.textContent)",
            selector,
        )
        return found

    def topics(self) -> dict[str, int]:
        """The topics of the records, with their counts as the list of topics tells them."""
        names = self.texts(".topic > summary h3")
        counts = self.texts(".topic > summary .count")
        return {name: int(count) for name, count in zip(names, counts, strict=True)}

    def said(self) -> str:
        said: str = self.js("return document.querySelector('#found').textContent")
        return said

    def seek(self, text: str) -> None:
        """Go to the search and type this in the place of what is there."""
        self.js("document.querySelector('#query').select()")
        self.type(text)

    def has_focus(self, selector: str) -> bool:
        return bool(self.js("return document.activeElement.matches(arguments[0])", selector))

    def focused_lesson(self) -> str | None:
        text: str | None = self.js(
            "return document.activeElement.querySelector(':scope > .lesson')?.textContent"
        )
        return text

    def below_the_search(self) -> float:
        """By how many pixels what has the focus begins below the search."""
        found: float = self.js(
            "return document.activeElement.getBoundingClientRect().top"
            " - document.querySelector('.search').getBoundingClientRect().bottom"
        )
        return found

    def ground(self) -> str:
        colour: str = self.js("return getComputedStyle(document.body).backgroundColor")
        return colour

    def unfold(self) -> None:
        self.js("for (const it of document.querySelectorAll('details')) it.open = true")

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        found: int = self.js(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return found
