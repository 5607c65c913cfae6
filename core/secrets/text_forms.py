"""Gives the forms in which the redactor reads a text: as it is, and as a reader understands it."""

from collections.abc import Iterator, Sequence
from unicodedata import normalize

from core.secrets.rule import compiled

_JAMO = "[\u1100-\u11ff]"
_ESCAPES = (
    r"\x1b\[[0-9;]{0,16}[A-Za-z]|(?<!\\)\\[nrt](?![a-z])|(?<!\\)\\[nrt](?=[A-Za-z0-9_\-]{16})"
)
_WRAPPED = r"[A-Za-z0-9_\-.+/=]{16}\\\r?\n"
_PIECE = "\\\\\r?\n[ \t]{0,16}|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|(?s:.)"
_PLAIN = {
    **{0xFF01 + place: 0x21 + place for place in range(94)},
    **dict.fromkeys([0xA0, 0x3000, 0x202F, *range(0x2000, 0x200E), 0x2060, 0xFEFF], 0x20),
}


def forms_of(text: str) -> Iterator[tuple[str, Sequence[int] | None]]:
    """Yield `text`, and the forms that differ from it.

    With a form of another length comes the place in `text` of each of its characters.
    """
    yield text, None
    if text.isascii() and "\\" not in text and "\x1b" not in text:
        return
    level = _levelled(text)
    if level != text:
        yield level, None
    if compiled(_JAMO).search(text) or compiled(_WRAPPED).search(text):
        yield _composed(level)


def _levelled(text: str) -> str:
    """Return `text` at the same length, with plain blanks and letters for the fancy ones.

    Full-width forms become ASCII; terminal colours and the escapes of a quoted text, blanks.
    """
    level = text.translate(_PLAIN)
    return compiled(_ESCAPES).sub(lambda found: " " * len(found[0]), level)


def _composed(text: str) -> tuple[str, list[int]]:
    """Return `text` with Hangul letters composed to syllables and wrapped lines joined.

    With it comes the place in `text` of each character, and the end of the text.
    """
    parts: list[str] = []
    places: list[int] = []
    for found in compiled(_PIECE).finditer(text):
        part = "" if found[0].startswith("\\") and len(found[0]) > 1 else found[0]
        part = normalize("NFC", part) if len(part) > 1 else part
        parts.append(part)
        places += [found.start()] * len(part)
    return "".join(parts), [*places, len(text)]
