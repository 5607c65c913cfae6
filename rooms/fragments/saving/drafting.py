"""Makes a draft ready to be stored: secrets out of every text, then the limits of each field.

Whatever a fragment says goes through here before anything else sees it: the hash, the database, its
index, an embedding that leaves the machine.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.text.normal_form import normal_form
from core.text_redaction import redacted, values_in
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import (
    CONTENT_BYTES,
    CONTENT_CHARS,
    KEYWORD_CHARS,
    MOST_KEYWORDS,
    SOURCE_CHARS,
    TOPIC_CHARS,
)
from rooms.fragments.kinds import WORDS_OF_TYPE

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a caller wants to be remembered.

    type: one of the ten words of `TYPES`, "" for the default. topic: "" for the first keyword.
    keywords: () for those that the content has. importance: None for that of the type. linked_to:
    ids of fragments that it is related to. is_working: it lives as long as its session.
    """

    content: str
    topic: str = ""
    type: str = ""
    keywords: tuple[str, ...] = ()
    importance: float | None = None
    source: str = ""
    linked_to: tuple[str, ...] = ()
    privacy: str = "private"
    is_anchor: bool = False
    is_working: bool = False


class Prepared(NamedTuple):
    """A draft that may be stored, and the kinds of the secrets that were taken out of it."""

    draft: Draft
    redacted: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether its content is longer than is recommended."""
        return len(self.draft.content) > CONTENT_CHARS


def prepared(draft: Draft, *, strict: bool = False) -> Prepared:
    """Return the draft as it may be stored. Raises FragmentsError.

    strict: a secret is refused, not taken out.
    """
    if draft.type and draft.type not in WORDS_OF_TYPE:
        raise FragmentsError("bad_type", known=", ".join(WORDS_OF_TYPE))
    texts = (draft.content, draft.topic, draft.source, *draft.keywords)
    if _SURROGATE.search("".join(texts)):
        field = next(f for f, t in _fields(draft) if _SURROGATE.search(t))
        raise FragmentsError("lone_surrogate", field=field)
    if not draft.content.strip():
        raise FragmentsError("blank", field="content")
    known, kinds = values_in(texts), list[str]()

    def clean(field: str, text: str) -> str:
        kept, found = redacted(text, known) if known else (text, [])
        if found and strict:
            raise FragmentsError("secret_refused", field=field, kinds=", ".join(sorted({*found})))
        kinds.extend(found)
        return kept.strip()

    keywords = (normal_form("NFC", clean("keywords", it)) for it in draft.keywords)
    done = replace(
        draft,
        content=clean("content", draft.content),
        topic=normal_form("NFC", clean("topic", draft.topic)),
        source=clean("source", draft.source),
        keywords=tuple(dict.fromkeys(filter(None, keywords))),
    )
    _check(done)
    return Prepared(done, tuple(dict.fromkeys(kinds)))


def _fields(draft: Draft) -> Sequence[tuple[str, str]]:
    texts = [("content", draft.content), ("topic", draft.topic), ("source", draft.source)]
    return [*texts, *(("keywords", it) for it in draft.keywords)]


def _check(draft: Draft) -> None:
    """Raise FragmentsError for what is too long, or too many."""
    size = len(draft.content.encode())
    if size > CONTENT_BYTES:
        over = size - CONTENT_BYTES
        raise FragmentsError(
            "too_large", field="content", bytes=size, over=over, most=CONTENT_BYTES
        )
    limits = {"topic": TOPIC_CHARS, "source": SOURCE_CHARS, "keywords": KEYWORD_CHARS}
    for field, text in _fields(draft):
        most = limits.get(field, size)
        if len(text) > most:
            over = len(text) - most
            raise FragmentsError("too_long", field=field, chars=len(text), over=over, most=most)
    if len(draft.keywords) > MOST_KEYWORDS:
        count = len(draft.keywords)
        raise FragmentsError("too_many", field="keywords", count=count, most=MOST_KEYWORDS)
