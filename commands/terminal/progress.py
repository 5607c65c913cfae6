"""Tells who waits at a terminal that a command is at work: one line on standard error."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context

from commands.terminal.columns import cells, fitted
from commands.terminal.screen import screen_here
from core.messages import say

SILENCE_S = 1.0
_EACH_S = 0.5


@contextmanager
def progress() -> Iterator[Callable[[str], object]]:
    """Say after a second that work is under way, and how long it has taken; leave no trace.

    The block prints nothing; it may say how far it is by calling what it gets with a few words.
    Where standard error is no terminal nothing is said.
    """
    far = [""]
    if not (sys.stderr and sys.stderr.isatty()):
        yield far.append
        return
    done = threading.Event()
    teller = threading.Thread(target=copy_context().run, args=(_tell, done, far), daemon=True)
    teller.start()
    try:
        yield far.append
    finally:
        done.set()
        teller.join()


def _tell(done: threading.Event, far: list[str]) -> None:
    started_s, line = time.monotonic(), ""
    while not done.wait(_EACH_S if line else SILENCE_S):
        seconds, before = round(time.monotonic() - started_s), cells(line)
        key = "working_at" if far[-1] else "working"
        said = say(f"terminal.{key}", seconds=seconds, far=far[-1])
        line = fitted(said, screen_here(sys.stderr).width - 1)
        print(f"\r{line}{' ' * (before - cells(line))}", end="", file=sys.stderr, flush=True)
    if line:
        print("\r" + " " * cells(line) + "\r", end="", file=sys.stderr, flush=True)
