"""Takes out of Markdown what is shown as it stands: code and comments."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

_SHOWN = re.compile(
    r"""
    ^(?:[ ]{4}|[ ]{0,3}\t)[^\n]*                                        # indented code
    | ^[ >]*+(?:(?:[-*+]|\d++[.)])[ ]++)?(?P<fence>`{3,}+(?=[^`\n]*+$)|~{3,}+)
    | (?P<comment><!--)
    | (?P<ticks>`++)
    """,
    re.MULTILINE | re.VERBOSE,
)
_FENCE = re.compile(r"^[ >]*+(?P<fence>(?P<sign>[`~])(?P=sign){2,}+)[`~]*+[ \t\r]*+$", re.MULTILINE)
_RUN = re.compile("`++")
_BLANK_LINE = re.compile(r"\n[ \t\r]*+(?=\n)")


def without_code(text: str) -> str:
    """Return the text with one backtick for each fence, code span, indented line and comment.

    A fence or a comment that is not closed goes on to the end; backticks that are not closed in
    their paragraph are no code.
    """
    parts: list[str] = []
    at = 0
    for start, end in _code(text):
        parts += [text[at:start], "`"]
        at = end
    return "".join([*parts, text[at:]])


def _code(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    ends = _Ends(text)
    while found := _SHOWN.search(text, at):
        start, end = found.span()
        if fence := found["fence"]:
            end = ends.of_fence(fence, end)
        elif found["comment"]:
            end = ends.of_comment(end)
        elif found["ticks"]:
            end = ends.of_span(start, end)
        at = max(end, found.end())
        if end > start:
            yield start, end


class _Ends:
    """Where each kind of code ends; looked up once, since every beginning may ask."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._runs: dict[int, list[int]] | None = None
        self._blanks: list[int] = []
        self._fences: dict[str, list[tuple[int, int, int]]] | None = None

    def of_fence(self, fence: str, at: int) -> int:
        """Return where the fence that closes another one ends."""
        if self._fences is None:
            self._fences = {"`": [], "~": []}
            for it in _FENCE.finditer(self._text):
                self._fences[it["sign"]].append((it.start("fence"), len(it["fence"]), it.end()))
        fences = self._fences[fence[0]]
        for number in range(bisect_left(fences, (at, 0, 0)), len(fences)):
            _, length, end = fences[number]
            if length >= len(fence):
                return end
        return len(self._text)

    def of_comment(self, at: int) -> int:
        """Return where a comment ends."""
        found = self._text.find("-->", at)
        return len(self._text) if found < 0 else found + len("-->")

    def of_span(self, start: int, end: int) -> int:
        """Return where the next run of as many backticks in the paragraph ends, or `start`."""
        if self._runs is None:
            self._runs = {}
            for it in _RUN.finditer(self._text):
                self._runs.setdefault(len(it[0]), []).append(it.start())
            self._blanks = [it.start() for it in _BLANK_LINE.finditer(self._text)]
        runs = self._runs[end - start]
        at = bisect_right(runs, start)
        blank = bisect_left(self._blanks, end)
        last = self._blanks[blank] if blank < len(self._blanks) else len(self._text)
        return runs[at] + end - start if at < len(runs) and runs[at] < last else start
