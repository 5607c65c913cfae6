"""Brings sessions of others into the store: first a plan, then all of it in one transaction."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from core.lessons.record import utc_now
from core.room.redaction import mapped
from core.text.plain import SURROGATE
from rooms.sessions.exchange.document import cleaned
from rooms.sessions.exchange.incoming import Incoming, is_ours, joined
from rooms.sessions.exchange.sources import Fault, Source
from rooms.sessions.projects.noting import note
from rooms.sessions.rows import INTO_ACTIONS, values_of_action
from rooms.sessions.saving import with_flag
from rooms.sessions.session import (
    AGENT_CHARS,
    GOAL_CHARS,
    ITEM_CHARS,
    MOST_FILES,
    MOST_ITEMS,
    MOST_TAGS,
    PATH_CHARS,
    SUMMARY_CHARS,
    TAG_CHARS,
    Action,
    Session,
)
from rooms.sessions.store import SessionStore, insert

MOST_ACTIONS = 10_000  # of a session
_RAW_CHARS = 50_000  # of a text, before secrets are looked for in it

_Item = TypeVar("_Item")


@dataclass(slots=True)
class Plan:
    """What an import would do.

    new: the sessions as they would be stored, oldest first, with their actions. known: how many
    are here already; versions: how many further versions of a session were joined with it.
    shortened: texts and lists that were too long; redacted: how many secrets of each kind.
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
    """Return what an import of this source would do; changes nothing. Raises DatabaseError.

    tell: gets how many sessions are looked through, of how many.
    """
    plan = Plan(faults=[*source.faults])
    items = _united(source.items, plan)
    here = _ids_in(store)
    plan.known = sum(it.session.id in here for it in items)
    wanted = [it for it in items if it.session.id not in here]
    now = utc_now()
    for done, it in enumerate(_with_parents(wanted, items, here)):
        if tell:
            tell(done, len(wanted))
        raw = mapped((it.session, it.actions), _raw)
        clean = cleaned(raw[0], list(raw[1]))
        if clean.redacted and store.settings.strict:
            plan.faults.append(Fault(it.place, "secret"))
            continue
        fit = _Fit()
        actions = fit.listed(mapped(tuple(clean.actions), fit.item), MOST_ACTIONS)
        plan.new.append((_dated(fit.session(clean.session), now), [*actions]))
        plan.redacted.update(clean.redacted)
        plan.shortened += fit.count
    plan.new.sort(key=lambda it: (it[0].created_at, it[0].updated_at))
    return plan


def carry_out(store: SessionStore, plan: Plan) -> list[Session]:
    """Save the sessions of a plan in one transaction; returns them with their numbers.

    One that has come in meanwhile is left alone. Raises what the store raises.
    """
    saved = list[Session]()
    with store.writing() as connection:
        here = {id_ for (id_,) in connection.execute("SELECT id FROM contexts")}
        for session, actions in plan.new:
            if session.id in here:
                continue
            saved.append(insert(connection, session))
            rows = map(values_of_action, actions)
            connection.executemany(f"INSERT OR IGNORE {INTO_ACTIONS}", rows)
    if saved:
        store.project()
        note(store, saved[-1])
    return saved


def _ids_in(store: SessionStore) -> set[str]:
    with store.database.reading() as connection:
        rows = connection.execute("SELECT id FROM contexts") if connection else ()
        return {id_ for (id_,) in rows}


def _united(items: Iterable[Incoming], plan: Plan) -> list[Incoming]:
    """Return each session once, its versions joined, oldest first; of one moment as they come."""
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
    """Yield the sessions with the id of the one that each continues, "" where that is missing.

    Of a former context that went from goal to goal, each session continues the one before.
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
        parent = parents[it.session.id]
        if _leads_to(it.session.id, parent, parents):
            parents[it.session.id] = parent = ""
        yield replace(it, session=replace(it.session, parent_id=parent))


def _leads_to(id_: str, parent: str, parents: dict[str, str]) -> bool:
    """Return whether a chain that goes up from this parent comes to the session again."""
    seen = set[str]()
    while parent and parent not in seen:
        if parent == id_:
            return True
        seen.add(parent)
        parent = parents.get(parent, "")
    return False


def _raw(text: str) -> str:
    """Return a text of bounded length without halves of characters, which no file can hold."""
    return SURROGATE.sub("\ufffd", text[:_RAW_CHARS])


def _dated(session: Session, now: str) -> Session:
    """Return a session with dates, where a source has none at all, and with its flag."""
    return with_flag(
        replace(
            session,
            started_at=session.started_at or now,
            created_at=session.created_at or now,
            updated_at=session.updated_at or now,
        )
    )


class _Fit:
    """Shortens what is too long and counts it."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, text: str, most: int) -> str:
        """Return a text of at most so many characters, with … where it was cut."""
        if len(text) <= most:
            return text
        self.count += 1
        return f"{text[: most - 1].rstrip()}…"

    def listed(self, items: Sequence[_Item], most: int) -> tuple[_Item, ...]:
        """Return the last items, at most so many."""
        self.count += len(items) > most
        return tuple(items[-most:])

    def item(self, text: str) -> str:
        """Return a text of a decision, an approach, a blocker or an action within its limit."""
        return self.text(text, ITEM_CHARS)

    def session(self, it: Session) -> Session:
        """Return a session within all limits."""
        tags = [self.text(tag.strip(), TAG_CHARS) for tag in it.tags if tag.strip()]
        files = [self.text(path, PATH_CHARS) for path in it.changes.modified_files]
        changes = replace(
            it.changes,
            modified_files=self.listed(files, MOST_FILES),
            summary=self.item(it.changes.summary),
        )
        return replace(
            it,
            goal=self.text(it.goal.strip(), GOAL_CHARS),
            summary=self.text(it.summary, SUMMARY_CHARS),
            tags=self.listed(list(dict.fromkeys(tags)), MOST_TAGS),
            agent=self.text(it.agent, AGENT_CHARS),
            decisions=self.listed(mapped(it.decisions, self.item), MOST_ITEMS),
            approaches=self.listed(mapped(it.approaches, self.item), MOST_ITEMS),
            blockers=self.listed(mapped(it.blockers, self.item), MOST_ITEMS),
            changes=changes,
        )
