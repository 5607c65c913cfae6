"""Lays records out for a terminal: one line each in a table, or whole; no line is wider than it."""

from collections.abc import Iterable, Sequence

from commands.documents.facts import facts
from commands.records.filters import last_of
from commands.terminal.records import counted_kinds, named_record, readable, text_lines
from commands.terminal.safe_text import plain
from commands.terminal.screen import INDENT, Screen, cells, day_text, fitted, hung, table
from core.git import is_uncommitted
from core.lessons.record import Record
from core.lessons.record_text import topic_text, warning
from core.messages import say
from rooms.room import Opened

SHORT_ID, WHOLE_ID = 8, 16
BESIDE_ID = 42  # cells that the other columns need; in fewer a record takes two lines
MOST_TOPIC = 14
PRINCIPLE = "*"  # before the lesson of a principle


def record_table(
    records: Sequence[Record],
    known: Sequence[Record],
    screen: Screen,
    *,
    questions: bool = False,
) -> list[str]:
    """Return a line for each record, or two on a narrow terminal.

    known: all records of the log; ids are as short as these allow. questions: the open question
    stands in the last column instead of the lesson.
    """
    head, blocks = laid_out(records, known, screen.width, questions=questions)
    id_chars = _id_chars(known)
    lines = [screen.painted(line, "bold") for line in head]
    for record, (first, *more) in zip(records, blocks, strict=True):
        lines += [_with_id(first, plain(record.id)[:id_chars], screen), *more]
    return lines


def laid_out(
    records: Sequence[Record],
    known: Sequence[Record],
    width: int,
    *,
    questions: bool,
) -> tuple[list[str], list[list[str]]]:
    """Return the head of the table, where there is room for one, and the lines of each record."""
    id_chars = _id_chars(known)
    rows = [_row(record, id_chars, questions=questions) for record in records]
    if width < BESIDE_ID + id_chars:
        return [], [_stacked(row, width) for row in rows]
    last = "ask_next_time" if questions else "lesson"
    if any(record.type == "principle" for record in records):
        last += f" ({PRINCIPLE} principle)"
    head, *lines = table(["id", say("records.date"), "topic", last], rows, width)
    return [head], [[line] for line in lines]


def whole(record: Record, screen: Screen) -> list[str]:
    """Return everything about one record that a person may need, each line within the screen."""
    record = readable(record)
    lines = [named_record(record), *text_lines(record)]
    given = {
        "paths": ", ".join(record.paths),
        "when": ", ".join(f"`{piece}`" for piece in record.when),
        "marks": ", ".join(record.marks),
    }
    lines += [f"{INDENT}{name}: {plain(text)}" for name, text in given.items() if text]
    lines.append(INDENT + screen.painted(plain("; ".join(facts(record)[:-1])), "dim"))
    if text := warning(record):
        lines.append(INDENT + screen.painted(plain(text), "yellow"))
    lines[0] = screen.painted(lines[0], "bold")
    return [piece for line in lines for piece in hung(line, screen.text_width)]


def commit_lines(opened: Opened) -> list[str]:
    """Return what to do next where git would take up the log, and has it otherwise."""
    is_new = is_uncommitted(opened.store.path, opened.store.read_bytes)
    return [say("records.look_and_commit")] if is_new else []


def redacted_lines(kinds: Iterable[str], key: str = "redacted") -> list[str]:
    """Return a sentence that counts the replaced secrets by kind, none when there are none."""
    found = list(kinds)
    return [say(f"records.{key}", **counted_kinds(found))] if found else []


def _row(record: Record, id_chars: int, *, questions: bool) -> list[str]:
    record = readable(record)
    text = " ".join(plain(record.ask_next_time if questions else record.lesson).split())
    return [
        plain(record.id)[:id_chars],
        day_text(last_of(record)),
        fitted(plain(topic_text(record.topic)), MOST_TOPIC),
        f"{PRINCIPLE} {text}" if record.type == "principle" else text,
    ]


def _stacked(row: Sequence[str], width: int) -> list[str]:
    name, day, topic, text = row
    first = fitted(INDENT + INDENT.join((name, day)), width)
    return [first, fitted(f"{INDENT * 2}[{topic}] {text}", width)]


def _with_id(line: str, name: str, screen: Screen) -> str:
    start = line.find(name)
    if not screen.colours or start < 0:  # a long id of a stranger may have been cut
        return line
    return line[:start] + screen.painted(name, "dim") + line[start + len(name) :]


def _id_chars(known: Sequence[Record]) -> int:
    """Return how many characters tell the ids apart; a wide or long id is cut all the same."""
    ids = {record.id for record in known}
    is_short = len({name[:SHORT_ID] for name in ids}) == len(ids)
    return SHORT_ID if is_short and all(cells(name) == len(name) for name in ids) else WHOLE_ID
