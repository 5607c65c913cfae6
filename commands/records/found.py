"""Shows what a search found: where the words are, coloured, and in which text of a record."""

from collections.abc import Iterator, Sequence

from commands.records.lines import laid_out
from commands.terminal.columns import INDENT, cells, fitted
from commands.terminal.records import LABELS, readable
from commands.terminal.safe_text import plain
from commands.terminal.screen import Screen
from core.lessons.answers.rendering import topic_text
from core.lessons.record import Record
from core.messages import Language
from core.text.matching import STRONG, WEAK, Entry, Search

LEAST_ROOM = 16
_TOPIC_CHARS = 6


def entry_of(record: Record, *, token: bool) -> Entry:
    """Return a record as it is searched. token: also by its version id, which takes time."""
    texts = [(STRONG, record.lesson), (STRONG, record.topic), (WEAK, record.missing_context)]
    texts += [(WEAK, text) for text in (record.ask_next_time, *record.paths, *record.when)]
    names = [record.id, record.created, record.updated, *record.source_ids]
    return Entry(texts, [*names, record.token] if token else names)


def found_lines(
    records: Sequence[Record],
    known: Sequence[Record],
    search: Search,
    screen: Screen,
    lang: Language,
    *,
    questions: bool,
) -> list[str]:
    """Return the table of these records; below each the words that its line has no room for.

    known: all records of the log. questions: the last column holds the open question.
    """
    records = [readable(record) for record in records]
    head, blocks = laid_out(records, known, screen.width, lang, questions=questions)
    lines = [screen.painted(line, "bold") for line in head]
    for record, (*first, last) in zip(records, blocks, strict=True):
        topic = plain(topic_text(record.topic))[:_TOPIC_CHARS]
        start = max(last.rfind(f" {topic}"), last.find(f"[{topic}")) + 1
        lines += [*first, last[:start] + lit(last[start:], search, screen)]
        lines += _below(record, search.words_in(last[start:]), search, screen)
    return lines


def _below(record: Record, seen: set[str], search: Search, screen: Screen) -> Iterator[str]:
    """Yield a line for each text that has a word which no line before it shows."""
    texts = [
        (LABELS[name], getattr(record, name))
        for name in ("lesson", "missing_context", "ask_next_time")
    ]
    texts += [("paths", path) for path in record.paths] + [("when", it) for it in record.when]
    for label, text in texts:
        begin = f"{INDENT * 2}{label}: "
        while new := search.words_in(_line(text)) - seen:
            only = search.only(new)
            shown = excerpt(_line(text), only, max(screen.width - len(begin), LEAST_ROOM))
            yield begin + lit(shown, search, screen)
            if not search.words_in(shown) - seen:  # an excerpt is too narrow for the word
                break
            seen |= search.words_in(shown)


def excerpt(text: str, search: Search, room: int) -> str:
    """Cut a text to so many cells, around the first place of a word; `…` marks each cut."""
    places = search.places(text)
    if not places or cells(text[: places[0][1]]) < room:
        return fitted(text, room)
    start, end = places[0]
    begin = max(0, start - room // 4)
    while begin and cells(text[begin - 1 :]) < room:  # the end of the text leaves room
        begin -= 1
    begin = text.find(" ", begin, start) + 1 or start
    while cells(text[begin:end]) > room - 2 and begin < start:
        begin += 1
    return "…" + fitted(text[begin:], room - 1)


def lit(line: str, search: Search, screen: Screen) -> str:
    """Return a line with the words in colour."""
    if not screen.colours:
        return line
    out, done = "", 0
    for start, end in search.places(line):
        out += line[done:start] + screen.painted(line[start:end], "yellow")
        done = end
    return out + line[done:]


def _line(text: str) -> str:
    return " ".join(plain(text).split())
