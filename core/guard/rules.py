"""The tables of the redactor: the formats of secrets, lists of words, and shapes of values.

`core/data/rules.jsonl` has the formats. A line is a part, which patterns name as `{{NAME}}`, or a
rule:

- `table`: `platform` and `service` have tokens that name themselves, `place` has places where a
  secret stands, `pair` a user and a password with a mark between them, `keyed` what may stand
  between the name of a secret and its value. Of two rules for one place the earlier line counts.
- `hints`: in lower case; the pattern is tried where one of them stands in the text. Those of a
  `keyed` rule are looked for near a name: behind it, right behind it (`^`), also before it (`‹`).
- `pattern`: `{{edge sk-}}` is a prefix that begins a word; before `{{dash sk-}}` no dash stands
  either. In a `keyed` rule `§` is the name, and the value follows the match.
- `group`: of the pattern, the secret; the whole match without it. `before`: the value of a `keyed`
  rule stands before the match. `gate`: how a value must look there; see `named.py`.

Sources, an example and a text that must stay are in `tests/data/rules_examples.jsonl`.
`core/data/secret_words.jsonl` has the words that make a name a secret's or none, and those that
make a value none. `core/data/value_shapes.jsonl` has what values look like, each shape as
alternatives.
"""

import re
from functools import cache
from typing import Any, NamedTuple

from core.data import compiled, rule_table, word_list

TOKENS = ("platform", "service")  # the tables of tokens

_PREFIX = r"\{\{(edge|dash) ([^{}]+)\}\}"


class Rule(NamedTuple):
    """One format of a secret; see the head of this file."""

    name: str
    table: str
    hints: tuple[str, ...]
    pattern: str
    group: int = 0
    before: bool = False
    gate: str = ""


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules in the order of the file."""
    return tuple(map(_rule, rule_table("rules").rows))


def _rule(row: dict[str, Any]) -> Rule:
    fields = {name: value for name, value in row.items() if name != "note"}
    return Rule(**{**fields, "hints": tuple(row["hints"])})


@cache
def rules_of(*tables: str) -> tuple[Rule, ...]:
    """Return the rules of some tables in the order of the file."""
    return tuple(rule for rule in rules() if rule.table in tables)


@cache
def spelled(pattern: str) -> str:
    """Return the pattern of a rule with its parts and prefixes spelled out for `re`."""
    return re.sub(_PREFIX, _at_an_edge, rule_table("rules").spelled(pattern))


@cache
def rule_expression(rule: Rule) -> re.Pattern[str]:
    """Return the expression of a rule that is no `keyed` one."""
    return re.compile(spelled(rule.pattern))


def _at_an_edge(found: re.Match[str]) -> str:
    """Return a pattern for a prefix that begins a word.

    The prefix stands first, so that `re` can skip to it, and the two characters of a line break in
    a quoted text may stand before it.
    """
    kind, prefix = found.groups()
    inner = r"A-Za-z0-9_\-" if kind == "dash" else "A-Za-z0-9_"
    return rf"{prefix}(?:(?<![{inner}]{prefix})|(?<=\\[nrt]{prefix}))"


@cache
def shape(name: str) -> re.Pattern[str]:
    """Return the expression of one shape of values."""
    return compiled(shapes()[name])


@cache
def shapes() -> dict[str, str]:
    """Return the pattern of each shape of values."""
    table = rule_table("value_shapes")
    return {row["shape"]: table.spelled("|".join(row["patterns"])) for row in table.rows}


def listed(name: str) -> frozenset[str]:
    """Return the words of one list."""
    return word_list(name, "secret_words")


@cache
def in_order(name: str) -> tuple[str, ...]:
    """Return the words of one list with `_` for a blank in a word, as `startswith` takes them."""
    return tuple(word.replace("_", " ") for word in sorted(listed(name)))
