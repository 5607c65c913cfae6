"""Chooses the records that fit an answer: all, or the most relevant and an index of the rest."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.guard.injection import orders_in
from core.lessons.record import LIMITS_BYTES, Record
from core.lessons.record_text import block_of, index_line
from core.messages import say
from core.text.plain import Budget, estimate_tokens

INDEX_SHARE = 0.25
INDEX_MARGIN = 1.5  # the room of the lines is taken from whole records, which need lines then
MOST_SEARCHED_CHARS = 16_384  # of a record: six times what a save allows
MOST_MISSED = 50  # in a row; laying out all of 10,000 records takes longer than ranking them
LARGEST_CHARS = 7_000  # of a record within the byte limits, even where hidden signs are spelled out
_USABLE = 4  # times the limits of a save; what a hook shows has room for no longer texts


def is_harmless(record: Record) -> bool:
    """Return whether a record does not read like an order to a model."""
    return not orders_in(record.marks, record.texts)


def is_usable(record: Record) -> bool:
    """Return whether a hook may read the record: its texts are hardly longer than a save allows."""
    return all(
        len(getattr(record, name)) <= _USABLE * limit for name, limit in LIMITS_BYTES.items()
    )


def searched_texts(records: Iterable[Record]) -> list[str]:
    """Return the text of each record that a question is compared with."""
    return [" ".join(record.texts)[:MOST_SEARCHED_CHARS] for record in records]


def by_relevance(query: str, records: Sequence[Record]) -> list[Record]:
    """Return all records, the most relevant to a question first, of equals the newer."""
    from core.text.ranking import Ranking  # a hook has an order of its own

    return [records[at] for at in Ranking(query, searched_texts(records)).order()]


def shortened(record: Record, chars: int) -> Record:
    """Return the record with the beginnings of its texts, together of so many characters."""
    texts = {}
    for name in ("lesson", "ask_next_time", "missing_context"):
        texts[name] = getattr(record, name)[: chars // 2]
        chars -= len(texts[name])
    return replace(record, **texts)


def records_within(
    records: Sequence[Record], budget: Budget, ranked: Callable[[], Sequence[Record]]
) -> list[str]:
    """Return lines for these records: all by topic, in the order of the file, when they fit.

    Else whole records in order of relevance, one line for each of the rest as far as they fit, and
    first of all a line that says what was left out. ranked: returns all of them, the most relevant
    first; asked only where not all fit.
    """
    if could_hold(budget, records):
        by_topic: dict[str, list[Record]] = {}
        for record in records:
            by_topic.setdefault(record.topic, []).append(record)
        in_topics = [record for group in by_topic.values() for record in group]
        blocks = blocks_by_topic(in_topics)
        if budget.take_all(blocks):
            return [text for text, _ in blocks]
    budget.spend(_partial(10**6, 10**6, 10**6))
    in_order = ranked()
    index_budget = _index_budget(in_order, budget)
    whole, rest = that_fit(in_order, budget, at_least=1)
    texts = [text for text, _ in blocks_by_topic(whole)]
    if not rest:  # a single one that is larger than the budget
        return texts
    index_budget.add(budget)
    lines: list[str] = []
    missed = 0
    for record in rest:
        if index_budget.is_spent or missed > MOST_MISSED:
            break
        if index_budget.take(line := _index_line(record)):
            lines.append(line)
            missed = 0
        else:
            missed += 1
    return [_partial(len(whole), len(lines), len(records)), *texts, *lines]


def blocks_by_topic(records: Iterable[Record]) -> list[tuple[str, int]]:
    """Return each block with its tokens; the topic stands above the first record of a run."""
    blocks, topic = list[tuple[str, int]](), None
    for record in records:
        block = block_of(record)
        is_first = record.topic != topic
        blocks.append((block.text, block.tokens) if is_first else (block.body, block.body_tokens))
        topic = record.topic
    return blocks


def that_fit(
    records: Sequence[Record], budget: Budget, *, at_least: int = 0
) -> tuple[list[Record], list[Record]]:
    """Return the records that fit, in their order, and the others.

    A large one stops no smaller one, but many in a row do: there may be thousands to look at.
    at_least: so many of the first ones are among them even if they do not fit, unless they are as
    large as only a hand, or a text of control characters, can make them.
    """
    fitting: list[Record] = []
    rest: list[Record] = []
    missed = 0
    for at, record in enumerate(records):
        if at >= at_least and (budget.is_spent or missed > MOST_MISSED):
            return fitting, [*rest, *records[at:]]
        block = block_of(record) if may_fit(record, budget) else None
        if block and budget.take(block.text, block.tokens):
            fitting.append(record)
            missed = 0
        elif block and at < at_least and len(block.text) <= LARGEST_CHARS:
            budget.spend(block.text)
            fitting.append(record)
        else:
            rest.append(record)
            missed += 1
    return fitting, rest


def may_fit(record: Record, budget: Budget) -> bool:
    """Return whether it is worth laying a record out: its bare texts alone would fit."""
    most = max(budget.chars, LARGEST_CHARS)
    return len(record.lesson) + len(record.missing_context) + len(record.ask_next_time) // 2 <= most


def could_hold(budget: Budget, records: Iterable[Record]) -> bool:
    """Return whether it is worth laying these records out: their bare texts alone would fit."""
    chars = 0
    for record in records:
        chars += len(record.lesson) + len(record.missing_context)
        if chars > budget.chars:
            return False
    return True


def _index_budget(ranked: Sequence[Record], budget: Budget) -> Budget:
    """Take a budget for the index lines: a share, or less when few records need one."""
    trial = Budget(budget.tokens, budget.chars)
    _, rest = that_fit(ranked, trial)
    tokens, chars = 0.0, 0.0
    for record in rest:
        line = _index_line(record)
        tokens += INDEX_MARGIN * (estimate_tokens(line) + 1)
        chars += INDEX_MARGIN * (len(line) + 1)
        if tokens > INDEX_SHARE * budget.tokens or chars > INDEX_SHARE * budget.chars:
            return budget.split_off(INDEX_SHARE)
    part = Budget(tokens, int(chars))
    budget.tokens -= part.tokens
    budget.chars -= part.chars
    return part


def _index_line(record: Record) -> str:
    return index_line(record if is_usable(record) else shortened(record, LARGEST_CHARS))


def _partial(whole: int, lines: int, count: int) -> str:
    hidden = count - whole - lines
    return say("answers.partial", full=whole, lines=lines, hidden=hidden, count=count)
