"""What log_memory answers: what one save did, and what is due."""

from collections.abc import Sequence

from core.injection.marks import HIDDEN_TEXT, marks_of
from core.lessons.answers.frame import Frame
from core.lessons.answers.notes import LIST_SHARE, beginning, notes, topic_line
from core.lessons.answers.rendering import topic_text
from core.lessons.answers.words import say
from core.lessons.compaction import similar_to
from core.lessons.outcomes import Removal, Saved
from core.lessons.record import LIMITS_BYTES, Record
from core.messages import Facts, Language
from core.text.printable import one_line

TOKENS_SHOWN = 60
TOPICS_AFTER_A_SAVE = 12  # the search before the task has shown more


def saved_answer(saved: Saved, frame: Frame, *, shortened_from_bytes: int = 0) -> str:
    """Say what one save did, which topics exist, and whether compaction is due."""
    lang, record, count = frame.lang, saved.record, saved.log.count
    again, topic = bool(record.updated), topic_text(record.topic)
    topics = saved.log.topics.copy()
    if "topic" in saved.suspicious:  # an answer goes into transcripts: do not repeat it there
        topic = say(lang, "not_repeated")
        del topics[record.topic]
    facts: Facts = {"type": record.type, "topic": topic, "project": one_line(frame.project)}
    key = "saved_same" if saved.is_repeated else "saved_again" if again else "saved_new"
    lines = [say(lang, key, seen=record.seen, count=count, **facts)]
    if record.seen > 1 and not (again or saved.is_repeated):
        lines.append(say(lang, "came_back"))
    if saved.settled:
        lines.append(say(lang, "settled", count=saved.settled))
    if saved.removal.removed:
        lines.append(say(lang, "replaced", count=len(saved.removal.removed)))
    lines += tokens_left(saved.removal, frame)
    if saved.redacted:
        kinds = ", ".join(dict.fromkeys(saved.redacted))
        lines.append(say(lang, "redacted", count=len(saved.redacted), kinds=kinds))
    lines += [say(lang, "suspicious", field=name) for name in saved.suspicious]
    lines += _marked(record, lang)
    if shortened_from_bytes:
        lines.append(_shortened(record.ask_next_time, shortened_from_bytes, lang))
    alike = similar_to(record.topic, list(topics)) if topics[record.topic] == 1 else []
    if alike and not again:
        near = ", ".join(map(topic_text, alike[:5]))
        lines.append(say(lang, "similar_topic", topic=topic, topics=near))
    budget_tokens = frame.settings.budget_tokens
    line = topic_line(topics.most_common(), lang, budget_tokens, at_most=TOPICS_AFTER_A_SAVE)
    lines.append(line)
    return "\n".join(lines + notes(saved.log, frame.threshold, lang))


def _marked(record: Record, lang: Language) -> list[str]:
    """Say what a save has marked, field by field."""
    by_field = {name: marks_of(getattr(record, name)) for name in LIMITS_BYTES}
    found = ", ".join(f"{mark} ({name})" for name, marks in by_field.items() for mark in marks)
    if not found:
        return []
    only_hidden = record.marks == (HIDDEN_TEXT,)
    return [say(lang, "marked_hidden" if only_hidden else "marked", found=found)]


def _shortened(kept: str, used_bytes: int, lang: Language) -> str:
    kept_bytes = len(kept.encode("utf-8", "replace"))
    limit_bytes = LIMITS_BYTES["ask_next_time"]
    facts: Facts = {"used_bytes": used_bytes, "kept_bytes": kept_bytes, "limit_bytes": limit_bytes}
    return say(lang, "shortened", **facts)


def tokens_left(removal: Removal, frame: Frame) -> list[str]:
    """Say which version ids named nothing to remove, and which hidden records went."""
    lang = frame.lang
    fates = (
        ("token_changed", removal.changed),
        ("token_gone", removal.gone),
        ("token_absent", removal.absent),
    )
    lines = [say(lang, key, tokens=listed_tokens(given, frame)) for key, given in fates if given]
    if removal.hidden:
        tokens = listed_tokens([record.token for record in removal.hidden], frame)
        lines.append(say(lang, "hidden_went", count=len(removal.hidden), tokens=tokens))
    return lines


def listed_tokens(tokens: Sequence[str], frame: Frame) -> str:
    """List as many version ids as an eighth of the answer holds, and count the others."""
    texts = (one_line(token)[:80] for token in tokens[:TOKENS_SHOWN])
    shown = beginning(texts, LIST_SHARE * frame.settings.budget_tokens)
    listed, more = ", ".join(shown), len(tokens) - len(shown)
    return say(frame.lang, "and_more", listed=listed, more=more) if more > 0 else listed
