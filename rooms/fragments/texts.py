"""Cleans the texts of a call, holds their limits, and takes keywords out of a text.

Controls and secrets go before anything else sees a text: its hash, the database, an index, an
embedding that leaves the machine. A secret that one text of a call gives away goes from all its
texts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from core.data import word_list
from core.guard.characters import CONTROLS, UNSEEN
from core.sanitizer import MARKER, find, redact_together
from core.text.plain import SURROGATE, normal_form
from core.text.terms import function_words, stem_of, without_particle
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

RAW_TIMES = 10  # of its limit: a longer text is too long, whatever the redactor takes out of it
_MOST_JOINED = MOST_KEYWORDS * (KEYWORD_CHARS * RAW_TIMES + 1)  # characters
_SEPARATORS = re.compile("[,;\r\n，、；]")  # some models give all keywords in one text
_AROUND_AN_ID = " \t\r\n#`'\"[]()<>"  # signs in which a model wraps what it has read

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
    check_count("keywords", words, MOST_KEYWORDS)
    return words


def _parted(joined: str) -> Iterator[str]:
    """Yield what stands between separators; one inside a secret parts nothing.

    The halves of a secret would be found by no rule.
    """
    is_refused = len(joined) > _MOST_JOINED  # whatever is in it
    secrets = [] if is_refused or not _SEPARATORS.search(joined) else find(joined)
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


def check_count(field: str, items: Sequence[str], most: int) -> None:
    """Raise FragmentsError for more items than a field takes."""
    if len(items) > most:
        raise FragmentsError("too_many", field=field, count=len(items), most=most)


MOST = 8
_LEAST_CHARS = 2
_WIDE = "\u3040-\U0010ffff"
# A name or a word of letters with what joins its parts; a word in Hangul, but for a particle behind
# a sign; in the scripts that run words together those in katakana and in Han.
_WORD = re.compile(
    rf"[^\W\d_{_WIDE}](?:[^\W{_WIDE}]|[-./](?=[^\W{_WIDE}]))*(?:\+\+|\#)?"
    r"|(?<![\w)\]`'\"%])[가-힣]{2,}|[\u30a1-\u30ff]{2,}|[\u4e00-\u9fff]{2,8}"
)
_HANGUL = re.compile("[가-힣]")
_NAME_SIGNS = re.compile(r"[\d_+#]|\w\.\w|[a-z][A-Z]|^[A-Z]{2,}s?$|-[A-Z0-9]")
# What hardly a noun ends in: behind which a particle was cut off, and as it stands.
_CUT_VERB = re.compile("(?:[다요]|^.[은는을를에으]|[했었았]지)$")
_VERB = re.compile(
    "^않|(?:[다요죠까져]|는데|[해하돼아어여]서|려면|[는은인]지|[았었했]던|(?<=..)[고며야면게할될된한]|^.[은는을를에])$"
)
_DENIED = re.compile(r"(?<=[^하되]지)\s+(?:않|못|마|말)")  # behind a verb: 쓰지 않는다


def keywords_of(text: str) -> tuple[str, ...]:
    """Return at most eight keywords of a text, in the order in which they stand there.

    What looks like a name comes first (`REDIS_PASSWORD`, `server.py`, `pgvector2`), then what is
    said most often, then what is longest. Korean nouns stand without their particles.
    """
    found, times = dict[str, str](), Counter[str]()
    for word in _words(normal_form("NFC", text.replace(MARKER, " "))):
        key = _key(word)
        found.setdefault(key, word)
        times[key] += 1
    names = [key for key, word in found.items() if _NAME_SIGNS.search(word)]
    others = [key for key in found if key not in names]
    others.sort(key=lambda key: (-times[key], -_weight(found[key])))
    chosen = {*[*names, *others][:MOST]}
    return tuple(word for key, word in found.items() if key in chosen)


def _words(text: str) -> Iterator[str]:
    for found in _WORD.finditer(text):
        if _DENIED.match(text, found.end()):
            continue
        word = _noun(found[0]) if _HANGUL.match(found[0]) else found[0]
        plain = word.lower()
        is_common = plain in function_words() or plain in word_list("no_keywords")
        if _LEAST_CHARS <= len(word) <= KEYWORD_CHARS and not is_common:
            yield word


def _noun(word: str) -> str:
    """Return a Korean word without its particle; "" for what is no noun, or says nothing."""
    bare = without_particle(word)
    is_verb = (_VERB if bare == word else _CUT_VERB).search(bare) or word.endswith("거나")
    return "" if is_verb or word in word_list("no_keywords") else bare


def _key(word: str) -> str:
    """Return what the forms of one word share: `migrations` and `migration` are one keyword."""
    return stem_of(plain_keyword(word))


def _weight(word: str) -> int:
    """Return how much a word tells by its length; a syllable is as much as two letters."""
    return len(word) if word.isascii() else 2 * len(word)
