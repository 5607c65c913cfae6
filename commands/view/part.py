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

    section: lines of HTML, below the lessons. kinds, makers: what can be chosen of it as type and
    as author, by the value, under the headings of `titles` (lessons, this; people, these). words:
    sentences of the page that read otherwise, by their keys. keys: further keys of the keyboard,
    with what each does. style, script: what follows those of the page.
    """

    figures: tuple[Figure, ...]
    section: tuple[str, ...]
    kinds: Mapping[str, str]
    makers: Mapping[str, str]
    titles: tuple[str, str, str, str]
    words: Mapping[str, str]
    keys: Mapping[str, str]
    style: str
    script: str
