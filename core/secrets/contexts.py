"""Tells by what stands around a value that it is no secret: a digest, an id, a key of a cache."""

from core.secrets.rule import compiled
from core.secrets.values import is_hex, is_labelled

_LOOSE = "random", "said", "bare"  # gates of values that no sign assigns
_OF_A_DIGEST = (
    r"(?i:(?<![a-z])(?:checksum|digest|sha-?[0-9]|md5|etag|fingerprint|integrity|commit|hash|uuid)|"
    r"체크섬|다이제스트|지문|커밋|해시)"
)
_BEFORE_A_DIGEST = 80
_DIGEST_CHARS = 32
_OF_A_REQUEST = r"(?i:request|client|idempotency)[_\-]?\Z"  # by such a token a call is repeated
_TIED = r"[:?]|값|^(?:은|는|이|가|을|를) "
_ABOUT = r"[ ]?(?:재설정|정책|규칙|검증|테스트|스캔|발송|문서|이력|이슈|길이|해시|버그)"


def is_id(text: str, start: int, value: str, *, gate: str, lead: str, word: str) -> bool:
    """Return whether the value at `start` is a digest of its line or the id of a request.

    gate: how loosely it is tied to its name. lead and word: that name, in two parts.
    """
    if not is_hex(value):
        return False
    if word == "token" and "-" in value and compiled(_OF_A_REQUEST).search(lead):
        return True
    if gate not in _LOOSE or len(value) < _DIGEST_CHARS:
        return False
    line = text[max(0, start - _BEFORE_A_DIGEST) : start].rpartition("\n")[2]
    return compiled(_OF_A_DIGEST).search(line) is not None


def is_introduced(between: str, value: str) -> bool:
    """Return whether what stands between a Korean name and a value ties the two together.

    Words alone may be about the name, with the id of anything behind them.
    """
    if compiled(_ABOUT).match(between) and between[-2:] != ": ":
        return False
    tied = bool(compiled(_TIED).search(between))
    return tied or not (is_hex(value) or is_labelled(value))
