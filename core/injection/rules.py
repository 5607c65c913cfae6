"""The orders to a model that are known: one rule a line of `core/data/orders.jsonl`.

A line of the file is a part, which patterns and words name as `{{NAME}}`, or a rule:

- `mark`: what a text with it gets. `hints`: the pattern is tried where one of them occurs; they are
  words, as blanks vary.
- `pattern`: for lower-case text. ` ` stands for the blanks and emphasis between two words, `·` for
  the same or nothing (Korean is spaced freely), `‹` and `›` for the borders of an English word.
- `unless`: what makes a place innocent, right before it and within its sentence.
- `needs`: words without which the rule cannot match, so that a look at them is enough for most
  texts. It lists groups, of each of which one word stands in the text in any order; where several
  lists are given, one of them holds. `+` is what parts two words.
"""

from functools import cache
from typing import Any, NamedTuple

from core.data import rule_table

MARKS: tuple[str, ...] = ("override", "role", "tool-call", "hidden-text")
OVERRIDE, ROLE, TOOL_CALL, HIDDEN_TEXT = MARKS

Needs = tuple[str, ...]  # groups of words, parted by blanks


class Rule(NamedTuple):
    """One kind of order; see the head of this file."""

    mark: str
    hints: tuple[str, ...]
    pattern: str
    unless: str
    needs: tuple[Needs, ...]


@cache
def orders() -> tuple[Rule, ...]:
    """Return all rules, with the parts of their words spelled out."""
    return tuple(map(_rule, rule_table("orders").rows))


def spelled(text: str) -> str:
    """Return a pattern or words with their parts spelled out."""
    return rule_table("orders").spelled(text)


def _rule(line: dict[str, Any]) -> Rule:
    needs = tuple(tuple(spelled(group) for group in groups) for groups in line["needs"])
    hints, unless = tuple(line["hints"]), line.get("unless", "")
    return Rule(line["mark"], hints, line["pattern"], unless, needs)
