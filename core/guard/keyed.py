"""Chooses, for the name of a secret, the `keyed` rules that may have its value."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from core.data import compiled
from core.guard.names import Name
from core.guard.rules import Rule, rules_of, spelled

_REACH_CHARS = 180  # how far a value may stand from its name
_PROMISING = (  # a value has one of them
    r"[0-9\"'`“‘「『„《〈«&]|[a-z](?:[A-Z]|[\-_.][a-z])|=[A-Za-z]"
)
_NEXT_CHARS = 8
_AHEAD_CHARS = 60


class KeyedRule(NamedTuple):
    """A rule for names, with what must stand before and behind the name."""

    rule: Rule
    before: re.Pattern[str] | None
    after: re.Pattern[str]


_Hints = dict[str, int]  # with the numbers of the rules that they call for, as bits


@dataclass(slots=True)
class _KeyedRules:
    """The rules for names of one language, and by what hints they are called.

    ahead: somewhere behind the name. next_to: right behind it. behind: before it, for values that
    stand there; behind_too: the same for the other rules that need something there (needs_behind).
    needs_hangul: the rules that need Hangul behind the name.
    """

    rules: list[KeyedRule] = field(default_factory=list)
    ahead: _Hints = field(default_factory=dict)
    next_to: _Hints = field(default_factory=dict)
    behind: _Hints = field(default_factory=dict)
    behind_too: _Hints = field(default_factory=dict)
    needs_behind: int = 0
    needs_hangul: int = 0

    def add(self, rule: Rule) -> None:
        """Add a rule; its hints say by their first character where they are looked for."""
        before, _, after = spelled(rule.pattern).partition("§")
        if rule.before:
            before += r"[A-Za-z0-9_.\-]{0,40}"
        bit = 1 << len(self.rules)
        for hint in rule.hints:
            hints, word = self.ahead, hint
            if rule.before:
                hints = self.behind
            elif hint.startswith("^"):
                hints, word = self.next_to, hint[1:]
            elif hint.startswith("‹"):
                hints, word = self.behind_too, hint[1:]
                self.needs_behind |= bit
            hints[word] = hints.get(word, 0) | bit
        if rule.name.startswith("keyed-korean") and not rule.before:
            self.needs_hangul |= bit
        head = compiled(rf"(?:{before})\Z") if before else None
        self.rules.append(KeyedRule(rule, head, compiled(after)))

    def within(self, text: str, folded: str) -> "_KeyedRules":
        """Return the same rules with those hints that stand anywhere in a text."""
        return replace(
            self,
            ahead=_present(self.ahead, folded),
            next_to=_present(self.next_to, text),
            behind=_present(self.behind, folded),
            behind_too=_present(self.behind_too, folded),
        )


@cache
def _keyed_rules(korean: bool) -> _KeyedRules:
    found = _KeyedRules()
    for rule in rules_of("keyed"):
        if not (korean and rule.name == "keyed-bare-word"):  # its Korean form takes particles
            found.add(rule)
    return found


def _present(hints: _Hints, text: str) -> _Hints:
    return {hint: numbers for hint, numbers in hints.items() if hint in text}


def _called(hints: _Hints, text: str) -> int:
    called = 0
    for hint, numbers in hints.items():
        if hint in text:
            called |= numbers
    return called


class RulesOfText:
    """The rules for the names of one text; what stands anywhere in it is looked up once."""

    def __init__(self, text: str, folded: str) -> None:
        self._text, self._folded = text, folded
        self._rules: dict[bool, _KeyedRules] = {}
        self._promises: list[int] | None = None

    def near(self, name: Name) -> Iterator[KeyedRule]:
        """Yield the rules of which a hint stands near a name, in their order."""
        if name.korean not in self._rules:
            within = _keyed_rules(name.korean).within(self._text, self._folded)
            self._rules[name.korean] = within
        rules = self._rules[name.korean]
        called = 0
        before = self._text[max(0, name.start - _AHEAD_CHARS) : name.end].casefold()
        if self._has_promise(name.end, name.end + _REACH_CHARS) or name.is_phrase:
            ahead = self._text[name.end : name.end + _AHEAD_CHARS].casefold()
            next_to = self._text[name.end : name.end + _NEXT_CHARS]
            called = _called(rules.ahead, ahead) | _called(rules.next_to, next_to)
            called &= _called(rules.behind_too, before) | ~rules.needs_behind
            if not name.korean and next_to.isascii():
                called &= ~rules.needs_hangul
        if self._has_promise(name.start - _REACH_CHARS, name.start):
            called |= _called(rules.behind, before)
        for number, rule in enumerate(rules.rules):
            if called >> number & 1:
                yield rule

    def _has_promise(self, start: int, end: int) -> bool:
        """Return whether something that a value may have begins between two places."""
        if self._promises is None:
            found = compiled(_PROMISING).finditer(self._text)
            self._promises = [match.start() for match in found]
        at = bisect_left(self._promises, start)
        return at < len(self._promises) and self._promises[at] < end
