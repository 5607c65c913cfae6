"""Takes all rooms from one file, each as if its own export were imported.

All of the file is read before anything is saved. Then each room shows what would come, and asks.
"""

import argparse
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from commands.documents.text_file import check_stays
from commands.exchange import sessions, sources
from commands.exchange.fragments import importing as fragments
from commands.exchange.together.putting import MEMBERS
from commands.exchange.together.words import WORDS, word
from commands.rooms.choice import FRAGMENTS, LESSONS, SESSIONS, typed_beside
from commands.terminal.console import open_memory
from commands.terminal.printing import print_lines
from commands.terminal.safe_text import complain, plain
from commands.terminal.screen import screen_here
from commands.terminal.words import word as common_word
from core.disk.atomic import reason_of
from core.errors import SentinelError
from core.lessons.record import utc_now
from core.parser import language_here

_BEGINS = b"PK\3\4"
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
_Take = Callable[[argparse.Namespace, Any], int]
_Reader = Callable[[bytes, str], Any]


class PackedFileError(SentinelError, ValueError):
    """A file with all rooms cannot be read; nothing was saved."""

    words = WORDS


def holds_rooms(path: str) -> bool:
    """Return whether a file is a ZIP, by its first bytes."""
    return path != sessions.STDIN and sessions.head_of(path).startswith(_BEGINS)


def run(arguments: argparse.Namespace, *, lessons: _Take) -> int:
    """Show, ask, save, one room after the other; 1 when one of them is not saved.

    lessons: imports what was read of the log. Raises SentinelError where the file cannot be read.
    """
    if given := typed_beside(arguments, ("yes", "dry_run")):
        facts = {"one": given[0], "other": arguments.file}
        arguments.refuse(common_word(language_here(), "together", **facts))
    opened = open_memory(arguments, writes=not arguments.dry_run)
    check_stays(Path(arguments.file), opened.project.root, named=True)
    takes: dict[str, _Take] = {LESSONS: lessons, SESSIONS: sessions.take, FRAGMENTS: fragments.take}
    code, lang = 0, opened.lang
    for at, (room, source) in enumerate(_read(arguments.file).items()):
        name = word(lang, room)
        print_lines([*([""] if at else ()), screen_here().painted(name, "bold"), ""])
        try:
            code = max(code, takes[room](arguments, source))
        except SentinelError as error:
            code = 1
            complain(word(lang, "failed", room=name, reason=plain(error.text(lang))))
    return code


def _read(path: str) -> dict[str, Any]:
    """Return what each room in the file has to be imported. Raises SentinelError."""
    found = dict[str, tuple[_Reader, bytes]]()
    try:
        with zipfile.ZipFile(path) as archive:
            there = {*archive.namelist()}
            for room, member in MEMBERS.items():
                if member in there:
                    read, most = _reader(room)
                    with archive.open(member) as file:
                        found[room] = read, file.read(most + 1)
    except OSError as error:
        raise PackedFileError("unreadable", path=path, reason=reason_of(error)) from error
    except _DAMAGES as error:
        raise PackedFileError("unreadable", path=path, reason=str(error)) from error
    if not found:
        raise PackedFileError("no_rooms", path=path, names=", ".join(MEMBERS.values()))
    return {room: read(data, f"{path}: {MEMBERS[room]}") for room, (read, data) in found.items()}


def _reader(room: str) -> tuple[_Reader, int]:
    """Return what reads the export of a room, and how many bytes it takes."""
    if room == SESSIONS:
        from rooms.sessions.exchange import sources as of_sessions

        return of_sessions.read_text, of_sessions.MOST_BYTES
    if room == FRAGMENTS:
        from rooms.fragments.exchange import sources as of_fragments

        return of_fragments.read_text, of_fragments.MOST_BYTES
    return partial(sources.read_text, wanted=sources.EXPORT, now=utc_now()), sources.MOST_BYTES
