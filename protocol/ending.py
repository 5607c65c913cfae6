"""Ends the process: when the client closes the input, takes no answer, or a signal comes.

What is under way is finished and answered as long as that takes no more than a moment; what was
stored and could not be answered is said on standard error.
"""

import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import NoReturn

from core.errors import SentinelError
from core.program import SERVER
from protocol.call import warn
from protocol.under_way import UnderWay

SIGNAL_GRACE_S = 0.6
END_GRACE_S = 0.4  # for what is put away at the end
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_TIMES_KILLED, _BETWEEN_S = 20, 0.01


class Ending:
    """Ends this process once; `watch` must have been called in the main thread."""

    def __init__(self, under_way: UnderWay, at_end: Iterable[Callable[[], None]] = ()) -> None:
        """at_end: what is done last, once everything is answered, if that takes only a moment."""
        self._under_way, self._at_end = under_way, at_end
        self._turn = threading.Lock()
        self._causes: queue.SimpleQueue[int] = queue.SimpleQueue()  # a signal handler may use it

    def watch(self) -> None:
        """Wait for signals and for a client that takes no answers."""
        threading.Thread(target=self._end_when_told, daemon=True).start()
        if os.name == "posix":
            # Python calls a handler in the main thread, which may sleep in its loop just then and
            # not see the signal; what is written here at once wakes a thread of its own.
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
            threading.Thread(target=self._wait_for_signal, args=(reading,), daemon=True).start()
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)

    def on_end_of_input(self) -> None:
        """Return when everything is answered; end the process if that does not come about."""
        self._under_way.begin_end()
        if not self._under_way.wait():
            self._end(0)
        self._put_away()

    def on_failed_output(self, error: OSError) -> None:
        """End the process soon: nobody reads its answers."""
        self._causes.put(0 if isinstance(error, BrokenPipeError) else 1)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once
        self._causes.put(-number)

    def _wait_for_signal(self, reading: int) -> None:
        while (number := os.read(reading, 1)[0]) not in _SIGNALS:
            pass
        self._causes.put(-number)

    def _end_when_told(self) -> None:
        cause = self._causes.get()
        self._under_way.begin_end()
        self._under_way.wait(SIGNAL_GRACE_S)
        self._end(cause)

    def _put_away(self) -> None:
        """Do what is left for the end, once; what takes longer is given up with the process."""
        with self._turn:
            steps, self._at_end = self._at_end, ()
        if steps:
            last = threading.Thread(target=_done, args=(steps,), daemon=True)
            last.start()
            last.join(END_GRACE_S)

    def _end(self, cause: int) -> NoReturn:
        """End with this status; a negative one is a signal, by which the process then dies."""
        self._put_away()
        with contextlib.suppress(OSError, ValueError):
            for sentence in self._under_way.report():
                # In one piece: where the input ends as well, the main thread may end the process.
                print(f"{SERVER}: {sentence}\n", end="", file=sys.stderr, flush=True)
        if cause < 0 and os.name == "posix":
            for _ in range(_TIMES_KILLED):  # until the main thread has put the default back
                os.kill(os.getpid(), -cause)
                time.sleep(_BETWEEN_S)
        os._exit(cause if cause >= 0 else 128 - cause)


def _done(steps: Iterable[Callable[[], None]]) -> None:
    for step in steps:
        try:
            step()
        except SentinelError as error:
            warn([str(error)])
