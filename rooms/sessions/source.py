"""Imports sessions of others: reads a source, plans, and saves all in one transaction.

A source is a directory, a file, a database, rows of an export. Its former fields (`currentWork`,
`agentChain`, `conversationSummary`, `codeChanges`) are those of section 9 of the specification;
points may be texts or objects.
"""

import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from core.disk import open_regular_file
from core.lessons.record import utc_now
from core.room.database import SQLITE, open_foreign, rows_of
from core.room.documents import objects_at, text_at, texts_in
from core.sanitizer import redact
from core.text.plain import SURROGATE, map_texts, moment_of, printable_path
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
_OUR_ACTION = re.compile(r"[a-z]{2,6}_[0-9a-f]{6,32}")
_UNKNOWN_AGENT = "unknown"
_DATES = "started_at", "created_at", "updated_at"  # of which a source may have none at all

Data = Mapping[str, Any]
_Item = TypeVar("_Item")
# The names of a point's fields in other programs, the best first.
_OTHER_NAMES = {
    "decisions": {"what": "what decision description", "why": "why reason rationale"},
    "approaches": {"description": "description approach what"},
    "blockers": {"description": "description blocker what"},
}


class Fault(NamedTuple):
    """An entry that is not imported. why: the end of its sentence's key."""

    place: str
    why: str


class Incoming(NamedTuple):
    """A session of others, before its texts are checked."""

    session: Session  # number 0 or as it was here; parent_id as the source names it
    actions: tuple[Action, ...]
    place: str  # the file, and the entry of a list
    name: str  # in the source
    snapshot: str  # the name of its snapshot, if it is of one


@dataclass(slots=True)
class Source:
    """The sessions of a source. path: as shown."""

    path: str
    items: list[Incoming] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, value: object, place: str) -> None:
        """Add the session of a JSON value, or a fault."""
        data = context = value if isinstance(value, dict) else {}
        snapshot = moment = ""
        if isinstance(data.get("data"), dict):
            context, snapshot = data["data"], text_at(data, "id")
            moment = _moment(data.get("timestamp"))
        declared = _as_declared(context)
        name = text_at(context, "id") or text_at(data, "contextId")
        session = _session_in(declared, name, moment)
        if not isinstance(declared.get("goal"), str):
            self.add_fault(place, "not_a_session")
        elif not session.goal.strip():
            self.add_fault(place, "no_goal")
        else:
            actions = tuple(_actions(context, session.id))
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
        whole = value if isinstance(value, dict) else {"contexts": value}
        entries = whole.get("contexts")
        if not isinstance(entries, list):
            return self.add(value, place)
        if whole.get("format") == MARK and whole.get("version") != VERSION:
            version = printable_path(whole.get("version"))[:20]
            raise SessionsError("newer_export", path=self.path, version=version)
        for at, it in reversed([*enumerate(entries, 1)]):  # an export begins with the newest
            self.add(it, f"{place} ({at})")

    def read_database(self, path: Path, place: str) -> None:
        actions = dict[str, list[Data]]()
        try:
            with closing(open_foreign(path)) as connection:
                contexts = list(rows_of(connection, "contexts"))
                for it in rows_of(connection, "actions"):
                    named = {"filePath": it.get("file_path"), "createdAt": it.get("created_at")}
                    actions.setdefault(str(it.get("context_id")), []).append({**it, **named})
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
            done = actions.get(str(row.get("id")), [])
            self.add({**context, "updatedAt": row.get("updated_at"), "actions": done}, place)

    def add_fault(self, place: str, why: str) -> None:
        self.faults.append(Fault(place, why))

    def checked(self) -> "Source":
        """Return the source. Raises SessionsError where no entry is a session at all."""
        if not self.items and all(it.why == "not_a_session" for it in self.faults):
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
        return source.checked()
    source.read_file(path / CURRENT, CURRENT, is_needed=False)
    folder, names = path / SNAPSHOTS, list[str]()
    try:
        names = sorted(it for it in os.listdir(folder) if it.endswith(".json"))
        if os.path.islink(folder):
            source.add_fault(SNAPSHOTS, "link")
            names = []
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError:
        source.add_fault(SNAPSHOTS, "unreadable")
    for name in names:
        source.read_file(folder / name, f"{SNAPSHOTS}/{name}")
    source.read_file(path / HISTORY, HISTORY, is_needed=False)
    return source.checked()


def read_text(data: bytes, name: str) -> Source:
    """Read JSON. name: for sentences on it. Raises SessionsError."""
    source = Source(name)
    source.read_json(data, name)
    return source.checked()


def source_from_rows(entries: Sequence[tuple[int, Any]], name: str) -> Source:
    """Read rows of an export, newest first."""
    source = Source(name)
    for number, value in reversed(entries):
        source.add(value, str(number))
    return source


def _as_declared(context: Data) -> Data:
    """Return a former context as the declared object, any other object as it is."""
    work, talk = context.get("currentWork"), context.get("conversationSummary")
    if not isinstance(work, dict):
        return context
    if not isinstance(talk, dict):
        talk = {}
    chain, saved = objects_at(context, "agentChain"), context.get("updatedAt")
    return {
        **{name: context.get(name) for name in ("summary", "tags", "parentId", "createdAt")},
        "goal": text_at(work, "goal"),
        "status": work.get("status"),
        "agent": chain[0].get("to") if chain else context.get("agent"),
        "startedAt": work.get("startedAt"),
        "updatedAt": saved if _moment(saved) else work.get("lastActiveAt"),
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
    metadata = given if isinstance(given := context.get("metadata"), dict) else {}
    names = ("startedAt", "createdAt", "updatedAt", "endedAt")
    began, created, updated, ended = (_moment(context.get(it)) for it in names)
    # Always the same id, whenever it is imported. A former context lives on from goal to goal, and
    # each of these is a session. From a hash somebody could guess a secret.
    goal, _ = redact(session.goal[:_GOAL_CHARS])
    named = "\n".join((name or began, goal))
    updated = updated or moment or max(ended, created, began)
    began = began or created or updated
    status = session.status if session.status in limits.STATUSES else "paused"
    steps = "; ".join(texts_in(metadata.get("nextSteps")))
    points: Any = {name: _points(name, metadata.get(name)) for name in POINTS}
    return replace(
        session,
        id=name if _OUR_ID.fullmatch(name) else f"ctx_{_hash(named)}",
        number=number if type(number) is int and 0 < number < _MOST_NUMBER else 0,
        summary="\n".join(filter(None, (session.summary, steps and f"Next steps: {steps}"))),
        status=status,
        agent="" if session.agent == _UNKNOWN_AGENT else session.agent,
        started_at=began,
        ended_at=(ended or updated) if status in limits.ENDED else "",
        created_at=created or began,
        updated_at=updated,
        **points,
    )


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _moment(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):  # milliseconds
        with suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="seconds")
    return moment_of(value.strip()) if isinstance(value, str) else ""


def _points(kind: str, value: object) -> tuple[Point, ...]:
    shape, found = POINTS[kind], list[Point]()
    first = next(iter(shape.names))
    for it in value if isinstance(value, list) else ():
        data = {first: it} if isinstance(it, str) else it
        if not isinstance(data, dict):
            continue
        named = {
            name: next(filter(None, (text_at(data, other) for other in names.split())), "")
            for name, names in _OTHER_NAMES[kind].items()
        }
        point = shape.read({**data, **named})
        if kind == "approaches" and point.result not in limits.OUTCOMES:
            point = replace(point, result="partial")
        made_by = "" if point.made_by == _UNKNOWN_AGENT else point.made_by
        at = _moment(data.get("timestamp", data.get("discoveredAt")))
        resolved_at = _moment(data.get("resolvedAt"))
        found.append(replace(point, made_by=made_by, at=at, resolved_at=resolved_at))
    return _united_points(found)


def _united_points(points: Iterable[Point]) -> tuple[Point, ...]:
    """Drop blank points, and all but the last of a text."""
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
                kind=action.kind if action.kind in limits.ACTION_KINDS else "command",
                created_at=_moment(it.get("createdAt")),
                context_id=id_,
            )


@dataclass(slots=True)
class Plan:
    """The plan of an import."""

    new: list[tuple[Session, list[Action]]] = field(default_factory=list)  # oldest first
    known: int = 0  # sessions here already
    versions: int = 0  # further versions, joined with their session
    shortened: int = 0  # texts and lists
    redacted: Counter[str] = field(default_factory=Counter)  # secrets by kind
    faults: list[Fault] = field(default_factory=list)


def plan_import(
    store: SessionStore, source: Source, tell: Callable[[int, int], object] | None = None
) -> Plan:
    """Plan an import. Raises DatabaseError. tell: gets the count done, and of all."""
    plan = Plan(faults=[*source.faults])
    items = _united(source.items, plan)
    with store.reading() as connection:  # those of which an archive has the texts are not whole
        whole = "SELECT id FROM contexts WHERE coalesce(archive, '') = ''"
        here = {id_ for (id_,) in connection.execute(whole)}
    plan.known = sum(it.session.id in here for it in items)
    wanted = [it for it in items if it.session.id not in here]
    now, parents = utc_now(), _parents(items, here)
    for done, it in enumerate(wanted):
        if tell:
            tell(done, len(wanted))
        given = replace(it.session, parent_id=parents[it.session.id]), it.actions
        # No file can hold half a character.
        sound = map_texts(given, lambda text: SURROGATE.sub("\ufffd", text[:_RAW_CHARS]))
        session, actions, kinds = redact_session(*sound)
        if kinds and store.settings.strict:
            plan.faults.append(Fault(it.place, "secret"))
            continue
        session, actions = _fitting(session, actions, plan)
        dates: Any = {name: getattr(session, name) or now for name in _DATES}
        plan.new.append((with_warning_flag(replace(session, **dates)), actions))
        plan.redacted.update(kinds)
    plan.new.sort(key=lambda it: (it[0].created_at, it[0].updated_at))
    return plan


def carry_out(store: SessionStore, plan: Plan) -> list[Session]:
    """Save a plan in one transaction; return its sessions, with their former numbers if free.

    A session that is here by now is left alone; an older version's hint gets its texts back.
    """
    saved = list[Session]()
    with store.writing() as connection:
        numbers = {number for (number,) in connection.execute("SELECT number FROM contexts")}
        hints = {it.id: it for it in rows.sessions_where(connection, "archive != ''")}
        here = {id_ for (id_,) in connection.execute("SELECT id FROM contexts")} - hints.keys()
        for session, actions in plan.new:
            if session.id in here:
                continue
            if hint := hints.get(session.id):
                session = replace(session, number=hint.number, parent_id=hint.parent_id)
            elif session.number in numbers:
                session = replace(session, number=0)
            stored = rows.write(connection, session, before=hint)
            numbers.add(stored.number)
            saved.append(stored)
            here.add(session.id)
            values = map(rows.values_of_action, actions)
            connection.executemany(f"INSERT OR IGNORE {rows.INTO_ACTIONS}", values)
    if saved:
        store.write_current()
    return saved


def _united(items: Iterable[Incoming], plan: Plan) -> list[Incoming]:
    """Return each session once: the newest version, completed by the older ones."""
    given = sorted(items, key=lambda it: it.session.updated_at)
    snapshots = {it.snapshot for it in given if it.snapshot}
    found = dict[str, Incoming]()
    for newer in given:
        if newer.name in snapshots and not newer.snapshot:  # the row that was made of a snapshot
            plan.versions += 1
            continue
        after, older = newer.session, found.get(newer.session.id)
        found[after.id] = newer
        if older is None:
            continue
        plan.versions += 1
        before = older.session
        fields: Any = {
            name: getattr(after, name) or getattr(before, name)
            for name in ("number", "summary", "tags", "agent", "parent_id", "changes", "former")
        }
        for name in POINTS:
            fields[name] = _united_points((*getattr(before, name), *getattr(after, name)))
        for name in ("started_at", "created_at"):
            known = filter(None, (getattr(before, name), getattr(after, name)))
            fields[name] = min(known, default="")
        actions = {it.id: it for it in (*older.actions, *newer.actions)}
        session = replace(after, **fields)
        found[after.id] = newer._replace(session=session, actions=tuple(actions.values()))
    return list(found.values())


def _parents(items: Sequence[Incoming], here: set[str]) -> dict[str, str]:
    """Return the id of the session before each; a context that went on to a goal is a chain."""
    named, before, parents = dict[str, str](), dict[str, str](), dict[str, str]()
    for it in items:
        if it.name and it.name in named:
            before[it.session.id] = named[it.name]
        named[it.name] = it.session.id
    ids = {it.session.id for it in items} | here
    for it in items:
        given = it.session.parent_id
        parent = named.get(given, given if _OUR_ID.fullmatch(given) and given in ids else "")
        parents[it.session.id] = parent or before.get(it.session.id, "")
    for id_ in [it for it in parents if it not in here]:
        above, parent = set[str](), parents[id_]
        while parent and parent not in above:
            above.add(parent)
            parent = parents.get(parent, "")
        if id_ in above:  # a chain that comes to the session again
            parents[id_] = ""
    return parents


def _fitting(
    session: Session, actions: Sequence[Action], plan: Plan
) -> tuple[Session, list[Action]]:
    def cut(text: str, most: int) -> str:
        if len(text) <= most:
            return text
        plan.shortened += 1
        return f"{text[: most - 1].rstrip()}…"

    def newest(items: Sequence[_Item], most: int) -> tuple[_Item, ...]:
        plan.shortened += len(items) > most
        return tuple(items[-most:])

    tags = tuple(tag.strip() for tag in session.tags if tag.strip())
    session = replace(session, goal=session.goal.strip(), tags=tags)
    session = with_texts(session, lambda text, place: cut(text, place.most))
    files = newest(session.changes.modified_files, limits.MOST_FILES)
    lists: Any = {name: newest(getattr(session, name), limits.MOST_POINTS) for name in POINTS}
    fitting = replace(
        session,
        tags=newest(tuple(dict.fromkeys(session.tags)), limits.MOST_TAGS),
        agent=cut(session.agent, limits.AGENT_CHARS),
        changes=replace(session.changes, modified_files=files),
        former=map_texts(session.former, lambda text: cut(text, limits.SUMMARY_CHARS)),
        **lists,
    )
    return fitting, map_texts([*actions], lambda text: cut(text, limits.POINT_CHARS))
