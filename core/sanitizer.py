"""The redactor: takes secrets out of a text and leaves everything else as it was.

Every rule of the table runs on the original text, the spans found are merged, and each is
replaced by one marker.  Rules of the keyed family only find the head (`password = "`); whether
what follows is a secret is decided here, by name and value together.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from unicodedata import normalize

from core.secret_rules import (
    AFTER,
    CAPS_NAME,
    COMMON,
    FILE_NAME,
    GLUED_AFTER,
    GLUED_BEFORE,
    MEASURE,
    NAME_PART,
    NOT_AFTER,
    NOT_BEFORE,
    PLACEHOLDER,
    PLAIN_SHAPE,
    RULES,
    SHORT_WORDS,
    STAND_IN,
    STRUCTURE,
    TECHNOLOGY,
    USUAL_AFTER,
    Rule,
)

MARKER = "[REDACTED]"
PASSES = 4  # a replaced token can bare the edge of its neighbour, so look again

_JAMO = "[\u1100-\u11ff]"
_STRUCTURAL = frozenset(rule.name for rule in STRUCTURE)
_USUAL, _UNUSUAL = 1, 2
_LOOSE_RULES = "keyed-prose", "keyed-bare-word", "keyed-korean-prose", "keyed-table-cell"
_PASSWORD_WORDS = "pass", "pw", "비밀번호", "비밀 번호", "비번", "패스", "암호"
_CLOSERS = {"“": "”", "‘": "’", "「": "」", "『": "』"}
_TRAILING = ".,;:?)]}>|*(["
_COUNTERS = tuple("자회번개일분초년월글바비%")
_NAME_END = r"[A-Za-z0-9_\-]{1,40}$"
_LETTERS_END = r"(?:[a-z]{1,40}|[A-Z]{1,40})$"
_WORD_PART = r"[A-Z]?[a-z]{1,40}|[A-Z]{1,40}(?![a-z])|[0-9]{1,40}"
_BARE = r"[!-~]{1,512}"
_CODE = r"[A-Za-z_][A-Za-z0-9_.?]{0,80}(?:[(\[][!-~]|->|::|=>)"
_CUT = (  # its class of first characters lets `re` skip quickly
    r"""["'`<)\]},;&\\](?:(?<=["'`])|(?<=<)(?:/|br)|(?<=\\)[nrt"]|(?<=[)\]}])[,;.)\]}]|"""
    r"(?<=[,;&])(?:amp;)?[ ]?[A-Za-z_][A-Za-z0-9_.\-]{0,40}[=:])"
)
_DOTTED = r"[A-Za-z_][A-Za-z_]{0,60}\??\.[A-Za-z_.?!]{1,120}"
_SEPARATORS = r"[_\-./:]"
_MIXED = r"(?=[^0-9]{0,512}[0-9])(?=[^A-Za-z]{0,512}[A-Za-z])"
_SYMBOL = r"[!@#$%^&*+=]"
_IDENTIFIER = r"[A-Za-z_][A-Za-z_\-]{0,80}"
_CASE_TURN = r"[A-Z][a-z]?[A-Z][a-z]{1,2}[A-Z]|[a-z][A-Z][a-z][A-Z]|[+/=]"


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets, and the name of the rule that found each."""

    text: str
    kinds: tuple[str, ...]


def redact(text: str) -> Redaction:
    """Return `text` with the marker in place of every secret."""
    kinds: tuple[str, ...] = ()
    for _ in range(PASSES):
        spans = _merged(_spans(text))
        if not spans:
            break
        text, kinds = (
            _replaced(text, spans),
            kinds + tuple(RULES[rule].name for _, _, rule in spans),
        )
    return Redaction(text, kinds)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


Span = tuple[int, int, int]  # start, end, number of the rule


def _spans(text: str) -> Iterator[Span]:
    """Yield the place of every secret, overlaps and all."""
    folded = text.casefold()
    decomposed = _compiled(_JAMO).search(text) is not None
    present = [rules for hint, rules in _hints(decomposed) if hint in folded]
    for number, rule in dict(chain.from_iterable(present)).items():
        for start, end in _found(text, rule):
            yield start, end, number // 2


@cache
def _hints(decomposed: bool) -> tuple[tuple[str, tuple[tuple[int, Rule], ...]], ...]:
    """Return every hint with the rules it calls for; each rule under two numbers, one per form."""
    rules: dict[str, list[tuple[int, Rule]]] = {}
    for number in range(len(RULES)):
        for place, form in enumerate(_forms(number)[: 1 + decomposed]):
            for hint in form.hints:
                rules.setdefault(hint, []).append((2 * number + place, form))
    return tuple((hint, tuple(called)) for hint, called in rules.items())


def _forms(number: int) -> tuple[Rule, ...]:
    """Return a rule, and a second one for decomposed Korean if it holds Korean."""
    rule = RULES[number]
    if rule.pattern.isascii():
        return (rule,)
    hints = tuple(normalize("NFD", hint) for hint in rule.hints)
    return rule, replace(rule, hints=hints, pattern=normalize("NFD", rule.pattern))


def _found(text: str, rule: Rule) -> Iterator[tuple[int, int]]:
    """Yield where one rule finds secrets."""
    for match in _compiled(rule.pattern).finditer(text):
        if rule.group == AFTER:
            span = _keyed_value(text, match, rule)
        elif rule.name in _STRUCTURAL and _is_placeholder(match[rule.group]):
            span = None
        else:
            span = match.span(rule.group)
        if span and text[slice(*span)].replace(MARKER, ""):
            yield span


def _keyed_value(text: str, match: re.Match[str], rule: Rule) -> tuple[int, int] | None:
    """Return where the value after a name is, if both look like a secret's."""
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
    if not value or _is_placeholder(value):
        return None
    word = normalize("NFC", match["word"]).casefold()
    password = word.startswith(_PASSWORD_WORDS) and not word.endswith("키")
    if rule.name in _LOOSE_RULES or certainty == _UNUSUAL:
        good = _is_certain(value, password, text[end : end + 1])
    else:
        free = quoted or (match["word"].isupper() and match.groupdict().get("sign") == "=")
        good = _is_likely(value, password, quoted, free)
    return (start, end) if good or _is_phrase(value, word) else None


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
    found = _compiled(f"(?:{inner}){{1,512}}+").match(text, start)
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
    return start + len(value.rstrip(_TRAILING))


def _is_placeholder(value: str) -> bool:
    """Return whether a value only stands for a secret."""
    lowered = value.casefold()
    return bool(
        lowered.strip(_TRAILING + "!") in COMMON
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


def _is_likely(value: str, password: bool, quoted: bool, free: bool) -> bool:
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


def _is_certain(value: str, password: bool, following: str) -> bool:
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


def _is_phrase(value: str, word: str) -> bool:
    """Return whether a value is the row of words that unlocks a wallet or a key."""
    return word.endswith(("phrase", "mnemonic")) and 4 <= len(value.split()) <= 24


def _merged(spans: Iterator[Span]) -> list[Span]:
    """Return the spans in order of place, overlapping ones as one under the earliest rule."""
    out: list[Span] = []
    for start, end, rule in sorted(spans):
        if out and start < out[-1][1]:
            first = out[-1]
            out[-1] = (first[0], max(first[1], end), min(first[2], rule))
        else:
            out.append((start, end, rule))
    return out


def _replaced(text: str, spans: list[Span]) -> str:
    """Return `text` with the marker in place of each span."""
    parts, at = [], 0
    for start, end, _ in spans:
        parts += [text[at:start], MARKER]
        at = end
    return "".join([*parts, text[at:]])
