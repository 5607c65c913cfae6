"""How a command puts former versions back into the log, or tries it out on a copy of the log."""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.memory_log import BroughtBack, MemoryLog
from core.messages import Language
from core.project import LOG_NAME
from core.record import Record
from core.store import MemoryStore
from faces.console import Opened
from faces.history_words import word
from faces.plain import plain
from faces.record_lines import redacted_lines


def bring_back(
    opened: Opened,
    records: Sequence[Record],
    *,
    since: MemoryLog,
    instead_of: str = "",
    dry_run: bool,
) -> BroughtBack:
    """What `MemoryStore.bring_back` does; with dry_run the log is not touched.

    Raises what that method raises.
    """
    if not dry_run:
        return opened.store.bring_back(records, instead_of=instead_of, since=since)
    # What redaction and the rules of the format would do is known only from doing it.
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / LOG_NAME
        copy.write_bytes(opened.store.read_bytes())
        return MemoryStore(copy).bring_back(records, instead_of=instead_of)


def closing_lines(
    outcome: BroughtBack, before: MemoryLog, lang: Language, *, dry_run: bool
) -> list[str]:
    """What else follows from bringing records back, and what to do next."""
    lines = redacted_lines(outcome.redacted, lang)
    shown = {record.id for record in (*outcome.log.records, *outcome.removal.removed)}
    hidden = [record.token for record in before.records if record.id not in shown]
    if hidden:
        lines.append(word(lang, "hides", tokens=joined(hidden)))
    return [*lines, word(lang, "dry" if dry_run else "next")]


def joined(tokens: Iterable[str]) -> str:
    """Tokens inside a sentence."""
    return ", ".join(map(plain, tokens))
