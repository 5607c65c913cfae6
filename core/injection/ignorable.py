"""Lists the characters that no reader sees, as the inside of a character class.

What a renderer shows as nothing are the 4,174 code points with the property
Default_Ignorable_Code_Point in DerivedCoreProperties.txt of the Unicode Character Database (since
version 14.0), unassigned ones among them. The rest is ours: what fonts show as nothing, too, what
means something to one program alone (private use, noncharacters) and what a terminal obeys.
"""

SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # many in a row carry bytes
TAGS = "\U000e0000-\U000e007f"  # a second, invisible ASCII

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
_BREAKS = str.maketrans("", "", "\t\n\r")
BLANKS = "\u1680\u2000-\u200a\u202f\u205f"  # of odd widths: many in a row carry bits


def is_plain(text: str) -> bool:
    """Return whether a text is ASCII and all of it is seen, as of nearly every text in English.

    No expression is compiled for it: one of these classes takes a millisecond.
    """
    return text.isascii() and text.translate(_BREAKS).isprintable()
