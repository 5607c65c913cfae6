"""Says in SQL of PostgreSQL which fragments are meant."""

from collections.abc import Iterable, Iterator
from typing import Any

from rooms.fragments.fragment import Wanted
from rooms.fragments.postgres.terms import keyword_terms
from rooms.fragments.postgres.values import MOST_NUMBER, span
from rooms.fragments.storage.columns import Table, spelled

_STATES = {
    "live": "deleted_at IS NULL AND superseded_at IS NULL",
    "superseded": "deleted_at IS NULL AND superseded_at IS NOT NULL",
    "bin": "deleted_at IS NOT NULL",
    "kept": "deleted_at IS NULL",
    "all": "true",
}
_HAS_KEYWORD = (
    "EXISTS (SELECT FROM fragment_terms t WHERE t.agent_id = fragments.agent_id"
    " AND t.term = ANY (%s::text[]) AND t.number = fragments.number)"
)

_WORKING = ("working",)  # said as its index says it, whatever plan is kept of a statement

Condition = tuple[str, tuple[Any, ...]]


def numbers_of(given: Iterable[int]) -> list[int]:
    """Return those of some numbers that a row may have."""
    return [it for it in given if 0 <= it <= MOST_NUMBER]


def bound(number: int) -> int:
    """Return a number that a statement takes."""
    return min(number, MOST_NUMBER)


def conditions_of(wanted: Wanted) -> Condition:
    """Return the condition for rows of `fragments`, with its values, but for whose they are."""
    parts, values = [_STATES[wanted.state]], list[Any]()
    for part, given in _parts(wanted):
        parts.append(part)
        values += given
    return " AND ".join(parts), tuple(values)


def entries_where(table: Table, *, of: str = "", since: str = "", before: str = "") -> Condition:
    """Return the condition for entries, with its values; what is left empty does not count."""
    parts, values = list[str](), list[Any]()
    if of:
        parts.append(f"({' OR '.join(f'{column} = %s' for column in table.about)})")
        values += [of] * len(table.about)
    for sign, limit in ((">=", since), ("<", before)):
        if limit:
            part, given = _compared(f"{table.moment} {sign}", limit, 0)
            parts.append(part)
            values += given
    return " AND ".join(parts or ["true"]), tuple(values)


def _parts(wanted: Wanted) -> Iterator[Condition]:
    anyone = {
        "type": wanted.kinds,
        "lifetime": wanted.lifetimes,
        "ttl_tier": wanted.tiers,
        "plain_topic": tuple(map(spelled, wanted.topics)),
    }
    for column, words in anyone.items():
        if words == _WORKING:
            yield "lifetime = 'working'", ()
        elif words:
            yield f"{column} = ANY (%s::text[])", (list(words),)
    same = {"session_id": wanted.session, "source": wanted.source,
            "privacy_scope": wanted.privacy, "content_hash": wanted.content_hash}  # fmt: skip
    for column, word in same.items():
        if word:
            yield f"{column} = %s", (word,)
    moments = {
        "created_at >=": (wanted.since, 0),
        "created_at <": (wanted.until, 1),
        "greatest(accessed_at, updated_at, created_at) <": (wanted.used_before, 0),
        "expires_at <": (wanted.expires_before, 0),
        "deleted_at <": (wanted.deleted_before, 0),
    }
    for part, (limit, end) in moments.items():
        if limit:
            yield _compared(part, limit, end)
    if wanted.checked_before:
        part, given = _compared("checked_at <", wanted.checked_before, 0)
        yield f"(checked_at IS NULL OR {part})", given
    if wanted.numbers is not None:
        yield "number = ANY (%s::bigint[])", (numbers_of(wanted.numbers),)
    if wanted.after:
        yield "number > %s", (bound(wanted.after),)
    if wanted.is_anchor is not None:
        yield "is_anchor" if wanted.is_anchor else "NOT is_anchor", ()
    if wanted.has_vector is not None:
        yield f"embedding IS {'NOT ' if wanted.has_vector else ''}NULL", ()
    for keyword in wanted.keywords:
        yield _HAS_KEYWORD, (keyword_terms([keyword]),)


def _compared(part: str, limit: str, end: int) -> Condition:
    """Return a comparison with the beginning or the end of what a text says; with none, false."""
    moments = span(limit)
    return (f"{part} %s::timestamptz", (moments[end],)) if moments else ("false", ())
