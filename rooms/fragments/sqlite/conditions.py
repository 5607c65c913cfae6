"""Says in SQL which fragments are meant."""

from collections.abc import Iterator, Sequence
from typing import Any

from rooms.fragments.engine import Wanted
from rooms.fragments.sqlite.index import plain_keyword

_LAST = "~"  # behind whatever a moment may go on with after a day or a second
_STATES = {
    "live": "deleted_at = '' AND superseded_at = ''",
    "superseded": "deleted_at = '' AND superseded_at != ''",
    "bin": "deleted_at != ''",
    "kept": "deleted_at = ''",
    "all": "1",
}
_USED = "max(accessed_at, updated_at, created_at)"


def conditions_of(wanted: Wanted) -> tuple[str, tuple[Any, ...]]:
    """Return the condition for rows of `fragments`, with its values."""
    parts, values = [_STATES[wanted.state]], list[Any]()
    for part, given in _parts(wanted):
        parts.append(part)
        values += given
    return " AND ".join(parts), tuple(values)


def _parts(wanted: Wanted) -> Iterator[tuple[str, Sequence[Any]]]:
    listed: dict[str, Sequence[str]] = {
        "agent_id": wanted.agents,
        "type": wanted.kinds,
        "lifetime": wanted.lifetimes,
        "ttl_tier": wanted.tiers,
        "topic": wanted.topics,
    }
    for column, words in listed.items():
        if words:
            yield f"{column} IN ({', '.join('?' * len(words))})", words
    compared: dict[str, object] = {
        "session_id = ?": wanted.session,
        "source = ?": wanted.source,
        "content_hash = ?": wanted.content_hash,
        "created_at >= ?": wanted.since,
        "created_at < ?": wanted.until and wanted.until + _LAST,
        f"{_USED} < ?": wanted.used_before,
        "expires_at != '' AND expires_at < ?": wanted.expires_before,
        "deleted_at != '' AND deleted_at < ?": wanted.deleted_before,
        "checked_at < ?": wanted.checked_before,
        "number > ?": wanted.after,
    }
    for part, value in compared.items():
        if value:
            yield part, (value,)
    if wanted.is_anchor is not None:
        yield "is_anchor = ?", (int(wanted.is_anchor),)
    if wanted.has_vector is not None:
        having = "IN" if wanted.has_vector else "NOT IN"
        yield f"number {having} (SELECT number FROM fragment_vectors)", ()
    for keyword in wanted.keywords:
        yield (
            "number IN (SELECT number FROM fragment_keywords WHERE keyword = ?)",
            (plain_keyword(keyword),),
        )
