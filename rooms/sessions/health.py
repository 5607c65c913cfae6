"""Finds what is wrong with the sessions of a project: their files, rows and settings, and git.

Nothing is changed.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from core.config import Settings
from core.errors import RefusedError, SentinelError
from core.git import HistoryError, WorkTree
from core.lessons.upkeep import Finding
from core.messages import Facts
from core.room.copies import kept_aside, size_of
from core.room.database import Database
from core.room.full_text import is_sound
from rooms.sessions.archive import archives
from rooms.sessions.config import config_path, unknown_keys
from rooms.sessions.everywhere import shared_roots
from rooms.sessions.rows import INDEX, ORPHANS
from rooms.sessions.store import CURRENT, SessionStore, open_sessions
from rooms.sessions.upkeep import STALE, WAITING_DAYS, former_archives, own_database

_DATABASES = "*.db*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is known of a project's sessions.

    count: None where they cannot be counted. schema: the version. size: bytes of the database, its
    journal and the archives.
    """

    path: Path
    findings: list[Finding] = field(default_factory=list)
    count: int | None = None
    schema: int = 0
    size: int = 0
    archives: int = 0


def examine(root: Path, settings: Settings, environment: Mapping[str, str]) -> Health:
    """Look at everything that belongs to the sessions of a project, and at whom all share with."""
    try:
        store = open_sessions(root, settings)
    except RefusedError as error:
        config = Finding("sessions.health.config", "error", facts={"said": str(error)})
        return Health(path=config_path(root), findings=[config])
    where = str(config_path(root))
    findings = [
        Finding("sessions.health.unknown_key", "note", facts={"path": where, "name": it})
        for it in unknown_keys(root)
    ]
    with closing(own_database(store)) as database:
        findings += check(database)
        count, schema, of_rows = _about_rows(database, store)
    findings += of_rows
    findings += [
        Finding("sessions.health.aside", "note", facts=_path(it)) for it in kept_aside(store.path)
    ]
    findings += git_findings(store)
    findings += [
        Finding(
            "sessions.health.project_gone",
            "note",
            facts={"root": gone, "name": os.path.basename(gone)},
            fixable=True,
        )
        for gone in shared_roots(root, environment)
        if not os.path.isdir(gone)
    ]
    files = (*archives(store), *former_archives(store))
    return Health(
        path=store.path,
        findings=findings,
        count=count,
        schema=schema,
        size=sum(map(size_of, [store.path, Path(f"{store.path}-wal"), *files])),
        archives=len(files),
    )


def check(database: Database) -> list[Finding]:
    """Return what is wrong with a file as a database: its pages, and its full-text index."""
    try:
        flaw = database.flaw(_has_whole_index)
    except SentinelError as error:
        return [Finding("sessions.health.unusable", "error", facts={"said": str(error)})]
    if flaw is None:
        return []
    facts = _path(database.path)
    if flaw.of == "index":
        return [Finding("sessions.health.index", "warning", facts=facts, fixable=True)]
    facts |= {"reason": flaw.reason, "copy": flaw.copy}
    kind = "sessions.health.damaged" if flaw.copy else "sessions.health.damaged_alone"
    return [Finding(kind, "error", facts=facts, fixable=True)]


def _path(path: Path) -> Facts:
    return {"path": str(path)}


def _has_whole_index(connection: sqlite3.Connection) -> bool:
    """Return whether the index is sound in itself, and has every session once."""
    if not is_sound(connection, INDEX):
        return False
    has_all = connection.execute(
        "SELECT (SELECT count(*) FROM contexts) = (SELECT count(*) FROM contexts_fts_docsize)"
        " AND NOT EXISTS (SELECT 1 FROM contexts WHERE number NOT IN"
        " (SELECT id FROM contexts_fts_docsize))"
    )
    return bool(has_all.fetchone()[0])


def _about_rows(database: Database, store: SessionStore) -> tuple[int | None, int, list[Finding]]:
    """Return the number of sessions, the version of the schema, and what is wrong with rows."""
    try:
        with database.reading() as connection:
            if connection is None:
                return 0, 0, []
            [count] = connection.execute("SELECT count(*) FROM contexts").fetchone()
            [schema] = connection.execute("PRAGMA user_version").fetchone()
            return count, schema, list(_row_findings(connection, store))
    except SentinelError:  # said by the check
        return None, 0, []


def _row_findings(connection: sqlite3.Connection, store: SessionStore) -> Iterator[Finding]:
    for condition, kind in (
        (ORPHANS, "sessions.health.orphans"),
        (STALE, "sessions.health.stale"),
    ):
        statement = f"SELECT count(*) FROM actions WHERE {condition}"
        if count := connection.execute(statement).fetchone()[0]:
            facts: Facts = {"count": count, "days": WAITING_DAYS}
            yield Finding(kind, "note", facts=facts, fixable=True)
    statement = "SELECT archive, count(*) FROM contexts WHERE archive != '' GROUP BY archive"
    for name, count in connection.execute(statement):
        path = store.path.parent / str(name)
        is_there = path in former_archives(store)
        kind = "sessions.health.former_archive" if is_there else "sessions.health.archive_missing"
        facts = {"path": str(path), "count": count}
        yield Finding(kind, "note" if is_there else "warning", facts=facts)


def git_findings(store: SessionStore) -> Iterator[Finding]:
    """Yield what git has of the sessions' directory, and what it would take in by mistake."""
    folder = store.path.parent
    if not folder.is_dir():
        return
    try:
        tree = WorkTree(store.root)
        below = folder.relative_to(store.root).as_posix()
        tracked = _listed(tree, f":(glob){below}/{_DATABASES}")
        for path in tracked:
            yield Finding("sessions.health.tracked", "warning", facts={"path": path})
        for path in _listed(tree, f"{below}/{CURRENT}"):
            yield Finding("sessions.health.current_tracked", "note", facts={"path": path})
        # The database, and the name of a copy, which need not be there.
        names = (str(store.path), f"{store.path}.copy-0")
        if not tracked and not all(_is_ignored(tree, name) for name in names):
            facts = {"path": f"{below}/.gitignore", "name": store.path.name}
            yield Finding("sessions.health.not_ignored", "warning", facts=facts, fixable=True)
    except HistoryError:  # no git here; the doctor says so of the log
        return


def _is_ignored(tree: WorkTree, path: str) -> bool:
    return tree.run("check-ignore", "--quiet", "--no-index", "--", path).returncode == 0


def _listed(tree: WorkTree, pattern: str) -> list[str]:
    """Return the tracked files of a pattern, relative to the project."""
    found = tree.ask("ls-files", "-z", "--", pattern).split(b"\0")
    return [os.fsdecode(it) for it in found if it]
