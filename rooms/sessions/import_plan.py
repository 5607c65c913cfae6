"""Imports sessions of others: first a plan, then all in one transaction."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from core.lessons.record import utc_now
from core.room.redaction import mapped
from core.text.plain import SURROGATE
from rooms.sessions.draft import cleaned, with_flag, with_texts
from rooms.sessions.rows import INTO_ACTIONS, sessions_where, values_of_action
from rooms.sessions.session import (
    AGENT_CHARS,
    MOST_FILES,
    MOST_POINTS,
    MOST_TAGS,
    POINT_CHARS,
    POINTS,
    SUMMARY_CHARS,
    Action,
    Session,
)
from rooms.sessions.source import Fault, Incoming, Source, is_ours, joined
from rooms.sessions.store import SessionStore, insert, update

MOST_ACTIONS = 10_000  # of a session
_DATES = "started_at", "created_at", "updated_at"  # of which a source may have none at all
_RAW_CHARS = 50_000  # of a text, before secrets are looked for in it

_Item = TypeVar("_Item")


@dataclass(slots=True)
class Plan:
    """The plan of an import.

    new: as they would be stored, oldest first. known: sessions here already. versions: further
    versions, joined with their session. shortened: texts and lists. redacted: secrets by kind.
    """

    new: list[tuple[Session, list[Action]]] = field(default_factory=list)
    known: int = 0
    versions: int = 0
    shortened: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)


def planned(
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
    now = utc_now()
    for done, it in enumerate(_with_parents(wanted, items, here)):
        if tell:
            tell(done, len(wanted))
        # No file can hold half a character.
        session, done_there = mapped(
            (it.session, it.actions), lambda text: SURROGATE.sub("\ufffd", text[:_RAW_CHARS])
        )
        clean = cleaned(session, done_there)
        if clean.redacted and store.settings.strict:
            plan.faults.append(Fault(it.place, "secret"))
            continue
        fit = _Fit()
        session = fit.session(clean.session)
        dates: Any = {name: getattr(session, name) or now for name in _DATES}
        actions = list(fit.actions(clean.actions))
        plan.new.append((with_flag(replace(session, **dates)), actions))
        plan.redacted.update(clean.redacted)
        plan.shortened += fit.count
    plan.new.sort(key=lambda it: (it[0].created_at, it[0].updated_at))
    return plan


def carry_out(store: SessionStore, plan: Plan) -> list[Session]:
    """Save a plan in one transaction; return its sessions with their numbers.

    A session keeps its former number if free. A session that is here by now is left alone; an older
    version's hint gets its texts back. Raises errors of the store.
    """
    saved = list[Session]()
    with store.writing() as connection:
        numbers = {number for (number,) in connection.execute("SELECT number FROM contexts")}
        hints = {it.id: it for it in sessions_where(connection, "archive != ''")}
        here = {id_ for (id_,) in connection.execute("SELECT id FROM contexts")} - hints.keys()
        for session, actions in plan.new:
            if session.id in here:
                continue
            if hint := hints.get(session.id):
                whole = replace(session, number=hint.number, parent_id=hint.parent_id)
                update(connection, hint, whole)
                saved.append(whole)
            else:
                is_free = session.number not in numbers
                stored = insert(connection, session if is_free else replace(session, number=0))
                numbers.add(stored.number)
                saved.append(stored)
            here.add(session.id)
            rows = map(values_of_action, actions)
            connection.executemany(f"INSERT OR IGNORE {INTO_ACTIONS}", rows)
    if saved:
        store.project()
    return saved


def _united(items: Iterable[Incoming], plan: Plan) -> list[Incoming]:
    given = sorted(items, key=lambda it: it.session.updated_at)
    snapshots = {it.snapshot for it in given if it.snapshot}
    found = dict[str, Incoming]()
    for it in given:
        if it.name in snapshots and not it.snapshot:  # the row that was made of a snapshot
            plan.versions += 1
        elif before := found.get(it.session.id):
            plan.versions += 1
            found[it.session.id] = joined(before, it)
        else:
            found[it.session.id] = it
    return list(found.values())


def _with_parents(
    wanted: Sequence[Incoming], items: Sequence[Incoming], here: set[str]
) -> Iterator[Incoming]:
    """Yield sessions with the id of the session before, "" if missing.

    A former context that went from goal to goal is a chain.
    """
    named, before, last = dict[str, str](), dict[str, str](), dict[str, str]()
    for it in items:
        named[it.name] = it.session.id
        if it.name and it.name in last:
            before[it.session.id] = last[it.name]
        last[it.name] = it.session.id
    ids = {it.session.id for it in items} | here
    parents = dict[str, str]()
    for it in items:
        given = it.session.parent_id
        parent = named.get(given, given if is_ours(given) and given in ids else "")
        parents[it.session.id] = parent or before.get(it.session.id, "")
    for it in wanted:
        id_, above = it.session.id, set[str]()
        parent = parents[id_]
        while parent and parent not in above:
            above.add(parent)
            parent = parents.get(parent, "")
        if id_ in above:  # a chain that comes to the session again
            parents[id_] = ""
        yield replace(it, session=replace(it.session, parent_id=parents[id_]))


class _Fit:
    def __init__(self) -> None:
        self.count = 0

    def text(self, text: str, most: int) -> str:
        """Cut a text to `most` characters; `…` marks the cut."""
        if len(text) <= most:
            return text
        self.count += 1
        return f"{text[: most - 1].rstrip()}…"

    def newest(self, items: Sequence[_Item], most: int) -> tuple[_Item, ...]:
        self.count += len(items) > most
        return tuple(items[-most:])

    def actions(self, them: Sequence[Action]) -> tuple[Action, ...]:
        return self.newest(mapped(tuple(them), lambda it: self.text(it, POINT_CHARS)), MOST_ACTIONS)

    def session(self, it: Session) -> Session:
        tags = tuple(tag.strip() for tag in it.tags if tag.strip())
        it = replace(it, goal=it.goal.strip(), tags=tags)
        it = with_texts(it, lambda text, place: self.text(text, place.most))
        files = self.newest(it.changes.modified_files, MOST_FILES)
        lists: Any = {name: self.newest(getattr(it, name), MOST_POINTS) for name in POINTS}
        return replace(
            it,
            tags=self.newest(tuple(dict.fromkeys(it.tags)), MOST_TAGS),
            agent=self.text(it.agent, AGENT_CHARS),
            changes=replace(it.changes, modified_files=files),
            former=mapped(it.former, lambda text: self.text(text, SUMMARY_CHARS)),
            **lists,
        )
