"""Finds characters that no reader sees, and spells them out."""

import re
from collections.abc import Iterator

from core.injection.ignorable import BLANKS, HIDDEN_CLASS, SELECTORS, TAGS, UNSEEN

_DECODED_CHARS = 80

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
    rf"(?<={_EMOJI})(?<!\ufe0f)[\ufe0e\ufe0f](?![{SELECTORS}])",
    "(?<=[#*0-9])\ufe0f(?=\u20e3)",  # a keycap
    rf"(?<={_IDEOGRAPH})[\ufe00-\ufe02\U000e0100-\U000e011f](?![{SELECTORS}])",
    rf"(?<=[\u1000-\u109f\u2229-\u2aff\u3001\u3002\uff01-\uff1f])[\ufe00\ufe01](?![{SELECTORS}])",
    "(?<=[\u1820-\u18aa])[\u180b-\u180f](?![\u180b-\u180f])",  # the form of a Mongolian letter
    "(?<=[\u1780-\u17a2])[\u17b4\u17b5](?![\u17b4\u17b5])",  # a vowel that Khmer does not write
    "(?<=[\u2801-\u28ff])\u2800(?!\u2800)|(?<!\u2800)\u2800(?=[\u2801-\u28ff])",
    r"(?<=[^\W\d_])\xad(?=[^\W\d_])",  # where a word may be parted
)
_CANDIDATE = re.compile(f"[{HIDDEN_CLASS}{BLANKS}]")
_HIDDEN = re.compile(f"{'|'.join(_LEGITIMATE)}|([{HIDDEN_CLASS}]+|[{BLANKS}]{{2,}})")
_TAG_RUN = re.compile(f"[{TAGS}]+|[^{TAGS}]")


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
