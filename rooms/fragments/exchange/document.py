"""What every form of an exported document is made of: its head, and fragments whole."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.messages import Language
from rooms.fragments.exchange.lines import Row
from rooms.fragments.exchange.words import say
from rooms.fragments.fragment import Fragment, Version

MARK = "sentinel-memory-fragments"  # in the first line of each form: an export may replace it
VERSION = 1


@dataclass(frozen=True, slots=True)
class Head:
    """What a document says of itself. exported: the moment, in ISO 8601.

    count: of its fragments; private: how many of these are private.
    """

    count: int
    private: int
    exported: str
    lang: Language


class Joint(NamedTuple):
    """A link as one of its ends has it: its word in a document, and the other end."""

    word: str
    other: Fragment


class Whole(NamedTuple):
    """A fragment with its links to others in the document, and what it said before."""

    fragment: Fragment
    joints: Sequence[Joint] = ()
    versions: Sequence[Version] = ()


class Form(NamedTuple):
    """One form of document. begins: with what every document of it begins, also after years.

    rows: writes it of everything, one row after the other; wholes: of fragments for people, those
    of a topic together. A form has one of the two.
    """

    suffixes: tuple[str, ...]
    begins: str
    rows: Callable[[Head, Iterator[Row]], Iterator[str]] | None = None
    wholes: Callable[[Head, Iterator[Whole]], Iterator[str]] | None = None


def facts_of(fragment: Fragment, lang: Language) -> list[str]:
    """Return what is known of a fragment beside its texts, a few words each."""
    saved, corrected = fragment.created_at[:10], fragment.updated_at[:10]
    return [
        say(lang, fragment.kind),
        say(lang, "importance", importance=f"{fragment.importance:.1f}"),
        *([say(lang, "pinned")] if fragment.is_anchor else ()),
        say(lang, "saved", date=saved),
        *([say(lang, "corrected", date=corrected)] if corrected > saved else ()),
    ]
