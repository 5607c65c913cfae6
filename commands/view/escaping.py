"""Puts untrusted text into HTML: it stays text, and hidden characters are spelled out."""

import re
from html import escape

from core.messages import language
from core.text.plain import one_line, printable

_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


def as_line(text: str) -> str:
    """Return a text as one line, for an element or a quoted attribute."""
    return escape(one_line(text))


def as_text(text: str) -> str:
    r"""Return a text with its line ends, a lone `\r` among them, for an element that keeps them."""
    lines = text.strip("\r\n").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return escape("\n".join(map(printable, lines)))


def as_name(text: str) -> str:
    """Return a name for the middle of a sentence; right-to-left text in it stays inside."""
    return f"<bdi>{as_line(text)}</bdi>"


def spoken(text: str) -> str:
    """Return the attributes for direction and language of an element with this text.

    A text with any Hangul is Korean.
    """
    own = "ko" if _HANGUL.search(text) else "en"
    return 'dir="auto"' if own == language() else f'dir="auto" lang="{own}"'
