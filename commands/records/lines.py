"""Lays records out for a terminal: one line each in a table, or whole; no line is wider than it."""

import sys
from collections.abc import Iterable, Sequence

from commands.records.filters import last_of
from commands.records.words import word
from commands.terminal.columns import INDENT, broken, cells, fitted, table
from commands.terminal.records import counted_kinds, named_record, text_lines
from commands.terminal.safe_text import plain
from commands.terminal.screen import Screen, screen_here, uncoloured
from core.lessons.answers.rendering import day_of, topic_text, warning
from core.lessons.record import Record
from core.messages import Language

SHORT_ID, WHOLE_ID = 8, 16
BESIDE_ID = 52  # cells that the other columns need; in fewer a record takes two lines
LEAST_TOPIC = 12


def record_table(
    records: Sequence[Record],
    known: Sequence[Record],
    screen: Screen,
    lang: Language,
    *,
    questions: bool = False,
) -> list[str]:
    """Return a line for each record, or two on a narrow terminal.

    known: all records of the log; ids are as short as these allow. questions: the open question
    stands in the last column instead of the lesson.
    """
    id_chars = _id_chars(known)
    rows = [_row(record, id_chars, screen, questions=questions) for record in records]
    if screen.width < BESIDE_ID + id_chars:
        return [line for row in rows for line in _stacked(row, screen)]
    head = ["id", word(lang, "date"), "type", "topic", "ask_next_time" if questions else "lesson"]
    lines = table(head, rows, screen.width)
    shown = [_with_id(line, row[0], screen) for line, row in zip(lines[1:], rows, strict=True)]
    return [coloured(lines[0], screen), *shown]


def coloured(line: str, screen: Screen) -> str:
    """Return the heading of other lines, bold where the screen shows colours."""
    return screen.painted(line, "bold")


def whole(record: Record, screen: Screen, lang: Language) -> list[str]:
    """Return everything about one record that a person may need, each line within the screen."""
    lines = [named_record(record, lang), *text_lines(record)]
    facts = {
        "paths": ", ".join(record.paths),
        "when": ", ".join(f"`{piece}`" for piece in record.when),
        "created": record.created,
        "updated": record.updated,
        "seen": str(record.seen) if record.seen > 1 else "",
        "compacted_at": record.compacted_at,
        "source_count": "" if record.source_count is None else str(record.source_count),
        "marks": ", ".join(record.marks),
    }
    lines += [f"{INDENT}{name}: {plain(text)}" for name, text in facts.items() if text]
    if text := warning(record, lang):
        lines.append(INDENT + plain(text))
    head, *rest = [piece for line in lines for piece in hung(line, screen.width)]
    return [coloured(head, screen), *rest]


def redacted_lines(kinds: Iterable[str], lang: Language) -> list[str]:
    """Return a sentence that counts the replaced secrets by kind, none when there are none."""
    found = list(kinds)
    return [word(lang, "redacted", **counted_kinds(found))] if found else []


def print_within(lines: Sequence[str], *, error: bool = False) -> None:
    """Print lines and break those wider than the terminal. error: to standard error."""
    width = screen_here().width
    for line in lines:
        fits = cells(uncoloured(line)) <= width
        print("\n".join([line] if fits else hung(line, width)), file=sys.stderr if error else None)


def hung(line: str, width: int) -> list[str]:
    """Break a line into as many as it needs, the further ones indented below it."""
    text = line.lstrip(" ")
    first = line[: len(line) - len(text)]
    further = first + INDENT if first else ""
    pieces = broken(text, max(width - len(further), 2))
    return [(further if at else first) + piece for at, piece in enumerate(pieces)]


def _row(record: Record, id_chars: int, screen: Screen, *, questions: bool) -> list[str]:
    text = record.ask_next_time if questions else record.lesson
    return [
        plain(record.id)[:id_chars],
        day_of(last_of(record)),
        record.type,
        fitted(plain(topic_text(record.topic)), max(LEAST_TOPIC, screen.width // 5)),
        " ".join(plain(text).split()),
    ]


def _stacked(row: Sequence[str], screen: Screen) -> list[str]:
    name, day, type_, topic, text = row
    first = fitted(INDENT + INDENT.join((name, day, type_)), screen.width)
    second = fitted(f"{INDENT * 2}[{topic}] {text}", screen.width)
    return [_with_id(first, name, screen), second]


def _with_id(line: str, name: str, screen: Screen) -> str:
    start = line.find(name)
    if not screen.colours or start < 0:  # a long id of a stranger may have been cut
        return line
    return line[:start] + screen.painted(name, "yellow") + line[start + len(name) :]


def _id_chars(known: Sequence[Record]) -> int:
    """Return how many characters tell the ids apart; a wide or long id is cut all the same."""
    ids = {record.id for record in known}
    is_short = len({name[:SHORT_ID] for name in ids}) == len(ids)
    return SHORT_ID if is_short and all(cells(name) == len(name) for name in ids) else WHOLE_ID
