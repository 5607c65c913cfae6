"""Prepares records for a document: chosen by topic, without secrets, written to one place.

It redacts every record again, since a topic, a question or a line edited by hand may hold a secret.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from commands.clients.text_file import ExportError, write_new
from commands.terminal.ask import STDOUT
from commands.terminal.records import counted_kinds
from commands.terminal.safe_text import warn
from core.lessons.draft import clean_record
from core.lessons.log import MemoryLog
from core.lessons.record import Record, normalise_topic
from core.lessons.record_text import topic_text
from core.messages import say
from core.sanitizer import redact
from core.store import MemoryStore
from core.text.wording import closest_first

MOST_TOPICS = 8


def read_log(store: MemoryStore) -> MemoryLog:
    """Read the log; print which of its lines are no records and so are left out.

    Raises LogReadError.
    """
    log = MemoryLog.parse(store.read_bytes())  # `store.read` prints the same
    if log.conflicts:
        warn(say("documents.conflicts", conflicts=log.conflicts))
    if log.skipped:
        warn(say("documents.skipped", skipped=log.skipped))
    return log


def of_topics(log: MemoryLog, topics: Sequence[str]) -> list[Record]:
    """Return the records of these topics, or all. Raises ExportError for an unknown topic."""
    wanted = set(map(normalise_topic, topics))
    for topic in map(normalise_topic, topics):
        if topic not in log.topics:
            near = closest_first(topic, log.topics)[:MOST_TOPICS]
            listed = ", ".join(topic_text(redact(it)[0]) for it in near) or "—"
            raise ExportError("no_topic", topic=topic_text(topic), topics=listed)
    return [record for record in log.records if not wanted or record.topic in wanted]


def without_secrets(records: Iterable[Record]) -> list[Record]:
    """Return the records redacted; print the kinds of secrets that were replaced."""
    cleaned = [clean_record(record) for record in records]
    kinds = [kind for _, found in cleaned for _, kind in found]
    if kinds:
        warn(say("documents.redacted", **counted_kinds(kinds)))
    return [record for record, _ in cleaned]


def put_text(text: str, output: str | None, *, force: bool, project: Path) -> bool:
    """Print a document or write it to a new file; return whether it is in a file now.

    force: replace a file that is there. project: whose links are not followed out of it. Raises
    ExportError.
    """
    if output in (None, STDOUT):
        print(text, end="")
        return False
    write_new(Path(output), text, force=force, project=project)
    return True
