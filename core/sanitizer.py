"""The redactor: takes secrets out of a text and leaves everything else as it was.

Every rule of the tables runs on the original text, the spans found are merged, and each is
replaced by one marker.  Rules of the keyed family only find the head (`password = "`); whether
the value beside it is a secret is decided by `core/keyed_values.py`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from unicodedata import normalize

from core.keyed_rules import KEYED
from core.keyed_values import value_after, value_before
from core.platform_tokens import PLATFORM_TOKENS
from core.secret_rules import AFTER, BEFORE, Rule
from core.service_tokens import SERVICE_TOKENS
from core.structure_rules import STRUCTURE
from core.value_shapes import is_placeholder

RULES: tuple[Rule, ...] = PLATFORM_TOKENS + SERVICE_TOKENS + STRUCTURE + KEYED
MARKER = "[REDACTED]"
PASSES = 8  # a replaced token can bare the edge of its neighbour, so look again

_JAMO = "[\u1100-\u11ff]"
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
        shown = _replaced(text, found)
    return [Secret(start, end, RULES[rule].name) for start, end, rule in found]


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
    """Yield the place of every secret, overlaps and all."""
    folded = text.casefold()
    decomposed = not text.isascii() and _compiled(_JAMO).search(text) is not None
    present = [rules for hint, rules in _hints(decomposed) if hint in folded]
    for number, rule in dict(chain.from_iterable(present)).items():
        for start, end in _found(text, rule):
            yield start, end, number // 2


@cache
def _hints(decomposed: bool) -> tuple[tuple[str, tuple[tuple[int, Rule], ...]], ...]:
    """Return every hint with the rules it calls for; each rule under two numbers, one per form."""
    rules: dict[str, list[tuple[int, Rule]]] = {}
    for number in range(len(RULES)):
        for place, form in enumerate(_forms(number)[: 1 + decomposed]):
            for hint in form.hints:
                rules.setdefault(hint, []).append((2 * number + place, form))
    return tuple((hint, tuple(called)) for hint, called in rules.items())


def _forms(number: int) -> tuple[Rule, ...]:
    """Return a rule, and a second one for decomposed Korean if it holds Korean."""
    rule = RULES[number]
    if rule.pattern.isascii():
        return (rule,)
    hints = tuple(normalize("NFD", hint) for hint in rule.hints)
    return rule, replace(rule, hints=hints, pattern=normalize("NFD", rule.pattern))


def _found(text: str, rule: Rule) -> Iterator[tuple[int, int]]:
    """Yield where one rule finds secrets."""
    structural = rule.name in _STRUCTURAL
    for match in _compiled(rule.pattern).finditer(text):
        span: tuple[int, int] | None
        if rule.group == AFTER:
            span = value_after(text, match, loose=rule.loose)
        elif rule.group == BEFORE:
            span = value_before(text, match)
        elif structural and is_placeholder(match[rule.group]):
            span = None
        else:
            span = match.span(rule.group)
        if span and text[slice(*span)].replace(MARKER, ""):
            yield span


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
