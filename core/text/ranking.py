"""Puts records in order: those whose words fit a question first, the newer before the older.

There is no index and no dictionary. A question becomes a few dozen short terms, and all texts,
joined and in one spelling, are scanned for them, in English and Korean alike; BM25 weighs what was
found. What it cannot do: synonyms and translations. A Korean question finds an English record only
by words both contain. The file is long because what is looked for follows from how texts are read.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import log
from typing import NamedTuple

from core.text.english import FUNCTION_WORDS, OTHER_FORMS, stem_of

_K1 = 0.9  # how soon a repeated term stops adding to the score
_B = 0.4  # how much a long text is damped: little, since records are short
# What was written just before or after is often about the same, and a short text says little
# itself: one of so many characters gains this share of its neighbour's score, a longer one less.
_NEIGHBOUR, _SHORT_CHARS = 0.2, 60
_GRAM_CHARS = 4
_WEAK_WEIGHT = 0.5  # for pieces of a word, or a long word would outweigh the rest of the question
_COMMON_RECORDS = 100  # a word found in more than these is no typing error: its pieces add little
_QUERY_CHARS = 1_000  # the time of a search grows with the words of its question
_WHOLE_CHARS = 3  # a stem this short must be the whole word, or `api` would find `apiary`

# More texts than these are scanned for the rarest terms only: once enough are found, the others
# only tell these apart. Pieces are those of words that no text has, while the bytes to scan last.
_MOST_EXACT = 1_000
_ENOUGH = 4_000  # found texts times scans: the more of these were needed, the fewer are enough
_SAMPLE_BYTES = 200_000
_PIECES_BYTES = 8_000_000
_BATCH = 500  # texts that are folded together: they stay in the cache of the processor
_KEPT_BYTES = 64_000_000
_MOST_DECODED = 3_000  # of a text, where a name may have parts: or a very long one takes forever

# From this letter on (kana, Han, Hangul) words run together or carry particles: pairs of
# characters are looked for there, whole words before it.
_FIRST_WIDE = "\u3040"
_RUN = re.compile(rf"[^\W\d_\0-\u303f]+|[^\W_{_FIRST_WIDE}-\U0010ffff]+")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")
_CASE_CHANGE = r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))"
_INNER_START = re.compile(_CASE_CHANGE)
_INNER_PART = re.compile(_CASE_CHANGE + r"(?:[A-Z]*(?![a-z])|[a-z]*)")
_SEPARATOR = re.compile(r"(?<=\w)[-_]+(?=\w)")

# Texts are compared as UTF-8: lower case, and a blank for all in ASCII that is no letter or digit.
_BLANK = ord(" ")
_LOWER = bytes(ord(chr(it).lower()) if chr(it).isalnum() else _BLANK for it in range(128)) + bytes(
    range(128, 256)
)
# First bytes of what may have another spelling: all but ASCII, Han and Hangul; and what follows
# where there is none: in signs such as the section mark, the sign of multiplication, dashes,
# quotes, arrows and frames, in most kana, in Hangul behind the letters of some other scripts.
_CHANGED_SIGNS = {*b"\xa0\xa8\xaa\xaf", *range(0xB2, 0xB6), *range(0xB8, 0xBF)}
_CHANGED_LETTERS = {*range(0x99, 0xA0), *range(0xAC, 0xAF)}
_OTHERS = bytes([*range(0xC4, 0xE2), *range(0xEE, 0xF5)])
_MARKS = bytes.maketrans(
    b"\1\2\3\4\5\6\xc3\xe2\xe3\xc2\xea" + _OTHERS,
    b"\0\0\0\0\0\0\2\3\4\5\6" + b"\1" * len(_OTHERS),
)
_UNCHANGED = {
    b"\1": b"",
    b"\5": bytes({*range(0x80, 0xC0)} - _CHANGED_SIGNS),
    b"\6": bytes({*range(0x80, 0xC0)} - _CHANGED_LETTERS),
    b"\2": b"\x97\xb7",
    b"\3": bytes([0x80, *range(0x86, 0x8D), *range(0x94, 0x98)]),
    b"\4": b"\x80\x81\x83",
}


class _Term(NamedTuple):
    """A piece of the question, and whether a word of the text must begin or end with it.

    A weak term only supports the strong one before it. Among many texts, one that follows is
    looked for only where others were found, since it rarely stands alone.
    """

    needle: bytes
    begins: bool = False
    ends: bool = False
    weak: bool = False
    follows: bool = False


class _Reading(NamedTuple):
    """Texts in the form that is scanned. joined: all of them, with a blank around each.

    starts: where each begins there, and the end. respelled: those that could not be taken over
    character by character.
    """

    texts: tuple[str, ...]
    joined: bytes
    starts: list[int]
    respelled: set[int]
    mean_chars: float


_kept: list[_Reading] = []  # the last one: the next question mostly meets the same texts


def rank(query: str, texts: Sequence[str]) -> list[int]:
    """Indexes of `texts`, the most relevant to `query` first; of equals the later (newer) first.

    query: words, a question or keywords, in any mixture of languages; only its first 1,000
    characters count. texts: in the order in which they were written. Any string is allowed on
    both sides, empty ones, NUL and lone surrogates, too.

    A text in which something is found gains a little from a neighbour that is relevant, the more
    the shorter it is: what was written one after the other is often about the same.

    Every index appears once: nothing is filtered. A query without any usable term (empty,
    punctuation, English function words only) gives newest first. The same arguments give the same
    order in every process.

    Words are compared without case, in compatibility forms (NFKC), English ones by their stems and
    irregular forms, identifiers also by their parts (`feeRate`, `fee_rate`), Korean and others
    that run together by pairs of characters. A typing error is survived by most English words.
    Synonyms and translations are not found: put them into the query.

    The time grows with the bytes of the texts and with the different words of the query;
    `benchmarks/ranking.py` measures it. Of more than 1,000 texts those that have only the most
    common words of the query may come behind all others that have any, by age alone, and a typing
    error is survived by fewer words. The last texts are kept for the next call when they have at
    most 64 MB in UTF-8, beside a second form of that size.
    """
    found = rank_hits(query, texts)
    rest = set(range(len(texts))).difference(found)
    return found + sorted(rest, reverse=True)


def rank_hits(query: str, texts: Sequence[str]) -> list[int]:
    """The first part of `rank`: only the texts in which something of the query was found."""
    scores = _leaning(_scores(query, texts), texts)
    return sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)


def _leaning(scores: dict[int, float], texts: Sequence[str]) -> dict[int, float]:
    """The scores of texts that lean on their better neighbours: see _NEIGHBOUR."""
    get = scores.get
    return {
        at: score
        + _NEIGHBOUR
        * max(get(at - 1, 0.0), get(at + 1, 0.0))
        * min(1.0, _SHORT_CHARS / (len(texts[at]) or 1))
        for at, score in scores.items()
    }


def rank_topics(query: str, topics: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Each topic once, that of the text most relevant to `query` first.

    topics: the topic of each text, which should also stand in the text. Of equals, and without a
    usable query, the topic of more texts comes first, then the one that was used last.
    """
    best: dict[str, float] = {}
    counts: dict[str, int] = {}
    scores = _leaning(_scores(query, texts), texts)
    for index in reversed(range(len(texts))):
        topic = topics[index]
        counts[topic] = counts.get(topic, 0) + 1
        best[topic] = max(best.get(topic, 0.0), scores.get(index, 0.0))
    return sorted(best, key=lambda topic: (-best[topic], -counts[topic]))


def _scores(query: str, texts: Sequence[str]) -> dict[int, float]:
    """BM25 of the texts in which something was found, by their indexes."""
    scores: dict[int, float] = {}
    words = _words(query)
    if not words or not texts:
        return scores
    reading = _read(texts)
    if len(texts) > _MOST_EXACT:
        _score_many(words, reading, scores)
        return scores
    doubtful: list[_Term] = []
    for strong, *pieces in words:
        hits = _everywhere(strong, reading)
        _add(scores, strong, hits, len(hits), reading)
        if len(hits) <= _COMMON_RECORDS:
            doubtful += pieces
    for piece in doubtful:
        hits = _everywhere(piece, reading)
        _add(scores, piece, hits, len(hits), reading)
    return scores


def _score_many(words: list[list[_Term]], reading: _Reading, scores: dict[int, float]) -> None:
    """The same for many texts, in less time: see _MOST_EXACT."""
    count = len(reading.texts)
    sample = reading.joined[-_SAMPLE_BYTES:]
    terms = [strong for strong, *_ in words]
    if reading.joined.isascii():  # a long question in another script would scan it for nothing
        terms = [term for term in terms if term.needle.isascii()]
    terms.sort(key=lambda term: (term.follows, sample.count(term.needle)))
    scanned = 0
    halves_left = _PIECES_BYTES // len(reading.joined)
    for term in terms:
        if (scores and term.follows) or len(scores) * scanned >= _ENOUGH + count // 10:
            hits = _among(term, reading, sorted(scores))
            _add(scores, term, hits, len(hits) * count // len(scores), reading)
            continue
        scanned += 1
        hits = _everywhere(term, reading)
        _add(scores, term, hits, len(hits), reading)
        for half in [] if hits else _halves(term)[:halves_left]:
            halves_left -= 1
            hits = _everywhere(half, reading)
            _add(scores, half, hits, len(hits), reading)


def _add(
    scores: dict[int, float], term: _Term, hits: dict[int, int], found: int, reading: _Reading
) -> None:
    """Add what a term is worth. hits: how often texts have it. found: how many do."""
    count = len(reading.texts)
    rarity = log(1 + (count - found + 0.5) / (found + 0.5))
    weight = (_K1 + 1) * rarity * (_WEAK_WEIGHT if term.weak else 1.0)
    short, longer = _K1 * (1 - _B), _K1 * _B / reading.mean_chars
    for index, times in hits.items():
        damping = short + longer * len(reading.texts[index])
        scores[index] = scores.get(index, 0.0) + weight * times / (times + damping)


def _read(texts: Sequence[str]) -> _Reading:
    """All texts in one piece, since one long scan is faster than many short ones."""
    given = tuple(texts)
    for kept in _kept:
        if kept.texts == given:
            return kept
    batches, lengths, respelled = [], [], set[int]()
    for first in range(0, len(given), _BATCH):
        encoded, changed = _spelled(given[first : first + _BATCH])
        batches.append(b"\n".join(encoded).translate(_LOWER))
        lengths += [len(text) + 1 for text in encoded]
        respelled.update(first + index for index in changed)
    joined = b" ".join([b"", *batches, b""])
    starts = list(accumulate(lengths, initial=1))
    mean_chars = sum(map(len, given)) / len(given) or 1.0
    reading = _Reading(given, joined, starts, respelled, mean_chars)
    _kept[:] = [reading] if len(joined) <= _KEPT_BYTES else []
    return reading


def _spelled(texts: Sequence[str]) -> tuple[list[bytes], set[int]]:
    """Texts in UTF-8 and one spelling (NFKC, caseless but for ASCII); the indexes of the changed.

    These also have the inner parts of camelCase names, which are not found there by their capitals.
    """
    try:
        encoded = list(map(str.encode, texts))
    except UnicodeEncodeError:  # a lone surrogate
        encoded = list(map(_encoded, texts))
    joined = b"\n".join(encoded)
    changed = set() if joined.isascii() else _to_respell(joined.translate(_MARKS), encoded)
    for index in changed:
        text = unicodedata.normalize("NFKC", texts[index])
        encoded[index] = _encoded(" ".join([text, *_INNER_PART.findall(text)]).casefold())
    return encoded, changed


def _to_respell(marked: bytes, encoded: Sequence[bytes]) -> set[int]:
    starts = list(accumulate([len(text) + 1 for text in encoded], initial=0))
    found = set[int]()
    for mark, unchanged in _UNCHANGED.items():
        place = marked.find(mark)
        while place >= 0:
            following = place + 1
            if marked[following] not in unchanged:
                index = bisect_right(starts, place) - 1
                found.add(index)
                following = starts[index + 1]
            place = marked.find(mark, following)
    return found


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


def _words(query: str) -> list[list[_Term]]:
    """Strong terms, each with the weak ones that support it."""
    words: list[list[_Term]] = []
    for term in dict.fromkeys(_terms(query)):
        if term.weak and words:
            words[-1].append(term)
        else:
            words.append([term])
    return words


def _terms(query: str) -> Iterator[_Term]:
    for run in _runs(query):
        if run[0] >= _FIRST_WIDE:
            for start in range(len(run) - 1):
                yield _Term(run[start : start + 2].encode(), follows=start % 2 > 0)
            yield _Term(run[0].encode(), begins=True, weak=len(run) > 1)
        elif run.isdecimal():
            yield _Term(run.encode(), begins=True, ends=True)
        elif run.isalpha():
            yield from _word_terms(run)
        else:
            yield _Term(run.encode(), begins=True)


def _runs(query: str) -> Iterator[str]:
    """Runs of letters and digits; `feeRate`, `fee_rate` and `utf8` as parts and joined."""
    query = unicodedata.normalize("NFKC", query[:_QUERY_CHARS])
    split = _INNER_START.sub(r" \g<0>", query)
    joined = _SEPARATOR.sub("", query)
    for run in _RUN.findall(f"{split} {joined}".casefold()):
        yield run
        if run[0] < _FIRST_WIDE:
            yield from _LETTERS_OR_DIGITS.findall(run)


def _word_terms(word: str) -> Iterator[_Term]:
    """The stem of an English word and its padded 4-grams, which survive a typing error."""
    if len(word) == 1 or word in FUNCTION_WORDS:
        return
    for form in OTHER_FORMS.get(word, ()):
        yield _Term(form.encode(), begins=True, ends=True, follows=True)
    stem = stem_of(word)
    yield _Term(stem.encode(), begins=True, ends=len(stem) <= _WHOLE_CHARS)
    if len(stem) >= _GRAM_CHARS - 1:
        yield _Term(stem[: _GRAM_CHARS - 1].encode(), begins=True, weak=True)
        grams = [stem[start : start + _GRAM_CHARS] for start in range(len(stem) - _GRAM_CHARS + 1)]
        for gram in grams[::2] + grams[1::2]:
            yield _Term(gram.encode(), weak=True)
        if stem == word:
            yield _Term(word[1 - _GRAM_CHARS :].encode(), ends=True, weak=True)


def _halves(term: _Term) -> list[_Term]:
    """Both halves of an English word: a typing error is in one of them only."""
    needle = term.needle
    if len(needle) <= _WHOLE_CHARS + 1 or not needle.isalpha():
        return []
    middle = max(_WHOLE_CHARS, len(needle) // 2)
    first = _Term(needle[:middle], begins=True, weak=True)
    return [first, _Term(needle[middle:], weak=True)][: 1 + (len(needle) >= 2 * _WHOLE_CHARS)]


def _everywhere(term: _Term, reading: _Reading) -> dict[int, int]:
    """How often each text has `term`, by the indexes of those that do."""
    hits: dict[int, int] = {}
    joined, starts = reading.joined, reading.starts
    index = end = 0
    for place in _places(term, joined, 0, len(joined)):
        if place >= end:
            index = bisect_right(starts, place, index) - 1
            end = starts[index + 1]
        if not term.begins or joined[place - 1] == _BLANK or _begins(term, reading, index, place):
            hits[index] = hits.get(index, 0) + 1
    return hits


def _among(term: _Term, reading: _Reading, indexes: Iterable[int]) -> dict[int, int]:
    """The same for some of the texts."""
    hits: dict[int, int] = {}
    joined, starts = reading.joined, reading.starts
    for index in indexes:
        start, end = starts[index], starts[index + 1]
        if joined.find(term.needle, start, end) >= 0:
            places = _places(term, joined, start, end)
            times = sum(not term.begins or _begins(term, reading, index, place) for place in places)
            if times:
                hits[index] = times
    return hits


def _places(term: _Term, joined: bytes, start: int, end: int) -> Iterator[int]:
    """Where `term` stands, whatever stands before it; a plural counts as the end of its word."""
    needle = term.needle
    if term.ends and needle[-1] < 128:
        follows = rb"(?![0-9])" if needle.isdigit() else rb"(?=s?(?![a-z]))"
        for found in re.compile(needle + follows).finditer(joined, start, end):
            yield found.start()
        return
    place = joined.find(needle, start, end)
    while place >= 0:
        yield place
        place = joined.find(needle, place + len(needle), end)


def _begins(term: _Term, reading: _Reading, index: int, place: int) -> bool:
    """Whether a run of letters, of digits or of wide characters, or a part of a name begins."""
    joined, text = reading.joined, reading.texts[index]
    before = place - 1
    while joined[before] & 0xC0 == 0x80:  # inside a character
        before -= 1
    if _kind(_decoded(joined[before:place])) != _kind(term.needle.decode()[0]):
        return True
    start = reading.starts[index]
    is_far = place - start > _MOST_DECODED
    if is_far or index in reading.respelled or not term.needle[:1].isalpha():
        return False
    at = place - start if text.isascii() else len(_decoded(joined[start:place]))
    return bool(_INNER_START.match(text, at))


def _kind(char: str) -> str:
    """What a word's border is judged by: a run ends where this changes."""
    if char.isdecimal():
        return "digit"
    if not char.isalpha():
        return ""
    return "wide" if char >= _FIRST_WIDE else "letter"
