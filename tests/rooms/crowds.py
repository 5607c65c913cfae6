"""Has processes and threads save into a room, and judges the saved rows from outside.

The rooms of a `Crowd` are in files; the functions after them are for the fragments of a team.
"""

import contextlib
import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from core.config import Settings
from core.room.copies import copies_of, flaw_of
from rooms.fragments import draft as fragments
from rooms.fragments.fragment import Draft as FragmentDraft
from rooms.fragments.fragment import Filter
from rooms.fragments.room import Config as FragmentsConfig
from rooms.fragments.room import Room
from rooms.fragments.storage.sqlite import SqliteEngine
from rooms.sessions.config import FOLDER, Config
from rooms.sessions.session import Draft, Point
from rooms.sessions.store import SessionStore
from tests.support.faults import Child, Say

Told = dict[int, tuple[str, str]]  # by number: the id and the text of a saved row


def rows(path: Path, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """The rows that a plain connection of another program reads."""
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        return connection.execute(statement, values).fetchall()


def told(said: str) -> Told:
    """The id and the text of each number that was acknowledged, in whole lines."""
    found = [line.split(" ", 2) for line in said.rpartition("\n")[0].splitlines()]
    told = {int(number): (id_, text) for number, id_, text in found}
    assert len(told) == len(found), "a number was given twice"
    return told


class Crowd:
    """Processes that save into one database. Each opens it anew, nothing is kept in memory.

    table, text: where the texts stand. indexed: questions that find every row by its index.
    opened: returns a store that has kept nothing from before; save: saves a row of its own and
    returns number, id and text; get: the id and the text of a number; save_the_same: saves the row
    that all processes of one client save; search: reads in all other ways.
    """

    file = table = text = full_text = ""
    companions: frozenset[str] = frozenset()
    indexed: tuple[str, ...] = ()
    opened: Any
    save: Any
    get: Any
    close: Any
    save_the_same: Any
    search: Any

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / self.file

    def wrong_shown(self) -> list[str]:
        """The faults of the files that the room shows beside its database."""
        return []

    def process(self, name: str, saves: int) -> Child:
        """A process that saves so many, and says each once it is saved: number, id, text."""

        def work(say: Say) -> str:
            store = self.opened(60)
            for at in range(saves):
                say("{} {} {}\n".format(*self.save(store, name, at)))
            return ""

        return Child(work)

    def left_whole(self, name: str, saves: int) -> Told:
        """The rows that a process has saved before its end, with nothing left in a journal."""
        with self.process(name, saves) as child:
            code, said = child.end()
        assert code == 0, said
        rows(self.path, "PRAGMA wal_checkpoint(TRUNCATE)")
        return told(said)

    def kept(self) -> Told:
        found = rows(self.path, f"SELECT number, id, {self.text} FROM {self.table}")
        return {number: (id_, text) for number, id_, text in found}

    def litter(self) -> list[str]:
        """The names that are neither ours nor those of a whole copy or an unfinished one."""
        whole = {it.name for it in copies_of(self.path) if not flaw_of(it, lambda _: None)}
        unfinished = re.compile(rf"\.{re.escape(self.file)}\.[0-9a-f]{{16}}\.tmp(-journal)?")
        found = {it for it in os.listdir(self.folder) if not unfinished.fullmatch(it)}
        ours = {self.file, f"{self.file}-wal", f"{self.file}-shm", *self.companions}
        return sorted(found - ours - whole)

    def wrong_with(self, acknowledged: Told) -> list[str]:
        """The promises that do not hold for the database that the processes left behind."""
        there, wrong = self.kept(), list[str]()
        lost = {number: told for number, told in acknowledged.items() if there.get(number) != told}
        if lost:
            wrong.append(f"{len(lost)} acknowledged are not there: {sorted(lost)[:5]}")
        if rows(self.path, "PRAGMA integrity_check") != [("ok",)]:
            wrong.append("the database is damaged")
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as connection:
            try:
                name = self.full_text
                connection.execute(f"INSERT INTO {name}({name}) VALUES ('integrity-check')")
            except sqlite3.DatabaseError as error:
                wrong.append(f"the index is damaged: {error}")
            connection.rollback()
            for statement in self.indexed:
                found = {number for (number,) in connection.execute(statement)}
                if found != there.keys():
                    wrong.append(f"not in the index: {sorted(there.keys() - found)[:5]}")
        if strange := self.litter():
            wrong.append(f"litter: {strange}")
        return wrong


class Sessions(Crowd):
    """Those who save sessions of a project. folder: that of the project's sessions."""

    file = "history.db"
    companions = frozenset({".gitignore", "current.json"})
    table, text = "contexts", "goal"
    full_text = "contexts_fts"
    indexed = ("SELECT rowid FROM contexts_fts WHERE contexts_fts MATCH 'summary'",)

    def __init__(self, root: Path) -> None:
        super().__init__(root / FOLDER)
        self.root = root

    def opened(self, timeout_s: int = 5) -> SessionStore:
        return SessionStore(self.root, Config(), Settings(lock_timeout_s=timeout_s))

    def save(self, store: SessionStore, name: str, at: int) -> tuple[int, str, str]:
        goal = f"goal-{name}-{at}"
        draft = Draft(
            goal=goal,
            summary=f"summary of {goal}: " + "the tax differs by country. " * 20,
            tags=("crowd", f"tag{at % 7}"),
            decisions=(Point(text=f"decide {at}", why="because"),),
            approaches=(Point(text=f"try {at}", result="failed", why="CORS"),),
        )
        it = store.save(draft, agent=name, process=name).session
        return it.number, it.id, it.goal

    def save_the_same(self, store: SessionStore) -> None:
        draft = Draft(goal="one", tags=(f"{os.getpid()}",))
        store.save(draft, agent="codex", process=str(os.getpid()))

    def get(self, store: SessionStore, number: int, id_: str) -> tuple[str, str]:
        it = store.get(f"#{number}")
        return it.id, it.goal

    def search(self, store: SessionStore) -> None:
        store.chain_of(store.get("#1"))

    def close(self, store: SessionStore) -> None:
        store.database.close()

    def shown(self) -> Any:
        """The contents of `current.json`, which is always whole."""
        return json.loads((self.folder / "current.json").read_text("utf-8"))

    def wrong_shown(self) -> list[str]:
        newest = "SELECT id FROM contexts ORDER BY updated_at DESC, revision DESC LIMIT 1"
        [(last,)] = rows(self.path, newest)
        return [] if self.shown()["id"] == last else ["current.json shows another session"]


class Fragments(Crowd):
    """Those who remember fragments in one file."""

    file = "memory.db"
    table, text = "fragments", "content"
    full_text = "fragments_fts"
    indexed = (
        "SELECT rowid FROM fragments_fts WHERE fragments_fts MATCH 'zebra'",
        "SELECT number FROM fragment_keywords WHERE keyword = 'crowd'",
    )

    def __init__(self, root: Path) -> None:
        super().__init__(root / "kept")

    def opened(self, timeout_s: int = 5) -> Room:
        engine = SqliteEngine(self.path, timeout_s=timeout_s)
        settings = Settings(lock_timeout_s=timeout_s)
        return Room(engine=engine, config=FragmentsConfig(self.path), settings=settings)

    def save(self, store: Room, name: str, at: int) -> tuple[int, str, str]:
        words = f"zebra {name} {at}" + " the tax differs by country." * 8
        draft = FragmentDraft(content=words, topic=f"{name} {at}", keywords=("crowd",))
        it = fragments.remember(store, draft).fragment
        return it.number, it.id, it.content

    def save_the_same(self, store: Room) -> None:
        fragments.remember(store, FragmentDraft(content="one zebra", keywords=("crowd",)))

    def get(self, store: Room, number: int, id_: str) -> tuple[str, str]:
        with store.engine.reading() as reading:
            [it] = reading.by_ids([id_])
        return it.id, it.content

    def search(self, store: Room) -> None:
        with store.engine.reading() as reading:
            reading.find(Filter(state="all"))
            reading.coverage("zebra", 99)
            reading.count_keywords(["crowd"], Filter(), 9)

    def close(self, store: Room) -> None:
        store.engine.close()


CROWDS: dict[str, Callable[[Path], Crowd]] = {"sessions": Sessions, "fragments": Fragments}


@contextlib.contextmanager
def all_of(children: Sequence[Child]) -> Iterator[Sequence[Child]]:
    """These processes, each of which is over in the end."""
    with contextlib.ExitStack() as running:
        yield [running.enter_context(it) for it in children]


def draft(name: str) -> FragmentDraft:
    """A fragment whose content no other has."""
    content = f"zebra {name} the tax differs by country"
    return FragmentDraft(content=content, topic="strain", type="fact")


@dataclass(frozen=True)
class Outcome:
    """The answers to a writer. kept: acknowledged contents; unknown: those cut while they were
    stored; refused: sentences; longest_s: the time of the longest call.
    """

    kept: list[str]
    unknown: list[str]
    refused: list[str]
    longest_s: float = 0.0


def stored(dsn: str) -> Mapping[str, int]:
    """How often each content is there, as a superuser sees it."""
    with psycopg.connect(dsn) as connection:
        found = connection.execute("SELECT content FROM agent_memory.fragments")
        return Counter(it for (it,) in found)


def wrong_with(dsn: str, outcomes: list[Outcome]) -> list[str]:
    """The promises that do not hold for the answers to the writers."""
    there, wrong = stored(dsn), list[str]()
    kept = {it for one in outcomes for it in one.kept}
    lost = sorted(it for it in kept if it not in there)
    if lost:
        wrong.append(f"{len(lost)} acknowledged are not there: {lost[:3]}")
    if twice := [it for it, times in there.items() if times > 1]:
        wrong.append(f"{len(twice)} are there twice: {twice[:3]}")
    told = kept | {it for one in outcomes for it in one.unknown}
    if strange := sorted(set(there) - told):
        wrong.append(f"{len(strange)} were said not to be stored: {strange[:3]}")
    return wrong
