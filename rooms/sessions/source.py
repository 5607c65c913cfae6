"""Reads sessions of others: a directory, a file, a database, rows of an export.

The former fields (`currentWork`, `agentChain`, `conversationSummary`, `codeChanges`) are those of
section 9 of the specification. Points may be texts or objects. Any other value is passed over.
"""

import json
import os
import re
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from core.room.database import SQLITE, open_foreign, rows_of
from core.room.documents import objects_at, text_at, texts_in
from core.sanitizer import redact
from core.text.plain import moment_of, shown_path
from rooms.sessions.document import MARK, VERSION
from rooms.sessions.session import (
    ACTION,
    ACTION_KINDS,
    ENDED,
    OUTCOMES,
    POINTS,
    SESSION,
    STATUSES,
    Action,
    ExchangeError,
    Point,
    Session,
    json_in,
    read_session,
)
from rooms.sessions.store import CURRENT

SNAPSHOTS, HISTORY = "snapshots", "history.db"
MOST_BYTES = 256_000_000  # fits an export of 100,000 sessions
MOST_SNAPSHOTS = 10_000
_LINE_BYTES = 100  # in which an export for people says what it is
_MOST_NUMBER = 10**9
_OUR_ID = re.compile(r"ctx_[0-9a-f]{12}")
_OUR_ACTION = re.compile(r"[a-z]{2,6}_[0-9a-f]{6,32}")
_UNKNOWN_AGENT = "unknown"
_GOAL_CHARS = 10_000  # of a goal that go into an id

Data = Mapping[str, Any]
# The names of a point's fields in other programs, the best first.
# fmt: off
_OTHER_NAMES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "decisions": {"what": ("what", "decision", "description"),
                  "why": ("why", "reason", "rationale")},
    "approaches": {"description": ("description", "approach", "what")},
    "blockers": {"description": ("description", "blocker", "what")},
}
_FORMER_NAMES = {
    "decisions": "keyDecisions", "approaches": "triedApproaches", "blockers": "blockers"}
# fmt: on


class Fault(NamedTuple):
    """An entry that is not imported. why: the end of its sentence's key."""

    place: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A session of others, before its texts are checked.

    session: number 0 or as it was here; parent_id as the source names it. name: in the source.
    snapshot: the name of its snapshot. place: the file, and the entry of a list.
    """

    session: Session
    actions: tuple[Action, ...]
    place: str
    name: str
    snapshot: str = ""


@dataclass(slots=True)
class Source:
    """The sessions of a source. path: as shown."""

    path: str
    items: list[Incoming] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, value: object, place: str) -> None:
        """Add the session of a JSON value, or a fault."""
        found = incoming(value, place)
        if found is None:
            self.pass_over(place, "not_a_session")
        elif not found.session.goal.strip():
            self.pass_over(place, "no_goal")
        else:
            self.items.append(found)

    def pass_over(self, place: str, why: str) -> None:
        self.faults.append(Fault(place, why))

    def checked(self) -> "Source":
        """Return the source. Raises ExchangeError where no entry is a session at all."""
        if not self.items and all(it.why == "not_a_session" for it in self.faults):
            raise ExchangeError("no_source", path=self.path)
        return self


def holds_sessions(folder: Path) -> bool:
    """Return whether a directory has sessions of this program or the former one."""
    return any(os.path.lexists(folder / name) for name in (CURRENT, SNAPSHOTS, HISTORY))


def read_source(path: Path) -> Source:
    """Read a directory such as `.context-sync`, or a file; useless entries are faults.

    Raises ExchangeError without any session.
    """
    source, path = Source(shown_path(path)), Path(os.path.realpath(path))
    if path.is_dir():
        _read_file(path / CURRENT, CURRENT, source, is_needed=False)
        _read_snapshots(path / SNAPSHOTS, source)
        _read_file(path / HISTORY, HISTORY, source, is_needed=False)
    else:
        _read_file(path, path.name, source)
    return source.checked()


def read_text(data: bytes, name: str) -> Source:
    """Read JSON. name: for sentences on it. Raises ExchangeError."""
    source = Source(name)
    _read_json(data, name, source)
    return source.checked()


def of_rows(rows: Sequence[tuple[int, Any]], name: str) -> Source:
    """Read rows of an export, newest first."""
    source = Source(name)
    for number, value in reversed(rows):
        source.add(value, str(number))
    return source


# Files


def _read_snapshots(folder: Path, source: Source) -> None:
    try:
        names = sorted(it for it in os.listdir(folder) if it.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        return source.pass_over(SNAPSHOTS, "unreadable")
    if os.path.islink(folder):
        return source.pass_over(SNAPSHOTS, "link")
    for name in names[:MOST_SNAPSHOTS]:
        _read_file(folder / name, f"{SNAPSHOTS}/{name}", source)
    if names[MOST_SNAPSHOTS:]:
        source.pass_over(SNAPSHOTS, "too_many")


def _read_file(path: Path, place: str, source: Source, *, is_needed: bool = True) -> None:
    """Read a file. is_needed: its absence is a fault."""
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode):  # a clone may bring a link that leads to a secret
            return source.pass_over(place, "link" if stat.S_ISLNK(mode) else "not_a_file")
        with open(path, "rb") as file:
            head = file.read(len(SQLITE))
            data = b"" if head == SQLITE else head + file.read(MOST_BYTES + 1)
    except OSError as error:
        if is_needed or not isinstance(error, FileNotFoundError):
            source.pass_over(place, "unreadable")
        return
    if head == SQLITE:
        _read_database(path, place, source)
    elif len(data) > MOST_BYTES:
        source.pass_over(place, "too_large")
    else:
        _read_json(data, place, source)


def _read_json(data: bytes, place: str, source: Source) -> None:
    if f"<!-- {MARK}:".encode("ascii") in data[:_LINE_BYTES]:
        raise ExchangeError("exported_document", path=source.path)
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return source.pass_over(place, "not_json")
    entries = value.get("contexts") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        return source.add(value, place)
    if isinstance(value, dict) and value.get("format") == MARK and value.get("version") != VERSION:
        version = shown_path(value.get("version"))[:20]
        raise ExchangeError("newer_export", path=source.path, version=version)
    for at, it in reversed([*enumerate(entries, 1)]):  # an export begins with the newest
        source.add(it, f"{place} ({at})")


def _read_database(path: Path, place: str, source: Source) -> None:
    try:
        with closing(open_foreign(path)) as connection:
            rows = list(rows_of(connection, "contexts"))
            actions = dict[str, list[Data]]()
            for it in rows_of(connection, "actions"):
                given = {**it, "filePath": it.get("file_path"), "createdAt": it.get("created_at")}
                actions.setdefault(str(it.get("context_id")), []).append(given)
    except (sqlite3.Error, OSError, OverflowError):
        return source.pass_over(place, "unreadable")
    if not rows:
        source.pass_over(place, "not_a_session")
    for row in rows:
        if row.get("archive"):  # its texts are in another file
            source.pass_over(place, "archived")
            continue
        context = {name: row.get(column) for name, column in SESSION.names.items()}
        context |= {name: json_in(row.get(name)) for name in ("tags", "metadata")}
        done = actions.get(str(row.get("id")), [])
        source.add({**context, "updatedAt": row.get("updated_at"), "actions": done}, place)


# One session


def incoming(data: object, place: str) -> Incoming | None:
    """Return the session of a JSON value, None without one."""
    if not isinstance(data, dict):
        return None
    context, snapshot, moment = data, "", ""
    if isinstance(data.get("data"), dict):  # a snapshot
        context, snapshot = data["data"], text_at(data, "id")
        moment = _moment(data.get("timestamp"))
    declared = _as_declared(context)
    if not isinstance(declared.get("goal"), str):
        return None
    name = text_at(context, "id") or text_at(data, "contextId")
    session = _session_in(declared, name, moment)
    actions = tuple(_actions(context, session.id))
    return Incoming(session=session, actions=actions, place=place, name=name, snapshot=snapshot)


def joined(older: Incoming, newer: Incoming) -> Incoming:
    """Join two versions of a session: the newer, completed by the older."""
    before, after = older.session, newer.session
    fields: Any = {
        name: getattr(after, name) or getattr(before, name)
        for name in ("number", "summary", "tags", "agent", "parent_id", "changes", "former")
    }
    for name in POINTS:
        fields[name] = _united((*getattr(before, name), *getattr(after, name)))
    for name in ("started_at", "created_at"):
        known = filter(None, (getattr(before, name), getattr(after, name)))
        fields[name] = min(known, default="")
    actions = {it.id: it for it in (*older.actions, *newer.actions)}
    return replace(newer, session=replace(after, **fields), actions=tuple(actions.values()))


def is_ours(name: str) -> bool:
    """Return whether an id has the form of this program."""
    return bool(_OUR_ID.fullmatch(name))


def _as_declared(context: Data) -> Data:
    """Return a former context as the declared object, any other object as it is."""
    work, talk = context.get("currentWork"), _object(context, "conversationSummary")
    if not isinstance(work, dict):
        return context
    chain = objects_at(context, "agentChain")
    points = {name: talk.get(former) for name, former in _FORMER_NAMES.items()}
    saved = context.get("updatedAt")
    return {
        "goal": text_at(work, "goal"),
        "summary": context.get("summary"),
        "status": work.get("status"),
        "tags": context.get("tags"),
        "agent": chain[0].get("to") if chain else context.get("agent"),
        "parentId": context.get("parentId"),
        "startedAt": work.get("startedAt"),
        "createdAt": context.get("createdAt"),
        "updatedAt": saved if _moment(saved) else work.get("lastActiveAt"),
        "metadata": {
            **points,
            "codeChanges": context.get("codeChanges"),
            "nextSteps": talk.get("nextSteps"),
        },
    }


def _session_in(context: Data, name: str, moment: str) -> Session:
    """Return the session of a declared object, with its missing dates.

    name: in the source. moment: of the snapshot. Next steps follow the summary.
    """
    metadata, number = _object(context, "metadata"), context.get("number")
    session = read_session(context)
    names = ("startedAt", "createdAt", "updatedAt", "endedAt")
    began, created, updated, ended = (_moment(context.get(it)) for it in names)
    # Always the same id, whenever it is imported. A former context lives on from goal to goal, and
    # each of these is a session. From a hash somebody could guess a secret.
    goal, _ = redact(session.goal[:_GOAL_CHARS])
    named = "\n".join((name or began, goal))
    id_ = name if is_ours(name) else f"ctx_{_hash(named)}"
    updated = updated or moment or max(ended, created, began)
    began = began or created or updated
    status = session.status if session.status in STATUSES else "paused"
    steps = "; ".join(texts_in(metadata.get("nextSteps")))
    points: Any = {name: _points(name, metadata.get(name)) for name in POINTS}
    return replace(
        session,
        id=id_,
        number=number if type(number) is int and 0 < number < _MOST_NUMBER else 0,
        summary="\n".join(filter(None, (session.summary, steps and f"Next steps: {steps}"))),
        status=status,
        agent=_agent(session.agent),
        started_at=began,
        ended_at=(ended or updated) if status in ENDED else "",
        created_at=created or began,
        updated_at=updated,
        **points,
    )


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _moment(value: object) -> str:
    """Return a moment as the store writes it; "" for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):  # milliseconds
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")
    return moment_of(value.strip()) if isinstance(value, str) else ""


def _agent(name: str) -> str:
    return "" if name == _UNKNOWN_AGENT else name


def _points(kind: str, value: object) -> tuple[Point, ...]:
    shape, found = POINTS[kind], list[Point]()
    first = next(iter(shape.names))
    for it in value if isinstance(value, list) else ():
        data = {first: it} if isinstance(it, str) else it
        if not isinstance(data, dict):
            continue
        named = {
            name: next(filter(None, (text_at(data, other) for other in names)), "")
            for name, names in _OTHER_NAMES[kind].items()
        }
        point = shape.read({**data, **named})
        if kind == "approaches" and point.result not in OUTCOMES:
            point = replace(point, result="partial")
        made_by, at = _agent(point.made_by), data.get("timestamp", data.get("discoveredAt"))
        resolved_at = _moment(data.get("resolvedAt"))
        found.append(replace(point, made_by=made_by, at=_moment(at), resolved_at=resolved_at))
    return _united(found)


def _united(points: Iterable[Point]) -> tuple[Point, ...]:
    """Drop blank points, and all but the last with the same text."""
    found = {it.text: it for it in points}
    return tuple(it for text, it in found.items() if text.strip())


def _actions(context: Data, id_: str) -> Iterator[Action]:
    for at, it in enumerate(objects_at(context, "actions")):
        action = ACTION.read(it)
        if action.content:
            own = f"act_{_hash(f'{id_} {action.id or at}')}"
            yield replace(
                action,
                id=action.id if _OUR_ACTION.fullmatch(action.id) else own,
                kind=action.kind if action.kind in ACTION_KINDS else "command",
                created_at=_moment(it.get("createdAt")),
                context_id=id_,
            )


def _object(data: Data, name: str) -> Data:
    value = data.get(name)
    return value if isinstance(value, dict) else {}
