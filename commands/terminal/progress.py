"""Tells who waits at a terminal that a command is at work: one line on standard error."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from commands.terminal.columns import cells, fitted
from commands.terminal.screen import screen_here
from commands.terminal.words import word
from core.messages import Language

SILENCE_S = 1.0
_EACH_S = 0.5


@contextmanager
def progress(lang: Language) -> Iterator[None]:
    """Say after a second that work is under way, and how long it has taken; leave no trace.

    The block prints nothing. Where standard error is no terminal nothing is said.
    """
    if not (sys.stderr and sys.stderr.isatty()):
        yield
        return
    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(lang, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(lang: Language, done: threading.Event) -> None:
    started_s, line = time.monotonic(), ""
    while not done.wait(_EACH_S if line else SILENCE_S):
        said = word(lang, "working", seconds=round(time.monotonic() - started_s))
        line = fitted(said, screen_here(sys.stderr).width - 1)
        print(f"\r{line}", end="", file=sys.stderr, flush=True)
    if line:
        print("\r" + " " * cells(line) + "\r", end="", file=sys.stderr, flush=True)
