"""The topics of a memory at a terminal, with those that may be one."""

import argparse
from collections.abc import Sequence

from commands.records import topics_rename
from commands.records.filters import Screen, last_of, screen_here
from commands.records.lines import coloured, hung
from commands.records.words import word
from commands.terminal.columns import table
from commands.terminal.console import Opened, add_project, open_memory
from commands.terminal.safe_text import plain, plain_json
from core.lessons.answers.rendering import day_of, topic_text
from core.lessons.answers.words import say
from core.lessons.compaction import Group, SimilarTopics, group_by_topic, similar_topics
from core.lessons.record import seconds_of
from core.messages import Language

MOST_PAIRS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py topics`."""
    add_project(parser)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    summary = "rename a topic, or merge it into another one"
    topics_rename.add_arguments(actions.add_parser("rename", help=summary, description=summary))
    parser.add_argument("--json", action="store_true", help="print the topics as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the topics, or rename one; 1 when that could not be done or was not confirmed."""
    if arguments.action == "rename":
        return topics_rename.run(arguments)
    opened = open_memory(arguments)
    groups = group_by_topic(opened.store.read().records)
    pairs = similar_topics([group.topic for group in groups])
    if arguments.json:
        print(plain_json(_as_json(opened, groups, pairs)))
    else:
        print("\n".join(_lines(groups, pairs, screen_here(), opened.lang)))
    return 0


def _lines(
    groups: Sequence[Group], pairs: Sequence[SimilarTopics], screen: Screen, lang: Language
) -> list[str]:
    if not groups:
        return [word(lang, "empty")]
    groups = sorted(groups, key=lambda group: -len(group.records))
    head = [word(lang, "records"), "principle", word(lang, "date"), "topic"]
    rows = [
        [
            f"{len(group.records):,}",
            f"{_principles(group):,}",
            day_of(_last(group)),
            plain(topic_text(group.topic)),
        ]
        for group in groups
    ]
    lines = table(head, rows, screen.width)
    lines[0] = coloured(lines[0], screen)
    count = sum(len(group.records) for group in groups)
    told = ["", word(lang, "topics", topics=len(groups), count=count)]
    for pair in pairs[:MOST_PAIRS]:
        names = {"topic": topic_text(pair.topic), "other": topic_text(pair.other)}
        reason = say(lang, f"reason_{pair.reason}", shared=pair.shared)
        told.append(plain(word(lang, "similar", **names, reason=reason)))
    if more := len(pairs[MOST_PAIRS:]):
        told.append(word(lang, "more_similar", more=more))
    return [*lines, *(piece for line in told for piece in hung(line, screen.width))]


def _as_json(
    opened: Opened, groups: Sequence[Group], pairs: Sequence[SimilarTopics]
) -> dict[str, object]:
    return {
        "project": str(opened.project.root),
        "topics": [
            {
                "topic": group.topic,
                "records": len(group.records),
                "principles": _principles(group),
                "last": _last(group),
            }
            for group in groups
        ],
        "similar": [
            {"topic": it.topic, "other": it.other, "reason": it.reason, "shared": it.shared}
            for it in pairs
        ],
    }


def _principles(group: Group) -> int:
    return sum(record.type == "principle" for record in group.records)


def _last(group: Group) -> str:
    return max(map(last_of, group.records), key=seconds_of)
