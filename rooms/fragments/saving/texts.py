"""Cleans texts before anything else sees them: controls and secrets out, then the limits.

A secret that one text of a call gives away goes from all of them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from core.guard.characters import CONTROLS, UNSEEN
from core.sanitizer import redact_together
from core.text.plain import SURROGATE
from rooms.fragments.errors import FragmentsError

RAW_TIMES = 10  # of its limit: a longer text is too long, whatever the redactor takes out of it

_CONTROLS = re.compile(f"[{CONTROLS}]")
_LINE_ENDS = re.compile("\r\n?")
_UNSEEN = re.compile(f"[{UNSEEN}]+")


class Given(NamedTuple):
    """A text that a caller gives. field: its parameter. most: characters, or bytes, at most."""

    field: str
    text: str
    most: int
    in_bytes: bool = False
    may_be_blank: bool = True

    @property
    def size(self) -> int:
        """How long the text is, in the unit of its limit."""
        return len(self.text.encode()) if self.in_bytes else len(self.text)


class Cleaned(NamedTuple):
    """Texts that may be stored, in their order, and the kinds of secrets that were taken out."""

    texts: list[str]
    redacted: tuple[str, ...] = ()


def cleaned(given: Sequence[Given], *, strict: bool = False) -> Cleaned:
    """Return texts as they may be stored. Raises FragmentsError.

    strict: a secret is refused, not taken out. Controls go first: a secret that they split would
    otherwise be whole again behind the redactor.
    """
    plain = [_plain(it) for it in given]
    kinds, texts = list[str](), list[str]()
    redacted = redact_together([it.text for it in plain])
    for it, (text, found) in zip(plain, redacted, strict=True):
        if found and strict:
            sorts = ", ".join(sorted({*found}))
            raise FragmentsError("secret_refused", field=it.field, kinds=sorts)
        kinds += found
        texts.append(text.strip())
        check_size(it._replace(text=texts[-1]))
    return Cleaned(texts, tuple(dict.fromkeys(kinds)))


def check_size(given: Given) -> None:
    """Raise FragmentsError for a text above its limit."""
    over = given.size - given.most
    if over > 0 and given.in_bytes:
        facts = {"bytes": given.size, "over": over, "most": given.most}
        raise FragmentsError("too_large", field=given.field, **facts)
    if over > 0:
        facts = {"chars": given.size, "over": over, "most": given.most}
        raise FragmentsError("too_long", field=given.field, **facts)


def _plain(given: Given) -> Given:
    if SURROGATE.search(given.text):
        raise FragmentsError("lone_surrogate", field=given.field)
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", given.text))
    if not (given.may_be_blank or _UNSEEN.sub("", text).strip()):
        raise FragmentsError("blank", field=given.field)
    if len(text) > given.most * RAW_TIMES:
        check_size(given._replace(text=text))
    return given._replace(text=text)
