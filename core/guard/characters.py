"""Tells the characters that no reader sees, or reads as others.

What a renderer shows as nothing are the 4,174 code points with the property
Default_Ignorable_Code_Point in DerivedCoreProperties.txt of the Unicode Character Database (since
version 14.0), unassigned ones among them. The rest is ours: what fonts show as nothing, too, what
means something to one program alone (private use, noncharacters) and what a terminal obeys.

The redactor reads a text in several forms: as it is, and as a reader understands it. Orders are
looked for in a view of it, in lower case. The lists are insides of character classes. They are
compiled where a text needs them: one takes a millisecond.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from unicodedata import normalize

from core.data import compiled

# What no reader sees.
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # many in a row carry bytes
_TAGS = "\U000e0000-\U000e007f"  # a second, invisible ASCII

# fmt: off
IGNORABLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_EMPTY = (
    "\u2800"  # a braille cell without dots
    "\ufff9-\ufffb"  # marks of annotations
    "\U00013430-\U0001343f"  # joiners of hieroglyphs
    "\U00016fe4\U0001d159"  # a filler of Khitan, a note without a head
)
# fmt: on
_PLANES = range(0x10000, 0xE0000, 0x10000)
_OWN = "\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff" + "".join(
    chr(plane + 0xFFFE) + chr(plane + 0xFFFF) for plane in _PLANES
)
# Of the planes 14 to 16 tags and selectors are ignorable, and nothing else there is assigned.
UNSEEN = IGNORABLE + _EMPTY + _OWN + "\U000e0000-\U0010ffff"
CONTROLS = "\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # a tab and a line break are none
HIDDEN_CLASS = CONTROLS + UNSEEN
BLANKS = "\u1680\u2000-\u200a\u202f\u205f"  # of odd widths: many in a row carry bits
_BREAKS = str.maketrans("", "", "\t\n\r")

_EMOJI = (
    "[\xa9\xae\u203c-\u205e\u2070-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff\ufe0f]"
)
_IDEOGRAPH = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]"
# Arabic and its kin, the scripts of India to Myanmar, Khmer and Mongolian: letters that join.
_JOINING = (
    "[\u0600-\u061b\u061d-\u08ff\u0900-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\ufb50"
    "-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]"
)
_VIRAMA = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]"  # a word may end so
_UNSPACED = "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff]"  # Thai, Lao, Burmese, Khmer
_ACCENT = "[\u0300-\u034e\u0350-\u036f\u0591-\u05c7]"

# What is legitimate: only the character itself, and only where its script or emoji needs it.
_LEGITIMATE = (
    r"\A\ufeff",  # a byte order mark
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f",  # the flag of Wales
    rf"(?<={_EMOJI})\u200d(?={_EMOJI})",
    rf"(?<={_JOINING})[\u200c\u200d](?={_JOINING})",
    rf"(?<={_VIRAMA})[\u200c\u200d](?![{UNSEEN}])",
    rf"(?<={_UNSPACED})\u200b(?={_UNSPACED})",  # where a line may break
    rf"(?<={_ACCENT})\u034f(?={_ACCENT})",
    rf"(?<={_EMOJI})(?<!\ufe0f)[\ufe0e\ufe0f](?![{_SELECTORS}])",
    "(?<=[#*0-9])\ufe0f(?=\u20e3)",  # a keycap
    rf"(?<={_IDEOGRAPH})[\ufe00-\ufe02\U000e0100-\U000e011f](?![{_SELECTORS}])",
    rf"(?<=[\u1000-\u109f\u2229-\u2aff\u3001\u3002\uff01-\uff1f])[\ufe00\ufe01](?![{_SELECTORS}])",
    "(?<=[\u1820-\u18aa])[\u180b-\u180f](?![\u180b-\u180f])",  # the form of a Mongolian letter
    "(?<=[\u1780-\u17a2])[\u17b4\u17b5](?![\u17b4\u17b5])",  # a vowel that Khmer does not write
    "(?<=[\u2801-\u28ff])\u2800(?!\u2800)|(?<!\u2800)\u2800(?=[\u2801-\u28ff])",
    r"(?<=[^\W\d_])\xad(?=[^\W\d_])",  # where a word may be parted
)
_MAY_HIDE = f"[{HIDDEN_CLASS}{BLANKS}]"
_HIDDEN = f"{'|'.join(_LEGITIMATE)}|([{HIDDEN_CLASS}]+|[{BLANKS}]{{2,}})"
_TAG_RUN = f"[{_TAGS}]+|[^{_TAGS}]"
_MOST_DECODED_CHARS = 80

# What an order may be disguised as: wide and mathematical letters, Cyrillic, Hangul apart.
_LOOKALIKE = "\u2100-\u214f\u24b6-\u24e9\uff01-\uff5e\U0001d400-\U0001d7ff"
_OTHER_SCRIPTS = str.maketrans(
    "аеосрхуіјѕһԁԛԝӏАВЕКМНОРСТХУІЈЅԌԚԜӀ"  # Cyrillic
    "ονϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϲιρυχκα"  # Greek
    "օոսհցԼՕՍ"  # Armenian
    "ɑɡıɩʏᴄᴏᴜᴠᴡᴢꓐꓑꓓꓖꓗꓙꓚꓠꓢꓣꓤ",  # Latin of phoneticians, Lisu
    "aeocpxyijshdqwlABEKMHOPCTXYIJSGQWIovjABEZHIKMNOPTYXCcipuxkaonuhgLOUagiiycouvwzBPDGKJCNSRR",
)
_LIKE_ASCII = f"[{''.join(map(chr, _OTHER_SCRIPTS))}{_LOOKALIKE}]"
# What may be read as another character or as none: these, and what is longer in lower case.
_MAY_DISGUISE = (
    f"[{HIDDEN_CLASS}{BLANKS}\u0130\u0131\u0250-\u02af\u0370-\u058f\u1100-\u11ff\u1d00-\u1d2b\u2100-\u214f"
    "\u24b6-\u24e9\ua4d0-\ua4f7\uff01-\uff5e\U0001d400-\U0001d7ff]"
)
_JAMO = "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
_HIDDEN_CHAR = f"[{HIDDEN_CLASS}]"
_LEFT_OUT_OR_JAMO = f"(?P<nothing>{_HIDDEN_CHAR}+)|(?P<jamo>{_JAMO})"
_BLANK_OR_JAMO = f"(?P<blank>{_HIDDEN_CHAR}+)|(?P<jamo>{_JAMO})"

# What a secret may be written as. A colour of a terminal is left out as a whole.
LEFT_OUT = UNSEEN + CONTROLS.replace("\x0e-\x1f", "\x0e-\x1a\x1c-\x1f")
_WRITTEN_OTHERWISE = r"[^\t\n\r -$'-\[\]-~]"  # all but plain ASCII without `\`, `&` and `%`
_ESCAPES = (
    r"\x1b\[[0-9;]{0,16}[A-Za-z]|(?<!\\)\\[nrt](?![a-z])|(?<!\\)\\[nrt](?=[A-Za-z0-9_\-]{16})"
)
_BLANK_OR_NOTHING = "\u200b-\u200d\u2060\ufeff"  # may stand between two words, or within one
_SHAPES = (  # of blanks, letters and digits
    "\xa0\u202f\u3000\u2000-\u200a\xb2\xb3\xb9\u2070-\u2099\u2100-\u214f\u2460-\u24ff\ufe50-\ufe6b\uff01-\uff5e"
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


def is_plain(text: str) -> bool:
    """Return whether a text is ASCII and all of it is seen, as of nearly every text in English."""
    return text.isascii() and text.translate(_BREAKS).isprintable()


def may_hide(text: str) -> bool:
    """Return whether the text has a character that is hidden in some places."""
    return not is_plain(text) and bool(re.search(_MAY_HIDE, text))


def may_disguise(text: str) -> bool:
    """Return whether some character may be hidden, or is read as another one."""
    return not is_plain(text) and bool(re.search(_MAY_DISGUISE, text))


def hidden_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each run of hidden characters."""
    if may_hide(text):
        for match in re.finditer(_HIDDEN, text):
            if match[1]:
                yield match.span(1)


def revealed(text: str) -> str:
    """Return `text` with every hidden character spelled out: `<U+200B>`.

    Tag characters are a message in ASCII and shown as such, `<tags: …>`, at most 80 characters
    of it. In there `<`, `>`, a backslash and what cannot be printed stand as `\\x3c`, so that the
    message cannot close the bracket.
    """

    def spelled(found: re.Match[str]) -> str:
        if not found[1]:
            return found[0]
        parts = list[str]()
        for run in re.findall(_TAG_RUN, found[1]):
            tags = [chr(ord(char) & 0x7F) for char in run if "\U000e0000" <= char <= "\U000e007f"]
            if not any(" " < char <= "~" for char in tags):
                parts.extend(f"<U+{ord(char):04X}>" for char in run)
                continue
            message = "".join(
                char if " " <= char <= "~" and char not in "<>\\" else f"\\x{ord(char):02x}"
                for char in tags[:_MOST_DECODED_CHARS]
            )
            rest = "…" if len(tags) > _MOST_DECODED_CHARS else ""
            parts.append(f"<tags: {message}{rest}>")
        return "".join(parts)

    return re.sub(_HIDDEN, spelled, text) if any(hidden_runs(text)) else text


def ascii_twin(text: str) -> str:
    """Return the ASCII text that this one looks like, "" when it is ASCII or looks like none."""
    if text.isascii():
        return ""
    twin = normalize("NFKC", text.translate(_OTHER_SCRIPTS))
    return twin if twin.isascii() else ""


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


def without_hidden(text: str) -> tuple[str, Places]:
    """Return `text` without the characters that no reader sees, and where the others stand."""
    return _replaced(text, f"(?P<nothing>{_HIDDEN_CHAR}+)")


def views_of(text: str) -> Iterator[tuple[str, Places | None]]:
    """Yield `text` as the rules for orders want it, in lower case.

    With a view of another length comes where in `text` each of its characters stands. Hidden
    characters are left out, or read as blanks: they may split a word or stand between two.
    """
    if is_plain(text):
        yield text.lower(), None
        return
    if re.search(_LIKE_ASCII, text):
        text = text.translate(_OTHER_SCRIPTS).translate(_ascii_forms(_LOOKALIKE))
    lowered = text.lower()
    if len(lowered) != len(text):  # a capital dotted I becomes two characters
        lowered = "".join(char if len(char.lower()) > 1 else char.lower() for char in text)
    if not re.search(_LEFT_OUT_OR_JAMO, lowered):
        yield lowered, None
        return
    yield _replaced(lowered, _LEFT_OUT_OR_JAMO)
    if re.search(_HIDDEN_CHAR, lowered):
        yield _replaced(lowered, _BLANK_OR_JAMO)


def forms_of(text: str) -> Iterator[tuple[str, Places | None]]:
    """Yield `text` as the redactor reads it: as it is, and the forms that differ from it.

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
    """Yield what is meant by a text: first at the same length, then with all that stands in it.

    At the same length blanks stand for what may part two words: colours of a terminal, the escapes
    of a quoted text, and characters without a width.
    """
    plain = text
    if not text.isascii():
        if compiled(_MIXED_SCRIPTS).search(text):
            plain = plain.translate(_CYRILLIC)
        plain = plain.translate(_ascii_forms(_SHAPES))
    level = _with_blanks(plain)
    if not level.isascii():
        level = compiled(f"[{_BLANK_OR_NOTHING}]").sub(" ", level)
    if level != text:
        yield level, None
    read, places = _replaced(plain, _WRITTEN)
    if read not in (text, level):
        yield _with_blanks(read), places


def _with_blanks(text: str) -> str:
    return compiled(_ESCAPES).sub(lambda found: " " * len(found[0]), text)


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


def _meant(found: re.Match[str]) -> str:
    """Return what is meant by something written otherwise; itself, if that is no one character."""
    kind, written = str(found.lastgroup), found[str(found.lastgroup)]
    if kind == "nothing":
        return ""
    if kind == "blank":
        return " "
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
    return "" if compiled(f"[{LEFT_OUT}]").match(char) else char.translate(_ascii_forms(_SHAPES))


@cache
def _ascii_forms(ranges: str) -> dict[int, str]:
    """Return the characters of a class that are a character of ASCII in another shape."""
    forms = dict[int, str]()
    for first, last in re.findall("(.)(?:-(.))?", ranges):
        for code in range(ord(first), ord(last or first) + 1):
            form = normalize("NFKC", chr(code))
            if len(form) == 1 and form.isascii():
                forms[code] = form
    return forms
