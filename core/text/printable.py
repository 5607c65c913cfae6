"""Makes any text safe inside a line of ours: no line ends, nothing hidden, no half characters."""

import re

from core.guard.hidden import BLANKS, HIDDEN_CLASS, is_plain, revealed

# Other signs that some reader takes for the end of a line are spelled out as hidden ones.
LINE_ENDS = re.compile("\r\n|[\n\r\u2028\u2029]")
SURROGATE = re.compile("[\ud800-\udfff]")
_PATH_CHARS = 200
_UNPRINTABLE = f"[{HIDDEN_CLASS}{BLANKS}\ud800-\udfff]"  # compiled where a text needs it


def one_line(text: str) -> str:
    """Return text without line ends and hidden characters, for use inside a line of ours."""
    return printable(LINE_ENDS.sub(" ", text))


def flat(text: str) -> str:
    """Return text as one line without runs of blanks and without anything hidden."""
    return " ".join(one_line(text).split())


def printable(text: str) -> str:
    """Return text as it is, hidden characters spelled out and lone surrogates shown as U+FFFD.

    A byte order mark is harmless only where a text begins, and something is put before this one.
    """
    if is_plain(text) or not re.search(_UNPRINTABLE, text):
        return text
    return SURROGATE.sub("\ufffd", revealed(f" {text}")[1:])


def shown_path(path: object) -> str:
    """Return a path that somebody else may have written, as one line of moderate length."""
    text = one_line(str(path))
    return text if len(text) <= _PATH_CHARS else f"{text[:_PATH_CHARS]}…"
