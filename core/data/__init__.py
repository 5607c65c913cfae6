"""Reads the tables of the program: a row of each is one line of JSON in a file beside this one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


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
