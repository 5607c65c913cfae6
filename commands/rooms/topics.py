"""Lists, renames and merges topics, and prints a request for a compaction."""

import argparse
from collections.abc import Mapping
from dataclasses import replace

from commands.rooms.lesson import redacted_lines, topic_name
from commands.rooms.read import table_lines, whole
from commands.terminal.ask import is_confirmed, open_memory
from commands.terminal.screen import (
    INDENT,
    complain,
    day_text,
    plain,
    plain_json,
    print_within,
    screen_here,
    table,
)
from core.lessons.answers import need_of
from core.lessons.changes import Outcome
from core.lessons.log import MemoryLog
from core.lessons.record import Record, normalise_topic, seconds_of
from core.lessons.record_text import by_topic
from core.messages import say
from core.sanitizer import redact
from core.text.wording import TOPICS_COMPARED, similar_to, similar_topics
from rooms.lessons import item_of

MOST_PAIRS = 10


def list_topics(arguments: argparse.Namespace) -> int:
    """Print the topics, largest first, and similar pairs; return 0."""
    opened = open_memory(arguments)
    groups = by_topic(opened.store.read().records)
    by_size = sorted(groups, key=lambda topic: -len(groups[topic]))
    compared = by_size[:TOPICS_COMPARED] if len(groups) > TOPICS_COMPARED else [*groups]
    pairs = similar_topics(compared)
    topics = {
        topic: {
            "topic": redact(topic)[0],
            "records": len(records),
            "principles": sum(record.type == "principle" for record in records),
            "last": max((it.updated or it.created for it in records), key=seconds_of),
        }
        for topic, records in groups.items()
    }
    if arguments.json:
        similar = [
            {**pair._asdict(), "topic": redact(pair.topic)[0], "other": redact(pair.other)[0]}
            for pair in pairs
        ]
        project = str(opened.project.root)
        print(plain_json({"project": project, "topics": [*topics.values()], "similar": similar}))
        return 0
    if not groups:
        print_within([say("records.empty")])
        return 0
    rows = [
        [
            f"{topics[topic]['records']:,}",
            f"{topics[topic]['principles']:,}",
            day_text(str(topics[topic]["last"])),
            topic_name(topic),
        ]
        for topic in by_size
    ]
    screen = screen_here()
    head = [say("records.records"), "principle", say("records.date"), "topic"]
    first, *lines = table(head, rows, screen.width)
    count = sum(map(len, groups.values()))
    lines += ["", say("records.topics", topics=len(groups), count=count)]
    for pair in pairs[:MOST_PAIRS]:
        names = {"topic": topic_name(pair.topic), "other": topic_name(pair.other)}
        reason = say(f"answers.reason_{pair.reason}", shared=pair.shared)
        lines.append(plain(say("records.similar", **names, reason=reason)))
    if more := len(pairs[MOST_PAIRS:]):
        lines.append(say("records.more_similar", more=more))
    if pairs:
        lines.append(say("records.merge_hint"))
    print_within([screen.painted(first, "bold"), *lines])
    return 0


def rename_topic(arguments: argparse.Namespace) -> int:
    """Rename a topic; return 1 without a yes or for an unknown one."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    log = opened.store.read()
    old, new = normalise_topic(arguments.old), normalise_topic(arguments.new)
    if old not in log.topics:
        complain(_unknown(old, log))
        return 1
    if old == new:
        print_within([say("records.same_topic")])
        return 0
    changed = {it.token: replace(it, topic=new) for it in log.records if it.topic == old}
    print_within(_preview(log, opened.store.renew(changed, join=True, dry_run=True), changed))
    if not is_confirmed(arguments, say("records.ask_rename")):
        return int(not arguments.dry_run)
    done = opened.store.renew(changed, join=True)
    moved = [
        f"{INDENT}{plain(before.id)} → {plain(after.id)}"
        for versions, after in zip(done.earlier, done.records, strict=True)
        for before in versions
        if before.id != after.id
    ]
    print_within([say("records.renamed", count=len(moved)), *moved, say("records.commit_soon")])
    if left := done.log.topics[old]:
        print_within([say("records.left_behind", count=left)])
    return 0


def _preview(log: MemoryLog, trial: Outcome, changed: Mapping[str, Record]) -> list[str]:
    screen = screen_here()
    before = [record for record in log.records if record.token in changed]
    topic = trial.records[0].topic
    facts = {"old": topic_name(before[0].topic), "new": topic_name(topic)}
    key = "would_merge" if topic in log.topics else "would_rename"
    lines = [plain(say(f"records.{key}", **facts, count=len(before), there=log.topics[topic])), ""]
    lines += table_lines([*map(item_of, before)], screen)
    for versions in trial.earlier:
        if len(versions) > 1:
            lines += ["", say("records.would_join", count=len(versions))]
            lines += [
                INDENT + line for record in versions for line in whole(item_of(record), screen)
            ]
    lines += ["", *redacted_lines(trial.redacted, "would_redact")]
    if trial.suspicious:
        lines.append(say("records.suspicious", fields=", ".join(trial.suspicious)))
    return lines


def _unknown(topic: str, log: MemoryLog) -> str:
    near = ", ".join(map(topic_name, similar_to(topic, [*log.topics])))
    key = "unknown_topic_but" if near else "unknown_topic"
    return say(f"records.{key}", topic=topic_name(topic), similar=near)


def compact(arguments: argparse.Namespace) -> int:
    """Print a request to an agent for a compaction; return 1 for an unknown topic."""
    opened = open_memory(arguments)
    log, topic = opened.store.read(), normalise_topic(arguments.topic or "")
    if topic and topic not in log.topics:
        complain(_unknown(topic, log))
        return 1
    threshold = opened.settings.threshold
    need = need_of(log.records, log.count, threshold)
    print_within([say(f"compact.{need}", count=log.count, threshold=threshold), ""])
    print(say("compact.line_topic" if topic else "compact.line", topic=topic_name(topic)))
    return 0
