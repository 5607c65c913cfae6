"""Has forked processes remember fragments, and judges from outside what is left of them."""

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from core.settings import Settings
from rooms.fragments.config import Config
from rooms.fragments.room import Room
from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.remembering import remember
from rooms.fragments.sqlite.adapter import SqliteEngine
from tests.support.faults import Say
from tests.support.session_crowd import rows

NAME = "memory.db"
OURS = {NAME, f"{NAME}-wal", f"{NAME}-shm"}


def fresh(folder: Path, timeout_s: int = 5) -> Room:
    """A room that has kept nothing from before."""
    engine = SqliteEngine(folder / NAME, timeout_s=timeout_s)
    return Room(
        engine=engine, config=Config(folder / NAME), settings=Settings(lock_timeout_s=timeout_s)
    )


@dataclass(frozen=True)
class Rememberer:
    """What a process does: remember so many fragments, each of its own, and say which.

    A line is said once `remember` has returned: number, id, content.
    """

    folder: Path
    name: str
    saves: int
    timeout_s: int = 60

    def __call__(self, say: Say) -> str:
        room = fresh(self.folder, self.timeout_s)
        for at in range(self.saves):
            words = f"zebra {self.name} {at} " + "the tax differs by country. " * 8
            draft = Draft(content=words.strip(), topic=f"{self.name} {at}", keywords=("crowd",))
            it = remember(room, draft).fragment
            say(f"{it.number} {it.id} {it.content}\n")
        return ""


def kept(folder: Path) -> dict[int, tuple[str, str]]:
    """The id and content of each fragment in the database."""
    found = rows(folder / NAME, "SELECT number, id, content FROM fragments")
    return {number: (id_, content) for number, id_, content in found}


def wrong_with(folder: Path, acknowledged: dict[int, tuple[str, str]]) -> list[str]:
    """Whatever promise does not hold for what the processes left behind."""
    path, there, wrong = folder / NAME, kept(folder), list[str]()
    lost = {number: told for number, told in acknowledged.items() if there.get(number) != told}
    if lost:
        wrong.append(f"{len(lost)} acknowledged are not there: {sorted(lost)[:5]}")
    if rows(path, "PRAGMA integrity_check") != [("ok",)]:
        wrong.append("the database is damaged")
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        try:
            connection.execute(
                "INSERT INTO fragments_fts(fragments_fts) VALUES ('integrity-check')"
            )
        except sqlite3.DatabaseError as error:
            wrong.append(f"the index is damaged: {error}")
        connection.rollback()
        for statement in (
            "SELECT rowid FROM fragments_fts WHERE fragments_fts MATCH 'zebra'",
            "SELECT number FROM fragment_keywords WHERE keyword = 'crowd'",
        ):
            indexed = {number for (number,) in connection.execute(statement)}
            if indexed != there.keys():
                wrong.append(f"not in the index: {sorted(there.keys() - indexed)[:5]}")
    litter = set(os.listdir(folder)) - OURS
    if litter:
        wrong.append(f"litter: {litter}")
    return wrong
