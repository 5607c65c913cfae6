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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from core.config import Settings
from core.errors import SentinelError
from core.lessons.record import utc_now
from core.program import NO_CANCELLATION, Cancellation, printable_fact, warn
from core.room.database import Database
from core.text.plain import moment_of
from rooms.sessions import rows
from rooms.sessions import session as shapes
from rooms.sessions.config import Config, make_folder, read_config
from rooms.sessions.session import Action, Draft, NoSuchSessionError, Session, SessionsError

CURRENT = "current.json"
ARCHIVE = "archive"  # the directory with archives, which git does not get
FORMER_ARCHIVE = re.compile(r"archive-[0-9]{4}\.db\Z")  # of an older version
_LAST = (  # in two steps, each by an index: in one, SQLite sorts all sessions
    "updated_at = (SELECT max(updated_at) FROM contexts WHERE archive = '')"
    " AND archive = '' ORDER BY revision DESC LIMIT 1"
)
# The open sessions that this process or client is at, among the last 500; who saves the same goal
# after more than a day has begun anew.
_UNENDED = (
    "number > (SELECT max(number) FROM contexts) - 500"
    " AND archive = '' AND ended_at IS NULL"
    " AND julianday(updated_at) > julianday(?) - 1"
    " AND (process = ? AND process != '' OR agent = ? AND agent != '')"
    " ORDER BY process = ? DESC, number DESC"
)
_NUMBER = re.compile(r"#?([0-9]{1,15})\Z")
_NAME_CHARS = 40
_MOST_LINKS = 1_000  # of a chain, which somebody may have tied into a circle


class Saved(NamedTuple):
    """The outcome of a save."""

    session: Session
    is_new: bool
    redacted: tuple[str, ...] = ()  # kinds of secrets
    resolved: Sequence[Session] = ()  # earlier ones of its chain with a blocker resolved now
    replaced: Sequence[str] = ()  # fields whose former texts are in `Session.former`
    is_current_written: bool = True  # False if `current.json` could not be written


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
        self.current_path = self.path.with_name(CURRENT)
        self.database = rows.database_at(
            self.path, timeout_s=settings.lock_timeout_s, cancellation=cancellation
        )
        self.declared = settings.answers == "json"  # whether an answer is the declared object
        self._has_warned = False  # that current.json was not written

    def beside(self, path: Path | None = None) -> Database:
        """Return the database or another file, with its own connections."""
        return rows.database_at(path or self.path, timeout_s=self.settings.lock_timeout_s)

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
            rows.update_index(connection, self.config.tokenizer)
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to one state; without a file, to an empty database."""
        with self.database.reading() as connection:
            if connection is not None:
                yield connection
                return
        with contextlib.closing(sqlite3.connect(":memory:")) as empty:
            for statement in rows.schema_statements():
                empty.execute(statement)
            yield empty

    def save(self, draft: Draft, *, agent: str, process: str, now: str = "") -> Saved:
        """Save a new session or continue one; on disk when this returns.

        agent: the client, or "". process: this run of a server. now: for tests. Without an id, a
        draft continues the open session of its goal that this process or client saved within a day.
        """
        # The redactor is loaded with the first save.
        from core.sanitizer import safe_name
        from rooms.sessions.draft import (
            agent_of,
            comparable,
            continue_session,
            prepare_draft,
            with_resolved,
        )

        draft, redacted = prepare_draft(draft, strict=self.settings.strict)
        agent = agent_of(safe_name(agent))
        with self.writing() as connection:
            now = moment_of(now) if now else utc_now()  # known only now: who saves after whom
            line = list[str]()  # the sessions that end with its parent
            if draft.parent:
                parent = self.find(connection, draft.parent)
                line = [parent.id, *(it.id for it in ancestors(connection, parent))]
                draft = replace(draft, parent=parent.id)
            before: Session | None
            if draft.id:
                before = self.find(connection, draft.id)
                if before.archive:
                    raise SessionsError("archived", name=f"#{before.number}")
                if before.id in line:
                    raise SessionsError("own_parent")
            else:
                goal, values = comparable(draft.goal), (now, process, agent, process)
                found = rows.sessions_where(connection, _UNENDED, values)
                same = (it for it in found if comparable(it.goal) == goal)
                before = next((it for it in same if it.id not in line), None)
                draft = replace(draft, goal=before.goal if before else draft.goal)
            dates: Any = dict.fromkeys(("started_at", "created_at"), now)
            new = Session(number=0, id=f"ctx_{os.urandom(6).hex()}", goal=draft.goal, **dates)
            session = continue_session(before or new, draft, agent=agent, now=now)
            # Before its own row is written: the last revision is that of this session.
            resolved = list[Session]()
            if any(it.is_resolved for it in session.blockers):
                for earlier in list(ancestors(connection, session)):
                    after = with_resolved(earlier, session.blockers, now)
                    if after != earlier:
                        resolved.append(rows.write(connection, after, before=earlier))
            session = rows.write(connection, session, before=before, process=process)
            rows.settle(connection, now)
        is_kept = before is not None and session.former != before.former
        replaced = [name for name, _ in session.former[-1].told] if is_kept else []
        return Saved(session, before is None, redacted, resolved, replaced, self.write_current())

    def write_current(self) -> bool:
        """Write `current.json`, unless switched off; False if impossible.

        It takes its turn as a writer of the database, so that the last save is shown. It is not
        synced: after a power cut the next save repairs it.
        """
        if not self.config.keeps_json:
            return True
        temporary = self.current_path.with_name(f".{CURRENT}.tmp")
        try:
            with self.database.writing() as connection:
                for session in rows.sessions_where(connection, _LAST):
                    told = {**shapes.SESSION.as_json(session), "updatedAt": session.updated_at}
                    text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
                    # A killed process may leave one, and a link would be followed.
                    temporary.unlink(missing_ok=True)
                    try:
                        with open(temporary, "xb") as file:
                            file.write(text.encode("utf-8", "replace"))
                        os.replace(temporary, self.current_path)
                    finally:
                        temporary.unlink(missing_ok=True)
        except (OSError, SentinelError) as error:
            if not self._has_warned:
                warn("%s: not written (%s)", self.current_path, type(error).__name__)
            self._has_warned = True
            return False
        self._has_warned = False
        return True

    def get(self, name: str) -> Session:
        """Return a session by number (`#12`, `12`) or id. Raises NoSuchSessionError."""
        with self.reading() as connection:
            try:
                return self.find(connection, name)
            except NoSuchSessionError:
                [found] = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":  # a row on a damaged page may seem not to be there
                    raise self.database.damage_error(printable_fact(found)) from None
                raise

    def find(self, connection: sqlite3.Connection, name: str) -> Session:
        """Return a session by number or id.

        Raises NoSuchSessionError, and SessionsError with the file of an archived session.
        """
        try:
            return session_with_name(connection, name)
        except NoSuchSessionError:
            self._check_archives(name)
            raise

    def _check_archives(self, name: str) -> None:
        number = name.strip().lstrip("#")
        field = f'"number": {number},' if number.isdecimal() else f'"id": {json.dumps(number)},'
        name = f"#{number}" if number.isdecimal() else number
        for path in self.archives():
            with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as it:
                # Both stand before all texts of a line.
                if any(field in line.partition('"goal"')[0] for line in it):
                    where = path.relative_to(self.root).as_posix()
                    date = path.stem.removeprefix("sessions-")[:10]
                    raise SessionsError("archived_away", name=name, path=where, date=date)

    def count(self) -> int:
        with self.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM contexts").fetchone()[0])

    def actions(self, session: Session) -> list[Action]:
        with self.reading() as connection:
            return rows.actions_of(connection, session.id)

    def chain_of(self, session: Session) -> list[Session]:
        """Return all sessions before and after this one, with it, oldest first."""
        after, waiting = dict[str, Session](), [session.id]
        with self.reading() as connection:
            before = list(ancestors(connection, session))
            while waiting and len(after) < _MOST_LINKS:
                for child in rows.sessions_where(connection, "parent_id = ?", (waiting.pop(),)):
                    if child.id not in after and child.id != session.id:
                        after[child.id] = child
                        waiting.append(child.id)
        return [*before[::-1], session, *sorted(after.values(), key=lambda it: it.number)]


def open_sessions(
    root: Path, settings: Settings, cancellation: Cancellation = NO_CANCELLATION
) -> SessionStore:
    """Return a project's sessions, as its `config.json` says. Raises ConfigError."""
    return _opened(root, read_config(root), settings, cancellation)


_opened = lru_cache(maxsize=8)(SessionStore)  # with its connections


def session_with_name(connection: sqlite3.Connection, name: str) -> Session:
    """Return a session by number or id. Raises NoSuchSessionError."""
    numbered = _NUMBER.match(name.strip())
    if numbered:
        found = next(rows.sessions_where(connection, "number = ?", (int(numbered[1]),)), None)
    else:
        found = rows.session_with_id(connection, printable_fact(name.strip()))
    if found is None:
        text = printable_fact(name.strip()) or '""'
        short = text if len(text) <= _NAME_CHARS else f"{text[:_NAME_CHARS]}…"
        raise NoSuchSessionError(name=short)
    return found


def ancestors(connection: sqlite3.Connection, session: Session) -> Iterator[Session]:
    """Yield the sessions before this one, nearest first."""
    seen = {session.id}
    current: Session | None = session
    while current and current.parent_id and len(seen) < _MOST_LINKS:
        current = rows.session_with_id(connection, current.parent_id)
        if current is None or current.id in seen:
            return
        seen.add(current.id)
        yield current
