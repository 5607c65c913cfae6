"""Knows which requests are under way, so that a process ends with each of them answered or named.

A request counts from the moment its line is read until its answer is written: the protocol library
would drop what is under way when the input closes, saves that are done among it.
"""

import json
import re
import threading
import time
from typing import NamedTuple

from mcp.types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from core.messages import say
from core.text.printable import one_line

LOCK_GRACE_S = 0.3  # another session's save takes less
QUIET_S = 20.0  # a search in the largest memory takes less

# Requests that stay open by design.
_LASTING = frozenset(("subscriptions/listen",))
_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?[0-9]+),"(?:result|error)":')
# The tools that change something, each with the argument without which it does not.
_WRITING = {"log_memory": "", "compact_memory": "delete_ids"}
_WRITING |= {"context_save": "", "context_export": "output"}
_WRITING |= dict.fromkeys(("remember", "forget", "link", "amend", "reflect", "tool_feedback"), "")
_WRITING |= dict.fromkeys(("pin", "unpin", "memory_consolidate"), "")
_FAILED = re.compile(rb'"(?:isError":true|error":\{)')


class _Request(NamedTuple):
    key: str
    writes: str  # the tool that changes a memory, "" for what only reads


class UnderWay:
    """The requests that were read and are not answered yet. Safe for threads."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._open: list[_Request] = []
        self._stored: list[_Request] = []
        self._ends_at = float("inf")

    def note_line(self, line: bytes) -> None:
        """Take note of one line of the input: a request, or a cancellation, which is no answer."""
        try:
            message = jsonrpc_message_adapter.validate_json(
                line.decode("utf-8", "replace"), by_name=False
            )
        except ValueError:  # nobody answers it
            return
        if isinstance(message, JSONRPCRequest) and message.method not in _LASTING:
            with self._news:
                self._open.append(_Request(str(message.id), _writing_tool(message)))
        elif (
            isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled"
        ):
            self._close(str((message.params or {}).get("requestId")))

    def note_answer(self, line: bytes, *, is_delivered: bool) -> None:
        """Take note of one line of the output, and whether it reached the client."""
        found = _ANSWER.match(line)
        if found:
            closed = self._close(str(json.loads(found[1])))
            if closed and closed.writes and not is_delivered and not _FAILED.search(line):
                self._stored.append(closed)

    def begin_end(self) -> None:
        """Say that the process ends: from a moment later on no save waits for another process."""
        self._ends_at = min(self._ends_at, time.monotonic() + LOCK_GRACE_S)

    def is_ending(self) -> bool:
        """Return whether a wait for another process must end."""
        return time.monotonic() >= self._ends_at

    def wait(self, most_s: float = float("inf")) -> bool:
        """Wait until everything is answered; return False after `most_s`, or QUIET_S without news.

        most_s: seconds in all.
        """
        deadline = time.monotonic() + most_s
        with self._news:
            while self._open:
                left_s = min(QUIET_S, deadline - time.monotonic())
                if left_s <= 0 or not self._news.wait(left_s):
                    return not self._open
        return True

    def report(self) -> list[str]:
        """Return a sentence for what was stored unanswered, and one for what may have been."""
        with self._news:
            unknown = [request for request in self._open if request.writes]
            known = {"stored_unanswered": self._stored, "ended_unanswered": unknown}
        return [
            say(f"protocol.{key}", calls=_listed(calls)) for key, calls in known.items() if calls
        ]

    def _close(self, key: str) -> _Request | None:
        with self._news:
            found = next((request for request in self._open if request.key == key), None)
            if found:
                self._open.remove(found)
                self._news.notify_all()
            return found


def _writing_tool(request: JSONRPCRequest) -> str:
    params = request.params or {}
    name, arguments = params.get("name"), params.get("arguments")
    if request.method != "tools/call" or not isinstance(arguments, dict):
        return ""
    needed = _WRITING.get(str(name))
    writes = needed is not None and (not needed or arguments.get(needed))
    return str(name) if writes else ""


def _listed(requests: list[_Request]) -> str:
    return ", ".join(f"{it.writes} (id {one_line(it.key)[:40]})" for it in requests)
