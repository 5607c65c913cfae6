"""Shows what a search found: where the words are, coloured, and in which text of a record."""

import re
from collections.abc import Collection, Iterator, Sequence

from commands.records.lines import laid_out
from commands.terminal.records import LABELS, readable
from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, cells, fitted
from core.lessons.record import Record
from core.lessons.record_text import topic_text
from core.text.ranking import Ranking
from core.text.terms import FIRST_WIDE, Term, without_particle, words_of

LEAST_ROOM = 16
_TOPIC_CHARS = 6


class Words:
    """The words of a search: which of them a text shows, and where."""

    def __init__(self, words: Collection[str]) -> None:
        self._patterns = {word: _pattern(word) for word in words}

    def only(self, words: Collection[str]) -> "Words":
        """Return these words of the search."""
        return Words([word for word in self._patterns if word in words])

    def words_in(self, text: str) -> set[str]:
        """Return the words that a text shows."""
        return {word for word, pattern in self._patterns.items() if pattern.search(text)}

    def places(self, text: str) -> list[tuple[int, int]]:
        """Return where they stand, in order, none overlapping."""
        places: list[tuple[int, int]] = []
        found = (it.span() for pattern in self._patterns.values() for it in pattern.finditer(text))
        for start, end in sorted(found):
            if places and start <= places[-1][1]:
                places[-1] = places[-1][0], max(end, places[-1][1])
            else:
                places.append((start, end))
        return places


def holders_of(query: str, records: Sequence[Record]) -> dict[str, set[int]]:
    """Return for each word of a query which records have it; one that says nothing is left out.

    An id, a version id or a date counts, too, and so does its beginning.
    """
    texts = [_searched(record) for record in records]
    holders = {}
    for word in dict.fromkeys(query.split()):
        named = {at for at, record in enumerate(records) if _is_named(record, word.lower())}
        terms = [it for it in Ranking(word, texts).holding().terms if not it.term.spare]
        if terms or named:
            having = (
                set.intersection(*(set(it.numbers or ()) for it in terms)) if terms else set[int]()
            )
            holders[word] = having | named
    return holders


def in_order(query: str, records: Sequence[Record]) -> list[int]:
    """Return the places of the records, the most relevant first."""
    return Ranking(query, [_searched(record) for record in records]).order()


def _searched(record: Record) -> str:
    return "\n".join((*record.texts, *record.paths, *record.when))


def _is_named(record: Record, word: str) -> bool:
    names = (record.id, record.created, record.updated, *record.source_ids)
    is_token = "@" in word and record.token == word
    return is_token or any(name.lower().startswith(word) for name in names)


def _pattern(word: str) -> re.Pattern[str]:
    needles = sorted({_expression(term) for term, *_ in words_of(word)}, key=len, reverse=True)
    bare = re.escape(without_particle(word)) if word[:1] >= FIRST_WIDE else re.escape(word)
    return re.compile("|".join([bare, *needles]), re.IGNORECASE)


def _expression(term: Term) -> str:
    needle = re.escape(term.needle)
    return needle if term.needle[0] >= FIRST_WIDE else rf"(?<![^\W_]){needle}[^\W\d_]*"


def found_lines(
    records: Sequence[Record],
    known: Sequence[Record],
    search: Words,
    screen: Screen,
    *,
    questions: bool,
) -> list[str]:
    """Return the table of these records; below each the words that its line has no room for.

    known: all records of the log. questions: the last column holds the open question.
    """
    records = [readable(record) for record in records]
    head, blocks = laid_out(records, known, screen.width, questions=questions)
    lines = [screen.painted(line, "bold") for line in head]
    for record, (*first, last) in zip(records, blocks, strict=True):
        topic = plain(topic_text(record.topic))[:_TOPIC_CHARS]
        start = max(last.rfind(f" {topic}"), last.find(f"[{topic}")) + 1
        lines += [*first, last[:start] + lit(last[start:], search, screen)]
        lines += _below(record, search.words_in(last[start:]), search, screen)
    return lines


def _below(record: Record, seen: set[str], search: Words, screen: Screen) -> Iterator[str]:
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


def excerpt(text: str, search: Words, room: int) -> str:
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


def lit(line: str, search: Words, screen: Screen) -> str:
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
