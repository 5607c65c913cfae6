"""Texts that a model reads unasked: how to use the memory, and the records that a hook shows.

The instructions of the server and the rules of a project are `core/data/{instructions,rules.*}.md`:
rules say when, tools say how; a client may show only one of both. The texts of a hook (at a start,
at an action, at a prompt) are short, and leave out records that read like orders.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import NamedTuple

from core.config import Settings
from core.data import data_text
from core.guard.injection import current_marks, may_have_marks
from core.lessons import record_text
from core.lessons.answers import TOPICS_SHOWN, Frame, log_notes, topic_listing
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.lessons.record_text import Block, headed_block, is_harmless, is_usable
from core.messages import Language, language, say
from core.text.plain import Budget, one_line, seconds_of

BRIEFING_CHARS = 9_000  # two clients cut a text above 10,000 characters
MOST_OFFERED = 400  # the shortest records that fill BRIEFING_CHARS
MOST_JUDGED, MOST_TOPIC_CHARS = 200, 256  # of the topics; few are shown
RECALL_BYTES = 4_096
PROMPT_TOKENS, MOST_AT_A_PROMPT = 300, 5
# Shares of the room at a start: principles fill so much, then records near to the work.
_PRINCIPLES_SHARE, _NEAR_SHARE = 1 / 3, 2 / 3


# How to use the memory.


def instructions_for(rooms: Sequence[str] = ("lessons",)) -> str:
    """Return what the server says of itself to every client. rooms: as of `read_rooms`."""
    return _join_sections("instructions.md", rooms)


def rules_for(lang: Language, rooms: Sequence[str] = ("lessons",)) -> str:
    """Return the rules that setup puts into a project. rooms: as of `instructions_for`."""
    return _join_sections(f"rules.{lang}.md", rooms)


def front_matter(lang: Language) -> str:
    """Return the lines before the rules that make Cursor show them in every conversation."""
    return _read_sections(f"rules.{lang}.md")["front_matter"]


def language_of(text: str) -> Language:
    return "ko" if re.search("[가-힣]", text) else "en"


def _join_sections(name: str, rooms: Sequence[str]) -> str:
    sections, names = _read_sections(name), {room.partition(":")[0] for room in rooms}
    return "\n".join(text for key, text in sections.items() if key in names)


@cache
def _read_sections(name: str) -> dict[str, str]:
    _, *parts = re.split(r"<!-- (\w+) -->\n", data_text(name))
    return dict(zip(parts[::2], parts[1::2], strict=True))


# What a hook shows.


class Briefing(NamedTuple):
    """A text for a model ("" for nothing to say) and the records that it shows."""

    text: str = ""
    records: tuple[Record, ...] = ()


def session_briefing(
    log: MemoryLog,
    *,
    project: str,
    settings: Settings,
    find_nearest: Callable[[], Sequence[Record]] = tuple,
) -> Briefing:
    """Write the topics, what is due, and the whole records that fit.

    Where not all fit: principles, records near to the work, then the newest, without
    `missing_context`; if none is near, principles and the newest, whole.

    settings: `hook_tokens` limits the text; its first lines always stand. find_nearest: called
    where not all fit; the nearest record comes first.
    """
    records, count = log.records, log.count
    lines = [say("answers.head_all", count=count, project=one_line(project))]
    lines += log_notes(log, Frame(project=project, settings=settings))
    if not records:
        return Briefing("\n".join(lines) if any(log.flaws.values()) else "")
    topics = [item for item in log.topics.most_common() if len(item[0]) <= MOST_TOPIC_CHARS]
    safe_topics = [item for item in topics[:MOST_JUDGED] if not current_marks((), (item[0],))]
    topics = safe_topics if len(safe_topics) >= TOPICS_SHOWN else safe_topics + topics[MOST_JUDGED:]
    if topics:
        listing = topic_listing(topics, settings.hook_tokens)
        lines.append(say("answers.topics", topics=listing.text))
    budget = Budget(settings.hook_tokens, BRIEFING_CHARS)
    budget.spend("\n".join([*lines, say("answers.brief_marked", count=count)]))
    trial_budget, lang, usable_records = replace(budget), language(), [*filter(is_usable, records)]
    trial_budget.spend(say("answers.brief_all", count=len(records)))
    blocks = (record_text.block_of(record, lang) for record in usable_records)
    # To lay a block out may compile rules of orders: not where the bare texts are too long.
    all_fit = record_text.may_fit(usable_records, trial_budget) and all(
        trial_budget.take(block.text, block.tokens) for block in blocks
    )
    nearest_records = () if all_fit else find_nearest()
    partial_key = "brief_near" if nearest_records else "brief_part"
    budget.spend(say(f"answers.{partial_key}", shown=count, count=count))
    newest = sorted(  # principles first
        reversed(records),
        key=lambda entry: (entry.type == "principle", seconds_of(entry.updated or entry.created)),
        reverse=True,
    )
    if nearest_records:
        shown_records, marked_count = _fit_near(newest, nearest_records, budget), 0
    else:
        shown_records, marked_count = _fit_harmless(newest, budget)
    if marked_count:
        lines.append(say("answers.brief_marked", count=marked_count))
    is_all = len(shown_records) == count and not nearest_records
    key = "brief_all" if is_all else partial_key if shown_records else "brief_none"
    lines.append(say(f"answers.{key}", shown=len(shown_records), count=count))
    short_records = map(without_context, shown_records) if nearest_records else shown_records
    lines += [block.text for block in record_text.blocks_by_topic(short_records)]
    return Briefing("\n".join(lines), tuple(shown_records))


def _fit_near(newest: Sequence[Record], nearest: Sequence[Record], budget: Budget) -> list[Record]:
    """Of each kind, records near to the work come first."""

    def layout(record: Record) -> Block | None:
        text = headed_block(without_context(record))
        return Block.from_text(text) if is_harmless(record) else None

    principles = [record for record in (*nearest, *newest) if record.type == "principle"]
    logs_first = sorted(newest, key=lambda record: record.type == "principle")
    picks: dict[int, Record] = {}
    shares = ((principles, _PRINCIPLES_SHARE), (nearest, _NEAR_SHARE), (logs_first, 1.0))
    for candidates, share in shares:
        part, records = budget.split_off(share), {id(record): record for record in candidates}
        rest = (record for key, record in records.items() if key not in picks and is_usable(record))
        picks |= {id(record): record for record, _ in record_text.fit_blocks(rest, part, layout)}
        budget.add(part)
    return [*picks.values()]


def _fit_harmless(records: Sequence[Record], budget: Budget) -> tuple[list[Record], int]:
    """Return the records that fit, and how many stay out because of their marks."""
    # The table that judges doubtful records loads slowly: they come last, if there is room.
    plain_records, suspects = list[Record](), list[Record]()
    for record in islice(filter(is_usable, records), MOST_OFFERED):
        is_doubtful = record.marks or may_have_marks(" ".join(record.texts))
        (suspects if is_doubtful else plain_records).append(record)
    shown_records, rest = record_text.fit_records(plain_records, budget)
    if rest:
        return shown_records, 0
    extras = list(filter(is_harmless, suspects))
    return shown_records + record_text.fit_records(extras, budget)[0], len(suspects) - len(extras)


def action_briefing(records: Sequence[Record]) -> Briefing:
    """Write the records that fit into RECALL_BYTES, lessons rather than `missing_context`."""
    left_bytes = RECALL_BYTES - len(say("answers.recall_head").encode()) - 1
    variants = [*records]
    for at in reversed(range(len(variants))):  # the best one keeps it longest
        if sum(map(_block_bytes, variants)) <= left_bytes:
            break
        variants[at] = without_context(records[at])
    fitting_variants = list[tuple[Record, Record]]()
    for record, variant in zip(records, variants, strict=True):
        if _block_bytes(variant) <= left_bytes:
            left_bytes -= _block_bytes(variant)
            fitting_variants.append((record, variant))
    return _recall_briefing(fitting_variants)


def prompt_briefing(records: Iterable[Record]) -> Briefing:
    """Write the first records that fit into PROMPT_TOKENS, at most MOST_AT_A_PROMPT.

    Records that read like orders are passed over; `missing_context` gives way.
    """
    budget = Budget(PROMPT_TOKENS, BRIEFING_CHARS)
    budget.spend(say("answers.recall_head"))
    fitting_variants = list[tuple[Record, Record]]()
    for record in filter(is_harmless, records):
        for variant in (record, without_context(record)):
            if budget.take(headed_block(variant)):
                fitting_variants.append((record, variant))
                break
        if len(fitting_variants) == MOST_AT_A_PROMPT or budget.is_spent:
            break
    return _recall_briefing(fitting_variants)


def _recall_briefing(records_as_shown: Sequence[tuple[Record, Record]]) -> Briefing:
    if not records_as_shown:
        return Briefing()
    blocks = record_text.blocks_by_topic(variant for _, variant in records_as_shown)
    text = "\n".join([say("answers.recall_head"), *(block.text for block in blocks)])
    return Briefing(text, tuple(record for record, _ in records_as_shown))


def without_context(record: Record) -> Record:
    return replace(record, missing_context="")


def _block_bytes(record: Record) -> int:
    return len(headed_block(record).encode("utf-8", "replace")) + 1
