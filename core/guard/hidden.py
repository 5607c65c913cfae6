"""Finds characters that no reader sees, and spells them out.

What a renderer shows as nothing are the 4,174 code points with the property
Default_Ignorable_Code_Point in DerivedCoreProperties.txt of the Unicode Character Database (since
version 14.0), unassigned ones among them. The rest is ours: what fonts show as nothing, too, what
means something to one program alone (private use, noncharacters) and what a terminal obeys.
The lists are insides of character classes. They are compiled where a text needs them: one takes a
millisecond.
"""

import re
from collections.abc import Iterator

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


def is_plain(text: str) -> bool:
    """Return whether a text is ASCII and all of it is seen, as of nearly every text in English."""
    return text.isascii() and text.translate(_BREAKS).isprintable()


def may_hide(text: str) -> bool:
    """Return whether the text has a character that is hidden in some places."""
    return not is_plain(text) and bool(re.search(_MAY_HIDE, text))


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
    if not any(hidden_runs(text)):
        return text
    return re.sub(_HIDDEN, lambda found: _spelled(found[1]) if found[1] else found[0], text)


def _spelled(hidden: str) -> str:
    parts = []
    for run in re.findall(_TAG_RUN, hidden):
        decoded = "".join(
            chr(ord(char) & 0x7F) for char in run if "\U000e0000" <= char <= "\U000e007f"
        )
        if any(" " < char <= "~" for char in decoded):
            message = "".join(map(_escaped, decoded[:_MOST_DECODED_CHARS]))
            parts.append(f"<tags: {message}{'…' * (len(decoded) > _MOST_DECODED_CHARS)}>")
        else:
            parts.extend(f"<U+{ord(char):04X}>" for char in run)
    return "".join(parts)


def _escaped(char: str) -> str:
    return char if " " <= char <= "~" and char not in "<>\\" else f"\\x{ord(char):02x}"
