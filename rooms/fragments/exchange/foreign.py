"""Reads fragments of other programs: rows of the two specifications, entities of server-memory.

Whatever is of another kind is passed over, and the source says so. Pure.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from core.room.documents import text_at, texts_in
from rooms.fragments.exchange.incoming import Fault, Incoming, Source
from rooms.fragments.exchange.lines import moment_in, row_of_line, share_in
from rooms.fragments.fragment import (
    WORDS_OF_TYPE,
    Fragment,
    Link,
    TaskFeedback,
    ToolFeedback,
    Version,
)

Data = Mapping[str, Any]


def is_fragment(data: Data) -> bool:
    """Return whether an object is a row of the table of fragments."""
    return isinstance(data.get("content"), str) and "topic" in data and "fragment_id" not in data


def is_beside(data: Data) -> bool:
    """Return whether an object is a row of one of the tables beside it."""
    keys = ("from_id", "to_id"), ("fragment_id", "content"), ("tool_name", "relevant")
    return any(all(it in data for it in pair) for pair in keys) or "overall_success" in data


def is_of_graph(data: Data) -> bool:
    """Return whether an object is an entity or a relation of server-memory."""
    return data.get("type") in ("entity", "relation") and ("name" in data or "from" in data)


def read_items(rows: Iterable[Data], source: Source) -> None:
    """Read the rows of the table `memory_item`."""
    for number, row in enumerate(rows, 1):
        kept = {
            **row,
            "type": "",
            "is_anchor": row.get("pinned"),
            "accessed_at": row.get("last_accessed"),
            "keywords": _tags(row.get("tags")),
        }
        _add_row(kept, str(row.get("type")), number, source)


def read_rows(rows: Iterable[tuple[int, Data]], source: Source) -> None:
    """Read rows of fragments, of their links, and of what is kept beside them."""
    linked = dict[tuple[str, str], Link]()
    told = dict[tuple[str, str], Link]()
    for number, row in rows:
        if is_fragment(row):
            _add_row(row, text_at(row, "type"), number, source)
            created = moment_in(row.get("created_at"))
            for other in texts_in(row.get("linked_to")):
                ends = text_at(row, "id"), other
                linked[ends] = Link(from_id=ends[0], to_id=other, created_at=created)
        elif "from_id" in row and "to_id" in row:
            link = row_of_line(Link, row)
            told[link.from_id, link.to_id] = link
        elif "fragment_id" in row and "content" in row:
            source.entries.append(row_of_line(Version, row))
        elif "tool_name" in row:
            source.entries.append(row_of_line(ToolFeedback, row))
        elif "overall_success" in row:
            source.entries.append(row_of_line(TaskFeedback, row))
        else:
            source.faults.append(Fault(number, "not_a_fragment"))
    both = {*told, *((to, from_) for from_, to in told)}
    source.links += [link for ends, link in linked.items() if ends not in both]
    source.links += told.values()


def read_graph(values: Iterable[tuple[int, Data]], source: Source) -> None:
    """Read entities, whose observations become facts, and relations, which become fragments."""
    for number, value in values:
        if value.get("type") == "entity" and text_at(value, "name").strip():
            _add_entity(value, number, source)
        elif value.get("type") == "relation" and all(
            text_at(value, name).strip() for name in ("from", "to", "relationType")
        ):
            _add_relation(value, number, source)
        else:
            source.faults.append(Fault(number, "not_a_fragment"))


def _add_row(row: Data, word: str, number: int, source: Source) -> None:
    fragment = row_of_line(Fragment, {**row, "id": _id_in(row.get("id"))})
    item = Incoming(
        fragment=fragment,
        place=number,
        type=word if word in WORDS_OF_TYPE else "",
        importance=share_in(row.get("importance")),
        name=fragment.id,
    )
    source.items.append(item)


def _id_in(value: object) -> str:
    return value if isinstance(value, str) else str(value) if type(value) is int else ""


def _tags(value: object) -> list[str]:
    """Return the tags of a column: a list as JSON, or words between commas."""
    if not isinstance(value, str):
        return []
    try:
        return [*texts_in(json.loads(value))]
    except (ValueError, RecursionError):
        return [it.strip() for it in value.split(",")]


def _add_entity(entity: Data, number: int, source: Source) -> None:
    name, kind = text_at(entity, "name").strip(), text_at(entity, "entityType").strip()
    texts = [it for it in texts_in(entity.get("observations")) if it.strip()]
    keywords = tuple(dict.fromkeys(filter(None, (name, kind))))
    for at, text in enumerate(texts or [f"{name}: {kind}" if kind else name]):
        fragment = Fragment(id="", content=text, topic=name, keywords=keywords)
        called = "" if at else _entity(name)
        source.items.append(Incoming(fragment=fragment, place=number, type="fact", name=called))


def _add_relation(relation: Data, number: int, source: Source) -> None:
    first, other = text_at(relation, "from").strip(), text_at(relation, "to").strip()
    content = f"{first} {text_at(relation, 'relationType').strip()} {other}"
    keywords = tuple(dict.fromkeys((first, other)))
    fragment = Fragment(id="", content=content, topic=first, keywords=keywords)
    name = f"relation\n{number}"
    source.items.append(Incoming(fragment=fragment, place=number, type="relation", name=name))
    source.links += [
        Link(from_id=name, to_id=_entity(end)) for end in dict.fromkeys((first, other))
    ]


def _entity(name: str) -> str:
    return f"entity\n{name}"
