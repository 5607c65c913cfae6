"""Lays out what the parts of the statistics have in common: rows of records, and days."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from commands.stats.figures import day_of, safe
from commands.stats.log_figures import last_s
from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, table, wrapped
from core.lessons.record import Record
from core.lessons.record_text import topic_text
from core.messages import has_sentence, say

MOST_ROWS = 8
ID_CHARS = 8
UNKNOWN_DAY = "????-??-??"


@dataclass(frozen=True, slots=True)
class Page:
    """Who reads the statistics: in which language, and on which screen."""

    screen: Screen

    def project(self, path: str) -> str:
        """Return the line that names the project."""
        return say("stats.project", path=self.screen.painted(plain(path), "dim"))

    def said(self, text: str, indent: str = INDENT) -> list[str]:
        """Return a sentence in lines."""
        return wrapped(text, self.screen.text_width, indent)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        """Return a table in lines."""
        return table(head, rows, self.screen.width)

    def titled(self, section: Sequence[str]) -> list[str]:
        """Return a section with its title as people see it."""
        return [self.screen.painted(section[0], "bold"), *section[1:]] if section else []


def section(
    page: Page, title: str, columns: str, rows: Iterable[list[str]], count: int
) -> list[str]:
    """Return a title and a table of the first of `count` rows, only the title without any.

    It makes no other row, since redacting texts takes long.
    """
    if not count:
        return [title]
    lines = [title, *page.table(head_of(page, columns), list(islice(rows, MOST_ROWS)))]
    if count > MOST_ROWS:
        lines += page.said(say("stats.more", more=count - MOST_ROWS))
    return lines


def head_of(page: Page, columns: str) -> list[str]:
    """Return the heads of these columns; `id` and other names of data are not translated."""
    return [
        say(f"stats.{name}") if has_sentence(f"stats.{name}") else name for name in columns.split()
    ]


def named(record: Record, text: str) -> list[str]:
    """Return the beginning of the id, which `cli.py show` takes, and what a record is about."""
    return [plain(safe(record.id)[:ID_CHARS]), f"[{topic_of(record.topic)}] {one_line(text)}"]


def topic_of(topic: str) -> str:
    return plain(topic_text(safe(topic)))


def one_line(text: str) -> str:
    """Return a text as one line, redacted: somebody may have edited the log by hand."""
    return plain(" ".join(safe(text).split()))


def last_day(record: Record) -> str:
    return day_text(last_s(record))


def day_text(moment_s: float) -> str:
    return str(day_of(moment_s) or UNKNOWN_DAY)
