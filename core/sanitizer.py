"""The redactor: takes secrets out of a text and leaves everything else as it was.

Every rule of the tables runs on the original text, the spans found are merged, and each is
replaced by one marker.  Rules of the keyed family only find the head (`password = "`); whether
the value beside it is a secret is decided by `core/keyed_values.py`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from unicodedata import normalize

from core.keyed_rules import KEYED, PAIRS
from core.keyed_values import keyed_spans
from core.platform_tokens import PLATFORM_TOKENS
from core.secret_rules import Rule
from core.service_tokens import SERVICE_TOKENS
from core.structure_rules import STRUCTURE
from core.value_ends import value_end
from core.value_shapes import is_hex, is_paired, is_placeholder

RULES: tuple[Rule, ...] = PLATFORM_TOKENS + SERVICE_TOKENS + STRUCTURE + PAIRS + KEYED
MARKER = "[REDACTED]"
PASSES = 8  # a replaced token can bare the edge of its neighbour, so look again

_JAMO = "[\u1100-\u11ff]"
_WRAPPED = r"[A-Za-z0-9_\-.+/=]{16}\\\r?\n"
_REPEATABLE = r"(?=[!-~]{0,512}[0-9])(?=[!-~]{0,512}[A-Za-z])[!-~]{8,512}"
_TOKENS = len(PLATFORM_TOKENS) + len(SERVICE_TOKENS)
_LONG_WORD = "[!-~]{16,}"
_PIECE_SIZE = 3
_PIECE = "\\\\\r?\n[ \t]{0,16}|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|(?s:.)"
_ESCAPES = (
    r"\x1b\[[0-9;]{0,16}[A-Za-z]|(?<!\\)\\[nrt](?![a-z])|(?<!\\)\\[nrt](?=[A-Za-z0-9_\-]{16})"
)
_SAMPLE = r"([xX*.0-9])\1{7}|EXAMPLE"  # of documentation; by chance in no token
_LONG_SAMPLE = 40
_CUT_OFF = "...", "…"  # behind the beginning of a value, in a sample
_PLAIN = {
    **{0xFF01 + place: 0x21 + place for place in range(94)},
    **dict.fromkeys([0xA0, 0x3000, 0x202F, *range(0x2000, 0x200E), 0x2060, 0xFEFF], 0x20),
}
_STRUCTURAL = frozenset(rule.name for rule in STRUCTURE)

_Span = tuple[int, int, int]  # start, end, number of the rule


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands in a text, and the name of the rule that found it."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets, and the name of the rule that found each."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str) -> Redaction:
    """Return `text` with the marker in place of every secret; redacting twice changes nothing."""
    secrets = find(text)
    if not secrets:
        return Redaction(text, ())
    clean = _replaced(text, [(secret.start, secret.end, 0) for secret in secrets])
    return Redaction(clean, tuple(secret.kind for secret in secrets))


def find(text: str) -> list[Secret]:
    """Return every secret of `text` in the order of place; none overlaps or touches another."""
    found: list[_Span] = []
    shown = text
    for _ in range(PASSES):
        spans = _merged(_spans(shown))
        if not spans:
            break
        found = _joined([*found, *_before_replacing(found, spans)])
        found = _joined([*found, *_repeated(text, found)])
        shown = _replaced(text, found)
    return [Secret(start, end, RULES[rule].name) for start, end, rule in found]


def _repeated(text: str, found: Sequence[_Span]) -> Iterator[_Span]:
    """Yield where a value that was found stands once more, without a sign beside it."""
    for value, rule in {text[start:end]: rule for start, end, rule in found}.items():
        if not _compiled(_REPEATABLE).fullmatch(value) or is_hex(value) or text.count(value) < 2:
            continue
        alone = rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])"
        for match in re.finditer(alone, text):
            yield *match.span(), rule


def _before_replacing(found: Sequence[_Span], spans: Iterable[_Span]) -> list[_Span]:
    """Return where `spans` of a text with markers stand in the text before they were put in."""
    out = []
    for start, end, rule in spans:
        out.append((_origin(found, start, at_end=False), _origin(found, end, at_end=True), rule))
    return out


def _origin(found: Sequence[_Span], place: int, *, at_end: bool) -> int:
    """Return the place in the original text; within a marker it is an edge of what it replaced."""
    shift = 0
    for start, end, _ in found:
        marker_start = start + shift
        if place <= marker_start:
            break
        if place < marker_start + len(MARKER):
            return end if at_end else start
        shift += len(MARKER) - (end - start)
    return place - shift


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _spans(text: str) -> Iterator[_Span]:
    """Yield the place of every secret, overlaps and all, in each form that `text` is read in."""
    yield from _spans_of(text)
    if text.isascii() and "\\" not in text and "\x1b" not in text:
        return
    level = _levelled(text)
    if level != text:
        yield from _spans_of(level)
    if _compiled(_JAMO).search(text) or _compiled(_WRAPPED).search(text):
        composed, places = _composed(level)
        for start, end, rule in _spans_of(composed):
            yield places[start], places[end], rule


def _spans_of(text: str) -> Iterator[_Span]:
    folded = text.casefold()
    for number in _called(folded):
        for start, end in _found(text, RULES[number]):
            yield start, end, number
    for start, end, name in keyed_spans(text, folded):
        if text[start:end].replace(MARKER, ""):
            yield start, end, _numbers()[name]


def _levelled(text: str) -> str:
    """Return `text` at the same length, with plain blanks and letters for the fancy ones.

    Full-width forms become ASCII; terminal colours and the escapes of a quoted text, blanks.
    """
    level = text.translate(_PLAIN)
    return _compiled(_ESCAPES).sub(lambda found: " " * len(found[0]), level)


def _composed(text: str) -> tuple[str, list[int]]:
    """Return `text` with Hangul letters composed to syllables and wrapped lines joined.

    With it comes the place in `text` of each character, and the end of the text.
    """
    parts: list[str] = []
    places: list[int] = []
    for found in _compiled(_PIECE).finditer(text):
        part = "" if found[0].startswith("\\") and len(found[0]) > 1 else found[0]
        part = normalize("NFC", part) if len(part) > 1 else part
        parts.append(part)
        places += [found.start()] * len(part)
    return "".join(parts), [*places, len(text)]


@cache
def _numbers() -> dict[str, int]:
    return {rule.name: number for number, rule in enumerate(RULES)}


def _called(folded: str) -> Iterator[int]:
    """Yield the numbers of the rules of which a hint is in the text.

    A token that names itself is long and in one piece, which few texts have at all.
    """
    long_words = " ".join(_compiled(_LONG_WORD).findall(folded))
    if long_words:
        yield from _hinted(long_words, *_hints(0, _TOKENS))
    yield from _hinted(folded, *_hints(_TOKENS, len(RULES) - len(KEYED)))


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
def _hints(first: int, end: int) -> tuple[dict[str, list[_Hint]], list[_Hint]]:
    """Return the hints of some rules by a rare piece of each, and those shorter than a piece."""
    rules: dict[str, list[int]] = {}
    for number in range(first, end):
        for hint in RULES[number].hints:
            rules.setdefault(hint, []).append(number)
    index: dict[str, list[_Hint]] = {}
    short: list[_Hint] = []
    for hint, numbers in rules.items():
        places = range(len(hint) - _PIECE_SIZE + 1)
        pieces = [hint[at : at + _PIECE_SIZE] for at in places]
        if pieces:
            rarest = min(pieces, key=lambda piece: (piece.isalpha(), " " in piece))
            index.setdefault(rarest, []).append((hint, tuple(numbers)))
        else:
            short.append((hint, tuple(numbers)))
    return index, short


def _found(text: str, rule: Rule) -> Iterator[tuple[int, int]]:
    """Yield where one rule finds secrets."""
    structural = rule.name in _STRUCTURAL
    for match in _compiled(rule.pattern).finditer(text):
        start, end = match.span(rule.group)
        value = text[start:end]
        if rule.gate == "pair":
            end = value_end(text, start, match["quote"] or "")
            if not is_paired(text[start:end]):
                continue
        if structural and is_placeholder(value):
            continue
        cut_off = end - start < _LONG_SAMPLE and text.startswith(_CUT_OFF, end)
        if cut_off or _compiled(_SAMPLE).search(text, start, end):
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


def _replaced(text: str, spans: Iterable[_Span]) -> str:
    """Return `text` with the marker in place of each span."""
    parts, at = [], 0
    for start, end, _ in spans:
        parts += [text[at:start], MARKER]
        at = end
    return "".join([*parts, text[at:]])
