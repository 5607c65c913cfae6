"""Has forked processes save sessions, and judges from outside what is left of them."""

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.disk.copies import copies_of, flaw_of
from core.settings import Settings
from rooms.sessions.config import FOLDER, Config
from rooms.sessions.session import Approach, Decision, Draft
from rooms.sessions.store import SessionStore
from tests.support.faults import Say

OURS = {".gitignore", "current.json", "history.db", "history.db-shm", "history.db-wal"}
_UNFINISHED = re.compile(r"\.history\.db\.[0-9a-f]{16}\.tmp(-journal)?")


@dataclass(frozen=True)
class Saver:
    """What a process does: save so many sessions, each with a goal of its own, and say which.

    A line is said once the save has returned: number, id, goal.
    """

    root: Path
    name: str
    saves: int
    timeout_s: int = 60

    def __call__(self, say: Say) -> str:
        store = SessionStore(self.root, Config(), Settings(lock_timeout_s=self.timeout_s))
        for at in range(self.saves):
            saved = store.save(self.draft(at), agent=self.name, process=self.name)
            say(f"{saved.session.number} {saved.session.id} {saved.session.goal}\n")
        return ""

    def draft(self, at: int) -> Draft:
        """A session with texts in every field."""
        goal = f"goal-{self.name}-{at}"
        return Draft(
            goal=goal,
            summary=f"summary of {goal}: " + "the tax differs by country. " * 20,
            tags=("crowd", f"tag{at % 7}"),
            decisions=(Decision(what=f"decide {at}", why="because"),),
            approaches=(Approach(description=f"try {at}", result="failed", reason="CORS"),),
        )


def told(said: str) -> dict[int, tuple[str, str]]:
    """The id and goal of each number that was acknowledged, in whole lines."""
    lines = said.rpartition("\n")[0].splitlines()
    found = [line.split(" ", 2) for line in lines]
    numbers = [int(number) for number, _, _ in found]
    assert len(numbers) == len(set(numbers)), "a number was given twice"
    return {int(number): (id_, goal) for number, id_, goal in found}


def rows(path: Path, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """What a plain connection of another program reads."""
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        return connection.execute(statement, values).fetchall()


def kept(root: Path) -> dict[int, tuple[str, str]]:
    """The id and goal of each session in the database."""
    found = rows(root / FOLDER / "history.db", "SELECT number, id, goal FROM contexts")
    return {number: (id_, goal) for number, id_, goal in found}


def litter(folder: Path) -> list[str]:
    """The names that are neither ours nor those of a whole copy or an unfinished one."""
    whole = {it.name for it in copies_of(folder / "history.db") if not flaw_of(it, lambda _: None)}
    found = {it for it in os.listdir(folder) if not _UNFINISHED.fullmatch(it)}
    return sorted(found - OURS - whole)


def wrong_with(root: Path, acknowledged: dict[int, tuple[str, str]]) -> list[str]:
    """Whatever promise does not hold for what the processes left behind."""
    path = root / FOLDER / "history.db"
    there, wrong = kept(root), []
    lost = {number: told for number, told in acknowledged.items() if there.get(number) != told}
    if lost:
        wrong.append(f"{len(lost)} acknowledged are not there: {sorted(lost)[:5]}")
    if rows(path, "PRAGMA integrity_check") != [("ok",)]:
        wrong.append("the database is damaged")
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        try:
            connection.execute("INSERT INTO contexts_fts(contexts_fts) VALUES ('integrity-check')")
        except sqlite3.DatabaseError as error:
            wrong.append(f"the index is damaged: {error}")
        connection.rollback()
        statement = "SELECT rowid FROM contexts_fts WHERE contexts_fts MATCH 'summary'"
        indexed = {number for (number,) in connection.execute(statement)}
    if indexed != there.keys():
        wrong.append(f"not in the index: {sorted(there.keys() - indexed)[:5]}")
    strange = litter(path.parent)
    if strange:
        wrong.append(f"litter: {strange}")
    return wrong


def shown(root: Path) -> Any:
    """What `current.json` holds, which is always whole."""
    return json.loads((root / FOLDER / "current.json").read_text("utf-8"))
