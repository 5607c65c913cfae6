"""What an export says of a record in every format: its order, its labels and its facts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commands.exchange.export_words import word
from core.lessons.answers.rendering import day_of, token_text
from core.lessons.answers.words import say
from core.lessons.compaction import Group, group_by_topic
from core.lessons.record import Record
from core.messages import Language

# By this an import knows a document that does not hold all that a record needs.
MARKER = "<!-- sentinel-memory export: to import the records again, use --format json -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The records of one type by topic, under their heading."""

    type: str
    heading: str
    groups: list[Group]


def parts(records: Iterable[Record], lang: Language) -> list[Part]:
    """Principles first, since they sum up many logs; a type without records has no part."""
    by_type: dict[str, list[Record]] = {"principle": [], "log": []}
    for record in records:
        by_type[record.type].append(record)
    return [
        Part(type=type, heading=word(lang, type), groups=group_by_topic(members))
        for type, members in by_type.items()
        if members
    ]


def introduction(records: Sequence[Record], lang: Language, now: str) -> str:
    """How many records there are, and of when."""
    principles = sum(record.type == "principle" for record in records)
    counts = {"principles": principles, "logs": len(records) - principles}
    return word(lang, "intro", date=day_of(now), **counts)


def labelled(record: Record, lang: Language) -> list[tuple[str, str]]:
    """The texts of a record beside its lesson that are not blank, each with its label."""
    texts = {"missing": record.missing_context, "ask": record.ask_next_time}
    return [(word(lang, label), text) for label, text in texts.items() if text.strip()]


def facts(record: Record, lang: Language) -> list[str]:
    """When a record was saved, how often its gap was seen, and what it is called.

    A principle without a count of originals is a rule that somebody wrote, or an import.
    """
    if record.type == "principle" and record.source_count:
        told = [word(lang, "compacted", date=day_of(record.compacted_at or record.created))]
        told.append(say(lang, "merged", count=record.source_count))
    else:
        told = [word(lang, "saved", date=day_of(record.created))]
    if record.seen > 1:
        last = day_of(record.updated or record.created)
        told.append(say(lang, "seen", seen=record.seen, date=last))
    return [*told, token_text(record, lang)]
