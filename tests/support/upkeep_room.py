"""Short ways to fill a room of fragments for the tests of its upkeep, and to look into it."""

import json
from dataclasses import asdict, replace
from typing import Any

from rooms.fragments.draft import Draft, remember
from rooms.fragments.fragment import Activity, Fragment, Link, Suspicion, Version, Wanted
from rooms.fragments.room import Room
from rooms.fragments.storage.engine import pages_of
from rooms.fragments.upkeep.consolidation import Report
from tests.support.stdio_client import ROOT

# Pairs of fragments on one matter, in both languages.
_PAIRS = json.loads((ROOT / "tests/data/contradiction_words.json").read_text("utf-8"))
CONTRADICTING: list[tuple[str, str]] = [(one, other) for one, other in _PAIRS["contradicting"]]
AGREEING: list[tuple[str, str]] = [(one, other) for one, other in _PAIRS["agreeing"]]


def saved(room: Room, content: str, **fields: Any) -> Fragment:
    """A fragment that was remembered; fields: those of the draft, the others of the row."""
    given = {it: fields.pop(it) for it in Draft.__dataclass_fields__ if it in fields}
    fragment = remember(room, Draft(content=content, **given)).fragment
    return changed(room, fragment, **fields) if fields else fragment


def changed(room: Room, fragment: Fragment, **fields: Any) -> Fragment:
    """A fragment as another program would leave it."""
    after = replace(now_of(room, fragment), **fields)
    with room.engine.writing() as writing:
        writing.replace([after])
    return after


def now_of(room: Room, fragment: Fragment) -> Fragment:
    """A fragment as it is now, wherever it is."""
    with room.engine.reading() as reading:
        [found] = reading.by_ids([fragment.id])
    return found


def all_of(room: Room, wanted: Wanted = Wanted(state="all")) -> list[Fragment]:  # noqa: B008
    """All fragments that are meant, by their numbers."""
    with room.engine.reading() as reading:
        return [it for page in pages_of(reading, wanted) for it in page]


def links_of(room: Room, *fragments: Fragment) -> set[tuple[str, str, str]]:
    """The links of these fragments: from where, to where, and how."""
    with room.engine.reading() as reading:
        found: list[Link] = reading.links([it.id for it in fragments])
    return {(it.from_id, it.to_id, it.relation) for it in found}


def state_of(room: Room) -> dict[str, str]:
    """What the room keeps by name."""
    with room.engine.reading() as reading:
        return reading.state()


def figures_of(report: Report) -> dict[str, dict[str, int]]:
    """The figures of a consolidation that are not 0."""
    return {
        step.name: some
        for step in report.steps
        if (some := {name: value for name, value in step.figures.items() if value})
    }


def whole(room: Room) -> dict[str, object]:
    """All that a room holds, but for how far its upkeep is."""
    fragments = [asdict(it) for it in all_of(room)]
    with room.engine.reading() as reading:
        ids = [str(it["id"]) for it in fragments]
        links = sorted((it.from_id, it.to_id, it.relation) for it in reading.links(ids))
        noted = [reading.entries(it) for it in (Version, Suspicion, Activity)]
        state = {it: value for it, value in reading.state().items() if "upkeep" not in it}
    return {"fragments": fragments, "links": links, "noted": noted, "state": state}
