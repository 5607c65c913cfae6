"""Reads a text as a model would: without hidden characters, in plain letters, in lower case."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from unicodedata import normalize

from core.injection.ignorable import HIDDEN_CLASS

# Written differently, read the same: decomposed Korean, wide and mathematical letters, Cyrillic.
_LOOKALIKE = "\u2100-\u214f\u24b6-\u24e9\uff01-\uff5e\U0001d400-\U0001d7ff"
_OTHER_SCRIPTS = str.maketrans(
    "аеосрхуіјѕһԁԛԝӏАВЕКМНОРСТХУІЈЅԌԚԜӀ"  # Cyrillic
    "ονϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϲιρυχκα"  # Greek
    "օոսհցԼՕՍ"  # Armenian
    "ɑɡıɩʏᴄᴏᴜᴠᴡᴢꓐꓑꓓꓖꓗꓙꓚꓠꓢꓣꓤ",  # Latin of phoneticians, Lisu
    "aeocpxyijshdqwlABEKMHOPCTXYIJSGQWIovjABEZHIKMNOPTYXCcipuxkaonuhgLOUagiiycouvwzBPDGKJCNSRR",
)
_HIDDEN_CHAR = re.compile(f"[{HIDDEN_CLASS}]")
_SYLLABLE = "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
_REWRITTEN = re.compile(f"[{HIDDEN_CLASS}]|[\u1100-\u1112][\u1161-\u1175]")
_LIKE_ASCII = re.compile(f"[{''.join(map(chr, _OTHER_SCRIPTS))}{_LOOKALIKE}]")
_PIECE = re.compile(f"[{HIDDEN_CLASS}]+|{_SYLLABLE}")

Place = Sequence[tuple[int, int]]  # of each character of a view: from where in the text, to where


def views(text: str) -> Iterator[tuple[str, Place | None]]:
    """Yield `text` as the rules want it, in lower case, and where its characters come from.

    Hidden characters are left out, or read as blanks: they may split a word or stand between two.
    """
    if text.isascii() and not _HIDDEN_CHAR.search(text):
        yield text.lower(), None
        return
    if _LIKE_ASCII.search(text):
        text = text.translate(_OTHER_SCRIPTS).translate(_ascii_forms())
    lowered = text.lower()
    if len(lowered) != len(text):  # a capital dotted I becomes two characters
        lowered = "".join(char if len(char.lower()) > 1 else char.lower() for char in text)
    if not _REWRITTEN.search(lowered):
        yield lowered, None
        return
    for blank in ("", " ") if _HIDDEN_CHAR.search(lowered) else ("",):
        yield _rewritten(lowered, blank)


def _rewritten(text: str, blank: str) -> tuple[str, Place]:
    """Return `text` with `blank` for hidden characters and Korean letters as syllables."""
    parts: list[str] = []
    place: list[tuple[int, int]] = []
    done = 0
    for match in _PIECE.finditer(text):
        start, end = match.span()
        parts.append(text[done:start])
        place += zip(range(done, start), range(done + 1, start + 1), strict=True)
        part = normalize("NFC", match[0]) if "\u1100" <= match[0][0] <= "\u1112" else blank
        parts.append(part)
        place += [(start, end)] * len(part)
        done = end
    parts.append(text[done:])
    place += zip(range(done, len(text)), range(done + 1, len(text) + 1), strict=True)
    return "".join(parts), place


@cache
def _ascii_forms() -> dict[int, str]:
    """Return the characters that are an ASCII character in another shape."""
    ranges = re.findall("(.)-(.)", _LOOKALIKE)
    codes = chain.from_iterable(range(ord(first), ord(last) + 1) for first, last in ranges)
    forms = {code: normalize("NFKC", chr(code)) for code in codes}
    return {code: form for code, form in forms.items() if len(form) == 1 and form.isascii()}


def ascii_twin(text: str) -> str:
    """Return the ASCII text that this one looks like, "" when it is ASCII or looks like none."""
    if text.isascii():
        return ""
    twin = normalize("NFKC", text.translate(_OTHER_SCRIPTS))
    return twin if twin.isascii() else ""
