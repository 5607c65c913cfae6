"""Finds what is wrong with the sessions of a project: their files, rows and settings, and git.

Nothing is changed.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.config import Settings
from core.errors import RefusedError, SentinelError
from core.git import HistoryError, WorkTree
from core.lessons.upkeep import Finding
from core.messages import Facts
from core.room.copies import kept_aside
from core.room.database import Database, DatabaseDamagedError
from core.room.full_text import is_sound
from rooms.sessions.config import config_path, unknown_keys
from rooms.sessions.projects.consent import is_shared
from rooms.sessions.projects.hints import global_database, projects_in
from rooms.sessions.search.index import INDEX
from rooms.sessions.store import SessionStore, open_sessions
from rooms.sessions.upkeep.archive import archive, archives_of
from rooms.sessions.upkeep.secrets import ORPHANS

WAITING_DAYS = 30
STALE = f"julianday(created_at) < julianday('now') - {WAITING_DAYS}"
_DATABASES = "*.db*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is known of a project's sessions.

    count: None where they cannot be counted. schema: the version. size: bytes of the database, its
    journal and the archives. is_shared: whether other projects of the user find them.
    """

    path: Path
    findings: list[Finding] = field(default_factory=list)
    count: int | None = None
    schema: int = 0
    size: int = 0
    archives: int = 0
    is_shared: bool = False


def examine(root: Path, settings: Settings, environment: Mapping[str, str]) -> Health:
    """Look at everything that belongs to the sessions of a project, and to the hints of all."""
    try:
        store = open_sessions(root, settings)
    except RefusedError as error:
        return Health(path=config_path(root), findings=[_unusable("sessions.health.config", error)])
    findings = [*_about_settings(root)]
    with archive(store, store.path) as database:  # with connections of its own
        findings += check(database)
        count, schema, more = _about_rows(database, store)
        findings += more
    archives = archives_of(store)
    for path in archives:
        with archive(store, path) as database:
            findings += check(database)
    for path in kept_aside(store.path):
        findings.append(Finding("sessions.health.aside", "note", facts={"path": str(path)}))
    findings += git_findings(store)
    findings += _about_hints(root, environment)
    return Health(
        path=store.path,
        findings=findings,
        count=count,
        schema=schema,
        size=sum(map(_size, (store.path, Path(f"{store.path}-wal"), *archives))),
        archives=len(archives),
        is_shared=is_shared(root, environment),
    )


def check(database: Database) -> list[Finding]:
    """Return what is wrong with a file as a database: its pages, and its full-text index."""
    facts = {"path": str(database.path)}
    try:
        flaw = database.flaw(_has_whole_index)
    except SentinelError as error:
        return [_unusable("sessions.health.unusable", error)]
    if flaw is None:
        return []
    if flaw.of == "index":
        return [Finding("sessions.health.index", "warning", facts=facts, fixable=True)]
    facts |= {"reason": flaw.reason, "copy": flaw.copy}
    kind = "sessions.health.damaged" if flaw.copy else "sessions.health.damaged_alone"
    return [Finding(kind, "error", facts=facts, fixable=True)]


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
            return (
                _counted(connection, "contexts"),
                connection.execute("PRAGMA user_version").fetchone()[0],
                list(_row_findings(connection, store)),
            )
    except SentinelError:  # said by the check
        return None, 0, []


def _row_findings(connection: sqlite3.Connection, store: SessionStore) -> Iterator[Finding]:
    for table, condition, kind in (
        ("actions", ORPHANS, "sessions.health.orphans"),
        ("waiting_actions", STALE, "sessions.health.stale"),
    ):
        count = _counted(connection, f"{table} WHERE {condition}")
        if count:
            known: Facts = {"count": count, "days": WAITING_DAYS}
            yield Finding(kind, "note", facts=known, fixable=True)
    named = connection.execute(
        "SELECT archive, count(*) FROM contexts WHERE archive != '' GROUP BY archive"
    )
    for name, count in named:
        path = store.path.parent / str(name)
        if not os.path.lexists(path):
            facts: Facts = {"path": str(path), "count": count}
            yield Finding("sessions.health.archive_missing", "warning", facts=facts)


def _counted(connection: sqlite3.Connection, what: str) -> int:
    [count] = connection.execute(f"SELECT count(*) FROM {what}").fetchone()
    return int(count)


def _about_settings(root: Path) -> Iterator[Finding]:
    for name in unknown_keys(root):
        facts = {"path": str(config_path(root)), "name": name}
        yield Finding("sessions.health.unknown_key", "note", facts=facts)


def _about_hints(root: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what is wrong with the hints of all projects that share."""
    database = global_database(root, environment)
    if database is None:
        return
    try:
        with database.reading() as hints:
            projects = projects_in(hints) if hints else []
    except SentinelError as error:
        kind = (
            "sessions.health.hints"
            if isinstance(error, DatabaseDamagedError)
            else "sessions.health.unusable"
        )
        facts = {**{"said": str(error)}, "path": str(database.path)}
        is_fixable = kind == "sessions.health.hints"
        yield Finding(kind, "warning", facts=facts, fixable=is_fixable)
        return
    finally:
        database.close()
    for project in projects:
        if not os.path.isdir(project.root):
            facts = {"root": project.root, "name": project.name}
            yield Finding("sessions.health.project_gone", "note", facts=facts, fixable=True)


def _unusable(kind: str, error: SentinelError) -> Finding:
    return Finding(kind, "error", facts={"said": str(error)})


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


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
        if not tracked and not all(_is_ignored(tree, name) for name in _names_of(store.path)):
            facts = {"path": f"{below}/.gitignore", "name": store.path.name}
            yield Finding("sessions.health.not_ignored", "warning", facts=facts, fixable=True)
    except HistoryError:  # no git here; the doctor says so of the log
        return


def _names_of(path: Path) -> tuple[str, str]:
    """Return the database, and the name of a copy, which need not be there."""
    return str(path), f"{path}.copy-0"


def _is_ignored(tree: WorkTree, path: str) -> bool:
    return tree.run("check-ignore", "--quiet", "--no-index", "--", path).returncode == 0


def _listed(tree: WorkTree, *patterns: str) -> list[str]:
    """Return the tracked files of these patterns, relative to the project."""
    return [
        os.fsdecode(it) for it in tree.ask("ls-files", "-z", "--", *patterns).split(b"\0") if it
    ]
