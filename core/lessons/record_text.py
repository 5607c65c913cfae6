"""Writes a record as text: as a model reads it, in one line, as JSON.

The format is for reading, not for parsing, and a model pays for every token of it at every task: a
date and what was missing, `→` and the lesson, `ask:` and the question. No text of a record can pass
for another record or for a line of ours: it follows a date, an arrow or a label, and each further
line of it is indented. Hidden characters are spelled out, and a record that reads like an order
says so at its head.
"""

import json
import re
import unicodedata
from typing import Any, NamedTuple

from core.guard.hidden import BLANKS, HIDDEN_CLASS, is_plain
from core.guard.injection import HIDDEN_TEXT, shown_marks
from core.lessons.record import Record
from core.messages import Language, language, say
from core.text.plain import LINE_ENDS, SURROGATE, estimate_tokens, flat, one_line, printable

INDEX_CHARS = 90
LINE_ID_CHARS = 16
MOST_BLOCKS = 2_048  # that are kept: some 2 MB
TOPIC_CHARS = 64

# What a reader would not see or take for a blank, or what could not be sent. Compiled where a text
# needs it, as are the next two: no plain one does.
_UNSEEN = f"[{HIDDEN_CLASS}{BLANKS}\xa0\u3000\u2028\u2029\ud800-\udfff]"
_PLAIN_TOPIC = re.compile(r"[^\W_](?:[\w.&@+/-]| (?! )){0,62}[\w+]|[^\W_]")
# Signs that Unicode counts among the letters: they look like a comma, a colon or a bar.
_LIKE_SIGNS = "[\u01c0-\u01c3\u02b0-\u02ff\ua4f8-\ua4fd\ua717-\ua721\ua788-\ua78c]"
_OWN_WORDS = re.compile(
    r"(?:search|log|compact)_memory|memory_log|[0-9]{4}-[0-9]{2}-[0-9]{2}", re.IGNORECASE
)
_MOST_BLANKS = 3  # a topic of more words is a sentence, which could be one of ours
# What looks like the quotation mark that ends a topic.
_LIKE_QUOTES = (
    "[\u02ba\u02dd\u02ee\u05f4\u201c-\u201f\u2033\u2036\u275d\u275e\u2e42\u301d-\u301f\u3003\uff02"
    "\U0001f676-\U0001f678]"
)
_PLAIN_ID = re.compile(r"[0-9A-Za-z._-]{1,64}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")


def topic_text(topic: str) -> str:
    """Return a topic for a line of ours: as it is when plain, else quoted as in JSON.

    Plain topics hold nothing that our lines are built of, and look like no other topic, so none can
    pass for one of either. `…` behind the quotation mark says that a topic is longer.
    """
    is_seen = is_plain(topic) or not re.search(_UNSEEN, topic)
    if is_seen and _PLAIN_TOPIC.fullmatch(topic) and _is_unmistakable(topic):
        return topic
    beginning = topic[:TOPIC_CHARS]
    quoted = json.dumps(beginning, ensure_ascii=bool(_twin(beginning)))
    cut = "…" if len(topic) > TOPIC_CHARS else ""
    return _escaped(quoted, _UNSEEN, _LIKE_QUOTES) + cut


def _is_unmistakable(topic: str) -> bool:
    """Return whether a topic without any sign of ours reads neither like us nor like another."""
    if topic.count(" ") > _MOST_BLANKS or _OWN_WORDS.search(topic):
        return False
    if topic.isascii():
        return True
    if _twin(topic) or re.search(_LIKE_SIGNS, topic):
        return False
    return bool(_PLAIN_TOPIC.fullmatch(unicodedata.normalize("NFKC", topic)))


def _twin(topic: str) -> str:
    """Return the ASCII topic that this one looks like, "" for none."""
    if topic.isascii():
        return ""
    from core.guard.injection import ascii_twin  # few topics need its tables

    return ascii_twin(topic)


def _escaped(text: str, *classes: str) -> str:
    r"""Return JSON with `\u` escapes for these characters."""
    if is_plain(text):
        return text
    for each in classes:
        text = re.sub(each, lambda found: json.dumps(found[0])[1:-1], text)
    return text


def record_json(record: Record) -> str:
    """Return a stored record as JSON that shows all its characters; half ones are U+FFFD."""
    return _visible(json.dumps(record.as_json(), ensure_ascii=False, indent=2))


def as_json(value: Any) -> str:
    """Return compact JSON that shows all its characters; half ones are U+FFFD."""
    return _visible(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _visible(text: str) -> str:
    return _escaped(SURROGATE.sub("\ufffd", text), _UNSEEN)


def log_text(data: bytes) -> str:
    """Return the file of a log as text, for a model that reads all of it.

    A character that nobody sees is an escape of JSON, so that the records stay what they are and
    no line holds more than it shows.
    """
    return _escaped(data.decode("utf-8", "replace").removeprefix("\ufeff"), _UNSEEN)


def token_text(record: Record) -> str:
    """Return the version id of a record, or a sentence for an id that could pass for another."""
    if _PLAIN_ID.fullmatch(record.id):
        return record.token
    return say("answers.no_token")


def field_line(label: str, text: str) -> str:
    """Return a label and a text, further lines indented."""
    return f"{label} " + printable(LINE_ENDS.sub("\n  ", text.strip("\r\n")))


def record_block(record: Record, *, token: str = "", ask: bool = True) -> str:
    """Lay out one record: date and what was missing, then the lesson and the question.

    What is empty costs nothing, and a log needs no word for its type. token: stands before it all.
    ask: whether the question is shown.
    """
    words = [token] if token else []
    if record.type == "principle":
        words += ["principle", day_of(record.compacted_at or record.created)]
    else:
        words.append(day_of(record.created))
    head, notes = one_line(" ".join(words)), _notes(record)
    if notes:
        head += f" ({'; '.join(notes)})"
    if record.missing_context.strip():
        has_colon = notes or _looks_like_a_note(record.missing_context)
        head = field_line(f"{head}:" if has_colon else head, record.missing_context)
    lines = [head, field_line("→", record.lesson)]
    if ask and record.ask_next_time.strip():
        lines.append(field_line("ask:", record.ask_next_time))
    return "\n".join(lines)


def headed_block(record: Record, *, token: str = "") -> str:
    """Lay out one record under its topic."""
    return f"[{topic_text(record.topic)}]\n{record_block(record, token=token)}"


class Block(NamedTuple):
    """A record as an answer shows it, and what that costs.

    text: below its topic, which is the first line. body: without it, as it stands below another
    record of the topic. tokens, body_tokens: estimated.
    """

    text: str
    tokens: int
    body: str
    body_tokens: int


# By identity, since a record may hold what has no hash; each stays here, so that no other gets its
# id. By language, since its notes are in one.
_BLOCKS: dict[tuple[int, Language], tuple[Record, Block]] = {}


def block_of(record: Record) -> Block:
    """Return the block of a record, which is laid out and estimated once for many answers."""
    key = id(record), language()
    kept = _BLOCKS.get(key)
    if kept:
        return kept[1]
    text = headed_block(record)
    body = text.partition("\n")[2]
    block = Block(text, estimate_tokens(text), body, estimate_tokens(body))
    if len(_BLOCKS) >= MOST_BLOCKS:
        _BLOCKS.clear()
    _BLOCKS[key] = record, block
    return block


def _looks_like_a_note(text: str) -> bool:
    """Return whether parentheses at the start of a text could pass for ours."""
    seen = (
        char for char in text if unicodedata.category(char)[0] not in "ZCM" and char != "\u2800"
    )
    first = unicodedata.normalize("NFKC", next(seen, ""))[:1]
    return first not in "[{]}" and unicodedata.category(first or "x") in ("Ps", "Pe")


def _notes(record: Record) -> list[str]:
    """Return what stands in parentheses behind the date; most records have nothing there."""
    notes = []
    if record.type == "principle" and record.source_count:
        notes.append(say("answers.merged", count=record.source_count))
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        notes.append(say("answers.seen", seen=record.seen, date=last))
    if noted := warning(record):
        notes.append(noted)
    return [one_line(note) for note in notes]


def warning(record: Record) -> str:
    """Return what a reader must know before the texts; "" for nearly every record.

    Hidden characters alone make no instructions of a lesson: they are only pointed out.
    """
    marks = shown_marks(record.marks, record.texts)
    if not marks:
        return ""
    key = "hidden_text" if marks == (HIDDEN_TEXT,) else "reads_like"
    return say(f"answers.{key}", marks=", ".join(marks))


def day_of(moment: str) -> str:
    """Return the date of a moment, and only a date: a hand can write anything there."""
    return moment[:10] if _DAY.match(moment) else "????-??-??"


def index_line(record: Record) -> str:
    """Return the topic of a record and the beginning of its lesson."""
    lesson = flat(record.lesson)
    if len(lesson) > INDEX_CHARS:
        lesson = lesson[:INDEX_CHARS].rstrip() + "…"
    noted = warning(record)
    head = f"- [{topic_text(record.topic)}]" + (f" ({noted})" if noted else "")
    return f"{head}: {lesson}" if noted or _looks_like_a_note(lesson) else f"{head} {lesson}"


def lesson_line(record: Record) -> str:
    """Return a whole record as one line: its id, date and topic, the gap, the lesson, the question.

    No text of it can pass for another line: none has a line end or hidden characters.
    """
    day = day_of(record.compacted_at or record.created)
    parts = [f"{flat(record.id)[:LINE_ID_CHARS]} {day} [{topic_text(record.topic)}]"]
    if record.missing_context.strip():
        parts.append(flat(record.missing_context))
    parts.append(f"→ {flat(record.lesson)}")
    if record.ask_next_time.strip():
        parts.append(f"ask: {flat(record.ask_next_time)}")
    return " ".join(parts)
