"""Takes lessons from other tools, lists and projects into the memory once a person confirms.

The person first sees each record as it would be stored, and why anything is skipped. Then one write
saves all of it, or nothing.
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from commands.clients.text_file import check_stays
from commands.documents.facts import facts
from commands.exchange import fragments, sessions
from commands.exchange.sources import (
    FORMATS,
    MARKDOWN,
    STDIN,
    Item,
    Source,
    SourceError,
    into_known_topics,
    read_source,
    retopiced,
)
from commands.terminal.ask import (
    add_confirmation,
    add_examples,
    explain,
    is_confirmed,
    open_memory,
    progress,
)
from commands.terminal.records import INDENT, block, text_lines, topic_name
from commands.terminal.safe_text import plain
from commands.terminal.screen import print_lines, screen_here
from core.config import find_project
from core.lessons.answers import need_of
from core.lessons.changes import Outcome
from core.lessons.draft import Offer
from core.lessons.log import MemoryLog
from core.lessons.record import LIMITS_BYTES, normalise_topic, utc_now
from core.lessons.record_text import warning
from core.messages import say
from core.parser import add_project
from core.text.wording import similar_to, worth_using
from rooms.room import Opened

MOST_SIMILAR = 3
_ZIP = b"PK\3\4"  # with which such a file begins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py import`."""
    parser.add_argument("file", metavar="FILE", help=explain("import_file"))
    add_project(parser)
    formats = (*FORMATS, sessions.SESSIONS, fragments.FRAGMENTS)
    parser.add_argument("--format", choices=formats, help=explain("import_format"))
    parser.add_argument("--topic", type=_topic, metavar="TOPIC", help=explain("import_topic"))
    parser.add_argument("--agent", metavar="NAME", default="", help=explain("import_agent"))
    add_confirmation(parser)
    parser.set_defaults(refuse=parser.error)
    add_examples(parser, "import lessons.md --dry-run", "import memory.db")


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, save; return 1 when nobody confirms. Raises SourceError, ExportError."""
    if arguments.file != STDIN and sessions.head_of(arguments.file).startswith(_ZIP):
        raise SourceError("zip", path=arguments.file)
    if fragments.holds_fragments(arguments.file, arguments.format):
        return fragments.run(arguments)
    if arguments.agent:
        facts = {"one": "--agent", "other": f"--format {fragments.FRAGMENTS}"}
        arguments.refuse(say("terminal.needs", **facts))
    if arguments.file != STDIN:
        root = find_project(arguments.project, os.environ, Path.cwd()).root
        check_stays(Path(arguments.file), root, named=True)
    is_sessions = sessions.holds_sessions(arguments.file, arguments.format)
    if is_sessions:
        return sessions.run(arguments)
    return _take(arguments, read_source(arguments.file, arguments.format, now=utc_now()))


def _take(arguments: argparse.Namespace, source: Source) -> int:
    """Import lessons."""
    opened = open_memory(arguments, writes=not arguments.dry_run)
    log = opened.store.read()
    if arguments.topic:
        retopiced(source, arguments.topic)
    elif not source.is_ours:
        into_known_topics(source, log.topics)
    records = [it.record for it in source.items]
    with progress():
        trial, offers = opened.store.add_all(records, dry_run=True)
    print_lines(_preview(opened, source, trial, offers))
    if not trial.records:
        print(say("import.nothing"))
        return 0
    if not is_confirmed(
        arguments, say("import.ask"), is_readable=arguments.file != STDIN, table="import"
    ):
        return int(not arguments.dry_run)
    with progress():
        added, _ = opened.store.add_all(records)
    print(say("import.saved", count=len(added.records)))
    threshold = opened.settings.threshold
    if need_of(added.log.records, added.log.count, threshold) == "required":
        print_lines([say("import.compact", count=added.log.count, threshold=threshold)])
    return 0


def _topic(text: str) -> str:
    """Return the topic of the option. Raises ArgumentTypeError for an empty or a long one."""
    topic, limit = normalise_topic(text), LIMITS_BYTES["topic"]
    if not 0 < len(topic.encode("utf-8", "surrogatepass")) <= limit:
        raise argparse.ArgumentTypeError(say("import.bad_topic", limit=limit))
    return topic


def _preview(opened: Opened, source: Source, trial: Outcome, offers: Sequence[Offer]) -> list[str]:
    """Return all that a person must know before saying yes."""
    named = {"path": source.path, "format": say(f"import.{source.format}")}
    named["project"] = str(opened.project.root)
    lines = [plain(say("import.head", count=len(trial.records), **named))]
    if trial.records and not source.is_ours:
        is_list = source.format == MARKDOWN
        lines.append(say("import.principles" if is_list else "import.statements"))
    taken = [
        (item, offer)
        for item, offer in zip(source.items, offers, strict=True)
        if offer.fate == "added"
    ]
    beside = {record.token for versions in trial.log.unsettled for record in versions}
    for topic in dict.fromkeys(offer.record.topic for _, offer in taken):
        lines += ["", screen_here().painted(_topic_line(topic, trial.before), "bold")]
        for item, offer in taken:
            if offer.record.topic == topic:
                lines += _record_lines(item, offer, source)
                if offer.record.token in beside:
                    lines.append(INDENT * 2 + say("import.beside"))
    if passed := _passed_lines(source, offers):
        lines += ["", say("import.passed"), *passed]
    if trial.hidden:
        lines += ["", say("import.hides")]
        lines += [line for record in trial.hidden for line in block(record)]
    return [*lines, ""]


def _topic_line(topic: str, log: MemoryLog) -> str:
    shown = topic_name(topic)
    if topic in log.topics:
        return say("import.known_topic", topic=shown)
    near = worth_using(similar_to(topic, list(log.topics)))[:MOST_SIMILAR]
    if not near:
        return say("import.new_topic", topic=shown)
    similar = ", ".join(map(topic_name, near))
    return say("import.like_topic", topic=shown, similar=similar)


def _record_lines(item: Item, offer: Offer, source: Source) -> list[str]:
    record = offer.record
    details = [record.type, *(facts(record)[:-1] if source.is_ours else ())]
    lines = [INDENT + plain(f"{_place([item.line], source)}: {', '.join(details)}")]
    lines += [INDENT + line for line in text_lines(record)]
    if record.paths:
        lines.append(INDENT * 2 + plain(f"paths: {', '.join(record.paths)}"))
    if record.when:
        pieces = ", ".join(f"`{piece}`" for piece in record.when)
        lines.append(INDENT * 2 + plain(f"when: {pieces}"))
    if offer.redacted:
        kinds = ", ".join(dict.fromkeys(offer.redacted))
        lines.append(INDENT * 2 + say("import.redacts", kinds=kinds))
    if notice := warning(record):
        lines.append(INDENT * 2 + say("import.warning", warning=notice))
    return lines


def _passed_lines(source: Source, offers: Sequence[Offer]) -> list[str]:
    """Say what is not saved: a line for each reason and for each refused record."""
    by_reason: dict[str, list[int]] = {}
    refused = []
    for item, offer in zip(source.items, offers, strict=True):
        if offer.error:
            place = _place([item.line], source)
            text = say(f"import.passed_{offer.error.key}", place=place, **offer.error.facts)
            refused.append(INDENT + plain(text))
        elif offer.fate != "added":
            by_reason.setdefault(offer.fate, []).append(item.line)
    for line, why in source.passed:
        by_reason.setdefault(why, []).append(line)
    return refused + [
        INDENT + say(f"import.passed_{why}", place=_place(lines, source))
        for why, lines in by_reason.items()
    ]


def _place(lines: Sequence[int], source: Source) -> str:
    """Name lines or entries of the source, neighbours as a range."""
    runs = list(_runs(sorted(set(lines))))
    one, many = ("entry", "entries") if source.has_entries else ("line", "lines")
    return say(
        f"import.{one if len(runs) == 1 and '-' not in runs[0] else many}", lines=", ".join(runs)
    )


def _runs(lines: Iterable[int]) -> Iterator[str]:
    first = last = 0
    for line in lines:
        if last and line != last + 1:
            yield _run(first, last)
            first = line
        first, last = first or line, line
    yield _run(first, last)


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
