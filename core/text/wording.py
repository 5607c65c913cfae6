"""Judges how a record is worded: topics too broad, too narrow or like others, code in a text.

No save is refused for it. A false alarm costs more than a miss: each test asks for a plain sign.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple

from core.data import shape, word_list
from core.text.plain import normal_form

if TYPE_CHECKING:
    from difflib import SequenceMatcher

Scope = Literal["broad", "narrow"]
Reason = Literal["case", "words", "prefix", "contains", "spelling"]

TOPICS_COMPARED = 500  # every pair is looked at

_PREFIX_LETTERS, _SPELLING_RATIO = 4, 0.8
_MOST_SPELLED = 5_000  # pairs of one call whose spelling is compared to the last letter
_TOPIC_CHARS = 64  # no topic that was saved is longer, and the comparison is quadratic
_MOST_WORDS = 5

_WORD_ENDS = r"[-_/.\s]+"
_REPAIR_ENDS = ("버그수정", "오류수정", "에러수정", "버그픽스")
_LEAST_CODE_LINES, _LEAST_STATEMENTS = 3, 2


def scope_of(topic: str) -> Scope | None:
    """Return "broad" for a topic that names everything, "narrow" for one ticket.

    Narrow: a date, a year, a ticket's number, a word for a repair beside others, a verb of change
    before two words or a version, more than five words. A product's year and a standard's number
    are allowed.
    """
    text = normal_form("NFKC", topic[:_TOPIC_CHARS])
    words = [word for word in shape("topic_separator").split(text.casefold()) if word]
    if "".join(words) in word_list("broad_topics"):
        return "broad"
    if not words:
        return None
    first, pairs = words[0], list(zip(words, [*words[1:], ""], strict=True))
    names = [name for name, word in pairwise(["", *words]) if shape("topic_year").fullmatch(word)]
    has_moment = any(name not in word_list("named_by_year") for name in names) or (
        not names and shape("topic_date").search(text.casefold())
    )
    has_ticket = any(
        match[1] not in word_list("standards") for match in shape("topic_ticket").finditer(text)
    ) or any(word in word_list("ticket_words") and next_word.isdigit() for word, next_word in pairs)
    if len(words) == 1:
        has_change = first.endswith(_REPAIR_ENDS)
    else:
        verbs = word_list("verbs_of_change")
        has_version = any(map(shape("topic_version").fullmatch, words))
        has_change = (
            (first in verbs and (len(words) > 2 or has_version))
            or (first in word_list("verbs_of_versions") and has_version)
            or any(
                word in word_list("repairs") and next_word not in word_list("things_of_repairs")
                for word, next_word in pairs
            )
        )
    is_long = len(words) > _MOST_WORDS
    return "narrow" if is_long or has_moment or has_ticket or has_change else None


class SimilarTopics(NamedTuple):
    """Two topics that may be one, and why. shared: their common letters or words."""

    topic: str
    other: str
    reason: Reason
    shared: str = ""


def similar_topics(
    topics: Iterable[str], among: Collection[str] | None = None
) -> list[SimilarTopics]:
    """Return each pair of different topics that may mean the same.

    among: only pairs with one of these; without it, pass at most TOPICS_COMPARED.
    """
    names, comparison = list(dict.fromkeys(topics)), _Comparison()
    pairs = ((topic, other) for index, topic in enumerate(names) for other in names[index + 1 :])
    if among is not None:
        pairs = (pair for pair in pairs if pair[0] in among or pair[1] in among)
    return [pair for topic, other in pairs if (pair := comparison.compare(topic, other))]


def find_similar(topic: str, topics: Iterable[str]) -> list[str]:
    """Return the topics that may mean the same, the closest in spelling first."""
    comparison = _Comparison()

    def likeness(other: str) -> float:
        matcher = _topic_forms(other).matcher
        matcher.set_seq1(_topic_forms(topic).spelling)
        return matcher.ratio()

    similar = (other for other in topics if other != topic and comparison.compare(topic, other))
    return sorted(similar, key=likeness, reverse=True)


def usable_topics(topics: Iterable[str]) -> list[str]:
    return [topic for topic in topics if not scope_of(topic)]


def topic_to_keep(pair: SimilarTopics) -> str:
    """Return the broader topic that keeps the rules, "" where nothing decides."""
    topics = usable_topics((pair.topic, pair.other))
    if len(topics) == 1:
        return topics[0]
    if topics and pair.reason == "words":
        return min(topics, key=lambda topic: len(_topic_forms(topic).words))
    if topics and pair.reason == "contains":
        return min(topics, key=lambda topic: len(_topic_forms(topic).text))
    return ""


class _TopicForms:
    def __init__(self, topic: str) -> None:
        self.text = normal_form("NFKC", topic[:_TOPIC_CHARS]).casefold()
        self.words = frozenset(word for word in re.split(_WORD_ENDS, self.text) if word)
        # Hangul by letters: 메세지 is 메시지. Of two syllables too many words differ by a letter.
        self.spelling = unicodedata.normalize("NFD", self.text) if len(self.text) > 2 else self.text
        self.letters = frozenset(self.spelling)

    @cached_property
    def matcher(self) -> "SequenceMatcher[str]":
        from difflib import SequenceMatcher  # a hook compares no topics

        return SequenceMatcher(None, "", self.spelling, autojunk=False)


_topic_forms = lru_cache(maxsize=2 * TOPICS_COMPARED)(_TopicForms)


class _Comparison:
    """Compares many topics, at most _MOST_SPELLED pairs of them to the last letter."""

    def __init__(self) -> None:
        self._comparisons_left = _MOST_SPELLED

    def compare(self, topic: str, other: str) -> SimilarTopics | None:
        first, second = _topic_forms(topic), _topic_forms(other)
        if first.text == second.text:
            return SimilarTopics(topic, other, "case", first.text)
        words = first.words & second.words
        if words and words in (first.words, second.words):
            return SimilarTopics(topic, other, "words", " ".join(sorted(words)))
        letters = zip(first.text, second.text, strict=False)
        pairs = takewhile(lambda pair: pair[0] == pair[1] and pair[0].isalpha(), letters)
        prefix = "".join(letter for letter, _ in pairs)
        if len(prefix) >= _PREFIX_LETTERS:
            return SimilarTopics(topic, other, "prefix", prefix)
        shorter, longer = sorted((first.text, second.text), key=len)
        is_unspaced = all(char >= "\u1100" for char in shorter if char.isalpha())
        has_letters = any(map(str.isalpha, shorter))
        if len(shorter) >= 2 and shorter in longer and is_unspaced and has_letters:
            return SimilarTopics(topic, other, "contains", shorter)
        fewer, more = sorted((len(first.spelling), len(second.spelling)))
        if 2 * fewer < _SPELLING_RATIO * (fewer + more):
            return None  # the ratio cannot be reached; most pairs end here
        if first.letters.isdisjoint(second.letters) or self._comparisons_left <= 0:
            return None
        second.matcher.set_seq1(first.spelling)
        if second.matcher.quick_ratio() < _SPELLING_RATIO:
            return None
        self._comparisons_left -= 1
        is_alike = second.matcher.ratio() >= _SPELLING_RATIO
        return SimilarTopics(topic, other, "spelling") if is_alike else None


def is_source_code(text: str) -> bool:
    """Return whether a text holds a fenced block or a diff, or is mostly code.

    Code: three lines that look like it, or a block in braces with two statements.
    """
    if shape("fence_or_diff").search(text):
        return True
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    code_lines = sum(bool(shape("code_line").match(line)) for line in lines)
    if code_lines >= _LEAST_CODE_LINES and 2 * code_lines > len(lines):
        return True
    return text.count(";") >= _LEAST_STATEMENTS and all(sign in text for sign in "{}()=")
