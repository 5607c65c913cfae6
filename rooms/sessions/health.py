"""Finds faults in the files, rows, settings and git of a project's sessions.

Nothing changes before somebody asks for a repair.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from core.config import Settings
from core.disk import reason_of
from core.errors import RefusedError, SentinelError
from core.git import HistoryError, WorkTree
from core.lessons.upkeep import Finding, Severity
from core.messages import Facts
from core.room.copies import date_of, kept_aside, size_of
from core.room.database import Database, DatabaseError
from core.room.full_text import is_sound
from rooms.sessions.actions import COUNTED_DAYS, dropped
from rooms.sessions.config import IGNORED, config_path, make_folder, unknown_keys
from rooms.sessions.everywhere import shared_roots, unshare
from rooms.sessions.rows import INDEX, IS_WAITING, ORPHANS, keep_index
from rooms.sessions.store import CURRENT, SessionStore, open_sessions

WAITING_DAYS = 30
_STALE = f"{IS_WAITING} AND julianday(created_at) < julianday('now') - {WAITING_DAYS}"
_DATABASES = "*.db*"

_Fix = Callable[[], Facts | bool | None]


def examine(root: Path, settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """Return the faults of a project's sessions, and shares of lost projects; last an `ok`.

    A repair raises SessionsError, and DatabaseError also for a file that cannot be written.
    """
    lost, found = dropped(root, environment), list[Finding]()
    not_recorded = [_found("dropped", "note", count=lost, days=COUNTED_DAYS)] if lost else []
    try:
        store = open_sessions(root, settings)
    except RefusedError as error:
        return [_found("config", "error", said=str(error)), *not_recorded]
    where = str(config_path(root))
    found += [_found("unknown_key", "note", path=where, name=it) for it in unknown_keys(root)]
    with closing(store.beside()) as database:
        found += _of_file(database, store)
        counted, of_rows = _of_rows(database, store)
    found += of_rows
    found += [_found("aside", "note", path=str(it)) for it in kept_aside(store.path)]
    found += _of_git(store)
    for gone in shared_roots(root, environment):
        if not os.path.isdir(gone):
            fix = partial(unshare, gone, environment)
            name = os.path.basename(gone)
            found.append(_found("project_gone", "note", fix, root=gone, name=name))
    found += not_recorded
    if counted:
        archives = [*store.archives(), *store.former_archives()]
        files = [store.path, Path(f"{store.path}-wal"), *archives]
        counted |= {"path": str(store.path), "bytes": sum(size_of(it) for it in files)}
        counted["archives"] = len(archives)
        found.append(Finding("sessions.health.ok", "ok", facts=counted))
    return found


def _found(kind: str, severity: Severity, fix: _Fix | None = None, **facts: str | int) -> Finding:
    """Return a finding; an OSError of `fix` becomes a DatabaseError."""

    def carry_out() -> Facts | None:
        try:
            done = fix() if fix else None
            return done if isinstance(done, dict) else None
        except DatabaseError:
            raise
        except OSError as error:
            path = str(facts.get("path", ""))
            raise DatabaseError("not_mended", path=path, reason=reason_of(error)) from error

    name, can_be_mended = f"sessions.health.{kind}", fix is not None
    mend = carry_out if can_be_mended else None
    return Finding(name, severity, facts=facts, fixable=can_be_mended, fix=mend)


def _of_file(database: Database, store: SessionStore) -> list[Finding]:
    def put_back() -> Facts:
        store.database.close()
        with closing(store.beside()) as damaged:
            done = damaged.put_back_copy()
        store.project()
        return {"aside": str(done.aside), "copy": date_of(done.copy)}

    def index_anew() -> None:
        with closing(store.beside()) as own, own.writing() as connection:
            connection.execute("DELETE FROM counters WHERE name = 'index'")
            keep_index(connection, store.config.tokenizer)

    try:
        flaw = database.flaw(_has_whole_index)
    except SentinelError as error:
        return [_found("unusable", "error", said=str(error))]
    if flaw is None:
        return []
    path = str(store.path)
    if flaw.of == "index":
        return [_found("index", "warning", index_anew, path=path)]
    kind = "damaged" if flaw.copy else "damaged_alone"
    return [_found(kind, "error", put_back, path=path, reason=flaw.reason, copy=flaw.copy)]


def _has_whole_index(connection: sqlite3.Connection) -> bool:
    if not is_sound(connection, INDEX):
        return False
    has_all = connection.execute(
        "SELECT (SELECT count(*) FROM contexts) = (SELECT count(*) FROM contexts_fts_docsize)"
        " AND NOT EXISTS (SELECT 1 FROM contexts WHERE number NOT IN"
        " (SELECT id FROM contexts_fts_docsize))"
    )
    return bool(has_all.fetchone()[0])


def _of_rows(database: Database, store: SessionStore) -> tuple[Facts, list[Finding]]:
    """Return counts and schema version, {} if unreadable, and findings on rows."""
    counted: Facts = {"count": 0, "schema": 0}
    with suppress(SentinelError), database.reading() as connection:  # said of the file
        found = list[Finding]()
        if connection is not None:
            [count] = connection.execute("SELECT count(*) FROM contexts").fetchone()
            [schema] = connection.execute("PRAGMA user_version").fetchone()
            counted = {"count": count, "schema": schema}
            found = list(_row_findings(connection, store))
        return counted, found
    return {}, []


def _row_findings(connection: sqlite3.Connection, store: SessionStore) -> Iterator[Finding]:
    for condition, kind in ((ORPHANS, "orphans"), (_STALE, "stale")):
        statement = f"SELECT count(*) FROM actions WHERE {condition}"
        if count := connection.execute(statement).fetchone()[0]:
            fix = partial(_delete_actions, store, condition)
            yield _found(kind, "note", fix, count=count, days=WAITING_DAYS)
    statement = "SELECT archive, count(*) FROM contexts WHERE archive != '' GROUP BY archive"
    for name, count in connection.execute(statement):
        path = store.path.parent / str(name)
        if path in store.former_archives():
            yield _found("former_archive", "note", path=str(path), count=count)
        else:
            yield _found("archive_missing", "warning", path=str(path), count=count)


def _of_git(store: SessionStore) -> Iterator[Finding]:
    def ignore() -> None:
        make_folder(folder)  # refuses a link, which would lead elsewhere
        with open(folder / ".gitignore", "a", encoding="utf-8") as file:
            file.write(f"\n{IGNORED}")

    def tracked(pattern: str) -> list[str]:
        found = tree.ask("ls-files", "-z", "--", pattern).split(b"\0")
        return [os.fsdecode(it) for it in found if it]

    def is_ignored(path: str) -> bool:
        return tree.run("check-ignore", "--quiet", "--no-index", "--", path).returncode == 0

    folder = store.path.parent
    if not folder.is_dir():
        return
    try:
        tree = WorkTree(store.root)
        below = folder.relative_to(store.root).as_posix()
        databases = tracked(f":(glob){below}/{_DATABASES}")
        for path in databases:
            yield _found("tracked", "warning", path=path)
        for path in tracked(f"{below}/{CURRENT}"):
            yield _found("current_tracked", "note", path=path)
        # The database, and the name of a copy, which need not be there.
        names = (str(store.path), f"{store.path}.copy-0")
        if not databases and not all(map(is_ignored, names)):
            path = f"{below}/.gitignore"
            yield _found("not_ignored", "warning", ignore, path=path, name=store.path.name)
    except HistoryError:  # no git here; the doctor says so of the log
        return


def _delete_actions(store: SessionStore, condition: str) -> Facts:
    with store.writing() as connection:
        statement = f"DELETE FROM actions WHERE {condition}"
        return {"count": connection.execute(statement).rowcount}
