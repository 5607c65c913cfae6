"""Imports sessions of others: reads a source, plans, and saves all in one transaction.

A source is a directory, a file, a database or rows of an export. Its former fields are those of
section 9 of the specification; points may be texts or objects.
"""

import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from core.disk import open_regular_file
from core.room.database import SQLITE, open_foreign, rows_of
from core.room.documents import moment_in, objects_at, text_at, texts_in
from core.sanitizer import redact
from core.text.plain import SURROGATE, digest, map_texts, printable_path, utc_now
from rooms.sessions import rows
from rooms.sessions import session as limits
from rooms.sessions.document import MARK, VERSION
from rooms.sessions.draft import redact_session, with_texts, with_warning_flag
from rooms.sessions.session import ACTION, POINTS, Action, Point, Session, SessionsError
from rooms.sessions.store import CURRENT, SessionStore

SNAPSHOTS, HISTORY = "snapshots", "history.db"
MOST_BYTES = 256_000_000  # fits an export of 100,000 sessions
_RAW_CHARS = 50_000  # of a text, before secrets are looked for in it
_GOAL_CHARS = 10_000  # of a goal that go into an id
_MOST_NUMBER = 10**9
_OUR_ID = re.compile(r"ctx_[0-9a-f]{12}")
_OUR_ACTION_ID = re.compile(r"[a-z]{2,6}_[0-9a-f]{6,32}")
_UNKNOWN_AGENT = "unknown"
_DATE_FIELDS = "started_at", "created_at", "updated_at"  # of which a source may have none at all

Data = Mapping[str, Any]
_Item = TypeVar("_Item")
# The names of a point's fields in other programs, the best first.
_FOREIGN_NAMES = {
    "decisions": {"what": "what decision description", "why": "why reason rationale"},
    "approaches": {"description": "description approach what"},
    "blockers": {"description": "description blocker what"},
}


class Fault(NamedTuple):
    """An entry that is not imported. reason: the end of its sentence's key."""

    place: str
    reason: str


class Incoming(NamedTuple):
    """A session of others, before its texts are checked."""

    session: Session  # number 0 or as it was here; parent_id as the source names it
    actions: tuple[Action, ...]
    place: str  # the file, and the entry of a list
    name: str  # in the source
    snapshot: str  # the name of its snapshot, if it is of one


@dataclass(slots=True)
class Source:
    """The sessions of a source. path: as shown, "" for rows."""

    path: str = ""
    items: list[Incoming] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, value: object, place: str) -> None:
        """Add the session of a JSON value, or a fault."""
        data = context = value if isinstance(value, dict) else {}
        snapshot = moment = ""
        if isinstance(data.get("data"), dict):
            context, snapshot = data["data"], text_at(data, "id")
            moment = moment_in(data.get("timestamp"))
        declared = _declared_object_of(context)
        name = text_at(context, "id") or text_at(data, "contextId")
        session = _session_in(declared, name, moment)
        if not isinstance(declared.get("goal"), str):
            self.add_fault(place, "not_a_session")
        elif not session.goal.strip():
            self.add_fault(place, "no_goal")
        else:
            actions = tuple(_actions_in(context, session.id))
            self.items.append(Incoming(session, actions, place, name, snapshot))

    def read_file(self, path: Path, place: str, *, is_needed: bool = True) -> None:
        """Read a file. is_needed: its absence is a fault."""
        if os.path.islink(path):  # a clone may bring one that leads to a secret
            return self.add_fault(place, "link")
        try:
            with open_regular_file(path) as file:
                head = file.read(len(SQLITE))
                data = b"" if head == SQLITE else head + file.read(MOST_BYTES + 1)
        except OSError as error:
            if is_needed or not isinstance(error, FileNotFoundError):
                self.add_fault(place, "unreadable")
            return
        if head == SQLITE:
            self.read_database(path, place)
        elif len(data) > MOST_BYTES:
            self.add_fault(place, "unreadable")
        else:
            self.read_json(data, place)

    def read_json(self, data: bytes, place: str) -> None:
        try:
            value = json.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            return self.add_fault(place, "not_json")
        document = value if isinstance(value, dict) else {"contexts": value}
        entries = document.get("contexts")
        if not isinstance(entries, list):
            return self.add(value, place)
        if document.get("format") == MARK and document.get("version") != VERSION:
            version = printable_path(document.get("version"))[:20]
            raise SessionsError("newer_export", path=self.path, version=version)
        for number, entry in reversed([*enumerate(entries, 1)]):  # an export begins with the newest
            self.add(entry, f"{place} ({number})")

    def read_database(self, path: Path, place: str) -> None:
        actions = dict[str, list[Data]]()
        try:
            with closing(open_foreign(path)) as connection:
                contexts = list(rows_of(connection, "contexts"))
                for row in rows_of(connection, "actions"):
                    fields = {"filePath": row.get("file_path"), "createdAt": row.get("created_at")}
                    actions.setdefault(str(row.get("context_id")), []).append({**row, **fields})
        except (sqlite3.Error, OSError, OverflowError):
            return self.add_fault(place, "unreadable")
        if not contexts:
            self.add_fault(place, "not_a_session")
        for row in contexts:
            if row.get("archive"):  # its texts are in another file
                self.add_fault(place, "archived")
                continue
            context = {name: row.get(column) for name, column in limits.SESSION.names.items()}
            context |= {name: limits.json_in(row.get(name)) for name in ("tags", "metadata")}
            own_actions = actions.get(str(row.get("id")), [])
            self.add({**context, "updatedAt": row.get("updated_at"), "actions": own_actions}, place)

    def add_fault(self, place: str, reason: str) -> None:
        self.faults.append(Fault(place, reason))

    def check(self) -> "Source":
        """Return the source. Raises SessionsError where no entry is a session at all."""
        if not self.items and all(fault.reason == "not_a_session" for fault in self.faults):
            raise SessionsError("no_source", path=self.path)
        return self


def holds_sessions(folder: Path) -> bool:
    """Return whether a directory has sessions of this program or the former one."""
    return any(os.path.lexists(folder / name) for name in (CURRENT, SNAPSHOTS, HISTORY))


def read_source(path: Path) -> Source:
    """Read a directory such as `.context-sync`, or a file. Raises SessionsError."""
    source, path = Source(printable_path(path)), Path(os.path.realpath(path))
    if not path.is_dir():
        source.read_file(path, path.name)
        return source.check()
    source.read_file(path / CURRENT, CURRENT, is_needed=False)
    folder, names = path / SNAPSHOTS, list[str]()
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
            if os.path.islink(folder):
                source.add_fault(SNAPSHOTS, "link")
                names = []
    except OSError:
        source.add_fault(SNAPSHOTS, "unreadable")
    for name in names:
        source.read_file(folder / name, f"{SNAPSHOTS}/{name}")
    source.read_file(path / HISTORY, HISTORY, is_needed=False)
    return source.check()


def read_text(data: bytes, name: str) -> Source:
    """Read JSON. name: for sentences on it. Raises SessionsError."""
    source = Source(name)
    source.read_json(data, name)
    return source.check()


def source_from_rows(entries: Sequence[tuple[int, Any]]) -> Source:
    """Read rows of an export, newest first."""
    source = Source()
    for number, value in reversed(entries):
        source.add(value, str(number))
    return source


def _declared_object_of(context: Data) -> Data:
    """Return a former context as the declared object, any other object as it is."""
    work, talk = context.get("currentWork"), context.get("conversationSummary")
    if not isinstance(work, dict):
        return context
    if not isinstance(talk, dict):
        talk = {}
    chain, saved_at = objects_at(context, "agentChain"), context.get("updatedAt")
    return {
        **{name: context.get(name) for name in ("summary", "tags", "parentId", "createdAt")},
        "goal": text_at(work, "goal"),
        "status": work.get("status"),
        "agent": chain[0].get("to") if chain else context.get("agent"),
        "startedAt": work.get("startedAt"),
        "updatedAt": saved_at if moment_in(saved_at) else work.get("lastActiveAt"),
        "metadata": {
            "decisions": talk.get("keyDecisions"),
            "approaches": talk.get("triedApproaches"),
            **{name: talk.get(name) for name in ("blockers", "nextSteps")},
            "codeChanges": context.get("codeChanges"),
        },
    }


def _session_in(context: Data, name: str, moment: str) -> Session:
    """Return the session of a declared object. name: in the source. moment: of its snapshot."""
    session, number = limits.read_session(context), context.get("number")
    metadata = value if isinstance(value := context.get("metadata"), dict) else {}
    names = ("startedAt", "createdAt", "updatedAt", "endedAt")
    started_at, created_at, updated_at, ended_at = (moment_in(context.get(key)) for key in names)
    # Always the same id, whenever it is imported. A former context lives on from goal to goal, and
    # each of these is a session. From a hash somebody could guess a secret.
    goal, _ = redact(session.goal[:_GOAL_CHARS])
    hashed_text = "\n".join((name or started_at, goal))
    updated_at = updated_at or moment or max(ended_at, created_at, started_at)
    started_at = started_at or created_at or updated_at
    status = session.status if session.status in limits.STATUSES else "paused"
    steps = "; ".join(texts_in(metadata.get("nextSteps")))
    points: Any = {name: _points_in(name, metadata.get(name)) for name in POINTS}
    return replace(
        session,
        id=name if _OUR_ID.fullmatch(name) else f"ctx_{digest(hashed_text)[:12]}",
        number=number if type(number) is int and 0 < number < _MOST_NUMBER else 0,
        summary="\n".join(filter(None, (session.summary, steps and f"Next steps: {steps}"))),
        status=status,
        agent="" if session.agent == _UNKNOWN_AGENT else session.agent,
        started_at=started_at,
        ended_at=ended_at if status in limits.ENDED_STATUSES else "",
        created_at=created_at or started_at,
        updated_at=updated_at,
        **points,
    )


def _points_in(kind: str, value: object) -> tuple[Point, ...]:
    shape, points = POINTS[kind], list[Point]()
    text_key = next(iter(shape.names))
    for entry in value if isinstance(value, list) else ():
        data = {text_key: entry} if isinstance(entry, str) else entry
        if not isinstance(data, dict):
            continue
        texts = {
            name: next(filter(None, (text_at(data, key) for key in names.split())), "")
            for name, names in _FOREIGN_NAMES[kind].items()
        }
        point = shape.read({**data, **texts})
        if kind == "approaches" and point.result not in limits.OUTCOMES:
            point = replace(point, result="partial")
        made_by = "" if point.made_by == _UNKNOWN_AGENT else point.made_by
        at = moment_in(data.get("timestamp", data.get("discoveredAt")))
        resolved_at = moment_in(data.get("resolvedAt"))
        points.append(replace(point, made_by=made_by, at=at, resolved_at=resolved_at))
    return _merge_points(points)


def _merge_points(points: Iterable[Point]) -> tuple[Point, ...]:
    """Drop blank points, and all but the last of a text."""
    by_text = {point.text: point for point in points}
    return tuple(point for text, point in by_text.items() if text.strip())


def _actions_in(context: Data, id_: str) -> Iterator[Action]:
    for i, entry in enumerate(objects_at(context, "actions")):
        action = ACTION.read(entry)
        if action.content:
            made_id = f"act_{digest(f'{id_} {action.id or i}')[:12]}"
            yield replace(
                action,
                id=action.id if _OUR_ACTION_ID.fullmatch(action.id) else made_id,
                kind=action.kind if action.kind in limits.ACTION_KINDS else "command",
                created_at=moment_in(entry.get("createdAt")),
                context_id=id_,
            )


@dataclass(slots=True)
class Plan:
    new_sessions: list[tuple[Session, list[Action]]] = field(default_factory=list)  # oldest first
    known_count: int = 0  # sessions here already
    version_count: int = 0  # further versions, joined with their session
    cut_count: int = 0  # texts and lists
    secret_counts: Counter[str] = field(default_factory=Counter)  # secrets by kind
    faults: list[Fault] = field(default_factory=list)


def plan_import(
    store: SessionStore, source: Source, progress: Callable[[int, int], object] | None = None
) -> Plan:
    """Plan an import. Raises DatabaseError. progress: gets the count done, and of all."""
    plan = Plan(faults=[*source.faults])
    items = _merge_versions(source.items, plan)
    with store.reading() as connection:  # not the hints whose texts an archive holds
        statement = "SELECT id FROM contexts WHERE coalesce(archive, '') = ''"
        known_ids = {id_ for (id_,) in connection.execute(statement)}
    plan.known_count = sum(item.session.id in known_ids for item in items)
    new_items = [item for item in items if item.session.id not in known_ids]
    now, parents = utc_now(), _parents_of(items, known_ids)
    for count, item in enumerate(new_items):
        if progress:
            progress(count, len(new_items))
        content = replace(item.session, parent_id=parents[item.session.id]), item.actions
        # No file can hold half a character.
        content = map_texts(content, lambda text: SURROGATE.sub("\ufffd", text[:_RAW_CHARS]))
        session, actions, kinds = redact_session(*content)
        if kinds and store.settings.strict:
            plan.faults.append(Fault(item.place, "secret"))
            continue
        session, actions = _trim(session, actions, plan)
        dates: Any = {name: getattr(session, name) or now for name in _DATE_FIELDS}
        if session.status in limits.ENDED_STATUSES:
            dates["ended_at"] = session.ended_at or dates["updated_at"]
        plan.new_sessions.append((with_warning_flag(replace(session, **dates)), actions))
        plan.secret_counts.update(kinds)
    plan.new_sessions.sort(key=lambda pair: (pair[0].created_at, pair[0].updated_at))
    return plan


def save_plan(store: SessionStore, plan: Plan) -> list[Session]:
    """Save a plan in one transaction; return its sessions, with their former numbers if free.

    A session that is here by now is left alone; an older version's hint gets its texts back.
    """
    sessions = list[Session]()
    with store.writing() as connection:
        numbers = {number for (number,) in connection.execute("SELECT number FROM contexts")}
        hints = {hint.id: hint for hint in rows.sessions_where(connection, "archive != ''")}
        known_ids = {id_ for (id_,) in connection.execute("SELECT id FROM contexts")} - hints.keys()
        for session, actions in plan.new_sessions:
            if session.id in known_ids:
                continue
            if hint := hints.get(session.id):
                session = replace(session, number=hint.number, parent_id=hint.parent_id)
            elif session.number in numbers:
                session = replace(session, number=0)
            session = rows.write_session(connection, session, before=hint)
            numbers.add(session.number)
            sessions.append(session)
            known_ids.add(session.id)
            values = map(rows.values_of_action, actions)
            connection.executemany(f"INSERT OR IGNORE {rows.INTO_ACTIONS}", values)
    if sessions:
        store.write_current()
    return sessions


def _merge_versions(items: Iterable[Incoming], plan: Plan) -> list[Incoming]:
    """Return each session once: the newest version, completed by the older ones."""
    versions = sorted(items, key=lambda item: item.session.updated_at)
    snapshots = {item.snapshot for item in versions if item.snapshot}
    by_id = dict[str, Incoming]()
    for newer in versions:
        if newer.name in snapshots and not newer.snapshot:  # the row that was made of a snapshot
            plan.version_count += 1
            continue
        new_session, older = newer.session, by_id.get(newer.session.id)
        by_id[new_session.id] = newer
        if older is None:
            continue
        plan.version_count += 1
        old_session = older.session
        fields: Any = {
            name: getattr(new_session, name) or getattr(old_session, name)
            for name in ("number", "summary", "tags", "agent", "parent_id", "changes", "former")
        }
        for name in POINTS:
            fields[name] = _merge_points((*getattr(old_session, name), *getattr(new_session, name)))
        for name in ("started_at", "created_at"):
            dates = filter(None, (getattr(old_session, name), getattr(new_session, name)))
            fields[name] = min(dates, default="")
        actions = {action.id: action for action in (*older.actions, *newer.actions)}
        session = replace(new_session, **fields)
        by_id[new_session.id] = newer._replace(session=session, actions=tuple(actions.values()))
    return list(by_id.values())


def _parents_of(items: Sequence[Incoming], known_ids: set[str]) -> dict[str, str]:
    """Return the id of the session before each; a context that went on to a goal is a chain."""
    ids_by_name, earlier_ids, parents = dict[str, str](), dict[str, str](), dict[str, str]()
    for item in items:
        if item.name and item.name in ids_by_name:
            earlier_ids[item.session.id] = ids_by_name[item.name]
        ids_by_name[item.name] = item.session.id
    for item in items:
        name = item.session.parent_id  # of ours, it may come from another archive
        parent = ids_by_name.get(name, name if _OUR_ID.fullmatch(name) else "")
        parents[item.session.id] = parent or earlier_ids.get(item.session.id, "")
    for id_ in [child_id for child_id in parents if child_id not in known_ids]:
        ancestor_ids, parent = set[str](), parents[id_]
        while parent and parent not in ancestor_ids:
            ancestor_ids.add(parent)
            parent = parents.get(parent, "")
        if id_ in ancestor_ids:  # a chain that comes to the session again
            parents[id_] = ""
    return parents


def _trim(session: Session, actions: list[Action], plan: Plan) -> tuple[Session, list[Action]]:
    def cut(text: str, most_chars: int) -> str:
        if len(text) <= most_chars:
            return text
        plan.cut_count += 1
        return f"{text[: most_chars - 1].rstrip()}…"

    def keep_newest(items: Sequence[_Item], most: int) -> tuple[_Item, ...]:
        plan.cut_count += len(items) > most
        return tuple(items[-most:])

    tags = tuple(tag.strip() for tag in session.tags if tag.strip())
    session = replace(session, goal=session.goal.strip(), tags=tags)
    session = with_texts(session, lambda text, field: cut(text, field.most_chars))
    files = keep_newest(session.changes.modified_files, limits.MOST_FILES)
    lists: Any = {name: keep_newest(getattr(session, name), limits.MOST_POINTS) for name in POINTS}
    session = replace(
        session,
        tags=keep_newest(tuple(dict.fromkeys(session.tags)), limits.MOST_TAGS),
        agent=cut(session.agent, limits.AGENT_CHARS),
        changes=replace(session.changes, modified_files=files),
        former=map_texts(session.former, lambda text: cut(text, limits.SUMMARY_CHARS)),
        **lists,
    )
    return session, map_texts([*actions], lambda text: cut(text, limits.POINT_CHARS))
