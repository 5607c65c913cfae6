"""Reads the words of a query and finds their places in a text.

A word is found in all its forms, an identifier by its parts, Korean with any particle behind it.
`core.text.matching` says which texts that makes the best.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.text.english import FUNCTION_WORDS, forms_of
from core.text.hangul import apart, in_leads, in_letters, letters_of, without_particle
from core.text.normal_form import normal_form

WHOLE, BEGUN, ANYWHERE = range(3)  # a whole word, the beginning of one, any part of one
# What a place is worth: the word as it is typed, another form of it, its beginning, a part of it.
_SAME, _FORM, _BEGINNING, _PART = 1.0, 0.8, 0.5, 0.3
_QUERY_CHARS = 1_000
_MOST_APART = 3  # signs between the parts of an identifier: `fee_rate`, `core/text`, `a -> b`

_BLANKS = "\t-\r \x1c-\x1f\x85\u1680\u2028\u2029\ufeff"
_CHUNK = re.compile(f"[^{_BLANKS}]+")
FIRST_WIDE = "\u3040"  # from here on words run together: kana, Han, Hangul
RUN = re.compile(rf"\d+|[^\W\d_\0-\u303f]+|[^\W\d_{FIRST_WIDE}-\U0010ffff]+")
_LETTERS = re.compile(rf"[^\W\d_{FIRST_WIDE}-\U0010ffff]+")
_DIGITS = re.compile(r"\d+")
_HANGUL = re.compile("[ㄱ-ㅣ가-힣]")
_ONLY_LEADS = re.compile("[ㄱ-ㅎ]+")
_ONLY_SEPARATORS = re.compile("[-_]*")


class Place(NamedTuple):
    """Where a word of the query is in a text, and what that is worth."""

    start: int
    end: int
    worth: float


class Folded(NamedTuple):
    """A text in one spelling of Unicode, with and without its capital letters: equally long."""

    cased: str
    low: str


class _Part(NamedTuple):
    """A run of letters, digits or wide characters of the query, as the texts are searched for it.

    forms: what the word may be in a text. needles: what one of them begins with. letters: the same
    with every syllable as its letters.
    """

    text: str
    kind: str
    forms: frozenset[str]
    needles: tuple[str, ...]
    letters: tuple[str, ...]
    most_chars: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A word of the query: one part, or several that stand side by side in an identifier.

    joined: the parts as one word.
    """

    text: str
    parts: tuple[_Part, ...] = ()
    joined: _Part | None = None

    @property
    def is_leads(self) -> bool:
        """Whether the word is first consonants only."""
        return bool(_ONLY_LEADS.fullmatch(self.text))


def folded(text: str) -> Folded:
    """Return a text in one form for what reads the same: width, composed or not; and lower case."""
    cased = text if text.isascii() else apart(normal_form("NFKC", text))
    low = cased.lower()
    if len(low) != len(cased):
        low = "".join(lower if len(lower := c.lower()) == len(c) else c for c in cased)
    return Folded(cased, low if low.isascii() else low.replace("ς", "σ"))


def chunks_of(query: str) -> list[Chunk]:
    """Return the words of a query; only if there are no others, signs and words like `the`."""
    form = folded(query[:_QUERY_CHARS])
    chunks = dict[str, Chunk]()
    for found in _CHUNK.finditer(form.low):
        if found[0] not in chunks:
            chunks[found[0]] = _chunk(found[0], form.cased[found.start() : found.end()])
    telling = [
        chunk
        for text, chunk in chunks.items()
        if text not in FUNCTION_WORDS and (chunk.parts or chunk.is_leads)
    ]
    return telling or list(chunks.values())


def _chunk(low: str, cased: str) -> Chunk:
    if _ONLY_LEADS.fullmatch(low):
        return Chunk(low)
    parts, joined, end = list[_Part](), "", 0
    for run in RUN.finditer(low):
        starts = [at for at in range(run.start(), run.end()) if _changes_case(cased, at)]
        for start, stop in zip([run.start(), *starts], [*starts, run.end()], strict=True):
            if start < stop and (part := _part(low[start:stop], is_first=not parts)):
                parts.append(part)
        is_joined = _kind(run[0]) == "letter" and _ONLY_SEPARATORS.fullmatch(low, end, run.start())
        joined, end = joined + run[0] if is_joined else joined + " ", run.end()
    is_one = len(parts) > 1 and " " not in joined
    return Chunk(low, tuple(parts), _part(joined) if is_one else None)


def _part(text: str, *, is_first: bool = True) -> _Part | None:
    """Return what is looked for; nothing for a particle behind another part."""
    kind = _kind(text[0])
    if kind == "letter":
        forms = frozenset(forms_of(text))
    elif kind == "wide" and _HANGUL.match(text):
        forms = frozenset((without_particle(text, 2 if is_first else 0),))
        if forms == {""}:
            return None
    else:
        forms = frozenset((text,))
    short = sorted(forms)
    needles = [it for at, it in enumerate(short) if not any(map(it.startswith, short[:at]))]
    letters = tuple(map(in_letters, needles))
    return _Part(text, kind, forms, tuple(needles), letters, max(map(len, forms)))


def places_of(chunk: Chunk, text: Folded, level: int) -> list[Place]:
    """Return the places of a word of the query in a text."""
    if not chunk.parts:
        return list(_consonants(chunk.text, text) if chunk.is_leads else _raw(chunk.text, text))
    *others, last = chunk.parts
    places = _phrase([*(_part_places(it, text, WHOLE) for it in others)], text, last, level)
    if chunk.joined:
        places += _part_places(chunk.joined, text, level)
    if level == ANYWHERE:
        places += _raw(chunk.text, text)
    return places


def _phrase(others: list[list[Place]], text: Folded, last: _Part, level: int) -> list[Place]:
    """Return where the parts stand side by side, with nothing but a few signs between them."""
    if not all(others):
        return []
    places = _part_places(last, text, level)
    for earlier in reversed(others):
        following = {place.start: place for place in reversed(places)}
        places = []
        for place in earlier:
            for start in range(place.end, place.end + _MOST_APART + 1):
                if next_ := following.get(start):
                    places.append(Place(place.start, next_.end, min(place.worth, next_.worth)))
                    break
                if start >= len(text.low) or _kind(text.low[start]) or text.low[start] == "\n":
                    break
    return places


def _part_places(part: _Part, text: Folded, level: int) -> list[Place]:
    if part.kind == "wide":
        return list(_wide_places(part, text, level))
    places = list[Place]()
    for needle in part.needles:
        for at in _starts(needle, text.low):
            if _begins(text, at):
                places += _ended(part, text, at)
    if level != WHOLE:
        for at in _starts(part.text, text.low):
            if _begins(text, at):
                places.append(Place(at, at + len(part.text), _BEGINNING))
            elif level == ANYWHERE:
                places.append(Place(at, at + len(part.text), _PART))
    return places


def _ended(part: _Part, text: Folded, at: int) -> Iterator[Place]:
    """Yield the form that begins here, if it ends where a word or a part of a name does."""
    run = (_DIGITS if part.kind == "digit" else _LETTERS).match(
        text.low, at, at + part.most_chars + 1
    )
    end = run.end() if run else at
    ends = [end]
    if text.cased[at:end] != text.low[at:end]:
        ends += [inner for inner in range(at + 1, end) if _changes_case(text.cased, inner)]
    for stop in ends:
        word = text.low[at:stop]
        if word in part.forms:
            yield Place(at, stop, _SAME if word == part.text else _FORM)


def _wide_places(part: _Part, text: Folded, level: int) -> Iterator[Place]:
    """Yield where a word of a script without blanks is, with anything before and behind it.

    A single syllable of Hangul begins a word.
    """
    (needle,) = part.forms
    is_short = len(needle) == 1 and bool(_HANGUL.match(needle))
    for at in _starts(needle, text.low):
        if not is_short or _begins(text, at):
            yield Place(at, at + len(needle), _SAME if _begins(text, at) else _FORM)
        elif level == ANYWHERE:
            yield Place(at, at + len(needle), _PART)
    if level != WHOLE and _HANGUL.match(part.text):
        yield from _in_letters(part.text, text)


def _in_letters(word: str, text: Folded) -> Iterator[Place]:
    """Yield where the letters of a word are, the last syllable of which may not be finished."""
    letters, sought = in_letters(text.low), in_letters(word)
    if sought not in letters:
        return
    place_of = list[int]()  # the place in the text of each letter
    for at, char in enumerate(text.low):
        place_of += [at] * len(letters_of(char))
    for at in _starts(sought, letters):
        yield Place(place_of[at], place_of[at + len(sought) - 1] + 1, _BEGINNING)


def _consonants(word: str, text: Folded) -> Iterator[Place]:
    """Yield where syllables begin with these consonants; a single one begins a word."""
    for at in _starts(word, in_leads(text.low)):
        if len(word) > 1 or _begins(text, at):
            yield Place(at, at + len(word), _BEGINNING)


def _raw(word: str, text: Folded) -> Iterator[Place]:
    for at in _starts(word, text.low):
        yield Place(at, at + len(word), _PART)


def _starts(needle: str, low: str) -> Iterator[int]:
    at = low.find(needle)
    while at >= 0:
        yield at
        at = low.find(needle, at + 1)


def _begins(text: Folded, at: int) -> bool:
    """Return whether a run of letters, digits or wide characters, or a part of a name, begins."""
    if not at or _kind(text.low[at - 1]) != _kind(text.low[at]):
        return True
    return _changes_case(text.cased, at)


def _changes_case(cased: str, at: int) -> bool:
    """Return whether a part of a name begins here: `fee|Rate`, `HTTP|Server`."""
    if not ("A" <= cased[at] <= "Z" and at):
        return False
    before, after = cased[at - 1], cased[at + 1 : at + 2]
    if "a" <= before <= "z":
        return True
    return "A" <= before <= "Z" and "a" <= after <= "z"


def _kind(char: str) -> str:
    """Return the kind of a character, "" for a sign; a word ends where it changes."""
    if not char.isalnum():
        return ""
    if char.isdecimal():
        return "digit"
    return "wide" if char >= FIRST_WIDE else "letter"


def mapped(places: Sequence[tuple[int, int]], text: str, form: Folded) -> list[tuple[int, int]]:
    """Return places of a form as places of the text itself, none where that cannot be told."""
    starts, ends, built = list[int](), list[int](), ""
    for found in re.finditer(r"(?s:.)[\u0300-\u036f\u1160-\u11ff\u3099\u309a\uff9e\uff9f]*", text):
        piece = folded(found[0]).low
        built += piece
        starts += [found.start()] * len(piece)
        ends += [found.end()] * len(piece)
    if built != form.low:
        return []
    return [(starts[start], ends[end - 1]) for start, end in places]
