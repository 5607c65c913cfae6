"""The redactor: takes secrets out of any text and leaves everything else as it is.

Each rule of `data/rules.jsonl` runs on each form of a text where one of its hints stands, long
texts in windows. One marker replaces secrets that touch. `guard/named_values.py` judges the values
of names (`password = "…"`).
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from core.data import TOKENS, Rule, expression_of, rule_expression, rules
from core.guard.characters import Places, forms_of, has_other_forms, may_hide, without_hidden
from core.guard.looks import bare_end, is_hex, is_paired_password, is_placeholder, quoted_end
from core.guard.named_values import keyed_spans, may_have_keyed_spans

MARKER = "[REDACTED]"  # which rule has put it there, the answer of the save says
WINDOW_CHARS = 32_768
MARGIN_CHARS = 6_144  # the longest key block in use has about 6,000 characters

_BREAK_CHARS = 2_048  # so near is a line, or a word, at which a window ends or begins
_REPEATABLE = r"(?=[!-~]{0,512}[0-9])(?=[!-~]{0,512}[A-Za-z])[!-~]{8,512}"
_LONG_WORD = "[!-~]{16,}"
_LONGEST_TOKEN_CHARS = 4_096
_LONGEST_GLUED_CHARS = 512
_MOST_PASSES = 4  # no more than so many secrets hang together in a text that people write
_MOST_TRIES = 2_000  # of a rule at a place where a token touches another
_FEW_VALUES = 8  # that begin alike
_BEGINNING_CHARS = 8
_BEGINNING = rf"(?<![A-Za-z0-9])(?=([!-~]{{{_BEGINNING_CHARS}}}))"
_OTHERS = ("place", "pair")  # the tables of which the hints may stand in any text
_PIECE_CHARS = 3
_SAMPLE = r"([xX*.0-9])\1{7}|EXAMPLE"  # of documentation; by chance in no token
_SAMPLE_CHARS = 10
_CUT_OFF = r"(?:\.{3}|…)[\"'`]"  # a key of which only the beginning is shown


class Secret(NamedTuple):
    """The place of a secret in a text, and the rule that found it."""

    start: int
    end: int
    kind: str


class CleanText(NamedTuple):
    """A text without its secrets, and the rule that found each."""

    text: str
    kinds: tuple[str, ...]


def sanitize(text: str) -> str:
    """Return a text with `[REDACTED]` in place of every API key, token and password."""
    return redact(text).text


class Hint(NamedTuple):
    """A word that stands in every text in which these rules, by number, find a secret."""

    word: str
    tables: Sequence[str]
    rules: Sequence[int]


class Look(NamedTuple):
    """The result of one look at several texts: whether any may hold a secret, and the only hints.

    hints: None where the texts may have several forms.
    """

    may_hold: bool
    hints: Sequence[Hint] | None = None


def redact(
    text: str, known: Mapping[str, str] | None = None, look: Look | None = None
) -> CleanText:
    """Return a text with the marker in place of every secret; redacting twice changes nothing."""
    secrets = find_secrets(text, known, look)
    if not secrets:
        return CleanText(text, ())
    return CleanText(replace_secrets(text, secrets), tuple(secret.kind for secret in secrets))


def find_secrets(
    text: str, known: Mapping[str, str] | None = None, look: Look | None = None
) -> list[Secret]:
    """Return every secret in the order of place; none overlaps or touches another.

    A secret reaches over hidden characters inside it. known: values of other texts with their
    kinds; see `values_in`. look: at this text with others.
    """
    known = known or {}
    if len(text) <= WINDOW_CHARS:
        return _in_window(text, known, look.hints if look else None)
    found = _in_windows(text, known)
    if may_hide(text):  # they may move the end of a secret out of each window
        seen, places = without_hidden(text)
        found += [_origin(secret, places) for secret in _in_windows(seen, known)]
    return merge_secrets([*found, *_repeated(text, _values_at(text, found))])


def values_in(texts: Sequence[str], look: Look | None = None) -> dict[str, str]:
    """Return the secrets of some texts with their kinds, without hidden characters."""
    found, look = dict[str, str](), look or look_at(texts)
    for text in texts if look.may_hold else ():
        found.update(_values_at(text, find_secrets(text, look=look)))
    return found


def look_at(texts: Iterable[str]) -> Look:
    """Return whether a rule may find a secret in one of these texts, and which.

    One look at all texts of a record takes a third of the time.
    """
    text = "\n".join(texts)
    if has_other_forms(text):
        return Look(may_hold=True)
    folded = text.casefold()
    hints = _hints_in(_parts(folded))
    return Look(bool(hints) or may_have_keyed_spans(text, folded), hints)


def redact_together(texts: Sequence[str]) -> list[CleanText]:
    """Redact texts: a password that one of them names goes from all."""
    known = values_in(texts)
    if not known:
        return [CleanText(text, ()) for text in texts]
    return [redact(text, known) for text in texts]


@lru_cache(maxsize=1_024)
def has_secret(text: str) -> bool:
    return bool(find_secrets(text))


def safe_name(text: str) -> str:
    """Return a name, or "" when it holds a secret itself."""
    return "" if has_secret(text) else text


def replace_secrets(text: str, secrets: Iterable[Secret]) -> str:
    parts, at = [], 0
    for start, end, _ in secrets:
        parts += [text[at:start], MARKER]
        at = end
    return "".join([*parts, text[at:]])


def merge_secrets(secrets: Iterable[Secret], *, touching: bool = True) -> list[Secret]:
    """Return secrets in order of place, those that overlap as one under the earliest rule.

    touching: also those that touch, as one marker hides both.
    """
    numbers, out = _numbers(), list[Secret]()
    for start, end, kind in sorted(secrets):
        if out and start < out[-1].end + touching:
            first = out[-1]
            kind = min(first.kind, kind, key=numbers.__getitem__)
            out[-1] = Secret(first.start, max(first.end, end), kind)
        else:
            out.append(Secret(start, end, kind))
    return out


def _values_at(text: str, secrets: Iterable[Secret]) -> dict[str, str]:
    found = dict[str, str]()
    for start, end, kind in secrets:
        value = text[start:end]
        found[without_hidden(value)[0] if may_hide(value) else value] = kind
    return found


def _origin(secret: Secret, places: Places | None) -> Secret:
    return Secret(*places.text_span(*secret[:2]), secret.kind) if places else secret


def _in_windows(text: str, known: Mapping[str, str]) -> list[Secret]:
    """Return the secrets of a text of any length, read in windows.

    They end with a line or a word, if one is near, and overlap: a secret that reaches over the end
    of one is whole in the next, or the next begins with it.
    """
    found = list[Secret]()
    at = end = 0
    while end < len(text):
        end = min(at + WINDOW_CHARS, len(text))
        if end < len(text):
            near = end - _BREAK_CHARS
            end = text.rfind("\n", near, end) + 1 or text.rfind(" ", near, end) + 1 or end
        window = _in_window(text[at:end], known)
        secrets = [Secret(at + start, at + stop, kind) for start, stop, kind in window]
        found += secrets
        half = at + WINDOW_CHARS // 2  # the next one is as far on, or a row of secrets has no end
        cut = [start for start, stop, _ in secrets if stop == end and start > half]
        first, last = end - MARGIN_CHARS, end - MARGIN_CHARS + _BREAK_CHARS
        first = text.find("\n", first, last) + 1 or text.find(" ", first, last) + 1 or first
        at = min([first, *cut])
    return found


def _in_window(
    text: str, known: Mapping[str, str], among: Sequence[Hint] | None = None
) -> list[Secret]:
    """Return every secret of a window in order of place; none touches another.

    among: the only hints to ask.
    """
    found = merge_secrets(_repeated(text, known)) if known else []
    redacted = replace_secrets(text, found) if found else text
    passes = 0
    # A replaced token can bare the edge of its neighbour.
    while secrets := _secrets(redacted, None if found else among):
        passes += 1
        if passes > _MOST_PASSES:
            secrets = _widened(redacted, secrets, passes - _MOST_PASSES)
        new = _before_replacing(found, secrets)
        again = _repeated(text, _values_at(text, new))
        found = merge_secrets([*found, *new, *again])
        redacted = replace_secrets(text, found)
    return found


def _repeated(text: str, values: Mapping[str, str]) -> Iterator[Secret]:
    """Yield where known values stand without a sign beside them, in each form.

    One search for each would take the square of the text's length.
    """
    beginnings: dict[str, list[str]] = {}
    for value in sorted(values, key=len, reverse=True):
        if expression_of(_REPEATABLE).fullmatch(value) and not is_hex(value):
            beginnings.setdefault(value[:_BEGINNING_CHARS], []).append(value)
    if not beginnings:
        return
    forms: list[tuple[str, Places | None]] = [(text, None)]
    if may_hide(text):
        forms.append(without_hidden(text))
    for form, places in forms:
        for place in expression_of(_BEGINNING).finditer(form):
            start = place.start()
            for value in beginnings.get(place[1], ())[:_FEW_VALUES]:
                end = start + len(value)
                after = form[end : end + 1]
                if form.startswith(value, start) and not (after.isascii() and after.isalnum()):
                    yield _origin(Secret(start, end, values[value]), places)


def _before_replacing(found: Sequence[Secret], secrets: Iterable[Secret]) -> list[Secret]:
    markers, shifts = list[int](), [0]
    for start, end, _ in found:
        markers.append(start + shifts[-1])
        shifts.append(shifts[-1] + len(MARKER) - (end - start))

    def origin(place: int, *, at_end: bool) -> int:
        """Return the place in the original text; within a marker, an edge of the secret."""
        before = bisect_left(markers, place)
        if before and place < markers[before - 1] + len(MARKER):
            return found[before - 1].end if at_end else found[before - 1].start
        return place - shifts[before]

    return [
        Secret(origin(start, at_end=False), origin(end, at_end=True), kind)
        for start, end, kind in secrets
    ]


def _widened(text: str, secrets: Sequence[Secret], excess: int) -> list[Secret]:
    """Return secrets that reach further, the more so the longer others turn up.

    First each is as long as its word, then one spans all, at last the whole text: such a text was
    made to hold the program up.
    """
    first = secrets[0]
    if excess > 2 * _MOST_PASSES:
        return [Secret(0, len(text), first.kind)]
    if excess > _MOST_PASSES:
        return [Secret(first.start, secrets[-1].end, first.kind)]
    spaces = [-1, *(match.start() for match in expression_of(r"\s").finditer(text)), len(text)]
    words = list[Secret]()
    for start, end, kind in secrets:
        before, after = bisect_left(spaces, start), bisect_left(spaces, end)
        words.append(Secret(spaces[before - 1] + 1, spaces[after], kind))
    return merge_secrets(words, touching=False)


def _secrets(text: str, among: Sequence[Hint] | None) -> list[Secret]:
    found = list[Secret]()
    for form, places in forms_of(text):
        folded = form.casefold()
        parts = _parts(folded)
        hints = _hints_in(parts) if among is None else among
        called = {number for it in hints if it.word in parts[it.tables] for number in it.rules}
        tokens, others, token_rules = list[Secret](), list[Secret](), list[Rule]()
        for rule in (rules()[number] for number in sorted(called)):
            if rule.table in TOKENS:
                token_rules.append(rule)
                tokens += _of_rule(form, rule)
            else:
                others += _of_rule(form, rule)
        if tokens:
            others += _glued(form, tokens, token_rules)
        values = (Secret(*it) for it in keyed_spans(form, folded))
        others += [it for it in values if form[it.start : it.end].replace(MARKER, "")]
        found += [_origin(secret, places) for secret in (*tokens, *others)]
    return merge_secrets(found, touching=False)


def _of_rule(text: str, rule: Rule) -> Iterator[Secret]:
    for match in rule_expression(rule.pattern).finditer(text):
        start, end = match.span(rule.group)
        value = text[start:end]
        if rule.gate == "pair":
            quote = match["quote"] or ""
            end = (quoted_end(text, start, quote) if quote else 0) or bare_end(text, start)
            if not is_paired_password(text[start:end]):
                continue
        if rule.table == "place" and is_placeholder(value):
            continue
        if expression_of(_SAMPLE).search(text, start, end):
            continue
        if end - start <= _SAMPLE_CHARS and expression_of(_CUT_OFF).match(text, end):
            continue
        if text[start:end].replace(MARKER, ""):
            yield Secret(start, end, rule.name)


def _glued(text: str, tokens: Sequence[Secret], called: Sequence[Rule]) -> Iterator[Secret]:
    """Yield the tokens that touch others without an edge between.

    Where very many hang together, the rest of the word is one.
    """
    starts = {start: kind for start, _, kind in tokens}
    ends = {end: kind for _, end, kind in tokens}
    tries, rest = 0, range(0)
    for is_before in (False, True):
        here, other = (starts, ends) if is_before else (ends, starts)
        edges = sorted(here.keys() - other.keys(), reverse=is_before)
        for at in edges:  # also of the new ones
            beside = text[max(0, at - 1) : at] if is_before else text[at : at + 1]
            if at in other or at in rest or not (beside.isascii() and beside.isalnum()):
                continue
            other[at] = here[at]
            tries += len(called)
            first = max(0, at - _LONGEST_GLUED_CHARS) if is_before else at
            piece = text[first : at if is_before else at + _LONGEST_TOKEN_CHARS]
            if tries > _MOST_TRIES:
                space = expression_of(r"\s").search(text, at)
                last = space.start() if space else len(text)
                first = max(text.rfind(" ", 0, at), text.rfind("\n", 0, at)) + 1
                rest = range(first, at) if is_before else range(at, last)
                yield Secret(rest.start, rest.stop, here[at])
            elif glued := _token_at_an_end(piece, called, last=is_before):
                token, rule = glued
                start, end = token.span(rule.group)
                yield Secret(first + start, first + end, rule.name)
                edge = first + (token.start() if is_before else token.end())
                here[edge] = rule.name
                edges.append(edge)


def _token_at_an_end(
    text: str, called: Sequence[Rule], *, last: bool
) -> tuple[re.Match[str], Rule] | None:
    for rule in called:
        expression = rule_expression(rule.pattern)
        for token in expression.finditer(text) if last else [expression.match(text)]:
            if token and token.end() and (token.end() == len(text) or not last):
                return token, rule
    return None


@cache
def _numbers() -> dict[str, int]:
    return {rule.name: number for number, rule in enumerate(rules())}


def _parts(folded: str) -> dict[Sequence[str], str]:
    """Return by tables the part of a text in which their hints stand.

    Tokens that name themselves are long and in one piece, which few texts have.
    """
    return {TOKENS: " ".join(expression_of(_LONG_WORD).findall(folded)), _OTHERS: folded}


def _hints_in(parts: Mapping[Sequence[str], str]) -> list[Hint]:
    found = list[Hint]()
    for tables, part in parts.items():
        index = _hints(tables) if part else {}
        pieces = {(), *zip(part, part[1:], part[2:], strict=False)}
        found += [it for piece in index.keys() & pieces for it in index[piece] if it.word in part]
    return found


@cache
def _hints(tables: Sequence[str]) -> dict[tuple[str, ...], list[Hint]]:
    """Return the hints of some tables by a rare piece of each.

    A piece is three characters, () for shorter hints.
    """
    called: dict[str, list[int]] = {}
    for number, rule in enumerate(rules()):
        for hint in rule.hints if rule.table in tables else ():
            called.setdefault(hint, []).append(number)
    index: dict[tuple[str, ...], list[Hint]] = {}
    for hint, numbers in called.items():
        pieces = [hint[at : at + _PIECE_CHARS] for at in range(len(hint) - _PIECE_CHARS + 1)]
        rarest = min(pieces, key=lambda piece: (piece.isalpha(), " " in piece), default="")
        index.setdefault(tuple(rarest), []).append(Hint(hint, tables, numbers))
    return index
