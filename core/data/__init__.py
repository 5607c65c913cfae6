"""Reads tables that the program keeps as data, a line of JSON for each row.

`rules.jsonl` has the formats of secrets. A line is a part, which patterns name as `{{NAME}}`, or a
rule:

- `table`: `platform` and `service` have tokens that name themselves, `place` has places where a
  secret stands, `pair` a user and a password with a mark between them, `keyed` what may stand
  between the name of a secret and its value. Of two rules for one place the earlier line counts.
- `hints`: in lower case; the pattern is tried where one of them stands in the text. Those of a
  `keyed` rule are looked for behind a name, those of `next_to` right behind it; one of `behind`
  must stand before it.
- `pattern`: `{{edge sk-}}` is a prefix that begins a word; before `{{dash sk-}}` no dash stands
  either. In a `keyed` rule `§` is the name, and the value follows the match.
- `group`: of the pattern, the secret; the whole match without it. `before`: the value of a `keyed`
  rule stands before the match. `gate`: how a value must look there; see
  `core/guard/named_values.py`.

Sources, an example and a text that must stay are in `tests/data/rules_examples.jsonl`.
`shapes.jsonl` has what names and values look like, `characters.jsonl` what a character may hide or
stand for: parts and shapes, each shape as alternatives, and letters that look like one of ASCII.
`secret_words.jsonl` has the words that make a name a secret's or none, and those that make a value
none. The fields of `orders.jsonl` are described in `core/guard/injection.py`.
"""

import json
import re
from collections.abc import Sequence
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
    hints: Sequence[str]
    pattern: str
    next_to: Sequence[str] = ()
    behind: Sequence[str] = ()
    group: int = 0
    before: bool = False
    gate: str = ""
    note: str = ""


def data_text(name: str) -> str:
    """Return the text of one of these files."""
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def rows(name: str, folder: Path = _FOLDER) -> tuple[dict[str, Any], ...]:
    """Return the row of each line of `NAME.jsonl`. Raises ValueError with a broken one's number."""
    path = folder / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").rstrip("\n").replace("\n", ",\n")
    try:
        found = tuple(json.loads(f"[{lines}]"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path.name}, line {error.lineno}: {error.msg}") from error
    for number, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise ValueError(f"{path.name}, line {number}: this is no object")
    return found


@cache
def _by_name(table: str, column: str, value: str) -> dict[str, Any]:
    """Return one column of the rows that have another one, by that one."""
    return {row[column]: row[value] for row in rows(table) if column in row}


def spelled(text: str, table: str = "rules") -> str:
    """Return a pattern with the parts and prefixes of its table spelled out, as deep as they go.

    A prefix stands first, so that `re` can skip to it, and the two characters of a line break in a
    quoted text may stand before it.
    """
    parts = _by_name(table, "part", "text")
    while (deeper := re.sub(_PART, lambda found: parts[found[1]], text)) != text:
        text = deeper

    def at_an_edge(found: re.Match[str]) -> str:
        kind, prefix = found.groups()
        inner = r"A-Za-z0-9_\-" if kind == "dash" else "A-Za-z0-9_"
        return rf"{prefix}(?:(?<![{inner}]{prefix})|(?<=\\[nrt]{prefix}))"

    return re.sub(_PREFIX, at_an_edge, text)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern, compiled once: `re` itself keeps fewer."""
    return re.compile(pattern)


@cache
def rules() -> tuple[Rule, ...]:
    """Return the formats of secrets in the order of the file."""
    return tuple(Rule(**row) for row in rows("rules") if "part" not in row)


@cache
def rule_expression(pattern: str) -> re.Pattern[str]:
    """Return the expression of a format that is no `keyed` one."""
    return re.compile(spelled(pattern))


@cache
def shapes(table: str) -> dict[str, str]:
    """Return the pattern of each shape of a table."""
    found = _by_name(table, "shape", "patterns")
    return {name: spelled("|".join(patterns), table) for name, patterns in found.items()}


@cache
def shape(name: str, table: str = "shapes") -> re.Pattern[str]:
    """Return the expression of one shape, of names and values or of another table."""
    return re.compile(shapes(table)[name])


@cache
def word_list(name: str, table: str = "word_lists") -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(_by_name(table, "list", "words")[name].split())


def listed(name: str) -> frozenset[str]:
    """Return the words of one list about secrets."""
    return word_list(name, "secret_words")


@cache
def in_order(name: str) -> tuple[str, ...]:
    """Return the words of one list with `_` for a blank in a word, as `startswith` takes them."""
    return tuple(word.replace("_", " ") for word in sorted(listed(name)))


def word_groups(name: str) -> list[list[str]]:
    """Return the groups of words of a list that has commas between them."""
    return [group.split() for group in _by_name("word_lists", "list", "words")[name].split(",")]
