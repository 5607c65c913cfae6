"""The redactor: takes secrets out of any text and leaves everything else as it is.

Every rule of `data/rules.jsonl`, whose columns `data/__init__.py` explains, runs on the original
text, in each form that a reader may read it in, where one of its hints stands there. The spans
found are merged, and one marker replaces each. Rules with a name and a value
(`password = "…"`) find only the beginning; `guard/named.py` decides whether the value beside it is
a secret. Texts of any length are read in windows.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from core.data import TOKENS, Rule, compiled, rule_expression, rules
from core.guard.characters import Places, forms_of, may_hide, without_hidden
from core.guard.named import keyed_spans
from core.guard.values import is_hex, is_paired, is_placeholder, value_end

MARKER = "[REDACTED]"
WINDOW_CHARS = 32_768
MARGIN_CHARS = 6_144  # the longest key block in use has about 6,000 characters

_BREAK_CHARS = 2_048  # so near is a line, or a word, at which a window ends or begins
_REPEATABLE = r"(?=[!-~]{0,512}[0-9])(?=[!-~]{0,512}[A-Za-z])[!-~]{8,512}"
_LONG_WORD = "[!-~]{16,}"
_LONGEST_TOKEN_CHARS = 4_096
_LONGEST_GLUED_CHARS = 512
_MOST_PASSES = 4  # no more than so many secrets hang together in a text that people write
_MOST_TRIES = 2_000  # of a rule at a place where a token touches another
_FEW_VALUES = 8  # that begin alike
_BEGINNING_CHARS = 8
_BEGINNING = rf"(?<![A-Za-z0-9])(?=([!-~]{{{_BEGINNING_CHARS}}}))"
_OTHERS = ("place", "pair")  # the tables of which the hints may stand in any text
_PIECE_CHARS = 3
_SAMPLE = r"([xX*.0-9])\1{7}|EXAMPLE"  # of documentation; by chance in no token
_SAMPLE_CHARS = 10
_CUT_OFF = r"(?:\.{3}|…)[\"'`]"  # a key of which only the beginning is shown

_Span = tuple[int, int, int]  # start, end, number of the rule


class Secret(NamedTuple):
    """Where a secret stands in a text, and the name of the rule that found it."""

    start: int
    end: int
    kind: str


class Redaction(NamedTuple):
    """A text without its secrets, and the name of the rule that found each."""

    text: str
    kinds: tuple[str, ...]


def sanitize(text: str) -> str:
    """Return `text` with `[REDACTED]` in place of every API key, token and password in it."""
    return redact(text).text


def redact(text: str, known: Mapping[str, str] | None = None) -> Redaction:
    """Return `text` with the marker in place of every secret; redacting twice changes nothing.

    known: as for `find`.
    """
    secrets = find(text, known)
    if not secrets:
        return Redaction(text, ())
    return Redaction(replaced(text, secrets), tuple(secret.kind for secret in secrets))


def find(text: str, known: Mapping[str, str] | None = None) -> list[Secret]:
    """Return every secret of `text` in the order of place; none overlaps or touches another.

    Hidden characters hide none: a secret reaches over those inside it. known: values that were
    found in another text, each with its kind; see `values_in`.
    """
    values = {value: _numbers()[kind] for value, kind in (known or {}).items()}
    if len(text) <= WINDOW_CHARS:
        found = _in_window(text, values)
    else:
        found = _in_windows(text, values)
        if may_hide(text):  # they may move the end of a secret out of each window
            seen, places = without_hidden(text)
            bare = _in_windows(seen, values)
            found += [(*places.origin(start, end), rule) for start, end, rule in bare]
        values = _values_at(text, found)
        found = _united([*found, *_repeated(text, values)], touching=True)
    return [Secret(start, end, rules()[rule].name) for start, end, rule in found]


def values_in(texts: Iterable[str]) -> dict[str, str]:
    """Return the secrets of some texts with their kinds, to look for each in the others.

    What hidden characters split is returned without them.
    """
    return {
        _seen(text[secret.start : secret.end]): secret.kind
        for text in texts
        for secret in find(text)
    }


def redact_together(texts: Sequence[str]) -> list[Redaction]:
    """Return texts without their secrets: what one of them calls a password goes from all."""
    known = values_in(texts)
    if not known:
        return [Redaction(text, ()) for text in texts]
    return [redact(text, known) for text in texts]


@lru_cache(maxsize=1_024)
def has_secret(text: str) -> bool:
    """Return whether a text that is about to be printed holds a secret."""
    return bool(find(text))


def safe(text: str) -> str:
    """Return a name, or "" when it holds a secret itself."""
    return "" if has_secret(text) else text


def replaced(text: str, spans: Iterable[tuple[int, int, object]]) -> str:
    """Return `text` with the marker in place of each span: start, end, and anything."""
    parts, at = [], 0
    for start, end, _ in spans:
        parts += [text[at:start], MARKER]
        at = end
    return "".join([*parts, text[at:]])


def merged(secrets: Iterable[Secret]) -> list[Secret]:
    """Return secrets in order of place, those that overlap or touch as one under the first rule."""
    spans = [(start, end, _numbers()[kind]) for start, end, kind in secrets]
    united = _united(spans, touching=True)
    return [Secret(start, end, rules()[rule].name) for start, end, rule in united]


def _seen(text: str) -> str:
    return without_hidden(text)[0] if may_hide(text) else text


def _values_at(text: str, spans: Iterable[_Span]) -> dict[str, int]:
    return {_seen(text[start:end]): rule for start, end, rule in spans}


def _in_windows(text: str, known: Mapping[str, int]) -> list[_Span]:
    """Return the secrets of a text of any length, read in windows.

    A window ends and begins with a line or a word, if one is near. Windows overlap: what reaches
    over the end of one is whole in the next, or the next begins where it does.
    """
    found: list[_Span] = []
    at = end = 0
    while end < len(text):
        end = min(at + WINDOW_CHARS, len(text))
        if end < len(text):
            near = end - _BREAK_CHARS
            end = text.rfind("\n", near, end) + 1 or text.rfind(" ", near, end) + 1 or end
        window = _in_window(text[at:end], known)
        spans = [(at + start, at + stop, rule) for start, stop, rule in window]
        found += spans
        half = at + WINDOW_CHARS // 2  # the next one is as far on, or a row of secrets has no end
        cut = [start for start, stop, _ in spans if stop == end and start > half]
        first, last = end - MARGIN_CHARS, end - MARGIN_CHARS + _BREAK_CHARS
        first = text.find("\n", first, last) + 1 or text.find(" ", first, last) + 1 or first
        at = min([first, *cut])
    return found


def _in_window(text: str, known: Mapping[str, int]) -> list[_Span]:
    """Return every secret of a window in order of place; none touches another."""
    found = _united(_repeated(text, known), touching=True) if known else []
    redacted = replaced(text, found) if found else text
    passes = 0
    # A replaced token can bare the edge of its neighbour.
    while spans := _spans(redacted):
        passes += 1
        if passes > _MOST_PASSES:
            spans = _widened(redacted, spans, passes - _MOST_PASSES)
        new = _before_replacing(found, spans)
        again = _repeated(text, _values_at(text, new))
        found = _united([*found, *new, *again], touching=True)
        redacted = replaced(text, found)
    return found


def _united(spans: Iterable[_Span], *, touching: bool) -> list[_Span]:
    """Return spans in order of place, those that overlap as one under the earliest rule.

    touching: those that touch are one as well, as one marker hides both.
    """
    out: list[_Span] = []
    for start, end, rule in sorted(spans):
        if out and start < out[-1][1] + touching:
            first = out[-1]
            out[-1] = (first[0], max(first[1], end), min(first[2], rule))
        else:
            out.append((start, end, rule))
    return out


def _repeated(text: str, values: Mapping[str, int]) -> Iterator[_Span]:
    """Yield where values that were found stand without a sign beside them, in each form.

    They are looked for by their first characters, at once: a search for each of them would take
    the square of the text's length.
    """
    beginnings: dict[str, list[str]] = {}
    for value in sorted(values, key=len, reverse=True):
        if compiled(_REPEATABLE).fullmatch(value) and not is_hex(value):
            beginnings.setdefault(value[:_BEGINNING_CHARS], []).append(value)
    if not beginnings:
        return
    forms: list[tuple[str, Places | None]] = [(text, None)]
    if may_hide(text):
        forms.append(without_hidden(text))
    for form, places in forms:
        for place in compiled(_BEGINNING).finditer(form):
            start = place.start()
            for value in beginnings.get(place[1], ())[:_FEW_VALUES]:
                end = start + len(value)
                if form.startswith(value, start) and not _is_alnum(form[end : end + 1]):
                    origin = places.origin(start, end) if places else (start, end)
                    yield *origin, values[value]


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


def _widened(text: str, spans: Sequence[_Span], excess: int) -> list[_Span]:
    """Return spans that reach further, the more so the longer secrets go on to turn up.

    At first each is as long as its word, then one reaches from the first to the last, at last over
    the whole text: what hangs together so was made to hold the program up.
    """
    if excess > 2 * _MOST_PASSES:
        return [(0, len(text), spans[0][2])]
    if excess > _MOST_PASSES:
        return [(spans[0][0], spans[-1][1], spans[0][2])]
    spaces = [match.start() for match in compiled(r"\s").finditer(text)]
    words: list[_Span] = []
    for start, end, rule in spans:
        before, after = bisect_left(spaces, start), bisect_left(spaces, end)
        word_start = spaces[before - 1] + 1 if before else 0
        words.append((word_start, spaces[after] if after < len(spaces) else len(text), rule))
    return _united(words, touching=False)


def _spans(text: str) -> list[_Span]:
    """Return the place of every secret, in each form that `text` is read in."""
    found: list[_Span] = []
    for form, places in forms_of(text):
        for start, end, rule in _spans_of(form):
            origin = places.origin(start, end) if places else (start, end)
            found.append((*origin, rule))
    return _united(found, touching=False) if found else found


def _spans_of(text: str) -> Iterator[_Span]:
    """Yield the place of every secret of one form, overlaps and all."""
    folded = text.casefold()
    tokens: list[_Span] = []
    token_rules: list[int] = []
    for number in _called(folded):
        rule = rules()[number]
        spans = [(start, end, number) for start, end in _of_rule(text, rule)]
        if rule.table in TOKENS:
            token_rules.append(number)
            tokens += spans
        else:
            yield from spans
    yield from tokens
    if tokens:
        yield from _glued(text, tokens, token_rules)
    for start, end, name in keyed_spans(text, folded):
        if text[start:end].replace(MARKER, ""):
            yield start, end, _numbers()[name]


def _of_rule(text: str, rule: Rule) -> Iterator[tuple[int, int]]:
    """Yield where one rule finds secrets."""
    for match in rule_expression(rule.pattern).finditer(text):
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


def _glued(text: str, tokens: Sequence[_Span], called: Sequence[int]) -> Iterator[_Span]:
    """Yield the tokens that stand before or behind others without an edge between them.

    Where very many hang together, the rest of the word is taken for one.
    """
    starts = {start: number for start, _, number in tokens}
    ends = {end: number for _, end, number in tokens}
    tried = [(number, rule_expression(rules()[number].pattern)) for number in called]
    tries, done = 0, 0
    for at in sorted(ends.keys() - starts.keys()):
        number = ends[at]
        while at >= done and _is_alnum(text[at : at + 1]) and at not in starts:
            starts[at] = number
            tries += len(tried)
            if tries > _MOST_TRIES:
                done = next((it.start() for it in compiled(r"\s").finditer(text, at)), len(text))
                yield at, done, number
            elif glued := _token_at_an_end(text[at : at + _LONGEST_TOKEN_CHARS], tried):
                token, rule = glued
                start, end = token.span(rules()[rule].group)
                yield at + start, at + end, rule
                at += token.end()
    done = len(text)
    for at in sorted(starts.keys() - ends.keys(), reverse=True):
        number = starts[at]
        while 0 < at <= done and _is_alnum(text[at - 1]) and at not in ends:
            ends[at] = number
            first = max(0, at - _LONGEST_GLUED_CHARS)
            tries += len(tried)
            if tries > _MOST_TRIES:
                done = max(text.rfind(" ", 0, at), text.rfind("\n", 0, at)) + 1
                yield done, at, number
            elif glued := _token_at_an_end(text[first:at], tried, last=True):
                token, rule = glued
                start, end = token.span(rules()[rule].group)
                yield first + start, first + end, rule
                at = first + token.start()


def _token_at_an_end(
    text: str, tried: Sequence[tuple[int, re.Pattern[str]]], *, last: bool = False
) -> tuple[re.Match[str], int] | None:
    """Return the token with which a text begins, or ends, and the number of its rule.

    tried: rules by their numbers. last: the token that ends the text.
    """
    for number, pattern in tried:
        if not last:
            token = pattern.match(text)
            if token and token.end():
                return token, number
            continue
        tokens = list(pattern.finditer(text))
        if tokens and tokens[-1].end() == len(text):
            return tokens[-1], number
    return None


@cache
def _numbers() -> dict[str, int]:
    return {rule.name: number for number, rule in enumerate(rules())}


def _called(folded: str) -> list[int]:
    """Return the numbers of the rules of which a hint is in the text, in their order.

    A token that names itself is long and in one piece, which few texts have at all.
    """
    called = set[int]()
    long_words = " ".join(compiled(_LONG_WORD).findall(folded))
    for part, tables in ((long_words, TOKENS), (folded, _OTHERS)):
        if not part:
            continue
        index = _hints(tables)
        pieces = {"", *(part[at : at + _PIECE_CHARS] for at in range(len(part)))}
        for piece in index.keys() & pieces:
            for hint, numbers in index[piece]:
                if hint in part:
                    called.update(numbers)
    return sorted(called)


@cache
def _hints(tables: Sequence[str]) -> dict[str, list[tuple[str, list[int]]]]:
    """Return the hints of some tables by a rare piece of each, with the rules that they call for.

    Those that are shorter than a piece stand under "".
    """
    called: dict[str, list[int]] = {}
    for rule in rules():
        if rule.table not in tables:
            continue
        for hint in rule.hints:
            called.setdefault(hint, []).append(_numbers()[rule.name])
    index: dict[str, list[tuple[str, list[int]]]] = {}
    for hint, numbers in called.items():
        pieces = [hint[at : at + _PIECE_CHARS] for at in range(len(hint) - _PIECE_CHARS + 1)]
        rarest = min(pieces, key=lambda piece: (piece.isalpha(), " " in piece), default="")
        index.setdefault(rarest, []).append((hint, numbers))
    return index
