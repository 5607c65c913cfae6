"""Tells what a value looks like: a stand-in, a word, program text, or something made at random."""

from core.secrets.rules import compiled, listed
from core.secrets.value_ends import TRAILING

# How a value is tied to its name: loosely, by `=` without a blank, by the same in a setting
# (`DB_PASSWORD=`, `spring.datasource.password=`), where nearly everything is a value, or in quotes.
LOOSE, JOINED, SETTING, QUOTED = range(4)

COUNTERS = tuple("자회개일분초년월글바비%")  # "8자", "3600초": a number of something
PLACES = tuple("에서,에 ,에는, 저장소, 페이지, 위키, 버전, 이상, 이하".split(","))  # of a product
_DOTTED = (
    r"[A-Za-z_][A-Za-z0-9_]{0,60}(?:\??\.(?:[A-Za-z_][A-Za-z0-9_]{0,60}[?!]?|[0-9]{1,3})){1,12}"
)
_CALL = r"[A-Za-z_][A-Za-z0-9_.]{2,80}\([^()]{0,80}\)(?:$|[\[.])"
_SEPARATORS = r"[_\-./:]"
_MIXED = r"(?=[^0-9]{0,512}[0-9])(?=[^A-Za-z]{0,512}[A-Za-z])"
_SYMBOL = r"[!@#$%^&*+=]"
_HARD_SYMBOL = r"[!#$%^*](?!$)|@[0-9]{2}|[0-9]{2}[!#$%^&*]$"  # in no name, path or address
_IDENTIFIER = r"[A-Za-z_][A-Za-z_\-]{0,80}"
_HANGUL_SECRET = r"[가-힣]{1,20}(?=[!-~]{0,40}[0-9])(?=[!-~]{0,40}[!@#$%^&*])[!-~]{2,40}"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_HEX = rf"[0-9a-fA-F]{{2,512}}|{_UUID}"
_ASSIGNED = (
    r"[+\-]?(?:[a-z]{2,20}[0-9]{0,2}(?:[_.\-][A-Za-z]{1,40}[0-9]{0,2}){0,6}|"
    r"[A-Z]{2,20}[0-9]{0,2}(?:_[A-Z0-9]{1,20}){0,6})(?:[=:]|%3[AaDd])[^=:]"
)
_TURN = r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])|[a-z](?=[A-Z])"
_WORDS_AND_NUMBER = (
    r"(?=[^0-9]{0,80}[0-9]{2})[A-Za-z]{3,12}(?:[\-_.](?:[A-Za-z]{3,12}[0-9]{0,4}|[0-9]{2,4})){2,6}[!@#$%^&*]?|"
    r"[A-Za-z]{3,12}(?:[\-_.][A-Za-z]{2,12}){1,4}[\-_.]?[0-9]{2,6}[!@#$%^&*]?"
)
_PHRASE_WORD = r"[A-Za-z][a-z]{1,10}|[0-9]{1,4}"
_WORD = r"[A-Z]?[a-z]{1,40}|[A-Z]{1,40}(?![a-z])|[0-9]{1,40}"
_STRIKING = (
    r"(?=[^A-Za-z]{0,64}[A-Za-z])[A-Za-z0-9][A-Za-z0-9._\-+~?]{0,63}[!@#$%^&*]"
    r"[A-Za-z0-9._\-+~?!@#$%^&*=]{0,62}"
)
_ADDRESS = (  # of mail, of a package in a version, of an issue
    r"[A-Za-z0-9._\-]{1,40}@(?:[A-Za-z][A-Za-z0-9\-]{0,40}(?:[.:/]|$)|v?[0-9]{1,3}(?:\.|$))|"
    r"[A-Za-z][A-Za-z_.\-]{1,40}#[0-9]{1,6}$"
)
_CAPITAL_WORDS_NUMBER = r"(?:[A-Z][a-z]{3,12}){1,3}[0-9]{2,4}"
_WORDS_AS_PASSWORD = (
    r"(?:[A-Z][a-z]{3,12}){2}[0-9]{2,4}[!@#$*]?|"
    r"[a-z]{4,12}(?:[\-_.][a-z]{4,12}){1,5}[\-_.][0-9]{2,4}[!@#$*]?"
)
_NUMBERED_WORD = r"[a-z]{2,20}[0-9]"
_LONG_NAME = 16
_CHANCE = r"(?<!s)q(?![u0-9lt])|[bcdfghjklmnpqrstvwxz]{5}|[jxz][bcdfgjkqvwx]"  # in few words
_URL_WORD = r"(?:%[89A-Fa-f][0-9A-Fa-f]){2}"  # a word of another script
_NAME_OF_A_SECRET = (
    r"[A-Za-z]{2,12}[\-_](?:password|passwd|token|key)|(?:password|token|key)[\-_](?:value|here)|"
    r"[a-z]{2,10}(?:Password|Token|Key)|"
    r"[A-Z_\-]{0,30}(?:PASSWORD|TOKEN|KEY)[0-9]{0,2}(?:,[A-Z0-9_\-]{1,40})?"
)
_WORDS_AROUND_NUMBER = (  # hunter2-blue, WINTER63dragon, 86mango71, violet+silver=81
    r"[A-Za-z]{4,12}(?:[0-9]{1,4}[\-_.#+]?|[+#&])[A-Za-z]{4,12}(?:[=#]?[0-9]{1,4})?[!@#$*]?|"
    r"[0-9]{2,4}[A-Za-z]{4,12}[0-9]{2,4}[!@#$*]?"
)
_WORD_WITH_NUMBER = r"[A-Za-z]{3,12}(?:[._\-][A-Za-z]{3,12}){0,3}[._\-]?[0-9]{2,4}[!@#$*]?"
_PATH_PART = rf"[a-z]{{3,20}}(?:[_.\-][a-z]{{2,20}}){{0,3}}|[0-9]{{1,12}}|[0-9a-f]{{16,64}}|{_UUID}"
_LABELLED = rf"(?:[A-Za-z][A-Za-z0-9.]{{0,20}}[\-_:/]){{1,6}}(?:[0-9a-f]{{32,128}}|{_UUID})"
_SAMPLE_PASSWORD = r"^your|password|passwd|secret|(?:pass|pwd)$"  # says itself what it stands for
APP_PASSWORD = r"(?:[a-z]{4}[ ]){3}[a-z]{4}(?![ ]?[A-Za-z0-9])"
_VOWEL = r"[aeiouyAEIOUY]"
_ODD = r"[^A-Za-z0-9_\-./:]|[0-9]{4}|[0-9][A-Za-z]{1,3}[0-9]"
_CASE_TURN = r"[A-Z][a-z]?[A-Z][a-z]{1,2}[A-Z]|[a-z][A-Z][a-z][A-Z]|[+/=]"

# fmt: off
# Values by their looks: stand-ins, program text, measures.
PLACEHOLDER = (
    r"\$(?:[A-Za-z_][A-Za-z0-9_]{0,80}(?![!-~])|[A-Z_]{3,40}/|[({]|[0-9](?![A-Za-z0-9$]))|[{<]|%(?:[({]|[sd](?![!-~])|[A-Z_]{1,60}%)|"
    r"#\{|ENC(?:\[AES256_|\()|@@|@[a-z]{2,12}:|\[|\*{3}|\.{3}|…|--[a-z]|@?<|&?[A-Za-z][A-Za-z.]{2,60}\{|#[a-z가-힣]{2,20}(?![!-~])|-D[A-Z]|[\])}>,;]|\\|!(?:Ref|Sub|GetAtt|secret|vault)|(?:op|vault|ssm|arn|keyring)[:]"
)
STAND_IN = (
    r"\(\?[:=!<p]|\[\^?(?:a-z|0-9)|\{\d{1,3},\d{0,5}\}|"  # of a regular expression
    r"^(?:[a-z]{2,12}[_\-]?)?(?:token|api[_\-]?key|access[_\-]?key)[_\-]?[0-9]{1,6}$|"
    r"example|placeholder|change[_\-]?me|redacted|x{4}|\*{4}|^.{0,24}(?:\.{3}|…)$|\$random|:\]|test-token|\{[a-z_][a-z0-9_.]{0,40}\}|\$\{|"
    r"(?<![a-z0-9])(?:your|my|dummy|fake|sample|insert|replace|todo|enter|some)(?![a-z0-9])"
)
CAPS_NAME = r"[A-Z][A-Z0-9]{0,40}_[A-Z0-9_]{1,80}"
# "The password is in 1Password": names that mix letters and digits as secrets do.
TECHNOLOGY = (
    r"(?:[15]password|bitwarden|lastpass|keepass)[a-z]{0,8}\d?"
    r"|(?:hmac-?)?sha-?\d{1,3}|md5|argon2(?:id|i|d)?|bcrypt-?\d{0,2}|scrypt\d{0,2}|pbkdf2[a-z0-9\-]{0,12}"
    r"|[ar]?\d{3}(?:gcm|cbc|kw)[a-z0-9\-]{0,12}"
    r"|aes-?\d{3}[a-z0-9\-]{0,24}|office365|rsa-?\d{3,4}|ed25519|x25519|x509(?:v3)?|[ehpr]s\d{3}|[a-z]{0,12}pkcs-?\d{1,2}[a-z]{0,12}|secp\d{3}[a-z]\d[a-z0-9_]{0,30}|camellia-?\d{3}[a-z0-9\-]{0,12}|"
    r"(?:[a-z]{2,12}\.)?b(?:ase)?64(?:en|de)c(?:ode)?|rfc-?\d{3,5}[#.\-\d]{0,12}"
    r"|utf-?\d{1,2}|base\d{2}(?:url)?|iso-?\d{3,5}[\d\-]{0,4}|cp949|euc-?kr"
    r"|(?:ecdhe|dhe|tls|rsa|ecdsa)-[a-z0-9\-]{3,40}|seed\d{3}|aria\d{3}|openssl\d?"
    r"|ldapv?\d|oauth-?2(?:\.0)?|saml-?2|(?:h|t)otp\d?|tls-?v?1(?:\.\d)?|ipv[46]|http[23]"
    r"|k8s[a-z]{0,16}|s3(?:bucket|key|path|object)?|ec2[a-z]{0,10}|route53|oauth2[a-z]{0,30}"
)
PLAIN_SHAPE = (
    r"[0-9a-f]{16}@[0-9a-f]{6}$|"  # a token of a record of ours
    r"0x[0-9a-fA-F]{40}$|(?:[0-9a-fA-F]{2}:){5,63}[0-9a-fA-F]{2}$|pk_(?:live|test)_|"
    r"[12][0-9]{3}[-./][0-9]{1,2}[-./][0-9]{1,2}|[\^~]?v?[0-9.]{1,20}(?:-(?:rc|beta|alpha)[.0-9]{0,4})?$|"
    r"age1[a-z0-9]{58}$|(?:[a-z0-9\-]{1,40}\.){1,4}(?:io|com|org|net|dev|sh)/|"
    r"[a-z]{2,20}/v[0-9][a-z0-9]{0,8}\.[A-Z]|[A-Za-z0-9]{1,128}/[a-z0-9\-/]{1,80}/aws4_request$|(?:com|org|net|io)\.[a-z]{2,20}\.[A-Za-z0-9./_\-]{1,80}$|"
    r"(?i:sha)[0-9]{1,3}[-:]|(?i:md5)[-:]|[A-Za-z]:\\|"
    r"[A-Za-z0-9._%+\-]{1,64}@(?:[a-z0-9\-]{1,40}\.){1,4}(?:com|org|net|io|dev|kr|local)$|"
    r"[a-z0-9._\-]{1,40}@[0-9.]{7,15}$"
)
FILE_NAME = (
    r"\.(?:snap|deb|rpm|jar|whl|dll|exe|apk|dmg|iso|tar|xz|lock|csv|sql|xml|png|jpe?g|gif|svg|webp|pdf|zip|gz|tgz|"
    r"json|ya?ml|txt|py|[jt]sx?|env|pem|key|crt|toml|ini|cfg|md|sh|go|rs|java|log|html)$"
)
NAME_PART = (
    r"(?:[A-Z]?[a-z]{1,16}|[A-Z]{1,12}|"
    r"[A-Za-z][a-z]{0,12}[0-9]{0,5}[A-Z][a-z]{1,12}(?:[A-Z][a-z]{2,12})?)?[0-9]{0,3}"
)
MEASURE = (
    r"(?i:(?:sha|md|aes|rsa|hs|rs|es|ps|hmac|bcrypt|argon|pbkdf|utf|base|oauth|http|rfc|tls|ssl|ipv|"
    r"gpt|ed|curve)[-_/.]?[0-9]{1,5}(?:[-_/.][a-z]{1,12}[0-9]{0,4}|[a-z]{1,4}[0-9]{0,2}){0,3}|"
    r"p[0-9]{2,3}|v[0-9]{1,4}(?:[.\-_][0-9a-z]{1,6}){0,3}|"
    r"[0-9]{1,5}(?:[~\-][0-9]{1,5})?[~\- ]?(?:byte|bit|char|character|hour|day|week|month|year|"
    r"minute|min|sec|second|ms|kb|mb|gb|th|st|nd|rd|digit|word|time|px|k|m|s|h|d|x)?s?)"
)
# fmt: on


def is_placeholder(value: str, *, quoted: bool = False) -> bool:
    """Return whether a value only stands for a secret: empty, a word, a reference, a sample."""
    if not value:
        return True
    lowered = value.casefold()
    if "가" <= value[0] <= "힣" and not (quoted and compiled(_HANGUL_SECRET).fullmatch(value)):
        return True
    if not value.isascii() and not compiled("[0-9]").search(value):
        return True  # a word of another language
    return bool(
        lowered.strip(TRAILING + "!") in listed("common")
        or len(set(value) - set("-_ ")) <= 1
        or compiled(PLACEHOLDER).match(value)
        or compiled(STAND_IN).search(lowered[:80])
        or (value.isascii() and compiled(CAPS_NAME).fullmatch(value))
        or compiled(_NAME_OF_A_SECRET).fullmatch(value)
    )


def _is_harmless_shape(value: str) -> bool:
    """Return whether a value is a path, date, version, address, call or name of a program part."""
    if compiled(PLAIN_SHAPE).match(value) or compiled(FILE_NAME).search(value[-6:]):
        return True
    if "://" in value or _is_technology(value) or compiled(_URL_WORD).search(value):
        return True
    if value[0] in "/.~" and "/" in value[:3] and _word_length(value) >= 3:
        return True
    if compiled(_CALL).match(value) or _is_path(value):
        return True
    return bool(compiled(_DOTTED).fullmatch(value)) and _word_length(value) >= 3


def _is_path(value: str) -> bool:
    """Return whether a value is a path, the most of whose parts are words or numbers."""
    if value.startswith(("~/", "./", "../")):
        return True
    parts = value.split("/")
    plain = sum(bool(compiled(_PATH_PART).fullmatch(part)) for part in parts)
    return len(parts) >= 3 and plain * 2 > len(parts) and "+" not in value and "=" not in value


def _is_technology(value: str) -> bool:
    return bool(compiled(TECHNOLOGY).fullmatch(value.casefold()))


def _is_named(value: str) -> bool:
    """Return whether every part of a value is a word, as in `s3_client_v2` or `decodedIdToken`."""
    parts = compiled(_SEPARATORS).split(value)
    if all(compiled(NAME_PART).fullmatch(part) for part in parts):
        return True
    if len(value) >= _LONG_NAME and value.isalnum() and compiled(_CHANCE).search(value):
        return False
    return not compiled(_ODD).search(value) and _word_length(value) >= 3.5 and len(value) < 80


def words_of(identifier: str) -> list[str]:
    """Return the words of an identifier in lower case."""
    return [word.casefold() for word in compiled(_WORD).findall(identifier)]


def _word_length(value: str) -> float:
    """Return how long the words of an identifier are on the average; those of chance are short."""
    words = compiled(_WORD).findall(value)
    letters = [word for word in words if word.isalpha()]
    return sum(map(len, letters)) / max(1, len(words))


def _is_scrambled(value: str) -> bool:
    """Return whether letters alone show that no one wrote them: humps of one, words of no vowel."""
    if len(value) < 10 or not value.isalpha() or value.islower() or value.isupper():
        return False
    humps = compiled(_WORD).findall(value)
    odd = sum(len(hump) == 1 for hump in humps[1:])
    odd += sum(len(hump) > 2 and not compiled(_VOWEL).search(hump) for hump in humps)
    return odd >= 2


def _signs_of_chance(value: str) -> int:
    """Return how many signs there are in letters alone that no one wrote them as words."""
    if len(value) < 10:
        return 0
    rare = len(compiled(_CHANCE).findall(value.casefold()))
    if value.islower() or value.isupper():
        return rare
    humps = compiled(_WORD).findall(value)
    if listed("technical_words").intersection(hump.casefold() for hump in humps if len(hump) > 3):
        return 0
    single = sum(len(hump) == 1 for hump in humps[1:])
    short = sum(len(hump) < 3 for hump in humps)
    mute = sum(len(hump) > 2 and not compiled(_VOWEL).search(hump) for hump in humps)
    return rare + single + short + mute


def _is_compound(value: str) -> bool:
    """Return whether a value is a name of several parts."""
    return compiled(_SEPARATORS).search(value) is not None and _is_named(value)


def _is_word_with_number(value: str) -> bool:
    """Return whether a value is a word or two with a number, as people choose passwords."""
    if not compiled(_WORD_WITH_NUMBER).fullmatch(value) or _is_technology(value):
        return False
    return not listed("technical_words").intersection(words_of(value))


def _is_around_number(value: str) -> bool:
    """Return whether words stand around a number or a sign that joins no name of a program."""
    if not compiled(_WORDS_AROUND_NUMBER).fullmatch(value) or _is_technology(value):
        return False
    words = set(words_of(value))
    return not (words & listed("technical_words") or words & listed("numbered_words"))


def is_likely(value: str, password: bool, tie: int) -> bool:
    """Return whether a value assigned to a secret's name is a secret.

    password: a person may have thought the value up. tie: how it is tied to the name.
    """
    quoted = tie == QUOTED
    if len(value) < (4 if password else 6 if quoted else 8) or " " in value:
        return False
    if value.isdigit():
        return password or len(value) >= (8 if quoted else 20)
    if _is_row_of_words(value) or (password and _is_word_with_number(value)):
        return True
    if _is_harmless_shape(value):
        return False
    if quoted and compiled(_CAPITAL_WORDS_NUMBER).fullmatch(value) and not _is_technology(value):
        return True
    if compiled(_MIXED).match(value):
        if password:
            stem = value.casefold().strip("0123456789_-") if len(value) < 9 else ""
            if quoted or _is_thought_up(value):
                return True
            return not (stem in listed("common") or _is_compound(value))
        return not _is_named(value) or bool(compiled(_WORDS_AND_NUMBER).fullmatch(value))
    if password and (quoted or compiled(_SYMBOL).search(value)):
        return not compiled(_IDENTIFIER).fullmatch(value) or "_" not in value
    if value.isalpha() and _is_set(value, password, tie):
        return True
    return len(value) >= 20 and bool(compiled(_CASE_TURN).search(value)) and not _is_named(value)


def _is_set(value: str, password: bool, tie: int) -> bool:
    """Return whether letters alone, without quotes, are a value and no word of a program."""
    if tie == SETTING and password:
        is_known = (listed("common") | listed("technical_words")).issuperset(words_of(value))
        return not (is_known or compiled(_SAMPLE_PASSWORD).search(value.casefold()))
    if not password and len(value) < 16:
        return False
    if tie == SETTING and compiled(_CHANCE).search(value.casefold()):
        return True
    return _signs_of_chance(value) >= (2 if tie in (JOINED, SETTING) else 3)


def is_app_password(groups: str, *, thought_of: bool) -> bool:
    """Return whether four groups of four small letters are a password that a mail service gave.

    thought_of: they stand in quotes behind a password's name, so that words are one as well.
    """
    words = set(groups.split())
    if listed("sentence_words").intersection(words) or (
        listed("common") | listed("technical_words")
    ).issuperset(words):
        return False
    rare = any(
        not compiled(_VOWEL).search(word)
        for word in words - listed("technical_words") - listed("common")
    )
    return thought_of or rare or bool(compiled(_CHANCE).search(groups))


def is_certain(value: str, password: bool, following: str) -> bool:
    """Return whether a value in running text is a secret by its own looks.

    password: as in `is_likely`. following: the characters behind the value, which tell a
    number of something (`8자`) and a place (`Keycloak24에서`) from a password.
    """
    if value.isdigit():
        return password and 4 <= len(value) <= 16 and not following.startswith(COUNTERS)
    if password and _is_word_with_number(value) and not compiled(MEASURE).fullmatch(value):
        return len(value) >= 6 and not following.startswith(PLACES)
    if (
        " " in value
        or is_assignment(value)
        or "|" in value
        or _is_harmless_shape(value)
        or compiled(MEASURE).fullmatch(value)
    ):
        return False
    if not compiled(_MIXED).match(value):
        return _is_scrambled(value) or _is_row_of_words(value)
    if value.casefold().rstrip("0123456789!*#") in listed("common"):
        return False
    if password:
        return len(value) >= 6 and (not _is_compound(value) or _is_thought_up(value))
    return len(value) >= 10 and (not _is_named(value) or is_random(value))


def is_striking(value: str, *, named: bool) -> bool:
    """Return whether a value is a password wherever it stands: letters, digits and a mark mixed.

    named: the line speaks of a password, so that words with a number are one, too.
    """
    if named and _is_around_number(value) and sum(map(str.isdigit, value)) >= 2:
        return True
    if named and compiled(_WORDS_AS_PASSWORD).fullmatch(value):
        return not listed("technical_words").intersection(words_of(value))
    if "&#" in value or not 7 <= len(value) <= 64 or sum(map(str.isdigit, value)) < 2:
        return False
    if not compiled(_STRIKING).fullmatch(value) or compiled(_ADDRESS).match(value):
        return False
    return not (_is_harmless_shape(value) or is_placeholder(value) or is_assignment(value))


def is_paired(value: str) -> bool:
    """Return whether a value behind a user's name is a password; a path stands there as well."""
    if "/" in value or is_placeholder(value) or not is_certain(value, True, ""):
        return False
    return (
        not compiled(_NUMBERED_WORD).fullmatch(value) or compiled(_SYMBOL).search(value) is not None
    )


def is_assignment(text: str, start: int = 0) -> bool:
    """Return whether the text from `start` on is another name with its own value."""
    return bool(compiled(_ASSIGNED).match(text, start))


def is_hex(value: str) -> bool:
    """Return whether a value is hexadecimal, as secrets, commits and ids are."""
    return bool(compiled(_HEX).fullmatch(value))


def is_labelled(value: str) -> bool:
    """Return whether a value is a digest or an id behind words, as keys of caches and files are."""
    return bool(compiled(_LABELLED).fullmatch(value))


def is_random(value: str) -> bool:
    """Return whether a value looks made by chance: in any sentence it would be a secret."""
    if len(value) < 8 or " " in value or _is_harmless_shape(value):
        return False
    if is_assignment(value):
        return False
    if not compiled(_MIXED).match(value):
        return _is_scrambled(value)
    if compiled(MEASURE).fullmatch(value):
        return False
    if is_hex(value):
        return len(value) >= 24
    turns = len(compiled(_TURN).findall(value))
    if compiled(_HARD_SYMBOL).search(value):
        return True
    if _word_length(value) >= 2.7 and len(value) < 40 and value.isalnum():
        return False
    if len(value) >= 20:
        return turns >= 1 and (not _is_compound(value) or _is_thought_up(value))
    return turns >= 3 and not _is_compound(value)


def _is_row_of_words(value: str) -> bool:
    """Return whether a value is four words or more that name nothing of a program together."""
    parts = compiled(r"[\-_.]").split(value)
    plain = len(parts) >= 4 and all(part.isalpha() and len(part) >= 4 for part in parts)
    technical = listed("technical_words").intersection(map(str.casefold, parts))
    return plain and len(technical) <= (0 if "_" in value else 1)


def _is_thought_up(value: str) -> bool:
    """Return whether words joined by marks look like a password, as in `blue-Tiger-42`."""
    if compiled(_WORDS_AND_NUMBER).fullmatch(value) or _is_row_of_words(value):
        return True
    if _is_around_number(value):
        return True
    return sum(map(str.isdigit, value)) >= 1 and any(map(str.isupper, value)) and len(value) >= 8


def is_phrase(value: str, word: str, *, quoted: bool) -> bool:
    """Return whether a value is a row of words that unlocks something.

    word: the name before it, in lower case; for a seed phrase no quotes are needed.
    """
    words = value.split()
    if word.endswith(("phrase", "mnemonic", "니모닉", "문구")):
        return 4 <= len(words) <= 24 and not listed("sentence_words").intersection(words)
    if not quoted or not word.startswith(
        ("passw", "pwd", "비밀번호", "비번", "암호", "패스", "passp")
    ):
        return False
    plain = all(compiled(_PHRASE_WORD).fullmatch(part) for part in words)
    numbered = any(map(str.isdigit, words)) or value.islower()
    sentence = listed("sentence_words").intersection(map(str.casefold, words))
    return 3 <= len(words) <= 8 and plain and numbered and not sentence
