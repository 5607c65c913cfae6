"""Splits the file into lines and finds those that an open git conflict has left in it.

Pure: bytes in, line numbers (from 0) out.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import overload

BOM = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_MARKER = re.compile(rb"(?P<run>([<|>])\2{6,})(?: .*)?|(?P<middle>={7,})", re.S)
CONFLICT_BEGIN = re.compile(rb"<{7}(?!<)")
# How a log begins in UTF-16; without a mark its first sign says which of the two it is.
_UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"{\0": "utf-16-le", b"\0{": "utf-16-be"}
_WIDE = ("utf-16-le", "utf-16-be")
_TYPE = re.compile(rb'"[ -~]{10}')  # every record in UTF-8 has that much, UTF-16 hardly ever
_IN_UTF_8, _IN_UTF_16 = re.compile(rb"[\t -~]{16}"), re.compile(r"[\t -~]{4}")


def is_utf_16(data: bytes) -> bool:
    """Return whether a file is UTF-16 from its start to its end, as some editors write it.

    Two bytes in front make no UTF-16 of a file in UTF-8: a reader sees its records all the same.
    """
    encoding = _UTF_16.get(data[:2])
    if not encoding or b"\0" not in data or _TYPE.search(data):
        return False
    try:
        return bool(_IN_UTF_16.search(data.decode(encoding)))
    except UnicodeDecodeError:
        return False


def is_torn_utf_16(data: bytes) -> bool:
    """Return whether a file begins as UTF-16 and holds something else as well."""
    return data.startswith(UTF_16_MARKS) and b"\0" in data and not is_utf_16(data)


def mark_of(line: bytes) -> bytes:
    """Return the byte order mark with which the first line of a UTF-8 file begins, b"" for none.

    A mark of UTF-16 before text that is none hides nothing: some program put it there by mistake.
    """
    if line.startswith(BOM):
        return BOM
    return line[:2] if line.startswith(UTF_16_MARKS) and b"\0" not in line[:4] else b""


def as_utf_8(data: bytes) -> bytes:
    """Return the file as UTF-8 without a byte order mark."""
    read = data.decode(_UTF_16[data[:2]]).encode("utf-8") if is_utf_16(data) else data
    return read.removeprefix(BOM)


def readings(data: bytes) -> list[bytes]:
    """Return a file as UTF-8 in every encoding that it may be, one at least.

    Somebody may have put a mark or a stray byte before it, or joined parts of two encodings: what
    one program cannot read, another one shows.
    """
    if b"\0" not in data and not data.startswith(UTF_16_MARKS):
        return [data.removeprefix(BOM)]
    found = [data.removeprefix(BOM)] if _IN_UTF_8.search(data) else []
    if is_utf_16(data):
        return [as_utf_8(data), *found]
    for name in _WIDE:
        for text in (data[at:].decode(name, "replace").removeprefix("\ufeff") for at in (0, 1)):
            if _IN_UTF_16.search(text):
                found.append(text.encode("utf-8", "replace"))
    return found or [data]


class Lines(Sequence[bytes]):
    r"""The lines of a file with their `\n`, cut out of it when they are asked for.

    A copy of each would need the memory of the file a second time.
    """

    __slots__ = ("_data", "_places")

    def __init__(self, data: bytes) -> None:
        self._data, self._places = data, _starts(data)

    def __len__(self) -> int:
        return len(self._places) - 1

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...
    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        index = at + len(self) if at < 0 else at
        if not 0 <= index < len(self):
            raise IndexError(at)
        return self._data[self._places[index] : self._places[index + 1]]

    def __iter__(self) -> Iterator[bytes]:
        data = self._data
        return (data[start:end] for start, end in pairwise(self._places))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def _starts(data: bytes) -> "array[int]":
    """Return where each line begins, and the end."""
    places, at = array("Q", [0]), data.find(b"\n") + 1
    while at:
        places.append(at)
        at = data.find(b"\n", at) + 1
    if places[-1] < len(data):
        places.append(len(data))
    return places


def split_lines(data: bytes) -> Lines:
    r"""Return the lines of a file with their `\n`, the only line end there is."""
    return Lines(data)


def conflict_lines(lines: Sequence[bytes], entries: Sequence[object]) -> frozenset[int]:
    """Return the lines of conflict markers, and of the common ancestor that git shows between them.

    A record that stands only in the ancestor was removed by both sides.
    """
    found: set[int] = set()
    base_at, base_run = -1, 0
    for at, entry in enumerate(entries):
        if entry is not None:
            continue
        marker = _MARKER.fullmatch(lines[at].removeprefix(BOM).rstrip(b"\r\n"))
        if not marker:
            continue
        found.add(at)
        run = len(marker["run"] or marker["middle"])
        if base_at < 0:
            if marker[0].startswith(b"|"):
                base_at, base_run = at, run
        elif run <= base_run:  # an ancestor with a conflict of its own has longer markers
            if marker["middle"] and run == base_run:
                found.update(range(base_at, at))
            base_at = -1
    return frozenset(found)
