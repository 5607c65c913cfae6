"""Writes what a hook shows a model unasked at an action or at a prompt: a few records.

Nobody asked for these texts: they are short, and leave out records that read like orders.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.lessons.answers.fitting import is_harmless
from core.lessons.answers.rendering import headed_block
from core.lessons.record import Record
from core.messages import say
from core.text.budget import Budget

BRIEFING_CHARS = 9_000  # two clients cut what is longer than 10,000 characters
RECALL_BYTES = 4_096
PROMPT_TOKENS, MOST_AT_A_PROMPT = 300, 5


class Briefing(NamedTuple):
    """A text for a model ("" for nothing to say) and the records that it shows."""

    text: str = ""
    records: tuple[Record, ...] = ()


def action_briefing(records: Sequence[Record]) -> Briefing:
    """Write the records that fit into 4 KB; what was missing gives way before a lesson does."""
    head = say("answers.recall_head")
    left_bytes = RECALL_BYTES - _bytes(head)
    versions = list(records)
    for at in reversed(range(len(versions))):  # the best one keeps it longest
        if sum(_bytes(headed_block(it)) for it in versions) <= left_bytes:
            break
        versions[at] = without_gap(versions[at])
    lines, shown = [head], list[Record]()
    for record, version in zip(records, versions, strict=True):
        block = headed_block(version)
        if _bytes(block) <= left_bytes:
            left_bytes -= _bytes(block)
            lines.append(block)
            shown.append(record)
    return Briefing("\n".join(lines), tuple(shown)) if shown else Briefing()


def prompt_briefing(records: Iterable[Record]) -> Briefing:
    """Write the first of these records that fit into 300 estimated tokens, at most five.

    None that reads like an order takes the place of another. What was missing gives way where a
    record fits without it.
    """
    head = say("answers.recall_head")
    budget = Budget(PROMPT_TOKENS, BRIEFING_CHARS)
    budget.spend(head)
    lines, shown = [head], list[Record]()
    for record in records:
        if len(shown) == MOST_AT_A_PROMPT or budget.is_spent:
            break
        if not is_harmless(record):
            continue
        for version in (record, without_gap(record)):
            if budget.take(block := headed_block(version)):
                lines.append(block)
                shown.append(record)
                break
    return Briefing("\n".join(lines), tuple(shown)) if shown else Briefing()


def without_gap(record: Record) -> Record:
    """Return the record without what was missing."""
    return replace(record, missing_context="")


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + 1
