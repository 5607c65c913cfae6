"""Finds names of secrets in a text, in two languages, and says how sure each name is.

For each name it chooses the `keyed` rules that may have the value.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from core.data import compiled
from core.guard.rules import Rule, in_order, listed, rules_of, spelled
from core.guard.values import words_of

# The class of first letters stands in front because `re` can then skip quickly through a text;
# `key` is found by its own letters, and `_certainty` looks at what stands before it.
_ENGLISH = (
    r"(?P<word>[PpSsTtCcMmRrKkO](?:(?<=O)TP|(?<=[Pp])(?i:assphrase|a?ss?(?:wo?|ow)rd|asswd|s?swd|"
    r"asscode|wd|ass|w|sk)|"
    r"(?<=P)IN|(?<=P)AT(?![A-Za-z])|(?<=[Pp])in(?![A-Za-z0-9_])|(?<=[Ss])(?i:ecret|eed[ _\-]"
    r"phrase)|(?<=[Tt])(?i:oken)|"
    r"(?<=[Cc])(?i:redentials?|reds)|(?<=[Mm])(?i:nemonic)|(?<=[Rr])(?i:ecovery[ _\-]phrase)|"
    r"(?<=[Kk])(?i:ey)|(?<=[Cc])(?i:ode)))(?P<tail>[A-Za-z0-9_\-]{0,40}+)"
)
_KOREAN = (
    r"(?P<word>비 ?밀 ?번 ?[호오]|비번|패스 ?워드|패스프레이즈|패스코드|패스|암호(?!화)|"
    r"암호화 ?키|토큰|시크릿(?: ?키)?|"
    r"핀 ?번호|인증 ?번호|오티피|금고 ?번호|(?<![A-Za-z0-9])[Oo][Tt][Pp](?![A-Za-z0-9_\-])"
    r"(?: ?(?:코드|번호|시드))?|니모닉|"
    r"시드 ?[문구]구|복구 ?[문구]구|비밀 ?값|비밀 ?문자열|"
    r"(?:인증|서비스|[Aa][Pp][Ii]|에이피아이|접근|액세스|비밀|개인|보안|서명|암호화|마스터|공유|라이선스|"
    r"라이센스|복구|배포|관리자|연동|접속|발급(?:받은|된|한)?|웹훅|앱|일반|클라이언트|세션|구독|스토리지|계정|어드민|비공개|"
    r"리프레시|갱신|봇)"
    r" ?(?:키|토큰|코드|시크릿)|(?<=[가-힣A-Za-z0-9] )키(?![가-힣]{2}))(?P<tail>)"
)
_LEAD = r"[A-Za-z0-9_.\-]{1,60}\Z"
_NO_LEAD = frozenset([*" \n\t=:'\"`,;|(){}[]<>/\\&?$", ""])  # most names begin behind one of these
_LETTERS_END = r"(?:[a-z]{1,40}|[A-Z]{1,40})\Z"
_WORD_BEFORE = r"([A-Za-z0-9]{1,20})[ ]\Z"
_KOREAN_BEFORE = r"([가-힣A-Za-z0-9]{1,16})[ ]\Z"
_ASSIGNS = r"[\"'`]?[ ]{0,2}[=:][ ]{0,2}[^ /:=\n]"
_WRITTEN = r"[A-Za-z][a-z]{0,12}(?:[ _\-]?[A-Z]?[a-z]{2,12})?|[A-Z]{1,12}(?:[ _\-][A-Z]{1,12})?"
_ENCRYPTS = r"(?i:encrypt|decrypt|unlock|authenticat)[^\n]{0,40}(?i:with|using|by)[^\n]{0,8}[ ]\Z"
_USER_AND = r"(?:아이디|계정|(?i:id|user(?:name)?|login))[ ]?/[ ]?\Z"
_RESOURCE = r"\barn:[A-Za-z0-9:/_\-]{1,110}\Z"  # in a name of a cloud, `secret:` is no sign
_AFTER_USER = r"(?i:user|username|login|account|id|계정|아이디)[ :=]{1,3}[^ ]{1,40}[,;/ ]{1,3}\Z"

_REACH_CHARS = 180  # how far a value may stand from its name
_PROMISING = (  # a value has one of them
    r"[0-9\"'`“‘「『„《〈«&]|[a-z](?:[A-Z]|[\-_.][a-z])|=[A-Za-z]"
)
_NEXT_CHARS = 8
_AHEAD_CHARS = 60


class Certainty(IntEnum):
    """How sure a whole name is a secret's.

    USUAL: `password`. UNUSUAL: `password_legacy_x`. GENERIC: a `key` of any kind. PLURAL: several.
    """

    NONE, USUAL, UNUSUAL, GENERIC, PLURAL = range(5)


@dataclass(frozen=True, slots=True)
class Name:
    """A name that may be a secret's: where it stands, and what it promises.

    start: of the whole identifier; word_start and end: of the word that names the secret, with
    what follows it in the identifier. word: that word in lower case.
    """

    start: int
    word_start: int
    end: int
    word: str
    certainty: Certainty
    korean: bool

    @property
    def is_password(self) -> bool:
        """Whether a person may have thought the value up."""
        return self.word.startswith(in_order("password_words")) and not self.word.endswith("키")

    @property
    def is_pin(self) -> bool:
        """Whether the value may be a few digits."""
        return self.word.startswith(in_order("pin_words"))

    @property
    def is_phrase(self) -> bool:
        """Whether the value may be several words."""
        return self.word.endswith(in_order("phrase_words"))

    def is_bare_pass(self, text: str) -> bool:
        """Return whether it is the verb or the noun `pass`, with no user named before it."""
        if self.word != "pass" or self.start != self.word_start:
            return False
        first = max(0, self.start - 60)
        return not compiled(_AFTER_USER).search(text, first, self.start)


def names_in(text: str, folded: str) -> Iterator[Name]:
    """Yield the names of secrets; `folded` is the text in lower case, for the hints."""
    if any(hint in folded for hint in in_order("english_hints")) or "PAT" in text:
        yield from _english_names(text)
    if not text.isascii() and any(hint in folded for hint in in_order("korean_hints")):
        yield from _korean_names(text)


def _english_names(text: str) -> Iterator[Name]:
    at = 0
    while match := compiled(_ENGLISH).search(text, at):
        at = match.end("word")  # a name may hold the word of another: keystorePassword
        start, word = match.start(), match["word"].casefold()
        if _follows_user(text, start, word):
            continue
        lead = _lead(text, start)
        if certainty := _certainty(text, match, lead):
            yield Name(start - len(lead), start, match.end(), word, certainty, korean=False)


def _korean_names(text: str) -> Iterator[Name]:
    for match in compiled(_KOREAN).finditer(text):
        start, certainty = match.start(), Certainty.USUAL
        if _follows_user(text, start, match["word"]):
            continue
        if match["word"] == "키":
            kind = compiled(_KOREAN_BEFORE).search(text, max(0, start - 20), start)
            if kind and kind[1] in listed("not_before_korean_key"):
                continue
            certainty = Certainty.GENERIC
        yield Name(start, start, match.end(), match["word"].casefold(), certainty, korean=True)


def _follows_user(text: str, start: int, word: str) -> bool:
    """Return whether `user/` stands before a password's name: a pair follows, the user first."""
    if "/" not in text[max(0, start - 2) : start] or not word.startswith(
        in_order("password_words")
    ):
        return False
    return bool(compiled(_USER_AND).search(text, max(0, start - 12), start))


def _lead(text: str, start: int) -> str:
    """Return what stands before `start` in the same identifier."""
    if text[start - 1 : start] in _NO_LEAD:
        return ""
    before = compiled(_LEAD).search(text, max(0, start - 40), start)
    lead = before[0] if before else ""
    if lead[:1] in ("n", "r", "t") and text[start - len(lead) - 1 : start - len(lead)] == "\\":
        return lead[1:]  # a line end as it is written in a quoted text
    return lead


def _certainty(text: str, match: re.Match[str], lead: str) -> Certainty:
    """Return how sure the whole name is a secret's."""
    word, tail, begin = match["word"].casefold(), match["tail"], match.start() - len(lead)
    assigned = compiled(_ASSIGNS).match(text, match.end()) is not None
    if _is_part_of_a_word(match["word"], lead) or _is_in_a_path(text, begin, assigned):
        return Certainty.NONE
    if not compiled(_WRITTEN).fullmatch(match["word"]) or (lead == "1" and word == "password"):
        return Certainty.NONE
    words = words_of(lead)
    if not listed("not_before").isdisjoint(words):
        return Certainty.NONE
    kind = Certainty.USUAL
    if word == "token":
        before = "" if lead else _word_before(text, begin)
        if before in listed("not_before_token_word"):
            return Certainty.NONE
        if not listed("not_before_token").isdisjoint(words):
            return Certainty.NONE
    elif word in ("pass", "credentials"):
        if not listed("not_before_pass").isdisjoint(words):
            return Certainty.NONE
        if not assigned and lead.rstrip("_") in listed("passing_directives"):
            return Certainty.NONE
    elif word == "code":
        is_known = _word_before(text, begin) in listed("code_kinds")
        return Certainty.USUAL if is_known and not lead and not tail else Certainty.NONE
    elif word == "key":
        kind = _key_certainty(text, lead, words, begin)
    return _with_tail(kind, match["word"], tail) if kind and tail else kind


def _with_tail(kind: Certainty, written: str, tail: str) -> Certainty:
    """Return how sure a name is with what follows its word in the same identifier."""
    word = written.casefold()
    if tail == "s":
        return Certainty.PLURAL
    if tail[0].isalpha() and (tail[0].islower() or written[-1].isupper()):
        is_glued = tail.casefold() in listed("glued_after") and word != "key"
        return kind if is_glued else Certainty.NONE
    after = [part for part in words_of(tail) if not part.isdigit()]
    if listed("not_after").intersection(after):
        return Certainty.NONE
    if listed("usual_after").issuperset(after) or kind == Certainty.GENERIC:
        return kind
    return Certainty.NONE if word in listed("short_words") else Certainty.UNUSUAL


def _word_before(text: str, begin: int) -> str:
    """Return the English word before a place, in lower case; "" without one."""
    before = compiled(_WORD_BEFORE).search(text, max(0, begin - 24), begin)
    return before[1].casefold() if before else ""


def _is_part_of_a_word(word: str, lead: str) -> bool:
    """Return whether a short word ends a longer one, as in `compass`."""
    if not lead[-1:].isalpha():
        return False
    if word.casefold() not in listed("short_words") and word != "PIN":
        return False
    if lead[-1].islower() and word[0].isupper():  # sftpPass, not a piece of Base64
        return not lead.isalpha() or min(map(len, words_of(lead))) < 2
    glued = compiled(_LETTERS_END).search(lead)
    return not glued or glued[0].casefold() not in listed("glued_before")


def _is_in_a_path(text: str, begin: int, assigned: bool) -> bool:
    """Return whether a name is the end of a path or of a cloud's resource name.

    assigned: a sign and a value follow, so that a path is only where the name belongs.
    """
    if text[begin - 1 : begin] in ("/", "\\"):
        return not assigned
    if text[max(0, begin - 5) : begin] in (".svg?", "/etc/"):
        return True  # a badge, shown to everyone, and the list of users
    first = max(0, begin - 120)
    return "arn:" in text[first:begin] and bool(compiled(_RESOURCE).search(text, first, begin))


def _key_certainty(text: str, lead: str, words: list[str], begin: int) -> Certainty:
    """Return how sure `key` is a secret's by the words before it."""
    if words:
        last = "websocket" if words[-2:] == ["web", "socket"] else words[-1]
        if last in listed("not_before_key"):
            return Certainty.NONE
        if last in listed("key_kinds") or last.endswith(("api", "access", "secret")):
            return Certainty.USUAL
        is_word = lead[-1:] in "_-" or lead[-1:].islower()
        return Certainty.GENERIC if is_word else Certainty.NONE
    kind = _word_before(text, begin)
    if not kind:
        return Certainty.NONE
    if kind in listed("key_kinds") or compiled(_ENCRYPTS).search(text, max(0, begin - 60), begin):
        return Certainty.USUAL
    is_program = kind in listed("not_before_key") or kind in listed("not_before")
    return Certainty.NONE if is_program else Certainty.GENERIC


class KeyedRule(NamedTuple):
    """A rule for names, with its hints by where they are looked for.

    ahead, next_to, behind: behind the name, right behind it, before it.
    """

    rule: Rule
    ahead: tuple[str, ...]
    next_to: tuple[str, ...]
    behind: tuple[str, ...]


@cache
def expressions_of(rule: Rule) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
    """Return what must stand before the name and behind it, compiled where a text needs it."""
    before, _, after = spelled(rule.pattern).partition("§")
    if rule.before:
        before += r"[A-Za-z0-9_.\-]{0,40}"
    return compiled(rf"(?:{before})\Z") if before else None, compiled(after)


@cache
def keyed_rules(korean: bool) -> tuple[KeyedRule, ...]:
    """Return the rules for the names of a language in their order."""
    found = list[KeyedRule]()
    for rule in rules_of("keyed"):
        if korean and rule.name == "keyed-bare-word":  # its Korean form takes particles
            continue
        plain = tuple(hint for hint in rule.hints if not hint.startswith(("^", "‹")))
        next_to = tuple(hint[1:] for hint in rule.hints if hint.startswith("^"))
        behind = tuple(hint[1:] for hint in rule.hints if hint.startswith("‹"))
        if rule.before:
            plain, behind = (), plain
        found.append(KeyedRule(rule, plain, next_to, behind))
    return tuple(found)


class RulesOfText:
    """The rules for the names of one text; what stands anywhere in it is looked up once."""

    def __init__(self, text: str, folded: str) -> None:
        self._text, self._folded = text, folded
        self._rules: dict[bool, list[KeyedRule]] = {}
        self._promises: list[int] | None = None

    def near(self, name: Name) -> Iterator[KeyedRule]:
        """Yield the rules of which a hint stands near a name, in their order."""
        promised = self._has_promise(name.end, name.end + _REACH_CHARS) or name.is_phrase
        promised_before = self._has_promise(name.start - _REACH_CHARS, name.start)
        if not (promised or promised_before):
            return
        before = self._text[max(0, name.start - _AHEAD_CHARS) : name.end].casefold()
        ahead = self._text[name.end : name.end + _AHEAD_CHARS].casefold()
        next_to = self._text[name.end : name.end + _NEXT_CHARS]
        for keyed in self._possible(name.korean):
            rule = keyed.rule
            if rule.before:
                if promised_before and _has_any(before, keyed.behind):
                    yield keyed
                continue
            is_for_hangul = rule.name.startswith("keyed-korean")
            if not promised or (is_for_hangul and not name.korean and next_to.isascii()):
                continue
            if keyed.behind and not _has_any(before, keyed.behind):
                continue
            if _has_any(ahead, keyed.ahead) or _has_any(next_to, keyed.next_to):
                yield keyed

    def _possible(self, korean: bool) -> list[KeyedRule]:
        """Return the rules for names of a language of which a hint stands anywhere in the text."""
        if korean not in self._rules:
            self._rules[korean] = [
                keyed
                for keyed in keyed_rules(korean)
                if _has_any(self._folded, keyed.ahead or keyed.behind)
                or _has_any(self._text, keyed.next_to)
            ]
        return self._rules[korean]

    def _has_promise(self, start: int, end: int) -> bool:
        """Return whether something that a value may have begins between two places."""
        if self._promises is None:
            found = compiled(_PROMISING).finditer(self._text)
            self._promises = [match.start() for match in found]
        at = bisect_left(self._promises, start)
        return at < len(self._promises) and self._promises[at] < end


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, words))
