"""Tells names of secrets in English and Korean, and secret values, from other words by their looks.

The shapes are in `core/data/shapes.jsonl`. Those of names begin with a class of letters, so that
`re` skips quickly. `key` is found by its own letters, and judged by the words before it. A value is
no stand-in, no word and no program text.
"""

import re
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple

from core.data import expression_of, shape, sorted_words, word_set

LONGEST_VALUE_CHARS = 512
CLOSERS = dict(zip("“‘„「『《〈«", "”’“」』》〉»", strict=True))
_TRAILING = ".,;:?)]}>|*(["  # ends a sentence or an enclosure, not a value
_LONG_NAME_CHARS = 16
_SHORT_PASSWORD_CHARS = 9
_NO_LEAD = frozenset([*" \n\t=:'\"`,;|(){}[]<>/\\&?$", ""])  # most names begin behind one of these


class Certainty(IntEnum):
    """How sure a whole name is a secret's: `password`, `password_legacy_x`, any `key`, several."""

    NONE, USUAL, UNUSUAL, GENERIC, PLURAL = range(5)


class Name(NamedTuple):
    """A name that may be a secret's.

    lead: the identifier before the word. word_start, end: of the word with its tail. word: in lower
    case. is_bare_pass: the verb or noun `pass`, no user before it.
    """

    lead: str
    word_start: int
    end: int
    word: str
    certainty: Certainty
    is_korean: bool = False
    is_bare_pass: bool = False

    @property
    def start(self) -> int:
        return self.word_start - len(self.lead)

    @property
    def is_password(self) -> bool:
        """Whether a person may have thought the value up."""
        return self.word.startswith(sorted_words("password_words")) and not self.word.endswith("키")

    @property
    def is_pin(self) -> bool:
        """Whether the value may be a few digits."""
        return self.word.startswith(sorted_words("pin_words"))

    @property
    def is_phrase(self) -> bool:
        """Whether the value may be several words."""
        return self.word.endswith(sorted_words("phrase_words"))


def may_have_names(text: str, folded_text: str, *, is_korean: bool) -> bool:
    """Only False is certain. folded_text: the text's casefold."""
    if is_korean:
        return not text.isascii() and has_any(folded_text, sorted_words("korean_hints"))
    return has_any(folded_text, sorted_words("english_hints")) or "PAT" in text


def names_in(text: str, folded_text: str) -> Iterator[Name]:
    """Yield the names, Korean ones last. folded_text: the text's casefold."""
    if may_have_names(text, folded_text, is_korean=False):
        at = 0
        while match := shape("english_name").search(text, at):
            at = match.end("word")  # a name may hold the word of another: keystorePassword
            start, word = match.start(), match["word"].casefold()
            if _has_user_before(text, start, word):
                continue
            lead = ""
            if text[start - 1 : start] not in _NO_LEAD:
                lead_match = shape("lead").search(text, max(0, start - 40), start)
                lead = lead_match[0] if lead_match else ""
                name_start = start - len(lead)
                if lead[:1] in ("n", "r", "t") and text[name_start - 1 : name_start] == "\\":
                    lead = lead[1:]  # behind a line end as it is written in a quoted text
            if certainty := _certainty_of(text, match, lead):
                user = shape("after_user") if word == "pass" and not lead else None
                is_bare = user is not None and not user.search(text, max(0, start - 60), start)
                yield Name(lead, start, match.end(), word, certainty, is_bare_pass=is_bare)
    if not may_have_names(text, folded_text, is_korean=True):
        return
    for match in shape("korean_name").finditer(text):
        (start, end), word, certainty = match.span(), match["word"], Certainty.USUAL
        if _has_user_before(text, start, word):
            continue
        if word == "키":
            word_before = shape("korean_word_before").search(text, max(0, start - 20), start)
            if word_before and word_before[1] in word_set("not_before_korean_key"):
                continue
            certainty = Certainty.GENERIC
        yield Name("", start, end, word.casefold(), certainty, is_korean=True)


def _has_user_before(text: str, start: int, word: str) -> bool:
    """Return whether `user/` stands before a password's name: a pair follows."""
    if "/" not in text[max(0, start - 2) : start]:
        return False
    user = shape("user_and").search(text, max(0, start - 12), start)
    return user is not None and word.startswith(sorted_words("password_words"))


def _certainty_of(text: str, match: re.Match[str], lead: str) -> Certainty:
    raw_word, tail = match["word"], match["tail"]
    word, name_start = raw_word.casefold(), match.start() - len(lead)
    is_assigned = shape("sign_behind").match(text, match.end()) is not None
    if _is_end_of_word(raw_word, lead) or _is_in_path(text, name_start, is_assigned):
        return Certainty.NONE
    if not shape("written_name").fullmatch(raw_word) or (lead == "1" and word == "password"):
        return Certainty.NONE
    words = words_of(lead)
    if not word_set("not_before").isdisjoint(words):
        return Certainty.NONE
    certainty = Certainty.USUAL
    if word == "token":
        word_before = "" if lead else _word_before(text, name_start)
        is_usual = word_set("not_before_token").isdisjoint(words)
        if not is_usual or word_before in word_set("not_before_token_word"):
            return Certainty.NONE
    elif word in ("pass", "credentials"):
        is_directive = not is_assigned and lead.rstrip("_") in word_set("passing_directives")
        if is_directive or not word_set("not_before_pass").isdisjoint(words):
            return Certainty.NONE
    elif word == "code":
        is_known = _word_before(text, name_start) in word_set("code_kinds")
        return Certainty.USUAL if is_known and not lead and not tail else Certainty.NONE
    elif word == "key":
        certainty = _key_certainty(text, lead, words, name_start)
    return _certainty_with_tail(certainty, raw_word, tail) if certainty and tail else certainty


def _certainty_with_tail(certainty: Certainty, raw_word: str, tail: str) -> Certainty:
    word = raw_word.casefold()
    if tail == "s":
        return Certainty.PLURAL
    if tail[0].isalpha() and (tail[0].islower() or raw_word[-1].isupper()):
        is_glued = tail.casefold() in word_set("glued_after") and word != "key"
        return certainty if is_glued else Certainty.NONE
    tail_words = [part for part in words_of(tail) if not part.isdigit()]
    if word_set("not_after").intersection(tail_words):
        return Certainty.NONE
    if word_set("usual_after").issuperset(tail_words) or certainty == Certainty.GENERIC:
        return certainty
    return Certainty.NONE if word in word_set("short_words") else Certainty.UNUSUAL


def _word_before(text: str, name_start: int) -> str:
    match = shape("word_before").search(text, max(0, name_start - 24), name_start)
    return match[1].casefold() if match else ""


def _is_end_of_word(word: str, lead: str) -> bool:
    """Return whether a short word ends a longer one, as in `compass`."""
    if not lead[-1:].isalpha():
        return False
    if word.casefold() not in word_set("short_words") and word != "PIN":
        return False
    if lead[-1].islower() and word[0].isupper():  # sftpPass, not a piece of Base64
        return not lead.isalpha() or min(map(len, words_of(lead))) < 2
    match = shape("letters_at_end").search(lead)
    return not match or match[0].casefold() not in word_set("glued_before")


def _is_in_path(text: str, start: int, is_assigned: bool) -> bool:
    """Return whether a name ends a path or a cloud's resource name."""
    if text[start - 1 : start] in ("/", "\\"):
        return not is_assigned  # before a sign and a value it only says where the name belongs
    if text[max(0, start - 5) : start] in (".svg?", "/etc/"):
        return True  # a badge, shown to everyone, and the list of users
    first = max(0, start - 120)
    return "arn:" in text[first:start] and bool(shape("resource").search(text, first, start))


def _key_certainty(text: str, lead: str, words: list[str], name_start: int) -> Certainty:
    if words:
        last_word = "websocket" if words[-2:] == ["web", "socket"] else words[-1]
        if last_word in word_set("not_before_key"):
            return Certainty.NONE
        if last_word in word_set("key_kinds") or last_word.endswith(("api", "access", "secret")):
            return Certainty.USUAL
        return Certainty.GENERIC if lead[-1:] in "_-" or lead[-1:].islower() else Certainty.NONE
    if not (word_before := _word_before(text, name_start)):
        return Certainty.NONE
    encryption = shape("encrypts_with").search(text, max(0, name_start - 60), name_start)
    if word_before in word_set("key_kinds") or encryption:
        return Certainty.USUAL
    is_program = word_before in word_set("not_before_key") or word_before in word_set("not_before")
    return Certainty.NONE if is_program else Certainty.GENERIC


def has_any(text: str, words: Iterable[str]) -> bool:
    return any(map(text.__contains__, words))


def words_of(identifier: str) -> list[str]:
    return [word.casefold() for word in shape("word").findall(identifier)]


class Binding(IntEnum):
    """How a value is tied to its name.

    JOINED: by `=` without a blank. SETTING: the same in a setting (`DB_PASSWORD=`,
    `spring.datasource.password=`), where nearly everything is a value.
    """

    LOOSE, JOINED, SETTING, QUOTED = range(4)


def find_quote_end(text: str, start: int, quote: str) -> int:
    """Return the end of a quoted value, 0 if the quote is never closed."""
    if quote.startswith("&"):
        end = text.find(quote, start, start + LONGEST_VALUE_CHARS)
        return max(end, 0) if "\n" not in text[start : max(end, start)] else 0
    quote = quote[-1:]
    closer = CLOSERS.get(quote, quote)
    blob = shape("blob_lines").match(text, start)
    if blob and text[blob.end() : blob.end() + 1] == closer:
        return blob.end()
    char_pattern = rf"[^{closer}\\\r\n]|\\[^\r\n{closer}]|\\{closer}(?=[^\s,;:)}}\]])"
    match = expression_of(f"(?:{char_pattern}){{1,{LONGEST_VALUE_CHARS}}}+").match(text, start)
    if not match or text[match.end() : match.end() + 2].lstrip("\\")[:1] != closer:
        return 0
    return start + len(match[0].rstrip("\\"))


def find_bare_end(text: str, start: int) -> int:
    """Return where a Korean particle, a space or a closing mark ends a value without quotes."""
    match = shape("bare").match(text, start)
    if not match or shape("code").match(match[0]):
        return start
    value = match[0]
    particle = shape("cut").search(value)
    value = value[: particle.start()] if particle else value
    return start + len(value.rstrip(_TRAILING))


def is_placeholder(value: str, *, is_quoted: bool = False) -> bool:
    """Return whether a value stands for a secret: empty, a word, a reference, a sample."""
    if not value:
        return True
    lower_value = value.casefold()
    if "가" <= value[0] <= "힣" and not (is_quoted and shape("hangul_secret").fullmatch(value)):
        return True
    if not value.isascii() and not expression_of("[0-9]").search(value):
        return True  # a word of another language
    return bool(
        lower_value.strip(_TRAILING + "!") in word_set("common")
        or len(set(value) - set("-_ ")) <= 1
        or shape("placeholder").match(value)
        or shape("stand_in").search(lower_value[:80])
        or (value.isascii() and shape("caps_name").fullmatch(value))
        or shape("name_of_a_secret").fullmatch(value)
    )


def is_hex(value: str) -> bool:
    return bool(shape("hex").fullmatch(value))


def is_likely_secret(value: str, is_password: bool, binding: Binding) -> bool:
    """Return whether a value assigned to a secret's name is a secret.

    is_password: a person may have thought the value up.
    """
    is_quoted = binding == Binding.QUOTED
    if len(value) < (4 if is_password else 6 if is_quoted else 8) or " " in value:
        return False
    if value.isdigit():
        return is_password or len(value) >= (8 if is_quoted else 20)
    if _is_row_of_words(value) or (is_password and _is_word_with_number(value)):
        return True
    if _is_harmless(value):
        return False
    capital_words = shape("capital_words_number").fullmatch(value)
    if is_quoted and capital_words and not _is_technology(value):
        return True
    if shape("mixed").match(value):
        if not is_password:
            return not _is_wordy(value) or bool(shape("words_and_number").fullmatch(value))
        if is_quoted or _is_thought_up(value):
            return True
        is_short = len(value) < _SHORT_PASSWORD_CHARS
        stem = value.casefold().strip("0123456789_-") if is_short else ""
        return not (stem in word_set("common") or _is_compound(value))
    if is_password and (is_quoted or shape("symbol").search(value)):
        return not shape("identifier").fullmatch(value) or "_" not in value
    if value.isalpha() and _is_secret_word(value, is_password, binding):
        return True
    return len(value) >= 20 and bool(shape("case_turn").search(value)) and not _is_wordy(value)


def _is_secret_word(value: str, is_password: bool, binding: Binding) -> bool:
    if binding == Binding.SETTING and is_password:
        is_known = (word_set("common") | word_set("technical_words")).issuperset(words_of(value))
        return not (is_known or shape("sample_password").search(value.casefold()))
    if not is_password and len(value) < 16:
        return False
    signs_of_chance = len(shape("chance").findall(value.casefold()))
    if binding == Binding.SETTING and signs_of_chance:
        return True
    if len(value) < 10:
        return False
    if not (value.islower() or value.isupper()):
        humps = shape("word").findall(value)
        long_words = (hump.casefold() for hump in humps if len(hump) > 3)
        if not word_set("technical_words").isdisjoint(long_words):
            return False
        signs_of_chance += sum(len(hump) < 3 for hump in humps) + _count_odd_humps(humps)
    return signs_of_chance >= (2 if binding in (Binding.JOINED, Binding.SETTING) else 3)


def is_certain_secret(value: str, is_password: bool, next_text: str) -> bool:
    """Return whether a value in running text is a secret by its own looks.

    next_text: tells a count (`8자`) or a place (`Keycloak24에서`) from a password.
    """
    if value.isdigit():
        is_count = next_text.startswith(sorted_words("counters"))
        return is_password and 4 <= len(value) <= 16 and not is_count
    is_measure = bool(shape("measure").fullmatch(value))
    if is_password and not is_measure and _is_word_with_number(value):
        return len(value) >= 6 and not next_text.startswith(sorted_words("behind_places"))
    is_text = " " in value or "|" in value or shape("assigned").match(value)
    if is_text or is_measure or _is_harmless(value):
        return False
    if not shape("mixed").match(value):
        return _is_scrambled(value) or _is_row_of_words(value)
    if value.casefold().rstrip("0123456789!*#") in word_set("common"):
        return False
    if is_password and next_text and shape("words_and_digit").match(value + next_text):
        return word_set("technical_words").isdisjoint(words_of(value))
    if is_password:
        return len(value) >= 6 and (not _is_compound(value) or _is_thought_up(value))
    return len(value) >= 10 and (not _is_wordy(value) or is_random(value))


def is_striking_password(value: str, *, has_name: bool) -> bool:
    """Return whether a value is a password anywhere: letters, digits and a mark mixed.

    has_name: the line names a password; words with a number are one, too.
    """
    digits = sum(map(str.isdigit, value))
    if has_name and digits >= 2 and _has_words_around_number(value):
        return True
    if has_name and shape("words_as_password").fullmatch(value):
        return not word_set("technical_words").intersection(words_of(value))
    if "&#" in value or not 7 <= len(value) <= 64 or digits < 2:
        return False
    if not shape("striking").fullmatch(value) or shape("address").match(value):
        return False
    return not (_is_harmless(value) or is_placeholder(value) or shape("assigned").match(value))


def is_pair_password(value: str) -> bool:
    """Return whether a value behind a user's name is a password, not a path."""
    is_sure = "/" not in value and not is_placeholder(value) and is_certain_secret(value, True, "")
    return is_sure and not shape("numbered_word").fullmatch(value)


def is_random(value: str) -> bool:
    """Return whether a value looks made by chance, a secret in any sentence."""
    if len(value) < 8 or " " in value or _is_harmless(value) or shape("assigned").match(value):
        return False
    if not shape("mixed").match(value):
        return _is_scrambled(value)
    if shape("measure").fullmatch(value):
        return False
    if is_hex(value):
        return len(value) >= 24
    if shape("hard_symbol").search(value):
        return True
    if _mean_word_length(value) >= 2.7 and len(value) < 40 and value.isalnum():
        return False
    turns = len(shape("turn").findall(value))
    if len(value) >= 20:
        return turns >= 1 and (not _is_compound(value) or _is_thought_up(value))
    return turns >= 3 and not _is_compound(value)


def is_app_password(groups: str, *, takes_words: bool) -> bool:
    """Return whether four groups of four small letters are a mail service's password.

    takes_words: words count, since quotes and a password's name surround them.
    """
    words, known_words = set(groups.split()), word_set("common") | word_set("technical_words")
    if word_set("sentence_words").intersection(words) or known_words.issuperset(words):
        return False
    if takes_words or shape("chance").search(groups):
        return True
    return any(not shape("vowel").search(word) for word in words - known_words)


def is_phrase(value: str, word: str, *, is_quoted: bool) -> bool:
    """Return whether a row of words unlocks something.

    word: the name, in lower case. A seed phrase needs no quotes.
    """
    words = value.split()
    if word.endswith(sorted_words("seed_words")):
        return 4 <= len(words) <= 24 and not word_set("sentence_words").intersection(words)
    if not is_quoted or not word.startswith(sorted_words("pass_phrase_words")):
        return False
    are_plain = all(shape("phrase_word").fullmatch(part) for part in words)
    has_number = any(map(str.isdigit, words)) or value.islower()
    is_sentence = word_set("sentence_words").intersection(map(str.casefold, words))
    return 3 <= len(words) <= 8 and are_plain and has_number and not is_sentence


def _is_harmless(value: str) -> bool:
    if shape("plain").match(value) or shape("file_name").search(value[-6:]):
        return True
    if "://" in value or _is_technology(value) or shape("url_word").search(value):
        return True
    if value[0] in "/.~" and "/" in value[:3] and _mean_word_length(value) >= 3:
        return True
    parts = value.split("/")
    plain_parts = sum(bool(shape("path_part").fullmatch(part)) for part in parts)
    if len(parts) >= 3 and plain_parts * 2 > len(parts) and "+" not in value and "=" not in value:
        return True  # the most of a path are words or numbers
    if value.startswith(("~/", "./", "../")) or shape("call").match(value):
        return True
    return bool(shape("dotted").fullmatch(value)) and _mean_word_length(value) >= 3


def _is_technology(value: str) -> bool:
    return bool(shape("technology").fullmatch(value.casefold()))


def _is_wordy(value: str) -> bool:
    """Return whether every part is a word, as in `s3_client_v2` or `decodedIdToken`."""
    parts = shape("separator").split(value)
    if all(shape("name_part").fullmatch(part) for part in parts):
        return True
    if len(value) >= _LONG_NAME_CHARS and value.isalnum() and shape("chance").search(value):
        return False
    return not shape("odd").search(value) and _mean_word_length(value) >= 3.5 and len(value) < 80


def _is_compound(value: str) -> bool:
    return shape("separator").search(value) is not None and _is_wordy(value)


def _mean_word_length(value: str) -> float:
    """Return the mean length of the words; chance makes short ones."""
    words = shape("word").findall(value)
    return sum(map(len, [word for word in words if word.isalpha()])) / max(1, len(words))


def _is_scrambled(value: str) -> bool:
    is_mixed = len(value) >= 10 and value.isalpha() and not (value.islower() or value.isupper())
    return is_mixed and _count_odd_humps(shape("word").findall(value)) >= 2


def _count_odd_humps(humps: list[str]) -> int:
    singles = sum(len(hump) == 1 for hump in humps[1:])
    return singles + sum(len(hump) > 2 and not shape("vowel").search(hump) for hump in humps)


def _is_word_with_number(value: str) -> bool:
    if not shape("word_with_number").fullmatch(value) or _is_technology(value):
        return False
    return not word_set("technical_words").intersection(words_of(value))


def _has_words_around_number(value: str) -> bool:
    if not shape("words_around_number").fullmatch(value) or _is_technology(value):
        return False
    return (word_set("technical_words") | word_set("numbered_words")).isdisjoint(words_of(value))


def _is_row_of_words(value: str) -> bool:
    parts = shape("joint").split(value)
    if len(parts) < 4 or not all(part.isalpha() and len(part) >= 4 for part in parts):
        return False
    technical = word_set("technical_words").intersection(map(str.casefold, parts))
    return len(technical) <= (0 if "_" in value else 1)


def _is_thought_up(value: str) -> bool:
    """Return whether words joined by marks look like a password: `blue-Tiger-42`."""
    if shape("words_and_number").fullmatch(value):
        return True
    if _is_row_of_words(value) or _has_words_around_number(value):
        return True
    has_digit, has_capital = any(map(str.isdigit, value)), any(map(str.isupper, value))
    return has_digit and has_capital and len(value) >= 8
