"""Collects what the page shows of fragments: in groups, with links, versions and marks.

Pure. It redacts everything once more: others may write the database, and a page is passed on.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from commands.view.fragments.reading import Found
from core.guard.injection import shown_marks
from core.sanitizer import find, redact, values_in
from rooms.fragments.fragment import Fragment, Version
from rooms.fragments.kinds import KINDS

MOST_TIES = 8  # of links that a card names
GROUPS = ("preference", "procedure", "error", "decision", "fact", "relation")
PINNED, SUPERSEDED = "pinned", "superseded"

_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Tie(NamedTuple):
    """A link as one of its ends sees it. is_from: whether it begins there; other: the other end."""

    relation: str
    is_from: bool
    other: "Item"


@dataclass(slots=True, kw_only=True, eq=False)
class Item:
    """A fragment on the page, and the links to others that are there.

    anchor: its unique id in the document. name: its id, "" for one that could pass for something
    else. versions: the last ones, the newest first; version_count: how many it has. marks: what in
    it reads like orders, or is hidden.
    """

    fragment: Fragment
    anchor: str
    name: str
    versions: tuple[Version, ...] = ()
    version_count: int = 0
    marks: tuple[str, ...] = ()
    ties: list[Tie]

    @property
    def group(self) -> str:
        """The group below which it stands."""
        if self.fragment.superseded_at:
            return SUPERSEDED
        if self.fragment.is_anchor:
            return PINNED
        return self.fragment.kind if self.fragment.kind in KINDS else "fact"

    @property
    def successors(self) -> list["Item"]:
        """Those that have its place."""
        return [it.other for it in self.ties if it.is_from and it.relation == "superseded_by"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """All that the page shows of fragments, those that matter most first.

    total: how many there are. redacted: the kinds of secrets that were replaced.
    """

    items: tuple[Item, ...]
    total: int
    redacted: tuple[str, ...] = ()

    @property
    def groups(self) -> dict[str, list[Item]]:
        """The items by group, in the order of the page."""
        groups = {name: list[Item]() for name in (PINNED, *GROUPS, SUPERSEDED)}
        for item in self.items:
            groups[item.group].append(item)
        return {name: items for name, items in groups.items() if items}


def collection_of(found: Found) -> Collection:
    """Return what the page shows of what was read."""
    kinds, by_id = list[str](), dict[str, Item]()
    for fragment in found.fragments:
        clean, versions, found_kinds = _clean(fragment, found.versions.get(fragment.id, ()))
        kinds += found_kinds
        is_plain = bool(_PLAIN_ID.fullmatch(clean.id))
        by_id[fragment.id] = Item(
            fragment=clean,
            anchor=f"f-{clean.id}" if is_plain else f"fragment-{clean.number}",
            name=clean.id if is_plain else "",
            versions=versions,
            version_count=found.counts.get(fragment.id, 0),
            marks=shown_marks((), (clean.content, clean.topic, *clean.keywords)),
            ties=[],
        )
    for link in found.links:
        first, second = by_id[link.from_id], by_id[link.to_id]
        first.ties.append(Tie(link.relation, True, second))
        second.ties.append(Tie(link.relation, False, first))
    return Collection(items=tuple(by_id.values()), total=found.total, redacted=tuple(kinds))


def _clean(
    fragment: Fragment, versions: Sequence[Version]
) -> tuple[Fragment, tuple[Version, ...], list[str]]:
    """Return a fragment and its versions without secrets, and the kinds of those."""
    kinds = list[str]()
    texts = [*_texts(fragment), *(text for it in versions for text in _texts(it))]
    if not find("\n\n".join(texts)):
        return fragment, tuple(versions), kinds
    known = values_in(texts)

    def clean(text: str) -> str:
        done, found = redact(text, known)
        kinds.extend(found)
        return done

    done = replace(
        fragment,
        id=clean(fragment.id),
        source=clean(fragment.source),
        agent=clean(fragment.agent),
        **_cleaned(fragment, clean),
    )
    told = (replace(it, amended_by=clean(it.amended_by), **_cleaned(it, clean)) for it in versions)
    return done, tuple(told), kinds


def _cleaned(told: Fragment | Version, clean: Callable[[str], str]) -> dict[str, Any]:
    """Return the texts that a fragment and its versions have in common, cleaned."""
    return {
        "content": clean(told.content),
        "topic": clean(told.topic),
        "keywords": tuple(map(clean, told.keywords)),
    }


def _texts(told: Fragment | Version) -> Iterable[str]:
    yield from (told.content, told.topic, *told.keywords)
    if isinstance(told, Fragment):
        yield from (told.id, told.source, told.agent)
    else:
        yield told.amended_by
