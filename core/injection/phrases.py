"""Finds the phrases, tags and calls that read like an order to a model."""

import re
from collections.abc import Iterator
from functools import cache

from core.injection.rules import Rule, orders, spelled

_BEFORE_CHARS = 80
_GAP = r"[*_~`\"'’”)\]]{0,3}+\s{1,16}+(?:[>#/|-]{1,3}+\s{1,4}+)?[*_~`\"'‘“(\[]{0,3}+"
_FREE_GAP = r"(?:[\s*_~`\"'‘’“”「」『』()]{0,12}+)"
_SIGNS = (
    (" ", _GAP),
    ("·", _FREE_GAP),
    ("‹", "(?<![a-z0-9])(?<![a-z0-9]_)"),
    ("›", "(?!_?[a-z0-9])"),
)


def phrases_in(view: str) -> Iterator[tuple[str, int, int]]:
    """Yield the mark of each phrase in `view`, a text in lower case, and from where to where."""
    present = {hint for hint in _hints() if hint in view}
    for rule in orders() if present else ():
        if not present.isdisjoint(rule.hints):
            for match in _compiled(rule.pattern).finditer(view):
                if not (rule.unless and _is_innocent(rule, view, match.start())):
                    yield rule.mark, *match.span()


def _is_innocent(rule: Rule, view: str, start: int) -> bool:
    before = view[max(0, start - _BEFORE_CHARS) : start]
    sentence = re.split(r"[.!?\n]", before)[-1]
    return _compiled(rule.unless).search(sentence) is not None


@cache
def _hints() -> tuple[str, ...]:
    return tuple(dict.fromkeys(hint for rule in orders() for hint in rule.hints))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = spelled(pattern)
    for sign, meaning in _SIGNS:
        pattern = pattern.replace(sign, meaning)
    return re.compile(pattern)
