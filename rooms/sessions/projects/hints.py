"""Keeps the hints of the projects that share their sessions, in one database for the user.

A hint is the short goal of a session, its tags, dates, status, agent and flag, its number and id,
and the name and directory of its project; nothing else leaves a project. Whatever is here can be
made again from the projects, so that nothing is lost with the file.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from core.room.database import Database, Migrations
from rooms.sessions.projects.consent import global_path, name_of
from rooms.sessions.rows import sessions_where, tags_of
from rooms.sessions.session import Session

APPLICATION_ID = 0x534D_0101  # "SM", what room two shares
WAIT_S = 2  # for other writers: a save has its turn behind it and answers soon
_COLUMNS = (
    "number, id, goal, tags, status, agent, has_warnings,"
    " started_at, ended_at, created_at, updated_at"
)

# fmt: off
MIGRATIONS: Migrations = (
    (
        """CREATE TABLE projects (
  root TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  revision INTEGER NOT NULL,  -- of the project's database when its hints were taken over last
  removed INTEGER NOT NULL    -- how many sessions had been removed from it by then
) WITHOUT ROWID""",
        """CREATE TABLE hints (
  root TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  goal TEXT NOT NULL,
  tags TEXT NOT NULL,
  status TEXT NOT NULL,
  agent TEXT NOT NULL,
  has_warnings INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (root, number)
) WITHOUT ROWID""",
        "CREATE INDEX idx_hints_id ON hints(id)",
    ),
)
# fmt: on


class Sessions(Protocol):
    """The sessions of one project, as far as their hints need them: a SessionStore."""

    root: Path
    database: Database


class SharedProject(NamedTuple):
    """A project that has hints here. root: its directory, which may be gone by now."""

    root: str
    name: str


def global_database(root: Path, environment: Mapping[str, str]) -> Database | None:
    """Return the user's database of hints, which need not exist; None where none can be.

    root: any project; all have the same one.
    """
    path = global_path(root, environment)
    return _opened(path) if path else None


@lru_cache(maxsize=2)  # keeps connections for the next save
def _opened(path: str) -> Database:
    return Database(Path(path), MIGRATIONS, application_id=APPLICATION_ID, timeout_s=WAIT_S)


def keep_in_step(database: Database, store: Sessions) -> int:
    """Take over what has changed in a project since the last time; return how many hints it has.

    Raises DatabaseError.
    """
    os.makedirs(database.path.parent, mode=0o700, exist_ok=True)
    root = name_of(store.root)
    with database.writing() as hints, store.database.reading() as connection:
        if connection is None:
            _remove(hints, root)
            return 0
        known = hints.execute(
            "SELECT revision, removed FROM projects WHERE root = ?", (root,)
        ).fetchone()
        counters = dict(connection.execute("SELECT name, value FROM counters"))
        revision, removed = counters.get("revision", 0), counters.get("removed", 0)
        if known and (known[1] != removed or known[0] > revision):  # or another database
            _remove(hints, root)
            known = None
        since = known[0] if known else -1
        rows = (_row(root, it) for it in sessions_where(connection, "revision > ?", (since,)))
        places = ", ".join("?" * (len(_COLUMNS.split(",")) + 1))
        hints.executemany(
            f"INSERT OR REPLACE INTO hints (root, {_COLUMNS}) VALUES ({places})", rows
        )
        name = os.path.basename(root) or root
        hints.execute(
            "INSERT OR REPLACE INTO projects VALUES (?, ?, ?, ?)", (root, name, revision, removed)
        )
        [count] = hints.execute("SELECT count(*) FROM hints WHERE root = ?", (root,)).fetchone()
        return int(count)


def remove(database: Database, root: Path | str) -> int:
    """Remove a project with its hints, and return how many there were. Raises DatabaseError."""
    with database.writing() as hints:
        return _remove(hints, name_of(root))


def projects_in(hints: sqlite3.Connection) -> list[SharedProject]:
    """Return the projects that have hints, by their directories."""
    return [SharedProject(*row) for row in hints.execute(
        "SELECT root, name FROM projects ORDER BY root"
    )]  # fmt: skip


def hints_of(hints: sqlite3.Connection, root: str) -> Iterator[Session]:
    """Yield the sessions of a project, each with what its hint has."""
    rows = hints.execute(f"SELECT {_COLUMNS} FROM hints WHERE root = ? ORDER BY number", (root,))
    for number, id_, goal, tags, status, agent, flag, started, ended, created, updated in rows:
        yield Session(
            number=number,
            id=id_,
            goal=goal,
            tags=tags_of(tags),
            status=status,
            agent=agent,
            has_warnings=bool(flag),
            started_at=started,
            ended_at=ended,
            created_at=created,
            updated_at=updated,
        )


def roots_with(hints: sqlite3.Connection, id_: str) -> list[str]:
    """Return the directories of the projects that have a session of this id."""
    rows = hints.execute("SELECT root FROM hints WHERE id = ? ORDER BY root", (id_,))
    return [root for (root,) in rows]


def _row(root: str, session: Session) -> tuple[Any, ...]:
    return (
        *(root, session.number, session.id, session.goal_short),
        json.dumps(list(session.tags), ensure_ascii=False),
        *(session.status, session.agent, int(session.has_warnings)),
        *(session.started_at, session.ended_at, session.created_at, session.updated_at),
    )


def _remove(hints: sqlite3.Connection, root: str) -> int:
    hints.execute("PRAGMA secure_delete = ON")
    removed = hints.execute("DELETE FROM hints WHERE root = ?", (root,)).rowcount
    hints.execute("DELETE FROM projects WHERE root = ?", (root,))
    return int(removed)
