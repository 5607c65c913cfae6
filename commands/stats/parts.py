"""Lays out what the parts of the statistics have in common: rows of records, days and shares."""

from collections.abc import Iterable
from itertools import islice

from commands.stats.figures import safe
from commands.stats.intervals import Share
from commands.stats.words import WORDS, word
from commands.terminal.columns import table, wrapped
from commands.terminal.safe_text import plain
from core.lessons.answers.counting import day_of, last_s
from core.lessons.answers.rendering import topic_text
from core.lessons.record import Record
from core.messages import Language

MOST_ROWS = 8
ID_CHARS = 8
UNKNOWN_DAY = "????-??-??"


def section(
    lang: Language, title: str, columns: str, rows: Iterable[list[str]], count: int
) -> list[str]:
    """Return a title and a table of the first of `count` rows, only the title without any.

    It makes no other row, since redacting texts takes long.
    """
    if not count:
        return [title]
    lines = [title, *table(head_of(lang, columns), list(islice(rows, MOST_ROWS)))]
    if count > MOST_ROWS:
        lines += wrapped(word(lang, "more", more=count - MOST_ROWS))
    return lines


def head_of(lang: Language, columns: str) -> list[str]:
    """Return the heads of these columns; `id` and other names of data are not translated."""
    return [word(lang, name) if name in WORDS else name for name in columns.split()]


def named(record: Record, text: str) -> list[str]:
    """Return the beginning of the id, which `cli.py history` takes, and what a record is about."""
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


def share_text(share: Share, lang: Language) -> str:
    """Return how many of how many, the share and its interval."""
    low, high = (round(100 * it) for it in share.interval)
    rate = round(100 * share.value)
    return word(lang, "share", count=share.count, of=share.of, rate=rate, low=low, high=high)
