"""Says to a person what one save did, and what is to be done about it in the terminal."""

import shlex

from commands.records.lines import commit_lines, redacted_lines
from commands.terminal.records import joined, named_record, topic_name
from commands.terminal.safe_text import plain
from core.guard.injection import HIDDEN_TEXT
from core.lessons.answers import code_fields, flaw_notes, need_of
from core.lessons.changes import Outcome
from core.lessons.record import Record
from core.lessons.record_text import topic_text
from core.messages import say
from core.text.wording import scope_of, similar_to, worth_using
from rooms.room import Opened


def saved_lines(opened: Opened, saved: Outcome) -> list[str]:
    """Return what to print after a save: its token, what it replaced, what needs a look."""
    record, count = saved.record, saved.log.count
    named = named_record(record)
    if not saved.is_written:
        return [say("records.saved_before", record=named)]
    lines = [say("records.saved", record=named, count=count)]
    if before := replaced_by(saved):
        lines.append(say("records.undo", token=plain(before[-1].token)))
    elif record.seen > 1 and not record.updated:
        lines.append(say("records.gap_is_back", topic=_typed(record.topic)))
    if len(saved.earlier[0]) > 1:
        lines.append(say("answers.settled", count=len(saved.earlier[0])))
    lines += redacted_lines(saved.redacted)
    lines += _about_texts(saved) + _about_topic(saved)
    threshold = opened.settings.threshold
    if need_of(saved.log.records, count, threshold) == "required":
        lines.append(say("records.compaction_due", count=count, threshold=threshold))
    if flaw_notes(saved.log):
        lines.append(say("records.flawed"))
    return lines + commit_lines(opened)


def replaced_by(saved: Outcome) -> list[Record]:
    """Return the records of the same gap whose place the saved one takes."""
    if not saved.is_written:
        return []
    return [it for it in saved.before.records if it.gap == saved.record.gap]


def _about_texts(saved: Outcome) -> list[str]:
    record = saved.record
    token, lines = plain(record.token), list[str]()
    if saved.suspicious:
        fields = ", ".join(saved.suspicious)
        lines.append(say("records.suspicious_saved", fields=fields, id=plain(record.id)))
    if record.marks:
        key = "marked_hidden" if record.marks == (HIDDEN_TEXT,) else "marked"
        lines.append(say(f"records.{key}", marks=joined(record.marks), token=token))
    if fields := code_fields(record):
        lines.append(say("records.source_code", fields=fields, token=token))
    return lines


def _about_topic(saved: Outcome) -> list[str]:
    """Say where a topic is too broad, too narrow, or like another one."""
    topic = saved.record.topic
    facts, lines = {"topic": topic_name(topic), "old": _typed(topic)}, list[str]()
    if scope := scope_of(topic):
        lines.append(say(f"records.topic_{scope}", **facts))
    topics, alike = saved.log.topics, list[str]()
    if topics[topic] == 1 and not saved.record.updated:
        alike = worth_using(similar_to(topic, list(topics)))
    if alike:
        near = joined(map(topic_name, alike[:5]))
        lines.append(say("records.similar_topic", topics=near, new=_typed(alike[0]), **facts))
    return lines


def _typed(topic: str) -> str:
    """Return a topic as somebody types it in a command; one that cannot be typed is `TOPIC`."""
    return shlex.quote(topic) if topic_text(topic) == topic == topic_name(topic) else "TOPIC"
