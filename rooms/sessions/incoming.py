"""Reads sessions out of JSON and databases of others: a directory, a file, rows of an export.

The former fields are those of section 9 of the specification: `currentWork`, `agentChain`,
`conversationSummary`, `codeChanges`. Decisions, approaches and blockers may be texts or objects.
Whatever is of another kind is passed over.
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
from rooms.sessions.draft import with_flag
from rooms.sessions.exporting import MARK, VERSION
from rooms.sessions.session import (
    ACTION_KINDS,
    ENDED,
    OUTCOMES,
    POINTS,
    STATUSES,
    Action,
    ExchangeError,
    Point,
    Session,
    changes_in,
    former_in,
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
# What other programs call the fields of a point, the best name first.
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
    """Something that is not imported. why: the end of the key of the sentence that says so."""

    place: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A session that somebody else has kept, before its texts are checked.

    session: its number is 0 or what it had here; its parent_id is the name of the source. name: its
    own there, and snapshot: that of the snapshot that it is from. place: the file, and the entry of
    a list.
    """

    session: Session
    actions: tuple[Action, ...]
    place: str
    name: str
    snapshot: str = ""


@dataclass(slots=True)
class Source:
    """What was found. path: as it is shown."""

    path: str
    items: list[Incoming] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, value: object, place: str) -> None:
        """Take in a value from JSON."""
        found = incoming(value, place)
        if found is None:
            self.faults.append(Fault(place, "not_a_session"))
        elif not found.session.goal.strip():
            self.faults.append(Fault(place, "no_goal"))
        else:
            self.items.append(found)

    def checked(self) -> "Source":
        """Return it. Raises ExchangeError where there are no sessions at all."""
        if not self.items and all(it.why == "not_a_session" for it in self.faults):
            raise ExchangeError("no_source", path=self.path)
        return self


def holds_sessions(folder: Path) -> bool:
    """Return whether a directory has the files of sessions, of this program or the former one."""
    return any(os.path.lexists(folder / name) for name in (CURRENT, SNAPSHOTS, HISTORY))


def read_source(path: Path) -> Source:
    """Read a directory such as `.context-sync`, or one file of it or of ours.

    Raises ExchangeError where that has no sessions; what cannot be used is among the faults.
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
    """Read the text of a JSON file. name: for what is said of it. Raises ExchangeError."""
    source = Source(name)
    _read_json(data, name, source)
    return source.checked()


def of_rows(rows: Sequence[tuple[int, Any]], name: str) -> Source:
    """Return the sessions of the rows of an export, which begins with the newest."""
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
        source.faults.append(Fault(SNAPSHOTS, "unreadable"))
        return
    if os.path.islink(folder):
        source.faults.append(Fault(SNAPSHOTS, "link"))
        return
    for name in names[:MOST_SNAPSHOTS]:
        _read_file(folder / name, f"{SNAPSHOTS}/{name}", source)
    if names[MOST_SNAPSHOTS:]:
        source.faults.append(Fault(SNAPSHOTS, "too_many"))


def _read_file(path: Path, place: str, source: Source, *, is_needed: bool = True) -> None:
    """Read one file. is_needed: whether it is a fault where there is none."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):  # a clone may bring one that leads to a secret
            source.faults.append(Fault(place, "link"))
            return
        if not stat.S_ISREG(status.st_mode):
            source.faults.append(Fault(place, "not_a_file"))
            return
        with open(path, "rb") as file:
            head = file.read(len(SQLITE))
            data = b"" if head == SQLITE else head + file.read(MOST_BYTES + 1)
    except OSError as error:
        if is_needed or not isinstance(error, FileNotFoundError):
            source.faults.append(Fault(place, "unreadable"))
        return
    if head == SQLITE:
        _read_database(path, place, source)
    elif len(data) > MOST_BYTES:
        source.faults.append(Fault(place, "too_large"))
    else:
        _read_json(data, place, source)


def _read_json(data: bytes, place: str, source: Source) -> None:
    if f"<!-- {MARK}:".encode("ascii") in data[:_LINE_BYTES]:
        raise ExchangeError("exported_document", path=source.path)
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        source.faults.append(Fault(place, "not_json"))
        return
    entries = value.get("contexts") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        source.add(value, place)
        return
    if isinstance(value, dict) and value.get("format") == MARK and value.get("version") != VERSION:
        version = shown_path(value.get("version"))[:20]
        raise ExchangeError("newer_export", path=source.path, version=version)
    for at, it in reversed([*enumerate(entries, 1)]):  # an export begins with the newest
        source.add(it, f"{place} ({at})")


def _read_database(path: Path, place: str, source: Source) -> None:
    """Read the tables `contexts` and `actions` of a database, which stays as it is."""
    try:
        with closing(open_foreign(path)) as connection:
            rows = list(rows_of(connection, "contexts"))
            if not rows:
                source.faults.append(Fault(place, "not_a_session"))
            actions = dict[str, list[dict[str, Any]]]()
            for it in rows_of(connection, "actions"):
                given = {**it, "filePath": it.get("file_path"), "createdAt": it.get("created_at")}
                actions.setdefault(str(it.get("context_id")), []).append(given)
            for row in rows:
                if row.get("archive"):  # its texts are in another file
                    source.faults.append(Fault(place, "archived"))
                else:
                    context = _context_of(row)
                    source.add({**context, "actions": actions.get(str(row.get("id")), [])}, place)
    except (sqlite3.Error, OSError, OverflowError):
        source.faults.append(Fault(place, "unreadable"))


def _context_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the declared object of a row of `contexts`."""
    metadata = _value(row.get("metadata"))
    former = metadata.get("former") if isinstance(metadata, dict) else None
    return {
        **row,
        "number": None,  # each file numbers its own
        "parentId": row.get("parent_id"),
        "startedAt": row.get("started_at"),
        "endedAt": row.get("ended_at"),
        "createdAt": row.get("created_at"),
        "updatedAt": row.get("updated_at"),
        "tags": _value(row.get("tags")),
        "metadata": metadata,
        "former": former,
    }


def _value(text: object) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


# One session


def incoming(data: object, place: str) -> Incoming | None:
    """Return the session of a value from JSON; None where there is none in it."""
    if not isinstance(data, dict):
        return None
    context, snapshot, moment = data, "", ""
    if isinstance(data.get("data"), dict):  # a snapshot
        context, snapshot = data["data"], text_at(data, "id")
        moment = _moment(data.get("timestamp"))
    if isinstance(context.get("currentWork"), dict):
        session = _former(context)
    elif isinstance(context.get("goal"), str):
        session = _declared(context)
    else:
        return None
    name = text_at(context, "id") or text_at(data, "contextId")
    session = _dated(replace(session, id=_id_of(name, session)), moment)
    actions = tuple(_actions(context, session.id))
    return Incoming(session=session, actions=actions, place=place, name=name, snapshot=snapshot)


def joined(older: Incoming, newer: Incoming) -> Incoming:
    """Return two versions of a session as one: the newer, with what only the older one has."""
    before, after = older.session, newer.session
    points: Any = {
        name: _united((*getattr(before, name), *getattr(after, name))) for name in POINTS
    }
    session = replace(
        after,
        number=after.number or before.number,
        summary=after.summary or before.summary,
        tags=after.tags or before.tags,
        agent=after.agent or before.agent,
        parent_id=after.parent_id or before.parent_id,
        changes=after.changes or before.changes,
        former=after.former or before.former,
        started_at=min(filter(None, (before.started_at, after.started_at)), default=""),
        created_at=min(filter(None, (before.created_at, after.created_at)), default=""),
        **points,
    )
    actions = {it.id: it for it in (*older.actions, *newer.actions)}
    return replace(newer, session=with_flag(session), actions=tuple(actions.values()))


def is_ours(name: str) -> bool:
    """Return whether this is an id of a session as this program gives them."""
    return bool(_OUR_ID.fullmatch(name))


def _former(context: Data) -> Session:
    work, talk = _object(context, "currentWork"), _object(context, "conversationSummary")
    chain = objects_at(context, "agentChain")
    points: Any = {name: _points(name, talk.get(key)) for name, key in _FORMER_NAMES.items()}
    return Session(
        number=0,
        id="",
        goal=text_at(work, "goal"),
        summary=_summary(text_at(context, "summary"), talk),
        status=_status(work),
        tags=texts_in(context.get("tags")),
        agent=_agent(text_at(chain[0], "to") if chain else text_at(context, "agent")),
        parent_id=text_at(context, "parentId"),
        changes=changes_in(context),
        started_at=_moment(work.get("startedAt")),
        created_at=_moment(context.get("createdAt")),
        updated_at=_moment(context.get("updatedAt")) or _moment(work.get("lastActiveAt")),
        **points,
    )


def _declared(context: Data) -> Session:
    metadata, number = _object(context, "metadata"), context.get("number")
    points: Any = {name: _points(name, metadata.get(name)) for name in POINTS}
    return Session(
        number=number if type(number) is int and 0 < number < _MOST_NUMBER else 0,
        id="",
        goal=text_at(context, "goal"),
        summary=_summary(text_at(context, "summary"), metadata),
        status=_status(context),
        tags=texts_in(context.get("tags")),
        agent=_agent(text_at(context, "agent")),
        parent_id=text_at(context, "parentId"),
        changes=changes_in(metadata),
        former=former_in(context),
        started_at=_moment(context.get("startedAt")),
        ended_at=_moment(context.get("endedAt")),
        created_at=_moment(context.get("createdAt")),
        updated_at=_moment(context.get("updatedAt")),
        **points,
    )


def _dated(session: Session, moment: str) -> Session:
    """Fill in the dates that the source leaves out. moment: of the snapshot."""
    known = [session.updated_at, session.ended_at, session.created_at, session.started_at]
    updated = session.updated_at or moment or max(known)
    began = session.started_at or session.created_at or updated
    ended = (session.ended_at or updated) if session.status in ENDED else ""
    created = session.created_at or began
    dates: Any = {"started_at": began, "ended_at": ended, "created_at": created}
    return with_flag(replace(session, updated_at=updated, **dates))


def _id_of(name: str, session: Session) -> str:
    """Return the id of a session here: always the same one, whenever it is imported.

    A former context lives on from goal to goal, and each of these is a session. No secret in a
    goal goes into the hash, from which somebody could guess it.
    """
    if is_ours(name):
        return name
    goal, _ = redact(session.goal[:_GOAL_CHARS])
    text = "\n".join((name or session.started_at, goal))
    return f"ctx_{_hash(text)}"


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _moment(value: object) -> str:
    """Return a moment as the store writes it; "" for what is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):  # milliseconds
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")
    return moment_of(value.strip()) if isinstance(value, str) else ""


def _status(data: Data) -> str:
    status = text_at(data, "status")
    return status if status in STATUSES else "paused"


def _agent(name: str) -> str:
    return "" if name == _UNKNOWN_AGENT else name


def _summary(summary: str, data: Data) -> str:
    """Return the summary, and behind it the steps that were to come next."""
    steps = "; ".join(texts_in(data.get("nextSteps")))
    return "\n".join(filter(None, (summary, f"Next steps: {steps}" if steps else "")))


def _points(kind: str, value: object) -> tuple[Point, ...]:
    """Return the points of a list; a text in it counts as an object with this text."""
    declared, others = POINTS[kind], _OTHER_NAMES[kind]
    first = next(iter(declared.names))
    found = list[Point]()
    for it in value if isinstance(value, list) else ():
        data = {first: it} if isinstance(it, str) else it
        if not isinstance(data, dict):
            continue
        named = {
            name: next(filter(None, (text_at(data, other) for other in names)), "")
            for name, names in others.items()
        }
        point = declared.read({**data, **named})
        result = point.result if point.result in OUTCOMES else "partial"
        point = replace(
            point,
            result=result if kind == "approaches" else "",
            made_by=_agent(point.made_by),
            at=_moment(data.get("timestamp", data.get("discoveredAt"))),
            resolved_at=_moment(data.get("resolvedAt")),
        )
        found.append(point)
    return _united(found)


def _united(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the points that say something, the last of those with the same text."""
    found = {it.text: it for it in points}
    return tuple(it for text, it in found.items() if text.strip())


def _actions(context: Data, id_: str) -> Iterator[Action]:
    for at, it in enumerate(objects_at(context, "actions")):
        if content := text_at(it, "content"):
            given = text_at(it, "id")
            own = f"act_{_hash(f'{id_} {given or at}')}"
            yield Action(
                id=given if _OUR_ACTION.fullmatch(given) else own,
                kind=text_at(it, "type") if it.get("type") in ACTION_KINDS else "command",
                content=content,
                result=text_at(it, "result"),
                file_path=text_at(it, "filePath"),
                created_at=_moment(it.get("createdAt")),
                context_id=id_,
            )


def _object(data: Data, name: str) -> Data:
    value = data.get(name)
    return value if isinstance(value, dict) else {}
