"""Writes a record as text for a model, and chooses the records that fit a budget.

No text of a record can pass for another record or a line of ours: it follows a date, an arrow or a
label, further lines are indented, and hidden characters escaped.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from core.guard.characters import BLANKS, HIDDEN_CLASS, ascii_twin, is_plain
from core.guard.injection import HIDDEN_TEXT, current_marks, order_marks
from core.lessons.record import LIMITS_BYTES, Record
from core.messages import Language, language, say
from core.text.plain import (
    LINE_ENDS,
    SURROGATE,
    Budget,
    day_of,
    estimate_tokens,
    flat_line,
    printable_text,
)

INDEX_CHARS = 90
LINE_ID_CHARS = 16
TOPIC_CHARS = 64
MOST_BLOCKS = 4_096  # that are kept: some 2 MB

INDEX_SHARE = 0.25
INDEX_MARGIN = 1.5  # the room of the lines is taken from whole records, which need lines then
MOST_MISSED = 50  # in a row; laying out all of 10,000 records takes longer than ranking them
LARGEST_CHARS = 7_000  # of a record within the byte limits, even where hidden signs are spelled out
_USABLE_FACTOR = 4  # times the limits of a save; a hook has room for no longer texts

# Signs that nobody sees, that look like a blank, or that cannot be sent. Compiled where a text
# needs it, as are the next two: no plain one does.
_UNSEEN = f"[{HIDDEN_CLASS}{BLANKS}\xa0\u3000\u2028\u2029\ud800-\udfff]"
_PLAIN_TOPIC = re.compile(r"[^\W_](?:[\w.&@+/-]| (?! )){0,62}[\w+]|[^\W_]")
# Signs that Unicode counts among the letters: they look like a comma, a colon or a bar.
_LIKE_SIGNS = "[\u01c0-\u01c3\u02b0-\u02ff\ua4f8-\ua4fd\ua717-\ua721\ua788-\ua78c]"
_OWN_WORDS = re.compile(
    r"(?:search|log|compact)_memory|memory_log|[0-9]{4}-[0-9]{2}-[0-9]{2}", re.IGNORECASE
)
_MOST_BLANKS = 3  # a topic of more words is a sentence, which could be one of ours
# Signs that look like the quotation mark that ends a topic.
_LIKE_QUOTES = (
    "[\u02ba\u02dd\u02ee\u05f4\u201c-\u201f\u2033\u2036\u275d\u275e\u2e42\u301d-\u301f\u3003\uff02"
    "\U0001f676-\U0001f678]"
)
PLAIN_ID = re.compile(r"[0-9A-Za-z._-]{1,64}")


def topic_text(topic: str) -> str:
    """Return a topic for a line of ours: plain as it is, else quoted as in JSON.

    A plain topic holds no sign of our lines and looks like no other. `…` follows a cut one.
    """
    beginning = topic[:TOPIC_CHARS]
    twin = "" if topic.isascii() else ascii_twin(beginning)  # the ASCII topic that it looks like
    is_seen = is_plain(topic) or not re.search(_UNSEEN, topic)
    if is_seen and not twin and _PLAIN_TOPIC.fullmatch(topic):
        reads_like_us = topic.count(" ") > _MOST_BLANKS or _OWN_WORDS.search(topic)
        looks_like_us = not topic.isascii() and (
            re.search(_LIKE_SIGNS, topic)
            or not _PLAIN_TOPIC.fullmatch(unicodedata.normalize("NFKC", topic))
        )
        if not reads_like_us and not looks_like_us:
            return topic
    quoted = json.dumps(beginning, ensure_ascii=bool(twin))
    ellipsis = "…" if len(topic) > TOPIC_CHARS else ""
    return _escape_chars(quoted, _UNSEEN, _LIKE_QUOTES) + ellipsis


def version_id_text(record: Record) -> str:
    """Return the version id, or a sentence for an id that could pass for another."""
    if PLAIN_ID.fullmatch(record.id):
        return record.version_id
    return say("answers.no_token")


def record_name(record: Record) -> str:
    """Return type and version id, as `log 923004e2eda53f53@13da4b`."""
    return f"{record.type} {version_id_text(record)}"


def warning_on(record: Record) -> str:
    """Return what a reader must know before the texts, mostly ""."""
    marks = current_marks(record.marks, record.texts)
    if not marks:
        return ""
    key = "hidden_text" if marks == (HIDDEN_TEXT,) else "reads_like"  # those alone are no order
    return say(f"answers.{key}", marks=", ".join(marks))


def field_line(label: str, text: str) -> str:
    """Return a label and a text, further lines indented."""
    return f"{label} " + printable_text(LINE_ENDS.sub("\n  ", text.strip("\r\n")))


def _looks_like_a_note(text: str) -> bool:
    """Return whether a text begins with parentheses that could pass for ours."""
    visible_chars = (
        char for char in text if unicodedata.category(char)[0] not in "ZCM" and char != "\u2800"
    )
    first_char = unicodedata.normalize("NFKC", next(visible_chars, ""))[:1]
    return first_char not in "[{]}" and unicodedata.category(first_char or "x") in ("Ps", "Pe")


def record_block(record: Record, *, version_id: str = "", ask: bool = True) -> str:
    """Lay out one record; empty fields cost nothing. version_id: stands before it all.

    2026-03-02 VAT differs by country
    → Ask for the country
    ask: Which country?
    """
    notes = []  # most records have none
    if record.type == "principle":
        head = f"principle {day_of(record.compacted_at or record.created)}"
        if record.source_count:
            notes.append(say("answers.merged", count=record.source_count))
    else:
        head = day_of(record.created)
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        notes.append(say("answers.seen", seen=record.seen, date=last))
    if warning_text := warning_on(record):
        notes.append(warning_text)
    head = f"{version_id} {head}".lstrip()
    if notes:
        head += f" ({'; '.join(notes)})"
    if record.missing_context.strip():
        has_colon = notes or _looks_like_a_note(record.missing_context)
        head = field_line(f"{head}:" if has_colon else head, record.missing_context)
    lines = [head, field_line("→", record.lesson)]
    if ask and record.ask_next_time.strip():
        lines.append(field_line("ask:", record.ask_next_time))
    return "\n".join(lines)


def headed_block(record: Record, *, version_id: str = "") -> str:
    """Lay out one record under its topic, as `[payment]`."""
    return f"[{topic_text(record.topic)}]\n{record_block(record, version_id=version_id)}"


class Block(NamedTuple):
    """A laid out text and its estimated tokens."""

    text: str
    tokens: int

    @classmethod
    def from_text(cls, text: str) -> "Block":
        return cls(text, estimate_tokens(text))


# By language, since the notes are in one, and by identity, since a record may hold what has no
# hash. Each record stays here, so that no other gets its id.
_BLOCKS: dict[tuple[Language, int, bool], tuple[Record, Block]] = {}


def block_of(record: Record, lang: Language, *, is_headed: bool = True) -> Block:
    """Return the block of a record, laid out once for many answers.

    lang: language of the answer. is_headed: begin with the topic.
    """
    key = lang, id(record), is_headed
    if key not in _BLOCKS:
        text = headed_block(record) if is_headed else record_block(record)
        if len(_BLOCKS) >= MOST_BLOCKS:
            _BLOCKS.clear()
        _BLOCKS[key] = record, Block.from_text(text)
    return _BLOCKS[key][1]


def blocks_by_topic(records: Iterable[Record]) -> list[Block]:
    """Return the records' blocks; a topic stands above the first of a run."""
    blocks, topic, lang = list[Block](), None, language()
    for record in records:
        blocks.append(block_of(record, lang, is_headed=record.topic != topic))
        topic = record.topic
    return blocks


def index_line(record: Record) -> str:
    """Return the beginning of a record: `- [payment] Ask for …`."""
    if not is_usable(record):  # only the beginning of such texts is looked at
        record = shorten_record(record, LARGEST_CHARS)
    lesson = flat_line(record.lesson)
    if len(lesson) > INDEX_CHARS:
        lesson = lesson[:INDEX_CHARS].rstrip() + "…"
    warning_text = warning_on(record)
    head = f"- [{topic_text(record.topic)}]" + (f" ({warning_text})" if warning_text else "")
    return f"{head}: {lesson}" if warning_text or _looks_like_a_note(lesson) else f"{head} {lesson}"


def lesson_line(record: Record) -> str:
    """Return a whole record as one line; its texts lose line ends and hidden characters.

    923004e2eda53f53 2026-03-02 [payment] VAT differs → Ask for it ask: Which?
    """
    day = day_of(record.compacted_at or record.created)
    parts = [f"{flat_line(record.id)[:LINE_ID_CHARS]} {day} [{topic_text(record.topic)}]"]
    if record.missing_context.strip():
        parts.append(flat_line(record.missing_context))
    parts.append(f"→ {flat_line(record.lesson)}")
    if record.ask_next_time.strip():
        parts.append(f"ask: {flat_line(record.ask_next_time)}")
    return " ".join(parts)


def json_text(value: Any, indent: int | None = None) -> str:
    """Return JSON that shows all its characters, compact without `indent`."""
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _escape_chars(SURROGATE.sub("\ufffd", text), _UNSEEN)


def log_text(data: bytes) -> str:
    """Return a log for a model that reads all of it: no line holds more than it shows."""
    return _escape_chars(data.decode("utf-8", "replace").removeprefix("\ufeff"), _UNSEEN)


def _escape_chars(text: str, *classes: str) -> str:
    if is_plain(text):
        return text
    for char_class in classes:
        text = re.sub(char_class, lambda match: json.dumps(match[0])[1:-1], text)
    return text


# Records of a log


def is_harmless(record: Record) -> bool:
    """Return whether a record does not read like an order to a model."""
    return not order_marks(record.marks, record.texts)


def is_usable(record: Record) -> bool:
    """Return whether a hook may read the record: no text is above four times its limit."""
    return all(
        len(getattr(record, name)) <= _USABLE_FACTOR * limit for name, limit in LIMITS_BYTES.items()
    )


def shorten_record(record: Record, chars: int) -> Record:
    """Return the record with the beginnings of its texts, at most `chars` together."""
    texts = {}
    for name in ("lesson", "ask_next_time", "missing_context"):
        texts[name] = getattr(record, name)[: chars // 2]
        chars -= len(texts[name])
    return replace(record, **texts)


def group_by_topic(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records by topic; topics come in the order of the file."""
    records_by_topic: dict[str, list[Record]] = {}
    for record in records:
        records_by_topic.setdefault(record.topic, []).append(record)
    return records_by_topic


# Which records fit a budget


def may_fit(records: Iterable[Record], budget: Budget) -> bool:
    """Return whether the bare texts would fit, so that a layout is worth its time."""
    left_chars = max(budget.chars, LARGEST_CHARS)
    for record in records:
        left_chars -= len(record.lesson) + len(record.missing_context)
        if len(record.ask_next_time) > LIMITS_BYTES["ask_next_time"]:  # else said once for many
            left_chars -= len(record.ask_next_time)
    return left_chars >= 0


def fit_blocks(
    records: Iterable[Record],
    budget: Budget,
    layout: Callable[[Record], Block | None],
    *,
    at_least_one: bool = False,
) -> list[tuple[Record, Block]]:
    """Return the records that fit with their blocks, in their order.

    One large record stops no smaller ones, MOST_MISSED in a row do. layout: None leaves a record
    out. at_least_one: show the first above the budget, up to LARGEST_CHARS.
    """
    fitting_blocks: list[tuple[Record, Block]] = []
    missed_count = 0
    for record in records:
        is_needed = at_least_one and not fitting_blocks and not missed_count
        if not is_needed and (budget.is_spent or missed_count > MOST_MISSED):
            break
        block = layout(record)
        if block and budget.take(block.text, block.tokens):
            fitting_blocks.append((record, block))
            missed_count = 0
        elif block and is_needed and len(block.text) <= LARGEST_CHARS:
            budget.spend(block.text)
            fitting_blocks.append((record, block))
        else:
            missed_count += 1
    return fitting_blocks


def fit_records(
    records: Sequence[Record], budget: Budget, *, at_least_one: bool = False
) -> tuple[list[Record], list[Record]]:
    """Return the records that fit whole, and the others; see `fit_blocks`."""
    lang = language()

    def layout(record: Record) -> Block | None:
        return block_of(record, lang) if may_fit((record,), budget) else None

    blocks = fit_blocks(records, budget, layout, at_least_one=at_least_one)
    picks = {id(record): record for record, _ in blocks}
    return [*picks.values()], [record for record in records if id(record) not in picks]


def fit_all(records: Sequence[Record], budget: Budget) -> list[str] | None:
    """Return all records by topic, None if they do not fit; nothing is spent."""
    if not may_fit(records, budget):
        return None  # laying them out would take long
    blocks = blocks_by_topic(chain.from_iterable(group_by_topic(records).values()))
    texts = [block.text for block in blocks]
    tokens = sum(block.tokens for block in blocks) + len(blocks)  # with the ends of the lines
    fits = tokens <= budget.tokens and len("\n".join(texts)) < budget.chars
    return texts if fits else None


def fit_best(ranked: Sequence[Record], budget: Budget) -> list[str]:
    """Return whole records, then one line for each other, as far as they fit.

    A first line counts the rest. ranked: the most relevant record first.
    """
    budget.spend(say("answers.partial", full=10**6, lines=10**6, hidden=0, count=10**6))
    # The lines get INDEX_SHARE of the budget, or less when few records need one.
    tokens, chars = 0.0, 0.0
    for record in fit_records(ranked, Budget(budget.tokens, budget.chars))[1]:
        line = index_line(record)
        tokens += INDEX_MARGIN * (estimate_tokens(line) + 1)
        chars += INDEX_MARGIN * (len(line) + 1)
        if tokens > INDEX_SHARE * budget.tokens or chars > INDEX_SHARE * budget.chars:
            index_budget = budget.split_off(INDEX_SHARE)
            break
    else:
        index_budget = Budget(tokens, int(chars))
        budget.tokens -= index_budget.tokens
        budget.chars -= index_budget.chars
    whole_records, rest = fit_records(ranked, budget, at_least_one=True)
    texts = [block.text for block in blocks_by_topic(whole_records)]
    if not rest:  # a single record above the budget
        return texts
    index_budget.add(budget)
    index = fit_blocks(rest, index_budget, lambda record: Block.from_text(index_line(record)))
    lines = [block.text for _, block in index]
    counts = {"full": len(whole_records), "lines": len(lines), "hidden": len(rest) - len(lines)}
    return [say("answers.partial", **counts, count=len(ranked)), *texts, *lines]
