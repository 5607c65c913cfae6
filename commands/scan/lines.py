"""Writes the findings of a scan as lines and as data: names and places, never a text.

A name that holds a secret itself (a topic, an id, a path) is left out.
"""

from collections.abc import Iterable

from commands.suspicions import token_of
from core.lessons.record import LIMITS_BYTES, Record
from core.lessons.upkeep import Cleaned
from core.messages import say

INDENT = "  "


def change_lines(change: Cleaned) -> list[str]:
    """Say what became of some lines; of records only their version ids."""
    numbers = ", ".join(map(str, change.lines))
    place = say(
        "scan.line" if len(change.lines) == 1 else "scan.lines", line=numbers, numbers=numbers
    )
    facts = {"lines": place, "kinds": _counted(change.kinds)}
    facts["before"] = ", ".join(_token(record) for record in change.before)
    if not change.before:
        return [INDENT + say("scan.no_record", **facts)]
    if not change.after:
        return [INDENT + say("scan.dropped", **facts)]
    key = "joined" if len(change.before) > 1 else "changed"
    lines = [INDENT + say(f"scan.{key}", **facts, after=_token(change.after))]
    for name in change.over:
        used = len(str(getattr(change.after, name)).encode("utf-8", "surrogatepass"))
        over = {"used": used, "limit": LIMITS_BYTES[name]}
        lines.append(INDENT + say("scan.over", field=name, **over))
    return lines


def _token(record: Record) -> str:
    return token_of(record) or say("scan.unnamed")


def _counted(kinds: Iterable[str]) -> str:
    found = list(kinds)
    counted = {kind: found.count(kind) for kind in found}
    return ", ".join(kind if count == 1 else f"{kind} {count}" for kind, count in counted.items())


def change_json(change: Cleaned) -> dict[str, object]:
    """Return what became of some lines as data; of records only their version ids."""
    return {
        "lines": list(change.lines),
        "before": [_token(record) for record in change.before],
        "after": _token(change.after) if change.after else None,
        "kinds": list(change.kinds),
        "over": list(change.over),
    }
