"""Finds the value that belongs to the name of a secret, if it looks like one.

It looks for a name once; each `keyed` rule then says what may stand between it and a value.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.secrets.gates import OPENERS, Span, is_introduced, is_used, value_at, value_before
from core.secrets.named_rows import RowsOfText
from core.secrets.names import PLURAL, UNUSUAL, Name, names_in
from core.secrets.rules import Rule, compiled, spelled
from core.secrets.value_ends import value_end
from core.secrets.values import is_hex, is_random, is_striking

_NEARBY = 160
_WORDS = r"(?<![!-~])[!-~]{7,128}(?![!-~])"
_LONGEST_WORD = 129  # and what may not follow it
_WINDOW = 100
_FAR = 100
_WIDEST = 1_000
_CSV_HEAD = r"(?:[A-Za-z0-9_가-힣]{1,30},){1,20}[A-Za-z0-9_가-힣]{1,30}\r?"
_WHOLE_NAMES = "keyed-block", "keyed-heading"
_HEADS = 12  # names in one line that may head a column
_EMPTY_ROWS = 3  # in a row without a secret, and the column holds something else
_ROWS = 20  # of a table below the name that heads its column
_MORE = 4  # values that one name may introduce: "changed from … to …"
_CONTINUED = (  # what stands between two values of one name
    r"[\"'`)\]」”’]{0,2}(?:"
    r",?[ ](?:but |and )?(?:now |then )?(?:the )?(?:new|old|other|second|current) (?:one )"
    r"?(?:is|was) |"
    r"[ ](?:to|with|and|or|into)[ ]|[ ]?(?:→|->|=>|,|/)[ ]?|[ ]또는[ ]|"
    r"(?:이었고|였고|이고|고|말고|대신|에서|이나|나|와|과|이랑|랑|하고)?,?[ ](?:말고 |대신 )"
    r"?(?:지금은 |이제는 |현재는 |새 값은 |새로 )?|"
    r"\r?\n[ \t]{0,12}[\-*][ ])[\"'`「“‘]?"
)
_SEED = r"(?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8}"
_BLOCK_LINE = r"\r?\n[ \t]{1,16}[!-~]{12,200}(?=[ \t]{0,8}(?:\r?\n|$))"

# What may introduce a value later in the sentence, and what ends the search for it.
_INTRODUCING = (
    r"(?:(?P<end>[.\n;][ \n]|[,{(;][ ]{0,4}\n)|(?P<said>[:=]|,?[ ]e\.g\.|"
    r",?[ ](?:is|was|be|it's|It's)[:]?)|"
    r",?[ ](?:it's|its|It's|enter|type|typed|entered|use|say|try|with|her|him|"
    r"them|me|you|as|to)[:]?|[?](?:[ ]{1,3}(?:A:|[Ii]t's|[Ii]t is))?)[ ]{1,3}{{ROW_QUOTE}}"
)
# Words that tell of getting in: beside them a striking value is a password without its name.
_CUES = (
    r"(?i:log(?:ged|ging)?[ ]?in|sign(?:ed|ing)?[ ]?in|ssh|sudo|unlock|decrypt|wi-?fi|vpn|"
    r"rdp|account|"
    r"prompt|get into)|로그인|접속|계정|와이파이|잠금|열립|들어가|복호화|금고|프롬프트"
)
_CUE_HINTS = (
    *("log in", "logged in", "logging in", "sign in", "signed in", "get into"),
    *"login ssh sudo unlock decrypt wifi wi-fi vpn rdp account prompt".split(),
    *"로그인 접속 계정 와이파이 잠금 열립 들어가 복호화 금고 프롬프트".split(),
)

# What was found at a place, by the place, its quote, the gate and the name in two parts.
_SeenValues = dict[tuple[int, str, str, str, str, int], Span | None]


def keyed_spans(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    """Yield where values of secret names stand in `text`, each with the name of its rule.

    folded: the text in lower case, where the hints of names are looked for.
    """
    passwords: list[Name] = []
    table = _Table()
    rows = RowsOfText(text, folded)
    seen: _SeenValues = {}
    read_to = 0  # a block of lines is a value as a whole, whatever names it holds
    for name in names_in(text, folded):
        if name.start < read_to:
            continue
        if name.is_password and name.certainty != UNUSUAL:
            passwords.append(name)
        for rule, before, after in rows.near(name):
            spans = _values(text, name, rule, before, after, seen)
            if spans:
                yield from ((start, end, rule.name) for start, end in spans)
                read_to = spans[-1][1] if rule.name == "keyed-block" else 0
                break
        else:
            for start, end in _column_values(text, name, table):
                yield start, end, "keyed-table-cell"
    for start, end in _striking_values(text, folded, passwords):
        yield start, end, "keyed-far"


def _striking_values(text: str, folded: str, passwords: list[Name]) -> Iterator[Span]:
    """Yield what can only be a password in a line that speaks of one, or of getting in."""
    yield from _striking_near(text, [(name.start, name.end) for name in passwords], named=True)
    if any(hint in folded for hint in _CUE_HINTS):
        places = [match.span() for match in compiled(_CUES).finditer(text)]
        yield from _striking_near(text, places, named=False)


def _striking_near(text: str, places: list[Span], *, named: bool) -> Iterator[Span]:
    looked_to = 0
    for start, end in places:
        first = max(
            text.rfind("\n", max(0, start - _NEARBY), start) + 1, start - _NEARBY, looked_to, 0
        )
        last = text.find("\n", end, end + _NEARBY)
        looked_to = min(end + _NEARBY, len(text)) if last < 0 else last
        for match in compiled(_WORDS).finditer(text, first, looked_to + _LONGEST_WORD):
            if match.start() >= looked_to:
                break
            word_start = match.start() + len(match[0]) - len(match[0].lstrip(OPENERS))
            word_end = value_end(text, word_start, "")
            known = named or is_used(text, word_start, word_end)
            if is_striking(text[word_start:word_end], named=known):
                yield word_start, word_end


@dataclass(slots=True)
class _Table:
    """The table that was read last: where its head begins, how many names of it, where it ends."""

    head: int = -1
    names: int = 0
    end: int = 0


def _column_values(text: str, name: Name, table: _Table) -> Iterator[Span]:
    """Yield the values below a name that heads a column, of Markdown or with tabs or commas."""
    line_start = text.rfind("\n", max(0, name.start - _WIDEST), name.start) + 1
    line_end = text.find("\n", name.end, name.end + _WIDEST)
    head = text[line_start : max(line_end, 0)]
    separator = _separator(head)
    if line_start != table.head:
        table.head, table.names = line_start, 0
    table.names += 1
    if not separator or name.start - line_start > _WIDEST or table.names > _HEADS:
        return
    if table.names == 1 and line_start < table.end:
        table.names = _HEADS  # a row of a table, not the head of one
        return
    column, empty = text.count(separator, line_start, name.start), 0
    for _ in range(_ROWS):
        line_start, line_end = line_end + 1, text.find("\n", line_end + 1)
        line_end = len(text) if line_end < 0 else line_end
        cells = text[line_start : min(line_end, line_start + _WIDEST)].split(separator)
        if len(cells) <= column or empty > _EMPTY_ROWS:
            return
        empty += 1
        table.end = line_end
        start = line_start + sum(map(len, cells[:column])) + column
        start += len(cells[column]) - len(cells[column].lstrip(" `*\"'"))
        if cells[column].strip(" -:\r"):
            stops = "," if separator == "," else ""
            if span := value_at(text, start, "", name, "said", "", stops):
                yield span
                empty = 0
        if line_end == len(text):
            return


def _separator(head: str) -> str:
    """Return what stands between the cells of a line that may head a table, or nothing."""
    if head.lstrip(" ").startswith("|"):
        return "|"
    if "\t" in head.strip():
        return "\t"
    return "," if compiled(_CSV_HEAD).fullmatch(head) else ""


def _values(
    text: str,
    name: Name,
    rule: Rule,
    before: re.Pattern[str] | None,
    after: re.Pattern[str],
    seen: _SeenValues,
) -> list[Span]:
    """Return the values that one rule finds at a name."""
    following = after.match(text, name.end)
    if not following or (rule.name in _WHOLE_NAMES and name.certainty == UNUSUAL):
        return []
    if rule.gate == "far":
        return _far_values(text, name, following, seen)
    if rule.gate != "assigned" and name.is_bare_pass(text):
        return []
    if _lacks_particle(following[0], name, rule):
        return []
    if before:
        preceding = before.search(text, max(0, name.word_start - _WINDOW), name.word_start)
        if not preceding:
            return []
        if rule.before:
            span = value_before(text, preceding.start(), name, rule.gate)
            return [span] if span else []
    return _values_after(text, following, name, rule, seen)


def _lacks_particle(following: str, name: Name, rule: Rule) -> bool:
    """Return whether a rule of Korean prose meets an English name without its particle."""
    if name.korean or rule.before or not rule.name.startswith("keyed-korean"):
        return False
    return not "가" <= following.lstrip("\"'`*」』)”’]")[:1] <= "힣"


def _value_once(
    text: str, start: int, quote: str, name: Name, gate: str, seen: _SeenValues
) -> Span | None:
    """Return what `value_at` does; seen: what it returned at the same place for names before."""
    lead = text[name.start : name.word_start]
    place = start, quote, gate, lead, name.word, name.certainty
    if place not in seen:
        seen[place] = value_at(text, start, quote, name, gate)
    return seen[place]


def _far_values(text: str, name: Name, first: re.Match[str], seen: _SeenValues) -> list[Span]:
    """Return the value that one of the next words of the sentence introduces, if one does."""
    for match in compiled(spelled(_INTRODUCING)).finditer(text, first.end(), first.end() + _FAR):
        gate = "said" if name.is_password and match["said"] else "random"
        span = _value_once(text, match.end(), match["quote"] or "", name, gate, seen)
        value = text[slice(*span)] if span else ""
        if span and not value.isdigit() and (match["said"] or not is_hex(value)):
            return [span]
        if match["end"]:
            break
    return []


def _values_after(
    text: str, match: re.Match[str], name: Name, rule: Rule, seen: _SeenValues
) -> list[Span]:
    groups = match.groupdict()
    quote = groups.get("quote") or groups.get("quote2") or ""
    start = match.end()
    if name.is_phrase:
        seed = compiled(_SEED).match(text, start)
        if seed:
            return [seed.span()]
    told = rule.name == "keyed-korean-far" and name.is_password and match[0].endswith(": ")
    gate = "said" if told or groups.get("wrap") else rule.gate
    sign = groups.get("sign") or ""
    stops = ",;\t" if rule.name == "keyed-field" else ""
    span = value_at(text, start, quote, name, gate, sign, stops)
    if not span:
        return []
    if rule.name == "keyed-korean-far" and not is_introduced(match[0], text[slice(*span)]):
        return []
    if stops:
        return [span]
    spans = [span]
    if rule.name == "keyed-block" and (whole := _whole_block(text, span)) != span:
        return [whole]
    if gate != "assigned" or name.korean or name.certainty == PLURAL:
        spans += _further_values(text, span[1], name, rule.gate, seen)
    return spans


def _whole_block(text: str, span: Span) -> Span:
    end = span[1]
    while line := compiled(_BLOCK_LINE).match(text, end):
        if not is_random(line[0].strip()):
            break
        end = line.end()
    return span[0], end


def _further_values(text: str, end: int, name: Name, gate: str, seen: _SeenValues) -> list[Span]:
    gate = "said" if name.is_password and gate in ("said", "bare", "assigned") else "random"
    spans: list[Span] = []
    for _ in range(_MORE):
        joint = compiled(_CONTINUED).match(text, end)
        if not joint:
            break
        quote = joint[0][-1] if joint[0][-1] in "\"'`「“‘" else ""
        span = _value_once(text, joint.end(), quote, name, gate, seen)
        if not span:
            break
        spans.append(span)
        end = span[1]
    return spans
