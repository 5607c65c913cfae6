"""Reads tables that the program keeps as data, a line of JSON for each row.

`rules.jsonl` has the formats of secrets. A line is a part, which patterns name as `{{NAME}}`, or a
rule:

- `table`: `platform` and `service` have tokens that name themselves, `place` has places where a
  secret stands, `pair` a user and a password with a mark between them, `keyed` what may stand
  between the name of a secret and its value. Of two rules for one place the earlier line counts.
- `hints`: in lower case; the pattern is tried where one of them stands in the text. Those of a
  `keyed` rule are looked for near a name: behind it, right behind it (`^`), also before it (`‹`).
- `pattern`: `{{edge sk-}}` is a prefix that begins a word; before `{{dash sk-}}` no dash stands
  either. In a `keyed` rule `§` is the name, and the value follows the match.
- `group`: of the pattern, the secret; the whole match without it. `before`: the value of a `keyed`
  rule stands before the match. `gate`: how a value must look there; see `core/guard/named.py`.

Sources, an example and a text that must stay are in `tests/data/rules_examples.jsonl`.
`shapes.jsonl` has what names and values look like, each shape as alternatives. `secret_words.jsonl`
has the words that make a name a secret's or none, and those that make a value none. The fields of
`orders.jsonl` are described in `core/guard/injection.py`.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

TOKENS = ("platform", "service")  # the tables of tokens

_FOLDER = Path(__file__).parent
_PART = r"\{\{([A-Z0-9_]+)\}\}"
_PREFIX = r"\{\{(edge|dash) ([^{}]+)\}\}"


class Rule(NamedTuple):
    """One format of a secret; see the head of this file."""

    name: str
    table: str
    hints: list[str]
    pattern: str
    group: int = 0
    before: bool = False
    gate: str = ""
    note: str = ""


class RuleTable(NamedTuple):
    """A table of rules. parts: texts by the names under which they stand in others, `{{NAME}}`."""

    parts: Mapping[str, str]
    rows: tuple[dict[str, Any], ...]

    def spelled(self, text: str) -> str:
        """Return a text with each part in the place of its name, as deep as they are nested."""
        while (spelled := re.sub(_PART, lambda it: self.parts[it[1]], text)) != text:
            text = spelled
        return text


def data_text(name: str) -> str:
    """Return the text of one of these files."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def rows(name: str, folder: Path = _FOLDER) -> list[dict[str, Any]]:
    """Return the row of each line of `NAME.jsonl`. Raises ValueError with a broken one's number."""
    path = folder / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").rstrip("\n").replace("\n", ",\n")
    try:
        found: list[dict[str, Any]] = json.loads(f"[{lines}]")
    except json.JSONDecodeError as error:
        raise ValueError(f"{path.name}, line {error.lineno}: {error.msg}") from error
    for number, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise ValueError(f"{path.name}, line {number}: this is no object")
    return found


@cache
def rule_table(name: str) -> RuleTable:
    """Return the rules of a table, whose rows are a part with its text or a rule."""
    found = rows(name)
    parts = {row["part"]: row["text"] for row in found if "part" in row}
    return RuleTable(parts, tuple(row for row in found if "part" not in row))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern, compiled once: `re` itself keeps fewer."""
    return re.compile(pattern)


@cache
def rules() -> tuple[Rule, ...]:
    """Return the formats of secrets in the order of the file."""
    return tuple(Rule(**row) for row in rule_table("rules").rows)


@cache
def rules_of(*tables: str) -> tuple[Rule, ...]:
    """Return the formats of some tables in the order of the file."""
    return tuple(rule for rule in rules() if rule.table in tables)


def spelled(pattern: str) -> str:
    """Return the pattern of a format with its parts and prefixes spelled out for `re`.

    A prefix stands first, so that `re` can skip to it, and the two characters of a line break in a
    quoted text may stand before it.
    """

    def at_an_edge(found: re.Match[str]) -> str:
        kind, prefix = found.groups()
        inner = r"A-Za-z0-9_\-" if kind == "dash" else "A-Za-z0-9_"
        return rf"{prefix}(?:(?<![{inner}]{prefix})|(?<=\\[nrt]{prefix}))"

    return re.sub(_PREFIX, at_an_edge, rule_table("rules").spelled(pattern))


@cache
def rule_expression(pattern: str) -> re.Pattern[str]:
    """Return the expression of a format that is no `keyed` one."""
    return re.compile(spelled(pattern))


@cache
def shape(name: str) -> re.Pattern[str]:
    """Return the expression of one shape of names or values."""
    return re.compile(shapes()[name])


@cache
def shapes() -> dict[str, str]:
    """Return the pattern of each shape."""
    table = rule_table("shapes")
    return {row["shape"]: table.spelled("|".join(row["patterns"])) for row in table.rows}


@cache
def word_list(name: str, table: str = "word_lists") -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(_lists(table)[name].split())


def listed(name: str) -> frozenset[str]:
    """Return the words of one list about secrets."""
    return word_list(name, "secret_words")


@cache
def in_order(name: str) -> tuple[str, ...]:
    """Return the words of one list with `_` for a blank in a word, as `startswith` takes them."""
    return tuple(word.replace("_", " ") for word in sorted(listed(name)))


def word_groups(name: str) -> list[list[str]]:
    """Return the groups of words of a list that has commas between them."""
    return [group.split() for group in _lists("word_lists")[name].split(",")]


@cache
def _lists(table: str) -> dict[str, str]:
    return {row["list"]: row["words"] for row in rows(table)}
