"""Prints lines where a person reads them: a terminal gets them wrapped at words, a pipe whole."""

from collections.abc import Iterable, Sequence

from commands.terminal.columns import cells, hung, wrapped
from commands.terminal.screen import Screen, Style, screen_here


def said(text: str, screen: Screen, first: str = "", indent: str = "") -> list[str]:
    """Return a sentence behind `first`, for a terminal in lines, the others behind `indent`."""
    if not screen.is_terminal:
        return [first + text]
    top, *others = wrapped(text, screen.text_width, indent) or [indent]
    return [first + top[len(indent) :], *others]


def painted_diff(lines: Iterable[str], screen: Screen) -> list[str]:
    """Return the lines of a unified diff, what is new in green and what goes in red."""
    styles: dict[str, Style] = {"+": "green", "-": "red", "@": "dim"}
    heads = ("+++ ", "--- ")
    return [
        screen.painted(line, "dim" if line.startswith(heads) else styles[line[0]])
        if line[:1] in styles
        else line
        for line in lines
    ]


def print_lines(lines: Sequence[str]) -> None:
    """Print lines; a terminal gets those that are too long broken, the rest indented below."""
    screen = screen_here()
    for line in lines:
        fits = not screen.is_terminal or cells(line) <= screen.text_width
        print("\n".join([line] if fits else hung(line, screen.text_width)))


def print_within(lines: Sequence[str]) -> None:
    """Print lines, none wider than the terminal, nor in a pipe."""
    width = screen_here().width
    for line in lines:
        print("\n".join([line] if cells(line) <= width else hung(line, width)))
