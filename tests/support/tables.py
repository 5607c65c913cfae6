"""Reads a table or a text of tests/data, and fails a test with all bad rows at once."""

import json
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"


def table(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def text_of(name: str, **facts: object) -> str:
    """The text of the file of that name, with a fact in the place of each `${name}`."""
    return Template((DATA / name).read_text(encoding="utf-8")).substitute(facts)


def with_tuples(value: Any) -> Any:
    """The value with a tuple for each list in it, as a dataclass has them."""
    if isinstance(value, dict):
        return {key: with_tuples(item) for key, item in value.items()}
    return tuple(map(with_tuples, value)) if isinstance(value, list) else value


def none_of(faults: Iterable[object]) -> None:
    """Fail with every fault, each in a line of its own, where pytest would shorten them."""
    lines = [str(fault) for fault in faults]
    assert not lines, f"{len(lines)} faults:\n" + "\n".join(lines)
