"""Makes fragments as agents leave them, in both languages, with links and versions, from a seed.

    engine = make_sample_fragments(tmp_path / "memory.db", 40)

The same seed makes the same fragments. Dates run up to NEWEST. They are stored through the engine.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from core.text.plain import estimate_tokens
from rooms.fragments.fragment import TYPES, Fragment, Link, Relation, Version, hash_of
from rooms.fragments.storage.sqlite import SqliteEngine
from tests.support.stdio_client import ROOT

NEWEST = datetime(2026, 11, 20, 17, 30, tzinfo=UTC)
AGENTS = ("claude-code", "cursor-vscode", "codex", "default")


class Told(NamedTuple):
    """What one sample says, and how it is special."""

    kind: str
    topic: str
    content: str
    keywords: Sequence[str]
    special: Mapping[str, Any]


_WORDS = json.loads((ROOT / "tests/data/fragment_words.json").read_text("utf-8"))
TOLD = [Told(*it) for it in _WORDS["told"]]
LINKS: list[tuple[int, int, Relation]] = [(one, to, how) for one, to, how in _WORDS["links"]]

SUPERSEDED = 7


def sample_fragments(count: int = len(TOLD), *, seed: int = 7) -> list[Fragment]:
    """That many fragments, oldest first; behind those that are told, the same with a number."""
    chance, fragments = random.Random(seed), list[Fragment]()
    moment = NEWEST - timedelta(days=3 * count)
    for at in range(count):
        moment += timedelta(minutes=chance.randrange(600, 8_000)) if at else timedelta()
        moment = min(moment, NEWEST)
        told, again = TOLD[at % len(TOLD)], at // len(TOLD)
        content = f"{told.content} ({again})" if again else told.content
        fragments.append(a_fragment(at + 1, content, told, moment, chance))
    return fragments


def a_fragment(
    number: int, content: str, told: Told, moment: datetime, chance: random.Random
) -> Fragment:
    """One fragment, not stored."""
    now = moment.isoformat(timespec="seconds")
    row = TYPES[told.kind]
    plain = Fragment(
        number=number,
        id=f"frag{number:04d}",
        content=content,
        topic=told.topic,
        keywords=tuple(told.keywords),
        kind=row.kind,
        lifetime=row.lifetime,
        importance=row.importance,
        content_hash=hash_of(content),
        source=chance.choice(("", "", "session of 2026-11-02", "docs/runbook.md")),
        agent=chance.choice(AGENTS),
        created_at=now,
        updated_at=now,
        estimated_tokens=estimate_tokens(content),
    )
    made = replace(plain, **told.special)
    if made.access_count:
        made = replace(made, accessed_at=NEWEST.isoformat(timespec="seconds"))
    if made.is_anchor:
        made = replace(made, tier="permanent")
    if made.lifetime == "working":
        end = moment + timedelta(hours=48)
        made = replace(made, expires_at=end.isoformat(timespec="seconds"))
    return replace(made, superseded_at=now) if number - 1 == SUPERSEDED else made


def make_sample_fragments(path: Path, count: int = len(TOLD), *, seed: int = 7) -> SqliteEngine:
    """The engine of a file with these fragments, their links, and two versions of one."""
    fragments = sample_fragments(count, seed=seed)
    ids = [it.id for it in fragments]
    links = [
        Link(from_id=ids[one], to_id=ids[other], relation=relation, created_at=it.created_at)
        for one, other, relation in LINKS
        if max(one, other) < count
        for it in [fragments[one]]
    ]
    versions = [
        Version(
            fragment_id=ids[0],
            content=f"Keep commit subjects below {most} characters.",
            topic="writing",
            kind="preference",
            amended_at=f"2026-0{month}-01T09:00:00+00:00",
            amended_by="codex",
        )
        for month, most in ((3, 80), (6, 72))
    ]
    return keep_fragments(path, fragments, links, versions)


def keep_fragments(
    path: Path,
    fragments: Sequence[Fragment],
    links: Sequence[Link] = (),
    versions: Sequence[Version] = (),
) -> SqliteEngine:
    """The engine of a file with these rows, as they are."""
    engine = SqliteEngine(path, timeout_s=5)
    with engine.writing() as writing:
        writing.add(fragments)
        writing.put_links(links)
        writing.note(versions)
    return engine
