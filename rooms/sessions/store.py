"""The one door to the sessions of a project.

    store = open_sessions(Path("shop"), Settings())
    store.save(Draft(goal="Fix the login"), agent="claude-code", process="p1").session.number
    store.get("#1").goal

Only a write creates files. A save also writes the last session to `current.json` for people; only
an import reads it.
"""

import contextlib
import json
import os
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from core.config import Settings
from core.errors import SentinelError
from core.lessons.record import utc_now
from core.program import NO_CANCELLATION, Cancellation, shown, warn
from core.room.database import Database
from core.text.plain import moment_of
from rooms.sessions.config import Config, make_folder, read_config
from rooms.sessions.rows import (
    actions_of,
    add_to_index,
    database_at,
    keep_index,
    remove_from_index,
    session_with_id,
    sessions_where,
    statements,
    values_of,
)
from rooms.sessions.session import Action, Draft, NoSuchSessionError, Session, SessionsError

CURRENT = "current.json"
ARCHIVE = "archive"  # the directory with archives, which git does not get
FORMER_ARCHIVE = re.compile(r"archive-[0-9]{4}\.db\Z")  # of an older version
_LAST = (  # in two steps, each by an index: in one, SQLite sorts all sessions
    "updated_at = (SELECT max(updated_at) FROM contexts WHERE archive = '')"
    " AND archive = '' ORDER BY revision DESC LIMIT 1"
)
_NUMBER = re.compile(r"#?([0-9]{1,15})\Z")
_RECENT = 500  # sessions among which a save looks for the one that it continues
_OPEN_DAYS = 1  # who saves the same goal after more than a day has begun anew
_MOST_LINKS = 1_000  # of a chain, which somebody may have tied into a circle
_COPYING = threading.Lock()  # one thread of a process at a time


class Saved(NamedTuple):
    """The outcome of a save.

    redacted: kinds of secrets. resolved: earlier sessions of its chain with a blocker resolved now.
    replaced: fields whose former texts are in `Session.former`. projected: False if `current.json`
    could not be written.
    """

    session: Session
    is_new: bool
    redacted: tuple[str, ...] = ()
    resolved: tuple[Session, ...] = ()
    replaced: tuple[str, ...] = ()
    projected: bool = True


class SessionStore:
    """The sessions of one project, for several threads and processes.

    Raises DatabaseError, SessionsError (a ValueError) and WaitEndedError.
    """

    def __init__(
        self,
        root: Path,
        config: Config,
        settings: Settings,
        cancellation: Cancellation = NO_CANCELLATION,
    ) -> None:
        self.root, self.config, self.settings = root, config, settings
        self.path = config.database(root)
        self.current = self.path.with_name(CURRENT)
        self.database = database_at(
            self.path, timeout_s=settings.lock_timeout_s, cancellation=cancellation
        )
        self._has_warned = False  # that current.json was not written

    def beside(self, path: Path | None = None) -> Database:
        """Return the database or another file, with its own connections."""
        return database_at(path or self.path, timeout_s=self.settings.lock_timeout_s)

    def archives(self) -> list[Path]:
        return sorted((self.path.parent / ARCHIVE).glob("sessions-*.json"), reverse=True)

    def former_archives(self) -> list[Path]:
        found = self.path.parent.glob("archive-*.db")
        return sorted(path for path in found if FORMER_ARCHIVE.match(path.name))

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a write transaction; make a missing directory."""
        make_folder(self.path.parent)
        with self.database.writing() as connection:
            keep_index(connection, self.config.tokenizer)
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to one state; without a file, to an empty database."""
        with self.database.reading() as connection:
            if connection is not None:
                yield connection
                return
        with contextlib.closing(sqlite3.connect(":memory:")) as empty:
            for statement in statements():
                empty.execute(statement)
            yield empty

    def save(self, draft: Draft, *, agent: str, process: str, now: str = "") -> Saved:
        """Save a new session or continue one; on disk when this returns.

        agent: the client, or "". process: this run of a server. now: for tests. Without an id, a
        draft continues the open session of its goal that this process or client saved within a day.
        """
        # The redactor is loaded with the first save.
        from core.sanitizer import safe
        from rooms.sessions.actions import settle
        from rooms.sessions.draft import agent_of, continued, prepared

        ready = prepared(draft, strict=self.settings.strict)
        agent = agent_of(safe(agent))
        with self.writing() as connection:
            now = moment_of(now) or utc_now()  # it is known only now who saves after whom
            draft, line = ready.draft, list[str]()  # the sessions that end with its parent
            if draft.parent:
                parent = resolve(connection, draft.parent)
                line = [parent.id, *(it.id for it in ancestors(connection, parent))]
                draft = replace(draft, parent=parent.id)
            before: Session | None
            if draft.id:
                before = resolve(connection, draft.id)
                if before.archive:
                    raise SessionsError("archived", name=f"#{before.number}")
                if before.id in line:
                    raise SessionsError("own_parent")
            else:
                before = _continued(connection, draft, agent, process, now, but=line)
            dates: Any = dict.fromkeys(("started_at", "created_at"), now)
            new = Session(number=0, id=f"ctx_{os.urandom(6).hex()}", goal=draft.goal, **dates)
            session = continued(before or new, draft, agent=agent, now=now)
            # Before its own row is written: the last revision is that of this session.
            resolved = _resolve(connection, session, now)
            if before is None:
                session = insert(connection, session, process=process)
            else:
                update(connection, before, session, process=process)
            settle(connection, now)
        # A status that changes replaces no words.
        replaced = tuple(
            name
            for name in ("goal", "summary", "tags")
            if before and getattr(before, name) not in ("", (), getattr(session, name))
        )
        return Saved(session, before is None, ready.redacted, resolved, replaced, self.project())

    def project(self) -> bool:
        """Write `current.json`, unless switched off; False if impossible.

        It takes its turn as a writer of the database, so that the last save is shown. It is not
        synced: after a power cut the next save repairs it.
        """
        if not self.config.keeps_json:
            return True
        try:
            with self.database.writing() as connection:
                for session in sessions_where(connection, _LAST):
                    told = {**session.as_json(), "updatedAt": session.updated_at}
                    _replace_file(self.current, told)
        except (OSError, SentinelError) as error:
            if not self._has_warned:
                warn("%s: not written (%s)", self.current, type(error).__name__)
            self._has_warned = True
            return False
        self._has_warned = False
        return True

    def get(self, name: str) -> Session:
        """Return a session by number (`#12`, `12`) or id. Raises NoSuchSessionError."""
        with self.reading() as connection:
            try:
                return resolve(connection, name)
            except NoSuchSessionError:
                [found] = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":  # a row on a damaged page may seem not to be there
                    raise self.database.damage(shown(found)) from None
                raise

    def count(self) -> int:
        with self.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM contexts").fetchone()[0])

    def actions(self, session: Session) -> list[Action]:
        with self.reading() as connection:
            return actions_of(connection, session.id)

    def chain(self, session: Session) -> list[Session]:
        """Return all sessions before and after this one, with it, oldest first."""
        with self.reading() as connection:
            before = list(ancestors(connection, session))
            return [*reversed(before), session, *descendants(connection, session)]


def open_sessions(
    root: Path, settings: Settings, cancellation: Cancellation = NO_CANCELLATION
) -> SessionStore:
    """Return a project's sessions, as its `config.json` says. Raises ConfigError."""
    return _opened(root, read_config(root), settings, cancellation)


@lru_cache(maxsize=8)  # keeps connections and what was read for the next call
def _opened(
    root: Path, config: Config, settings: Settings, cancellation: Cancellation
) -> SessionStore:
    return SessionStore(root, config, settings, cancellation)


def copy_in_background(store: SessionStore) -> None:
    """Make the daily copy, if due, in a thread; return at once."""

    def copy() -> None:
        try:
            keep_copy(store)
        except (SentinelError, OSError) as error:
            warn("%s", error)
        finally:
            _COPYING.release()

    if _COPYING.acquire(blocking=False):
        threading.Thread(target=copy, name="copy", daemon=True).start()


def keep_copy(store: SessionStore) -> None:
    """Copy the database, if that is due. Raises DatabaseError."""
    with contextlib.closing(store.beside()) as database:
        database.keep_copy()


def exist_in(root: Path) -> bool:
    """Return whether a project has sessions. Raises ConfigError."""
    return os.path.lexists(read_config(root).database(root))


# Rows


def resolve(connection: sqlite3.Connection, name: str) -> Session:
    """Return a session by number or id. Raises NoSuchSessionError."""
    numbered = _NUMBER.match(name.strip())
    if numbered:
        found = next(sessions_where(connection, "number = ?", (int(numbered[1]),)), None)
    else:
        found = session_with_id(connection, shown(name.strip()))
    if found is None:
        raise NoSuchSessionError(name=shown_name(name))
    return found


def shown_name(name: str) -> str:
    """Return a caller's name for a session, short enough for a sentence."""
    text = shown(name.strip()) or '""'
    return text if len(text) <= 40 else f"{text[:40]}…"


def insert(connection: sqlite3.Connection, session: Session, *, process: str = "") -> Session:
    """Store a new session and return it; number 0 becomes a new one."""
    values = {**values_of(session), "process": process, "revision": next_revision(connection)}
    if session.number:
        values["number"] = session.number
    places = ", ".join("?" * len(values))
    cursor = connection.execute(
        f"INSERT INTO contexts ({', '.join(values)}) VALUES ({places})", tuple(values.values())
    )
    [stored] = sessions_where(connection, "number = ?", (cursor.lastrowid,))
    add_to_index(connection, stored)
    return stored


def update(
    connection: sqlite3.Connection, before: Session, after: Session, *, process: str = ""
) -> None:
    """Replace a stored session. process: "" keeps the stored one."""
    values = {**values_of(after), "revision": next_revision(connection)}
    if process:
        values["process"] = process
    remove_from_index(connection, before)
    connection.execute(
        f"UPDATE contexts SET {', '.join(f'{name} = ?' for name in values)} WHERE number = ?",
        (*values.values(), after.number),
    )
    add_to_index(connection, after)


def delete(connection: sqlite3.Connection, session: Session) -> None:
    """Remove a session with its actions; sessions that continue it stay."""
    remove_from_index(connection, session)
    connection.execute("DELETE FROM actions WHERE context_id = ?", (session.id,))
    connection.execute("DELETE FROM conversations WHERE context_id = ?", (session.id,))
    connection.execute("UPDATE contexts SET parent_id = NULL WHERE parent_id = ?", (session.id,))
    connection.execute("DELETE FROM contexts WHERE number = ?", (session.number,))
    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'removed'")


def ancestors(connection: sqlite3.Connection, session: Session) -> Iterator[Session]:
    """Yield the sessions before this one, nearest first."""
    seen = {session.id}
    current: Session | None = session
    while current and current.parent_id and len(seen) < _MOST_LINKS:
        current = session_with_id(connection, current.parent_id)
        if current is None or current.id in seen:
            return
        seen.add(current.id)
        yield current


def descendants(connection: sqlite3.Connection, session: Session) -> list[Session]:
    """Return the sessions after this one, oldest first."""
    found, waiting = dict[str, Session](), [session.id]
    while waiting and len(found) < _MOST_LINKS:
        for child in sessions_where(connection, "parent_id = ?", (waiting.pop(),)):
            if child.id not in found and child.id != session.id:
                found[child.id] = child
                waiting.append(child.id)
    return sorted(found.values(), key=lambda child: child.number)


def next_revision(connection: sqlite3.Connection) -> int:
    connection.execute(
        "INSERT INTO counters VALUES ('revision', 1) ON CONFLICT DO UPDATE SET value = value + 1"
    )
    [row] = connection.execute("SELECT value FROM counters WHERE name = 'revision'")
    return int(row[0])


# The sessions that a save changes


def _continued(
    connection: sqlite3.Connection,
    draft: Draft,
    agent: str,
    process: str,
    now: str,
    *,
    but: Sequence[str],
) -> Session | None:
    """Return the open session of the goal that this process or client is at.

    but: ids of the chain, where the goal may be the same.
    """
    newest = connection.execute("SELECT max(number) FROM contexts").fetchone()[0] or 0
    condition = (
        "number > ? AND goal = ? AND archive = '' AND ended_at IS NULL"
        " AND julianday(updated_at) > julianday(?) - ?"
        " AND (process = ? AND process != '' OR agent = ? AND agent != '')"
        " ORDER BY process = ? DESC, number DESC"
    )
    values = (newest - _RECENT, draft.goal, now, _OPEN_DAYS, process, agent, process)
    found = sessions_where(connection, condition, values)
    return next((it for it in found if it.id not in but), None)


def _resolve(connection: sqlite3.Connection, session: Session, now: str) -> tuple[Session, ...]:
    from rooms.sessions.draft import with_resolved

    changed = list[Session]()
    if any(it.is_resolved for it in session.blockers):
        for before in list(ancestors(connection, session)):
            after = with_resolved(before, session.blockers, now)
            if after != before:
                update(connection, before, after)
                changed.append(after)
    return tuple(changed)


def _replace_file(path: Path, shown_values: object) -> None:
    text = json.dumps(shown_values, ensure_ascii=False, indent=2) + "\n"
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.unlink(missing_ok=True)  # a killed process may leave one; a link would be followed
    try:
        with open(temporary, "x", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
