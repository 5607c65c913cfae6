"""Brings a text of any length into a normal form of Unicode, in time that grows with its length."""

import re
import unicodedata
from typing import Literal

# A run of marks behind one letter is sorted by exchanging neighbours: its time grows with the
# square of its length. No language writes a run of so many characters beyond ASCII.
_AT_ONCE_CHARS, _MOST_RUN = 1_024, 512
_RUN = rf"[\0-\x7f]?[^\0-\x7f]{{1,{_MOST_RUN}}}"  # compiled for a long text only


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return a text in this form; a run beyond ASCII of more than 512 characters in pieces."""
    if text.isascii():
        return text
    if len(text) <= _AT_ONCE_CHARS:
        return unicodedata.normalize(form, text)
    return re.sub(_RUN, lambda run: unicodedata.normalize(form, run[0]), text)
