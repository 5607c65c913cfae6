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
from core.guard.looks import find_bare_end, find_quote_end, is_hex, is_pair_password, is_placeholder
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
_OTHER_TABLES = ("place", "pair")  # the tables of which the hints may stand in any text
_PIECE_CHARS = 3
_SAMPLE = r"([xX*.0-9])\1{7}|EXAMPLE"  # of documentation; by chance in no token
_SAMPLE_CHARS = 10
_CUT_OFF = r"(?:\.{3}|…)[\"'`]"  # a key of which only the beginning is shown


class Secret(NamedTuple):
    """The place of a secret in a text, and the rule that found it."""

    start: int
    end: int
    kind: str


class RedactedText(NamedTuple):
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
    text: str, known_values: Mapping[str, str] | None = None, look: Look | None = None
) -> RedactedText:
    """Return a text with the marker in place of every secret; redacting twice changes nothing."""
    secrets = find_secrets(text, known_values, look)
    if not secrets:
        return RedactedText(text, ())
    return RedactedText(replace_secrets(text, secrets), tuple(secret.kind for secret in secrets))


def find_secrets(
    text: str, known_values: Mapping[str, str] | None = None, look: Look | None = None
) -> list[Secret]:
    """Return every secret in the order of place; none overlaps or touches another.

    A secret reaches over hidden characters inside it. known_values: of other texts with their
    kinds; see `secret_values_in`. look: at this text with others.
    """
    known_values = known_values or {}
    if len(text) <= WINDOW_CHARS:
        return _find_in_window(text, known_values, look.hints if look else None)
    secrets = _find_in_windows(text, known_values)
    if may_hide(text):  # they may move the end of a secret out of each window
        form, places = without_hidden(text)
        secrets += [_secret_in_text(find, places) for find in _find_in_windows(form, known_values)]
    return merge_secrets([*secrets, *_find_repeated(text, _values_at(text, secrets))])


def secret_values_in(texts: Sequence[str], look: Look | None = None) -> dict[str, str]:
    """Return the secrets of some texts with their kinds, without hidden characters."""
    values, look = dict[str, str](), look or look_at(texts)
    for text in texts if look.may_hold else ():
        values.update(_values_at(text, find_secrets(text, look=look)))
    return values


def look_at(texts: Iterable[str]) -> Look:
    """Return whether a rule may find a secret in one of these texts, and which.

    One look at all texts of a record takes a third of the time.
    """
    text = "\n".join(texts)
    if has_other_forms(text):
        return Look(may_hold=True)
    folded_text = text.casefold()
    hints = _hints_in(_parts_by_tables(folded_text))
    return Look(bool(hints) or may_have_keyed_spans(text, folded_text), hints)


def redact_together(texts: Sequence[str]) -> list[RedactedText]:
    """Redact texts: a password that one of them names goes from all."""
    known_values = secret_values_in(texts)
    if not known_values:
        return [RedactedText(text, ()) for text in texts]
    return [redact(text, known_values) for text in texts]


@lru_cache(maxsize=1_024)
def has_secret(text: str) -> bool:
    return bool(find_secrets(text))


def safe_name(text: str) -> str:
    """Return a name, or "" when it holds a secret itself."""
    return "" if has_secret(text) else text


def replace_secrets(text: str, secrets: Iterable[Secret]) -> str:
    parts, rest_start = [], 0
    for start, end, _ in secrets:
        parts += [text[rest_start:start], MARKER]
        rest_start = end
    return "".join([*parts, text[rest_start:]])


def merge_secrets(secrets: Iterable[Secret], *, touching: bool = True) -> list[Secret]:
    """Return secrets in order of place, those that overlap as one under the earliest rule.

    touching: also those that touch, as one marker hides both.
    """
    numbers, result = _rule_numbers(), list[Secret]()
    for start, end, kind in sorted(secrets):
        if result and start < result[-1].end + touching:
            previous = result[-1]
            kind = min(previous.kind, kind, key=numbers.__getitem__)
            result[-1] = Secret(previous.start, max(previous.end, end), kind)
        else:
            result.append(Secret(start, end, kind))
    return result


def _values_at(text: str, secrets: Iterable[Secret]) -> dict[str, str]:
    values = dict[str, str]()
    for start, end, kind in secrets:
        value = text[start:end]
        values[without_hidden(value)[0] if may_hide(value) else value] = kind
    return values


def _secret_in_text(secret: Secret, places: Places | None) -> Secret:
    return Secret(*places.text_span(*secret[:2]), secret.kind) if places else secret


def _find_in_windows(text: str, known_values: Mapping[str, str]) -> list[Secret]:
    """Return the secrets of a text of any length, read in windows.

    They end with a line or a word, if one is near, and overlap: a secret that reaches over the end
    of one is whole in the next, or the next begins with it.
    """
    secrets = list[Secret]()
    begin = end = 0
    while end < len(text):
        end = min(begin + WINDOW_CHARS, len(text))
        if end < len(text):
            first = end - _BREAK_CHARS
            end = text.rfind("\n", first, end) + 1 or text.rfind(" ", first, end) + 1 or end
        window = _find_in_window(text[begin:end], known_values)
        new_secrets = [Secret(begin + start, begin + stop, kind) for start, stop, kind in window]
        secrets += new_secrets
        middle = begin + WINDOW_CHARS // 2  # the next one is as far on, or a row has no end
        cuts = [start for start, stop, _ in new_secrets if stop == end and start > middle]
        first, last = end - MARGIN_CHARS, end - MARGIN_CHARS + _BREAK_CHARS
        first = text.find("\n", first, last) + 1 or text.find(" ", first, last) + 1 or first
        begin = min([first, *cuts])
    return secrets


def _find_in_window(
    text: str, known_values: Mapping[str, str], hints: Sequence[Hint] | None = None
) -> list[Secret]:
    """Return every secret of a window in order of place; none touches another.

    hints: the only ones to ask.
    """
    secrets = merge_secrets(_find_repeated(text, known_values)) if known_values else []
    redacted_text = replace_secrets(text, secrets) if secrets else text
    passes = 0
    # A replaced token can bare the edge of its neighbour.
    while new_secrets := _find_by_rules(redacted_text, None if secrets else hints):
        passes += 1
        if passes > _MOST_PASSES:
            new_secrets = _widen(redacted_text, new_secrets, passes - _MOST_PASSES)
        originals = _original_secrets(secrets, new_secrets)
        repeats = _find_repeated(text, _values_at(text, originals))
        secrets = merge_secrets([*secrets, *originals, *repeats])
        redacted_text = replace_secrets(text, secrets)
    return secrets


def _find_repeated(text: str, values: Mapping[str, str]) -> Iterator[Secret]:
    """Yield the places of known values, without a sign beside them, in each form.

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
        for match in expression_of(_BEGINNING).finditer(form):
            start = match.start()
            for value in beginnings.get(match[1], ())[:_FEW_VALUES]:
                end = start + len(value)
                char = form[end : end + 1]
                if form.startswith(value, start) and not (char.isascii() and char.isalnum()):
                    yield _secret_in_text(Secret(start, end, values[value]), places)


def _original_secrets(former_secrets: Sequence[Secret], secrets: Iterable[Secret]) -> list[Secret]:
    markers, shifts = list[int](), [0]
    for start, end, _ in former_secrets:
        markers.append(start + shifts[-1])
        shifts.append(shifts[-1] + len(MARKER) - (end - start))

    def original_place(place: int, *, at_end: bool) -> int:
        """Return the place in the original text; within a marker, an edge of the secret."""
        index = bisect_left(markers, place)
        if index and place < markers[index - 1] + len(MARKER):
            return former_secrets[index - 1].end if at_end else former_secrets[index - 1].start
        return place - shifts[index]

    return [
        Secret(original_place(start, at_end=False), original_place(end, at_end=True), kind)
        for start, end, kind in secrets
    ]


def _widen(text: str, secrets: Sequence[Secret], excess: int) -> list[Secret]:
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
        start_index, end_index = bisect_left(spaces, start), bisect_left(spaces, end)
        words.append(Secret(spaces[start_index - 1] + 1, spaces[end_index], kind))
    return merge_secrets(words, touching=False)


def _find_by_rules(text: str, hints: Sequence[Hint] | None) -> list[Secret]:
    secrets = list[Secret]()
    for form, places in forms_of(text):
        folded_text = form.casefold()
        parts = _parts_by_tables(folded_text)
        form_hints = _hints_in(parts) if hints is None else hints
        numbers = {n for hint in form_hints if hint.word in parts[hint.tables] for n in hint.rules}
        tokens, finds, token_rules = list[Secret](), list[Secret](), list[Rule]()
        for rule in (rules()[number] for number in sorted(numbers)):
            if rule.table in TOKENS:
                token_rules.append(rule)
                tokens += _find_by_rule(form, rule)
            else:
                finds += _find_by_rule(form, rule)
        if tokens:
            finds += _find_glued(form, tokens, token_rules)
        values = (Secret(*span) for span in keyed_spans(form, folded_text))
        finds += [value for value in values if form[value.start : value.end].replace(MARKER, "")]
        secrets += [_secret_in_text(secret, places) for secret in (*tokens, *finds)]
    return merge_secrets(secrets, touching=False)


def _find_by_rule(text: str, rule: Rule) -> Iterator[Secret]:
    for match in rule_expression(rule.pattern).finditer(text):
        start, end = match.span(rule.group)
        value = text[start:end]
        if rule.gate == "pair":
            quote = match["quote"] or ""
            end = (find_quote_end(text, start, quote) if quote else 0) or find_bare_end(text, start)
            if not is_pair_password(text[start:end]):
                continue
        if rule.table == "place" and is_placeholder(value):
            continue
        is_cut_off = end - start <= _SAMPLE_CHARS and expression_of(_CUT_OFF).match(text, end)
        if is_cut_off or expression_of(_SAMPLE).search(text, start, end):
            continue
        if text[start:end].replace(MARKER, ""):
            yield Secret(start, end, rule.name)


def _find_glued(text: str, tokens: list[Secret], token_rules: list[Rule]) -> Iterator[Secret]:
    """Yield the tokens that touch others without an edge between.

    Where very many hang together, the rest of the word is one.
    """
    starts = {start: kind for start, _, kind in tokens}
    ends = {end: kind for _, end, kind in tokens}
    tries, rest = 0, range(0)
    for is_before in (False, True):
        near_edges, far_edges = (starts, ends) if is_before else (ends, starts)
        queue = sorted(near_edges.keys() - far_edges.keys(), reverse=is_before)
        for edge in queue:  # also of the new ones
            char = text[max(0, edge - 1) : edge] if is_before else text[edge : edge + 1]
            if edge in far_edges or edge in rest or not (char.isascii() and char.isalnum()):
                continue
            far_edges[edge] = near_edges[edge]
            tries += len(token_rules)
            first = max(0, edge - _LONGEST_GLUED_CHARS) if is_before else edge
            piece = text[first : edge if is_before else edge + _LONGEST_TOKEN_CHARS]
            if tries > _MOST_TRIES:
                space = expression_of(r"\s").search(text, edge)
                last = space.start() if space else len(text)
                first = max(text.rfind(" ", 0, edge), text.rfind("\n", 0, edge)) + 1
                rest = range(first, edge) if is_before else range(edge, last)
                yield Secret(rest.start, rest.stop, near_edges[edge])
            elif token_and_rule := _find_token_at_end(piece, token_rules, is_last=is_before):
                token, rule = token_and_rule
                start, end = token.span(rule.group)
                yield Secret(first + start, first + end, rule.name)
                new_edge = first + (token.start() if is_before else token.end())
                near_edges[new_edge] = rule.name
                queue.append(new_edge)


def _find_token_at_end(
    text: str, token_rules: Sequence[Rule], *, is_last: bool
) -> tuple[re.Match[str], Rule] | None:
    for rule in token_rules:
        expression = rule_expression(rule.pattern)
        for token in expression.finditer(text) if is_last else [expression.match(text)]:
            if token and token.end() and (token.end() == len(text) or not is_last):
                return token, rule
    return None


@cache
def _rule_numbers() -> dict[str, int]:
    return {rule.name: number for number, rule in enumerate(rules())}


def _parts_by_tables(text: str) -> dict[Sequence[str], str]:
    """Return by tables the part of a casefolded text in which their hints stand.

    Tokens that name themselves are long and in one piece, which few texts have.
    """
    return {TOKENS: " ".join(expression_of(_LONG_WORD).findall(text)), _OTHER_TABLES: text}


def _hints_in(parts: Mapping[Sequence[str], str]) -> list[Hint]:
    hints = list[Hint]()
    for tables, part in parts.items():
        index = _hint_index(tables) if part else {}
        pieces = filter(index.__contains__, zip(part, part[1:], part[2:], strict=False))
        hints += [hint for key in {(), *pieces} for hint in index.get(key, ()) if hint.word in part]
    return hints


@cache
def _hint_index(tables: Sequence[str]) -> dict[tuple[str, ...], list[Hint]]:
    """Return the hints of some tables by a rare piece of each.

    A piece is three characters, () for shorter hints.
    """
    numbers_by_hint: dict[str, list[int]] = {}
    for number, rule in enumerate(rules()):
        for hint in rule.hints if rule.table in tables else ():
            numbers_by_hint.setdefault(hint, []).append(number)
    index: dict[tuple[str, ...], list[Hint]] = {}
    for hint, numbers in numbers_by_hint.items():
        pieces = [hint[at : at + _PIECE_CHARS] for at in range(len(hint) - _PIECE_CHARS + 1)]
        rarest = min(pieces, key=lambda piece: (piece.isalpha(), " " in piece), default="")
        index.setdefault(tuple(rarest), []).append(Hint(hint, tables, numbers))
    return index
