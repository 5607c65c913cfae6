"""Finds what stalls a regular expression: by its tree, and by texts that want to stall it.

It walks the tree that `re` makes of an expression, possessive repeats and atomic groups included,
which the checkers that others keep do not know. `ambiguities` finds what can read one text in many
ways: a repeat whose rounds can be parted in several ways, alternatives of a repeat that begin
alike, and two long repeats of the same characters side by side. Characters are looked at by a
choice of them.

An attack is a prefix, a piece that is repeated, and an end at which a match fails. The pieces come
from the tree (what each of its repeats takes) and from an example of it; `growth` takes the time.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MANY = 32  # times; fewer are no way to stall anything
CHARS = frozenset(map(chr, range(128))) | frozenset("é가ᄀ “…→\u2028")
SIZES = 1_024, 2_048, 4_096, 8_192, 16_384
MOST_GROWTH = 1.3
TOO_LONG = 0.02  # seconds for a text of the first size or less
FAST = 0.004
ENDS = "", "\0", " ", "\n"
LETTERS = "a", "A", "0", " ", "\n", "-", "_", "/", ".", '"', "'", "\\", "''", "a1", "aB", "a.", "a-"

_FEW = 8  # a repeat of fewer is no way to stall anything
_PIECES = 8
_USUAL = "aA0 \n-_/.\"'\\=:,;가"

_BACKTRACKING = {kinds.MAX_REPEAT, kinds.MIN_REPEAT}
_DETERMINED = {kinds.POSSESSIVE_REPEAT, kinds.ATOMIC_GROUP, kinds.GROUPREF}
_REPEATS = _BACKTRACKING | {kinds.POSSESSIVE_REPEAT}
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    kinds.CATEGORY_DIGIT: str.isdigit,
    kinds.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    kinds.CATEGORY_SPACE: str.isspace,
    kinds.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    kinds.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    kinds.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}
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
        return _class_of(value)
    if kind is kinds.GROUPREF:
        return frozenset("\"'`\\")
    if kind in (kinds.AT, kinds.ASSERT, kinds.ASSERT_NOT):
        return _NONE
    return frozenset().union(*(_first(part) for part in _inner(kind, value)))


def _class_of(items: Any) -> _Chars:
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


# texts that want to stall an expression


class Attack(NamedTuple):
    """A text of any length: `prefix`, `piece` again and again, `end`."""

    prefix: str
    piece: str
    end: str = ""

    def text(self, size: int) -> str:
        """Return about `size` characters."""
        room = max(0, size - len(self.prefix) - len(self.end))
        return self.prefix + self.piece * max(1, room // len(self.piece)) + self.end


def attacks_of(pattern: str, example: str = "", flags: int = 0) -> Iterator[Attack]:
    """Yield the attacks on an expression, each once; example: a text in which it matches."""
    seen = set[Attack]()
    for attack in (*_by_tree(pattern, flags), *by_example(example)):
        if attack not in seen:
            seen.add(attack)
            yield attack


def by_example(example: str) -> Iterator[Attack]:
    """Yield an example cut at each place, with its own last letters or usual ones repeated."""
    for cut in range(1, len(example) + 1):
        prefix = example[:cut]
        yield Attack("", prefix)
        own = {prefix[-1], prefix[-2:], prefix[-3:]}
        for piece in (*sorted(own), *LETTERS):
            yield Attack(prefix, piece, "\0")


def _by_tree(pattern: str, flags: int) -> Iterator[Attack]:
    tree = parser.parse(pattern, flags)
    for before, pieces in _repeats(list(tree), [""]):
        for prefix in before:
            for piece in pieces:
                for end in ENDS:
                    yield Attack(prefix, piece, end)
                if prefix:
                    yield Attack("", prefix + piece)
                    yield Attack("", prefix + piece * 40, "\0")
        for one, other in pairwise(pieces):
            for prefix in before:
                yield Attack(prefix, one + other, "\0")


def _repeats(nodes: list[Any], before: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield what stands before each repeat of a tree, and what it repeats."""
    for node in nodes:
        kind, value = node
        if kind in _REPEATS and value[1] >= _FEW:
            pieces = [piece for piece in _samples(list(value[2])) if piece]
            if pieces:
                yield before, pieces
        for inner in _inner(kind, value):
            yield from _repeats(inner, before)
        tails = _samples([node], least=2)
        before = [(head + tail) for head in before for tail in tails][:3] or before


def _samples(nodes: list[Any], least: int = _PIECES) -> list[str]:
    """Return up to `least` texts that a part of a tree may take."""
    found = [""]
    for node in nodes:
        tails = _of_node(*node)
        found = [head + tail for tail in tails for head in found[:2]][:least]
        if not found:
            return [""]
    return found


def _of_node(kind: Any, value: Any) -> list[str]:
    if kind is kinds.LITERAL:
        return [chr(value)]
    if kind is kinds.NOT_LITERAL:
        return [char for char in _USUAL if ord(char) != value]
    if kind is kinds.ANY:
        return list("a ")
    if kind is kinds.IN:
        return _of_class(value) or [""]
    if kind in _REPEATS:
        bodies = _samples(list(value[2]))
        return [body * max(value[0], 1 if value[1] else 0) for body in bodies]
    if kind is kinds.BRANCH:
        return [text for part in value[1] for text in _samples(list(part), 2)]
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        behind = kind is kinds.ASSERT and value[0] < 0
        return _samples(list(value[1]), 2) if behind else [""]
    if kind in (kinds.SUBPATTERN, kinds.ATOMIC_GROUP):
        return _samples(list(value[3] if kind is kinds.SUBPATTERN else value))
    if kind is kinds.GROUPREF_EXISTS:
        return [text for part in value[1:] if part for text in _samples(list(part), 2)]
    return [""]


def _of_class(items: Iterable[Any]) -> list[str]:
    negated, chars = False, list[str]()
    for kind, value in items:
        if kind is kinds.NEGATE:
            negated = True
        elif kind is kinds.LITERAL:
            chars.append(chr(value))
        elif kind is kinds.RANGE:
            chars += dict.fromkeys([chr(value[0]), chr(value[1])])
        elif kind is kinds.CATEGORY:
            chars += filter(_CATEGORIES[value], _USUAL)
    if negated:
        item = re.compile("[" + re.escape("".join(chars)) + "]") if chars else None
        return [char for char in _USUAL if not (item and item.match(char))]
    return chars[:_PIECES]


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
    """Return "" for an attack that takes no more than linear time, or what it takes.

    The sizes rise slowly, so that exponential time is seen before it lasts. fast: seconds for a
    text of the greatest size that are not worth a closer look.
    """
    size = 16
    while size < SIZES[0]:
        took = seconds(call, attack.text(size))
        if took > 10 * TOO_LONG or (
            took > TOO_LONG and (took := seconds(call, attack.text(size), 3)) > TOO_LONG
        ):
            return f"{size} characters: {took:.3f} s"
        size = size * 3 // 2 if size < 160 else size * 3
    # Twice, as something else may have taken the time.
    is_fine = _is_fine(call, attack, fast) or _is_fine(call, attack, fast)
    return "" if is_fine else _ladder(call, attack)


def _is_fine(call: Callable[[str], object], attack: Attack, fast: float) -> bool:
    """Return whether a few sizes take so little, or grow so slowly, that no more need be tried."""
    for size in SIZES[1::2]:
        took = seconds(call, attack.text(size))
        if took < fast * (size / SIZES[-1]) ** 2:
            return True
        if took > TOO_LONG * size / SIZES[0]:
            return False
    longest = seconds(call, attack.text(SIZES[-1]))
    return longest < fast or _is_linear(longest, seconds(call, attack.text(SIZES[-3]), 2))


def _is_linear(longest: float, shorter: float) -> bool:
    """Return whether the time of the greatest size fits that of a quarter of it."""
    is_short = longest <= SIZES[-1] * TOO_LONG / SIZES[0]
    return is_short and longest <= shorter * (2 * MOST_GROWTH) ** 2


def _ladder(call: Callable[[str], object], attack: Attack) -> str:
    """Return "" if the time of the last steps grows with the size; noise gets a second try."""
    took = list[float]()
    for attempt in range(2):
        took = []
        for size in SIZES:
            took.append(seconds(call, attack.text(size), 1 + attempt))
            if took[-1] > size * TOO_LONG / SIZES[0]:
                break
        if len(took) == len(SIZES) and _is_linear(took[-1], took[-3]):
            return ""
    return ", ".join(
        f"{size} characters: {it:.4f} s" for size, it in zip(SIZES, took, strict=False)
    )
