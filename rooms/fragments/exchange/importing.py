"""Brings fragments of others into the room: first a plan, then all of it in batches."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from core.config import DEFAULT_AGENT, NAME_CHARS, REFUSED_AGENTS
from core.room.redaction import mapped, without_secrets
from core.sanitizer import has_secret
from core.text.plain import SURROGATE, estimate_tokens
from rooms.fragments.draft import Draft, Prepared, prepared
from rooms.fragments.errors import FragmentsError
from rooms.fragments.exchange.incoming import Fault, Incoming, Source
from rooms.fragments.fragment import (
    CONTENT_BYTES,
    DEFAULT_TOPIC,
    KEYWORD_CHARS,
    MOST_KEYWORDS,
    SOURCE_CHARS,
    TOPIC_CHARS,
    Activity,
    Entry,
    Fragment,
    Link,
    Suspicion,
    Version,
    Wanted,
    hash_of,
)
from rooms.fragments.room import Room
from rooms.fragments.standing import SUPERSEDED_IMPORTANCE, expiry, row_of
from rooms.fragments.storage.rows import Rows

Tell = Callable[[int, int], object]  # how many are done, of how many

_Item = TypeVar("_Item")

_AT_ONCE = 500
_RAW_CHARS = 50_000  # above which nobody looks for secrets in a text that is far too long
_OWN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{5,63}")
_NUMBER = re.compile(r"[0-9]+")
_DELETIONS = ("forgotten", "expired", "stale", "merged", "ended")
_MOMENTS = (
    "created_at updated_at accessed_at verified_at checked_at decayed_at deleted_at superseded_at"
).split()
_PLAIN = re.compile(r"[0-9TZ:+. -]*|[a-z_]{1,16}")


@dataclass(slots=True)
class Plan:
    """What an import would do.

    new: the fragments as they would be stored. known: how many are here already, by id or content;
    other: how many have the id of one here that says something else, which stays; in_bin: how many
    are in the bin. links, entries: what is new beside them. shortened: topics, keywords and names
    above their limits; redacted: how many secrets of each kind.
    """

    new: list[Fragment] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    known: int = 0
    other: int = 0
    in_bin: int = 0
    shortened: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)


class Saved(NamedTuple):
    """How many an import has stored."""

    fragments: int
    links: int
    entries: int


def planned(room: Room, source: Source, tell: Tell | None = None) -> Plan:
    """Return what an import of this source would do; changes nothing. Raises DatabaseError."""
    plan = Plan(faults=[*source.faults])
    with room.engine.reading() as reading:
        _Planner(room, reading, source, plan).plan(tell)
    return plan


def carry_out(room: Room, plan: Plan, tell: Tell | None = None) -> Saved:
    """Save a plan in batches; one that has come in meanwhile is left alone.

    What was saved when it is cut off stays; the same import again brings the rest. Raises
    DatabaseError, WaitEndedError.
    """
    fragments, links, new = 0, 0, list[Entry]()
    for some in _batches(plan.new):
        with room.engine.writing() as writing:
            here = {it.id for it in writing.by_ids(it.id for it in some)}
            fragments += len(writing.add([it for it in some if it.id not in here]))
        if tell:
            tell(fragments, len(plan.new))
    for joined in _batches(plan.links):
        with room.engine.writing() as writing:
            links += writing.put_links(_new_links(writing, joined))
    if plan.entries:
        with room.engine.writing() as writing:
            new = _new_entries(writing, plan.entries)
            writing.note(new)
    return Saved(fragments, links, len(new))


class _Planner:
    """Makes a plan. ids: of the fragments here, by their names in the source."""

    def __init__(self, room: Room, reading: Rows, source: Source, plan: Plan) -> None:
        self._room, self._reading, self._source, self._plan = room, reading, source, plan
        self._now = room.clock()
        self._new = dict[str, Fragment]()
        self._ids = dict[str, str]()
        self._live = dict[tuple[str, str], str]()  # by agent and hash, of what comes
        self._is_empty = not sum(reading.count(Wanted(state="all")).values())

    def plan(self, tell: Tell | None) -> None:
        done = 0
        for some in _batches(self._source.items):
            ready = [(it, found) for it in some if (found := self._ready(it))]
            here = {it.id: it for it in self._reading.by_ids(it.id for _, it in ready)}
            for item, fragment in ready:
                self._take(item, fragment, here.get(fragment.id))
            done += len(some)
            if tell:
                tell(done, len(self._source.items))
        links = [link for it in self._source.links if (link := self._link(it))]
        if not self._source.is_ours:
            self._supersede(links)
        self._plan.links = _new_links(self._reading, links, {*self._new})
        entries = [entry for it in self._source.entries if (entry := self._entry(it))]
        self._plan.entries = _new_entries(self._reading, entries)
        self._plan.new = list(self._new.values())

    def _ready(self, item: Incoming) -> Fragment | None:
        """Return a fragment as it may be stored, None for one that may not."""
        if len(item.fragment.content) > _RAW_CHARS:
            self._plan.faults.append(Fault(item.place, "too_large"))
            return None
        fit, strict = _Fit(), self._room.settings.strict
        try:
            item, kinds = _with_clean_names(item, strict=strict)
            ready = prepared(fit.draft(item), strict=strict)
        except FragmentsError as error:
            self._plan.faults.append(Fault(item.place, error.key))
            return None
        fragment = self._stored(item, ready, fit)
        if not self._source.is_ours and fragment.expires_at and fragment.expires_at <= self._now:
            self._plan.faults.append(Fault(item.place, "expired"))
            return None
        self._plan.redacted.update((*kinds, *ready.redacted))
        self._plan.shortened += fit.count
        return fragment

    def _stored(self, item: Incoming, ready: Prepared, fit: "_Fit") -> Fragment:
        """Return the row; one of ours keeps all of its columns, another begins its life here."""
        given, draft, now = item.fragment, ready.draft, self._now
        row = row_of(draft.type, self._room.config)
        moments = {it: min(getattr(given, it), now) for it in _MOMENTS}
        moments["created_at"] = moments["created_at"] or now
        fragment = replace(
            given,
            **moments,
            content=draft.content,
            topic=draft.topic or next(iter(draft.keywords), DEFAULT_TOPIC),
            keywords=draft.keywords,
            source=draft.source,
            importance=row.importance if item.importance is None else item.importance,
            content_hash=hash_of(draft.content),
            estimated_tokens=estimate_tokens(draft.content),
            agent=fit.agent(given.agent),
            session=fit.text(given.session, NAME_CHARS),
            last_session=fit.text(given.last_session, NAME_CHARS),
            deletion=given.deletion if given.deletion in _DELETIONS else "",
        )
        fragment = replace(fragment, id=_id_of(fragment, is_ours=self._source.is_ours))
        if self._source.is_ours:
            return fragment
        return replace(
            fragment,
            kind=row.kind,
            lifetime=row.lifetime,
            stale_days=row.stale_days,
            expires_at="" if given.is_anchor else expiry(row, fragment.created_at),
            tier="permanent" if given.is_anchor else given.tier,
            updated_at=now,
            verified_at=fragment.verified_at or now,
            decayed_at=now,
        )

    def _take(self, item: Incoming, fragment: Fragment, here: Fragment | None) -> None:
        """Put a fragment among the new ones, unless it is here already."""
        self._ids.setdefault(item.name or fragment.id, fragment.id)
        if here or fragment.id in self._new:
            held = here or self._new[fragment.id]
            is_same = held.content_hash == fragment.content_hash
            name = "known" if is_same else "other"
            name = "in_bin" if here and here.deleted_at else name
            setattr(self._plan, name, getattr(self._plan, name) + 1)
            return
        if fragment.is_live:
            key = fragment.agent, fragment.content_hash
            if twin := self._live.get(key) or self._twin(*key):
                self._ids[item.name or fragment.id] = twin
                self._plan.known += 1
                return
            self._live[key] = fragment.id
        self._new[fragment.id] = fragment

    def _twin(self, agent: str, content_hash: str) -> str:
        """Return the id of a fragment here that says the same, "" for none."""
        if self._is_empty:
            return ""
        wanted = Wanted(agents=(agent,), content_hash=content_hash, state="kept")
        return next((it.id for it in self._reading.find(wanted, limit=1)), "")

    def _link(self, link: Link) -> Link | None:
        from_id, to_id = self._ids.get(link.from_id, ""), self._ids.get(link.to_id, "")
        if not from_id or not to_id or from_id == to_id:
            self._plan.faults.append(Fault(0, "no_end"))
            return None
        created = min(link.created_at, self._now) or self._now
        return replace(link, from_id=from_id, to_id=to_id, created_at=created)

    def _supersede(self, links: Sequence[Link]) -> None:
        """Take what has a successor out of recall, as it was where it comes from."""
        for link in links:
            fragment = self._new.get(link.from_id)
            if fragment and link.relation == "superseded_by":
                importance = min(fragment.importance, SUPERSEDED_IMPORTANCE)
                self._new[fragment.id] = replace(
                    fragment, superseded_at=link.created_at, importance=importance
                )

    def _entry(self, entry: Entry) -> Entry | None:
        """Return what was noted with ids of here, within its limits and without secrets."""
        fit = _Fit()
        bounded = mapped(entry, lambda text: fit.text(text, CONTENT_BYTES))
        clean, kinds = without_secrets(bounded, _PLAIN)
        if kinds and self._room.settings.strict:
            self._plan.faults.append(Fault(0, "secret_refused"))
            return None
        self._plan.redacted.update(kinds)
        self._plan.shortened += fit.count
        ends = {
            name: self._ids.get(getattr(clean, name), "")
            for name in ("fragment_id", "first_id", "second_id")
            if hasattr(clean, name)
        }
        if not all(ends.values()):
            self._plan.faults.append(Fault(0, "no_end"))
            return None
        names = {"agent": fit.agent(clean.agent)} if hasattr(clean, "agent") else {}
        done: Entry = replace(clean, **ends, **names)
        return done


def _with_clean_names(item: Incoming, *, strict: bool) -> tuple[Incoming, tuple[str, ...]]:
    """Return a fragment without secrets in what names its agent and sessions, and their kinds.

    strict: they are refused. Raises FragmentsError.
    """
    given, names = item.fragment, ("agent", "session", "last_session")
    told = tuple(getattr(given, it)[:_RAW_CHARS] for it in names)
    clean, kinds = without_secrets(told, _PLAIN)
    if not kinds:
        return item, ()
    if strict:
        raise FragmentsError("secret_refused", field="agent_id", kinds=", ".join(kinds))
    fragment = replace(given, **dict(zip(names, clean, strict=True)))
    return replace(item, fragment=fragment), kinds


class _Fit:
    """Shortens labels that are too long and counts them; never what a fragment says."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, text: str, most: int) -> str:
        """Return a text of at most so many characters, with … where it was cut."""
        text = SURROGATE.sub("\ufffd", text)
        if len(text) <= most:
            return text
        self.count += 1
        return f"{text[: most - 1].rstrip()}…"

    def agent(self, name: str) -> str:
        """Return the name of an agent, DEFAULT_AGENT for what nobody may be called."""
        name = self.text(name.strip(), NAME_CHARS) or DEFAULT_AGENT
        return DEFAULT_AGENT if name.lower() in REFUSED_AGENTS else name

    def draft(self, item: Incoming) -> Draft:
        """Return what a fragment says, its labels within their limits."""
        given = item.fragment
        keywords = [self.text(it.strip(), KEYWORD_CHARS) for it in given.keywords if it.strip()]
        self.count += len(keywords) > MOST_KEYWORDS
        return Draft(
            content=SURROGATE.sub("\ufffd", given.content),
            topic=self.text(given.topic.strip(), TOPIC_CHARS),
            type=item.type,
            keywords=tuple(keywords[:MOST_KEYWORDS]),
            source=self.text(given.source.strip(), SOURCE_CHARS),
            privacy=given.privacy,
            is_anchor=given.is_anchor,
        )


def _id_of(fragment: Fragment, *, is_ours: bool) -> str:
    """Return the id of a fragment here: always the same one, whenever it is imported.

    is_ours: an export says it. Elsewhere a number, or what is short, may be the id of anything.
    """
    given = fragment.id
    is_own = is_ours or not _NUMBER.fullmatch(given)
    if is_own and _OWN_ID.fullmatch(given) and not has_secret(given):
        return given
    told = "\n".join((given, fragment.agent, fragment.content_hash))
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _new_links(reading: Rows, links: Sequence[Link], coming: set[str] | None = None) -> list[Link]:
    """Return the links whose ends are here, or come, and are not linked that way; each once."""
    found = dict[tuple[str, str], Link]()
    for some in _batches(links):
        ends = {end for it in some for end in (it.from_id, it.to_id)}
        there = {it.id for it in reading.by_ids(ends)} | (coming or set())
        known = {(it.from_id, it.to_id) for it in reading.links({it.from_id for it in some})}
        for link in some:
            pair = link.from_id, link.to_id
            if pair not in known and {*pair} <= there:
                found[pair] = link
    return list(found.values())


def _new_entries(reading: Rows, entries: Sequence[Entry]) -> list[Entry]:
    """Return what was not noted here yet, as often as it is noted there.

    Of two that take each other's place, as when sessions of two agents become one's, the first.
    """
    here, new = dict[tuple[type[Any], str], Counter[object]](), list[Entry]()
    firsts = {_key_of(it): it for it in reversed(entries)}
    for entry in entries:
        if firsts[_key_of(entry)] != entry:
            continue
        kind, of = type(entry), entry.fragment_id if isinstance(entry, Version) else ""
        if (kind, of) not in here:
            here[kind, of] = Counter(map(_key_of, reading.entries(kind, of=of)))
        if here[kind, of][_key_of(entry)]:
            here[kind, of][_key_of(entry)] -= 1
        else:
            new.append(entry)
    return new


def _key_of(entry: Entry) -> object:
    """Return what two entries share that are the same."""
    if isinstance(entry, Activity):
        return Activity, entry.agent, entry.session_id
    if isinstance(entry, Suspicion):
        return Suspicion, entry.first_id, entry.second_id
    return entry


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for at in range(0, len(items), _AT_ONCE):
        yield items[at : at + _AT_ONCE]
