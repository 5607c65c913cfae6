"""Writes all rooms into one file: a ZIP in which each room's own export lies.

What is written is what each room gives out by itself, without secrets, as of the moment in which
the room is read. The format is that of APPNOTE.TXT 6.3.10 of PKWARE, as `zipfile` writes it.
"""

import argparse
import os
import time
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from commands.documents.outgoing import read_log, without_secrets
from commands.documents.text_file import write_new
from commands.exchange.formats import as_json
from commands.exchange.together.words import word
from commands.rooms.choice import (
    FRAGMENTS,
    LESSONS,
    SESSIONS,
    named_rooms,
    rooms_here,
    typed_beside,
)
from commands.terminal.console import Opened, open_memory
from commands.terminal.printing import print_lines
from commands.terminal.progress import progress
from commands.terminal.safe_text import plain, warn
from commands.terminal.words import word as common_word
from core.disk.atomic import NEW_MODE
from core.lessons.record import Record, utc_now
from core.parser import language_here

SUFFIX = ".zip"
MEMBERS: Mapping[str, str] = {
    LESSONS: "lessons.json",
    SESSIONS: "sessions.json",
    FRAGMENTS: "fragments.jsonl",
}
_MINE_ALONE = 0o600  # the mode of a file with what only its owner may read


class _Packed(NamedTuple):
    """The bytes of a file, and how much is in it. private: of the fragments."""

    data: bytes
    sessions: int = 0
    fragments: int = 0
    private: int = 0


def wants_all(arguments: argparse.Namespace) -> bool:
    """Return whether the file that was named is one for all rooms."""
    return bool(arguments.output) and arguments.output.lower().endswith(SUFFIX)


def run(arguments: argparse.Namespace) -> int:
    """Write the rooms that were named, or all; 1 when there is nothing. Raises SentinelError.

    A room that cannot be read leaves no file: a copy that lacks one would be trusted.
    """
    if given := typed_beside(arguments, ("output", "force", "public")):
        facts = {"one": given[0], "other": f"-o FILE{SUFFIX}"}
        arguments.refuse(common_word(language_here(), "together", **facts))
    opened = open_memory(arguments)
    lang = opened.lang
    wanted = named_rooms(arguments) or [LESSONS, *rooms_here(opened)]
    records = list[Record]()
    if LESSONS in wanted:
        records = without_secrets(read_log(opened.store, lang).records, lang)
    with progress(lang):
        packed = _packed(opened, records, wanted, only_public=arguments.public)
    if not (records or packed.sessions or packed.fragments):
        warn(word(lang, "empty"))
        return 1
    path, is_mine = Path(arguments.output), bool(packed.sessions or packed.private)
    mode = _MINE_ALONE if is_mine else NEW_MODE
    write_new(path, packed.data, force=arguments.force, project=opened.project.root, mode=mode)
    counts = {LESSONS: len(records), SESSIONS: packed.sessions, FRAGMENTS: packed.fragments}
    print(plain(word(lang, "written", path=arguments.output, **counts)))
    if is_mine:
        print_lines([word(lang, "private")])
    return 0


def _packed(
    opened: Opened, records: Sequence[Record], wanted: Sequence[str], *, only_public: bool
) -> _Packed:
    """Return the file; a room that holds nothing has no place there."""
    file, counts = BytesIO(), dict[str, int]()
    with zipfile.ZipFile(file, "w") as archive:
        if records:
            text = as_json(records, opened.project.root.name, now=utc_now())
            _add(archive, LESSONS, [text])
        if SESSIONS in wanted and not only_public:
            counts |= _add_sessions(archive, opened)
        if FRAGMENTS in wanted:
            counts |= _add_fragments(archive, opened, only_public=only_public)
    return _Packed(file.getvalue(), **counts)


def _add_sessions(archive: zipfile.ZipFile, opened: Opened) -> dict[str, int]:
    from rooms.sessions.exchange.exporting import counted
    from rooms.sessions.store import open_sessions

    store = open_sessions(opened.project.root, opened.settings)
    with counted(store, "json") as (count, pieces):
        if count:
            _add(archive, SESSIONS, pieces)
    return {"sessions": count}


def _add_fragments(
    archive: zipfile.ZipFile, opened: Opened, *, only_public: bool
) -> dict[str, int]:
    from rooms.fragments.exchange.exporting import Choice, document
    from rooms.fragments.room import open_room

    room = open_room(opened.settings, os.environ)
    if not room.engine.exists():
        return {}
    choice = Choice(only_public=only_public)
    with document(room, "jsonl", choice, opened.lang) as (head, pieces):
        if head.count:
            _add(archive, FRAGMENTS, pieces)
    return {"fragments": head.count, "private": head.private}


def _add(archive: zipfile.ZipFile, room: str, pieces: Iterable[str]) -> None:
    member = zipfile.ZipInfo(MEMBERS[room], date_time=time.localtime()[:6])
    member.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(member, "w") as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))
