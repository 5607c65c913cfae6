"""Cuts a text of any length into windows that overlap, so that no rule meets more than one."""

from collections.abc import Callable, Iterable

from core.secrets.rules import compiled

WINDOW_CHARS = 32_768
MARGIN_CHARS = 6_144  # the longest key block in use has about 6,000 characters
_BREAK_CHARS = 2_048  # a window ends with a line, or between words, if one ends so near its end

_Span = tuple[int, int, int]  # start, end, number of the rule


def spans_in_windows(text: str, find: Callable[[str], Iterable[_Span]]) -> list[_Span]:
    """Return what `find` finds in each window of a text, at their places in the text.

    Windows overlap: what reaches over the end of one is whole in the next, or the next begins
    where it does.
    """
    if len(text) <= WINDOW_CHARS:
        return list(find(text))
    found: list[_Span] = []
    at = end = 0
    while end < len(text):
        end = _window_end(text, at)
        seen = [(at + start, at + stop, rule) for start, stop, rule in find(text[at:end])]
        found += seen
        next_at = _next_start(text, end)
        half = at + WINDOW_CHARS // 2  # the next one is as far on, or a row of secrets has no end
        cut = [start for start, stop, _ in seen if stop == end and start > half]
        at = min([next_at, *cut])
    return found


def _window_end(text: str, at: int) -> int:
    end = at + WINDOW_CHARS
    if end >= len(text):
        return len(text)
    line = text.rfind("\n", end - _BREAK_CHARS, end) + 1
    return line or text.rfind(" ", end - _BREAK_CHARS, end) + 1 or end


def _next_start(text: str, end: int) -> int:
    """Return where the next window begins: at a line, if one begins there, or at a word."""
    start = end - MARGIN_CHARS
    found = compiled(r"\n|[ ]").search(text, start, start + _BREAK_CHARS)
    line = text.find("\n", start, start + _BREAK_CHARS) + 1
    return line or (found.end() if found else start)
