"""Repairs what a check has found: damaged files, the index, actions of no session, old hints."""

import os
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from core.config import Settings
from core.disk import reason_of
from core.lessons.upkeep import Finding
from core.room.copies import date_of
from core.room.database import Database, DatabaseError
from rooms.sessions.config import IGNORED, make_folder
from rooms.sessions.projects.consent import is_shared
from rooms.sessions.projects.hints import global_database, remove
from rooms.sessions.projects.sharing import refresh, share
from rooms.sessions.rows import sessions_where
from rooms.sessions.schema import MIGRATIONS
from rooms.sessions.search import index
from rooms.sessions.store import SessionStore, open_sessions
from rooms.sessions.upkeep.archive import archive
from rooms.sessions.upkeep.health import STALE
from rooms.sessions.upkeep.secrets import ORPHANS

_INDEX = "contexts_fts"


def mend(
    root: Path, findings: Iterable[Finding], settings: Settings, environment: Mapping[str, str]
) -> list[Finding]:
    """Repair what these findings say, and return them with what was done as further facts.

    Raises DatabaseError, also for a file that could not be written, and SessionsError.
    """
    store = open_sessions(root, settings)
    done = list[Finding]()
    for finding in findings:
        path = Path(str(finding.facts.get("path", store.path)))
        try:
            facts = _mended(finding, path, store, environment)
        except DatabaseError:
            raise
        except OSError as error:
            raise DatabaseError("not_mended", path=str(path), reason=reason_of(error)) from error
        done.append(
            Finding(finding.kind, finding.severity, facts={**finding.facts, **facts}, fixable=True)
        )
    return done


def _mended(
    finding: Finding, path: Path, store: SessionStore, environment: Mapping[str, str]
) -> Mapping[str, str | int]:
    match finding.kind:
        case "sessions.health.damaged" | "sessions.health.damaged_alone":
            return _put_back(path, store, environment)
        case "sessions.health.index":
            with archive(store, path) as database:
                rebuild_index(database)
        case "sessions.health.orphans":
            return {"count": _delete(store, f"actions WHERE {ORPHANS}")}
        case "sessions.health.stale":
            return {"count": _delete(store, f"waiting_actions WHERE {STALE}")}
        case "sessions.health.not_ignored":
            make_folder(store.path.parent)  # refuses a link, which would lead elsewhere
            with open(store.path.with_name(".gitignore"), "a", encoding="utf-8") as file:
                file.write(f"\n{IGNORED}")
        case "sessions.health.hints":
            _replace_hints(store, environment)
        case "sessions.health.project_gone":
            hints = global_database(store.root, environment)
            if hints:
                with closing(hints):
                    remove(hints, str(finding.facts["root"]))
    return {}


def _put_back(
    path: Path, store: SessionStore, environment: Mapping[str, str]
) -> Mapping[str, str | int]:
    """Put the newest whole copy of a database or an archive in its place."""
    store.database.close()
    with archive(store, path) as database:
        done = database.put_back_copy()
    if path == store.path:
        store.project()
        hints = global_database(store.root, environment)
        if hints and os.path.lexists(hints.path):  # they know what was saved after the copy
            with closing(hints):
                remove(hints, store.root)
            refresh(store, environment)
    return {"aside": str(done.aside), "copy": date_of(done.copy)}


def rebuild_index(database: Database) -> None:
    """Make the full-text index anew from the sessions, in the form of a new database.

    A store that keeps it in another form makes that at its next write. Raises DatabaseError.
    """
    [statement] = [it for part in MIGRATIONS for it in part if f"TABLE {_INDEX} " in it]
    with database.writing() as connection:
        connection.execute(f"DROP TABLE IF EXISTS {_INDEX}")
        connection.execute(statement)
        connection.execute("DELETE FROM counters WHERE name = 'index'")
        for session in list(sessions_where(connection, "1")):
            index.add(connection, session)


def _delete(store: SessionStore, what: str) -> int:
    with store.writing() as connection:
        return connection.execute(f"DELETE FROM {what}").rowcount


def _replace_hints(store: SessionStore, environment: Mapping[str, str]) -> None:
    """Begin the hints anew: each project that shares adds its own with its next save."""
    database = global_database(store.root, environment)
    if database is None:
        return
    for name in ("-wal", "-shm", ""):
        Path(f"{database.path}{name}").unlink(missing_ok=True)
    if is_shared(store.root, environment) and os.path.lexists(store.path):
        share(store, environment)
