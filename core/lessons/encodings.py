"""The encodings that the file of a memory log may have: UTF-8, or UTF-16 by mistake.

Pure: bytes in. Nothing is saved into UTF-16; a search for secrets reads it all the same.
"""

import re

BOM = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# How a log begins in UTF-16; without a mark its first sign says which of the two it is.
_UTF_16 = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"{\0": "utf-16-le", b"\0{": "utf-16-be"}
_WIDE = ("utf-16-le", "utf-16-be")
_TYPE = re.compile(rb'"[ -~]{10}')  # every record in UTF-8 has that much, UTF-16 hardly ever
_INTERLEAVED = re.compile(rb"(?:[^\0]\0){2}|(?:\0[^\0]){2}", re.S)
_IN_UTF_8, _IN_UTF_16 = re.compile(rb"[\t -~]{16}"), re.compile(r"[\t -~]{4}")


def utf_16_name(data: bytes) -> str:
    """Return what Python calls the encoding of a file that is UTF-16 to its end, "" for no such.

    Two bytes in front make no UTF-16 of a file in UTF-8: a reader sees its records all the same.
    """
    name = _UTF_16.get(data[:2], "")
    if not name or b"\0" not in data or _TYPE.search(data):
        return ""
    try:
        return name if _IN_UTF_16.search(data.decode(name)) else ""
    except UnicodeDecodeError:
        return ""


def begins_like_utf_16(data: bytes) -> bool:
    """Return whether a file begins as UTF-16 does, so that UTF-8 behind it would be a mix.

    Its records may be readable all the same, where only the beginning is UTF-16.
    """
    first = data[: data.find(b"\n") + 2] if b"\n" in data else data
    is_marked = data in UTF_16_MARKS or (data.startswith(UTF_16_MARKS) and b"\0" in first)
    return (is_marked or bool(_INTERLEAVED.match(data))) and not _TYPE.search(first)


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
