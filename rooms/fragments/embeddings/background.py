"""Does work in one thread of this process, and again after a failure, ever more rarely."""

import os
import threading
from collections.abc import Callable

from core.errors import SentinelError, WaitEndedError
from rooms.fragments.errors import ServiceError

FIRST_PAUSE_S, MOST_PAUSE_S = 5.0, 600.0


class Background:
    """Work by name, done one after the other. Safe to use from several threads.

    The thread is a daemon: the process ends without waiting for it. It lives as long as there is
    work. failure: that of the last piece of work that failed, None once one was done again.
    """

    def __init__(
        self, first_pause_s: float = FIRST_PAUSE_S, most_pause_s: float = MOST_PAUSE_S
    ) -> None:
        self._first_pause_s, self._most_pause_s = first_pause_s, most_pause_s
        self.failure: SentinelError | None = None
        self._process, self._news = os.getpid(), threading.Condition()
        self._work: dict[str, Callable[[], object]] = {}
        self._thread: threading.Thread | None = None

    def do(self, name: str, work: Callable[[], object]) -> None:
        """Have work done soon; returns at once. Work of the same name that waits is replaced."""
        if self._process != os.getpid():  # a thread stays with the process that began it
            self._process, self._news = os.getpid(), threading.Condition()
            self._work, self._thread = {}, None
        with self._news:
            self._work[name] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="embeddings", daemon=True)
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait until all work is done or given up; return whether it is."""
        with self._news:
            return self._news.wait_for(lambda: self._thread is None, timeout_s)

    def _run(self) -> None:
        try:
            self._do_all()
        finally:  # whatever it ends with, the next piece of work gets another thread
            with self._news:
                if self._thread is threading.current_thread():
                    self._thread = None
                    self._news.notify_all()

    def _do_all(self) -> None:
        pauses = dict[str, float]()
        while True:
            with self._news:
                if not self._work:
                    self._thread = None  # before the lock is free, or new work would be left lying
                    self._news.notify_all()
                    return
                name, work = next(iter(self._work.items()))
                del self._work[name]
            wanted_s = self._done(work)
            if wanted_s is None:
                pauses.pop(name, None)
                continue
            pause_s = max(pauses.get(name, self._first_pause_s), wanted_s)
            pauses[name] = min(pause_s * 2, self._most_pause_s)
            threading.Event().wait(pause_s)
            with self._news:
                self._work.setdefault(name, work)

    def _done(self, work: Callable[[], object]) -> float | None:
        """Do it; return None once it is done or given up, else the seconds that it has to rest."""
        try:
            work()
        except WaitEndedError:  # the process is about to end
            return None
        except ServiceError as error:
            self.failure = error
            # Where somebody has to change something first, the next save tries again.
            return error.retry_after_s if error.is_passing else None
        except SentinelError as error:
            self.failure = error
            return 0.0
        self.failure = None
        return None
