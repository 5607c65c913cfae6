"""Texts that want to stall a regular expression, and the time that they take.

An attack is a prefix, a piece that is repeated, and an end at which a match fails. The pieces come
from the tree of the expression (what each of its repeats takes) and from an example of it.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

SIZES = 1_024, 2_048, 4_096, 8_192, 16_384
MOST_GROWTH = 1.3
TOO_LONG = 0.02  # seconds for a text of the first size or less
FAST = 0.004
ENDS = "", "\0", " ", "\n"
LETTERS = "a", "A", "0", " ", "\n", "-", "_", "/", ".", '"', "'", "\\", "''", "a1", "aB", "a.", "a-"

_REPEATS = {kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT}
_FEW = 8  # a repeat of fewer is no way to stall anything
_PIECES = 8
_CATEGORIES = {
    kinds.CATEGORY_DIGIT: "0",
    kinds.CATEGORY_NOT_DIGIT: "a- ",
    kinds.CATEGORY_SPACE: " \n\t",
    kinds.CATEGORY_NOT_SPACE: "a0-가",
    kinds.CATEGORY_WORD: "a0_A가",
    kinds.CATEGORY_NOT_WORD: " -.",
}
_USUAL = "aA0 \n-_/.\"'\\=:,;가"


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


def _inner(kind: Any, value: Any) -> Iterator[list[Any]]:
    if kind in _REPEATS:
        yield list(value[2])
    elif kind is kinds.SUBPATTERN:
        yield list(value[3])
    elif kind is kinds.ATOMIC_GROUP:
        yield list(value)
    elif kind is kinds.BRANCH:
        yield from map(list, value[1])
    elif kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        yield list(value[1])
    elif kind is kinds.GROUPREF_EXISTS:
        yield from (list(part) for part in value[1:] if part)


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
            chars += _CATEGORIES[value]
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
    """Return "" if the time of the last steps grows with the size; noise gets three tries."""
    took = list[float]()
    for attempt in range(3):
        took = []
        for size in SIZES:
            took.append(seconds(call, attack.text(size), 2 + attempt))
            if took[-1] > size * TOO_LONG / SIZES[0]:
                break
        if len(took) == len(SIZES) and _is_linear(took[-1], took[-3]):
            return ""
    return ", ".join(
        f"{size} characters: {it:.4f} s" for size, it in zip(SIZES, took, strict=False)
    )
