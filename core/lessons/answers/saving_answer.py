"""What log_memory answers: what one save did, and what is due."""

import shlex
from collections.abc import Sequence

from core.injection.marks import marks_of
from core.injection.rules import HIDDEN_TEXT
from core.lessons.answers.frame import Frame
from core.lessons.answers.notes import LIST_SHARE, beginning, notes, topic_line
from core.lessons.answers.rendering import index_line, token_text, topic_text
from core.lessons.compaction import resembled
from core.lessons.outcomes import Removal, Saved
from core.lessons.record import LIMITS_BYTES, Record
from core.messages import Facts, say
from core.text.printable import one_line
from core.text.wording import is_source_code, scope_of

TOKENS_SHOWN = 60
BESIDE_SHOWN = 5
TOPICS_AFTER_A_SAVE = 12  # the search before the task has shown more


def saved_answer(saved: Saved, frame: Frame, *, shortened_from_bytes: int = 0) -> str:
    """Say what one save did, which topics exist, and whether compaction is due."""
    record, count = saved.record, saved.log.count
    again, topic = bool(record.updated), topic_text(record.topic)
    topics = saved.log.topics.copy()
    if "topic" in saved.suspicious:  # an answer goes into transcripts: do not repeat it there
        topic = say("answers.not_repeated")
        del topics[record.topic]
    facts: Facts = {"type": record.type, "topic": topic, "project": one_line(frame.project)}
    key = "saved_same" if saved.is_repeated else "saved_again" if again else "saved_new"
    lines = [say(f"answers.{key}", seen=record.seen, count=count, **facts)]
    if record.seen > 1 and not (again or saved.is_repeated):
        lines.append(say("answers.came_back"))
    if saved.settled:
        lines.append(say("answers.settled", count=saved.settled))
    if saved.removal.removed:
        lines.append(say("answers.replaced", count=len(saved.removal.removed)))
        lines += uncommitted_note(frame)
    lines += tokens_left(saved.removal, frame)
    if saved.redacted:
        kinds = ", ".join(dict.fromkeys(saved.redacted))
        lines.append(say("answers.redacted", count=len(saved.redacted), kinds=kinds))
    lines += [say("answers.suspicious", field=name) for name in saved.suspicious]
    lines += _marked(record)
    if shortened_from_bytes:
        lines.append(_shortened(record.ask_next_time, shortened_from_bytes))
    lines += _against_the_rules(saved, frame)
    if record.type == "principle" and not saved.removal.removed:
        lines += _originals_left(saved, topic, frame)
    if alike := [] if again else resembled(record.topic, topics):
        near = ", ".join(map(topic_text, alike[:5]))
        lines.append(say("answers.similar_topic", topic=topic, topics=near))
    budget_tokens = frame.settings.budget_tokens
    line = topic_line(topics.most_common(), budget_tokens, at_most=TOPICS_AFTER_A_SAVE)
    lines.append(line)
    return "\n".join(lines + notes(saved.log, frame))


def uncommitted_note(frame: Frame) -> list[str]:
    """Say after a compaction where git has not committed the log as it stands."""
    return [say("answers.uncommitted")] if frame.is_uncommitted() else []


def _against_the_rules(saved: Saved, frame: Frame) -> list[str]:
    """Say what the rules for agents forbid in a record, and how to put it right."""
    record, found = saved.record, []
    token = token_text(record)
    scope = scope_of(record.topic)
    if scope and "topic" not in saved.suspicious:
        shown = topic_text(record.topic)
        old = shlex.quote(shown) if shown == record.topic else "OLD"
        found.append(say(f"answers.topic_{scope}", topic=shown, token=token, old=old))
    if fields := code_fields(record):
        found.append(say("answers.source_code", fields=fields, token=token))
    return found


def code_fields(record: Record) -> str:
    """Name the fields that hold source code, "" where none does."""
    texts = ("missing_context", "lesson", "ask_next_time")
    return ", ".join(name for name in texts if is_source_code(getattr(record, name)))


def _originals_left(saved: Saved, topic: str, frame: Frame) -> list[str]:
    """Say which records a principle without `source_ids` leaves, and how it would replace them."""
    record = saved.record
    beside = [it for it in saved.log.records if it.topic == record.topic and it.id != record.id]
    if not beside:
        return []
    call = "target_topic=" + (topic if topic.startswith('"') else f'"{topic}"')
    if frame.has_other_threshold:
        call += f", compact_threshold={frame.threshold}"
    principles = sum(it.type == "principle" for it in beside)
    facts: Facts = {"logs": len(beside) - principles, "principles": principles}
    said = say("answers.originals_stay", count=len(beside), topic=topic, call=call, **facts)
    if "topic" in saved.suspicious:
        return [said]
    return [said, *(index_line(it) for it in beside[:BESIDE_SHOWN])]


def _marked(record: Record) -> list[str]:
    """Say what a save has marked, field by field."""
    by_field = {name: marks_of(getattr(record, name)) for name in LIMITS_BYTES}
    found = ", ".join(f"{mark} ({name})" for name, marks in by_field.items() for mark in marks)
    if not found:
        return []
    only_hidden = record.marks == (HIDDEN_TEXT,)
    return [say("answers.marked_hidden" if only_hidden else "answers.marked", found=found)]


def _shortened(kept: str, used_bytes: int) -> str:
    kept_bytes = len(kept.encode("utf-8", "replace"))
    limit_bytes = LIMITS_BYTES["ask_next_time"]
    facts: Facts = {"used_bytes": used_bytes, "kept_bytes": kept_bytes, "limit_bytes": limit_bytes}
    return say("answers.shortened", **facts)


def tokens_left(removal: Removal, frame: Frame) -> list[str]:
    """Say which version ids named nothing to remove, and which hidden records went."""
    fates = (
        ("token_changed", removal.changed),
        ("token_gone", removal.gone),
        ("token_absent", removal.absent),
    )
    lines = [
        say(f"answers.{key}", tokens=listed_tokens(given, frame)) for key, given in fates if given
    ]
    if removal.hidden:
        tokens = listed_tokens([record.token for record in removal.hidden], frame)
        lines.append(say("answers.hidden_went", count=len(removal.hidden), tokens=tokens))
    return lines


def listed_tokens(tokens: Sequence[str], frame: Frame) -> str:
    """List as many version ids as an eighth of the answer holds, and count the others."""
    texts = (one_line(token)[:80] for token in tokens[:TOKENS_SHOWN])
    shown = beginning(texts, LIST_SHARE * frame.settings.budget_tokens)
    listed, more = ", ".join(shown), len(tokens) - len(shown)
    return say("answers.and_more", listed=listed, more=more) if more > 0 else listed
