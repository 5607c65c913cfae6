"""Reads what a person typed: a moment, and names that resemble one that is not there."""

import argparse
import difflib
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from commands.terminal.console import moment
from commands.terminal.safe_text import plain
from core.messages import say
from core.text.plain import moment_of


def when(text: str) -> str:
    """Return the day or moment of an option in ISO 8601. Raises ArgumentTypeError."""
    try:
        back = moment(text)
    except argparse.ArgumentTypeError:
        if given := moment_of(text):
            return given
        raise argparse.ArgumentTypeError(say("terminal.no_when")) from None
    if text[:4].isdigit() and "-" in text:  # a day stays one: its end is meant, too
        return text
    return datetime.fromtimestamp(min(back, time.time()), UTC).isoformat(timespec="seconds")


def near_to(name: str, known: Sequence[str]) -> str:
    """Return which of the known names somebody may have meant, "" for none."""
    folded = {it.casefold(): it for it in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    begun = [it for it in folded if it.startswith(name.casefold())]
    return plain(", ".join(folded[it] for it in dict.fromkeys((*begun, *near))))
