"""Lessons in the files that a client reads by itself: a block in one of them, or rules of ours."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commands.clients.table import Topics
from commands.documents.markdown import heading
from commands.documents.marked_block import BrokenBlockError, markers, with_block, without_block
from commands.documents.text_file import ExportError, UserFile, diff
from commands.exchange.export_words import WORDS, word
from commands.exchange.formats import lessons
from commands.exchange.rule_files import (
    ALSO_READ,
    CLIENTS,
    PREFIX,
    globs_of,
    is_ours,
    rule_files,
)
from commands.terminal.records import named_record
from commands.terminal.safe_text import plain
from core.disk.atomic import is_there, reason_of
from core.injection.marks import orders_in
from core.lessons.compaction import group_by_topic
from core.lessons.record import Record
from core.messages import Language

BLOCK = "principles"


class ClientFileError(ExportError):
    """A file that a client reads cannot take the block."""

    words = WORDS


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be done: with which records, or that they go, or that it is only shown."""

    records: Sequence[Record]
    remove: bool
    dry_run: bool


def put_block(path: Path, choice: Choice, lang: Language) -> int:
    """Put the principles as a block into a file, or take it out; the exit status.

    A file in which nothing else stood goes with its block. Raises ExportError.
    """
    file = UserFile.read(path)
    records = [] if choice.remove else _followed(choice.records, lang)
    if not records and not choice.remove:
        print(word(lang, "no_principles"), file=sys.stderr)
    is_new = records and not file.is_there
    if is_new and path.name == "CLAUDE.md" and is_there(path.with_name("AGENTS.md")):
        raise ClientFileError("hides_agents", path=str(path))
    try:
        if records:
            text = with_block(file.text, BLOCK, _block(records, lang))
        else:
            text = without_block(file.text, BLOCK)
    except BrokenBlockError:
        marker = markers(BLOCK)[0].removesuffix(": begin -->")
        raise ClientFileError("broken_block", path=str(path), marker=marker) from None
    _carry_out(file, text if text or not file.text else None, str(path), choice, lang)
    if choice.dry_run:
        print(word(lang, "dry"))
    return 0 if records or choice.remove else 1


def put_rules(root: Path, name_of_client: str, choice: Choice, lang: Language) -> int:
    """Have exactly these rules among the files of a client; 1 when one of a user is in the way.

    Files that this command wrote before and that are not among them any more are removed. Raises
    ExportError; each file is replaced whole, and those before it stay as they are then.
    """
    client, other = CLIENTS[name_of_client], ALSO_READ.get(name_of_client)
    folder = root / client.folder
    records = [] if choice.remove else _followed(filter(globs_of, choice.records), lang)
    wanted = rule_files(records, client, lang)
    names = dict.fromkeys([*wanted, *_names(folder, client)])
    in_the_way = 0
    for name in names:
        file, shown = UserFile.read(folder / name), f"{client.folder}/{name}"
        if not file.is_there or is_ours(file.text):
            _carry_out(file, wanted.get(name), shown, choice, lang)
        elif name in wanted:
            in_the_way += 1
            print(plain(word(lang, "foreign", path=shown)), file=sys.stderr)
    if not wanted and not choice.remove:
        print(word(lang, "no_paths"), file=sys.stderr)
    if wanted and other and _names(root / other.folder, other):
        told = word(lang, "read_twice", one=client.folder, other=other.folder)
        print(told, file=sys.stderr)
    if choice.dry_run:
        print(word(lang, "dry"))
    return 1 if in_the_way or not (wanted or choice.remove) else 0


def _followed(records: Iterable[Record], lang: Language) -> list[Record]:
    """The records that may stand where a model takes what it reads for its instructions."""
    kept = []
    for record in records:
        marks = orders_in(record.marks, record.texts)
        if not marks:
            kept.append(record)
            continue
        shown = named_record(record, lang)
        print(word(lang, "left_out", marks=", ".join(marks), record=shown), file=sys.stderr)
    return kept


def _block(records: Sequence[Record], lang: Language) -> str:
    """The body of the block; no headings, since those of the file are the user's."""
    lines = [word(lang, "block_head")]
    for group in group_by_topic(records):
        lines += ["", f"**{heading(group.topic)}**", "", *lessons(group.records, lang)]
    return "\n".join(lines)


def _names(folder: Path, client: Topics) -> list[str]:
    """The names of the files in a folder that may be ours."""
    try:
        found = sorted(path.name for path in folder.iterdir() if path.is_file())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ExportError("file_read", path=str(folder), reason=reason_of(error)) from error
    return [name for name in found if name.startswith(PREFIX) and name.endswith(client.suffix)]


def _carry_out(
    file: UserFile, text: str | None, shown: str, choice: Choice, lang: Language
) -> None:
    """Show what changes in a file, and change it unless it is only to be shown; None: it goes."""
    if text is None and file.is_there and file.path.is_symlink():
        text = ""  # the link is the user's
    # git may have checked a file of ours out with other line ends
    if text in (file.text, file.text.replace("\r\n", "\n")):
        print(plain(word(lang, "unchanged", path=shown)))
        return
    key = "remove" if text is None else "change" if file.is_there else "create"
    for line in diff(file.text, text or "", shown, shown, context=2):
        print(plain(line))
    if choice.dry_run:
        print(plain(word(lang, f"would_{key}", path=shown)))
        return
    if text is None:
        file.remove()
    else:
        file.replace(text)
    print(plain(word(lang, f"{key}d", path=shown)))
