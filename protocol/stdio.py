"""Serves over standard input and output, and loses no request unsaid.

The library (mcp 2.3.0) cancels open requests when its input closes, and answers "Connection closed"
even to a finished save. Here its input ends once every request is answered. Standard error names
changes without an answer.
"""

import contextlib
import io
import json
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn, cast

from mcp.types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from core.errors import SentinelError
from core.messages import say
from core.program import SERVER
from core.text.plain import one_line
from protocol.arguments import without_surrogates
from protocol.call import RequestError, warn

if TYPE_CHECKING:
    from fastmcp import FastMCP

LOCK_GRACE_S = 0.3  # another session's save takes less
QUIET_S = 20.0  # a search in the largest memory takes less
SIGNAL_GRACE_S = 0.6
END_GRACE_S = 0.4  # for the last steps

# The tools that change something, each with the argument without which it does not.
WRITING_TOOLS = {"log_memory": "", "compact_memory": "delete_ids"}
WRITING_TOOLS |= {"context_save": "", "context_export": "output"}
WRITING_TOOLS |= dict.fromkeys(("remember", "forget", "link", "amend", "reflect"), "")
WRITING_TOOLS |= dict.fromkeys(("tool_feedback", "pin", "unpin", "memory_consolidate"), "")

_CANCEL = "notifications/cancelled"
_LISTEN = "subscriptions/listen"  # stays open by design
_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?[0-9]+),"(?:result|error)":')
_FAILURE = re.compile(rb'"(?:isError":true|error":\{)')
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_KILL_TRIES, _KILL_PAUSE_S = 20, 0.01
_OnFailure = Callable[[OSError], None]
_Step = Callable[[], None]


class _Request(NamedTuple):
    id: str
    writes: str  # the tool that changes a memory, "" for a call that only reads


class OpenRequests:
    """The requests without an answer so far. Safe for threads."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._open_requests: list[_Request] = []
        self._stored_requests: list[_Request] = []
        self._ends_at = float("inf")

    def note_line(self, line: bytes) -> None:
        """Note a request, or a cancellation, in a line of the input."""
        try:
            text = line.decode("utf-8", "replace")
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:  # nobody answers it
            return
        if isinstance(message, JSONRPCRequest) and message.method != _LISTEN:
            params = message.params or {}
            tool, arguments = str(params.get("name")), params.get("arguments")
            writes = False
            if message.method == "tools/call" and isinstance(arguments, dict):
                argument = WRITING_TOOLS.get(tool)
                writes = argument == "" or bool(argument and arguments.get(argument))
            with self._news:
                self._open_requests.append(_Request(str(message.id), tool if writes else ""))
        elif isinstance(message, JSONRPCNotification) and message.method == _CANCEL:
            self._close(str((message.params or {}).get("requestId")))

    def note_answer(self, line: bytes, *, is_delivered: bool) -> None:
        """Note a line of the output. is_delivered: whether it reached the client."""
        match = _ANSWER.match(line)
        request = self._close(str(json.loads(match[1]))) if match else None
        if request and request.writes and not is_delivered and not _FAILURE.search(line):
            self._stored_requests.append(request)

    def begin_ending(self) -> None:
        """Let saves wait for another process for LOCK_GRACE_S more."""
        self._ends_at = min(self._ends_at, time.monotonic() + LOCK_GRACE_S)

    def is_ending(self) -> bool:
        """Return whether a wait for another process must end."""
        return time.monotonic() >= self._ends_at

    def wait(self, most_s: float = float("inf")) -> bool:
        """Wait until all is answered; False after `most_s`, or QUIET_S without an answer."""
        deadline = time.monotonic() + most_s
        with self._news:
            while self._open_requests:
                if not self._news.wait(min(QUIET_S, deadline - time.monotonic())):
                    return not self._open_requests
        return True

    def report(self) -> list[str]:
        """Return a sentence on unanswered changes, and one on possible ones."""
        with self._news:
            open_writes = [request for request in self._open_requests if request.writes]
        sentences = list[str]()
        for key, requests in (("stored", self._stored_requests), ("ended", open_writes)):
            calls = ", ".join(f"{tool} (id {one_line(id_)[:40]})" for id_, tool in requests)
            if calls:
                sentences.append(say(f"protocol.{key}_unanswered", calls=calls))
        return sentences

    def _close(self, request_id: str) -> _Request | None:
        with self._news:
            for request in self._open_requests:
                if request.id == request_id:
                    self._open_requests.remove(request)
                    self._news.notify_all()
                    return request
        return None


class RequestInput(io.RawIOBase):
    """Reads complete lines. on_end: called before the reader learns of the end."""

    def __init__(self, source: BinaryIO, requests: OpenRequests, on_end: _Step) -> None:
        self._source, self._requests, self._on_end = source, requests, on_end
        self._line = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._line:
            line = without_surrogates(self._source.readline())
            if not line:
                self._on_end()
                return 0
            if not line.endswith(b"\n"):  # else its reader waits for more before it is answered
                line += b"\n"
            self._requests.note_line(line)
            self._line = memoryview(line)  # the rest of a long line is not copied
        size = min(len(buffer), len(self._line))
        buffer[:size], self._line = self._line[:size], self._line[size:]
        return size


class AnswerOutput(io.RawIOBase):
    """Writes messages to the descriptor `wire`, and any other output to standard error.

    on_failure: called once, when the client takes no more answers; later ones are dropped.
    """

    _has_failed = False

    def __init__(self, wire: int, requests: OpenRequests, on_failure: _OnFailure) -> None:
        self._wire, self._requests, self._on_failure = wire, requests, on_failure

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        line = bytes(data)
        if not line.startswith(b'{"jsonrpc"'):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.buffer.write(line)
            return len(line)
        if not self._has_failed:
            try:
                rest = memoryview(line)
                while rest:
                    try:
                        rest = rest[os.write(self._wire, rest) :]
                    except BlockingIOError:  # the client set its pipe not to block
                        select.select([], [self._wire], [])
            except OSError as error:
                self._has_failed = True
                self._on_failure(error)
        self._requests.note_answer(line, is_delivered=not self._has_failed)
        return len(line)


class Ending:
    """Ends this process once: at a signal, a closed input or a client that takes no answers.

    Open requests are answered first: within SIGNAL_GRACE_S, or at a closed input until QUIET_S pass
    without an answer. last_steps: run before the end, for END_GRACE_S.
    """

    def __init__(self, requests: OpenRequests, last_steps: Iterable[_Step] = ()) -> None:
        self._requests, self._last_steps = requests, last_steps
        self._turn = threading.Lock()
        self._read_end, self._write_end = os.pipe()  # the numbers of signals

    def watch(self) -> None:
        """Wait for signals. Call it in the main thread."""
        threading.Thread(target=self._end_at_signal, daemon=True).start()
        if os.name == "posix":
            # Python calls a handler in the main thread, which may sleep in its loop just then and
            # not see the signal; a byte that is written here at once wakes a thread of its own.
            os.set_blocking(self._write_end, False)
            signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)

    def on_end_of_input(self) -> None:
        """Return once everything is answered; otherwise end the process."""
        self._requests.begin_ending()
        if not self._requests.wait():
            self._end(0)
        self._run_last_steps()

    def on_failed_output(self, error: OSError) -> None:
        """End the process soon: nobody reads its answers."""
        code = 0 if isinstance(error, BrokenPipeError) else 1
        threading.Thread(target=self._end_soon, args=[code], daemon=True).start()

    def _on_signal(self, number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)  # a second one ends the process at once
        with contextlib.suppress(OSError):  # full: many came before
            os.write(self._write_end, bytes([number]))

    def _end_at_signal(self) -> None:
        number = 0
        while number not in _SIGNALS:  # one that somebody else handles is written as well
            [number] = os.read(self._read_end, 1)
        self._end_soon(128 + number, number)

    def _end_soon(self, code: int, number: int = 0) -> NoReturn:
        self._requests.begin_ending()
        self._requests.wait(SIGNAL_GRACE_S)
        self._end(code, number)

    def _run_last_steps(self) -> None:
        """Run the last steps once, for END_GRACE_S at most."""
        with self._turn:
            steps, self._last_steps = self._last_steps, ()

        def run() -> None:
            for step in steps:
                try:
                    step()
                except SentinelError as error:
                    warn([str(error)])

        if steps:
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            thread.join(END_GRACE_S)

    def _end(self, code: int, number: int = 0) -> NoReturn:
        """End the process, on POSIX by the signal `number` unless it is 0."""
        self._run_last_steps()
        self._turn.acquire()  # and never given back: one thread reports
        with contextlib.suppress(OSError, ValueError):
            for sentence in self._requests.report():
                # In one piece: where the input ends as well, the main thread may end the process.
                print(f"{SERVER}: {sentence}\n", end="", file=sys.stderr, flush=True)
        if number and os.name == "posix":
            for _ in range(_KILL_TRIES):  # until the main thread has put the default back
                os.kill(os.getpid(), number)
                time.sleep(_KILL_PAUSE_S)
        os._exit(code)


def serve_streams(server: "FastMCP", requests: OpenRequests, last_steps: Iterable[_Step]) -> None:
    """Serve until the input closes or a signal comes; see `Ending`. Raises RequestError."""
    if sys.stdin is None or sys.stdout is None:
        raise RequestError("no_streams")
    ending = Ending(requests, last_steps)
    ending.watch()
    lines = RequestInput(cast(BinaryIO, sys.stdin.buffer), requests, ending.on_end_of_input)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(lines), encoding="utf-8", errors="replace")
    wire = os.dup(sys.stdout.fileno())
    with contextlib.suppress(OSError, AttributeError):  # whatever else prints is no protocol
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    answers = AnswerOutput(wire, requests, ending.on_failed_output)
    sys.stdout = io.TextIOWrapper(cast(BinaryIO, answers), encoding="utf-8")
    server.run(transport="stdio", show_banner=False, log_level="WARNING")
