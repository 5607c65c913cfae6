"""Gives the forms in which the redactor reads a text: as it is, and as a reader understands it."""

from collections.abc import Iterator
from functools import cache
from re import Match
from typing import NamedTuple
from unicodedata import normalize

from core.guard.hidden import CONTROLS, HIDDEN_CLASS, UNSEEN, may_hide
from core.guard.rules import compiled

# Hidden characters; a colour of a terminal goes as a whole.
LEFT_OUT = UNSEEN + CONTROLS.replace("\x0e-\x1f", "\x0e-\x1a\x1c-\x1f")
_WRITTEN_OTHERWISE = r"[^\t\n\r -$'-\[\]-~]"  # all but plain ASCII without `\`, `&` and `%`
_ESCAPES = (
    r"\x1b\[[0-9;]{0,16}[A-Za-z]|(?<!\\)\\[nrt](?![a-z])|(?<!\\)\\[nrt](?=[A-Za-z0-9_\-]{16})"
)
_BLANKS = "\xa0\u202f\u3000\u2000-\u200a"
_BLANK_OR_NOTHING = "\u200b-\u200d\u2060\ufeff"  # may stand between two words, or within one
_SHAPES = (
    "\xb2\xb3\xb9\u2070-\u2099\u2100-\u214f\u2460-\u24ff\ufe50-\ufe6b\uff01-\uff5e"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f149\U0001fbf0-\U0001fbf9"
)
_CYRILLIC = str.maketrans("аеосрхуіјѕԁԛԝАВЕКМНОРСТХІЈЅ", "aeocpxyijsdqwABEKMHOPCTXIJS")
_MIXED_SCRIPTS = "[A-Za-z0-9_][а-яіјѕԁԛԝА-ЯІЈЅ]|[а-яіјѕԁԛԝА-ЯІЈЅ][A-Za-z0-9_]"
_TAG = r"/?(?:b|i|u|em|wbr|code|mark|span|strong)[ ]?/?>"  # of HTML, within a word
_NAMED = {
    **{"lowbar": "_", "UnderBar": "_", "equals": "=", "colon": ":", "hyphen": "-", "dash": "-"},
    **{"period": ".", "plus": "+", "sol": "/", "comma": ",", "excl": "!", "num": "#"},
    **{"dollar": "$", "percnt": "%", "ast": "*", "commat": "@", "shy": "", "zwnj": "", "zwj": ""},
    **{"ZeroWidthSpace": "", "NoBreak": "", "nbsp": " "},
}
# What stands for one character, or for none; the class in front lets `re` skip quickly.
_WRITTEN = (
    rf"[{LEFT_OUT}\x1b\\=*<%&\u1100-\u1112](?:"
    rf"(?P<nothing>(?<=[{LEFT_OUT}])[{LEFT_OUT}]*+|(?<=\x1b)\[[0-9;]{{0,16}}[A-Za-z]|"
    r"(?<=[A-Za-z0-9_\-.+/=]{16}\\)\r?\n[ \t]{0,16}|(?<=[ -~]{70}=)\r?\n|"
    rf"(?:(?<=[A-Za-z0-9_\-]\*)\*|(?<=[A-Za-z0-9_\-]<){_TAG})(?=[A-Za-z0-9_\-]))|"
    r"(?P<jamo>(?<=[\u1100-\u1112])[\u1161-\u1175][\u11a8-\u11c2]?)|"
    r"(?<=\\)\\{0,3}(?:u\{?(?P<code>[0-9A-Fa-f]{4})\}?|x(?P<byte>[2-7][0-9A-Fa-f]))|"
    r"(?<=%)(?P<percent>[2-7][0-9A-Fa-f])|"
    r"(?<=&)(?:#(?:(?P<decimal>[0-9]{2,6})|[xX](?P<hex>[0-9A-Fa-f]{2,5}))|"
    rf"(?P<named>{'|'.join(_NAMED)}));|"
    r"(?<=\\)(?:(?=/)|(?<=[A-Za-z0-9_]\\)(?=[_\-*~=+.#][A-Za-z0-9_]))(?P<sign>.))"
)
_SPLIT = (
    r"[*<=](?:(?<=[ -~]{70}=)\r?\n|"
    rf"(?<=[A-Za-z0-9_\-]\*)\*|(?<=[A-Za-z0-9_\-]<){_TAG})(?=[A-Za-z0-9_\-])"
)


class Places(NamedTuple):
    """Where in a text each character of a form of it begins and ends."""

    starts: list[int]
    ends: list[int]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return from where to where something of the form, not empty, reaches in the text."""
        return self.starts[start], self.ends[end - 1]

    def composed(self, within: "Places") -> "Places":
        """Return where in the text the characters of a form of this form are."""
        starts = [self.starts[start] for start in within.starts]
        return Places(starts, [self.ends[end - 1] for end in within.ends])


def forms_of(text: str) -> Iterator[tuple[str, Places | None]]:
    """Yield `text`, and the forms that differ from it.

    With a form of another length comes where in `text` each of its characters stands.
    """
    yield text, None
    if not (compiled(_WRITTEN_OTHERWISE).search(text) or compiled(_SPLIT).search(text)):
        return
    yield from _forms_otherwise(text)
    if may_hide(text):
        seen, places = without_hidden(text)
        yield seen, places
        for form, within in _forms_otherwise(seen):
            yield form, places.composed(within) if within else places


def _forms_otherwise(text: str) -> Iterator[tuple[str, Places | None]]:
    """Yield what is meant by a text: first at the same length, then with all that stands in it."""
    shaped = text if text.isascii() else _shaped(text)
    level = _levelled(shaped)
    if level != text:
        yield level, None
    read, places = _replaced(shaped, _WRITTEN)
    if read not in (text, level):
        yield compiled(_ESCAPES).sub(_blanks, read), places


def without_hidden(text: str) -> tuple[str, Places]:
    """Return `text` without the characters that no reader sees, and where the others stand."""
    return _replaced(text, f"(?P<nothing>[{HIDDEN_CLASS}]+)")


def _shaped(text: str) -> str:
    """Return `text` at the same length, with plain blanks and letters for the fancy ones."""
    if compiled(_MIXED_SCRIPTS).search(text):
        text = text.translate(_CYRILLIC)
    return text.translate(_plain())


def _levelled(text: str) -> str:
    """Return `text` at the same length, with blanks for what may stand between two words.

    That are colours of a terminal, the escapes of a quoted text, and characters without a width.
    """
    level = compiled(_ESCAPES).sub(_blanks, text)
    return level if level.isascii() else compiled(f"[{_BLANK_OR_NOTHING}]").sub(" ", level)


def _blanks(found: Match[str]) -> str:
    return " " * len(found[0])


@cache
def _plain() -> dict[int, str]:
    """Return the characters that are a character of ASCII in another shape."""
    forms = dict.fromkeys(_codes(_BLANKS), " ")
    for code in _codes(_SHAPES):
        form = normalize("NFKC", chr(code))
        if len(form) == 1 and form.isascii():
            forms[code] = form
    return forms


def _codes(ranges: str) -> list[int]:
    """Return the characters of a class by their numbers."""
    return [
        code
        for first, last in compiled("(.)(?:-(.))?").findall(ranges)
        for code in range(ord(first), ord(last or first) + 1)
    ]


def _replaced(text: str, pattern: str) -> tuple[str, Places]:
    """Return `text` with what stands for a character, or for none, replaced by it.

    That are, with `_WRITTEN`, unseen characters, letters of Hangul apart, wrapped lines, emphasis
    within a word and the escapes of JSON, URLs, HTML and Markdown. With it comes where in `text`
    each character stands.
    """
    parts: list[str] = []
    places = Places([], [])
    done = 0
    for found in compiled(pattern).finditer(text):
        part = _meant(found)
        if part == found[0]:
            continue
        start, end = found.span()
        parts += [text[done:start], part]
        places.starts.extend([*range(done, start), *[start] * len(part)])
        places.ends.extend([*range(done + 1, start + 1), *[end] * len(part)])
        done = end
    places.starts.extend(range(done, len(text)))
    places.ends.extend(range(done + 1, len(text) + 1))
    return "".join([*parts, text[done:]]), places


def _meant(found: Match[str]) -> str:
    """Return what is meant by something written otherwise; itself, if that is no one character."""
    kind, written = str(found.lastgroup), found[str(found.lastgroup)]
    if kind == "nothing":
        return ""
    if kind == "jamo":
        return normalize("NFC", found[0])
    if kind == "sign":
        return written
    if kind == "named":
        return _NAMED[written]
    code = int(written, 10 if kind == "decimal" else 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return found[0]
    char = chr(code)
    return "" if compiled(f"[{LEFT_OUT}]").match(char) else char.translate(_plain())
