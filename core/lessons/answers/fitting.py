"""Chooses the records that fit an answer: all, or the most relevant and an index of the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, overload

from core.injection.marks import orders_in
from core.lessons.answers.rendering import headed_block, index_line
from core.lessons.record import LIMITS_BYTES, Record
from core.messages import say
from core.text.budget import Budget
from core.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from core.text.ranking import Ranking

INDEX_SHARE = 0.25
MOST_SEARCHED_CHARS = 16_384  # of a record: six times what a save allows
_USABLE = 4  # times the limits of a save; what a hook shows has room for no longer texts
MOST_MISSED = 50  # in a row; laying out all of 10,000 records takes longer than ranking them
INDEX_MARGIN = 1.5  # the room of the lines is taken from whole records, which need lines then
LARGEST_CHARS = 7_000  # of a record within the byte limits, even where hidden signs are spelled out


def _index_line(record: Record) -> str:
    return index_line(record if is_usable(record) else shortened(record, LARGEST_CHARS))


def may_fit(record: Record, budget: Budget) -> bool:
    """Return whether it is worth laying a record out: its bare texts alone would fit."""
    most = max(budget.chars, LARGEST_CHARS)
    return len(record.lesson) + len(record.missing_context) + len(record.ask_next_time) // 2 <= most


def may_be_taken(record: Record, budget: Budget) -> bool:
    """Return whether the bare texts of a record, without their blanks, fit into the budget."""
    text = "".join("".join(record.texts[1:3]).split())
    return len(text) <= budget.chars and estimate_tokens(text) <= budget.tokens


def shortened(record: Record, chars: int) -> Record:
    """Return the record with the beginnings of its texts, together of so many characters."""
    texts = {}
    for name in ("lesson", "ask_next_time", "missing_context"):
        texts[name] = getattr(record, name)[: chars // 2]
        chars -= len(texts[name])
    return replace(record, **texts)


def is_harmless(record: Record) -> bool:
    """Return whether a record does not read like an order to a model."""
    return not orders_in(record.marks, record.texts)


def is_usable(record: Record) -> bool:
    """Return whether a hook may read the record: its texts are hardly longer than a save allows."""
    return all(
        len(getattr(record, name)) <= _USABLE * limit for name, limit in LIMITS_BYTES.items()
    )


class Relevance:
    """The records of an answer in the order in which a question needs them, worked out once."""

    def __init__(self, query: str, records: Sequence[Record]) -> None:
        self._query, self._records = query, records

    @cached_property
    def _ranking(self) -> "Ranking":
        from core.text.ranking import Ranking  # a hook has an order of its own

        return Ranking(self._query, Searchable(self._records))

    def records(self) -> list[Record]:
        """Return the records, the most relevant first."""
        return [self._records[at] for at in self._ranking.order()]

    def topics(self) -> list[str]:
        """Return their topics, that of the most relevant record first."""
        return self._ranking.topics([record.topic for record in self._records])


class Searchable(Sequence[str]):
    """The texts of records, each made when it is asked for: there may be 100,000."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return list(map(_searched, self._records[at]))
        return _searched(self._records[at])


def _searched(record: Record) -> str:
    return " ".join(record.texts)[:MOST_SEARCHED_CHARS]


class Layout:
    """Lays out records as a model reads them, and estimates each once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Record, str, int]] = {}

    def block(self, record: Record) -> tuple[str, int]:
        """Return the block of a record with its topic above it, and its estimated tokens."""
        if id(record) not in self._known:
            text = headed_block(record)
            self._known[id(record)] = record, text, estimate_tokens(text)  # keeps its id its own
        return self._known[id(record)][1:]

    def by_topic(self, records: Iterable[Record]) -> list[str]:
        """Return the blocks of records; the topic stands above the first of each run."""
        blocks, topic = list[str](), None
        for record in records:
            text, _ = self.block(record)
            blocks.append(text.partition("\n")[2] if record.topic == topic else text)
            topic = record.topic
        return blocks


def records_within(
    records: Sequence[Record],
    query: str,
    budget: Budget,
    *,
    relevance: "Relevance | None" = None,
) -> list[str]:
    """Return lines for these records: all by topic, in the order of the file, when they fit.

    Else whole records in order of relevance to `query`, one line for each of the rest as far as
    they fit, and first of all a line that says what was left out. relevance: where it was worked
    out before.
    """
    layout = Layout()
    if could_hold(budget, records):
        from core.lessons.compaction import group_by_topic  # a hook never comes here

        by_topic = [record for group in group_by_topic(records) for record in group.records]
        blocks = layout.by_topic(by_topic)
        if budget.take_all(blocks):
            return blocks
    budget.spend(_partial(10**6, 10**6, 10**6))
    ranked = (relevance or Relevance(query, records)).records()
    index_budget = _split_off_index(ranked, budget, layout)
    full, rest = that_fit(ranked, budget, layout, at_least=1)
    if not rest:  # a single one that is larger than the budget
        return layout.by_topic(full)
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
    return [_partial(len(full), len(lines), len(records)), *layout.by_topic(full), *lines]


def could_hold(budget: Budget, records: Iterable[Record]) -> bool:
    """Return whether it is worth laying these records out: their bare texts alone would fit."""
    chars = 0
    for record in records:
        chars += len(record.lesson) + len(record.missing_context)
        if chars > budget.chars:
            return False
    return True


def _split_off_index(ranked: Sequence[Record], budget: Budget, layout: Layout) -> Budget:
    """Take a budget for the index lines: a share, or less when few records need one."""
    trial = Budget(budget.tokens, budget.chars)
    _, rest = that_fit(ranked, trial, layout)
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


def records_that_fit(records: Sequence[Record], query: str, budget: Budget) -> str:
    """Return whole records, the most relevant first, as many as the budget holds, at least one."""
    layout = Layout()
    full, _ = that_fit(Relevance(query, records).records(), budget, layout, at_least=1)
    return "\n".join(layout.by_topic(full))


def topics_by_relevance(query: str, records: Sequence[Record]) -> list[str]:
    """Return the topics of these records, that of the most relevant record first."""
    return Relevance(query, records).topics()


def that_fit(
    records: Sequence[Record], budget: Budget, layout: Layout, *, at_least: int = 0
) -> tuple[list[Record], list[Record]]:
    """Return the records that fit, in their order, and the others.

    A large one stops no smaller one, but many in a row do: there may be thousands to look at.
    at_least: so many of the first ones are among them even if they do not fit, unless they are as
    large as only a hand, or a text of control characters, can make them.
    """
    full: list[Record] = []
    rest: list[Record] = []
    missed = 0
    for at, record in enumerate(records):
        if at >= at_least and (budget.is_spent or missed > MOST_MISSED):
            return full, [*rest, *records[at:]]
        block, tokens = layout.block(record) if may_fit(record, budget) else ("", inf)
        if budget.take(block, tokens):
            full.append(record)
            missed = 0
        elif block and at < at_least and len(block) <= LARGEST_CHARS:
            budget.spend(block)
            full.append(record)
        else:
            rest.append(record)
            missed += 1
    return full, rest


def _partial(full: int, lines: int, count: int) -> str:
    hidden = count - full - lines
    return say("answers.partial", full=full, lines=lines, hidden=hidden, count=count)
