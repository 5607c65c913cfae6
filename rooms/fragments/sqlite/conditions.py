"""Says in SQL which fragments are meant."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from core.text.plain import end_of
from rooms.fragments.engine import Wanted
from rooms.fragments.stored.rows import spelled

ANY_OF = "IN (SELECT value FROM json_each(?))"  # of any number of values, in one statement
MOST_NUMBER = 2**63 - 1  # that SQLite knows

_STATES = {
    "live": "deleted_at = '' AND superseded_at = ''",
    "superseded": "deleted_at = '' AND superseded_at != ''",
    "bin": "deleted_at != ''",
    "kept": "deleted_at = ''",
    "all": "1",
}
_USED = "max(accessed_at, updated_at, created_at)"


def listed(values: Iterable[str | int]) -> str:
    """Return what ANY_OF takes. Half of a character, or a number too large, is found nowhere."""
    return json.dumps(list(values))


def bound(value: Any) -> Any:
    """Return a value that a statement takes; half of a character is found nowhere."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return min(value, MOST_NUMBER)


def conditions_of(wanted: Wanted) -> tuple[str, tuple[Any, ...]]:
    """Return the condition for rows of `fragments`, with its values."""
    parts, values = [_STATES[wanted.state]], list[Any]()
    for part, given in _parts(wanted):
        parts.append(part)
        values += given
    return " AND ".join(parts), tuple(values)


def _parts(wanted: Wanted) -> Iterator[tuple[str, tuple[Any, ...]]]:
    anyone = {
        # Nearly all are of one agent: without a hash, its index is no short way to them.
        "agent_id" if wanted.content_hash else "+agent_id": wanted.agents,
        "type": wanted.kinds,
        "lifetime": wanted.lifetimes,
        "ttl_tier": wanted.tiers,
        "plain_topic": tuple(map(spelled, wanted.topics)),
    }
    for column, words in anyone.items():
        if words:
            yield f"{column} {ANY_OF}", (listed(words),)
    compared: dict[str, Any] = {
        "session_id = ?": wanted.session,
        "source = ?": wanted.source,
        "privacy_scope = ?": wanted.privacy,
        "content_hash = ?": wanted.content_hash,
        "created_at >= ?": wanted.since,
        "created_at < ?": end_of(wanted.until),
        f"{_USED} < ?": wanted.used_before,
        "expires_at != '' AND expires_at < ?": wanted.expires_before,
        "deleted_at != '' AND deleted_at < ?": wanted.deleted_before,
        "checked_at < ?": wanted.checked_before,
        "number > ?": wanted.after,
    }
    for part, value in compared.items():
        if value:
            yield part, (bound(value),)
    if wanted.is_anchor is not None:
        yield "is_anchor = ?", (int(wanted.is_anchor),)
    if wanted.has_vector is not None:
        having = "IN" if wanted.has_vector else "NOT IN"
        yield f"number {having} (SELECT number FROM fragment_vectors)", ()
    for keyword in wanted.keywords:
        yield (
            "number IN (SELECT number FROM fragment_keywords WHERE keyword = ?)",
            (bound(spelled(keyword)),),
        )
