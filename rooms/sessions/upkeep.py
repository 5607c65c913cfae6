"""Looks after the sessions of a project: daily copies, repairs, forgetting.

What a check finds is told by `health.py`.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import NamedTuple

from core.config import Settings
from core.disk import reason_of
from core.errors import SentinelError
from core.lessons.upkeep import Finding
from core.program import warn
from core.room.copies import date_of
from core.room.database import Database, DatabaseError
from rooms.sessions.config import IGNORED, make_folder
from rooms.sessions.everywhere import remove_former_copies, unshare
from rooms.sessions.rows import (
    IS_WAITING,
    ORPHANS,
    database_at,
    keep_index,
    session_with_id,
)
from rooms.sessions.session import Session
from rooms.sessions.store import CURRENT, SessionStore, delete, open_sessions

WAITING_DAYS = 30
STALE = f"{IS_WAITING} AND julianday(created_at) < julianday('now') - {WAITING_DAYS}"
FORMER_ARCHIVE = re.compile(r"archive-[0-9]{4}\.db\Z")  # of an older version
_COPYING = threading.Lock()  # one thread of a process at a time


# Daily copies


def copy_in_background(store: SessionStore) -> None:
    """Make the daily copy, if it is due, in a thread of its own; returns at once."""
    if _COPYING.acquire(blocking=False):
        threading.Thread(target=_copy, args=(store,), name="copy", daemon=True).start()


def _copy(store: SessionStore) -> None:
    try:
        keep_copy(store)
    except (SentinelError, OSError) as error:
        warn("%s", error)
    finally:
        _COPYING.release()


def keep_copy(store: SessionStore) -> None:
    """Copy the database, if that is due. Raises DatabaseError."""
    with closing(own_database(store)) as database:
        database.keep_copy()


def own_database(store: SessionStore, path: Path | None = None) -> Database:
    """Return the database of a store, or another file, with connections of its own."""
    return database_at(path or store.path, timeout_s=store.settings.lock_timeout_s)


# Repairs


def mend(
    root: Path, findings: Iterable[Finding], settings: Settings, environment: Mapping[str, str]
) -> list[Finding]:
    """Repair what these findings say, and return them with what was done as further facts.

    Raises DatabaseError, also for a file that could not be written, and SessionsError.
    """
    store, done = open_sessions(root, settings), list[Finding]()
    for finding in findings:
        try:
            facts = {**finding.facts, **_mended(finding, store, environment)}
        except DatabaseError:
            raise
        except OSError as error:
            path = str(finding.facts.get("path", store.path))
            raise DatabaseError("not_mended", path=path, reason=reason_of(error)) from error
        done.append(Finding(finding.kind, finding.severity, facts=facts, fixable=True))
    return done


def _mended(
    finding: Finding, store: SessionStore, environment: Mapping[str, str]
) -> Mapping[str, str | int]:
    match finding.kind:
        case "sessions.health.damaged" | "sessions.health.damaged_alone":
            store.database.close()
            with closing(own_database(store)) as database:
                done = database.put_back_copy()
            store.project()
            return {"aside": str(done.aside), "copy": date_of(done.copy)}
        case "sessions.health.index":
            with closing(own_database(store)) as database, database.writing() as connection:
                connection.execute("DELETE FROM counters WHERE name = 'index'")
                keep_index(connection, store.config.tokenizer)
        case "sessions.health.orphans":
            return {"count": _delete_actions(store, ORPHANS)}
        case "sessions.health.stale":
            return {"count": _delete_actions(store, STALE)}
        case "sessions.health.not_ignored":
            make_folder(store.path.parent)  # refuses a link, which would lead elsewhere
            with open(store.path.with_name(".gitignore"), "a", encoding="utf-8") as file:
                file.write(f"\n{IGNORED}")
        case "sessions.health.project_gone":
            unshare(str(finding.facts["root"]), environment)
    return {}


def _delete_actions(store: SessionStore, condition: str) -> int:
    with store.writing() as connection:
        return connection.execute(f"DELETE FROM actions WHERE {condition}").rowcount


# Forgetting


class Forgotten(NamedTuple):
    """What was removed, and what is left to do.

    sessions: as they stood in the database. unpurged: the files in which the bytes remain for now.
    """

    sessions: list[Session]
    unpurged: list[Path]


def forget(
    store: SessionStore,
    ids: Iterable[str],
    is_meant: Callable[[Session], bool] = lambda _: True,
) -> Forgotten:
    """Remove the sessions of these ids for good, with their actions and from the bytes.

    A session that is not there is passed over; what continues a removed session stays, without its
    link. is_meant: whether a session is still what the caller has seen; one that is not stays.

    The archives of older versions come first, so that a second call completes what was cut short.
    Raises what the store raises, and DatabaseError for such an archive.
    """
    wanted = list(dict.fromkeys(ids))
    with ExitStack() as stack:
        with store.writing() as connection:
            there = {it: session_with_id(connection, it) for it in wanted}
            wanted = [id_ for id_, it in there.items() if it is None or is_meant(it)]
            changed = [store.database]
            for path in former_archives(store):
                file = stack.enter_context(closing(own_database(store, path)))
                with file.writing() as kept:
                    found = [it for id_ in wanted if (it := session_with_id(kept, id_))]
                    for session in found:
                        delete(kept, session)
                changed += [file] if found else []
            removed = [it for id_ in wanted if (it := there[id_])]
            for session in removed:
                delete(connection, session)
        _project(store, wanted)
        remove_former_copies(store.root, os.environ)
        unpurged = [file.path for file in changed if not file.purge()]
    return Forgotten(removed, unpurged)


def _project(store: SessionStore, ids: Sequence[str]) -> None:
    """Show the session that is the newest now, and in no case one that was removed."""
    store.project()
    path = store.path.parent / CURRENT
    with suppress(OSError, ValueError, RecursionError):
        shown = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(shown, dict) and shown.get("id") in ids:
            path.unlink()


def former_archives(store: SessionStore) -> list[Path]:
    """Return the archives that an older version made, the oldest year first."""
    found = store.path.parent.glob("archive-*.db")
    return sorted(path for path in found if FORMER_ARCHIVE.match(path.name))
