"""Finds characters that no reader sees, and spells them out."""

import re
from collections.abc import Iterator

_DECODED_CHARS = 80

# Hidden characters, in the syntax of a character class. A tab and a line break are none.
_ZERO_WIDTH = "\u180e\u200b-\u200f\u2060-\u206f\ufeff"
_BIDI = "\u061c\u202a-\u202e"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # many in a row carry bytes
_TAGS = "\U000e0000-\U000e007f"  # a second, invisible ASCII
_FILLERS = "\u115f\u1160\u3164\uffa0\ufff9-\ufffb"
_CONTROLS = "\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
UNSEEN = "\xad" + _ZERO_WIDTH + _BIDI + _SELECTORS + _TAGS + _FILLERS
_EMOJI = "[\xa9\xae\u203c-\u2bff\U0001f000-\U0001faff\ufe0f]"
# Arabic and its kin, the scripts of India to Myanmar, Khmer and Mongolian: letters that join.
_JOINING = (
    "[\u0600-\u061b\u061d-\u08ff\u0900-\u109f\u1780-\u17ff\u1800-\u180d\u180f-\u18af\ufb50"
    "-\ufdff\ufe70-\ufefc]"
)

_VIRAMA = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]"  # a word may end so

_CANDIDATE = re.compile(f"[{_CONTROLS}{UNSEEN}]")
# First what is legitimate: a byte order mark, a flag, emoji, joined letters, one soft hyphen.
_HIDDEN = re.compile(
    rf"\A\ufeff|\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{{3,6}}\U000e007f"
    rf"|(?<={_EMOJI})\u200d(?={_EMOJI})|(?<={_JOINING})[\u200c\u200d](?={_JOINING})"
    rf"|(?<={_VIRAMA})[\u200c\u200d](?![{UNSEEN}])|(?<=[^\0-\x22\x24-\x29\x2b-\x2f\x3a-\xa0"
    rf"{UNSEEN}])[{_SELECTORS}](?![{_SELECTORS}])|(?<![{UNSEEN}])\xad(?![{UNSEEN}])"
    rf"|([{_CONTROLS}{UNSEEN}]+)"
)
_TAG_RUN = re.compile(f"[{_TAGS}]+|[^{_TAGS}]")


def revealed(text: str) -> str:
    """Return `text` with every hidden character spelled out: `<U+200B>`.

    Tag characters are a message in ASCII and shown as such, `<tags: …>`, at most 80 characters
    of it. In there `<`, `>`, a backslash and what cannot be printed stand as `\\x3c`, so that the
    message cannot close the bracket.
    """
    if not any(True for _ in hidden_runs(text)):
        return text
    return _HIDDEN.sub(lambda it: _spelled(it[1]) if it[1] else it[0], text)


def _spelled(hidden: str) -> str:
    parts = []
    for run in _TAG_RUN.findall(hidden):
        decoded = "".join(
            chr(ord(char) & 0x7F) for char in run if "\U000e0000" <= char <= "\U000e007f"
        )
        if any(" " < char <= "~" for char in decoded):
            shown = "".join(map(_escaped, decoded[:_DECODED_CHARS]))
            parts.append(f"<tags: {shown}{'…' * (len(decoded) > _DECODED_CHARS)}>")
        else:
            parts.extend(f"<U+{ord(char):04X}>" for char in run)
    return "".join(parts)


def _escaped(char: str) -> str:
    return char if " " <= char <= "~" and char not in "<>\\" else f"\\x{ord(char):02x}"


def hidden_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each run of hidden characters."""
    if _CANDIDATE.search(text):
        for match in _HIDDEN.finditer(text):
            if match[1]:
                yield match.span(1)
