"""Writes fragments as JSON lines, and plans an import of these or of the formats of others.

Others are rows of the specified tables, a database with the table `memory_item`, and a graph of
server-memory. No row that is here is overwritten; a second import of a file saves nothing.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from core.config import DEFAULT_AGENT, NAME_CHARS, REFUSED_AGENTS
from core.disk import reason_of
from core.lessons.record import DECODER
from core.room.database import DatabaseError, open_foreign
from core.room.database import rows_of as rows_of_table
from core.room.documents import moment_in, objects_at, text_at, texts_in
from core.room.redaction import without_secrets
from core.text.plain import SURROGATE, digest, map_texts, printable_path
from rooms.fragments import fragment as schema
from rooms.fragments import texts
from rooms.fragments.draft import content_fields_of, type_fields_of
from rooms.fragments.fragment import Entry, Filter, Fragment, FragmentsError, Link, Version
from rooms.fragments.links import mark_superseded
from rooms.fragments.room import Room
from rooms.fragments.storage import columns
from rooms.fragments.storage.columns import ENTRY_TABLES, FRAGMENTS, LINKS, VERSIONS, Table
from rooms.fragments.storage.rows import Rows, pages_of

Row = Fragment | Link | Entry

# By the field `kind` of a line.
_TABLES: dict[str, Table] = {
    **{"fragment": FRAGMENTS, "link": LINKS, "version": VERSIONS},
    "tool_feedback": ENTRY_TABLES[schema.ToolFeedback],
    "task_feedback": ENTRY_TABLES[schema.TaskFeedback],
    **{"activity": ENTRY_TABLES[schema.Activity], "suspicion": ENTRY_TABLES[schema.Suspicion]},
}
# Dates, our words and our ids: no secret is looked for in them.
HARMLESS = re.compile(r"[0-9TZ:+. -]*|[a-z_]{1,16}|[a-hj-km-np-z2-9]{8}")
# In the first line of an export by an older version.
EXPORT_FORMAT, EXPORT_VERSION = "sentinel-memory-fragments", 1
_HEAD_BYTES = 100  # in which a graph of server-memory names its entities
_MOST_COUNT = 2**53 - 1

Progress = Callable[[int, int], object]  # how many are done, of how many
_Item = TypeVar("_Item")
_BATCH_SIZE = 500
_RAW_CHARS = 50_000  # above which nobody looks for secrets in a text that is far too long
_USABLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{5,63}")
_DELETIONS = ("forgotten", "expired", "stale", "merged", "ended")
_MOMENTS = [name for name in FRAGMENTS.columns if columns.is_moment(name) and name != "expires_at"]


class Fault(NamedTuple):
    """A line or row that is not imported."""

    place: int
    reason: str  # the key of the reason


class ImportedFragment(NamedTuple):
    """A fragment of a file, with the id from there."""

    place: int
    fragment: Fragment
    word: str  # of `TYPES`


@dataclass(slots=True)
class Source:
    """The rows of a file, unchecked."""

    is_ours: bool  # this program wrote all columns
    items: list[ImportedFragment] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)  # between ids of the items
    entries: list[Entry] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, place: int, row: Row, word: str = "") -> None:
        if isinstance(row, Fragment):
            self.items.append(ImportedFragment(place, row, word or row.kind))
        elif isinstance(row, Link):
            self.links.append(row)
        else:
            self.entries.append(row)

    def add_fault(self, place: int, value: object) -> None:
        reason = "not_a_fragment" if isinstance(value, dict) else "not_json"
        self.faults.append(Fault(place, reason))


def read_rows(rows: Rows, filter_: Filter, *, only_public: bool) -> Iterator[Row]:
    """Yield the wanted fragments, then their links, versions and suspicions, without secrets.

    Feedback and activities come only with the whole room. only_public: leave out fragments that
    others may not see.
    """

    def redact(entries: Iterable[Any]) -> Iterator[Any]:
        return (without_secrets(entry, HARMLESS)[0] for entry in entries)

    ids = set[str]()
    for page in pages_of(rows, filter_):
        fragments = [row for row in page if row.privacy == "public" or not only_public]
        ids.update(row.id for row in fragments)
        yield from redact(fragments)
    yield from (link for link in rows.links(sorted(ids)) if {link.from_id, link.to_id} <= ids)
    for id_ in sorted(ids):
        yield from redact(rows.entries(Version, subject=id_))
    if not only_public and filter_ == Filter(state=filter_.state):
        for kind in (schema.ToolFeedback, schema.TaskFeedback, schema.Activity):
            yield from redact(rows.entries(kind))
    suspicions: list[schema.Suspicion] = rows.entries(schema.Suspicion)
    yield from (pair for pair in suspicions if {pair.first_id, pair.second_id} <= ids)


def line_of(row: Row) -> dict[str, Any]:
    """Return the object of a row, without `number`, which means one database."""
    word, table = next((word, table) for word, table in _TABLES.items() if table.row is type(row))
    line: dict[str, Any] = {"kind": word}
    for name, column in table.columns.items():
        value = getattr(row, name)
        line[column] = list(value) if isinstance(value, tuple) else value
    line.pop("number", None)
    return line


def read_source(path: Path) -> Source:
    """Read the table `memory_item` of a database, unchanged. Raises FragmentsError."""
    rows = list[dict[str, Any]]()
    try:
        with closing(open_foreign(path)) as connection:
            for row in rows_of_table(connection, "memory_item"):
                tags, text = text_at(row, "tags"), text_at(row, "content")
                words = _decode(tags.encode())  # a list in JSON, or words between commas
                row |= {"keywords": words if isinstance(words, list) else tags.split(",")}
                row |= {"is_anchor": row.get("pinned"), "accessed_at": row.get("last_accessed")}
                rows.append({**row, "content": text, "topic": ""})
    except (sqlite3.Error, OSError, OverflowError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else type(error).__name__
        raise FragmentsError("unreadable", path=printable_path(path), reason=reason) from error
    return _source_from_others(enumerate(rows, 1), printable_path(path))


def read_text(data: bytes, path: str) -> Source:
    """Read a file. path: as it is shown. Raises FragmentsError."""
    start, root = data[:_HEAD_BYTES].lstrip(), None
    if start.startswith(b"[") or (start.startswith(b"{") and b'"entities"' in start):
        root = _decode(data)
    if isinstance(root, dict):
        parts = ("entity", "entities"), ("relation", "relations")
        root = [{**item, "type": word} for word, key in parts for item in objects_at(root, key)]
    if isinstance(root, list) and root:
        return _source_from_others(enumerate(root, 1), path)
    lines = enumerate(data.split(b"\n"), 1)
    values = [(place, _decode(line)) for place, line in lines if line.strip()]
    head = values[0][1] if values else None
    if not isinstance(head, dict) or head.get("format") != EXPORT_FORMAT:
        return _source_from_others(values, path)
    if head.get("version") != EXPORT_VERSION:
        version = printable_path(head.get("version"))[:20]
        raise FragmentsError("newer_export", path=path, version=version)
    return source_from_rows(values[1:])


def source_from_rows(rows: Iterable[tuple[int, Any]]) -> Source:
    """Return the rows of an export. rows: with their line numbers."""
    source = Source(is_ours=True)
    for place, value in rows:
        table = _TABLES.get(str(value.get("kind"))) if isinstance(value, dict) else None
        if table:
            source.add(place, _row_from(table, value))
        else:
            source.add_fault(place, value)
    return source


def _source_from_others(values: Iterable[tuple[int, Any]], path: str) -> Source:
    # An observation becomes a fact; a relation a fragment, linked with the first fact of both ends.
    source, links = Source(is_ours=False), list[Link]()
    for place, value in values:
        match value:
            case {"fragment_id": _, "content": _}:
                source.add(place, _row_from(VERSIONS, value))
            case {"content": str(), "topic": _}:
                word = text_at(value, "type")
                word = word if word in schema.TYPES else schema.DEFAULT_TYPE
                line = {"importance": schema.TYPES[word].importance, "ttl_tier": "hot"}
                line |= {name: item for name, item in value.items() if item is not None}
                fragment = _row_from(FRAGMENTS, line)
                source.add(place, fragment, word)
                for end in texts_in(value.get("linked_to")):
                    ends = {"from_id": fragment.id, "to_id": end}
                    links.append(Link(**ends, created_at=fragment.created_at))
            case {"from_id": _, "to_id": _}:
                source.add(place, _row_from(LINKS, value))
            case {"tool_name": _} | {"overall_success": _}:
                kind = schema.ToolFeedback if "tool_name" in value else schema.TaskFeedback
                source.add(place, _row_from(ENTRY_TABLES[kind], value))
            case {"type": "entity", "name": str(name)} if name.strip():
                labels = name.strip(), text_at(value, "entityType").strip()
                facts = [text for text in texts_in(value.get("observations")) if text.strip()]
                id_ = f"entity\n{labels[0]}"  # of the first
                for text in facts or [": ".join(filter(None, labels))]:
                    source.add(place, _fragment_from(id_, text, "fact", labels))
                    id_ = ""
            case {"type": "relation", "from": str(), "relationType": str(), "to": str()} if all(
                value[key].strip() for key in ("from", "relationType", "to")
            ):
                labels = value["from"].strip(), value["to"].strip()
                text = f"{labels[0]} {value['relationType'].strip()} {labels[1]}"
                fragment = _fragment_from(f"relation\n{place}", text, "relation", labels)
                source.add(place, fragment)
                for end in fragment.keywords:
                    source.add(place, Link(from_id=fragment.id, to_id=f"entity\n{end}"))
            case _:
                source.add_fault(place, value)
    if not source.items:
        raise FragmentsError("no_source", path=path)
    # A pair that a row of the links joins has the relation of that row alone.
    pairs = {frozenset((link.from_id, link.to_id)) for link in source.links}
    source.links += [row for row in links if frozenset((row.from_id, row.to_id)) not in pairs]
    return source


def _fragment_from(id_: str, content: str, kind: schema.Kind, labels: Sequence[str]) -> Fragment:
    keywords = tuple(dict.fromkeys(filter(None, labels)))
    return Fragment(id=id_, content=content, kind=kind, topic=labels[0], keywords=keywords)


def _decode(data: bytes) -> object:
    try:
        return DECODER.decode(data.decode("utf-8", "replace").strip())
    except (ValueError, RecursionError):
        return None


def _row_from(table: Table, line: Mapping[str, Any]) -> Any:
    values = list[Any]()
    for column in fields(table.row):
        value = line.get(schema.column_of(column.name)) if column.name != "number" else 0
        if columns.is_moment(column.name):
            value = moment_in(value)
        elif column.type is bool:
            value = value is True or value == 1
        elif isinstance(value, bool | dict) or (isinstance(value, list) and column.type is str):
            value = None
        elif isinstance(value, int):
            value = min(max(value, 0), _MOST_COUNT)
        values.append(value)
    return table.read(values)


@dataclass(slots=True)
class Plan:
    """The result of an import before it is saved."""

    new_fragments: list[Fragment] = field(default_factory=list)  # as they will be stored
    links: list[Link] = field(default_factory=list)  # new, as the entries are
    entries: list[Entry] = field(default_factory=list)
    known_count: int = 0  # fragments that are here already, by id or content
    other_count: int = 0  # ids with another content here, which stays
    bin_count: int = 0
    cut_count: int = 0  # labels above their limits
    secret_counts: Counter[str] = field(default_factory=Counter)  # rows with secrets, by kind
    faults: list[Fault] = field(default_factory=list)


def plan_import(
    room: Room, source: Source, progress: Progress = lambda *_: None, *, agent: str = ""
) -> Plan:
    """Return the plan of an import; change nothing.

    progress: gets the number done and the total. agent: new owner, "" to keep the owners. Who
    amended a fragment is kept.
    """
    with room.engine.reading() as rows:
        planner, done_count = _Planner(room, rows, source, agent), 0
        for items in _batches_of(source.items):
            planner.add(items)
            done_count += len(items)
            progress(done_count, len(source.items))
        return planner.plan()


def save_plan(room: Room, plan: Plan, progress: Progress = lambda *_: None) -> int:
    """Save a plan in batches; return the number of saved fragments.

    A fragment that came in meanwhile stays. Raises DatabaseError where nothing was saved, and
    FragmentsError behind the first batch: the same import then brings the rest.
    """
    saved_count, has_begun = 0, False
    try:
        for batch in _batches_of(plan.new_fragments):
            with room.engine.writing() as rows:
                known_ids = {row.id for row in rows.by_ids(row.id for row in batch)}
                new_rows = rows.add([row for row in batch if row.id not in known_ids])
            saved_count, has_begun = saved_count + len(new_rows), True
            progress(saved_count, len(plan.new_fragments))
        for link_batch in _batches_of(plan.links):
            with room.engine.writing() as rows:
                rows.put_links(_find_new_links(rows, link_batch))
            has_begun = True
        if plan.entries:
            with room.engine.writing() as rows:
                rows.put_entries(_find_new_entries(rows, plan.entries))
    except DatabaseError as error:  # whose sentence says that nothing was saved
        if not has_begun:
            raise
        facts = {"path": room.engine.name, "reason": str(error.facts.get("reason", error.key))}
        total = len(plan.new_fragments)
        raise FragmentsError("import_stopped", saved=saved_count, total=total, **facts) from error
    return saved_count


class _Planner:
    def __init__(self, room: Room, rows: Rows, source: Source, agent: str) -> None:
        self._room, self._rows, self._source, self._agent = room, rows, source, agent
        self._plan, self._now = Plan(faults=[*source.faults]), room.clock()
        self._fragments, self._is_empty = dict[str, Fragment](), not rows.has(Filter(state="all"))
        self._ids = dict[str, str]()  # of fragments here, by those of the source
        self._ids_by_content = dict[tuple[str, str], str]()  # here and new, by agent and hash

    def add(self, items: Sequence[ImportedFragment]) -> None:
        plan, pairs = self._plan, list[tuple[str, Fragment]]()
        for place, row, word in items:
            fragment = self._prepare(row, word)
            if isinstance(fragment, Fragment):
                pairs.append((row.id or fragment.id, fragment))
            else:
                plan.faults.append(Fault(place, fragment))
        rows_here = {row.id: row for row in self._rows.by_ids(row.id for _, row in pairs)}
        for name, fragment in pairs:
            self._ids.setdefault(name, fragment.id)
            namesake = rows_here.get(fragment.id) or self._fragments.get(fragment.id)
            if fragment.id in rows_here and rows_here[fragment.id].deleted_at:
                plan.bin_count += 1
            elif namesake and namesake.content_hash != fragment.content_hash:
                plan.other_count += 1
            elif namesake:
                plan.known_count += 1
            elif fragment.is_live and (twin_id := self._find_twin(fragment)):
                self._ids[name] = twin_id
                plan.known_count += 1
            else:
                self._fragments[fragment.id] = fragment

    def plan(self) -> Plan:
        plan, source, links, entries = self._plan, self._source, list[Link](), list[Entry]()
        for link in source.links:
            ends = self._ids.get(link.from_id, ""), self._ids.get(link.to_id, "")
            if not all(ends) or ends[0] == ends[1]:
                plan.faults.append(Fault(0, "no_end"))
                continue
            created_at = self._cap_moment(link.created_at) or self._now
            links.append(replace(link, from_id=ends[0], to_id=ends[1], created_at=created_at))
            old_fragment = self._fragments.get(ends[0])
            if old_fragment and link.relation == "superseded_by" and not source.is_ours:
                self._fragments[ends[0]] = mark_superseded(old_fragment, created_at)
        for entry in source.entries:
            bounded_entry = map_texts(entry, lambda text: self._shorten(text, texts.CONTENT_BYTES))
            clean_entry, kinds = without_secrets(bounded_entry, HARMLESS)
            names = [key for key in ("fragment_id", "first_id", "second_id") if hasattr(entry, key)]
            changes = {name: self._ids.get(getattr(entry, name), "") for name in names}
            if (kinds and self._room.settings.strict) or not all(changes.values()):
                plan.faults.append(Fault(0, "secret_refused" if kinds else "no_end"))
                continue
            plan.secret_counts.update(kinds)
            if hasattr(clean_entry, "agent"):
                changes["agent"] = self._owner_from(clean_entry.agent)
            entries.append(replace(clean_entry, **changes))
        plan.links = _find_new_links(self._rows, links, self._fragments)
        plan.entries = _find_new_entries(self._rows, entries)
        plan.new_fragments = list(self._fragments.values())
        return plan

    def _prepare(self, row: Fragment, word: str) -> Fragment | str:
        """Return the fragment as it will be stored, or the key of its fault."""
        plan, now = self._plan, self._now
        if len(row.content) > _RAW_CHARS:
            return "too_large"
        words = tuple(filter(str.strip, row.keywords))
        row = replace(row, content_hash="", keywords=words[: texts.MOST_KEYWORDS])
        clean_row, kinds = without_secrets(map_texts(row, lambda text: text[:_RAW_CHARS]), HARMLESS)
        if kinds and self._room.settings.strict:
            return "secret_refused"
        try:
            fields, _ = texts.redact_fields(
                content=SURROGATE.sub("\ufffd", clean_row.content),
                topic=self._shorten(clean_row.topic, texts.TOPIC_CHARS),
                source=self._shorten(clean_row.source, texts.SOURCE_CHARS),
                keywords=[self._shorten(text, texts.KEYWORD_CHARS) for text in clean_row.keywords],
                strict=False,
            )
        except FragmentsError as error:
            return error.key
        fields["topic"] = fields["topic"] or next(iter(fields["keywords"]), schema.DEFAULT_TOPIC)
        moments: dict[str, Any] = {name: self._cap_moment(getattr(row, name)) for name in _MOMENTS}
        fragment: Fragment = replace(
            clean_row,
            **moments | {"created_at": moments["created_at"] or now},
            **fields | content_fields_of(fields["content"]),
            agent=self._owner_from(clean_row.agent),
            session=self._shorten(clean_row.session, NAME_CHARS),
            last_session=self._shorten(clean_row.last_session, NAME_CHARS),
            deletion=clean_row.deletion if clean_row.deletion in _DELETIONS else "",
        )
        is_ours, id_ = self._source.is_ours, fragment.id
        if not is_ours:
            changes = type_fields_of(schema.TYPES[word], fragment.created_at)
            if fragment.is_anchor:
                changes |= {"expires_at": "", "tier": "permanent"}
            elif changes["expires_at"] and changes["expires_at"] <= now:
                return "expired"
            verified_at = fragment.verified_at or now
            changes |= {"updated_at": now, "verified_at": verified_at, "decayed_at": now}
            fragment = replace(fragment, **changes)
        plan.cut_count += len(words) > texts.MOST_KEYWORDS
        plan.secret_counts.update({*kinds})
        if not _USABLE_ID.fullmatch(id_) or (id_.isdigit() and not is_ours):
            # It may be the id of anything: it becomes a hash, the same at every import.
            id_parts = "" if "\n" in id_ else id_, fragment.agent, fragment.content_hash
            id_ = digest("\n".join(id_parts))[:12]
        return replace(fragment, id=id_)

    def _shorten(self, text: str, most: int) -> str:
        text = SURROGATE.sub("\ufffd", text.strip())
        if len(text) <= most:
            return text
        self._plan.cut_count += 1
        return f"{text[: most - 1].rstrip()}…"

    def _owner_from(self, name: str) -> str:
        name = self._agent or self._shorten(name, NAME_CHARS)
        return DEFAULT_AGENT if name.lower() in ("", *REFUSED_AGENTS) else name

    def _find_twin(self, fragment: Fragment) -> str:
        """Return a fragment's id with this agent and content, "" for none."""
        agent, content_hash = key = fragment.agent, fragment.content_hash
        if key not in self._ids_by_content:
            filter_ = Filter(agents=(agent,), content_hash=content_hash, state="kept")
            twins = [] if self._is_empty else self._rows.find(filter_, limit=1)
            self._ids_by_content[key] = (twins or [fragment])[0].id
        return self._ids_by_content[key] if self._ids_by_content[key] != fragment.id else ""

    def _cap_moment(self, moment: str) -> str:
        return "" if moment == columns.UNKNOWN_MOMENT else min(moment, self._now)


def _find_new_links(rows: Rows, links: Sequence[Link], new_ids: Iterable[str] = ()) -> list[Link]:
    """Return new links whose ends are here or in `new_ids`, each once."""
    new_links = dict[tuple[str, str], Link]()
    for batch in _batches_of(links):
        ends = {end for link in batch for end in (link.from_id, link.to_id)}
        known_ids = {fragment.id for fragment in rows.by_ids(ends)}.union(new_ids)
        pairs = {(row.from_id, row.to_id) for row in rows.links({link.from_id for link in batch})}
        for link in batch:
            pair = link.from_id, link.to_id
            if pair not in pairs and {*pair} <= known_ids:
                new_links[pair] = link
    return list(new_links.values())


def _find_new_entries(rows: Rows, entries: Sequence[Entry]) -> list[Entry]:
    """Return entries missing here, as often as the file has them; with equal keys the first."""

    def key_of(entry: Entry) -> object:
        table = ENTRY_TABLES[type(entry)]
        names = [name for name, column in table.columns.items() if column in table.key]
        return tuple(getattr(entry, name) for name in names) or entry  # a table may have none

    counts, new_entries = Counter[object](), list[Entry]()
    subjects = {(type(row), row.fragment_id if isinstance(row, Version) else "") for row in entries}
    for kind, subject in subjects:
        counts.update(map(key_of, rows.entries(kind, subject=subject)))
    for entry in entries:
        key = key_of(entry)
        if not counts[key]:
            new_entries.append(entry)
        if key is not entry:
            counts[key] = 1
        elif counts[key]:
            counts[key] -= 1
    return new_entries


def _batches_of(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), _BATCH_SIZE):
        yield items[start : start + _BATCH_SIZE]
