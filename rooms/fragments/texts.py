"""Redacts and parts the texts of a fragment, checks their limits, and finds keywords.

Controls and secrets go before a hash, the database, an index or an embedding sees a text. A secret
in one text of a call goes from all.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from core.data import word_list
from core.guard.characters import CONTROLS, UNSEEN_CLASS
from core.sanitizer import MARKER, find_secrets, redact_together
from core.text.plain import SURROGATE, normal_form
from core.text.terms import stem_of, without_particle
from rooms.fragments.fragment import FragmentsError, plain_keyword

CONTENT_CHARS = 300  # recommended; a longer text is stored, and its answer says so
CONTENT_BYTES = 1_024  # refused above
TOPIC_CHARS, KEYWORD_CHARS, SOURCE_CHARS = 50, 50, 200
MOST_KEYWORDS = 20
SUGGESTION_CHARS, SITUATION_CHARS = 500, 200
MOST_FOUND = 8  # keywords that are taken out of a text
_RAW_TIMES = 10  # of its limit: a longer text is too long, whatever the redactor takes out of it
_MOST_KEYWORD_CHARS = MOST_KEYWORDS * (KEYWORD_CHARS * _RAW_TIMES + 1)  # characters of all keywords
_SEPARATORS = re.compile("[,;\r\n，、；]")  # some models give all keywords in one text
_ID_WRAPPERS = " \t\r\n#`'\"[]()<>"  # signs in which a model wraps an id that it has read
_CONTROLS = re.compile(f"[{CONTROLS}]")
_LINE_ENDS = re.compile("\r\n?")
_UNSEEN = re.compile(f"[{UNSEEN_CLASS}]+")
# A sentence with the signs that close it, or a line.
_SENTENCE = re.compile(r"[^\n]+?(?:(?<=[.!?。！？…])[\"'”’)\]]*(?=\s)|(?=\n)|\Z)")


class Text(NamedTuple):
    """A text of a call."""

    field: str  # its parameter
    text: str
    most: int  # characters, or bytes
    in_bytes: bool = False
    may_be_blank: bool = True


def redact_fields(
    content: str | None, topic: str, source: str, keywords: Iterable[str], *, strict: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the redacted texts of a fragment by field, and the kinds of their secrets.

    content: None for no change; "" is refused. keywords: one by one or joined. strict: see
    `redact_texts`.
    """
    raw_keywords = list(dict.fromkeys(keywords))
    if sum(map(len, raw_keywords)) > _MOST_KEYWORD_CHARS:  # refused; no secret is looked for
        parts = [part for text in raw_keywords for part in _SEPARATORS.split(text)]
        check_count("keywords", len(parts), MOST_KEYWORDS)
        longest = max(parts, key=len)
        check_size(Text("keywords", longest, KEYWORD_CHARS), longest)
    words = list[str]()
    for text in raw_keywords:
        start, signs = 0, list(_SEPARATORS.finditer(text))
        secrets = find_secrets(text) if signs else []
        for sign in signs:  # inside a secret it splits nothing: no rule would find the halves
            if not any(secret.start <= sign.start() < secret.end for secret in secrets):
                words.append(text[start : sign.start()].strip())
                start = sign.end()
        words.append(text[start:].strip())
    unique = _drop_duplicates(words)
    check_count("keywords", len(unique), MOST_KEYWORDS)
    has_content = content is not None
    texts = [
        Text("content", content or "", CONTENT_BYTES, in_bytes=True, may_be_blank=not has_content),
        Text("topic", topic, TOPIC_CHARS),
        Text("source", source, SOURCE_CHARS),
        *(Text("keywords", word, KEYWORD_CHARS) for word in unique),
    ]
    (content, topic, source, *words), secret_kinds = redact_texts(texts, strict=strict)
    fields = {"content": content, "topic": normal_form("NFC", topic), "source": source}
    return {**fields, "keywords": _drop_duplicates(words)}, secret_kinds


def _drop_duplicates(words: Iterable[str]) -> tuple[str, ...]:
    """Return keywords, each in its first spelling."""
    spellings = dict[str, str]()
    for word in words:
        spellings.setdefault(plain_keyword(word), normal_form("NFC", word))
    spellings.pop("", None)
    return tuple(spellings.values())


def redact_texts(texts: Sequence[Text], *, strict: bool) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts redacted, and the kinds of their secrets. strict: refuse a secret."""
    plain_texts = list[str]()
    for limit in texts:
        if SURROGATE.search(limit.text):
            raise FragmentsError("lone_surrogate", field=limit.field)
        # Controls go first: a secret that they split would be whole again behind the redactor.
        text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", limit.text))
        plain_texts.append(text)
        if not (limit.may_be_blank or _UNSEEN.sub("", text).strip()):
            raise FragmentsError("blank", field=limit.field)
        if len(text) > limit.most * _RAW_TIMES:
            check_size(limit, text)
    kinds, safe_texts = list[str](), list[str]()
    for limit, (text, text_kinds) in zip(texts, redact_together(plain_texts), strict=True):
        if text_kinds and strict:
            names = ", ".join(sorted({*text_kinds}))
            raise FragmentsError("secret_refused", field=limit.field, kinds=names)
        kinds += text_kinds
        safe_texts.append(text.strip())
        check_size(limit, safe_texts[-1])
    return safe_texts, tuple(dict.fromkeys(kinds))


def check_size(limit: Text, text: str) -> None:
    size = len(text.encode()) if limit.in_bytes else len(text)
    excess = size - limit.most
    if excess > 0:
        key, unit = ("too_large", "bytes") if limit.in_bytes else ("too_long", "chars")
        raise FragmentsError(key, field=limit.field, over=excess, most=limit.most, **{unit: size})


def check_count(field: str, count: int, most: int) -> None:
    if count > most:
        raise FragmentsError("too_many", field=field, count=count, most=most)


def plain_id(id_: str) -> str:
    """Return an id without signs around it.

    >>> plain_id("[`9f2c4b7a`]")
    '9f2c4b7a'
    """
    return id_.strip(_ID_WRAPPERS)


def parts_of(text: str, most: int = CONTENT_BYTES) -> list[str]:
    """Return pieces of at most `most` bytes, parted where sentences end.

    A longer sentence is parted at blanks, a longer word anywhere. Only blanks are lost.
    """

    def fits(piece: str) -> bool:
        return len(piece.encode()) <= most

    parts, text = list[str](), text.strip()
    for sentence in [text] if fits(text) else map(str.strip, _SENTENCE.findall(text)):
        for word in [sentence] if fits(sentence) else sentence.split():
            rest = word
            while rest:
                piece = rest.encode()[:most].decode(errors="ignore")  # no character is parted
                rest = rest[len(piece) :]
                if parts and fits(f"{parts[-1]} {piece}"):
                    parts[-1] += f" {piece}"
                else:
                    parts.append(piece)
    return parts


_LEAST_CHARS = 2  # of a keyword that is found in a text
_WIDE = "\u3040-\U0010ffff"
# A name or a word of letters with the signs that join its parts; a word in Hangul, unless it is a
# particle behind a sign; of the scripts that run words together, words in katakana and in Han.
_WORD = re.compile(
    rf"[^\W\d_{_WIDE}](?:[^\W{_WIDE}]|[-./](?=[^\W{_WIDE}]))*(?:\+\+|\#)?"
    r"|(?<![\w)\]`'\"%])[가-힣]{2,}|[\u30a1-\u30ff]{2,}|[\u4e00-\u9fff]{2,8}"
)
_HANGUL = re.compile("[가-힣]")
_NAME_SIGNS = re.compile(r"[\d_+#]|\w\.\w|[a-z][A-Z]|^[A-Z]{2,}s?$|-[A-Z0-9]")
# Endings that hardly a noun has: where a particle was cut off, and where none was.
_CUT_VERB = re.compile("(?:[다요]|^.[은는을를에으]|[했었았]지)$")
_VERB = re.compile(
    "^않|(?:[다요죠까져]|는데|[해하돼아어여]서|려면|[는은인]지|[았었했]던|(?<=..)[고며야면게할될된한]|^.[은는을를에])$"
)
_DENIED = re.compile(r"(?<=[^하되]지)\s+(?:않|못|마|말)")  # behind a verb: 쓰지 않는다


def keywords_of(text: str) -> tuple[str, ...]:
    """Return at most eight keywords, in the order of the text.

    Names are chosen first (`REDIS_PASSWORD`, `server.py`, `pgvector2`), then frequent words, then
    long words. Korean nouns lose their particles.
    """
    common_words = word_list("function_words") | word_list("no_keywords")
    text = normal_form("NFC", text.replace(MARKER, " "))
    spellings, times = dict[str, str](), Counter[str]()
    for match in _WORD.finditer(text):
        word = match[0]
        if _DENIED.match(text, match.end()) or word in common_words:
            continue
        if _HANGUL.match(word):
            noun = without_particle(word)
            is_verb = (_VERB if noun == word else _CUT_VERB).search(noun) or word.endswith("거나")
            word = "" if is_verb else noun
        if _LEAST_CHARS <= len(word) <= KEYWORD_CHARS and word.lower() not in common_words:
            key = stem_of(plain_keyword(word))  # `migrations` and `migration` are one keyword
            spellings.setdefault(key, word)
            times[key] += 1

    def rank(key: str) -> tuple[bool, int, int]:
        word = spellings[key]
        if _NAME_SIGNS.search(word):
            return False, 0, 0
        length = len(word) if word.isascii() else 2 * len(word)  # a syllable is two letters
        return True, -times[key], -length

    chosen_keys = {*sorted(spellings, key=rank)[:MOST_FOUND]}
    return tuple(word for key, word in spellings.items() if key in chosen_keys)
