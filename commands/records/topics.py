"""Lists the topics, with those that may be one, and renames or merges them in one write."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace

from commands.records.filters import last_of, unknown_topic
from commands.records.lines import record_table, redacted_lines, whole
from commands.terminal.ask import is_confirmed, open_memory
from commands.terminal.records import topic_name
from commands.terminal.safe_text import complain, plain, plain_json
from commands.terminal.screen import (
    INDENT,
    Screen,
    day_text,
    hung,
    print_within,
    screen_here,
    table,
)
from core.lessons.changes import Outcome
from core.lessons.log import MemoryLog
from core.lessons.record import Record, normalise_topic, seconds_of
from core.lessons.record_text import by_topic
from core.messages import say
from core.sanitizer import redact
from core.text.wording import TOPICS_COMPARED, SimilarTopics, similar_topics
from rooms.room import Opened

MOST_PAIRS = 10

Groups = Mapping[str, Sequence[Record]]  # the records of each topic


def list_topics(arguments: argparse.Namespace) -> int:
    """Print the topics and those that may be one; always 0."""
    opened = open_memory(arguments)
    groups = by_topic(opened.store.read().records)
    compared = [*groups]
    if len(groups) > TOPICS_COMPARED:  # those with most records
        compared = sorted(groups, key=lambda topic: -len(groups[topic]))[:TOPICS_COMPARED]
    pairs = similar_topics(compared)
    if arguments.json:
        print(plain_json(_as_json(opened, groups, pairs)))
    else:
        print("\n".join(_lines(groups, pairs, screen_here())))
    return 0


def _lines(groups: Groups, pairs: Sequence[SimilarTopics], screen: Screen) -> list[str]:
    if not groups:
        return [say("records.empty")]
    head = [say("records.records"), "principle", say("records.date"), "topic"]
    rows = [
        [
            f"{len(records):,}",
            f"{_principles(records):,}",
            day_text(_last(records)),
            topic_name(topic),
        ]
        for topic, records in sorted(groups.items(), key=lambda group: -len(group[1]))
    ]
    lines = table(head, rows, screen.width)
    lines[0] = screen.painted(lines[0], "bold")
    count = sum(map(len, groups.values()))
    sentences = ["", say("records.topics", topics=len(groups), count=count)]
    for pair in pairs[:MOST_PAIRS]:
        names = {"topic": topic_name(pair.topic), "other": topic_name(pair.other)}
        reason = say(f"answers.reason_{pair.reason}", shared=pair.shared)
        sentences.append(plain(say("records.similar", **names, reason=reason)))
    if more := len(pairs[MOST_PAIRS:]):
        sentences.append(say("records.more_similar", more=more))
    if pairs:
        sentences.append(say("records.merge_hint"))
    return [*lines, *(piece for line in sentences for piece in hung(line, screen.text_width))]


def _as_json(opened: Opened, groups: Groups, pairs: Sequence[SimilarTopics]) -> dict[str, object]:
    return {
        "project": str(opened.project.root),
        "topics": [
            {
                "topic": redact(topic)[0],
                "records": len(records),
                "principles": _principles(records),
                "last": _last(records),
            }
            for topic, records in groups.items()
        ],
        "similar": [
            {
                "topic": redact(it.topic)[0],
                "other": redact(it.other)[0],
                "reason": it.reason,
                "shared": it.shared,
            }
            for it in pairs
        ],
    }


def _principles(records: Sequence[Record]) -> int:
    return sum(record.type == "principle" for record in records)


def _last(records: Sequence[Record]) -> str:
    return max(map(last_of, records), key=seconds_of)


def rename_topic(arguments: argparse.Namespace) -> int:
    """Show, ask, rename; 1 when there is no such topic, or when it was not confirmed."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    log = opened.store.read()
    old, new = normalise_topic(arguments.old), normalise_topic(arguments.new)
    if old not in log.topics:
        complain(unknown_topic(old, log, opened))
        return 1
    if old == new:
        print_within([say("records.same_topic")])
        return 0
    changed = {it.token: replace(it, topic=new) for it in log.records if it.topic == old}
    trial = opened.store.renew(changed, join=True, dry_run=True)
    print_within(_preview(opened, log, trial, changed))
    if not is_confirmed(arguments, say("records.ask_rename")):
        return int(not arguments.dry_run)
    print_within(_renamed_lines(opened, opened.store.renew(changed, join=True), old))
    return 0


def _preview(
    opened: Opened, log: MemoryLog, trial: Outcome, changed: dict[str, Record]
) -> list[str]:
    """Say which records move, whether the topic exists, and which records become one."""
    screen = screen_here()
    before = [record for record in log.records if record.token in changed]
    topic = trial.records[0].topic
    facts = {"old": topic_name(before[0].topic), "new": topic_name(topic)}
    key = "would_merge" if topic in log.topics else "would_rename"
    lines = [plain(say(f"records.{key}", **facts, count=len(before), there=log.topics[topic])), ""]
    lines += record_table(before, log.records, screen)
    for joined_records in _joined(trial):
        lines += ["", say("records.would_join", count=len(joined_records))]
        for record in joined_records:
            lines += [INDENT + line for line in whole(record, screen)]
    lines += ["", *redacted_lines(trial.redacted, "would_redact")]
    if trial.suspicious:
        lines.append(say("records.suspicious", fields=", ".join(trial.suspicious)))
    return lines


def _renamed_lines(opened: Opened, done: Outcome, old: str) -> list[str]:
    moved = [
        f"{INDENT}{plain(before.id)} → {plain(after.id)}"
        for versions, after in zip(done.earlier, done.records, strict=True)
        for before in versions
        if before.id != after.id
    ]
    lines = [say("records.renamed", count=len(moved)), *moved, say("records.commit_soon")]
    if left := done.log.topics[old]:
        lines.append(say("records.left_behind", count=left))
    return lines


def _joined(outcome: Outcome) -> list[tuple[Record, ...]]:
    """Return the records that become one with others, those of each one together."""
    return [versions for versions in outcome.earlier if len(versions) > 1]
