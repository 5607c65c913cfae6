"""Puts a block of ours into a text file of the user, replaces it, takes it out; all else stays.

Two comment lines of Markdown around the block name it, so it is found again after the user edited
the file. Taking it out gives the text back byte for byte.
"""

import re

_NAME = re.compile(r"[a-z]+(?:-[a-z]+)*")


class BrokenBlockError(ValueError):
    """A marker stands alone, twice or in the wrong order: nobody knows what the block is."""


def block_in(text: str, name: str) -> str | None:
    """Return what stands between the markers of `name`, without adjoining line ends; None: nothing.

    Raises BrokenBlockError.
    """
    found = _place(text, name)
    return None if found is None else text[found[1] : found[2]].strip("\r\n")


def with_block(text: str, name: str, body: str) -> str:
    """Return the text with this block: where the old one stood, else at its end after a blank line.

    The line ends of the text are kept: one that has none at its end gets none, one with `\\r\\n`
    gets a block with them. A block that says the same with other line ends stays as it is.
    Raises BrokenBlockError.
    """
    newline = "\r\n" if "\r\n" in text or text.endswith("\r") else "\n"
    begin, end = markers(name)
    block = newline.join([begin, *body.strip("\r\n").splitlines(), end])
    found = _place(text, name)
    if found is not None:
        if text[found[0] : found[3]].splitlines() == block.splitlines():
            return text
        return text[: found[0]] + block + text[found[3] :]
    if not text.strip("\ufeff"):
        return text + block + newline
    ended = text.endswith("\n")
    return text + newline * (1 if ended else 2) + block + newline * ended


def without_block(text: str, name: str) -> str:
    """Return the text without this block and the blank line that was put before it.

    Raises BrokenBlockError.
    """
    found = _place(text, name)
    if found is None:
        return text
    before, after = text[: found[0]], text[found[3] :]
    if before.strip("\ufeff"):
        before = _without_newline(before)
        if not after:
            return _without_newline(before)
    return before + _without_newline(after, first=True)


def markers(name: str) -> tuple[str, str]:
    """Return the lines before and after this name's block (lower-case words joined by hyphens)."""
    if not _NAME.fullmatch(name):
        raise ValueError(name)
    return f"<!-- sentinel-memory {name}: begin -->", f"<!-- sentinel-memory {name}: end -->"


def _place(text: str, name: str) -> tuple[int, int, int, int] | None:
    """Return where the begin marker starts and ends, and where the end marker does."""
    begins, ends = (list(re.finditer(re.escape(marker), text)) for marker in markers(name))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise BrokenBlockError(name)
    return begins[0].start(), begins[0].end(), ends[0].start(), ends[0].end()


def _without_newline(text: str, *, first: bool = False) -> str:
    for newline in ("\r\n", "\n"):
        if first and text.startswith(newline):
            return text[len(newline) :]
        if not first and text.endswith(newline):
            return text[: -len(newline)]
    return text
