"""Reads a table of tests/data."""

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


def table(name: str) -> Any:
    """What the file of that name holds."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
