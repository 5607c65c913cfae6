"""Finds the value that belongs to the name of a secret, if it looks like one.

A `keyed` rule of `core/data/rules.jsonl` says which text may stand between. Its gate says how much
the value must look like a secret: `assigned` by a sign least, `said` or `bare` in a sentence more,
`far` or `random` most.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache

from core.data import Rule, expression_of, rules, shape, sorted_words, with_parts, word_set
from core.guard.looks import (
    CLOSERS,
    LONGEST_VALUE_CHARS,
    Binding,
    Certainty,
    Name,
    find_bare_end,
    find_quote_end,
    has_any,
    is_app_password,
    is_certain_secret,
    is_hex,
    is_likely_secret,
    is_phrase,
    is_placeholder,
    is_random,
    is_striking_password,
    may_have_names,
    names_in,
)

Span = tuple[int, int]

_OPENERS = "\"'`(<[{*,;>|"
_CLOSERS = "\"'`)>]}*" + "".join(CLOSERS.values())

_REACH_CHARS = 180  # how far a value may stand from its name
_NEXT_CHARS = 8
_AHEAD_CHARS = 60
_BEFORE_CHARS = 100  # in which a rule looks for its text before a name
_FAR_CHARS = 100
_NEARBY_CHARS = 160
_ANSWER_LINES = 4  # in which an answer to a question for a password stands
_WORD_CHARS = 129  # of the longest word that is striking, and one that may not follow
_BEFORE_A_DIGEST_CHARS = 80
_DIGEST_CHARS = 32
_LONG_ROW_HYPHENS = 3  # of a row of words that is no phrase of a sentence
_MOST_CONTINUED = 4  # values that one name may introduce: "changed from … to …"
_WHOLE_NAMES = "keyed-block", "keyed-heading"  # rules for names without anything odd behind them

# Of tables:
_LINE_CHARS = 1_000
_MOST_HEADS = 12  # names in one line that may head a column
_MOST_EMPTY_ROWS = 3  # in a row without a secret, and the column holds something else
_MOST_ROWS = 20  # of a table below the name that heads its column


@cache
def keyed_rules(is_korean: bool) -> tuple[Rule, ...]:
    table = (rule for rule in rules() if rule.table == "keyed")
    # of the bare word there is a Korean form, which takes particles
    return tuple(rule for rule in table if not (is_korean and rule.name == "keyed-bare-word"))


@cache
def name_patterns(pattern: str, is_before: bool) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
    """Return the expressions for the text before a name, None for any, and behind it."""
    prefix, _, suffix = with_parts(pattern).partition("§")
    if is_before:
        prefix += r"[A-Za-z0-9_.\-]{0,40}"
    return expression_of(rf"(?:{prefix})\Z") if prefix else None, expression_of(suffix)


def may_have_keyed_spans(text: str, folded_text: str) -> bool:
    """Only False is certain."""
    return (
        may_have_names(text, folded_text, is_korean=False)
        or may_have_names(text, folded_text, is_korean=True)
        or has_any(folded_text, sorted_words("cue_hints"))
    )


def keyed_spans(text: str, folded_text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and rule name of each value. folded_text: its casefold."""
    password_spans, values = list[Span](), _Values(text, folded_text)
    block_end = 0  # a block of lines is a value as a whole, whatever names it holds
    for name in names_in(text, folded_text):
        if name.start < block_end:
            continue
        if name.is_password and name.certainty != Certainty.UNUSUAL:
            password_spans.append((name.start, name.end))
        for rule in values.rules_for(name):
            if spans := values.find_values(name, rule):
                yield from ((start, end, rule.name) for start, end in spans)
                block_end = spans[-1][1] if rule.name == "keyed-block" else 0
                break
        else:
            for start, end in values.cells_below(name):
                yield start, end, "keyed-table-cell"
    has_cues = has_any(folded_text, sorted_words("cue_hints"))
    cues = [match.span() for match in shape("cue").finditer(text)] if has_cues else []
    for spans, are_names in ((password_spans, True), (cues, False)):
        for start, end in _striking_words_near(text, spans, are_names=are_names):
            yield start, end, "keyed-far"


def _striking_words_near(text: str, places: list[Span], *, are_names: bool) -> Iterator[Span]:
    """Yield words that can only be passwords, from the lines of some places.

    are_names: the places are names of passwords, and the next lines count, too. Elsewhere, words
    with a number count where a sentence says that they are typed in.
    """
    search_end = 0
    for start, end in places:
        line_start = text.rfind("\n", max(0, start - _NEARBY_CHARS), start) + 1
        first = max(line_start, start - _NEARBY_CHARS, search_end)
        lines = text[end : end + _NEARBY_CHARS].split("\n")
        search_end = end + len(lines[0])
        last = end + len("\n".join(lines[: _ANSWER_LINES if are_names else 1]))
        for match in shape("lone_word").finditer(text, first, last + _WORD_CHARS):
            if match.start() >= last:
                break
            word_start = match.end() - len(match[0].lstrip(_OPENERS))
            word_end = find_bare_end(text, word_start)
            has_cue = (
                (are_names and match.start() < search_end)
                or shape("used_with").search(text, max(0, word_start - 16), word_start)
                or shape("typed_in").match(text, word_end)
            )
            if is_striking_password(text[word_start:word_end], has_name=bool(has_cue)):
                yield word_start, word_end


class _Values:
    """The values of the names of one text, also in its tables: of Markdown, with tabs or commas.

    Equal names are judged once at a place.
    """

    def __init__(self, text: str, folded_text: str) -> None:
        self._text, self._casefold = text, folded_text
        self._rules: dict[bool, list[Rule]] = {}  # of which a hint stands anywhere
        self._promises: list[int] | None = None
        self._seen: dict[tuple[int, str, str, str, str, Certainty], Span | None] = {}
        self._head_start, self._name_count = -1, 0  # of a table, and the names of secrets in it
        self._table_end = 0

    def rules_for(self, name: Name) -> Iterator[Rule]:
        text, start = self._text, name.start
        has_promise = self._has_promise(name.end, name.end + _REACH_CHARS) or name.is_phrase
        has_promise_before = self._has_promise(start - _REACH_CHARS, start)
        if not (has_promise or has_promise_before):
            return
        if name.is_korean not in self._rules:
            self._rules[name.is_korean] = [
                rule
                for rule in keyed_rules(name.is_korean)
                if has_any(self._casefold, rule.hints or rule.behind) or has_any(text, rule.next_to)
            ]
        text_before = text[max(0, start - _AHEAD_CHARS) : name.end].casefold()
        text_ahead = text[name.end : name.end + _AHEAD_CHARS].casefold()
        next_chars = text[name.end : name.end + _NEXT_CHARS]
        for rule in self._rules[name.is_korean]:
            if rule.before:
                if has_promise_before and has_any(text_before, rule.behind):
                    yield rule
                continue
            is_for_hangul = rule.name.startswith("keyed-korean")
            if not has_promise or (is_for_hangul and not name.is_korean and next_chars.isascii()):
                continue
            if rule.behind and not has_any(text_before, rule.behind):
                continue
            if has_any(text_ahead, rule.hints) or has_any(next_chars, rule.next_to):
                yield rule

    def _has_promise(self, start: int, end: int) -> bool:
        if self._promises is None:
            matches = shape("promising").finditer(self._text)
            self._promises = [match.start() for match in matches]
        index = bisect_left(self._promises, start)
        return index < len(self._promises) and self._promises[index] < end

    def find_values(self, name: Name, rule: Rule) -> list[Span]:
        prefix, suffix = name_patterns(rule.pattern, rule.before)
        if not (match := suffix.match(self._text, name.end)):
            return []
        is_odd = rule.name in _WHOLE_NAMES and name.certainty == Certainty.UNUSUAL
        if is_odd or (name.is_bare_pass and rule.gate not in ("assigned", "far")):
            return []
        if rule.gate == "far":
            return self._find_far_value(name, match.end())
        if not (name.is_korean or rule.before) and rule.name.startswith("keyed-korean"):
            particle = match[0].lstrip("\"'`*」』)”’]")[:1]
            if not "가" <= particle <= "힣":
                return []
        if prefix:
            first = max(0, name.word_start - _BEFORE_CHARS)
            if not (match_before := prefix.search(self._text, first, name.word_start)):
                return []
            if rule.before:
                span = _find_value_before(self._text, match_before.start(), name, rule.gate)
                return [span] if span else []
        return self._find_values_behind(match, name, rule)

    def _find_values_behind(self, match: re.Match[str], name: Name, rule: Rule) -> list[Span]:
        text, start, groups = self._text, match.end(), match.groupdict()
        quote = groups.get("quote") or groups.get("quote2") or ""
        if name.is_phrase and (seed := shape("seed").match(text, start)):
            return [seed.span()]
        is_far = rule.name == "keyed-korean-far"
        has_colon = match[0].endswith(": ")
        is_said = groups.get("wrap") or (is_far and name.is_password and has_colon)
        gate = "said" if is_said else rule.gate
        stops = ",;\t" if rule.name == "keyed-field" else ""
        sign = groups.get("sign") or ""
        span = _find_value_at(text, start, quote, name, gate, sign=sign, stops=stops)
        if not span:
            return []
        if is_far:
            # Words alone may be about the name, with the id of anything behind them.
            value, text_between = text[slice(*span)], match[0]
            is_about = not has_colon and shape("about").match(text_between)
            is_label = is_hex(value) or shape("labelled").fullmatch(value)
            if is_about or (is_label and not shape("tied").search(text_between)):
                return []
        if rule.name == "keyed-block":
            start, end = span
            while (line := shape("block_line").match(text, end)) and is_random(line[0].strip()):
                end = line.end()
            if (start, end) != span:
                return [(start, end)]
        may_go_on = gate != "assigned" or name.is_korean or name.certainty == Certainty.PLURAL
        further = self._further_values(span[1], name, rule.gate) if may_go_on and not stops else ()
        return [span, *further]

    def _find_far_value(self, name: Name, start: int) -> list[Span]:
        text = self._text
        for match in shape("introducing").finditer(text, start, start + _FAR_CHARS):
            gate = "said" if name.is_password and match["said"] else "random"
            span = self._find_value_once(match.end(), match["quote"] or "", name, gate)
            value = text[slice(*span)] if span else ""
            if span and not value.isdigit() and (match["said"] or not is_hex(value)):
                return [span]
            if match["end"]:
                break
        return []

    def _further_values(self, end: int, name: Name, gate: str) -> Iterator[Span]:
        is_said = name.is_password and gate in ("said", "bare", "assigned")
        for _ in range(_MOST_CONTINUED):
            if not (joint := shape("continued").match(self._text, end)):
                return
            quote = joint[0][-1] if joint[0][-1] in "\"'`「“‘" else ""
            span = self._find_value_once(joint.end(), quote, name, "said" if is_said else "random")
            if not span:
                return
            yield span
            end = span[1]

    def cells_below(self, name: Name) -> Iterator[Span]:
        text = self._text
        line_start = text.rfind("\n", max(0, name.start - _LINE_CHARS), name.start) + 1
        line_end = text.find("\n", name.end, name.end + _LINE_CHARS)
        head = text[line_start : max(line_end, 0)]
        if line_start != self._head_start:
            self._head_start, self._name_count = line_start, 0
        self._name_count += 1
        if head.lstrip(" ").startswith("|"):
            separator = "|"
        elif "\t" in head.strip():
            separator = "\t"
        elif shape("csv_head").fullmatch(head):
            separator = ","
        else:
            return
        if name.start - line_start > _LINE_CHARS or self._name_count > _MOST_HEADS:
            return
        if self._name_count == 1 and line_start < self._table_end:
            self._name_count = _MOST_HEADS  # a row of a table, not the head of one
            return
        column, empty_rows = text.count(separator, line_start, name.start), 0
        for _ in range(_MOST_ROWS):
            line_start, line_end = line_end + 1, text.find("\n", line_end + 1)
            line_end = len(text) if line_end < 0 else line_end
            cells = text[line_start : min(line_end, line_start + _LINE_CHARS)].split(separator)
            if len(cells) <= column or empty_rows > _MOST_EMPTY_ROWS:
                return
            empty_rows += 1
            self._table_end = line_end
            start = line_start + sum(map(len, cells[:column])) + column
            start += len(cells[column]) - len(cells[column].lstrip(" `*\"'"))
            if cells[column].strip(" -:\r"):
                stops = "," if separator == "," else ""
                if span := _find_value_at(text, start, "", name, "said", stops=stops):
                    yield span
                    empty_rows = 0
            if line_end == len(text):
                return

    def _find_value_once(self, start: int, quote: str, name: Name, gate: str) -> Span | None:
        key = start, quote, gate, name.lead, name.word, name.certainty
        if key not in self._seen:
            self._seen[key] = _find_value_at(self._text, start, quote, name, gate)
        return self._seen[key]


def _find_value_at(
    text: str, start: int, quote: str, name: Name, gate: str, *, sign: str = "", stops: str = ""
) -> Span | None:
    """Return the span of the value that begins at `start`, if it looks like the name's.

    stops: characters that end it early.
    """
    end = find_quote_end(text, start, quote) if quote else 0
    is_quoted = end > start
    sign_text = text[name.end : start] if sign == "=" else ""
    if introduction := shape("introduced").match(text, start):
        start = introduction.end()
    if not is_quoted:
        while text[start : start + 1] in tuple("(<[{*`") and gate != "assigned":
            start += 1
        if shape("assigned").match(text, start):
            return None
        end = find_bare_end(text, start)
    end = min([end, *(stop_at for stop in stops if (stop_at := text.find(stop, start, end)) > 0)])
    if name.is_password and gate in ("assigned", "said"):
        match = shape("app_password").match(text, start)
        takes_words = is_quoted and not name.is_bare_pass
        if match and is_app_password(match[0], takes_words=takes_words):
            return match.span()
    value = text[start:end]
    if is_placeholder(value, is_quoted=is_quoted) or _is_id(text, start, value, name, gate):
        return None
    binding = Binding.QUOTED if is_quoted else _binding_of(text, name, sign_text)
    is_secret = _is_secret(value, name, gate, binding, next_text=text[end : end + 4])
    return (start, end) if is_secret or is_phrase(value, name.word, is_quoted=is_quoted) else None


def _find_value_before(text: str, end: int, name: Name, gate: str) -> Span | None:
    """Return the span of the value that ends at `end`, if it looks like the name's."""
    while end and text[end - 1] in _CLOSERS:
        end -= 1
    # a blank parts words, and so does the line between cells
    words = expression_of("[^!-{}~]").split(text[max(0, end - LONGEST_VALUE_CHARS) : end])
    value = words[-1].lstrip(_OPENERS)
    start = end - len(value)
    before = text[max(0, start - _NEXT_CHARS) : start].rstrip(" \t*`")
    is_cell = before.endswith("|") and shape("cell").fullmatch(value)
    if is_placeholder(value) or (gate == "random" and not is_cell):
        return None
    return (start, end) if _is_secret(value, name, gate, Binding.LOOSE, next_text="") else None


def _binding_of(text: str, name: Name, sign_text: str) -> Binding:
    """Return how a value without quotes is tied. sign_text: `=` with its blanks, or ""."""
    if name.is_korean:
        is_setting = name.word in sorted_words("placed_names")
    else:
        is_setting = text[name.word_start : name.end].isupper()
        is_setting = is_setting or bool(shape("property").fullmatch(name.lead))
    if sign_text == "=":
        return Binding.SETTING if is_setting else Binding.JOINED
    return Binding.JOINED if sign_text and is_setting else Binding.LOOSE


def _is_secret(value: str, name: Name, gate: str, binding: Binding, *, next_text: str) -> bool:
    is_password = name.is_password
    if is_password and shape("typed_hangul").fullmatch(value):
        return value.casefold() not in word_set("technical_words")
    if name.is_pin:
        value = value.rstrip("#*")
        if value.isdigit() and 4 <= len(value) <= 12:
            return not next_text.startswith(sorted_words("counters"))
        return is_random(value) or bool(shape("groups").fullmatch(value))
    if name.certainty == Certainty.GENERIC:
        if gate != "assigned" and is_hex(value):
            return False
        return len(value) >= 20 and is_random(value) and not shape("labelled").fullmatch(value)
    if name.certainty == Certainty.PLURAL and not (is_password and gate != "bare"):
        return is_random(value) and not shape("labelled").fullmatch(value)
    if gate == "assigned" and name.certainty == Certainty.USUAL:
        is_bare = not name.lead or name.word.startswith("cred")
        has_more_meanings = is_bare and name.word in word_set("words_of_more")
        is_row_of_words = value.replace("-", "").isalpha() and value.count("-") < _LONG_ROW_HYPHENS
        if has_more_meanings and is_row_of_words:
            return False
        return is_likely_secret(value, is_password, binding)
    if gate in ("assigned", "said") or (gate == "bare" and is_password):
        return is_certain_secret(value, is_password, next_text)
    return is_random(value)


def _is_id(text: str, start: int, value: str, name: Name, gate: str) -> bool:
    if not is_hex(value):
        return False
    if name.word == "token" and "-" in value and shape("of_a_request").search(name.lead):
        return True
    if name.word == "key" and shape("fingerprint").fullmatch(value):
        return True
    if name.word == "key" and name.lead.endswith("signing") and shape("signer").fullmatch(value):
        return True
    if gate not in ("random", "said", "bare") or len(value) < _DIGEST_CHARS:
        return False
    line = text[max(0, start - _BEFORE_A_DIGEST_CHARS) : start].rpartition("\n")[2]
    return shape("of_a_digest").search(line) is not None
