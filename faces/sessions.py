"""What hooks remember of a session: which records they showed, and whether files changed.

It stands outside the project, one small file of JSON lines for each session, in the directory that
the system has for such things; no text of a record is in it. It may be deleted at any time: then a
record may be shown a second time, and `cli.py stats` knows less.
"""

import contextlib
import json
import os
import re
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

KEPT_DAYS = 90
MOST_REMOVED = 100
VARIABLE = "SENTINEL_MEMORY_STATE"

_FORGETTING = ("compact", "clear")  # after these a model no longer has what it was shown
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a client in one project, as far as hooks have noted it.

    path: its file, which need not exist. events: what was noted, oldest first; each has `at`
    (seconds since 1970) and `event`, and may have `client`, `agent`, `source`, `log` (the state of
    the memory log), `shown` (tokens), `tokens` (estimated, of the text that was shown), `changed`
    and `reminded`.
    """

    path: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def shown(self, agent: str) -> set[str]:
        """Tokens of the records that were put before this agent at an action, as far as it knows.

        agent: the id of a sub-agent, which has a context of its own; "" for the session itself.
        """
        tokens: set[str] = set()
        for event in self.events:
            if event.get("agent", "") != agent:
                continue
            if event["event"] == "session-start":
                if event.get("source") in _FORGETTING:
                    tokens.clear()
                continue
            tokens.update(it for it in event.get("shown", ()) if isinstance(it, str))
        return tokens

    @property
    def log_at_start(self) -> str | None:
        """The state of the memory log when the session was first noted; None before that."""
        return next((str(event["log"]) for event in self.events if "log" in event), None)

    def has(self, what: str) -> bool:
        """Whether `changed` or `reminded` was noted."""
        return any(event.get(what) is True for event in self.events)

    def note(self, event: str, **facts: Any) -> None:
        """Add an event; facts that are empty are left out. Raises OSError."""
        noted = {"at": int(time.time()), "event": event}
        noted |= {name: fact for name, fact in facts.items() if fact}
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        # One call: lines of hooks that run at the same time do not get into each other.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        file = os.open(self.path, flags, 0o600)
        try:
            os.write(file, json.dumps(noted).encode("ascii") + b"\n")
        finally:
            os.close(file)
        self.events.append(noted)


def open_session(directory: str, session_id: str) -> Session:
    """The session of this id below the state directory of a project; nothing is created."""
    path = os.path.join(directory, f"{_safe(session_id or 'unnamed', 60)}.jsonl")
    return Session(path, list(_events(path)))


def sessions_in(directory: str) -> Iterator[Session]:
    """All sessions of a project that are still kept, the oldest first."""
    for path in sorted(_files(directory), key=_modified_s):
        yield Session(path, list(_events(path)))


def forget_old(directory: str, *, now_s: float | None = None) -> None:
    """Remove sessions that nobody has touched for KEPT_DAYS; what cannot be removed stays."""
    oldest_s = (time.time() if now_s is None else now_s) - KEPT_DAYS * _DAY_S
    old = [path for path in _files(directory) if _modified_s(path) < oldest_s]
    for path in old[:MOST_REMOVED]:
        with contextlib.suppress(OSError):
            os.unlink(path)


def state_directory(root: str, environment: Mapping[str, str], platform: str = sys.platform) -> str:
    """Where the sessions of the project `root` are kept; nothing is created."""
    home = os.path.expanduser("~")
    if environment.get(VARIABLE, "").strip():
        base = os.path.abspath(environment[VARIABLE].strip())
    elif platform == "win32":
        local = environment.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        base = os.path.join(local, "sentinel-memory")
    elif platform == "darwin":
        base = os.path.join(home, "Library", "Application Support", "sentinel-memory")
    else:
        state = environment.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
        base = os.path.join(state, "sentinel-memory")
    real = os.path.normcase(os.path.realpath(root))
    check = zlib.crc32(real.encode("utf-8", "surrogateescape"))
    return os.path.join(base, f"{_safe(os.path.basename(real) or 'root', 40)}-{check:08x}")


def _safe(name: str, most: int) -> str:
    """A name for a file that tells this one from others: shortened, with a checksum if changed."""
    safe = _ODD.sub("-", name)[:most].strip(".-")
    return safe if safe == name else f"{safe}-{zlib.crc32(name.encode('utf-8', 'replace')):08x}"


def _files(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [os.path.join(directory, name) for name in names if name.endswith(".jsonl")]


def _modified_s(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


def _events(path: str) -> Iterator[dict[str, Any]]:
    """The events of a file; what is no event is passed over."""
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and _is_event(event):
            yield event


def _is_event(event: Mapping[str, Any]) -> bool:
    named = isinstance(event.get("at"), int) and isinstance(event.get("event"), str)
    return named and isinstance(event.get("shown", []), list)
