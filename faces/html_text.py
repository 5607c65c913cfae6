"""Text of strangers in HTML: it stays text, whatever it says, and nothing in it hides."""

from html import escape

from core.rendering import one_line, printable


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
