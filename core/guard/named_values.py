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
    bare_end,
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
    quoted_end,
)

Span = tuple[int, int]

_OPENERS = "\"'`(<[{*"
_CLOSERS = "\"'`)>]}*" + "".join(CLOSERS.values())

_REACH_CHARS = 180  # how far a value may stand from its name
_NEXT_CHARS = 8
_AHEAD_CHARS = 60
_BEFORE_CHARS = 100  # in which a rule looks for its text before a name
_FAR_CHARS = 100
_NEARBY_CHARS = 160
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
def keyed_rules(korean: bool) -> tuple[Rule, ...]:
    found = (rule for rule in rules() if rule.table == "keyed")
    # of the bare word there is a Korean form, which takes particles
    return tuple(rule for rule in found if not (korean and rule.name == "keyed-bare-word"))


@cache
def around_name(pattern: str, before: bool) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
    """Return the expressions for the text before a name, None for any, and behind it."""
    preceding, _, following = with_parts(pattern).partition("§")
    if before:
        preceding += r"[A-Za-z0-9_.\-]{0,40}"
    return expression_of(rf"(?:{preceding})\Z") if preceding else None, expression_of(following)


def may_have_keyed_spans(text: str, folded: str) -> bool:
    """Only False is certain."""
    return (
        may_have_names(text, folded, korean=False)
        or may_have_names(text, folded, korean=True)
        or has_any(folded, sorted_words("cue_hints"))
    )


def keyed_spans(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and rule name of each value. folded: the text's casefold."""
    passwords, values = list[Span](), _Values(text, folded)
    block_end = 0  # a block of lines is a value as a whole, whatever names it holds
    for name in names_in(text, folded):
        if name.start < block_end:
            continue
        if name.is_password and name.certainty != Certainty.UNUSUAL:
            passwords.append((name.start, name.end))
        for rule in values.rules_near(name):
            if spans := values.of_rule(name, rule):
                yield from ((start, end, rule.name) for start, end in spans)
                block_end = spans[-1][1] if rule.name == "keyed-block" else 0
                break
        else:
            for start, end in values.cells_below(name):
                yield start, end, "keyed-table-cell"
    for start, end in _striking_near(text, passwords, named=True):
        yield start, end, "keyed-far"
    if has_any(folded, sorted_words("cue_hints")):
        cues = [match.span() for match in shape("cue").finditer(text)]
        for start, end in _striking_near(text, cues, named=False):
            yield start, end, "keyed-far"


def _striking_near(text: str, places: list[Span], *, named: bool) -> Iterator[Span]:
    """Yield words that can only be passwords, from the lines of some places.

    named: the places are names of passwords. Elsewhere, words with a number count where a sentence
    says that they are typed in.
    """
    looked_to = 0
    for start, end in places:
        line = text.rfind("\n", max(0, start - _NEARBY_CHARS), start) + 1
        first = max(line, start - _NEARBY_CHARS, looked_to)
        last = text.find("\n", end, end + _NEARBY_CHARS)
        looked_to = min(end + _NEARBY_CHARS, len(text)) if last < 0 else last
        for match in shape("lone_word").finditer(text, first, looked_to + _WORD_CHARS):
            if match.start() >= looked_to:
                break
            word_start = match.end() - len(match[0].lstrip(_OPENERS))
            word_end = bare_end(text, word_start)
            is_known = (
                named
                or shape("used_with").search(text, max(0, word_start - 16), word_start)
                or shape("typed_in").match(text, word_end)
            )
            if is_striking_password(text[word_start:word_end], named=bool(is_known)):
                yield word_start, word_end


class _Values:
    """The values of the names of one text, also in its tables: of Markdown, with tabs or commas.

    Equal names are judged once at a place.
    """

    def __init__(self, text: str, folded: str) -> None:
        self._text, self._folded = text, folded
        self._rules: dict[bool, list[Rule]] = {}  # of which a hint stands anywhere
        self._promises: list[int] | None = None
        self._seen: dict[tuple[int, str, str, str, str, Certainty], Span | None] = {}
        self._head_start, self._names = -1, 0  # of a table, and the names of secrets in it
        self._table_end = 0

    def rules_near(self, name: Name) -> Iterator[Rule]:
        text, start = self._text, name.start
        promised = self._has_promise(name.end, name.end + _REACH_CHARS) or name.is_phrase
        promised_before = self._has_promise(start - _REACH_CHARS, start)
        if not (promised or promised_before):
            return
        if name.korean not in self._rules:
            self._rules[name.korean] = [
                rule
                for rule in keyed_rules(name.korean)
                if has_any(self._folded, rule.hints or rule.behind) or has_any(text, rule.next_to)
            ]
        before = text[max(0, start - _AHEAD_CHARS) : name.end].casefold()
        ahead = text[name.end : name.end + _AHEAD_CHARS].casefold()
        next_to = text[name.end : name.end + _NEXT_CHARS]
        for rule in self._rules[name.korean]:
            if rule.before:
                if promised_before and has_any(before, rule.behind):
                    yield rule
                continue
            is_for_hangul = rule.name.startswith("keyed-korean")
            if not promised or (is_for_hangul and not name.korean and next_to.isascii()):
                continue
            if rule.behind and not has_any(before, rule.behind):
                continue
            if has_any(ahead, rule.hints) or has_any(next_to, rule.next_to):
                yield rule

    def _has_promise(self, start: int, end: int) -> bool:
        if self._promises is None:
            found = shape("promising").finditer(self._text)
            self._promises = [match.start() for match in found]
        at = bisect_left(self._promises, start)
        return at < len(self._promises) and self._promises[at] < end

    def of_rule(self, name: Name, rule: Rule) -> list[Span]:
        before, after = around_name(rule.pattern, rule.before)
        following = after.match(self._text, name.end)
        if not following:
            return []
        is_odd = rule.name in _WHOLE_NAMES and name.certainty == Certainty.UNUSUAL
        if is_odd or (name.is_bare_pass and rule.gate not in ("assigned", "far")):
            return []
        if rule.gate == "far":
            return self._far(name, following.end())
        if not (name.korean or rule.before) and rule.name.startswith("keyed-korean"):
            particle = following[0].lstrip("\"'`*」』)”’]")[:1]
            if not "가" <= particle <= "힣":
                return []
        if before:
            first = max(0, name.word_start - _BEFORE_CHARS)
            preceding = before.search(self._text, first, name.word_start)
            if not preceding:
                return []
            if rule.before:
                span = _value_before(self._text, preceding.start(), name, rule.gate)
                return [span] if span else []
        return self._behind(following, name, rule)

    def _behind(self, match: re.Match[str], name: Name, rule: Rule) -> list[Span]:
        text, start, groups = self._text, match.end(), match.groupdict()
        quote = groups.get("quote") or groups.get("quote2") or ""
        if name.is_phrase and (seed := shape("seed").match(text, start)):
            return [seed.span()]
        is_far = rule.name == "keyed-korean-far"
        has_colon = match[0].endswith(": ")
        said = groups.get("wrap") or (is_far and name.is_password and has_colon)
        gate = "said" if said else rule.gate
        stops = ",;\t" if rule.name == "keyed-field" else ""
        sign = groups.get("sign") or ""
        span = _value_at(text, start, quote, name, gate, sign=sign, stops=stops)
        if not span:
            return []
        if is_far:
            # Words alone may be about the name, with the id of anything behind them.
            value, between = text[slice(*span)], match[0]
            is_about = not has_colon and shape("about").match(between)
            is_label = is_hex(value) or shape("labelled").fullmatch(value)
            if is_about or (is_label and not shape("tied").search(between)):
                return []
        if rule.name == "keyed-block":
            start, end = span
            while line := shape("block_line").match(text, end):
                if not is_random(line[0].strip()):
                    break
                end = line.end()
            if (start, end) != span:
                return [(start, end)]
        may_go_on = gate != "assigned" or name.korean or name.certainty == Certainty.PLURAL
        if may_go_on and not stops:
            return [span, *self._continued(span[1], name, rule.gate)]
        return [span]

    def _far(self, name: Name, start: int) -> list[Span]:
        text = self._text
        for match in shape("introducing").finditer(text, start, start + _FAR_CHARS):
            gate = "said" if name.is_password and match["said"] else "random"
            span = self._at(match.end(), match["quote"] or "", name, gate)
            value = text[slice(*span)] if span else ""
            if span and not value.isdigit() and (match["said"] or not is_hex(value)):
                return [span]
            if match["end"]:
                break
        return []

    def _continued(self, end: int, name: Name, gate: str) -> Iterator[Span]:
        is_said = name.is_password and gate in ("said", "bare", "assigned")
        for _ in range(_MOST_CONTINUED):
            joint = shape("continued").match(self._text, end)
            if not joint:
                return
            quote = joint[0][-1] if joint[0][-1] in "\"'`「“‘" else ""
            span = self._at(joint.end(), quote, name, "said" if is_said else "random")
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
            self._head_start, self._names = line_start, 0
        self._names += 1
        if head.lstrip(" ").startswith("|"):
            separator = "|"
        elif "\t" in head.strip():
            separator = "\t"
        elif shape("csv_head").fullmatch(head):
            separator = ","
        else:
            return
        if name.start - line_start > _LINE_CHARS or self._names > _MOST_HEADS:
            return
        if self._names == 1 and line_start < self._table_end:
            self._names = _MOST_HEADS  # a row of a table, not the head of one
            return
        column, empty = text.count(separator, line_start, name.start), 0
        for _ in range(_MOST_ROWS):
            line_start, line_end = line_end + 1, text.find("\n", line_end + 1)
            line_end = len(text) if line_end < 0 else line_end
            cells = text[line_start : min(line_end, line_start + _LINE_CHARS)].split(separator)
            if len(cells) <= column or empty > _MOST_EMPTY_ROWS:
                return
            empty += 1
            self._table_end = line_end
            start = line_start + sum(map(len, cells[:column])) + column
            start += len(cells[column]) - len(cells[column].lstrip(" `*\"'"))
            if cells[column].strip(" -:\r"):
                stops = "," if separator == "," else ""
                if span := _value_at(text, start, "", name, "said", stops=stops):
                    yield span
                    empty = 0
            if line_end == len(text):
                return

    def _at(self, start: int, quote: str, name: Name, gate: str) -> Span | None:
        place = start, quote, gate, name.lead, name.word, name.certainty
        if place not in self._seen:
            self._seen[place] = _value_at(self._text, start, quote, name, gate)
        return self._seen[place]


def _value_at(
    text: str, start: int, quote: str, name: Name, gate: str, *, sign: str = "", stops: str = ""
) -> Span | None:
    """Return the span of the value that begins at `start`, if it looks like the name's.

    stops: characters that end it early.
    """
    end = quoted_end(text, start, quote) if quote else 0
    quoted = end > start
    between = text[name.end : start] if sign == "=" else ""
    if introduced := shape("introduced").match(text, start):
        start = introduced.end()
    if not quoted:
        while text[start : start + 1] in tuple("(<[{*") and gate != "assigned":
            start += 1
        if shape("assigned").match(text, start):
            return None
        end = bare_end(text, start)
    end = min([end, *(at for stop in stops if (at := text.find(stop, start, end)) > 0)])
    if name.is_password and gate == "assigned":
        groups = shape("app_password").match(text, start)
        thought_of = quoted and not name.is_bare_pass
        if groups and is_app_password(groups[0], thought_of=thought_of):
            return groups.span()
    value = text[start:end]
    if not value or is_placeholder(value, quoted=quoted) or _is_id(text, start, value, name, gate):
        return None
    tie = Binding.QUOTED if quoted else _tie_of(text, name, between)
    good = _passes(value, name, gate, tie, following=text[end : end + 4])
    return (start, end) if good or is_phrase(value, name.word, quoted=quoted) else None


def _value_before(text: str, end: int, name: Name, gate: str) -> Span | None:
    """Return the same for the value that ends at `end`."""
    while end and text[end - 1] in _CLOSERS:
        end -= 1
    start = end
    while start > max(0, end - LONGEST_VALUE_CHARS) and "!" <= text[start - 1] <= "~":
        start -= 1
    start = end - len(text[start:end].lstrip(_OPENERS))
    value = text[start:end]
    if not value or is_placeholder(value):
        return None
    return (start, end) if _passes(value, name, gate, Binding.LOOSE, following="") else None


def _tie_of(text: str, name: Name, between: str) -> Binding:
    """Return how a value without quotes is tied. between: `=` with its blanks, else ""."""
    if name.korean:
        is_setting = name.word in sorted_words("placed_names")
    else:
        is_setting = text[name.word_start : name.end].isupper()
        is_setting = is_setting or bool(shape("property").fullmatch(name.lead))
    if between == "=":
        return Binding.SETTING if is_setting else Binding.JOINED
    return Binding.JOINED if between and is_setting else Binding.LOOSE


def _passes(value: str, name: Name, gate: str, tie: Binding, *, following: str) -> bool:
    password = name.is_password
    if name.is_pin:
        value = value.rstrip("#*")
        if value.isdigit() and 4 <= len(value) <= 12:
            return not following.startswith(sorted_words("counters"))
        return is_random(value) or bool(shape("groups").fullmatch(value))
    if name.certainty == Certainty.GENERIC:
        if gate != "assigned" and is_hex(value):
            return False
        return len(value) >= 20 and is_random(value) and not shape("labelled").fullmatch(value)
    if name.certainty == Certainty.PLURAL and not (password and gate != "bare"):
        return is_random(value) and not shape("labelled").fullmatch(value)
    if gate == "assigned" and name.certainty == Certainty.USUAL:
        is_bare = not name.lead or name.word.startswith("cred")
        of_more = is_bare and name.word in word_set("words_of_more")
        words = value.replace("-", "").isalpha() and value.count("-") < _LONG_ROW_HYPHENS
        if of_more and words:
            return False
        return is_likely_secret(value, password, tie)
    if gate in ("assigned", "said") or (gate == "bare" and password):
        return is_certain_secret(value, password, following)
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
