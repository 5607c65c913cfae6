"""Decides whether what stands at a place is the value of a name, by its looks and surroundings."""

from core.secrets.names import GENERIC, PLURAL, USUAL, Name
from core.secrets.rules import compiled
from core.secrets.value_ends import CLOSERS, LONGEST, bare_end, quoted_end
from core.secrets.values import (
    APP_PASSWORD,
    COUNTERS,
    JOINED,
    LOOSE,
    QUOTED,
    SETTING,
    is_app_password,
    is_assignment,
    is_certain,
    is_hex,
    is_labelled,
    is_likely,
    is_phrase,
    is_placeholder,
    is_random,
)

_LOOSE = "random", "said", "bare"  # gates of values that no sign assigns
_OF_A_DIGEST = (
    r"(?i:(?<![a-z])(?:checksum|digest|sha-?[0-9]|md5|etag|fingerprint|integrity|commit|hash|uuid)|"
    r"체크섬|다이제스트|지문|커밋|해시)"
)
_BEFORE_A_DIGEST = 80
_DIGEST_CHARS = 32
_OF_A_REQUEST = r"(?i:request|client|idempotency)[_\-]?\Z"  # by such a token a call is repeated
_USED_WITH = r"[ ](?:with|using|enter|type|typed|entered|entering|typing)[ ][\"'`]?\Z"
_TYPED_IN = r"[\"'`]?[ ]?(?:을|를|로|으로)[ ](?:입력|치면|치고|접속|로그인|들어가|열|풀)"
_TIED = r"[:?]|값|^(?:은|는|이|가|을|를) "
_FINGERPRINT = r"(?=[0-9]{0,40}[A-F])[0-9A-F]{40}"  # of a key that signs
_ABOUT = r"[ ]?(?:재설정|정책|규칙|검증|테스트|스캔|발송|문서|이력|이슈|길이|해시|버그)"
_GROUPS = r"(?=[A-Za-z\-]{0,24}[0-9])[0-9A-Za-z]{4,6}(?:-[0-9A-Za-z]{4,6}){1,5}"
_LONG_ROW = 3  # hyphens in a row of words that is no phrase of a sentence
_INTRODUCED = r"(?:oauth:|(?i:bearer|basic)[ ])"
_PLACED_NAMES = "비밀번호", "비밀 번호", "비번", "패스워드"  # which no program gives a variable
_PROPERTY = r"(?!(?:this|self)\.)(?:-D)?[a-z][A-Za-z0-9\-]{0,40}(?:\.[A-Za-z0-9\-]{1,40}){1,8}\."
_WORDS_OF_MORE = "pass", "pw", "psk", "creds", "credential", "credentials"  # than passwords
OPENERS = "\"'`(<[{*"

Span = tuple[int, int]


def value_at(
    text: str, start: int, quote: str, name: Name, gate: str, sign: str = "", stops: str = ""
) -> Span | None:
    """Return where the value that begins at `start` stands, if it looks like the name's."""
    end = quoted_end(text, start, quote) if quote else 0
    quoted = end > start
    between = text[name.end : start] if sign == "=" else ""
    if introduced := compiled(_INTRODUCED).match(text, start):
        start = introduced.end()
    if not quoted:
        while text[start : start + 1] in tuple("(<[{*") and gate != "assigned":
            start += 1
        if is_assignment(text, start):
            return None
        end = bare_end(text, start)
    end = min([end, *(at for stop in stops if (at := text.find(stop, start, end)) > 0)])
    if name.is_password and gate == "assigned":
        groups = compiled(APP_PASSWORD).match(text, start)
        if groups and is_app_password(groups[0], thought_of=quoted and not name.is_bare_pass(text)):
            return groups.span()
    value = text[start:end]
    if not value or is_placeholder(value, quoted=quoted):
        return None
    lead = text[name.start : name.word_start]
    if _is_id(text, start, value, gate=gate, lead=lead, word=name.word):
        return None
    tie = QUOTED if quoted else _tie_of(text, name, between)
    good = _passes(value, name, gate, tie=tie, following=text[end : end + 4])
    return (start, end) if good or is_phrase(value, name.word, quoted=quoted) else None


def value_before(text: str, end: int, name: Name, gate: str) -> Span | None:
    """Return where the value that ends at `end` stands, if it looks like the name's."""
    closers = "\"'`)>]}*" + "".join(CLOSERS.values())
    while end and text[end - 1] in closers:
        end -= 1
    start = end
    while start > max(0, end - LONGEST) and "!" <= text[start - 1] <= "~":
        start -= 1
    start = end - len(text[start:end].lstrip(OPENERS))
    value = text[start:end]
    if not value or is_placeholder(value):
        return None
    good = _passes(value, name, gate, tie=LOOSE, following="")
    return (start, end) if good else None


def _tie_of(text: str, name: Name, between: str) -> int:
    """Return how a value without quotes is tied to its name.

    between: `=` with its blanks, or nothing where another sign or none stands there.
    """
    lead, word = text[name.start : name.word_start], text[name.word_start : name.end]
    is_setting = word.isupper() or bool(compiled(_PROPERTY).fullmatch(lead))
    if name.korean:
        is_setting = name.word in _PLACED_NAMES
    if between == "=":
        return SETTING if is_setting else JOINED
    return JOINED if between and is_setting else LOOSE


def _passes(value: str, name: Name, gate: str, *, tie: int, following: str) -> bool:
    password = name.is_password
    if name.is_pin:
        value = value.rstrip("#*")
        digits = value.isdigit() and 4 <= len(value) <= 12
        if digits:
            return not following.startswith(COUNTERS)
        return is_random(value) or bool(compiled(_GROUPS).fullmatch(value))
    if name.certainty == GENERIC:
        if gate != "assigned" and is_hex(value):
            return False
        return len(value) >= 20 and is_random(value) and not is_labelled(value)
    if name.certainty == PLURAL and not (password and gate != "bare"):
        return is_random(value) and not is_labelled(value)
    if gate == "assigned" and name.certainty == USUAL:
        bare = name.start == name.word_start or name.word.startswith("cred")
        words = value.replace("-", "").isalpha() and name.word in _WORDS_OF_MORE
        if bare and words and value.count("-") < _LONG_ROW:
            return False
        return is_likely(value, password, tie)
    if gate in ("assigned", "said") or (gate == "bare" and password):
        return is_certain(value, password, following)
    return is_random(value)


def _is_id(text: str, start: int, value: str, *, gate: str, lead: str, word: str) -> bool:
    """Return whether the value at `start` is a digest of its line or the id of a request.

    gate: how loosely it is tied to its name. lead and word: that name, in two parts.
    """
    if not is_hex(value):
        return False
    if word == "token" and "-" in value and compiled(_OF_A_REQUEST).search(lead):
        return True
    if word == "key" and compiled(_FINGERPRINT).fullmatch(value):
        return True
    if gate not in _LOOSE or len(value) < _DIGEST_CHARS:
        return False
    line = text[max(0, start - _BEFORE_A_DIGEST) : start].rpartition("\n")[2]
    return compiled(_OF_A_DIGEST).search(line) is not None


def is_used(text: str, start: int, end: int) -> bool:
    """Return whether a sentence says that the value from `start` to `end` is typed in somewhere."""
    before = compiled(_USED_WITH).search(text, max(0, start - 16), start)
    return bool(before or compiled(_TYPED_IN).match(text, end))


def is_introduced(between: str, value: str) -> bool:
    """Return whether what stands between a Korean name and a value ties the two together.

    Words alone may be about the name, with the id of anything behind them.
    """
    if compiled(_ABOUT).match(between) and between[-2:] != ": ":
        return False
    tied = bool(compiled(_TIED).search(between))
    return tied or not (is_hex(value) or is_labelled(value))
