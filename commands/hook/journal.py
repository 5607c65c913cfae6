"""Remembers for the hooks of a session which records they showed, and whether files changed.

Each session has a file of JSON lines in the system's state directory, without a record's text.
The user may delete it: then a record may be shown twice, and `cli.py stats` knows less.
"""

import contextlib
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from core.config import safe_file_name

if TYPE_CHECKING:
    from core.lessons.record import Record

KEPT_DAYS = 90
MOST_REMOVED = 100

_FORGETTING = ("compact", "clear")  # after these a model no longer has what it was shown
_DAY_S = 86_400
_UNNAMED, _SUFFIX = "unnamed-%Y%m%d", ".jsonl"  # a day, or the file would grow for ever


class Session(NamedTuple):
    """One session of a client in one project.

    path: its file, or "". events: oldest first; each has `at` (seconds since 1970) and `event`, and
    may have `client`, `agent`, `source`, `log` (state of the memory log), `shown` (versions of
    records), `tokens` (estimated, of the shown text), `changed` and `reminded`.
    """

    path: str
    events: Sequence[dict[str, Any]] = []

    def shown_versions(self, agent: str) -> set[str]:
        """Return the versions of records that this agent was shown at actions and still knows.

        agent: the id of a sub-agent, "" for the session.
        """
        versions: set[str] = set()
        for event in self.events:
            if event.get("agent", "") != agent:
                continue
            if event["event"] != "session-start":
                versions.update(versions_in(event))
            elif event.get("source") in _FORGETTING:
                versions.clear()
        return versions

    @property
    def log_at_start(self) -> str | None:
        """The state of the log when the session was first noted, or None."""
        return next((str(event["log"]) for event in self.events if "log" in event), None)

    def has_noted(self, fact: str) -> bool:
        """Return whether `changed` or `reminded` was noted."""
        return any(event.get(fact) is True for event in self.events)

    def note(self, event: str, **facts: Any) -> "Session":
        """Add an event without its empty facts; return the session just before. Raises OSError.

        Of several hooks that note the same thing at once, only the first finds it missing. (Nearly
        certain on Windows, where appending takes two steps.)
        """
        noted = {"at": int(time.time()), "event": event}
        noted |= {name: fact for name, fact in facts.items() if fact}
        # It begins a line of its own, also where a full disk or a kill has torn the one before.
        line = b"\n%b\n" % json.dumps(noted).encode("ascii")
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        # One call: lines of hooks that run at the same time do not get into each other.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        file = os.open(self.path, flags, 0o600)
        try:
            os.write(file, line)
            end = os.lseek(file, 0, os.SEEK_CUR)
            os.lseek(file, 0, os.SEEK_SET)
            before = os.read(file, end - len(line))
        finally:
            os.close(file)
        return Session(self.path, _read_sessions(self.path, before)[-1])


def versions_in(event: Mapping[str, Any]) -> list[str]:
    """Return the versions of records that an event has shown."""
    return [version for version in event.get("shown", ()) if isinstance(version, str)]


def version_of(record: "Record") -> str:
    """Return a record's id with a checksum of its texts, such as `3f2a…@0c1d2e3f`.

    Logging a gap again leaves it, since the texts stay.
    """
    texts = "\0".join(record.texts).encode("utf-8", "surrogatepass")
    return f"{record.id}@{zlib.crc32(texts):08x}"


def open_session(directory: str, session_id: str) -> Session:
    """Return the session of this id in a state directory; create nothing.

    Clients that name no session share a file for each day; each start begins a session there.
    """
    name = safe_file_name(session_id or time.strftime(_UNNAMED), 60)
    path = os.path.join(directory, name + _SUFFIX) if directory else ""
    return Session(path, _read_sessions(path)[-1])


def sessions_in(directory: str) -> Iterator[Session]:
    """Yield all sessions of a project, from the oldest file on."""
    for path in _file_times(directory, _SUFFIX):
        yield from (Session(path, events) for events in _read_sessions(path))


def is_recent(event: Mapping[str, Any], now_s: float) -> bool:
    """Return whether an event is neither older than KEPT_DAYS nor a day ahead."""
    return now_s - KEPT_DAYS * _DAY_S <= int(event["at"]) <= now_s + _DAY_S


def forget_old_sessions(directory: str) -> None:
    """Remove files untouched for KEPT_DAYS, also unfinished ones, at most MOST_REMOVED."""
    oldest_s = time.time() - KEPT_DAYS * _DAY_S
    for path, touched_s in list(_file_times(directory, ".tmp", _SUFFIX).items())[:MOST_REMOVED]:
        if touched_s < oldest_s:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _file_times(directory: str, *suffixes: str) -> dict[str, float]:
    times_s, names = dict[str, float](), list[str]()
    with contextlib.suppress(OSError):
        names = os.listdir(directory) if directory else []
    for path in (os.path.join(directory, name) for name in names if name.endswith(suffixes)):
        with contextlib.suppress(OSError):
            times_s[path] = os.stat(path).st_mtime
    return dict(sorted(times_s.items(), key=lambda item: item[1]))


def _read_sessions(path: str, data: bytes | None = None) -> list[list[dict[str, Any]]]:
    """Return the events of each session in a file, at least one list. data: its content."""
    if data is None:
        data = b""
        with contextlib.suppress(OSError), open(path, "rb") as file:
            data = file.read()
    is_shared = os.path.basename(path).startswith(_UNNAMED.partition("%")[0])
    sessions: list[list[dict[str, Any]]] = [[]]
    for line in data.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        is_event = (
            isinstance(event, dict)
            and isinstance(event.get("at"), int)
            and isinstance(event.get("event"), str)
            and isinstance(event.get("shown", []), list)
        )
        if not is_event:
            continue
        is_start = event["event"] == "session-start" and not event.get("agent")
        if is_shared and is_start and sessions[-1]:
            sessions.append([])
        sessions[-1].append(event)
    return sessions
