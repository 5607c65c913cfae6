"""Lets a project take part in the search over all projects of its user, or not, and keeps it so."""

import contextlib
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from core.errors import SentinelError
from rooms.sessions.errors import SessionsError
from rooms.sessions.projects.consent import consent_path, is_shared, name_of
from rooms.sessions.projects.hints import Sessions, global_database, hints_of, keep_in_step, remove
from rooms.sessions.session import Session


class SharingError(SessionsError):
    """A project cannot share; takes the key of its sentence and its facts."""

    table = "sessions.projects"


def share(store: Sessions, environment: Mapping[str, str]) -> int:
    """Let the user's other projects find the sessions of this one; return how many they find now.

    Raises SharingError and DatabaseError; a consent that is noted then holds from the next save on.
    """
    path, database = consent_path(store.root, environment), global_database(store.root, environment)
    if not path or database is None:
        raise SharingError("no_state")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        private = partial(os.open, mode=0o600)
        name = name_of(store.root)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", opener=private) as file:
            file.write(name)
    except OSError as error:
        raise _unwritable(path, error) from error
    with contextlib.closing(database):
        return keep_in_step(database, store)


def unshare(root: Path, environment: Mapping[str, str]) -> int:
    """Take the consent back and remove the hints, also from the bytes; return how many there were.

    Raises SharingError and DatabaseError; without the consent nobody finds hints that are left.
    """
    path, database = consent_path(root, environment), global_database(root, environment)
    if not path or database is None:
        return 0
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    if not os.path.lexists(database.path):
        return 0
    with contextlib.closing(database):
        removed = remove(database, root)
        database.purge()
        return removed


def refresh(store: Sessions, environment: Mapping[str, str]) -> list[Path]:
    """Bring the hints of a project in step, without the bytes of what was removed from it.

    Return the files in which they remain for now: none where the project does not share.
    """
    database = global_database(store.root, environment)
    if database is None or not is_shared(store.root, environment):
        return []
    with contextlib.closing(database):
        try:
            keep_in_step(database, store)
        except (OSError, SentinelError):
            return [database.path]
        return [] if database.purge() else [database.path]


def hints_shared(store: Sessions, environment: Mapping[str, str]) -> tuple[Path, list[Session]]:
    """Return the database for other projects, and what it holds of this one. Raises DatabaseError.

    That is nothing where the project does not share.
    """
    database = global_database(store.root, environment)
    if database is None or not is_shared(store.root, environment):
        return store.root, []
    with contextlib.closing(database), database.reading() as hints:
        return database.path, list(hints_of(hints, name_of(store.root))) if hints else []


def _unwritable(path: str, error: OSError) -> SharingError:
    reason = error.strerror or type(error).__name__
    return SharingError("no_consent", path=path, reason=reason)
