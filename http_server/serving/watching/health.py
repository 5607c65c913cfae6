"""Tells within two seconds whether what the server needs can be used now."""

import threading
import time
from collections.abc import Callable, Mapping

from core.errors import SentinelError, placeless

WITHIN_S = 1.5
FRESH_S = 1.0  # whoever asks more often gets the answer of before

Check = Callable[[], None]  # raises SentinelError, or anything else, where it cannot be used


class _Checking:
    """One check: asked by one thread at a time, since one that hangs may do so for long."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._news = threading.Condition()
        self._begun, self._asked_at, self._fault = 0, float("-inf"), ""
        self._done = 0

    def fault(self) -> str:
        """Return what is wrong now, "" for nothing."""
        with self._news:
            if time.monotonic() - self._asked_at < FRESH_S:
                return self._fault
            if self._done == self._begun:
                self._begun += 1
                threading.Thread(target=self._ask, daemon=True).start()
            awaited = self._begun
            is_done = self._news.wait_for(lambda: self._done >= awaited, WITHIN_S)
            return self._fault if is_done else "no answer"

    def _ask(self) -> None:
        fault = ""
        try:
            self._check()
        except SentinelError as error:
            fault = placeless(error)
        except Exception as error:
            fault = type(error).__name__
        with self._news:
            self._fault, self._asked_at = fault, time.monotonic()
            self._done = self._begun
            self._news.notify_all()


class Health:
    """What can be used now.

    checks: by the name of what is looked at, each with what the details call it. optional: names
    of those without which the server still works.
    """

    def __init__(
        self, checks: Mapping[str, tuple[str, Check]], optional: frozenset[str] = frozenset()
    ) -> None:
        self._checks = {name: (said, _Checking(check)) for name, (said, check) in checks.items()}
        self._optional = optional

    def look(self) -> tuple[bool, dict[str, dict[str, str]]]:
        """Return whether all is well, and the details by name. Takes some WITHIN_S at most."""
        faults: dict[str, str] = {}

        def ask(name: str, checking: _Checking) -> None:
            faults[name] = checking.fault()

        threads = [
            threading.Thread(target=ask, args=(name, it), daemon=True)
            for name, (_, it) in self._checks.items()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WITHIN_S + 0.2)
        details = {}
        for name, (said, _) in self._checks.items():
            fault = faults.get(name, "no answer")
            details[name] = {"name": said, "status": "failed" if fault else "ok"}
            if fault:
                details[name]["fault"] = fault
        needed = (it["status"] for name, it in details.items() if name not in self._optional)
        return all(status == "ok" for status in needed), details
