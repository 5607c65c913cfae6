"""Splits the file into lines and finds those that an open git conflict has left in it.

Pure: bytes in, line numbers (from 0) out.
"""

import re
from collections.abc import Sequence

BOM = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_MARKER = re.compile(rb"(?P<run>([<|>])\2{6,})(?: .*)?|(?P<middle>={7,})", re.S)
CONFLICT_BEGIN = re.compile(rb"<{7}(?!<)")
# How a log begins in UTF-16; without a mark its first sign says which of the two it is.
_UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"{\0": "utf-16-le", b"\0{": "utf-16-be"}
_WIDE = ("utf-16-le", "utf-16-be")
_TYPE = re.compile(rb'"[ -~]{10}')  # every record in UTF-8 has that much, UTF-16 hardly ever
_INTERLEAVED = re.compile(rb"(?:[^\0]\0){2}|(?:\0[^\0]){2}", re.S)
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


def begins_like_utf_16(data: bytes) -> bool:
    """Return whether a file begins as UTF-16 does, so that UTF-8 behind it would be a mix.

    Its records may be readable all the same, where only the beginning is UTF-16.
    """
    first = data[: data.find(b"\n") + 2] if b"\n" in data else data
    is_marked = data in UTF_16_MARKS or (data.startswith(UTF_16_MARKS) and b"\0" in first)
    return (is_marked or bool(_INTERLEAVED.match(data))) and not _TYPE.search(first)


def utf_16_name(data: bytes) -> str:
    """Return what Python calls the encoding of a file that is UTF-16, "" for any other file."""
    return _UTF_16[data[:2]] if is_utf_16(data) else ""


def mark_of(line: bytes) -> bytes:
    """Return the byte order mark with which the first line of a UTF-8 file begins, b"" for none.

    A mark of UTF-16 before text that is none hides nothing: some program put it there by mistake.
    """
    if line.startswith(BOM):
        return BOM
    return line[:2] if line.startswith(UTF_16_MARKS) and b"\0" not in line[:4] else b""


def readings(data: bytes) -> list[bytes]:
    """Return a file as UTF-8 in every encoding that it may be, one at least.

    Somebody may have put a mark or a stray byte before it, or joined parts of two encodings: what
    one program cannot read, another one shows.
    """
    if b"\0" not in data and not data.startswith(UTF_16_MARKS):
        return [data.removeprefix(BOM)]
    found = [data.removeprefix(BOM)] if _IN_UTF_8.search(data) else []
    if name := utf_16_name(data):
        return [data.decode(name).encode("utf-8").removeprefix(BOM), *found]
    for name in _WIDE:
        for text in (data[at:].decode(name, "replace").removeprefix("\ufeff") for at in (0, 1)):
            if _IN_UTF_16.search(text):
                found.append(text.encode("utf-8", "replace"))
    return found or [data]


def split_lines(data: bytes) -> list[bytes]:
    r"""Return the lines of a file with their `\n`, the only line end there is."""
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
