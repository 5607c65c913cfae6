"""Keeps fragments in dictionaries: the answers of every engine, once more in plain Python.

    engine = PlainEngine(keeps_agents_apart=True).for_agent("alice")

A state is copied before it is changed, so a reader keeps the one that it has begun with. The search
for words it leaves to an index.
"""

import copy
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from struct import iter_unpack
from typing import Any, cast

from core.config import DEFAULT_AGENT
from core.errors import DiskError
from core.text.plain import end_of
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Embedding, Entry, Filter, Fragment, Link, plain_keyword
from rooms.fragments.storage.columns import ENTRY_TABLES
from rooms.fragments.storage.rows import Engine, Rows

_KEYS = {
    "number": lambda each: (-each.number,),
    "newest": lambda each: (each.created_at, each.number),
    "changed": lambda each: (each.changed_at, each.number),
    "worth": lambda each: (each.is_anchor, each.importance, each.created_at, each.number),
}


@dataclass
class Data:
    """One state of everything. fragments, vectors: by number. links: by their two ends."""

    last: int = 0
    fragments: dict[int, Fragment] = field(default_factory=dict)
    vectors: dict[int, bytes] = field(default_factory=dict)
    links: dict[tuple[str, str], Link] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)


class PlainEngine(Engine):
    """See `Engine`. It is never untouched by a write that failed, and has no file."""

    name = "memory"

    def __init__(self, *, keeps_agents_apart: bool = False) -> None:
        self.keeps_agents_apart, self.agent = keeps_agents_apart, ""
        self._lock, self._states = threading.Lock(), [Data()]

    def for_agent(self, agent: str) -> "PlainEngine":
        other = copy.copy(self)
        other.agent = agent if self.keeps_agents_apart else ""
        return other

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        yield cast(Rows, PlainRows(self._states[-1], self.agent))

    @contextmanager
    def writing(self, *, wait_s: float | None = None) -> Iterator[Rows]:
        with self._lock:
            before = self._states[-1]
            data = replace(before, **{
                name: copy.copy(getattr(before, name))
                for name in ("fragments", "vectors", "links", "entries", "values")
            })  # fmt: skip
            yield cast(Rows, PlainRows(data, self.agent))
            self._states[:] = [data]

    def locked_upkeep(self, *, timeout_s: float) -> Any:
        return nullcontext()

    def exists(self) -> bool:
        return self._states[-1] != Data()

    def purge(self) -> bool:
        return True

    def close(self) -> None:
        pass


def is_wanted(each: Fragment, wanted: Filter, has_vector: bool) -> bool:
    """Whether a filter lets a fragment through."""
    return all((
        {
            "live": each.is_live,
            "superseded": not each.deleted_at and bool(each.superseded_at),
            "bin": bool(each.deleted_at),
            "kept": not each.deleted_at,
            "all": True,
        }[wanted.state],
        not wanted.agents or each.agent in wanted.agents,
        not wanted.kinds or each.kind in wanted.kinds,
        not wanted.lifetimes or each.lifetime in wanted.lifetimes,
        not wanted.topics or plain_keyword(each.topic) in map(plain_keyword, wanted.topics),
        {*map(plain_keyword, wanted.keywords)} <= {*map(plain_keyword, each.keywords)},
        wanted.numbers is None or each.number in wanted.numbers,
        wanted.session in ("", each.session),
        wanted.privacy in ("", each.privacy),
        wanted.content_hash in ("", each.content_hash),
        each.created_at >= wanted.since,
        each.changed_at >= wanted.changed_since,
        not wanted.until or each.created_at < end_of(wanted.until),
        wanted.is_anchor in (None, each.is_anchor),
        wanted.has_vector in (None, has_vector),
        wanted.is_checked in (None, bool(each.checked_at)),
        each.number > wanted.after,
    ))  # fmt: skip


class PlainRows:
    """See `Rows`: one state, or a copy of it that is being changed."""

    def __init__(self, data: Data, agent: str) -> None:
        self._data, self._agent = data, agent

    def _seen(self) -> list[Fragment]:
        agents = (self._agent, DEFAULT_AGENT)
        everything = self._data.fragments.values()
        return [each for each in everything if not self._agent or each.agent in agents]

    def _sees(self, link: Link) -> bool:
        """Whether both ends of a link are seen: an agent is told nothing of another's."""
        ids = {each.id for each in self._seen()}
        return not self._agent or {link.from_id, link.to_id} <= ids

    def _own(self, numbers: Iterable[int]) -> list[Fragment]:
        return [each for each in self.by_numbers(numbers) if self._agent in ("", each.agent)]

    def by_ids(self, ids: Iterable[str]) -> list[Fragment]:
        found = {each.id: each for each in self._seen()}
        return [found[key] for key in dict.fromkeys(ids) if key in found]

    def by_numbers(self, numbers: Iterable[int]) -> list[Fragment]:
        found = {each.number: each for each in self._seen()}
        return [found[key] for key in dict.fromkeys(numbers) if key in found]

    def find(
        self, wanted: Filter, *, order: schema.Order = "number", limit: int = 0, offset: int = 0
    ) -> list[Fragment]:
        vectors = self._data.vectors
        found = [each for each in self._seen() if is_wanted(each, wanted, each.number in vectors)]
        found.sort(key=_KEYS[order], reverse=True)
        return found[offset : offset + limit if limit else None]

    def count(self, wanted: Filter, by: schema.Group = "", *, least: int = 0) -> dict[str, int]:
        found = self.find(wanted)
        if not by:
            return {"": len(found)}
        counts = Counter(str(getattr(each, by)) for each in found)
        return {value: count for value, count in sorted(counts.items()) if count >= least}

    def has(self, wanted: Filter, count: int = 1) -> bool:
        return len(self.find(wanted)) >= count

    def count_keywords(self, keywords: Sequence[str], wanted: Filter, most: int) -> Any:
        asked = {*map(plain_keyword, keywords)}
        found = [(each.number, len(asked & {*map(plain_keyword, each.keywords)}))
                 for each in self.find(wanted)]  # fmt: skip
        return sorted((it for it in found if it[1]), key=lambda it: (-it[1], -it[0]))[:most]

    def nearest_cosines(self, vector: bytes, wanted: Filter, most: int) -> list[tuple[int, float]]:
        found = list[tuple[int, float]]()
        for each in self.find(wanted):
            other = self._data.vectors.get(each.number, b"")
            if vector and not len(vector) % 4 and len(other) == len(vector):
                pairs = zip(iter_unpack("<f", vector), iter_unpack("<f", other), strict=True)
                found.append((each.number, round(sum(one * two for (one,), (two,) in pairs), 6)))
        return sorted(found, key=lambda it: (-it[1], -it[0]))[: max(most, 0)]

    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        vectors = self._data.vectors
        seen = sorted(each.number for each in self.by_numbers(numbers))
        return [Embedding(number, vectors[number]) for number in seen if number in vectors]

    def links(self, ids: Iterable[str], relations: Sequence[str] = ()) -> list[Link]:
        ends, kinds = {*ids}, {*relations}
        found = filter(self._sees, self._data.links.values())
        return [it for it in found if {it.from_id, it.to_id} & ends
                and (not kinds or it.relation in kinds)]  # fmt: skip

    def count_links(self, wanted: Filter) -> dict[str, int]:
        ids = {each.id for each in self.find(wanted)}
        links = [it for it in self._data.links.values() if self._sees(it)]
        return dict(sorted(Counter(it.relation for it in links if it.from_id in ids).items()))

    def _about(self, kind: type[Entry], subject: str, since: str, before: str) -> list[Any]:
        table = ENTRY_TABLES[kind]
        column_to_field = {column: field for field, column in table.columns.items()}
        about = [column_to_field[column] for column in table.subject]
        return [
            it for it in self._data.entries
            if type(it) is kind
            and (not subject or subject in [getattr(it, name) for name in about])
            and since <= getattr(it, table.moment)
            and (not before or getattr(it, table.moment) < before)
        ]  # fmt: skip

    def entries(
        self, kind: type[Entry], *, subject: str = "", since: str = "", limit: int = 0
    ) -> list[Any]:
        found, order = self._about(kind, subject, since, ""), ENTRY_TABLES[kind].order
        if order != ("id",):
            names = {column: name for name, column in ENTRY_TABLES[kind].columns.items()}
            found.sort(key=lambda it: [getattr(it, names[column]) for column in order])
        return found[: limit or None]

    def count_entries(self, kind: type[Entry]) -> int:
        return len(self.entries(kind))

    def state(self) -> dict[str, str]:
        return dict(sorted(self._data.values.items()))

    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        added = list[Fragment]()
        for fragment in fragments:
            if any(each.id == fragment.id for each in self._data.fragments.values()):
                raise DiskError("not_written")
            self._data.last += 1
            added.append(replace(fragment, number=self._data.last))
            self._data.fragments[self._data.last] = added[-1]
        return added

    def replace(self, fragments: Sequence[Fragment]) -> None:
        for fragment in fragments:
            for before in self._own([fragment.number]):
                self._data.fragments[fragment.number] = fragment
                if fragment.text != before.text:
                    self.drop_vectors([fragment.number])

    def set_fields(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        self.replace([replace(each, **values) for each in self._own(numbers)])

    def drop(self, ids: Iterable[str]) -> int:
        gone = self._own(each.number for each in self.by_ids(ids))
        names = {each.id for each in gone}
        for each in gone:
            del self._data.fragments[each.number]
            self._data.vectors.pop(each.number, None)
        links = self._data.links.items()
        self._data.links = {ends: link for ends, link in links if not names.intersection(ends)}
        self._data.entries = [
            it for it in self._data.entries
            if not (isinstance(it, schema.Version) and it.fragment_id in names)
            and not (isinstance(it, schema.Suspicion) and names & {it.first_id, it.second_id})
        ]  # fmt: skip
        return len(gone)

    def put_links(self, links: Iterable[Link]) -> None:
        for link in links:
            first = self._data.links.get((link.from_id, link.to_id), link)
            self._data.links[link.from_id, link.to_id] = replace(first, relation=link.relation)

    def drop_links(self, links: Iterable[Link]) -> int:
        gone = [self._data.links.pop((link.from_id, link.to_id), None) for link in links]
        return len([link for link in gone if link])

    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        for number, vector in embeddings:
            if self._own([number]):
                self._data.vectors[number] = vector

    def drop_vectors(self, numbers: Iterable[int] | None = None) -> None:
        for each in self._own(self._data.fragments if numbers is None else numbers):
            self._data.vectors.pop(each.number, None)

    def put_entries(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            names = {column: name for name, column in ENTRY_TABLES[type(entry)].columns.items()}
            key = [names[column] for column in ENTRY_TABLES[type(entry)].key]
            self._data.entries = [
                it for it in self._data.entries
                if not key or type(it) is not type(entry)
                or any(getattr(it, name) != getattr(entry, name) for name in key)
            ] + [entry]  # fmt: skip

    def drop_entries(self, kind: type[Entry], *, subject: str = "", before: str = "") -> int:
        gone = self._about(kind, subject, "", before)
        self._data.entries = [it for it in self._data.entries if it not in gone]
        return len(gone)

    def mend_index(self) -> bool:
        return False

    def set_state(self, values: Mapping[str, str]) -> None:
        schema = {**self._data.values, **values}
        self._data.values = {name: value for name, value in schema.items() if value}

    def count_up(self, figures: Mapping[str, int]) -> None:
        for name, figure in figures.items():
            if figure:
                self._data.values[name] = str(int(self._data.values.get(name, 0)) + figure)
