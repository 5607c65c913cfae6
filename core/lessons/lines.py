"""Splits the file into lines and finds those that an open git conflict has left in it.

Pure: bytes in, line numbers (from 0) out.
"""

import re
from collections.abc import Sequence

BOM = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_MARKER = re.compile(rb"(?P<run>([<|>])\2{6,})(?: .*)?|(?P<middle>={7,})", re.S)
CONFLICT_BEGIN = re.compile(rb"<{7}(?!<)")


def is_utf_16(data: bytes) -> bool:
    """Return whether a file is UTF-16 from its mark to its end, as some editors write it."""
    if not data.startswith(UTF_16_MARKS):
        return False
    try:
        data.decode("utf-16")
    except UnicodeDecodeError:
        return False
    return True


def as_utf_8(data: bytes) -> bytes:
    """Return the file as UTF-8 without a byte order mark."""
    read = data.decode("utf-16").encode("utf-8") if is_utf_16(data) else data
    return read.removeprefix(BOM)


def split_lines(data: bytes) -> list[bytes]:
    r"""Return the lines of a file with their `\n`, the only line end there is."""
    if b"\r" not in data:  # which would end a line here, too
        return data.splitlines(keepends=True)
    *ended, last = data.split(b"\n")
    lines = [line + b"\n" for line in ended]
    return [*lines, last] if last else lines


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
