"""Finds the parts that stall a regular expression: by its tree, and by texts as attacks.

It walks the tree that `re` makes of an expression, possessive repeats and atomic groups included,
which the checkers of others do not know. `ambiguities` finds the parts that match one text in many
ways: a repeat whose rounds can be divided in several ways, alternatives of a repeat that begin
alike, and two long repeats of the same characters side by side. It tries a choice of characters.

An attack is a prefix, a piece that is repeated, and an end at which a match fails. The pieces come
from the tree (texts that its repeats match) and from an example of it; `growth` takes the time.
"""

import re
import time
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MANY = 32  # times; a repeat of fewer is no way to read a text in many ways
FEW = 8  # times; a repeat of fewer is no way to take long
USUAL = "aA0 \n-_/.\"'\\=:,;가"  # tried before other characters
CHARS = frozenset(map(chr, range(128))) | frozenset(USUAL) | frozenset("éᄀ “…→\u2028")
SIZES = 1_024, 2_048, 4_096, 8_192, 16_384
MOST_GROWTH = 1.3
TOO_LONG = 0.02  # seconds for a text of the first size or less
FAST = 0.004  # seconds for a text of the greatest size that are not worth a closer look
ENDS = "", "\0", " ", "\n"
LETTERS = "a", "A", "0", " ", "\n", "-", "_", "/", ".", '"', "'", "\\", "''", "a1", "aB", "a.", "a-"

_BACKTRACKING = {kinds.MAX_REPEAT, kinds.MIN_REPEAT}
_REPEATS = _BACKTRACKING | {kinds.POSSESSIVE_REPEAT}
_DETERMINED = {kinds.POSSESSIVE_REPEAT, kinds.ATOMIC_GROUP, kinds.GROUPREF}
_ONE_CHAR = {kinds.LITERAL, kinds.NOT_LITERAL, kinds.ANY, kinds.IN}
_LOOKS = {kinds.ASSERT, kinds.ASSERT_NOT}
_Chars = frozenset[str]
_Nodes = Any  # of a tree, a `SubPattern`: each with its kind and its value


def ambiguities(pattern: str, flags: int = 0) -> list[str]:
    """Return the parts of an expression that match a text in several ways, in words."""
    return list(dict.fromkeys(_ambiguous(parser.parse(pattern, flags))))


def _ambiguous(nodes: _Nodes) -> Iterator[str]:
    for at, (kind, value) in enumerate(nodes):
        parts = _parts(value)
        if kind in _BACKTRACKING and value[1] > MANY:
            yield from _of_repeat(parts[0])
            yield from _side_by_side(_first(parts[0]), nodes[at + 1 :])
        for part in parts:
            yield from _ambiguous(part)


def _of_repeat(body: _Nodes) -> Iterator[str]:
    while len(body) == 1 and body[0][0] is kinds.SUBPATTERN:  # a group around all of it
        [body] = _parts(body[0][1])
    last = body[-1:]
    if len(body) > 1 or (body and body[0][0] in _BACKTRACKING):
        least, most = last.getwidth()
        both = _first(body) & _first(last)
        if both and least < most and last[0][0] not in _DETERMINED:
            yield f"a round may end with what begins the next: {_shown(both)}"
    branches = _parts(body[0][1]) if len(body) == 1 and body[0][0] is kinds.BRANCH else []
    for one, other in combinations(branches, 2):
        both = _first(one) & _first(other)
        if both and (one.getwidth() != (1, 1) or other.getwidth() != (1, 1)):
            yield f"two ways to go on: {_shown(both)}"


def _side_by_side(chars: _Chars, rest: _Nodes) -> Iterator[str]:
    for at, (kind, value) in enumerate(rest):
        both = chars & _first(rest[at : at + 1])
        if kind in _BACKTRACKING and value[1] > MANY and both:
            yield f"two long repeats of {_shown(both)} side by side"
        if rest[at : at + 1].getwidth()[0]:
            return


def _parts(value: Any) -> list[_Nodes]:
    """Return the nodes of each part of a node's value: a body, branches, a lookaround."""
    if isinstance(value, parser.SubPattern):
        return [value]
    inside = value if isinstance(value, list | tuple) else []
    return [part for it in inside for part in _parts(it)]


def _first(nodes: _Nodes) -> _Chars:
    """Return with which characters a match of the nodes may begin."""
    chars, barred = _Chars(), _Chars()
    for at, (kind, value) in enumerate(nodes):
        if kind in _LOOKS and value[0] > 0:
            [ahead] = _parts(value)
            if kind is kinds.ASSERT:
                return (chars | (_first(ahead) & _first(nodes[at + 1 :]))) - barred
            if ahead.getwidth() == (1, 1) and ahead[0][0] is not kinds.GROUPREF:  # of one of many
                barred |= _first(ahead)
        elif kind not in _LOOKS:
            chars |= _chars(kind, value)
            if nodes[at : at + 1].getwidth()[0]:
                break
    return chars - barred


def _chars(kind: Any, value: Any) -> _Chars:
    """Return with which characters a match of one node may begin."""
    if kind is kinds.GROUPREF:
        return _Chars("\"'`\\")
    if kind not in _ONE_CHAR:
        return _Chars().union(*map(_first, _parts(value)))
    named = set[str]()
    for inner, it in value if kind is kinds.IN else [(kind, value)]:
        named.update(map(chr, {kinds.LITERAL: [it], kinds.RANGE: it}.get(inner, [])))
    one = compiler.compile(parser.SubPattern(parser.State(), [(kind, value)]), re.UNICODE)
    return _Chars(filter(one.match, CHARS | named))


def _shown(chars: _Chars) -> str:
    return "".join(sorted(chars, key=lambda char: (not char.isalnum(), char))[:8])


class Attack(NamedTuple):
    """A text of any length that wants to stall: `prefix`, `piece` again and again, `end`."""

    prefix: str
    piece: str
    end: str = ""

    def text(self, size: int) -> str:
        """Return about `size` characters."""
        room = max(0, size - len(self.prefix) - len(self.end))
        return self.prefix + self.piece * max(1, room // len(self.piece)) + self.end


def attacks_of(pattern: str, example: str = "", flags: int = 0) -> list[Attack]:
    """Return the attacks on an expression, each once; example: a text in which it matches."""
    tree = parser.parse(pattern, flags)
    return list(dict.fromkeys([*_by_tree(tree), *by_example(example)]))


def by_example(example: str) -> Iterator[Attack]:
    """Yield an example cut at each place, with its own last letters or usual ones repeated."""
    for cut in range(1, len(example) + 1):
        prefix = example[:cut]
        yield Attack("", prefix)
        own = {prefix[-1], prefix[-2:], prefix[-3:]}
        for piece in (*sorted(own), *LETTERS):
            yield Attack(prefix, piece, "\0")


def _by_tree(tree: _Nodes) -> Iterator[Attack]:
    for before, pieces in _repeats(tree, [""]):
        for prefix in before:
            for piece in pieces:
                yield from (Attack(prefix, piece, end) for end in ENDS)
                if prefix:
                    yield Attack("", prefix + piece)
                    yield Attack("", prefix + piece * 40, "\0")
            yield from (Attack(prefix, one + other, "\0") for one, other in pairwise(pieces))


def _repeats(nodes: _Nodes, before: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield texts to stand before each repeat of a tree, and pieces that it repeats."""
    for at, (kind, value) in enumerate(nodes):
        if kind in _REPEATS and value[1] >= FEW and (pieces := _samples(_parts(value)[0])):
            yield before, pieces
        for part in _parts(value):
            yield from _repeats(part, before)
        tails = _samples(nodes[at : at + 1], most=2)
        before = [head + tail for head in before for tail in tails][:3] or before


def _samples(nodes: _Nodes, most: int = 8) -> list[str]:
    """Return up to `most` texts that a part of a tree may take, none of them empty."""
    found = [""]
    for kind, value in nodes:
        tails = _samples_of(kind, value) or [""]
        found = [head + tail for tail in tails for head in found[:2]][:most]
    return list(filter(None, found))


def _samples_of(kind: Any, value: Any) -> list[str]:
    if kind in _ONE_CHAR:
        chars = sorted(_chars(kind, value), key=lambda char: (f"{USUAL}{char}".index(char), char))
        return chars[:8]
    if kind in _LOOKS and (kind is kinds.ASSERT_NOT or value[0] > 0):
        return []
    parts = _parts(value)
    if kind in _REPEATS:
        return [body * max(value[0], min(1, int(value[1]))) for body in _samples(parts[0])]
    return [text for part in parts for text in _samples(part, 8 if len(parts) == 1 else 2)]


def use_of(pattern: str, flags: int = 0, *, anchored: bool = False) -> Callable[[str], object]:
    """Return a function that looks for every match of a pattern, or for one at the beginning."""
    compiled = re.compile(pattern, flags)
    if anchored:
        return lambda text: (compiled.match(text), compiled.fullmatch(text))
    return lambda text: sum(1 for _ in compiled.finditer(text))


def seconds(call: Callable[[str], object], text: str, times: int = 1) -> float:
    """Return the least time of some calls, of this process alone."""
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        call(text)
        best = min(best, time.process_time() - began)
    return best


def growth(call: Callable[[str], object], attack: Attack, fast: float = FAST) -> str:
    """Return "" for an attack that takes no more than linear time, or the times that it takes.

    The sizes rise slowly, so that exponential time is seen before it lasts. A slow call is tried
    again, as something else may have taken the time.
    """
    size = 16
    while size < SIZES[0]:
        took = seconds(call, attack.text(size))
        if TOO_LONG < took < 10 * TOO_LONG:
            took = seconds(call, attack.text(size), 3)
        if took > TOO_LONG:
            return f"{size} characters: {took:.3f} s"
        size = size * 3 // 2 if size < 160 else size * 3
    steps = dict[int, float]()
    for times in (1, 1, 2):
        steps = {}
        for size in SIZES:
            steps[size] = seconds(call, attack.text(size), times)
            if steps[size] < fast * (size / SIZES[-1]) ** 2:
                return ""  # even the square of its growth is fast
            if steps[size] > TOO_LONG * size / SIZES[0]:
                break
        if steps.get(SIZES[-1], 60) <= steps.get(SIZES[-3], 0) * (2 * MOST_GROWTH) ** 2:
            return ""
    return ", ".join(f"{size} characters: {it:.4f} s" for size, it in steps.items())
