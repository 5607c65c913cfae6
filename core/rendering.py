"""How records look to a model, and which of them fit into a budget.

The format is for reading, not for parsing. No text of a record can pass for another record or for
a line of ours: a record's own lines begin with a label, and every further line is indented. What a
reader would not see is spelled out, and a record that reads like instructions says so at its head.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.estimates import estimate_tokens
from core.marking import HIDDEN_CLASS, HIDDEN_TEXT, revealed, shown_marks
from core.messages import Language, say
from core.record import Record
from core.settings import Settings

INDEX_CHARS = 90
INDEX_SHARE = 0.25
TOPIC_CHARS = 64

# What ends a line (other signs that some reader takes for an end are spelled out), and what would
# be hidden or could not be sent.
_LINE_ENDS = re.compile("\r\n|[\n\r\u2028\u2029]")
_UNSEEN = re.compile(f"[{HIDDEN_CLASS}\u2028\u2029\ud800-\udfff]")
_PLAIN_TOPIC = re.compile(r"[^\W_](?:[\w .&@+/-]{0,62}[\w+])?")
_PLAIN_ID = re.compile(r"[0-9A-Za-z._-]{1,64}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_UNPRINTABLE = re.compile(f"[{HIDDEN_CLASS}\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Budget:
    """What an answer may still cost, in estimated tokens and in characters."""

    tokens: float
    chars: int

    @classmethod
    def of(cls, settings: Settings) -> "Budget":
        """The budget of one whole answer."""
        return cls(settings.budget_tokens, settings.budget_chars)

    def take(self, text: str) -> bool:
        """Spend `text` and its line end if it fits; else spend nothing and say so."""
        tokens, chars = estimate_tokens(text) + 1, len(text) + 1
        if tokens > self.tokens or chars > self.chars:
            return False
        self.tokens -= tokens
        self.chars -= chars
        return True

    def spend(self, text: str) -> None:
        """Spend a text that is shown in any case."""
        self.tokens -= estimate_tokens(text) + 1
        self.chars -= len(text) + 1

    def take_all(self, texts: Iterable[str]) -> bool:
        """Spend all texts if they fit together; else spend nothing and say so."""
        trial = Budget(self.tokens, self.chars)
        if not all(map(trial.take, texts)):
            return False
        self.tokens, self.chars = trial.tokens, trial.chars
        return True

    def could_hold(self, records: Iterable[Record]) -> bool:
        """Whether it is worth laying these records out: their bare texts alone would fit."""
        chars = 0
        for record in records:
            chars += len(record.lesson) + len(record.missing_context)
            if chars > self.chars:
                return False
        return True

    @property
    def is_spent(self) -> bool:
        """Not even the shortest record would fit."""
        return self.tokens < 10 or self.chars < 30

    def split_off(self, share: float) -> "Budget":
        """Move this share into a budget of its own."""
        part = Budget(self.tokens * share, int(self.chars * share))
        self.tokens -= part.tokens
        self.chars -= part.chars
        return part

    def add(self, other: "Budget") -> None:
        """Get back what another budget did not spend."""
        self.tokens += other.tokens
        self.chars += other.chars


def one_line(text: str) -> str:
    """Text without line ends and hidden characters, for use inside a line of ours."""
    return printable(_LINE_ENDS.sub(" ", text))


def topic_text(topic: str) -> str:
    """A topic inside a line of ours: as it is when plain, else quoted and escaped as in JSON.

    Plain topics hold nothing that our lines are built of, so none can pass for one of them.
    """
    if _PLAIN_TOPIC.fullmatch(topic) and not _UNSEEN.search(topic):
        return topic
    shown = topic if len(topic) <= TOPIC_CHARS else topic[:TOPIC_CHARS] + "…"
    return _escaped(json.dumps(shown, ensure_ascii=False))


def _escaped(text: str) -> str:
    r"""JSON with `\u` escapes for the characters that nobody would see."""
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def record_json(record: Record) -> str:
    """A record as it is stored, as JSON that shows all its characters; half ones are U+FFFD."""
    text = json.dumps(record.as_json(), ensure_ascii=False, indent=2)
    return _escaped(_SURROGATE.sub("\ufffd", text))


def token_text(record: Record, lang: Language) -> str:
    """The token of a record; a sentence in its place for an id that could pass for another."""
    if _PLAIN_ID.fullmatch(record.id):
        return record.token
    return say(lang, "no_token")


def printable(text: str) -> str:
    """Text as it is, hidden characters spelled out and lone surrogates shown as U+FFFD.

    A byte order mark is harmless only where a text begins, and something is put before this one.
    """
    if not _UNPRINTABLE.search(text):
        return text
    return _SURROGATE.sub("\ufffd", revealed(f" {text}")[1:])


def field_line(label: str, text: str) -> str:
    """`label: text`, further lines indented."""
    return f"{label}: " + printable(_LINE_ENDS.sub("\n  ", text.strip("\r\n")))


def record_block(record: Record, mark: str, lang: Language, *, ask: bool = True) -> str:
    """One record: its mark, type and dates, then its fields; what is empty costs nothing."""
    notes = []
    dates = day_of(record.created)
    if record.type == "principle":
        dates = f"compacted {day_of(record.compacted_at or record.created)}"
        if record.source_count:
            notes.append(say(lang, "merged", count=record.source_count))
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        notes.append(say(lang, "seen", seen=record.seen, date=last))
    if noted := warning(record, lang):
        notes.append(noted)
    head = f"{mark} {record.type} {dates}" + (f" ({'; '.join(notes)})" if notes else "")
    lines = [one_line(head)]
    if record.missing_context.strip():
        lines.append(field_line("missing", record.missing_context))
    lines.append(field_line("lesson", record.lesson))
    if ask and record.ask_next_time.strip():
        lines.append(field_line("ask", record.ask_next_time))
    return "\n".join(lines)


def warning(record: Record, lang: Language) -> str:
    """What a reader must know before reading the texts; "" for nearly every record.

    Hidden characters alone make no instructions of a lesson: they are only pointed out.
    """
    marks = shown_marks(record.marks, record.texts)
    if not marks:
        return ""
    key = "hidden_text" if marks == (HIDDEN_TEXT,) else "reads_like"
    return say(lang, key, marks=", ".join(marks))


def day_of(moment: str) -> str:
    """The date of a moment, and only a date: a hand can write anything there."""
    return moment[:10] if _DAY.match(moment) else "????-??-??"


def records_within(
    records: Sequence[Record], query: str, budget: Budget, lang: Language
) -> list[str]:
    """Lines for these records: all of them by topic, in the order of the file, when they fit.

    Else whole records in order of relevance to `query`, one line for each of the rest as far as
    they fit, and first of all a line that says what was left out.
    """
    if budget.could_hold(records):
        from core.compaction import group_by_topic  # a hook never comes here

        by_topic = [record for group in group_by_topic(records) for record in group.records]
        blocks = _numbered(by_topic, lang)
        if budget.take_all(blocks):
            return blocks
    budget.spend(_partial(lang, 10**6, 10**6, 10**6))
    index_budget = budget.split_off(INDEX_SHARE)
    full, rest = that_fit(_ranked(records, query), budget, lang)
    index_budget.add(budget)
    lines: list[str] = []
    for record in rest:
        if index_budget.is_spent:
            break
        if index_budget.take(line := _index_line(record, lang)):
            lines.append(line)
    return [_partial(lang, len(full), len(lines), len(records)), *_numbered(full, lang), *lines]


def records_that_fit(records: Sequence[Record], query: str, budget: Budget, lang: Language) -> str:
    """Whole records only, the most relevant first, as many as the budget holds."""
    full, _ = that_fit(_ranked(records, query), budget, lang)
    return "\n".join(_numbered(full, lang))


def _ranked(records: Sequence[Record], query: str) -> list[Record]:
    from core.ranking import order  # a hook has an order of its own, and most answers need none

    searchable = [
        f"{record.topic} {record.missing_context} {record.lesson} {record.ask_next_time}"
        for record in records
    ]
    return [records[at] for at in order(query, searchable)]


def that_fit(
    records: Sequence[Record], budget: Budget, lang: Language
) -> tuple[list[Record], list[Record]]:
    """The records that fit, in their order, and the others; a large one stops no smaller one."""
    full: list[Record] = []
    rest: list[Record] = []
    for record in records:
        if budget.is_spent or not budget.take(headed_block(record, f"#{len(full) + 1}", lang)):
            rest.append(record)
        else:
            full.append(record)
    return full, rest


def headed_block(record: Record, mark: str, lang: Language) -> str:
    """One record under its topic."""
    return f"[{topic_text(record.topic)}]\n{record_block(record, mark, lang)}"


def _numbered(records: Sequence[Record], lang: Language) -> list[str]:
    """Blocks with running numbers; the topic stands above the first of each run."""
    blocks, topic = [], None
    for number, record in enumerate(records, start=1):
        show = record_block if record.topic == topic else headed_block
        blocks.append(show(record, f"#{number}", lang))
        topic = record.topic
    return blocks


def _index_line(record: Record, lang: Language) -> str:
    lesson = " ".join(one_line(record.lesson).split())
    if len(lesson) > INDEX_CHARS:
        lesson = lesson[:INDEX_CHARS].rstrip() + "…"
    noted = warning(record, lang)
    return f"- [{topic_text(record.topic)}] " + (f"({noted}) " if noted else "") + lesson


def _partial(lang: Language, full: int, lines: int, count: int) -> str:
    hidden = count - full - lines
    return say(lang, "partial", full=full, lines=lines, hidden=hidden, count=count)
