"""Reads the tables that the program keeps as data, a line of JSON for each row.

A row of `rules.jsonl`, the formats of secrets, is a part, which patterns name as `{{NAME}}`, or a
rule:

- `table`: `platform` and `service` for tokens that name themselves, `place` for the place of a
  secret, `pair` for a user and a password, `keyed` for text between the name of a secret and its
  value. Of two rules for one place the earlier counts.
- `hints`: in lower case; the pattern is tried where one stands. A `keyed` rule has `hints` behind
  the name, `next_to` right behind it, `behind` before it.
- `pattern`: `{{edge sk-}}` is a prefix that begins a word; before `{{dash sk-}}` no dash stands
  either. In a `keyed` rule `§` is the name, and the value follows the match.
- `group`: the secret, 0 for the whole match. `before`: a `keyed` value stands before the match.
  `gate`: how the value must look; see `core/guard/named_values.py`.

Sources and examples: `tests/data/rules_examples.jsonl`. `shapes.jsonl`: the looks of names and
values, as alternatives. `characters.jsonl`: characters that hide or stand for others.
`secret_words.jsonl`: words that make a name a secret's or none, or a value none. `orders.jsonl`:
see `core/guard/injection.py`.
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
    """See the head of this file."""

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
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def rows(name: str, folder: Path = _FOLDER) -> tuple[dict[str, Any], ...]:
    """Return the rows of `NAME.jsonl`. Raises ValueError with the number of a broken line."""
    path = folder / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").rstrip("\n").replace("\n", ",\n")
    try:
        table_rows = tuple(json.loads(f"[{lines}]"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path.name}, line {error.lineno}: {error.msg}") from error
    for number, row in enumerate(table_rows, 1):
        if not isinstance(row, dict):
            raise ValueError(f"{path.name}, line {number}: this is no object")
    return table_rows


@cache
def _by_name(table: str, column: str, value: str) -> dict[str, Any]:
    return {row[column]: row[value] for row in rows(table) if column in row}


def with_parts(text: str, table: str = "rules") -> str:
    """Return a pattern with the parts and prefixes of its table spelled out.

    A prefix stands first, so that `re` skips to it.
    """
    parts = _by_name(table, "part", "text")
    while (new_text := re.sub(_PART, lambda match: parts[match[1]], text)) != text:
        text = new_text

    def edge_pattern(match: re.Match[str]) -> str:
        kind, prefix = match.groups()
        inner = r"A-Za-z0-9_\-" if kind == "dash" else "A-Za-z0-9_"
        return rf"{prefix}(?:(?<![{inner}]{prefix})|(?<=\\[nrt]{prefix}))"

    return re.sub(_PREFIX, edge_pattern, text)


@cache
def expression_of(pattern: str) -> re.Pattern[str]:
    """Compile once; `re` keeps fewer."""
    return re.compile(pattern)


@cache
def rules() -> tuple[Rule, ...]:
    return tuple(Rule(**row) for row in rows("rules") if "part" not in row)


@cache
def rule_expression(pattern: str) -> re.Pattern[str]:
    """Return the expression of a rule that is not `keyed`."""
    return re.compile(with_parts(pattern))


@cache
def shapes(table: str) -> dict[str, str]:
    lists = _by_name(table, "shape", "patterns")
    return {name: with_parts("|".join(patterns), table) for name, patterns in lists.items()}


@cache
def shape(name: str, table: str = "shapes") -> re.Pattern[str]:
    return re.compile(shapes(table)[name])


@cache
def word_list(name: str, table: str = "word_lists") -> frozenset[str]:
    return frozenset(_by_name(table, "list", "words")[name].split())


def word_set(name: str) -> frozenset[str]:
    return word_list(name, "secret_words")


@cache
def sorted_words(name: str) -> tuple[str, ...]:
    """Return a list's words, sorted, with blanks for `_`, as `startswith` takes them."""
    return tuple(word.replace("_", " ") for word in sorted(word_set(name)))


def word_groups(name: str) -> list[list[str]]:
    """Commas part the groups."""
    return [group.split() for group in _by_name("word_lists", "list", "words")[name].split(",")]
