"""Reads and writes the lines of the protocol, and takes note of each request and its answer."""

import contextlib
import io
import os
import select
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from protocol.half_characters import answerable
from protocol.under_way import UnderWay


class RequestInput(io.RawIOBase):
    """Gives the lines of `source`, each complete; its end comes when all requests are answered.

    at_end: called at the end of the source, before the reader gets to know of it.
    """

    def __init__(self, source: BinaryIO, under_way: UnderWay, at_end: Callable[[], None]) -> None:
        self._source = source
        self._under_way = under_way
        self._at_end = at_end
        self._line = memoryview(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` from the current line; 0 at the end of the input."""
        if not self._line:
            self._line = memoryview(self._next_line())
        size = min(len(buffer), len(self._line))
        buffer[:size] = self._line[:size]
        self._line = self._line[size:]  # a view: the rest of a long line is not copied
        return size

    def _next_line(self) -> bytes:
        line = answerable(self._source.readline())
        if not line:
            self._at_end()
            return b""
        if not line.endswith(b"\n"):  # else the reader would look for its end before it is answered
            line += b"\n"
        self._under_way.note_line(line)
        return line


class AnswerOutput(io.RawIOBase):
    """Writes whole messages to the descriptor `wire`; what else is printed goes to standard error.

    at_failure: called once, when the client does not take any answer more. Later ones are dropped.
    """

    def __init__(
        self, wire: int, under_way: UnderWay, at_failure: Callable[[OSError], None]
    ) -> None:
        self._wire = wire
        self._under_way = under_way
        self._at_failure = at_failure
        self._has_failed = False

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Write all of the data, which is one message."""
        line = bytes(data)
        if not line.startswith(b'{"jsonrpc"'):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.buffer.write(line)
            return len(line)
        if not self._has_failed:
            self._has_failed = not self._written(line)
        self._under_way.note_answer(line, is_delivered=not self._has_failed)
        return len(line)

    def _written(self, line: bytes) -> bool:
        rest = memoryview(line)
        try:
            while rest:
                try:
                    rest = rest[os.write(self._wire, rest) :]
                except BlockingIOError:  # the client set its pipe not to block
                    select.select([], [self._wire], [])
        except OSError as error:
            self._under_way.begin_end()
            self._at_failure(error)
            return False
        return True


def take_streams(
    under_way: UnderWay,
    on_end_of_input: Callable[[], None],
    on_failed_output: Callable[[OSError], None],
) -> None:
    """Put streams that know what is under way in the place of standard input and output."""
    lines = RequestInput(cast(io.BufferedReader, sys.stdin.buffer), under_way, on_end_of_input)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(lines), encoding="utf-8", errors="replace")
    wire = os.dup(sys.stdout.fileno())
    with contextlib.suppress(OSError, AttributeError):  # whatever else prints is no protocol
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    answers = AnswerOutput(wire, under_way, on_failed_output)
    sys.stdout = io.TextIOWrapper(cast(BinaryIO, answers), encoding="utf-8")
