"""Lessons of engineers that sound like orders, and orders to a model that sound like lessons.

The lines with an odd number were looked at while the rules were written, the others only counted.
"""

from tests.support.tables import table

TABLES = table("imperatives")

HONEST = TABLES["honest"]
KOREAN_HONEST = TABLES["Korean honest"]
ATTACKS = TABLES["attacks"]
KOREAN_ATTACKS = TABLES["Korean attacks"]


def half(lines: list[str], *, unseen: bool) -> list[str]:
    """Return every second line, escapes of hidden characters and line breaks resolved."""
    chosen = lines[1::2] if unseen else lines[::2]
    return [it.replace("\\u200b", "\u200b").replace("\\n", "\n") for it in chosen]
