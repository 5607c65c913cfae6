"""Plans an import of fragments, then saves it in batches.

No row that is here is overwritten; a second import of a file saves nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeVar

from core.config import DEFAULT_AGENT, NAME_CHARS, REFUSED_AGENTS
from core.room.redaction import mapped, without_secrets
from core.text.plain import SURROGATE
from rooms.fragments import fragment as stored
from rooms.fragments import texts
from rooms.fragments.draft import row_of, saying, typed
from rooms.fragments.exchange import HARMLESS, Fault, Incoming, Source
from rooms.fragments.fragment import Entry, Fragment, Link, Version, Wanted
from rooms.fragments.links import superseded
from rooms.fragments.room import Room
from rooms.fragments.storage.columns import ENTRIES, UNKNOWN_MOMENT
from rooms.fragments.storage.rows import Rows

Tell = Callable[[int, int], object]  # how many are done, of how many

_Item = TypeVar("_Item")

_AT_ONCE = 500
_RAW_CHARS = 50_000  # above which nobody looks for secrets in a text that is far too long
_OWN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{5,63}")
_DELETIONS = ("forgotten", "expired", "stale", "merged", "ended")
_MOMENTS = (
    "created_at updated_at accessed_at verified_at checked_at decayed_at deleted_at superseded_at"
).split()


@dataclass(slots=True)
class Plan:
    """The result of an import before it is saved."""

    new: list[Fragment] = field(default_factory=list)  # as they will be stored
    links: list[Link] = field(default_factory=list)  # new, as the entries are
    entries: list[Entry] = field(default_factory=list)
    known: int = 0  # fragments that are here already, by id or content
    other: int = 0  # ids with another content here, which stays
    in_bin: int = 0
    shortened: int = 0  # labels above their limits
    redacted: Counter[str] = field(default_factory=Counter)  # rows with secrets, by kind
    faults: list[Fault] = field(default_factory=list)


def planned(room: Room, source: Source, tell: Tell = lambda *_: None, *, agent: str = "") -> Plan:
    """Return the plan of an import; change nothing.

    tell: called with the number done and the total. agent: new owner, "" to keep the owners. Who
    amended a fragment is kept.
    """
    with room.engine.reading() as rows:
        planner, done = _Planner(room, rows, source, agent), 0
        for items in _batches(source.items):
            planner.take(items)
            done += len(items)
            tell(done, len(source.items))
        return planner.plan()


def carry_out(room: Room, plan: Plan, tell: Tell = lambda *_: None) -> int:
    """Save a plan in batches; return the number of saved fragments.

    A fragment that came in meanwhile stays. After a break the same import brings the rest.
    """
    saved = 0
    for some in _batches(plan.new):
        with room.engine.writing() as rows:
            here = {each.id for each in rows.by_ids(each.id for each in some)}
            saved += len(rows.add([each for each in some if each.id not in here]))
        tell(saved, len(plan.new))
    for joined in _batches(plan.links):
        with room.engine.writing() as rows:
            rows.put_links(_new_links(rows, joined))
    if plan.entries:
        with room.engine.writing() as rows:
            rows.note(_new_entries(rows, plan.entries))
    return saved


class _Planner:
    def __init__(self, room: Room, rows: Rows, source: Source, agent: str) -> None:
        self._room, self._rows, self._source, self._agent = room, rows, source, agent
        self._plan, self._now = Plan(faults=[*source.faults]), room.clock()
        self._new, self._is_empty = dict[str, Fragment](), not rows.has(Wanted(state="all"))
        self._ids = dict[str, str]()  # of fragments here, by those of the source
        self._firsts = dict[tuple[str, str], str]()  # ids here and of the new, by agent and hash

    def take(self, items: Sequence[Incoming]) -> None:
        plan, ready = self._plan, list[tuple[str, Fragment]]()
        for place, given, word in items:
            made = self._made(given, word)
            if isinstance(made, Fragment):
                ready.append((given.id or made.id, made))
            else:
                plan.faults.append(Fault(place, made))
        here = {each.id: each for each in self._rows.by_ids(each.id for _, each in ready)}
        for name, fragment in ready:
            self._ids.setdefault(name, fragment.id)
            known = here.get(fragment.id) or self._new.get(fragment.id)
            if fragment.id in here and here[fragment.id].deleted_at:
                plan.in_bin += 1
            elif known and known.content_hash != fragment.content_hash:
                plan.other += 1
            elif known:
                plan.known += 1
            elif fragment.is_live and (twin := self._twin(fragment)):
                self._ids[name] = twin
                plan.known += 1
            else:
                self._new[fragment.id] = fragment

    def plan(self) -> Plan:
        plan, source, links, entries = self._plan, self._source, list[Link](), list[Entry]()
        for link in source.links:
            ends = self._ids.get(link.from_id, ""), self._ids.get(link.to_id, "")
            if not all(ends) or ends[0] == ends[1]:
                plan.faults.append(Fault(0, "no_end"))
                continue
            created_at = self._moment(link.created_at) or self._now
            links.append(replace(link, from_id=ends[0], to_id=ends[1], created_at=created_at))
            before = self._new.get(ends[0])
            if before and link.relation == "superseded_by" and not source.is_ours:
                self._new[ends[0]] = superseded(before, created_at)
        for entry in source.entries:
            bounded = mapped(entry, lambda text: self._label(text, texts.CONTENT_BYTES))
            clean, kinds = without_secrets(bounded, HARMLESS)
            about = [it for it in ("fragment_id", "first_id", "second_id") if hasattr(entry, it)]
            changed = {name: self._ids.get(getattr(entry, name), "") for name in about}
            if (kinds and self._room.settings.strict) or not all(changed.values()):
                plan.faults.append(Fault(0, "secret_refused" if kinds else "no_end"))
                continue
            plan.redacted.update(kinds)
            if hasattr(clean, "agent"):
                changed["agent"] = self._own_agent(clean.agent)
            entries.append(replace(clean, **changed))
        plan.links = _new_links(self._rows, links, self._new)
        plan.entries = _new_entries(self._rows, entries)
        plan.new = list(self._new.values())
        return plan

    def _made(self, given: Fragment, word: str) -> Fragment | str:
        """Return the fragment as it will be stored, or the key of its fault."""
        plan, now = self._plan, self._now
        if len(given.content) > _RAW_CHARS:
            return "too_large"
        words = tuple(filter(str.strip, given.keywords))
        few = replace(given, content_hash="", keywords=words[: texts.MOST_KEYWORDS])
        bounded = mapped(few, lambda text: text[:_RAW_CHARS])
        clean, kinds = without_secrets(bounded, HARMLESS)
        if kinds and self._room.settings.strict:
            return "secret_refused"
        try:
            fields, _ = texts.fields_of(
                content=SURROGATE.sub("\ufffd", clean.content),
                topic=self._label(clean.topic, texts.TOPIC_CHARS),
                source=self._label(clean.source, texts.SOURCE_CHARS),
                keywords=[self._label(each, texts.KEYWORD_CHARS) for each in clean.keywords],
                strict=False,
            )
        except stored.FragmentsError as error:
            return error.key
        fields["topic"] = fields["topic"] or next(iter(fields["keywords"]), stored.DEFAULT_TOPIC)
        moments: dict[str, Any] = {name: self._moment(getattr(given, name)) for name in _MOMENTS}
        fragment: Fragment = replace(
            clean,
            **moments | {"created_at": moments["created_at"] or now},
            **fields | saying(fields["content"]),
            agent=self._own_agent(clean.agent),
            session=self._label(clean.session, NAME_CHARS),
            last_session=self._label(clean.last_session, NAME_CHARS),
            deletion=clean.deletion if clean.deletion in _DELETIONS else "",
        )
        is_ours, id_ = self._source.is_ours, fragment.id
        if not is_ours:
            changed = typed(row_of(word, self._room.config), fragment.created_at)
            if fragment.is_anchor:
                changed |= {"expires_at": "", "tier": "permanent"}
            elif changed["expires_at"] and changed["expires_at"] <= now:
                return "expired"
            verified_at = fragment.verified_at or now
            changed |= {"updated_at": now, "verified_at": verified_at, "decayed_at": now}
            fragment = replace(fragment, **changed)
        plan.shortened += len(words) > texts.MOST_KEYWORDS
        plan.redacted.update({*kinds})
        if not _OWN_ID.fullmatch(id_) or (id_.isdigit() and not is_ours):
            # It may be the id of anything: it becomes a hash, the same at every import.
            said = "" if "\n" in id_ else id_, fragment.agent, fragment.content_hash
            id_ = sha256("\n".join(said).encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return replace(fragment, id=id_)

    def _label(self, text: str, most: int) -> str:
        text = SURROGATE.sub("\ufffd", text.strip())
        if len(text) <= most:
            return text
        self._plan.shortened += 1
        return f"{text[: most - 1].rstrip()}…"

    def _own_agent(self, name: str) -> str:
        name = self._agent or self._label(name, NAME_CHARS)
        return DEFAULT_AGENT if name.lower() in ("", *REFUSED_AGENTS) else name

    def _twin(self, fragment: Fragment) -> str:
        """Return a fragment's id with this agent and content, "" for none."""
        agent, content_hash = key = fragment.agent, fragment.content_hash
        if key not in self._firsts:
            wanted = Wanted(agents=(agent,), content_hash=content_hash, state="kept")
            here = [] if self._is_empty else self._rows.find(wanted, limit=1)
            self._firsts[key] = (here or [fragment])[0].id
        return self._firsts[key] if self._firsts[key] != fragment.id else ""

    def _moment(self, moment: str) -> str:
        return "" if moment == UNKNOWN_MOMENT else min(moment, self._now)


def _new_links(rows: Rows, links: Sequence[Link], coming: Iterable[str] = ()) -> list[Link]:
    """Return new links whose ends are here or in `coming`, each once."""
    found = dict[tuple[str, str], Link]()
    for some in _batches(links):
        ends = {end for link in some for end in (link.from_id, link.to_id)}
        there = {each.id for each in rows.by_ids(ends)}.union(coming)
        known = {(it.from_id, it.to_id) for it in rows.links({link.from_id for link in some})}
        for link in some:
            pair = link.from_id, link.to_id
            if pair not in known and {*pair} <= there:
                found[pair] = link
    return list(found.values())


def _new_entries(rows: Rows, entries: Sequence[Entry]) -> list[Entry]:
    """Return entries missing here, as often as the file has them; with equal keys the first."""

    def key_of(entry: Entry) -> object:
        """Return the unique key; the entry itself for a table without one."""
        table = ENTRIES[type(entry)]
        names = [name for name, column in table.columns.items() if column in table.key]
        return tuple(getattr(entry, name) for name in names) or entry

    here, new = Counter[object](), list[Entry]()
    asked = {(type(it), it.fragment_id if isinstance(it, Version) else "") for it in entries}
    for kind, of in asked:
        here.update(map(key_of, rows.entries(kind, of=of)))
    for entry in entries:
        key = key_of(entry)
        if not here[key]:
            new.append(entry)
        if key is not entry:
            here[key] = 1
        elif here[key]:
            here[key] -= 1
    return new


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]
