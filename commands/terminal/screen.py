"""Knows the terminal that lines are written for: how wide it is, and whether it shows colours."""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TextIO

LEAST_WIDTH = 20

# What each means to a reader: red an error, yellow a warning, green that all is well, dim a path.
Style = Literal["bold", "dim", "red", "green", "yellow"]
_CODES: dict[Style, int] = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}
_CODE = re.compile("\x1b\\[[0-9]*m")
_RESET = "\x1b[0m"
_FORCING = ("FORCE_COLOR", "CLICOLOR_FORCE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The terminal that lines are written for: its width in cells, and whether it shows colours."""

    width: int
    colours: bool = False

    def painted(self, text: str, style: Style) -> str:
        """Return a text in a style, as it is where there are no colours."""
        return f"\x1b[{_CODES[style]}m{text}{_RESET}" if self.colours and text else text


def screen_here(stream: TextIO | None = None) -> Screen:
    """Return the terminal of a stream, standard output by default; 80 cells where it is none."""
    shown = stream or sys.stdout
    width = max(shutil.get_terminal_size((80, 24)).columns, LEAST_WIDTH)
    return Screen(width=width, colours=has_colours(os.environ, is_terminal=shown.isatty()))


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


def uncoloured(text: str) -> str:
    """Return a text without the codes of `painted`."""
    return _CODE.sub("", text)
