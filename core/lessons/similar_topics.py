"""Finds topics that may be one: spelled alike, one within the other, of the same words. Pure."""

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, takewhile
from typing import Literal

from core.text.plain import normal_form
from core.text.wording import scope_of

Reason = Literal["case", "words", "prefix", "contains", "spelling"]

PREFIX_LETTERS = 4
SPELLING_RATIO = 0.8
TOPICS_COMPARED = 500  # every pair is looked at
MOST_SPELLED = 5_000  # pairs of one call whose spelling is compared to the last letter
COMPARED_CHARS = 64  # no topic that was saved is longer, and the comparison is quadratic

_SEPARATORS = re.compile(r"[-_/.\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarTopics:
    """Two topics that may be one, and why. shared: the letters or words they have in common."""

    topic: str
    other: str
    reason: Reason
    shared: str = ""


def similar_topics(
    topics: Sequence[str], among: Collection[str] | None = None
) -> list[SimilarTopics]:
    """Return pairs of different topics that may mean the same, each pair once.

    among: only pairs with one of these topics. Without it, call it with no more than
    TOPICS_COMPARED. Of very many pairs that look alike not all are compared letter by letter.
    """
    spelled = _Spelling()
    shapes = {topic: _Shape.of(topic) for topic in dict.fromkeys(topics)}
    pairs: Iterable[tuple[str, str]] = combinations(shapes, 2)
    if among is not None:
        wanted = set(among)
        pairs = (
            (one, other)
            for at, one in enumerate(shapes)
            for other in islice(shapes, at + 1, None)
            if one in wanted or other in wanted
        )
    found = []
    for topic, other in pairs:
        reason, shared = _likeness(shapes[topic], shapes[other], spelled)
        if reason:
            found.append(SimilarTopics(topic=topic, other=other, reason=reason, shared=shared))
    return found


def similar_to(topic: str, topics: Sequence[str]) -> list[str]:
    """Return the topics that resemble `topic`, the closest spelling first."""
    shape, spelled = _Shape.of(topic), _Spelling()
    alike = [
        other
        for other in topics
        if other != topic and _likeness(shape, _Shape.of(other), spelled)[0]
    ]
    return closest_first(topic, alike)


def worth_using(topics: Iterable[str]) -> list[str]:
    """Return those topics that are neither too broad nor too narrow, in the order given."""
    return [topic for topic in topics if not scope_of(topic)]


def topic_to_keep(pair: SimilarTopics) -> str:
    """Return the one of two similar topics that both should become; "" where nothing decides.

    The broader one, unless it breaks the rules for topics.
    """
    topics = worth_using((pair.topic, pair.other))
    if len(topics) == 1:
        return topics[0]
    shapes = {topic: _Shape.of(topic) for topic in topics}
    if pair.reason == "words" and topics:
        return min(shapes, key=lambda topic: len(shapes[topic].words))
    if pair.reason == "contains" and topics:
        return min(shapes, key=lambda topic: len(shapes[topic].folded))
    return ""


def closest_first(topic: str, topics: Iterable[str]) -> list[str]:
    """Sort topics by how alike they are spelled, ties in the order given."""
    folded = _fold(topic[:COMPARED_CHARS])

    def distance(other: str) -> float:
        other = _fold(other[:COMPARED_CHARS])
        return -difflib.SequenceMatcher(None, folded, other, autojunk=False).ratio()

    return sorted(topics, key=distance)


@dataclass(frozen=True)
class _Shape:
    """A topic prepared once for many comparisons."""

    folded: str
    words: frozenset[str]

    @classmethod
    def of(cls, topic: str) -> "_Shape":
        folded = _fold(topic[:COMPARED_CHARS])
        return cls(folded, frozenset(word for word in _SEPARATORS.split(folded) if word))

    @cached_property
    def matcher(self) -> difflib.SequenceMatcher[str]:
        return difflib.SequenceMatcher(None, "", self.folded, autojunk=False)

    @cached_property
    def letters(self) -> frozenset[str]:
        return frozenset(self.folded)


def _fold(topic: str) -> str:
    return normal_form("NFKC", topic).casefold()


def _likeness(one: _Shape, two: _Shape, spelled: "_Spelling") -> tuple[Reason | None, str]:
    if one.folded == two.folded:
        return "case", one.folded
    if one.words and two.words and (one.words <= two.words or two.words <= one.words):
        return "words", " ".join(sorted(one.words & two.words))
    if one.folded[:PREFIX_LETTERS] == two.folded[:PREFIX_LETTERS]:
        prefix = _common_letters(one.folded, two.folded)
        if len(prefix) >= PREFIX_LETTERS:
            return "prefix", prefix
    shorter, longer = sorted((one.folded, two.folded), key=len)
    if len(shorter) >= 2 and shorter in longer and _unspaced(shorter):
        return "contains", shorter
    return ("spelling", "") if spelled.alike(one, two) else (None, "")


def _common_letters(one: str, two: str) -> str:
    """Return the letters with which both begin."""
    pairs = takewhile(
        lambda pair: pair[0] == pair[1] and pair[0].isalpha(), zip(one, two, strict=False)
    )
    return "".join(letter for letter, _ in pairs)


def _unspaced(text: str) -> bool:
    """Say whether a script writes compounds without a separator: Hangul, Han, kana and the like."""
    return all(char >= "\u1100" for char in text if char.isalpha()) and any(map(str.isalpha, text))


class _Spelling:
    """Compares how topics are spelled, which takes long: so many of them at most."""

    def __init__(self) -> None:
        self._left = MOST_SPELLED

    def alike(self, one: _Shape, two: _Shape) -> bool:
        """Return whether two topics are nearly spelled alike."""
        lengths = len(one.folded), len(two.folded)
        if 2 * min(lengths) < SPELLING_RATIO * sum(lengths):
            return False  # the ratio cannot be reached; most pairs end here
        if one.letters.isdisjoint(two.letters) or self._left <= 0:
            return False
        matcher = two.matcher
        matcher.set_seq1(one.folded)
        if matcher.quick_ratio() < SPELLING_RATIO:
            return False
        self._left -= 1
        return matcher.ratio() >= SPELLING_RATIO
