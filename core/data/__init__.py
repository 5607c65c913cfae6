"""Reads what the program keeps as data: sentences, and tables with a line of JSON for each row."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = Path(__file__).parent
ANSWERS = str(_FOLDER / "words.{lang}.answers.json")  # what a model reads
PEOPLE = str(_FOLDER / "words.{lang}.people.json")
_PART = r"\{\{([A-Z0-9_]+)\}\}"


def rows(name: str, folder: Path = _FOLDER) -> Iterator[dict[str, Any]]:
    """Yield the row of each line of `NAME.jsonl`. Raises ValueError with a broken one's number."""
    path = folder / f"{name}.jsonl"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path.name}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise ValueError(f"{path.name}, line {number}: this is no object")
        yield row


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
    found = list(rows(name))
    parts = {row["part"]: row["text"] for row in found if "part" in row}
    return RuleTable(parts, tuple(row for row in found if "part" not in row))


class Sentences(Mapping[str, tuple[str, str]]):
    """One table of sentences in English and Korean, read from their files where one is asked for.

    table: with which the keys of its sentences begin there. files: their path, `{lang}` for the
    language.

        WORDS = Sentences("doctor", PEOPLE)
        WORDS["healthy"]  # of "doctor.healthy": ("…", "…")
    """

    def __init__(self, table: str, files: str) -> None:
        self._table, self._files = f"{table}.", files

    def template(self, lang: str, key: str) -> str:
        """Return a sentence with its placeholders, in one language. Raises KeyError."""
        return _sentences(self._files.format(lang=lang))[f"{self._table}{key}"]

    def __getitem__(self, key: str) -> tuple[str, str]:
        return self.template("en", key), self.template("ko", key)

    def __contains__(self, key: object) -> bool:
        return f"{self._table}{key}" in _sentences(self._files.format(lang="en"))

    def __iter__(self) -> Iterator[str]:
        names = _sentences(self._files.format(lang="en"))
        return (it.removeprefix(self._table) for it in names if it.startswith(self._table))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def beside(folder: Path) -> str:
    """Return the path of the sentences that lie in a room's folder."""
    return str(folder / "words.{lang}.json")


@cache
def _sentences(path: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
    return found
