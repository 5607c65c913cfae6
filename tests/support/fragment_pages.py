"""Makes pages with fragments, from fragments as they are given and without a database."""

from collections.abc import Mapping, Sequence

from commands.view.fragments.collection import collection_of
from commands.view.fragments.reading import Found
from commands.view.fragments.section import part_of
from commands.view.html import page_html
from commands.view.page import page_of
from commands.view.part import Part
from core.config import Settings
from core.lessons.answers import Frame
from core.lessons.log import MemoryLog
from core.lessons.record import Record
from core.messages import Language
from rooms.fragments.fragment import Fragment, Link, Version
from rooms.fragments.kinds import Relation
from tests.support.fragment_samples import LINKS, sample_fragments
from tests.support.samples import LATER
from tests.support.sentences import in_language

Ends = tuple[int, int, Relation]


def found_of(
    fragments: Sequence[Fragment],
    links: Sequence[Ends] = (),
    versions: Mapping[str, Sequence[Version]] | None = None,
    *,
    total: int | None = None,
) -> Found:
    """These fragments as they are read. links: by their places in the list."""
    versions = versions or {}
    return Found(
        fragments=fragments,
        total=len(fragments) if total is None else total,
        links=[
            Link(from_id=fragments[one].id, to_id=fragments[other].id, relation=relation)
            for one, other, relation in links
        ],
        versions=versions,
        counts={id_: len(some) for id_, some in versions.items()},
    )


def sample_found(count: int = 20, total: int | None = None) -> Found:
    """Sample fragments with their links, and two versions of the first."""
    fragments = sample_fragments(count)
    versions = [
        Version(fragment_id="frag0001", content=f"Below {most} characters", amended_by="codex")
        for most in (80, 72)
    ]
    links = [it for it in LINKS if max(it[0], it[1]) < count]
    return found_of(fragments, links, {"frag0001": versions}, total=total)


def page_with_fragments(
    found: Found,
    *records: Record | bytes,
    lang: Language = "en",
    about: str = "about_own",
    parts: Sequence[Part] = (),
) -> str:
    """The page of these records and fragments. parts: what stands before the fragments."""
    log = MemoryLog.parse(b"".join(it if isinstance(it, bytes) else it.to_line() for it in records))
    frame = Frame(project="/shop", settings=Settings())
    page = page_of(log, frame, project="shop", now=LATER)
    part = in_language(lang, part_of, collection_of(found), about=about)
    return in_language(lang, page_html, page, "", [*parts, part])
