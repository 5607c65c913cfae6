"""Writes principles into a file that clients read, as a block between two marks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commands.clients.text_file import ExportError, UserFile, check_stays, diff
from commands.documents.marked_block import BrokenBlockError, markers, with_block, without_block
from commands.exchange.formats import lessons
from commands.terminal.records import named_record
from commands.terminal.safe_text import complain, plain, warn
from commands.terminal.screen import painted_diff, screen_here
from core.disk import is_there
from core.guard.injection import orders_in
from core.lessons.record import Record
from core.lessons.record_text import by_topic
from core.messages import say
from core.text.plain import heading

BLOCK = "principles"


class ClientFileError(ExportError):
    """A file that a client reads cannot take the block."""

    table = "export"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user asked for: these records put in, or `remove`; `dry_run` only prints."""

    records: Sequence[Record]
    remove: bool
    dry_run: bool


def put_block(path: Path, root: Path, choice: Choice) -> int:
    """Put the principles as a block into a file, or take it out; return the exit code.

    A file that held nothing else goes with its block. root: the project, whose links are not
    followed out of it. Raises ExportError.
    """
    check_stays(path, root, named=True)
    file = UserFile.read(path, root)
    records = [] if choice.remove else _followed(choice.records)
    if not records and not choice.remove:
        complain(say("export.no_principles"))
    is_new = records and not file.is_there
    if is_new and path.name == "CLAUDE.md" and is_there(path.with_name("AGENTS.md")):
        raise ClientFileError("hides_agents", path=str(path))
    try:
        if records:
            text = with_block(file.text, BLOCK, _block(records))
        else:
            text = without_block(file.text, BLOCK)
    except BrokenBlockError:
        marker = markers(BLOCK)[0].removesuffix(": begin -->")
        raise ClientFileError("broken_block", path=str(path), marker=marker) from None
    _carry_out(file, text if text or not file.text else None, str(path), choice)
    if choice.dry_run:
        print(say("export.dry"))
    return 0 if records or choice.remove else 1


def _followed(records: Iterable[Record]) -> list[Record]:
    """Return the records without those that read like orders, since a client would obey."""
    kept = []
    for record in records:
        marks = orders_in(record.marks, (*record.texts, *record.paths, *record.when))
        if not marks:
            kept.append(record)
            continue
        shown = named_record(record)
        warn(say("export.left_out", marks=", ".join(marks), record=shown))
    return kept


def _block(records: Sequence[Record]) -> str:
    """Return the body of the block, without headings: those of the file are the user's."""
    lines = [say("export.block_head")]
    for topic, members in by_topic(records).items():
        lines += ["", f"**{heading(topic)}**", "", *lessons(members)]
    return "\n".join(lines)


def _carry_out(file: UserFile, text: str | None, shown: str, choice: Choice) -> None:
    """Print how a file changes, and change it unless it is a dry run; None deletes it."""
    if text is None and file.is_there and file.path.is_symlink():
        text = ""  # keep the user's link
    # git may have changed the line ends at checkout
    if text in (file.text, file.text.replace("\r\n", "\n")):
        print(plain(say("export.unchanged", path=shown)))
        return
    key = "remove" if text is None else "change" if file.is_there else "create"
    changed = map(plain, diff(file.text, text or "", shown, shown, context=2))
    for line in painted_diff(changed, screen_here()):
        print(line)
    if choice.dry_run:
        print(plain(say(f"export.would_{key}", path=shown)))
        return
    if text is None:
        file.remove()
    else:
        file.replace(text)
    print(plain(say(f"export.{key}d", path=shown)))
