"""The one door to the sessions of a project.

    store = open_sessions(Path("shop"), Settings())
    store.save(Draft(goal="Fix the login"), agent="claude-code", process="p1").session.number
    store.get("#1").goal

Only a write creates files. A save also writes the last session to `current.json` for people; only
an import reads it.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from core.config import Settings
from core.errors import SentinelError
from core.program import NO_CANCELLATION, Cancellation, printable_fact, warn
from core.room.database import Database
from core.text.plain import moment_of, utc_now
from rooms.sessions import rows
from rooms.sessions import session as shapes
from rooms.sessions.config import Config, make_folder, read_config
from rooms.sessions.session import Action, Draft, NoSuchSessionError, Session, SessionsError

CURRENT = "current.json"
ARCHIVE = "archive"  # the directory with archives, which git does not get
FORMER_ARCHIVE = re.compile(r"archive-[0-9]{4}\.db\Z")  # of an older version
_LAST_SAVED = (  # in two steps, each by an index: in one, SQLite sorts all sessions
    "updated_at = (SELECT max(updated_at) FROM contexts WHERE archive = '')"
    " AND archive = '' ORDER BY revision DESC LIMIT 1"
)
# The open sessions of this process or client among the last 500. After more than a day a save of
# the same goal begins a new one.
_OPEN_SESSIONS = (
    "number > (SELECT max(number) FROM contexts) - 500"
    " AND archive = '' AND ended_at IS NULL"
    " AND julianday(updated_at) > julianday(?) - 1"
    " AND (process = ? AND process != '' OR agent = ? AND agent != '')"
    " ORDER BY process = ? DESC, number DESC"
)
_NUMBER = re.compile(r"#?([0-9]{1,15})\Z")
_NAME_CHARS, _READ_CHARS = 40, 1_000
_MOST_LINKS = 1_000  # of a chain, which somebody may have tied into a circle


class SaveOutcome(NamedTuple):
    """The outcome of a save."""

    session: Session
    is_new: bool
    secret_kinds: tuple[str, ...] = ()  # kinds of secrets
    resolved_sessions: Sequence[Session] = ()  # before it, with a blocker that is resolved now
    replaced_fields: Sequence[str] = ()  # fields whose former texts are in `Session.former`
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
        self.path = config.database_path(root)
        self.current_path = self.path.with_name(CURRENT)
        self.database = rows.database_at(
            self.path, timeout_s=settings.lock_timeout_s, cancellation=cancellation
        )
        self.as_object = settings.answers == "json"  # whether an answer is the declared object
        self._has_warned = False  # that current.json was not written

    def open_database(self, path: Path | None = None) -> Database:
        """Return the database or another file, with its own connections."""
        return rows.database_at(path or self.path, timeout_s=self.settings.lock_timeout_s)

    def list_archives(self) -> list[Path]:
        return sorted((self.path.parent / ARCHIVE).glob("sessions-*.json"), reverse=True)

    def list_former_archives(self) -> list[Path]:
        paths = self.path.parent.glob("archive-*.db")
        return sorted(path for path in paths if FORMER_ARCHIVE.match(path.name))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection in a write transaction; make a missing directory."""
        make_folder(self.path.parent)
        with self.database.writing() as connection:
            rows.update_index(connection, self.config.tokenizer)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to one state; without a file, to an empty database."""
        with self.database.reading() as connection:
            if connection is not None:
                yield connection
                return
        with closing(sqlite3.connect(":memory:")) as empty:
            for statement in rows.schema_statements():
                empty.execute(statement)
            yield empty

    def save(self, draft: Draft, *, agent: str, process: str, now: str = "") -> SaveOutcome:
        """Save a new session or continue one; on disk when this returns.

        agent: the client, or "". process: this run of a server. now: for tests. Without an id, a
        draft continues the open session of its goal that this process or client saved within a day.
        """
        from core.sanitizer import safe_name  # loaded with the first save
        from rooms.sessions.draft import (
            agent_of,
            continue_session,
            fold_sentence,
            redact_draft,
            resolve,
        )

        draft, kinds = redact_draft(draft, strict=self.settings.strict)
        agent = agent_of(safe_name(agent))
        with self.writing() as connection:
            now = moment_of(now) if now else utc_now()  # known only now: who saves after whom
            chain_ids = list[str]()  # the sessions that end with its parent
            if draft.parent:
                parent = self.find(connection, draft.parent)
                chain_ids = [link.id for link in (parent, *ancestors_of(connection, parent))]
                draft = replace(draft, parent=parent.id)
            base: Session | None
            if draft.id:
                base = self.find(connection, draft.id)
                if base.archive:
                    raise SessionsError("archived", name=f"#{base.number}")
                if base.id in chain_ids:
                    raise SessionsError("own_parent")
            else:
                goal, values = fold_sentence(draft.goal), (now, process, agent, process)
                sessions = rows.sessions_where(connection, _OPEN_SESSIONS, values)
                sessions = (session for session in sessions if fold_sentence(session.goal) == goal)
                base = next((session for session in sessions if session.id not in chain_ids), None)
                del sessions  # a question that is open keeps this state, on which none may write
                draft = replace(draft, goal=base.goal if base else draft.goal)
            fields: Any = {"number": 0, "goal": draft.goal, "started_at": now, "created_at": now}
            new_session = Session(id=f"ctx_{os.urandom(6).hex()}", **fields)
            session = continue_session(base or new_session, draft, agent=agent, now=now)
            # Before its own row is written: the last revision is that of this session.
            solved_links = list[Session]()
            if any(blocker.is_resolved for blocker in session.blockers):
                for link in list(ancestors_of(connection, session)):
                    new_link = resolve(link, session.blockers, now)
                    if new_link != link:
                        solved_links.append(rows.write_session(connection, new_link, before=link))
            session = rows.write_session(connection, session, before=base, process=process)
            rows.settle_actions(connection, now)
        has_former = base is not None and session.former != base.former
        names = [name for name, _ in session.former[-1].texts] if has_former else []
        return SaveOutcome(session, base is None, kinds, solved_links, names, self.write_current())

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
                temporary.unlink(missing_ok=True)  # left by a killed process, or a link
                for session in rows.sessions_where(connection, _LAST_SAVED):
                    current = {**shapes.SESSION.as_json(session), "updatedAt": session.updated_at}
                    text = json.dumps(current, ensure_ascii=False, indent=2) + "\n"
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
                [flaw] = connection.execute("PRAGMA quick_check(1)").fetchone()
                if flaw != "ok":  # a row on a damaged page may seem not to be there
                    raise self.database.damage_error(printable_fact(flaw)) from None
                raise

    def find(self, connection: sqlite3.Connection, name: str) -> Session:
        """Return a session by number or id.

        Raises NoSuchSessionError, and SessionsError with the file of an archived session.
        """
        name = name.strip()
        if match := _NUMBER.match(name):
            session = next(rows.sessions_where(connection, "number = ?", (int(match[1]),)), None)
        else:
            session = rows.session_with_id(connection, printable_fact(name))
        if session is None:
            self._check_archives(name)
            from core.sanitizer import redact  # a caller may have written any text

            text = printable_fact(redact(name[:_READ_CHARS]).text) or '""'
            short = text if len(text) <= _NAME_CHARS else f"{text[:_NAME_CHARS]}…"
            raise NoSuchSessionError(name=short)
        return session

    def _check_archives(self, name: str) -> None:
        number = name.lstrip("#")
        field = f'"number": {number},' if number.isdecimal() else f'"id": {json.dumps(number)},'
        name = f"#{number}" if number.isdecimal() else number
        for path in self.list_archives():
            with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
                # Both stand before all texts of a line.
                if any(field in line.partition('"goal"')[0] for line in file):
                    where = path.relative_to(self.root).as_posix()
                    date = path.stem.removeprefix("sessions-")[:10]
                    raise SessionsError("archived_away", name=name, path=where, date=date)

    def count(self) -> int:
        with self.reading() as connection:
            return int(connection.execute("SELECT count(*) FROM contexts").fetchone()[0])

    def actions_of(self, session: Session) -> list[Action]:
        with self.reading() as connection:
            return rows.actions_of(connection, session.id)

    def chain_of(self, session: Session) -> list[Session]:
        """Return all sessions before and after this one, with it, oldest first."""
        children, ids = dict[str, Session](), [session.id]
        with self.reading() as connection:
            parents = list(ancestors_of(connection, session))
            while ids and len(children) < _MOST_LINKS:
                for child in rows.sessions_where(connection, "parent_id = ?", (ids.pop(),)):
                    if child.id not in children and child.id != session.id:
                        children[child.id] = child
                        ids.append(child.id)
        return [*parents[::-1], session, *sorted(children.values(), key=lambda link: link.number)]


def open_sessions(
    root: Path, settings: Settings, cancellation: Cancellation = NO_CANCELLATION
) -> SessionStore:
    """Return a project's sessions, as its `config.json` says. Raises ConfigError."""
    return _open_store(root, read_config(root), settings, cancellation)


_open_store = lru_cache(maxsize=8)(SessionStore)  # with its connections


def ancestors_of(connection: sqlite3.Connection, session: Session) -> Iterator[Session]:
    """Yield the sessions before this one, nearest first."""
    ids = {session.id}
    current: Session | None = session
    while current and current.parent_id and len(ids) < _MOST_LINKS:
        current = rows.session_with_id(connection, current.parent_id)
        if current is None or current.id in ids:
            return
        ids.add(current.id)
        yield current
