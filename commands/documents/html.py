"""Text of strangers in HTML: it stays text, whatever it says, and nothing in it hides."""

import re
from html import escape

from core.messages import Language
from core.text.printable import one_line, printable

_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


def as_line(text: str) -> str:
    """A text on one line, for an element or an attribute in quotes."""
    return escape(one_line(text))


def as_text(text: str) -> str:
    r"""A text with its line ends, for an element that keeps them; a lone `\r` would be a blank."""
    lines = text.strip("\r\n").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return escape("\n".join(map(printable, lines)))


def as_name(text: str) -> str:
    """A name inside a line of ours, which it cannot turn around when it reads right to left."""
    return f"<bdi>{as_line(text)}</bdi>"


def spoken(text: str, lang: Language) -> str:
    """Attributes of an element with such a text: in which direction and language to read it.

    lang: that of the page, which needs no word. A text with any Hangul is Korean.
    """
    own = "ko" if _HANGUL.search(text) else "en"
    return 'dir="auto"' if own == lang else f'dir="auto" lang="{own}"'
