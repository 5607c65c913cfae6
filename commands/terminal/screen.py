"""Knows the terminal that lines are written for: its width, its colours and its signs."""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TextIO

LEAST_WIDTH, USUAL_WIDTH, MOST_TEXT_WIDTH = 20, 80, 100

# What each means to a reader: red an error, yellow a warning, green that all is well, dim a path.
Style = Literal["bold", "dim", "red", "green", "yellow"]
Sign = Literal["ok", "error", "warning", "note"]
_CODES: dict[Style, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_RESET = "\x1b[0m"
_FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE")
_SIGNS: dict[Sign, tuple[str, str, Style]] = {
    "ok": ("✓", "ok", "green"),
    "error": ("✗", "x", "red"),
    "warning": ("!", "!", "yellow"),
    "note": ("-", "-", "dim"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The terminal that lines are written for.

    width: in cells. is_terminal: whether a person reads the lines there, and not a program or a
    file. ascii_signs: whether it may lack the signs of other fonts.
    """

    width: int
    colours: bool = False
    is_terminal: bool = False
    ascii_signs: bool = False

    @property
    def text_width(self) -> int:
        """How wide sentences are: longer lines are hard to read."""
        return min(self.width, MOST_TEXT_WIDTH)

    def painted(self, text: str, style: Style) -> str:
        """Return a text in a style, as it is where there are no colours."""
        return f"\x1b[{_CODES[style]}m{text}{_RESET}" if self.colours and text else text

    def sign(self, name: Sign) -> str:
        """Return the sign of what is well, wrong, doubtful or only good to know."""
        sign, ascii_sign, style = _SIGNS[name]
        return self.painted(ascii_sign if self.ascii_signs else sign, style)


def screen_here(stream: TextIO | None = None) -> Screen:
    """Return the terminal of a stream, standard output by default; 80 cells where it is none."""
    shown = stream or sys.stdout
    if shown is None:  # the caller closed it
        return Screen(width=USUAL_WIDTH)
    is_terminal = shown.isatty()
    return Screen(
        width=max(_width_of(shown), LEAST_WIDTH),
        colours=has_colours(os.environ, is_terminal=is_terminal),
        is_terminal=is_terminal,
        ascii_signs=not _has_signs(os.environ, shown.encoding or "utf-8"),
    )


def has_colours(
    environment: Mapping[str, str], *, is_terminal: bool, system: str = os.name
) -> bool:
    """Return whether to write colours: to a terminal that knows them, unless NO_COLOR is set.

    FORCE_COLOR and CLICOLOR_FORCE, other than 0, write them anywhere.
    """
    if environment.get("NO_COLOR"):
        return False
    if any(environment.get(name, "0") not in ("", "0") for name in _FORCING):
        return True
    if not is_terminal or environment.get("TERM") == "dumb":
        return False
    return system != "nt" or bool({"WT_SESSION", "TERM", "ANSICON"} & set(environment))


def _width_of(stream: TextIO) -> int:
    """Return the columns of COLUMNS, else of the terminal itself, else the usual."""
    if "COLUMNS" not in os.environ:
        try:
            return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
        except (OSError, ValueError):  # a pipe, a file, a closed stream
            return USUAL_WIDTH
    return shutil.get_terminal_size((USUAL_WIDTH, 24)).columns


def _has_signs(environment: Mapping[str, str], encoding: str) -> bool:
    """Return whether a stream can carry the signs, and its terminal has a font with them."""
    try:
        "".join(sign for sign, _, _ in _SIGNS.values()).encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return environment.get("TERM") not in ("dumb", "linux")
