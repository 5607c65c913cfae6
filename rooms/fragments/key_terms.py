"""Takes the keywords out of a text for which none were given: names first, then telling words."""

import re
from collections import Counter
from collections.abc import Iterator

from core.data import word_list
from core.sanitizer import MARKER
from core.text.plain import normal_form
from core.text.terms import function_words, stem_of, without_particle
from rooms.fragments.fragment import KEYWORD_CHARS, plain_keyword

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
