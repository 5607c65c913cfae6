"""Parses the arguments of a command line, and repeats none of them unprintable."""

import argparse
from typing import NoReturn

from core.notices import shown


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are safe on a terminal; its commands get parsers of the same kind."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong, and end with 2. Raises SystemExit."""
        super().error(shown(message))
