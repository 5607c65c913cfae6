"""Defines what another kind of memory adds to the page beside the lessons."""

from collections.abc import Mapping
from typing import NamedTuple


class Figure(NamedTuple):
    """A figure under the title. target: the id that it leads to; state: what the page shows then,
    in the words of its address, "" for all.
    """

    label: str
    number: int
    target: str
    state: str = ""


class Part(NamedTuple):
    """What is added to a page, with texts that are not yet HTML, but for `section`.

    title: what it is called, name: the same within a sentence. shown: how many of it stand there.
    section: lines of HTML, below the lessons. kinds: what can be chosen of it as type, by the
    value. agents: those that made it, who can be chosen. keys: further keys of the keyboard, with
    what each does. style: what follows that of the page.
    """

    title: str
    name: str
    shown: int
    figures: tuple[Figure, ...]
    section: tuple[str, ...]
    kinds: Mapping[str, str]
    agents: frozenset[str]
    style: str
    keys: Mapping[str, str] = {}
