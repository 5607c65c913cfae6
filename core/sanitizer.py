"""The redactor: takes secrets out of any text and leaves everything else as it is.

Every rule of `data/rules.jsonl` runs on the original text; the spans found are merged, and one
marker replaces each. Rules with a name and a value (`password = "…"`) find only the beginning;
`secrets/named_values.py` decides whether the value beside it is a secret.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from core.secrets.named_values import keyed_spans
from core.secrets.rules import TOKENS, Rule, compiled, rules, rules_of, spelled
from core.secrets.text_forms import forms_of
from core.secrets.value_ends import value_end
from core.secrets.values import is_hex, is_paired, is_placeholder
from core.secrets.windows import WINDOW_CHARS, spans_in_windows

MARKER = "[REDACTED]"

_REPEATABLE = r"(?=[!-~]{0,512}[0-9])(?=[!-~]{0,512}[A-Za-z])[!-~]{8,512}"
_LONG_WORD = "[!-~]{16,}"
_LONGEST_TOKEN = 4_096
_LONGEST_GLUED = 512
_MOST_PASSES = 4  # no more than so many secrets hang together in a text that people write
_MOST_TRIES = 2_000  # of a rule at a place where a token touches another
_FEW_VALUES = 8
_BEGINNING = 8
_PIECE_SIZE = 3
_SAMPLE = r"([xX*.0-9])\1{7}|EXAMPLE"  # of documentation; by chance in no token
_SAMPLE_CHARS = 10
_CUT_OFF = r"(?:\.{3}|…)[\"'`]"  # a key of which only the beginning is shown

_Span = tuple[int, int, int]  # start, end, number of the rule


class Secret(NamedTuple):
    """Where a secret stands in a text, and the name of the rule that found it."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets, and the name of the rule that found each."""

    text: str
    kinds: tuple[str, ...]


def sanitize(text: str) -> str:
    """Return `text` with `[REDACTED]` in place of every API key, token and password in it."""
    return redact(text).text


def redact(text: str, known: Mapping[str, str] | None = None) -> Redaction:
    """Return `text` with the marker in place of every secret; redacting twice changes nothing."""
    secrets = find(text, known)
    if not secrets:
        return Redaction(text, ())
    return Redaction(replaced(text, secrets), tuple(secret.kind for secret in secrets))


def find(text: str, known: Mapping[str, str] | None = None) -> list[Secret]:
    """Return every secret of `text` in the order of place; none overlaps or touches another.

    known: values that were found in another text, each with its kind; see `values_in`.
    """
    values = {value: _numbers()[kind] for value, kind in (known or {}).items()}
    found = spans_in_windows(text, lambda window: _found_in(window, values))
    if len(text) > WINDOW_CHARS:
        values = {text[start:end]: rule for start, end, rule in found}
        found = _joined([*found, *_repeated(text, values)])
    return [Secret(start, end, rules()[rule].name) for start, end, rule in found]


def _found_in(text: str, known: Mapping[str, int]) -> list[_Span]:
    """Return every secret of a window in order of place; none touches another."""
    found = _joined(_repeated(text, known))
    shown = replaced(text, found) if found else text
    passes = 0
    while spans := _merged(_spans(shown)):  # a replaced token can bare the edge of its neighbour
        passes += 1
        if passes > _MOST_PASSES:
            spans = _widened(shown, spans, passes - _MOST_PASSES)
        new = _before_replacing(found, spans)
        values = {text[start:end]: rule for start, end, rule in new}
        found = _joined([*found, *new, *_repeated(text, values)])
        shown = replaced(text, found)
    return found


def values_in(texts: Iterable[str]) -> dict[str, str]:
    """Return the secrets of some texts with their kinds, to look for each in the others."""
    return {text[it.start : it.end]: it.kind for text in texts for it in find(text)}


def replaced(text: str, spans: Iterable[tuple[int, int, object]]) -> str:
    """Return `text` with the marker in place of each span: start, end, and anything."""
    parts, at = [], 0
    for start, end, _ in spans:
        parts += [text[at:start], MARKER]
        at = end
    return "".join([*parts, text[at:]])


def _repeated(text: str, values: Mapping[str, int]) -> Iterator[_Span]:
    """Yield where values that were found stand without a sign beside them.

    Many values are looked for by their first characters, at once: a search for each of them would
    take the square of the text's length.
    """
    sought = [it for it in values if compiled(_REPEATABLE).fullmatch(it) and not is_hex(it)]
    if len(sought) <= _FEW_VALUES:
        for value in sought:
            at = text.find(value)
            while at >= 0:
                end = at + len(value)
                if _stands_alone(text, at, end):
                    yield at, end, values[value]
                at = text.find(value, end)
        return
    beginnings: dict[str, list[str]] = {}
    for value in sorted(sought, key=len, reverse=True):
        beginnings.setdefault(value[:_BEGINNING], []).append(value)
    at = 0
    while at <= len(text) - _BEGINNING:
        for value in beginnings.get(text[at : at + _BEGINNING], ())[:_FEW_VALUES]:
            end = at + len(value)
            if text.startswith(value, at) and _stands_alone(text, at, end):
                yield at, end, values[value]
                at = end - 1
                break
        at += 1


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (_is_alnum(text[start - 1 : start]) or _is_alnum(text[end : end + 1]))


def _is_alnum(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _before_replacing(found: Sequence[_Span], spans: Iterable[_Span]) -> list[_Span]:
    """Return where `spans` of a text with markers stand in the text before they were put in."""
    markers, shifts = list[int](), [0]
    for start, end, _ in found:
        markers.append(start + shifts[-1])
        shifts.append(shifts[-1] + len(MARKER) - (end - start))

    def origin(place: int, *, at_end: bool) -> int:
        """Return the place in the original text; within a marker, an edge of what it replaced."""
        before = bisect_left(markers, place)
        if before and place < markers[before - 1] + len(MARKER):
            return found[before - 1][1] if at_end else found[before - 1][0]
        return place - shifts[before]

    return [
        (origin(start, at_end=False), origin(end, at_end=True), rule) for start, end, rule in spans
    ]


def _spans(text: str) -> Iterator[_Span]:
    """Yield the place of every secret, overlaps and all, in each form that `text` is read in."""
    for form, places in forms_of(text):
        for start, end, rule in _spans_of(form):
            yield (*places.origin(start, end), rule) if places else (start, end, rule)


def _spans_of(text: str) -> Iterator[_Span]:
    folded = text.casefold()
    called = list(_called(folded))
    tokens: list[_Span] = []
    for number in called:
        rule = rules()[number]
        for start, end in _found(text, rule):
            if rule.table in TOKENS:
                tokens.append((start, end, number))
            else:
                yield start, end, number
    yield from tokens
    yield from _glued(text, tokens, [it for it in called if rules()[it].table in TOKENS])
    for start, end, name in keyed_spans(text, folded):
        if text[start:end].replace(MARKER, ""):
            yield start, end, _numbers()[name]


def _glued(text: str, tokens: Sequence[_Span], called: Sequence[int]) -> Iterator[_Span]:
    """Yield the tokens that stand before or behind others without an edge between them.

    Where very many hang together, the rest of the word is taken for one.
    """
    starts = {start: number for start, _, number in tokens}
    ends = {end: number for _, end, number in tokens}
    tried = [(number, _expression(rules()[number])) for number in called]
    tries, done = 0, 0
    for at in sorted(ends.keys() - starts.keys()):
        number = ends[at]
        while at >= done and _is_alnum(text[at : at + 1]) and at not in starts:
            starts[at] = number
            tries += len(tried)
            if tries > _MOST_TRIES:
                done = next((it.start() for it in compiled(r"\s").finditer(text, at)), len(text))
                yield at, done, number
            elif span := _at_start(text[at : at + _LONGEST_TOKEN], tried):
                yield at + span[0], at + span[1], span[2]
                at += span[3]
    done = len(text)
    for at in sorted(starts.keys() - ends.keys(), reverse=True):
        number = starts[at]
        while 0 < at <= done and _is_alnum(text[at - 1]) and at not in ends:
            ends[at] = number
            first = max(0, at - _LONGEST_GLUED)
            tries += len(tried)
            if tries > _MOST_TRIES:
                done = max(text.rfind(" ", 0, at), text.rfind("\n", 0, at)) + 1
                yield done, at, number
            elif span := _at_end(text[first:at], tried):
                yield first + span[0], first + span[1], span[2]
                at = first + span[3]


_Tried = Sequence[tuple[int, re.Pattern[str]]]  # rules with their numbers


def _at_start(piece: str, tried: _Tried) -> tuple[int, int, int, int] | None:
    """Return the token with which a text begins, the number of its rule, and where to go on."""
    for number, pattern in tried:
        match = pattern.match(piece)
        if match and match.end():
            return *match.span(rules()[number].group), number, match.end()
    return None


def _at_end(piece: str, tried: _Tried) -> tuple[int, int, int, int] | None:
    """Return the token with which a text ends, the number of its rule, and where to go on."""
    for number, pattern in tried:
        matches = list(pattern.finditer(piece))
        if matches and matches[-1].end() == len(piece):
            return *matches[-1].span(rules()[number].group), number, matches[-1].start()
    return None


def _widened(text: str, spans: Sequence[_Span], excess: int) -> list[_Span]:
    """Return spans that reach further, the more so the longer secrets go on to turn up.

    At first each is as long as its word, then one reaches from the first to the last, at last over
    the whole text: what hangs together so was made to hold the program up.
    """
    if excess > 2 * _MOST_PASSES:
        return [(0, len(text), spans[0][2])]
    if excess > _MOST_PASSES:
        return [(spans[0][0], spans[-1][1], spans[0][2])]
    return _merged(_whole_words(text, spans))


def _whole_words(text: str, spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield the spans, each as long as the word that it is a part of."""
    spaces = [match.start() for match in compiled(r"\s").finditer(text)]
    for start, end, rule in spans:
        before, after = bisect_left(spaces, start), bisect_left(spaces, end)
        word_start = spaces[before - 1] + 1 if before else 0
        yield word_start, spaces[after] if after < len(spaces) else len(text), rule


@cache
def _numbers() -> dict[str, int]:
    return {rule.name: number for number, rule in enumerate(rules())}


def _called(folded: str) -> Iterator[int]:
    """Yield the numbers of the rules of which a hint is in the text.

    A token that names itself is long and in one piece, which few texts have at all.
    """
    long_words = " ".join(compiled(_LONG_WORD).findall(folded))
    if long_words:
        yield from _hinted(long_words, *_hints(*TOKENS))
    yield from _hinted(folded, *_hints("place", "pair"))


_Hint = tuple[str, tuple[int, ...]]  # and the numbers of the rules that it calls for


def _hinted(folded: str, index: dict[str, list[_Hint]], short: list[_Hint]) -> dict[int, None]:
    called: dict[int, None] = {}
    pieces = {folded[at : at + _PIECE_SIZE] for at in range(len(folded))}
    for piece in index.keys() & pieces:
        for hint, numbers in index[piece]:
            if hint in folded:
                called.update(dict.fromkeys(numbers))
    for hint, numbers in short:
        if hint in folded:
            called.update(dict.fromkeys(numbers))
    return called


@cache
def _hints(*tables: str) -> tuple[dict[str, list[_Hint]], list[_Hint]]:
    """Return the hints of some tables by a rare piece of each, and those shorter than a piece."""
    called: dict[str, list[int]] = {}
    for rule in rules_of(*tables):
        for hint in rule.hints:
            called.setdefault(hint, []).append(_numbers()[rule.name])
    index: dict[str, list[_Hint]] = {}
    short: list[_Hint] = []
    for hint, numbers in called.items():
        places = range(len(hint) - _PIECE_SIZE + 1)
        pieces = [hint[at : at + _PIECE_SIZE] for at in places]
        if pieces:
            rarest = min(pieces, key=lambda piece: (piece.isalpha(), " " in piece))
            index.setdefault(rarest, []).append((hint, tuple(numbers)))
        else:
            short.append((hint, tuple(numbers)))
    return index, short


def _expression(rule: Rule) -> re.Pattern[str]:
    return compiled(spelled(rule.pattern))


def _found(text: str, rule: Rule) -> Iterator[tuple[int, int]]:
    """Yield where one rule finds secrets."""
    for match in _expression(rule).finditer(text):
        start, end = match.span(rule.group)
        value = text[start:end]
        if rule.gate == "pair":
            end = value_end(text, start, match["quote"] or "")
            if not is_paired(text[start:end]):
                continue
        if rule.table == "place" and is_placeholder(value):
            continue
        if compiled(_SAMPLE).search(text, start, end):
            continue
        if end - start <= _SAMPLE_CHARS and compiled(_CUT_OFF).match(text, end):
            continue
        if text[start:end].replace(MARKER, ""):
            yield start, end


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    """Return the spans in order of place, overlapping ones as one under the earliest rule."""
    return _united(spans, touching=False)


def _joined(spans: Iterable[_Span]) -> list[_Span]:
    """Return the spans of several passes: what touches is one, as one marker hides both."""
    return _united(spans, touching=True)


def _united(spans: Iterable[_Span], *, touching: bool) -> list[_Span]:
    out: list[_Span] = []
    for start, end, rule in sorted(spans):
        if out and start < out[-1][1] + touching:
            first = out[-1]
            out[-1] = (first[0], max(first[1], end), min(first[2], rule))
        else:
            out.append((start, end, rule))
    return out
