"""Finds the value that belongs to the name of a secret, if it looks like one.

A name is looked for once. Each `keyed` rule of `core/data/rules.jsonl` then says what may stand
between it and a value, and its gate how sure the value must be by its own looks: `assigned` by a
sign, `said` or `bare` in a sentence, `far` or `random` anywhere near.
"""

import re
from collections.abc import Iterator

from core.data import compiled
from core.guard.names import Certainty, KeyedRule, Name, RulesOfText, expressions_of, names_in
from core.guard.rules import Rule, in_order, listed, shape, spelled
from core.guard.values import (
    CLOSERS,
    LONGEST_VALUE_CHARS,
    Tie,
    bare_end,
    is_app_password,
    is_assignment,
    is_certain,
    is_hex,
    is_labelled,
    is_likely,
    is_phrase,
    is_placeholder,
    is_random,
    is_striking,
    quoted_end,
    value_end,
)

Span = tuple[int, int]

_OPENERS = "\"'`(<[{*"
_CLOSERS = "\"'`)>]}*" + "".join(CLOSERS.values())

# Of values: what may stand before them, and what makes of them something else.
_INTRODUCED = r"(?:oauth:|(?i:bearer|basic)[ ])"
_PROPERTY = r"(?!(?:this|self)\.)(?:-D)?[a-z][A-Za-z0-9\-]{0,40}(?:\.[A-Za-z0-9\-]{1,40}){1,8}\."
_GROUPS = r"(?=[A-Za-z\-]{0,24}[0-9])[0-9A-Za-z]{4,6}(?:-[0-9A-Za-z]{4,6}){1,5}"
_OF_A_DIGEST = (
    r"(?i:(?<![a-z])(?:checksum|digest|sha-?[0-9]|md5|etag|fingerprint|integrity|commit|hash|uuid)|"
    r"체크섬|다이제스트|지문|커밋|해시)"
)
_BEFORE_A_DIGEST_CHARS = 80
_DIGEST_CHARS = 32
_OF_A_REQUEST = r"(?i:request|client|idempotency)[_\-]?\Z"  # by such a token a call is repeated
_FINGERPRINT = r"(?=[0-9]{0,40}[A-F])[0-9A-F]{40}"  # of a key that signs
_SIGNER = r"(?:[0-9A-F]{8}){1,2}"  # the end of one, as git's `user.signingkey` has it
_LONG_ROW_HYPHENS = 3  # of a row of words that is no phrase of a sentence

# Of sentences.
_USED_WITH = r"[ ](?:with|using|enter|type|typed|entered|entering|typing)[ ][\"'`]?\Z"
_TYPED_IN = r"[\"'`]?[ ]?(?:을|를|로|으로)[ ](?:입력|치면|치고|접속|로그인|들어가|열|풀)"
_TIED = r"[:?]|값|^(?:은|는|이|가|을|를) "
_ABOUT = r"[ ]?(?:재설정|정책|규칙|검증|테스트|스캔|발송|문서|이력|이슈|길이|해시|버그)"
_CUES = (  # of getting in: beside them a striking value is a password without its name
    r"(?i:log(?:ged|ging)?[ ]?in|sign(?:ed|ing)?[ ]?in|ssh|sudo|unlock|decrypt|wi-?fi|vpn|"
    r"rdp|account|"
    r"prompt|get into)|로그인|접속|계정|와이파이|잠금|열립|들어가|복호화|금고|프롬프트"
)
_WORDS = r"(?<![!-~])[!-~]{7,128}(?![!-~])"
_WORD_CHARS = 129  # and what may not follow it
_NEARBY_CHARS = 160
_INTRODUCING = (  # what may introduce a value later in the sentence, and what ends the search
    r"(?:(?P<end>[.\n;][ \n]|[,{(;][ ]{0,4}\n)|(?P<said>[:=]|,?[ ]e\.g\.|"
    r",?[ ](?:is|was|be|it's|It's)[:]?)|"
    r",?[ ](?:it's|its|It's|enter|type|typed|entered|use|say|try|with|her|him|"
    r"them|me|you|as|to)[:]?|[?](?:[ ]{1,3}(?:A:|[Ii]t's|[Ii]t is))?)[ ]{1,3}{{ROW_QUOTE}}"
)
_FAR_CHARS = 100
_CONTINUED = (  # what stands between two values of one name
    r"[\"'`)\]」”’]{0,2}(?:"
    r",?[ ](?:but |and )?(?:now |then )?(?:the )?(?:new|old|other|second|current) (?:one )"
    r"?(?:is|was) |"
    r"[ ](?:to|with|and|or|into)[ ]|[ ]?(?:→|->|=>|,|/)[ ]?|[ ]또는[ ]|"
    r"(?:이었고|였고|이고|고|말고|대신|에서|이나|나|와|과|이랑|랑|하고)?,?[ ](?:말고 |대신 )"
    r"?(?:지금은 |이제는 |현재는 |새 값은 |새로 )?|"
    r"\r?\n[ \t]{0,12}[\-*][ ])[\"'`「“‘]?"
)
_MOST_CONTINUED = 4  # values that one name may introduce: "changed from … to …"
_SEED = r"(?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8}"

# Of blocks and tables.
_WHOLE_NAMES = "keyed-block", "keyed-heading"  # rules for names without anything odd behind them
_BLOCK_LINE = r"\r?\n[ \t]{1,16}[!-~]{12,200}(?=[ \t]{0,8}(?:\r?\n|$))"
_CSV_HEAD = r"(?:[A-Za-z0-9_가-힣]{1,30},){1,20}[A-Za-z0-9_가-힣]{1,30}\r?"
_LINE_CHARS = 1_000
_MOST_HEADS = 12  # names in one line that may head a column
_MOST_EMPTY_ROWS = 3  # in a row without a secret, and the column holds something else
_MOST_ROWS = 20  # of a table below the name that heads its column

_BEFORE_CHARS = 100  # in which a rule looks for what must stand before a name


def keyed_spans(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    """Yield where values of secret names stand in `text`, each with the name of its rule.

    folded: the text in lower case, where the hints of names are looked for.
    """
    if names := list(names_in(text, folded)):
        yield from _of_names(text, folded, names)
    if any(hint in folded for hint in in_order("cue_hints")):
        cues = [match.span() for match in compiled(_CUES).finditer(text)]
        for start, end in _striking_near(text, cues, named=False) if cues else ():
            yield start, end, "keyed-far"


def _of_names(text: str, folded: str, names: list[Name]) -> Iterator[tuple[int, int, str]]:
    """Yield the values of the names of a text, each with the name of its rule."""
    passwords: list[Span] = []
    values, tables, rules = _Values(text), _Tables(text), RulesOfText(text, folded)
    block_end = 0  # a block of lines is a value as a whole, whatever names it holds
    for name in names:
        if name.start < block_end:
            continue
        if name.is_password and name.certainty != Certainty.UNUSUAL:
            passwords.append((name.start, name.end))
        for keyed in rules.near(name):
            if spans := values.of_rule(name, keyed):
                yield from ((start, end, keyed.rule.name) for start, end in spans)
                block_end = spans[-1][1] if keyed.rule.name == "keyed-block" else 0
                break
        else:
            for start, end in tables.below(name):
                yield start, end, "keyed-table-cell"
    for start, end in _striking_near(text, passwords, named=True):
        yield start, end, "keyed-far"


def _striking_near(text: str, places: list[Span], *, named: bool) -> Iterator[Span]:
    """Yield what can only be a password in the lines of some places.

    named: the places are names of passwords; else they only tell of getting in somewhere.
    """
    looked_to = 0
    for start, end in places:
        line = text.rfind("\n", max(0, start - _NEARBY_CHARS), start) + 1
        first = max(line, start - _NEARBY_CHARS, looked_to)
        last = text.find("\n", end, end + _NEARBY_CHARS)
        looked_to = min(end + _NEARBY_CHARS, len(text)) if last < 0 else last
        for match in compiled(_WORDS).finditer(text, first, looked_to + _WORD_CHARS):
            if match.start() >= looked_to:
                break
            word_start = match.end() - len(match[0].lstrip(_OPENERS))
            word_end = value_end(text, word_start, "")
            known = named or _is_used(text, word_start, word_end)
            if is_striking(text[word_start:word_end], named=known):
                yield word_start, word_end


def _is_used(text: str, start: int, end: int) -> bool:
    """Return whether a sentence says that the value from `start` to `end` is typed in somewhere."""
    before = compiled(_USED_WITH).search(text, max(0, start - 16), start)
    return bool(before or compiled(_TYPED_IN).match(text, end))


class _Tables:
    """The tables of a text, of Markdown or with tabs or commas; it keeps where the last one is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._head_start, self._names, self._end = -1, 0, 0  # names: of secrets in the head

    def below(self, name: Name) -> Iterator[Span]:
        """Yield the values below a name that heads a column."""
        text = self._text
        line_start = text.rfind("\n", max(0, name.start - _LINE_CHARS), name.start) + 1
        line_end = text.find("\n", name.end, name.end + _LINE_CHARS)
        separator = _separator(text[line_start : max(line_end, 0)])
        if line_start != self._head_start:
            self._head_start, self._names = line_start, 0
        self._names += 1
        is_far = name.start - line_start > _LINE_CHARS
        if not separator or is_far or self._names > _MOST_HEADS:
            return
        if self._names == 1 and line_start < self._end:
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
            self._end = line_end
            start = line_start + sum(map(len, cells[:column])) + column
            start += len(cells[column]) - len(cells[column].lstrip(" `*\"'"))
            if cells[column].strip(" -:\r"):
                stops = "," if separator == "," else ""
                if span := _value_at(text, start, "", name, "said", stops=stops):
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


class _Values:
    """The values of the names of one text; for equal names a place is judged once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._seen: dict[tuple[int, str, str, str, str, Certainty], Span | None] = {}

    def of_rule(self, name: Name, keyed: KeyedRule) -> list[Span]:
        """Return the values that one rule finds at a name."""
        text, rule = self._text, keyed.rule
        before, after = expressions_of(rule)
        following = after.match(text, name.end)
        if not following:
            return []
        if rule.name in _WHOLE_NAMES and name.certainty == Certainty.UNUSUAL:
            return []
        if rule.gate == "far":
            return self._far(name, following.end())
        if rule.gate != "assigned" and name.is_bare_pass(text):
            return []
        if not (name.korean or rule.before) and rule.name.startswith("keyed-korean"):
            particle = following[0].lstrip("\"'`*」』)”’]")[:1]
            if not "가" <= particle <= "힣":
                return []
        if before:
            first = max(0, name.word_start - _BEFORE_CHARS)
            preceding = before.search(text, first, name.word_start)
            if not preceding:
                return []
            if rule.before:
                span = _value_before(text, preceding.start(), name, rule.gate)
                return [span] if span else []
        return self._behind(following, name, rule)

    def _behind(self, match: re.Match[str], name: Name, rule: Rule) -> list[Span]:
        """Return the values that stand behind what a rule matched behind a name."""
        text, start, groups = self._text, match.end(), match.groupdict()
        quote = groups.get("quote") or groups.get("quote2") or ""
        if name.is_phrase and (seed := compiled(_SEED).match(text, start)):
            return [seed.span()]
        is_far = rule.name == "keyed-korean-far"
        is_told = is_far and name.is_password and match[0].endswith(": ")
        gate = "said" if is_told or groups.get("wrap") else rule.gate
        stops = ",;\t" if rule.name == "keyed-field" else ""
        sign = groups.get("sign") or ""
        span = _value_at(text, start, quote, name, gate, sign=sign, stops=stops)
        if not span or (is_far and not _is_introduced(match[0], text[slice(*span)])):
            return []
        if stops:
            return [span]
        if rule.name == "keyed-block" and (whole := _whole_block(text, span)) != span:
            return [whole]
        if gate != "assigned" or name.korean or name.certainty == Certainty.PLURAL:
            return [span, *self._continued(span[1], name, rule.gate)]
        return [span]

    def _far(self, name: Name, start: int) -> list[Span]:
        """Return the value that one of the next words of the sentence introduces, if one does."""
        text = self._text
        introducing = compiled(spelled(_INTRODUCING))
        for match in introducing.finditer(text, start, start + _FAR_CHARS):
            gate = "said" if name.is_password and match["said"] else "random"
            span = self._at(match.end(), match["quote"] or "", name, gate)
            value = text[slice(*span)] if span else ""
            if span and not value.isdigit() and (match["said"] or not is_hex(value)):
                return [span]
            if match["end"]:
                break
        return []

    def _continued(self, end: int, name: Name, gate: str) -> Iterator[Span]:
        """Yield the further values of a name whose first one ends at `end`."""
        is_said = name.is_password and gate in ("said", "bare", "assigned")
        for _ in range(_MOST_CONTINUED):
            joint = compiled(_CONTINUED).match(self._text, end)
            if not joint:
                return
            quote = joint[0][-1] if joint[0][-1] in "\"'`「“‘" else ""
            span = self._at(joint.end(), quote, name, "said" if is_said else "random")
            if not span:
                return
            yield span
            end = span[1]

    def _at(self, start: int, quote: str, name: Name, gate: str) -> Span | None:
        lead = self._text[name.start : name.word_start]
        place = start, quote, gate, lead, name.word, name.certainty
        if place not in self._seen:
            self._seen[place] = _value_at(self._text, start, quote, name, gate)
        return self._seen[place]


def _whole_block(text: str, span: Span) -> Span:
    """Return where a value ends with the lines below it that look like more of it."""
    end = span[1]
    while line := compiled(_BLOCK_LINE).match(text, end):
        if not is_random(line[0].strip()):
            break
        end = line.end()
    return span[0], end


def _is_introduced(between: str, value: str) -> bool:
    """Return whether what stands between a Korean name and a value ties the two together.

    Words alone may be about the name, with the id of anything behind them.
    """
    if compiled(_ABOUT).match(between) and between[-2:] != ": ":
        return False
    tied = bool(compiled(_TIED).search(between))
    return tied or not (is_hex(value) or is_labelled(value))


def _value_at(
    text: str, start: int, quote: str, name: Name, gate: str, *, sign: str = "", stops: str = ""
) -> Span | None:
    """Return where the value that begins at `start` stands, if it looks like the name's.

    sign: what assigns it. stops: characters that end it earlier than its looks.
    """
    end = quoted_end(text, start, quote) if quote else 0
    quoted = end > start
    between = text[name.end : start] if sign == "=" else ""
    if introduced := compiled(_INTRODUCED).match(text, start):
        start = introduced.end()
    if not quoted:
        while text[start : start + 1] in tuple("(<[{*") and gate != "assigned":
            start += 1
        if is_assignment(text, start):
            return None
        end = bare_end(text, start)
    end = min([end, *(at for stop in stops if (at := text.find(stop, start, end)) > 0)])
    if name.is_password and gate == "assigned":
        groups = shape("app_password").match(text, start)
        thought_of = quoted and not name.is_bare_pass(text)
        if groups and is_app_password(groups[0], thought_of=thought_of):
            return groups.span()
    value = text[start:end]
    if not value or is_placeholder(value, quoted=quoted) or _is_id(text, start, value, name, gate):
        return None
    tie = Tie.QUOTED if quoted else _tie_of(text, name, between)
    good = _passes(value, name, gate, tie, following=text[end : end + 4])
    return (start, end) if good or is_phrase(value, name.word, quoted=quoted) else None


def _value_before(text: str, end: int, name: Name, gate: str) -> Span | None:
    """Return where the value that ends at `end` stands, if it looks like the name's."""
    while end and text[end - 1] in _CLOSERS:
        end -= 1
    start = end
    while start > max(0, end - LONGEST_VALUE_CHARS) and "!" <= text[start - 1] <= "~":
        start -= 1
    start = end - len(text[start:end].lstrip(_OPENERS))
    value = text[start:end]
    if not value or is_placeholder(value):
        return None
    return (start, end) if _passes(value, name, gate, Tie.LOOSE, following="") else None


def _tie_of(text: str, name: Name, between: str) -> Tie:
    """Return how a value without quotes is tied to its name.

    between: `=` with its blanks, or nothing where another sign or none stands there.
    """
    if name.korean:
        is_setting = name.word in in_order("placed_names")
    else:
        lead, word = text[name.start : name.word_start], text[name.word_start : name.end]
        is_setting = word.isupper() or bool(compiled(_PROPERTY).fullmatch(lead))
    if between == "=":
        return Tie.SETTING if is_setting else Tie.JOINED
    return Tie.JOINED if between and is_setting else Tie.LOOSE


def _passes(value: str, name: Name, gate: str, tie: Tie, *, following: str) -> bool:
    """Return whether a value looks as its name and the gate of the rule want it."""
    password = name.is_password
    if name.is_pin:
        value = value.rstrip("#*")
        if value.isdigit() and 4 <= len(value) <= 12:
            return not following.startswith(in_order("counters"))
        return is_random(value) or bool(compiled(_GROUPS).fullmatch(value))
    if name.certainty == Certainty.GENERIC:
        if gate != "assigned" and is_hex(value):
            return False
        return len(value) >= 20 and is_random(value) and not is_labelled(value)
    if name.certainty == Certainty.PLURAL and not (password and gate != "bare"):
        return is_random(value) and not is_labelled(value)
    if gate == "assigned" and name.certainty == Certainty.USUAL:
        is_bare = name.start == name.word_start or name.word.startswith("cred")
        of_more = is_bare and name.word in listed("words_of_more")
        words = value.replace("-", "").isalpha() and value.count("-") < _LONG_ROW_HYPHENS
        if of_more and words:
            return False
        return is_likely(value, password, tie)
    if gate in ("assigned", "said") or (gate == "bare" and password):
        return is_certain(value, password, following)
    return is_random(value)


def _is_id(text: str, start: int, value: str, name: Name, gate: str) -> bool:
    """Return whether the value at `start` is a digest of its line or the id of a request."""
    if not is_hex(value):
        return False
    lead = text[name.start : name.word_start]
    if name.word == "token" and "-" in value and compiled(_OF_A_REQUEST).search(lead):
        return True
    if name.word == "key" and compiled(_FINGERPRINT).fullmatch(value):
        return True
    if name.word == "key" and lead.endswith("signing") and compiled(_SIGNER).fullmatch(value):
        return True
    if gate not in ("random", "said", "bare") or len(value) < _DIGEST_CHARS:
        return False
    line = text[max(0, start - _BEFORE_A_DIGEST_CHARS) : start].rpartition("\n")[2]
    return compiled(_OF_A_DIGEST).search(line) is not None
