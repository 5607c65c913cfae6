"""Whether a name and the value beside it are a secret's: the gate of the keyed rules."""

import re
from functools import cache
from unicodedata import normalize

from core.value_shapes import TRAILING, is_certain, is_likely, is_phrase, is_placeholder

_USUAL, _UNUSUAL = 1, 2
_PASSWORD_WORDS = "pass", "pw", "비밀번호", "비밀 번호", "비번", "패스", "암호"
_CLOSERS = {"“": "”", "‘": "’", "「": "」", "『": "』"}
_NAME_END = r"[A-Za-z0-9_\-]{1,40}$"
_LETTERS_END = r"(?:[a-z]{1,40}|[A-Z]{1,40})$"
_WORD_PART = r"[A-Z]?[a-z]{1,40}|[A-Z]{1,40}(?![a-z])|[0-9]{1,40}"
_LONGEST = 512
_BARE = rf"[!-~]{{1,{_LONGEST}}}"
_OPENERS = "\"'`(<[{*"
_CODE = r"[A-Za-z_][A-Za-z0-9_.?]{0,80}(?:[(\[][!-~]|->|::|=>)"
_CUT = (  # its class of first characters lets `re` skip quickly
    r"""["'`<)\]},;&\\](?:(?<=["'`])|(?<=<)(?:/|br)|(?<=\\)[nrt"]|(?<=[)\]}])[,;.)\]}]|"""
    r"(?<=[,;&])(?:amp;)?[ ]?[A-Za-z_][A-Za-z0-9_.\-]{0,40}[=:])"
)

# What a name may not hold besides the word, before it and after it.
NOT_BEFORE = frozenset(
    "max min num number page next prev public primary foreign cache count total csrf xsrf sort "
    "partition idempotency eos bos pad sep unk stop special mask design lex no non not without "
    "forgot reset hashed is has use show hide require required enable validate verify check "
    "invalid missing cancellation continuation per input output prompt completion".split()
)
NOT_AFTER = frozenset(
    "file files path name names id ids url uri ttl count length len size policy type types field "
    "label hint regex pattern format input placeholder reset strength rules rule hash hashed "
    "digest "
    "min max num number limit expiry expires expiration expire expired age timeout at manager "
    "provider store class header param parameter prefix suffix column index env var variable "
    "algorithm alg method mode enabled required visible budget usage error errors message msg dir "
    "folder arn version status scope scopes endpoint host rotation validator ref selector template "
    "list map kind source position pos offset price symbol address generator factory handler "
    "callback func fn location date time created updated issuer audience changed set exists valid "
    "counter rate per window bucket fingerprint pub public owner user username login attempts "
    "complexity options config settings cost rounds salt rounds review reviewer".split()
)
USUAL_AFTER = frozenset(
    "key secret token password value prod production dev test staging stage live string base64 b64 "
    "raw plain text plaintext default old new current access private master root admin main "
    "app api db hex confirm confirmation backup base auth primary secondary enc data local".split()
)
SHORT_WORDS = frozenset(["pass", "pw", "pwd"])  # part of many others: compass, bypass
GLUED_BEFORE = frozenset(
    "db my user root admin pg mysql redis sudo ftp smtp mail login ssh vpn wifi old new auth "
    "rds ldap sql http proxy bot app".split()
)
GLUED_AFTER = frozenset(["key", "accesskey", "value", "secret", "token"])


def value_after(text: str, match: re.Match[str], *, loose: bool) -> tuple[int, int] | None:
    """Return where the value after a name is, if both look like a secret's.

    loose: name and value are words of a sentence, where most words are no secrets.
    """
    certainty = _name_certainty(text, match)
    if not certainty:
        return None
    start = match.end()
    quote = (match["quote"] or "")[-1:]
    end = _quoted_end(text, start, quote) if quote else 0
    quoted = end > start
    if not quoted:
        end = _bare_end(text, start)
    value = text[start:end]
    if not value or is_placeholder(value):
        return None
    word, password = _kind_of(match)
    if loose or certainty == _UNUSUAL:
        good = is_certain(value, password, text[end : end + 1])
    else:
        free = quoted or (match["word"].isupper() and match.groupdict().get("sign") == "=")
        good = is_likely(value, password, quoted, free)
    return (start, end) if good or is_phrase(value, word) else None


def value_before(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value before a match is (`… as the password`), if it looks like one."""
    end = match.start()
    if text[end - 1 : end] in _CLOSERS.values() or text[end - 1 : end] in ('"', "'", "`"):
        end -= 1
    start = end
    while start > max(0, end - _LONGEST) and "!" <= text[start - 1] <= "~":
        start -= 1
    start = end - len(text[start:end].lstrip(_OPENERS))
    value = text[start:end]
    _, password = _kind_of(match)
    if not value or is_placeholder(value) or not is_certain(value, password, ""):
        return None
    return start, end


def _kind_of(match: re.Match[str]) -> tuple[str, bool]:
    """Return the word that names the secret, and whether it is one that a person thinks up."""
    word = normalize("NFC", match["word"]).casefold()
    return word, word.startswith(_PASSWORD_WORDS) and not word.endswith("키")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _name_certainty(text: str, match: re.Match[str]) -> int:
    """Return how sure the whole name is a secret's: 0 for no."""
    word, tail, start = match["word"], match["tail"], match.start("word")
    head = text[max(0, start - 40) : start]
    before = _compiled(_NAME_END).search(head)
    lead = before[0] if before else ""
    if lead[-1:].isalpha() and not (lead[-1].islower() and word[0].isupper()):
        glued = _compiled(_LETTERS_END).search(lead)
        short = word.casefold() in SHORT_WORDS
        if short and (not glued or glued[0].casefold() not in GLUED_BEFORE):
            return 0
    if NOT_BEFORE.intersection(_words(lead)):
        return 0
    if tail[:1].isalpha() and (tail[0].islower() or word[-1].isupper()):
        return _USUAL if tail.casefold() in GLUED_AFTER else 0
    after = [part for part in _words(tail) if not part.isdigit()]
    if NOT_AFTER.intersection(after):
        return 0
    return _USUAL if USUAL_AFTER.issuperset(after) else _UNUSUAL


def _words(name: str) -> list[str]:
    """Return the words of an identifier in lower case."""
    return [part.casefold() for part in _compiled(_WORD_PART).findall(name)]


def _quoted_end(text: str, start: int, quote: str) -> int:
    """Return where a quoted value ends, or 0 if the quote is never closed."""
    closer = _CLOSERS.get(quote, quote)
    inner = rf"[^{closer}\\\r\n]|\\[^\r\n{closer}]|\\{closer}(?=[^\s,;:)}}\]])"
    found = _compiled(f"(?:{inner}){{1,{_LONGEST}}}+").match(text, start)
    if not found or text[found.end() : found.end() + 2].lstrip("\\")[:1] != closer:
        return 0
    return found.end()


def _bare_end(text: str, start: int) -> int:
    """Return where a value without quotes ends: a Korean particle, space or closing mark."""
    run = _compiled(_BARE).match(text, start)
    if not run:
        return start
    value = run[0]
    if _compiled(_CODE).match(value):
        return start
    cut = _compiled(_CUT).search(value)
    value = value[: cut.start()] if cut else value
    return start + len(value.rstrip(TRAILING))
