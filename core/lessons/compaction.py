"""Prepares a compaction: groups records by topic, finds similar topics, joins questions.

Pure: the same log gives the same offer. The model that reads it decides and summarises.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, takewhile
from typing import Literal

from core.errors import ThresholdError
from core.lessons.record import LIMITS_BYTES, Record
from core.text.normal_form import normal_form
from core.text.wording import scope_of

Need = Literal["required", "optional", "pointless"]
Reason = Literal["case", "words", "prefix", "contains", "spelling"]

PREFIX_LETTERS = 4
SPELLING_RATIO = 0.8
TOPICS_COMPARED = 500  # every pair is looked at
MOST_SPELLED = 5_000  # pairs of one call whose spelling is compared to the last letter
COMPARED_CHARS = 64  # no topic that was saved is longer, and the comparison is quadratic

_SEPARATORS = re.compile(r"[-_/.\s]+")
_SENTENCE_ENDS = re.compile(r"[?!.](?=\s|$)|[？！。]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The records of one topic, in the order of the file.

    questions: their `ask_next_time` joined, whole ones only, within the limit of that field.
    questions_left_out: how many do not fit.
    """

    topic: str
    records: tuple[Record, ...]
    questions: str
    questions_left_out: int

    @property
    def already_compact(self) -> bool:
        """One principle and nothing else: there is nothing to merge."""
        return len(self.records) == 1 and self.records[0].type == "principle"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarTopics:
    """Two topics that may be one, and why. shared: the letters or words they have in common."""

    topic: str
    other: str
    reason: Reason
    shared: str = ""


def check_threshold(threshold: int) -> None:
    """Raise ThresholdError (a ValueError) unless the threshold is 1 or more."""
    if threshold < 1:
        raise ThresholdError


def is_required(records: Sequence[Record], threshold: int) -> bool:
    """Return whether compaction is required: above the threshold, not at it, and of use."""
    return len(records) > threshold and not _is_compact(records)


def _is_compact(records: Sequence[Record]) -> bool:
    """Return whether each topic is one principle: then there is nothing to merge."""
    topics = {record.topic for record in records if record.type == "principle"}
    return len(topics) == len(records)


def need_for(groups: Sequence[Group], count: int, threshold: int) -> Need:
    """Return the need: pointless if no group has things to merge, required above the threshold."""
    if all(group.already_compact for group in groups):
        return "pointless"
    return "required" if count > threshold else "optional"


def group_by_topic(records: Iterable[Record]) -> list[Group]:
    """Return one group for each topic, in the order in which the topics first appear."""
    by_topic: dict[str, list[Record]] = {}
    for record in records:
        by_topic.setdefault(record.topic, []).append(record)
    groups = []
    for topic, members in by_topic.items():
        questions, left_out = join_questions([member.ask_next_time for member in members])
        groups.append(
            Group(
                topic=topic,
                records=tuple(members),
                questions=questions,
                questions_left_out=left_out,
            )
        )
    return groups


def join_questions(questions: Iterable[str]) -> tuple[str, int]:
    """Join the different questions by spaces, whole ones only; return also how many did not fit."""
    joined, left_out = "", 0
    for question in dict.fromkeys(" ".join(text.split()) for text in questions):
        longer = f"{joined} {question}".strip()
        if len(longer.encode("utf-8", "replace")) <= LIMITS_BYTES["ask_next_time"]:
            joined = longer
        else:
            left_out += 1
    return joined, left_out


def shorten_question(text: str, limit_bytes: int = LIMITS_BYTES["ask_next_time"]) -> str:
    """Return a text's beginning within the limit: up to a question's end, else whole characters.

    A question that ends in the first half does not count, since too much would be lost.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= limit_bytes:
        return text
    fitting = encoded[:limit_bytes].decode("utf-8", "ignore")
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text, 0, len(fitting) + 1)]
    last = max((end for end in ends if end <= len(fitting)), default=0)
    return fitting[:last] if 2 * last >= len(fitting) else fitting


def fit_question(record_type: str | None, question: str | None) -> tuple[str | None, int]:
    """Return a principle's question within the limit, and its bytes before (0: not shortened).

    The questions of many originals seldom fit. The store refuses the question of a log.
    """
    used_bytes = len((question or "").encode("utf-8", "surrogatepass"))
    if record_type != "principle" or not question or used_bytes <= LIMITS_BYTES["ask_next_time"]:
        return question, 0
    return shorten_question(question), used_bytes


def compared_topics(groups: Sequence[Group]) -> list[str]:
    """Return the topics that `similar_topics` may compare: of very many those with most records."""
    if len(groups) > TOPICS_COMPARED:
        groups = sorted(groups, key=lambda group: -len(group.records))[:TOPICS_COMPARED]
    return [group.topic for group in groups]


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


def resembled(topic: str, topics: Mapping[str, int]) -> list[str]:
    """Return the topics worth using that one with a single record resembles, the closest first.

    topics: those of a log, each with the number of its records.
    """
    return worth_using(similar_to(topic, list(topics))) if topics[topic] == 1 else []


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
