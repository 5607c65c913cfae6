"""Makes a draft ready to be stored: secrets out of every text, then the limits of each field.

Whatever a fragment says goes through here before anything else sees it: the hash, the database, its
index, an embedding that leaves the machine.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.sanitizer import find
from core.text.plain import normal_form
from rooms.fragments.errors import FragmentsError, SavingError
from rooms.fragments.fragment import (
    CONTENT_BYTES,
    CONTENT_CHARS,
    KEYWORD_CHARS,
    MOST_KEYWORDS,
    PRIVACIES,
    SOURCE_CHARS,
    TOPIC_CHARS,
    WORDS_OF_TYPE,
    plain_keyword,
)
from rooms.fragments.saving.texts import RAW_TIMES, Given, cleaned

MOST_LINKED = 20
_MOST_JOINED = MOST_KEYWORDS * (KEYWORD_CHARS * RAW_TIMES + 1)  # characters
_SEPARATORS = re.compile("[,;\r\n，、；]")  # some models give all keywords in one text
_AROUND_AN_ID = " \t\r\n#`'\"[]()<>"  # signs in which a model wraps what it has read


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
        return is_long(self.draft.content)


def prepared(draft: Draft, *, strict: bool = False) -> Prepared:
    """Return the draft as it may be stored. Raises FragmentsError.

    strict: a secret is refused, not taken out.
    """
    type_, privacy = type_word(draft.type), privacy_word(draft.privacy)
    check_importance(draft.importance)
    keywords = split_keywords(draft.keywords)
    linked_to = tuple(dict.fromkeys(filter(None, map(plain_id, draft.linked_to))))
    _check_count("linkedTo", linked_to, MOST_LINKED)
    done = cleaned(
        [given_content(draft.content), *given_rest(draft.topic, draft.source, keywords)],
        strict=strict,
    )
    content, topic, source, *words = done.texts
    clean = replace(
        draft,
        content=content,
        topic=normal_form("NFC", topic),
        type=type_,
        keywords=unique_keywords(words),
        source=source,
        linked_to=linked_to,
        privacy=privacy,
    )
    return Prepared(clean, done.redacted)


def given_content(content: str) -> Given:
    """Return the content as a text to be cleaned."""
    return Given("content", content, CONTENT_BYTES, in_bytes=True, may_be_blank=False)


def given_rest(topic: str, source: str, keywords: Iterable[str]) -> list[Given]:
    """Return a topic, a source and keywords as texts to be cleaned."""
    words = [Given("keywords", it, KEYWORD_CHARS) for it in keywords]
    return [Given("topic", topic, TOPIC_CHARS), Given("source", source, SOURCE_CHARS), *words]


def is_long(content: str) -> bool:
    """Return whether a content is longer than is recommended."""
    return len(content) > CONTENT_CHARS


def split_keywords(keywords: Iterable[str]) -> tuple[str, ...]:
    """Return keywords one by one, whatever a model has joined. Raises FragmentsError."""
    words = unique_keywords(it.strip() for joined in keywords for it in _parted(joined))
    _check_count("keywords", words, MOST_KEYWORDS)
    return words


def _parted(joined: str) -> Iterator[str]:
    """Yield what stands between separators; one inside a secret parts nothing.

    The halves of a secret would be found by no rule.
    """
    is_refused = len(joined) > _MOST_JOINED  # whatever is in it
    secrets = [] if is_refused else find(joined)
    start = 0
    for found in _SEPARATORS.finditer(joined):
        if not any(it.start <= found.start() < it.end for it in secrets):
            yield joined[start : found.start()]
            start = found.end()
    yield joined[start:]


def unique_keywords(words: Iterable[str]) -> tuple[str, ...]:
    """Return keywords without those that say the same in another spelling; the first stays."""
    known = dict[str, str]()
    for word in words:
        known.setdefault(plain_keyword(word), normal_form("NFC", word))
    known.pop("", None)
    return tuple(known.values())


def type_word(given: str) -> str:
    """Return the word of `TYPES` that is meant, "" for none. Raises FragmentsError."""
    word = given.strip().lower()
    if word and word not in WORDS_OF_TYPE:
        raise FragmentsError("bad_type", known=", ".join(WORDS_OF_TYPE))
    return word


def privacy_word(given: str) -> str:
    """Return the privacy that is meant, the first for none. Raises SavingError."""
    word = given.strip().lower() or PRIVACIES[0]
    if word not in PRIVACIES:
        raise SavingError("bad_privacy", known=", ".join(PRIVACIES))
    return word


def check_importance(importance: float | None) -> None:
    """Raise SavingError for one that is no share."""
    if importance is not None and not 0.0 <= importance <= 1.0:
        raise SavingError("bad_importance")


def plain_id(given: str) -> str:
    """Return an id without the signs that a model may put around it."""
    return given.strip(_AROUND_AN_ID)


def _check_count(field: str, items: Sequence[str], most: int) -> None:
    if len(items) > most:
        raise FragmentsError("too_many", field=field, count=len(items), most=most)
