"""Lets a user's projects find each other's sessions, and says where a session is.

The consent is a file in the user's state directory, so that no repository can carry it. A search
only reads each project's own index; no copy of a session leaves its project.
"""

import heapq
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path

from core.config import Settings, state_directory
from core.disk import reason_of
from core.errors import SentinelError
from rooms.sessions.search import MOST_OFFSET, Criteria, Hit, Level, Page, search
from rooms.sessions.session import NoSuchSessionError, Session, SessionsError, UpkeepError
from rooms.sessions.store import FORMER_ARCHIVE, SessionStore, open_sessions

_CONSENT = "sessions-are-shared"
# Copies of short texts, made by older versions.
_FORMER = ("global.db", "global.db-wal", "global.db-shm")
_LEVELS: tuple[Level | None, ...] = (None, "low", "medium", "high")  # the worst first
_MOST_BYTES = 10_000  # of a path in a consent
_WAIT_S = 1  # for a writer in another project


class SharingError(SessionsError):
    """A project cannot share; takes the key of its sentence."""

    table = "sessions.projects"


def share(root: Path, environment: Mapping[str, str]) -> None:
    """Let the user's other projects find this one's sessions. Raises SharingError."""
    path = _consent_path(os.fspath(root), environment)
    if path is None:
        raise SharingError("no_state")
    with _named(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        private = partial(os.open, mode=0o600)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", opener=private) as file:
            file.write(os.path.realpath(root))
    remove_former_copies(root, environment)


def unshare(root: Path | str, environment: Mapping[str, str]) -> bool:
    """Take the consent back; return whether there was one. Raises SharingError."""
    path = _consent_path(os.fspath(root), environment)
    if path is None:
        return False
    remove_former_copies(root, environment)
    with _named(path), suppress(FileNotFoundError):
        path.unlink()
        return True
    return False


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SharingError("no_consent", path=str(path), reason=reason_of(error)) from error


def _consent_path(root: str, environment: Mapping[str, str]) -> Path | None:
    """Return the consent's file; None for an account without a home directory."""
    directory = state_directory(root, environment)
    return Path(directory, _CONSENT) if directory else None


def shared_roots(root: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the directories of all sharing projects, some perhaps gone. root: any project's."""
    path, found = _consent_path(os.fspath(root), environment), list[str]()
    for consent in path.parent.parent.glob(f"*/{_CONSENT}") if path else ():
        with (
            suppress(OSError),
            open(consent, encoding="utf-8", errors="surrogateescape") as file,
        ):
            shared = file.read(_MOST_BYTES)
            # A consent in the place of another project is none.
            if os.path.isabs(shared) and _consent_path(shared, environment) == consent:
                found.append(shared)
    return sorted(found)


def remove_former_copies(root: Path | str, environment: Mapping[str, str]) -> None:
    """Remove the database into which older versions copied texts."""
    directory = state_directory(os.fspath(root), environment)
    for name in _FORMER if directory else ():
        with suppress(OSError):
            os.unlink(os.path.join(os.path.dirname(directory), name))


def search_all(store: SessionStore, criteria: Criteria, *, limit: int, offset: int = 0) -> Page:
    """Search this project and all that share, best first: by level, then the newer.

    Each project keeps its order. `Hit.project` names another project; an unreadable one is passed
    over. Raises errors of the store.
    """

    def worth(hit: Hit) -> tuple[int, str]:
        return _LEVELS.index(hit.level), hit.session.updated_at

    offset = min(offset, MOST_OFFSET)
    pages = [search(store, criteria, limit=offset + limit)]
    for other in others(store.root):
        with suppress(SentinelError, OSError):
            page = search(other, criteria, limit=offset + limit)
            name = other.root.name or str(other.root)
            hits = [hit._replace(project=name) for hit in page.hits]
            failing = page.failing and page.failing._replace(project=name)
            pages.append(Page(hits, page.total, failing))
    merged = heapq.merge(*(page.hits for page in pages), key=worth, reverse=True)
    all_failing = [page.failing for page in pages if page.failing]
    return Page(
        hits=list(islice(merged, offset, offset + limit)),
        total=sum(page.total for page in pages),
        failing=max(all_failing, key=worth, default=None),
    )


def others(root: Path) -> Iterator[SessionStore]:
    """Yield the stores of the other sharing projects, for reading."""
    own = os.path.realpath(root)
    for other in shared_roots(root, os.environ):
        if other != own and os.path.isdir(other):
            with suppress(SentinelError, OSError):
                yield open_sessions(Path(other), Settings(lock_timeout_s=_WAIT_S))


def find_session(store: SessionStore, name: str) -> tuple[SessionStore, Session]:
    """Return a session by number or id, with its store; an id also from sharing projects.

    Raises NoSuchSessionError, and UpkeepError with the file of an archived session.
    """
    try:
        return store, store.get(name)
    except NoSuchSessionError:
        if name.strip().startswith("ctx_"):
            for other in others(store.root):
                with suppress(SentinelError, OSError):
                    return other, other.get(name)
        check_archives(store, name)
        raise


def former_archive(store: SessionStore, session: Session) -> str:
    """Return an older version's archive with the session's texts; mostly ""."""
    if not FORMER_ARCHIVE.match(session.archive):
        return ""
    return (store.path.parent / session.archive).relative_to(store.root).as_posix()


def check_archives(store: SessionStore, name: str) -> None:
    """Raise UpkeepError if an archive here has the session of a number or id."""
    name = name.strip().lstrip("#")
    field = f'"number": {name},' if name.isdecimal() else f'"id": {json.dumps(name)},'
    for path in store.archives():
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            # Both stand before all texts of a line.
            if any(field in line.partition('"goal"')[0] for line in file):
                shown = path.relative_to(store.root).as_posix()
                date = path.stem.removeprefix("sessions-")[:10]
                raise UpkeepError("archived_away", name=name, path=shown, date=date)
