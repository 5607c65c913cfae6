"""Writes the findings of a scan as lines and as data: names and places, never a text.

A name that holds a secret itself (a topic, an id, a path) is left out.
"""

from collections.abc import Iterable

from commands.scan.findings import Found, shown_record
from commands.terminal.safe_text import plain
from core.lessons.record import LIMITS_BYTES, Record
from core.lessons.upkeep import Cleaned
from core.messages import say
from core.sanitizer import safe

INDENT = "  "


def finding_line(found: Found, where: str) -> str:
    """Return one finding as a line without any secret."""
    if not found.record:
        return say("scan.in_file", where=where, kind=found.kind)
    field = found.field if found.field in LIMITS_BYTES else say(f"scan.{found.field}")
    facts = {"where": where, "kind": found.kind, "field": field}
    key = "mark" if found.is_mark else "in_record"
    return say(f"scan.{key}", **facts, record=_record(found.record))


def _record(record: Record) -> str:
    token, topic = shown_record(record)
    named = say("scan.record", token=token) if token else say("scan.unnamed")
    return f"{named} [{topic}]" if topic else named


def shown_path(path: str) -> str:
    """Return a path for a line of ours that no CI runner can take for a command (`::error …`)."""
    shown = plain(safe(path) or say("scan.hidden_name"))
    return f"./{shown}" if shown.lstrip().startswith("::") else shown


def finding_json(found: Found) -> dict[str, object]:
    """Return one finding as data, without any secret."""
    value: dict[str, object] = {
        "path": shown_path(found.path),
        "line": found.line,
        "severity": "warning" if found.is_mark else "error",
        "kind": found.kind,
    }
    if found.record:
        token, topic = shown_record(found.record)
        value |= {"field": found.field, "token": token, "topic": topic}
    if found.commit:
        commit = found.commit
        value |= {"commit": commit.id, "date": commit.date, "author": safe(commit.author)}
    return value


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
    return shown_record(record)[0] or say("scan.unnamed")


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
