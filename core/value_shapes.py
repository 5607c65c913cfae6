"""What a value looks like: a stand-in, a word, a program text, or something made at random."""

import re
from functools import cache

TRAILING = ".,;:?)]}>|*(["  # what ends a sentence or an enclosure, not a value

_COUNTERS = tuple("자회번개일분초년월글바비%")
_DOTTED = r"[A-Za-z_][A-Za-z_]{0,60}\??\.[A-Za-z_.?!]{1,120}"
_SEPARATORS = r"[_\-./:]"
_MIXED = r"(?=[^0-9]{0,512}[0-9])(?=[^A-Za-z]{0,512}[A-Za-z])"
_SYMBOL = r"[!@#$%^&*+=]"
_IDENTIFIER = r"[A-Za-z_][A-Za-z_\-]{0,80}"
_CASE_TURN = r"[A-Z][a-z]?[A-Z][a-z]{1,2}[A-Z]|[a-z][A-Z][a-z][A-Z]|[+/=]"

# Values which are words of code or of a sentence, not secrets.
COMMON = frozenset(
    "null none nil undefined true false yes no on off string str int integer number bool boolean "
    "object any bytes byte optional text varchar char required secret password passwd pass pwd "
    "token "
    "example test todo redacted masked hidden empty unknown invalid missing expired wrong "
    "incorrect "
    "correct valid set unset given input prompt hash hashed encrypted plain plaintext default "
    "value user username admin root name key apikey bearer basic refresh access auth login "
    "changeme "
    "function return await self this new lambda request response config settings env "
    "credentials credential public private void never void unset disabled enabled deprecated "
    "rotate "
    "rotated foo bar baz foobar dummy sample blank static dynamic random generated stdin vault "
    "confirm confirmation forgot reset current old short long weak strong mandatory sensitive "
    "passphrase passcode pw date datetime uuid float double dict list array jwt oauth oauth2 "
    "ipsum lorem keychain keyring manual same different "
    "stored shared here there below above".split()
)

# Values by their looks: stand-ins, program text, measures.
PLACEHOLDER = (
    r"\$(?:[A-Za-z_][A-Za-z0-9_]{0,80}(?![!-~])|[({0-9])|[{<]|%(?:[({]|[sd](?![!-~])|[A-Z_]{1,60}%)|"
    r"#\{|@@|\[|\*{3}|\.{3}|…|--[a-z]|\\|!(?:Ref|Sub|GetAtt|secret|vault)|(?:op|vault|ssm|arn|keyring)[:]"
)
STAND_IN = (
    r"example|placeholder|change[_\-]?me|redacted|x{4}|\*{4}|\.{3}|…|\{[a-z_][a-z0-9_.]{0,40}\}|\$\{|"
    r"(?<![a-z0-9])(?:your|my|dummy|fake|sample|insert|replace|todo|enter|some)(?![a-z0-9])"
)
CAPS_NAME = r"[A-Z][A-Z0-9]{0,40}_[A-Z0-9_]{1,80}"
# "The password is in 1Password": names that mix letters and digits as secrets do.
TECHNOLOGY = (
    r"(?:[15]password|bitwarden|lastpass|keepass)[a-z]{0,8}\d?"
    r"|(?:hmac-?)?sha-?\d{1,3}|md5|argon2(?:id|i|d)?|bcrypt-?\d{0,2}|scrypt\d{0,2}|pbkdf2[a-z0-9\-]{0,12}"
    r"|aes-?\d{3}[a-z0-9\-]{0,8}|rsa-?\d{3,4}|ed25519|x25519|x509(?:v3)?|[ehpr]s\d{3}|pkcs-?\d{1,2}"
    r"|utf-?\d{1,2}|base\d{2}(?:url)?|iso-?\d{3,5}[\d\-]{0,4}|cp949|euc-?kr"
    r"|ldapv?\d|oauth-?2(?:\.0)?|saml-?2|(?:h|t)otp\d?|tls-?v?1(?:\.\d)?|ipv[46]|http[23]"
    r"|k8s[a-z]{0,16}|s3(?:bucket|key|path|object)?|ec2[a-z]{0,10}|route53|oauth2[a-z]{0,12}"
)
PLAIN_SHAPE = (
    r"[12][0-9]{3}[-./][0-9]{1,2}[-./][0-9]{1,2}|v?[0-9.]{1,20}(?:-(?:rc|beta|alpha)[.0-9]{0,4})?$|"
    r"sha[0-9]{1,3}[-:]|md5[-:]|[A-Za-z]:\\|"
    r"[A-Za-z0-9._%+\-]{1,64}@[a-z0-9\-]{1,40}\.(?:com|org|net|io|dev|kr)$"
)
FILE_NAME = (
    r"\.(?:json|ya?ml|txt|py|[jt]sx?|env|pem|key|crt|toml|ini|cfg|md|sh|go|rs|java|log|html)$"
)
NAME_PART = (
    r"(?:[A-Z]?[a-z]{1,16}|[A-Z]{1,12}|"
    r"[A-Za-z][a-z]{0,12}[0-9]{0,5}[A-Z][a-z]{1,12}(?:[A-Z][a-z]{2,12})?)?[0-9]{0,3}"
)
MEASURE = (
    r"(?i:sha|md|aes|rsa|hs|rs|es|ps|hmac|bcrypt|argon|pbkdf|utf|base|oauth|http|rfc|tls|ssl|ipv|gpt|"
    r"ed|curve|p)[-_/.]?[0-9]|[0-9]{1,5}[~\- ]?(?:[0-9]{1,5}|byte|bit|char|hour|day|min|sec|ms|"
    r"kb|mb|th|st|nd|digit|word|time|k|m|s|h|d)"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def is_placeholder(value: str) -> bool:
    """Return whether a value only stands for a secret."""
    lowered = value.casefold()
    return bool(
        lowered.strip(TRAILING + "!") in COMMON
        or len(set(value) - set("-_ ")) <= 1
        or "가" <= value[0] <= "힣"
        or _compiled(PLACEHOLDER).match(value)
        or _compiled(STAND_IN).search(lowered[:80])
        or (value.isascii() and _compiled(CAPS_NAME).fullmatch(value))
    )


def _is_harmless_shape(value: str) -> bool:
    """Return whether a value is a path, date, version, address, call or name of a program part."""
    if _compiled(PLAIN_SHAPE).match(value) or _compiled(FILE_NAME).search(value[-6:]):
        return True
    if "://" in value or _compiled(TECHNOLOGY).fullmatch(value.casefold()):
        return True
    if value[0] in "/.~" and value.lower() == value and "/" in value[:3]:
        return True
    return bool(_compiled(_DOTTED).fullmatch(value)) and not any(c.isdigit() for c in value)


def _is_named(value: str) -> bool:
    """Return whether every part of a value is a word, as in `s3_client_v2`."""
    parts = _compiled(_SEPARATORS).split(value)
    return all(_compiled(NAME_PART).fullmatch(part) for part in parts)


def _is_compound(value: str) -> bool:
    """Return whether a value is a name of several parts."""
    return _compiled(_SEPARATORS).search(value) is not None and _is_named(value)


def is_likely(value: str, password: bool, quoted: bool, free: bool) -> bool:
    """Return whether a value assigned to a right name is a secret."""
    if len(value) < (4 if password else 8) or " " in value:
        return False
    if value.isdigit():
        return password or len(value) >= 20
    if _is_harmless_shape(value):
        return False
    if _compiled(_MIXED).match(value):
        if password:
            stem = value.casefold().strip("0123456789_-")
            return quoted or not (stem in COMMON or _is_compound(value))
        return not _is_named(value)
    if password and (free or _compiled(_SYMBOL).search(value)):
        return not _compiled(_IDENTIFIER).fullmatch(value) or "_" not in value
    return len(value) >= 20 and bool(_compiled(_CASE_TURN).search(value)) and not _is_named(value)


def is_certain(value: str, password: bool, following: str) -> bool:
    """Return whether a value in running text is a secret by its own looks."""
    if value.isdigit():
        return password and len(value) >= 4 and following not in _COUNTERS
    if " " in value or "|" in value or _is_harmless_shape(value) or _compiled(MEASURE).match(value):
        return False
    if not _compiled(_MIXED).match(value) or value.rstrip("0123456789") in COMMON:
        return False
    if password:
        return len(value) >= 6 and not _is_compound(value)
    return len(value) >= 10 and not _is_named(value)


def is_phrase(value: str, word: str) -> bool:
    """Return whether a value is the row of words that unlocks a wallet or a key."""
    return word.endswith(("phrase", "mnemonic")) and 4 <= len(value.split()) <= 24
