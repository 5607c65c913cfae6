"""Finds in an expression what can read one text in many ways, which is what makes it slow.

It walks the tree that `re` makes of an expression, possessive repeats and atomic groups included,
which the checkers that others keep do not know. Three things are reported: a repeat whose rounds
can be parted in several ways, alternatives of a repeat that begin alike, and two long repeats of
the same characters side by side. Characters are looked at by a choice of them.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MANY = 32  # times; fewer are no way to stall anything
CHARS = frozenset(map(chr, range(128))) | frozenset("é가ᄀ “…→\u2028")

_BACKTRACKING = {kinds.MAX_REPEAT, kinds.MIN_REPEAT}
_DETERMINED = {kinds.POSSESSIVE_REPEAT, kinds.ATOMIC_GROUP, kinds.GROUPREF}
_REPEATS = _BACKTRACKING | {kinds.POSSESSIVE_REPEAT}
_Chars = frozenset[str]
_NONE: _Chars = frozenset()


def ambiguities(pattern: str, flags: int = 0) -> list[str]:
    """Return what an expression can read in several ways, in words."""
    return list(dict.fromkeys(_of_nodes(list(parser.parse(pattern, flags)))))


def _of_nodes(nodes: Sequence[Any]) -> Iterator[str]:
    for at, (kind, value) in enumerate(nodes):
        if kind in _BACKTRACKING and value[1] > MANY:
            yield from _of_repeat(list(value[2]))
            yield from _side_by_side(nodes, at)
        for inner in _inner(kind, value):
            yield from _of_nodes(inner)


def _of_repeat(body: list[Any]) -> Iterator[str]:
    body = _bare(body)
    begins = _first(body)
    if len(body) > 1 or (body and body[0][0] in _BACKTRACKING):
        least, most = _width(body[-1:])
        both = begins & _first(body[-1:])
        if both and least < most and body[-1][0] not in _DETERMINED:
            yield f"a round may end with what begins the next: {_shown(both)}"
    for one, other in combinations(_branches(body), 2):
        both = _first(one) & _first(other)
        if both and (_width(one) != (1, 1) or _width(other) != (1, 1)):
            yield f"two ways to go on: {_shown(both)}"


def _side_by_side(nodes: Sequence[Any], at: int) -> Iterator[str]:
    chars = _first(list(nodes[at][1][2]))
    for kind, value in nodes[at + 1 :]:
        if kind in _BACKTRACKING and value[1] > MANY and chars & _first(list(value[2])):
            yield f"two long repeats of {_shown(chars & _first(list(value[2])))} side by side"
        if not _nullable([(kind, value)]):
            return


def _bare(nodes: list[Any]) -> list[Any]:
    """Return the nodes without a group around all of them."""
    while len(nodes) == 1 and nodes[0][0] is kinds.SUBPATTERN:
        nodes = list(nodes[0][1][3])
    return nodes


def _branches(nodes: list[Any]) -> list[list[Any]]:
    if len(nodes) == 1 and nodes[0][0] is kinds.BRANCH:
        return [list(part) for part in nodes[0][1][1]]
    return []


def _inner(kind: Any, value: Any) -> list[list[Any]]:
    if kind in _REPEATS:
        return [list(value[2])]
    if kind is kinds.SUBPATTERN:
        return [list(value[3])]
    if kind is kinds.ATOMIC_GROUP:
        return [list(value)]
    if kind is kinds.BRANCH:
        return [list(part) for part in value[1]]
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        return [list(value[1])]
    if kind is kinds.GROUPREF_EXISTS:
        return [list(part) for part in value[1:] if part]
    return []


def _first(nodes: Sequence[Any]) -> _Chars:
    """Return with which characters a match of the nodes may begin."""
    chars, barred = _NONE, _NONE
    for kind, value in nodes:
        if kind is kinds.ASSERT_NOT and value[0] > 0:
            inner = list(value[1])
            barred |= _first(inner) if _width(inner) == (1, 1) else _NONE
            continue
        if kind is kinds.ASSERT and value[0] > 0:
            ahead = _first(list(value[1]))
            return (chars | (ahead & _rest_first(nodes, kind, value))) - barred
        chars |= _chars(kind, value)
        if not _nullable([(kind, value)]):
            break
    return chars - barred


def _rest_first(nodes: Sequence[Any], kind: Any, value: Any) -> _Chars:
    at = next(at for at, it in enumerate(nodes) if it[0] is kind and it[1] is value)
    return _first(nodes[at + 1 :])


def _chars(kind: Any, value: Any) -> _Chars:
    if kind is kinds.LITERAL:
        return frozenset(chr(value))
    if kind is kinds.NOT_LITERAL:
        return CHARS - {chr(value)}
    if kind is kinds.ANY:
        return CHARS - {"\n"}
    if kind is kinds.IN:
        return _of_class(value)
    if kind in (kinds.GROUPREF,):
        return frozenset("\"'`\\")
    if kind in (kinds.AT, kinds.ASSERT, kinds.ASSERT_NOT):
        return _NONE
    return frozenset().union(*(_first(part) for part in _inner(kind, value)))


def _of_class(items: Any) -> _Chars:
    chars, negated = set[str](), False
    for kind, value in items:
        if kind is kinds.NEGATE:
            negated = True
        elif kind is kinds.LITERAL:
            chars.add(chr(value))
        elif kind is kinds.RANGE:
            chars |= {char for char in CHARS if value[0] <= ord(char) <= value[1]}
        elif kind is kinds.CATEGORY:
            chars |= {char for char in CHARS if _CATEGORIES[value](char)}
    return CHARS - chars if negated else frozenset(chars)


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    kinds.CATEGORY_DIGIT: str.isdigit,
    kinds.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    kinds.CATEGORY_SPACE: str.isspace,
    kinds.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    kinds.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    kinds.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _width(nodes: Sequence[Any]) -> tuple[int, int]:
    """Return the least and the most characters of a match, 0 for a reference."""
    least = most = 0
    for kind, value in nodes:
        if kind in (kinds.LITERAL, kinds.NOT_LITERAL, kinds.ANY, kinds.IN):
            one = (1, 1)
        elif kind in _REPEATS:
            inner = _width(list(value[2]))
            one = (inner[0] * value[0], inner[1] * int(value[1]))
        elif kind in (kinds.ASSERT, kinds.ASSERT_NOT, kinds.AT):
            one = (0, 0)
        else:
            parts = [_width(part) for part in _inner(kind, value)] or [(0, 0)]
            one = min(it[0] for it in parts), max(it[1] for it in parts)
            if kind is kinds.GROUPREF_EXISTS and len(parts) == 1:
                one = (0, one[1])
        least, most = least + one[0], most + one[1]
    return least, most


def _nullable(nodes: Sequence[Any]) -> bool:
    return _width(nodes)[0] == 0


def _shown(chars: _Chars) -> str:
    return "".join(sorted(chars, key=lambda char: (not char.isalnum(), char))[:8])
