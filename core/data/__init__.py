"""Reads tables that the program keeps as data, a line of JSON for each row."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = Path(__file__).parent
_PART = r"\{\{([A-Z0-9_]+)\}\}"


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
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern, compiled once: `re` itself keeps fewer."""
    return re.compile(pattern)


@cache
def word_list(name: str, table: str = "word_lists") -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(_lists(table)[name].split())


def word_groups(name: str) -> list[list[str]]:
    """Return the groups of words of a list that has commas between them."""
    return [group.split() for group in _lists("word_lists")[name].split(",")]


@cache
def _lists(table: str) -> dict[str, str]:
    return {row["list"]: row["words"] for row in rows(table)}


class RuleTable(NamedTuple):
    """A table of rules. parts: texts by the names under which they stand in others, `{{NAME}}`."""

    parts: Mapping[str, str]
    rows: tuple[dict[str, Any], ...]

    def spelled(self, text: str) -> str:
        """Return a text with each part in the place of its name, as deep as they are nested."""
        while (spelled := re.sub(_PART, lambda it: self.parts[it[1]], text)) != text:
            text = spelled
        return text


@cache
def rule_table(name: str) -> RuleTable:
    """Return the rules of a table, whose rows are a part with its text or a rule."""
    found = rows(name)
    parts = {row["part"]: row["text"] for row in found if "part" in row}
    return RuleTable(parts, tuple(row for row in found if "part" not in row))
