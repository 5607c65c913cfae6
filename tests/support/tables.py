"""Reads a table or a text of tests/data."""

import json
from pathlib import Path
from string import Template
from typing import Any

DATA = Path(__file__).parents[1] / "data"


def table(name: str) -> Any:
    """What the file of that name holds."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def text_of(name: str, **facts: object) -> str:
    """What the file of that name holds, with a fact in the place of each `${name}`."""
    return Template((DATA / name).read_text(encoding="utf-8")).substitute(facts)
