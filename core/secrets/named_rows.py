"""Chooses, for the name of a secret, the `keyed` rules that may have its value."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from core.secrets.names import Name
from core.secrets.rules import Rule, compiled, rules_of, spelled

_REACH = 180  # how far a value may stand from its name
_PROMISING = (
    r"[0-9\"'`“‘「『„《〈«&]|[a-z](?:[A-Z]|[\-_.][a-z])|=[A-Za-z]"  # a value has one of them
)
_NEXT = 8
_AHEAD = 60

_Row = tuple[Rule, re.Pattern[str] | None, re.Pattern[str]]


_Hints = dict[str, int]  # with the numbers of the rows, as bits


def _bits(hints: _Hints, text: str) -> int:
    called = 0
    for hint, numbers in hints.items():
        if hint in text:
            called |= numbers
    return called


def _present(hints: _Hints, text: str) -> _Hints:
    return {hint: numbers for hint, numbers in hints.items() if hint in text}


@dataclass(slots=True)
class _Rows:
    """The rules for names of one language, and by what hints they are called.

    ahead: somewhere behind the name. next: right behind it. behind: before it, for values that
    stand there; behind_too: the same for the other rules that need something there (needs_behind).
    particles: the rules that need Hangul behind the name.
    """

    rows: list[_Row] = field(default_factory=list)
    ahead: _Hints = field(default_factory=dict)
    next: _Hints = field(default_factory=dict)
    behind: _Hints = field(default_factory=dict)
    behind_too: _Hints = field(default_factory=dict)
    needs_behind: int = 0
    particles: int = 0

    def within(self, text: str, folded: str) -> "_Rows":
        """Return the same rules with those hints that stand anywhere in a text."""
        return replace(
            self,
            ahead=_present(self.ahead, folded),
            next=_present(self.next, text),
            behind=_present(self.behind, folded),
            behind_too=_present(self.behind_too, folded),
        )

    def add(self, rule: Rule) -> None:
        """Add a rule; its hints say by their first character where they are looked for."""
        before, _, after = spelled(rule.pattern).partition("§")
        if rule.before:
            before += r"[A-Za-z0-9_.\-]{0,40}"
        bit = 1 << len(self.rows)
        for hint in rule.hints:
            side, hint = self.ahead, hint
            if rule.before:
                side = self.behind
            elif hint[:1] == "^":
                side, hint = self.next, hint[1:]
            elif hint[:1] == "‹":
                side, hint = self.behind_too, hint[1:]
                self.needs_behind |= bit
            side[hint] = side.get(hint, 0) | bit
        if rule.name.startswith("keyed-korean") and not rule.before:
            self.particles |= bit
        head = compiled(rf"(?:{before})\Z") if before else None
        self.rows.append((rule, head, compiled(after)))


@cache
def _rows(korean: bool) -> _Rows:
    rows = _Rows()
    for rule in rules_of("keyed"):
        if not (korean and rule.name == "keyed-bare-word"):  # its Korean form takes particles
            rows.add(rule)
    return rows


class RowsOfText:
    """The rows for the names of one text; what stands anywhere in it is looked up once."""

    def __init__(self, text: str, folded: str) -> None:
        self._text, self._folded = text, folded
        self._rows: dict[bool, _Rows] = {}
        self._promising: list[int] | None = None

    def near(self, name: Name) -> Iterator[_Row]:
        """Yield the rows of which a hint stands near a name, in their order."""
        if name.korean not in self._rows:
            self._rows[name.korean] = _rows(name.korean).within(self._text, self._folded)
        rows = self._rows[name.korean]
        near = self._text[name.end : name.end + _NEXT]
        behind = self._text[max(0, name.start - _AHEAD) : name.end].casefold()
        called = 0
        if self._promise(name.end, name.end + _REACH) or name.is_phrase:
            ahead = self._text[name.end : name.end + _AHEAD].casefold()
            called = _bits(rows.ahead, ahead) | _bits(rows.next, near)
            called &= _bits(rows.behind_too, behind) | ~rows.needs_behind
            if not name.korean and near.isascii():
                called &= ~rows.particles
        if self._promise(name.start - _REACH, name.start):
            called |= _bits(rows.behind, behind)
        for number, row in enumerate(rows.rows):
            if called >> number & 1:
                yield row

    def _promise(self, start: int, end: int) -> bool:
        """Return whether something that a value may have begins between two places."""
        if self._promising is None:
            found = compiled(_PROMISING).finditer(self._text)
            self._promising = [it.start() for it in found]
        at = bisect_left(self._promising, start)
        return at < len(self._promising) and self._promising[at] < end
