"""Ranks texts for a question, says how much of it each text has, and makes one list of all rooms.

Without an index all texts, joined and in one spelling, are scanned for a few dozen short terms, and
BM25 weighs the finds. Synonyms and translations are unknown. The entries of several rooms are
ranked at once, by how common words are in all rooms.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate, chain
from math import log
from typing import Any, Literal, NamedTuple

from core.errors import SentinelError
from core.text.plain import fold_text
from core.text.terms import (
    FIRST_WIDE,
    INNER_PART,
    INNER_START,
    Term,
    kind_of,
    names_with_sign,
    one_spelling,
    terms_of,
)

_K1 = 0.9  # how soon a repeated term stops adding to the score
_B = 0.4  # how much a long text is damped: little, since records are short
# Neighbours are often about the same, and a short text says little itself: one of so many
# characters gains this share of its neighbour's score, a longer one less.
_NEIGHBOUR, _SHORT_CHARS = 0.2, 60
_WEAK_WEIGHT = 0.5  # for pieces of a word, or a long word would outweigh the rest of the question
_COMMON_RECORDS = 100  # a word found in more than these is no typing error: its pieces add little
# How often one of very many texts is looked through for a term: a long question would take its
# time, and its last words are left out.
_MOST_SCANS, _LEAST_SCANS = 4_000_000, 12

# One pair of characters of a word that has several: the beginning may be all but an ending, any
# other pair is mostly the middle of another word.
_BEGINNING_WEIGHT, _MIDDLE_WEIGHT = 0.5, 0.2
# So many texts without the word are added: a few texts do not tell which words are common.
_OTHER_TEXTS = 50
# A text with a smaller share of a question is no candidate. Nothing is found unless one text has
# two words of the question, or one that is so much of it. Worked out on half of the questions of
# dialogues and on lessons, among 8 to 700 texts: benchmarks/README.md.
_LEAST_SHARE, _ALONE_SHARE = 0.15, 0.3

Source = Literal["lesson", "fragment", "session"]
_RANK: Mapping[Source, int] = {"lesson": 2, "fragment": 1, "session": 0}
_STEPS = 50  # of relevance: two entries of one step are equally relevant


class Frequencies(NamedTuple):
    """How common the words of a question are, where only some of all texts are ranked.

    counts: by strong term of `terms_of`, how many of `texts` have it. A missing term is as common
    as in the ranked texts.
    """

    texts: int
    counts: Mapping[Term, int]


class TermCount(NamedTuple):
    """A strong term, and how many texts have it.

    numbers: the texts with it that were looked at; None for a term too common to tell.
    """

    term: Term
    texts: int
    numbers: Sequence[int] | None


class Coverage(NamedTuple):
    """Which texts have which terms of a question, in its order."""

    total: int
    terms: Sequence[TermCount]

    def frequencies(self) -> Frequencies:
        return Frequencies(self.total, {count.term: count.texts for count in self.terms})

    def shares(self, least: float = 0.0, *, any_word: bool = False) -> dict[int, float]:
        """Return by text its share of the question, above 0 and at most 1; rare words count more.

        least: a text must have it. any_word: words that no text has do not count for `least`.
        """
        places, rarity = self._weigh_terms()
        shares = word_shares = _shares(places, rarity)
        if any_word:
            words = {term.run for term, numbers in places.items() if numbers}
            word_places = {term: places[term] for term in places if term.run in words}
            word_shares = _shares(word_places, rarity)
        return {number: shares[number] for number, share in word_shares.items() if share >= least}

    def good_shares(self) -> dict[int, float]:
        """Return the share of the question by text, for the texts that may be an answer.

        The greatest share comes first, of equals the later text. A word that no text has counts no
        more than the rarest that any has: few texts miss a word by chance.
        """
        places, rarity = self._weigh_terms()
        most = max((rarity[term] for term, numbers in places.items() if numbers), default=0.0)
        rarity.update((term, min(rarity[term], most)) for term in places if not places[term])
        good = [(share, n) for n, share in _shares(places, rarity).items() if share >= _LEAST_SHARE]
        return {number: share for share, number in sorted(good, reverse=True)}

    def may_answer(self, parts: Mapping[int, float], numbers: Iterable[int]) -> bool:
        """Return whether one of these texts has enough for any to be an answer."""
        numbers_by_word: dict[str, set[int]] = {}  # the texts that have something of each word
        for count in self.terms:
            if not count.term.is_spare:
                numbers_by_word.setdefault(count.term.run, set()).update(count.numbers or ())
        word_counts = Counter(chain.from_iterable(numbers_by_word.values()))
        return any(parts[number] >= _ALONE_SHARE or word_counts[number] > 1 for number in numbers)

    def _weigh_terms(self) -> tuple["_Places", dict[Term, float]]:
        """Return the places of the terms, and the rarity of each."""
        # In the order of the question: the first pair of a word counts for more.
        places = {count.term: count.numbers for count in self.terms if count.numbers is not None}
        most, total = self.total, self.total + _OTHER_TEXTS
        return places, {count.term: _rarity(min(count.texts, most), total) for count in self.terms}


_Places = Mapping[Term, Sequence[int]]  # which texts have a term


class Ranking:
    """The order of texts for one question.

    query: its first 1,000 characters count. texts: in the order of writing. frequencies: of all
    texts, where an index has chosen these, in no order; among these, its words would seem common.
    scores: by text; a missing one has nothing of the question.
    """

    def __init__(
        self, query: str, texts: Sequence[str], frequencies: Frequencies | None = None
    ) -> None:
        self._count = len(texts)
        self._total, self._text_counts = frequencies or Frequencies(len(texts), {})
        words = _find_hits(query, texts) if texts else []
        self._hits = [strong for strong, *_ in words]
        text_chars, scores = [len(text) for text in texts], dict[int, float]()
        mean_chars = sum(text_chars) / (len(text_chars) or 1) or 1.0
        short_damping, char_damping = _K1 * (1 - _B), _K1 * _B / mean_chars
        for hits in [*self._hits, *(piece for word in words for piece in word[1:])]:
            weight = (_K1 + 1) * _rarity(self._count_with(hits), self._total)
            weight *= _WEAK_WEIGHT if hits.term.is_weak else 1.0
            for index, times in hits.times.items():
                damping = short_damping + char_damping * text_chars[index]
                scores[index] = scores.get(index, 0.0) + weight * times / (times + damping)
        self.scores = scores
        if not frequencies:  # a text gains from its better neighbour
            self.scores = {
                index: score
                + _NEIGHBOUR
                * max(scores.get(index - 1, 0.0), scores.get(index + 1, 0.0))
                * min(1.0, _SHORT_CHARS / (text_chars[index] or 1))
                for index, score in scores.items()
            }

    def order(self) -> list[int]:
        """Return the indexes of all texts, the most relevant first; of equals, the later first.

        Without any usable term the newest come first.
        """
        scores = self.scores
        others = (index for index in reversed(range(self._count)) if index not in scores)
        return [*sorted(scores, key=lambda index: (scores[index], index), reverse=True), *others]

    def coverage(self) -> Coverage:
        terms = [TermCount(hits.term, self._count_with(hits), [*hits.times]) for hits in self._hits]
        return Coverage(self._total, terms)

    def topics(self, topics: Sequence[str]) -> list[str]:
        """Return each topic once, that of the most relevant text first.

        topics: of each text, which should also hold it. Of equals, the topic of more texts comes
        first, then the last one used.
        """
        best: dict[str, float] = {}
        counts = Counter(topics)
        for index, topic in reversed([*enumerate(topics)]):
            best[topic] = max(best.get(topic, 0.0), self.scores.get(index, 0.0))
        return sorted(best, key=lambda topic: (-best[topic], -counts[topic]))

    def _count_with(self, hits: "_Hits") -> int:
        ranked_count = len(hits.times)
        text_count = self._text_counts.get(hits.term, ranked_count * self._total // self._count)
        return min(max(text_count, ranked_count), self._total)


def _rarity(text_count: int, total: int) -> float:
    return log(1 + (total - text_count + 0.5) / (text_count + 0.5))


def _shares(places: _Places, rarity: Mapping[Term, float]) -> dict[int, float]:
    """Return the share of a question by text.

    Only pairs of characters that any text has count: others lie where two words meet, or in an
    ending. One pair of several counts little: it may be the middle of another word.
    """
    words: dict[str, list[Term]] = {}
    for term in places:
        if not term.is_spare or term.needle[0] < FIRST_WIDE:
            words.setdefault(term.run, []).append(term)
    worths = {run: _worths(terms, places, rarity) for run, terms in words.items()}
    greatest = {
        run: max(rarity[term] for term in list(filter(places.get, terms)) or terms)
        for run, terms in words.items()
        if not all(term.is_spare for term in terms)
    }
    for run in [run for run in words if run not in greatest]:  # other forms add what they lack
        related_words = [word for word in greatest if word in run or run in word]
        for number, worth in worths[run].items():
            for word in related_words:
                old_worth = worths[word].get(number, 0.0)
                worths[word][number] = min(greatest[word], old_worth + worth)
                worth -= worths[word][number] - old_worth
    total = sum(greatest.values())
    sums: dict[int, float] = {}
    for word in greatest:
        for number, worth in worths[word].items():
            sums[number] = sums.get(number, 0.0) + worth
    return {number: share / total if total else 1.0 for number, share in sums.items() if share}


def _worths(
    terms: Sequence[Term], places: _Places, rarity: Mapping[Term, float]
) -> dict[int, float]:
    found_terms = [term for term in terms if places[term]]
    most = max(map(rarity.__getitem__, found_terms), default=0.0)
    if len(terms) == 1 or terms[0].needle[0] < FIRST_WIDE:
        return dict.fromkeys(chain.from_iterable(places[term] for term in terms), most)
    pairs: dict[int, list[Term]] = {}
    for term in found_terms:
        for number in places[term]:
            pairs.setdefault(number, []).append(term)
    rarity_sum = sum(map(rarity.__getitem__, found_terms))
    worths: dict[int, float] = {}
    for number, pair_terms in pairs.items():
        weight = 1.0
        if len(pair_terms) == 1:
            weight = _BEGINNING_WEIGHT if pair_terms[0] == terms[0] else _MIDDLE_WEIGHT
        worths[number] = weight * most * sum(map(rarity.__getitem__, pair_terms)) / rarity_sum
    return worths


class _Hits(NamedTuple):
    term: Term
    times: Mapping[int, int]


class _ScannedTexts(NamedTuple):
    """Texts in the form that is scanned: NFKC, caseless.

    joined_text: each on a line. starts: of each, and the end. respelled_texts: those whose
    characters lost their places.
    """

    texts: Sequence[str]
    joined_text: str
    starts: Sequence[int]
    respelled_texts: set[int]


def _find_hits(query: str, texts: Sequence[str]) -> list[list[_Hits]]:
    most = max(_MOST_SCANS // len(texts), _LEAST_SCANS)
    words = terms_of(query)[:most]
    if not words:
        return []
    scanned_texts, pieces_left = _scan_texts(tuple(texts)), max(most - len(words), _LEAST_SCANS)
    hits_by_word = list[list[_Hits]]()
    for strong, *pieces in words:
        hits = _count_hits(strong, scanned_texts)
        chosen_pieces = [] if len(hits.times) > _COMMON_RECORDS else pieces[:pieces_left]
        hits_by_word.append([hits, *(_count_hits(piece, scanned_texts) for piece in chosen_pieces)])
        pieces_left -= len(chosen_pieces)
    return hits_by_word


@lru_cache(maxsize=1)  # the next question mostly asks the same texts
def _scan_texts(texts: Sequence[str]) -> _ScannedTexts:
    plain_texts, respelled_texts = list[str](), set[int]()
    for index, text in enumerate(texts):
        form = one_spelling(text)
        folded_text = form.casefold()
        names = names_with_sign(folded_text)
        if len(folded_text) != len(text) or form != text or names:
            respelled_texts.add(index)
            folded_text = " ".join([form, *re.findall(INNER_PART, form), *names]).casefold()
        plain_texts.append(folded_text)
    starts = list(accumulate([len(text) + 1 for text in plain_texts], initial=1))
    return _ScannedTexts(texts, "\n".join(["", *plain_texts, ""]), starts, respelled_texts)


def _count_hits(term: Term, scanned_texts: _ScannedTexts) -> _Hits:
    """Return how often each text has a term.

    A term that `begins` must begin a run of letters, digits or wide characters, or a part of a
    name; one that `ends` must end one, or stand before a plural's `s`.
    """
    texts, joined_text, starts, respelled_texts = scanned_texts
    times: dict[int, int] = {}
    index = end = 0
    needle, kind = term.needle, kind_of(term.needle[0])
    has_end = term.ends and needle[-1].isascii()
    follows = re.compile("(?![0-9])" if needle.isdigit() else "s?(?![a-z])")
    next_place = joined_text.find(needle)
    while next_place >= 0:
        place, next_place = next_place, joined_text.find(needle, next_place + len(needle))
        if place >= end:
            index = bisect_right(starts, place, index) - 1
            end = starts[index + 1]
        original, start = "" if index in respelled_texts else texts[index], place - starts[index]
        is_begun = not term.begins or kind_of(joined_text[place - 1]) != kind
        is_ended = not has_end or follows.match(joined_text, place + len(needle))
        if (is_begun or INNER_START.match(original, start)) and (
            is_ended or INNER_START.match(original, start + len(needle))
        ):
            times[index] = times.get(index, 0) + 1
    return _Hits(term, times)


# one list of several rooms


class Entry(NamedTuple):
    """One thing, `item`, of a room that may answer a question.

    text: compared with the question. statements: () if no other entry can repeat it.
    line: returns it for a model. worth: orders the equally relevant of its room. nearness: of its
    vector to the question's, 0 to 1.
    """

    source: Source
    id: str
    text: str
    statements: tuple[str, ...]
    line: Callable[[], str]
    worth: tuple[float, str, int] = (0.0, "", 0)
    nearness: float | None = None
    item: Any = None

    def labelled_line(self) -> str:
        return f"{self.source} {self.line()}"


class Entries(NamedTuple):
    """The entries of one room for a question. frequencies: of its words in the whole room."""

    entries: Sequence[Entry] = ()
    frequencies: Frequencies = Frequencies(0, {})


Gather = Callable[[str], Entries]


def gather_all(rooms: Sequence[Gather], question: str) -> list[Entries]:
    """Return each room's entries; a room that cannot be read has none now."""
    finds = list[Entries]()
    for gather in rooms:
        with suppress(SentinelError, OSError):
            finds.append(gather(question))
    return finds


def rank_entries(question: str, finds: Sequence[Entries]) -> list[Entry]:
    """Return the entries, the most relevant first.

    Of equally relevant ones lessons come first, then fragments, then sessions. An entry that
    repeats lessons is left out.
    """
    text_counts, lesson_statements = Counter[Term](), set[str]()
    for room in finds:
        text_counts.update(room.frequencies.counts)
        for entry in room.entries:
            if entry.source == "lesson":
                lesson_statements.update(map(fold_text, entry.statements))

    def is_repeated(entry: Entry) -> bool:
        statements = {words for statement in entry.statements if (words := fold_text(statement))}
        return entry.source != "lesson" and bool(statements) and statements <= lesson_statements

    entries = [entry for room in finds for entry in room.entries if not is_repeated(entry)]
    texts = sum(room.frequencies.texts for room in finds)
    relevance = _relevance(question, entries, Frequencies(texts, text_counts))
    best = max(relevance, default=0.0) or 1.0

    def key(index: int) -> tuple[int, int, tuple[float, str, int]]:
        entry = entries[index]
        return round(relevance[index] / best * _STEPS), _RANK[entry.source], entry.worth

    return [entries[index] for index in sorted(range(len(entries)), key=key, reverse=True)]


def _relevance(question: str, entries: Sequence[Entry], frequencies: Frequencies) -> list[float]:
    """Return the worth of each entry for the question, from 0 to 1.

    Words count as ranked, times the text's share of the question. A vector counts for half, and
    words for less where no text has much of the question. An entry without a vector is as near as
    its words say.
    """
    ranking = Ranking(question, [entry.text for entry in entries], frequencies)
    scores, shares = ranking.scores, ranking.coverage().shares()
    worths = [scores.get(index, 0.0) * shares.get(index, 0.0) for index in range(len(entries))]
    best = max(worths, default=0.0) or 1.0
    word_worths = [worth / best for worth in worths]
    known_nearness = [entry.nearness for entry in entries if entry.nearness is not None]
    if not known_nearness:
        return word_worths
    share, nearest = max(shares.values(), default=0.0), max(known_nearness)
    return [
        0.5 * worth * share + 0.5 * (worth * nearest if entry.nearness is None else entry.nearness)
        for worth, entry in zip(word_worths, entries, strict=True)
    ]
