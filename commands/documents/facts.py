"""What every document says of a record beside its lesson: the other texts, dates and counts."""

from commands.documents.words import word
from core.lessons.answers.rendering import day_of, token_text
from core.lessons.answers.words import say
from core.lessons.record import Record
from core.messages import Language


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
