"""Finds the sessions that answer a question where there are too many to read them all.

The index of the database tells which sessions have which terms of the question. By that alone the
share of the question is known that each of them has; the best are read and put in order by the
ranker, with the frequencies of all sessions.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.text.ranking import Found, Frequencies, Ranking, rarity_of, shares
from core.text.terms import FIRST_WIDE, Term, words_of
from rooms.sessions.rows import sessions_where
from rooms.sessions.search.filters import Filter

MOST_CANDIDATES = 3_000  # that have one of the rarest terms of the question
_MOST_READ = 300  # of these, whose texts are ranked
_MOST_CHARS = 4_000_000  # of the texts that are ranked
_MOST_TERMS = 40
_ROWS = "SELECT rowid FROM contexts_fts WHERE contexts_fts MATCH ?"
_COUNTED = 3_001  # how common a term is that more sessions have is worked out from the newest


class _Sought(NamedTuple):
    """A term of the question, its expression for MATCH, and how many sessions have it."""

    term: Term
    match: str
    having: int


def ranked(
    connection: sqlite3.Connection, query: str, wanted: Filter, *, least: float
) -> tuple[Sequence[int], Mapping[int, float]]:
    """Return the numbers of the sessions that fit, the best first, and the share of each.

    least: the share of the question that a session must have.
    """
    counts = "SELECT count(*), max(number) FROM contexts"
    [total, newest] = connection.execute(counts).fetchone()
    terms = [word[0] for word in words_of(query)][:_MOST_TERMS]
    sought = [_counted(connection, term, newest) for term in terms]
    having = {it.term: it.having for it in sought}
    places = _places(connection, sorted(sought, key=lambda it: it.having))
    got = shares(
        Found(it.term, rarity_of(min(it.having, total), total), places.get(it.term, ()))
        for it in sought
    )
    got = {number: share for number, share in got.items() if share >= least}
    if wanted:
        fitting = wanted.numbers(connection)
        got = {number: share for number, share in got.items() if number in fitting}
    best = sorted(got, key=lambda number: (got[number], number), reverse=True)
    first = _by_text(connection, query, best[:_MOST_READ], Frequencies(total, having))
    return [*first, *best[_MOST_READ:]], got


def _counted(connection: sqlite3.Connection, term: Term, newest: int) -> _Sought:
    """Return how many sessions have a term: counted where it is rare, else by the newest."""
    statement = f"SELECT count(*), min(rowid) FROM ({_ROWS} ORDER BY rowid DESC LIMIT {_COUNTED})"
    match = _match(term)
    [count, last] = connection.execute(statement, (match,)).fetchone()
    if count == _COUNTED:
        count = max(count, count * newest // (newest - last + 1))
    return _Sought(term, match, count)


def _places(connection: sqlite3.Connection, rarest: Sequence[_Sought]) -> dict[Term, list[int]]:
    """Return which of the candidates have a term, for the terms that any of them may have."""
    known = [it for it in rarest if it.having]
    some, left = list[_Sought](), MOST_CANDIDATES
    while known and known[0].having <= left:
        left -= known[0].having
        some.append(known.pop(0))
    if not some and known:  # all are common: the newest of those that have the rarest
        some.append(known.pop(0))
    limit = f" ORDER BY rowid DESC LIMIT {MOST_CANDIDATES}"
    places = {it.term: _numbers(connection, it.match, limit) for it in some}
    having_some = " OR ".join(it.match for it in some)
    for it in known:
        match = f"({it.match}) AND ({having_some})"
        places[it.term] = _numbers(connection, match, limit)
    return places


def _numbers(connection: sqlite3.Connection, match: str, limit: str) -> list[int]:
    return [number for (number,) in connection.execute(f"{_ROWS}{limit}", (match,))]


def _by_text(
    connection: sqlite3.Connection, query: str, numbers: Sequence[int], frequencies: Frequencies
) -> list[int]:
    """Return the sessions in the order of the ranker, with what is known of all sessions."""
    condition = f"number IN ({', '.join(map(str, numbers))}) ORDER BY number"
    kept, texts, chars = list[int](), list[str](), 0
    for session in sessions_where(connection, condition):
        text = "\n".join(session.texts)
        kept.append(session.number)
        texts.append(text[: max(0, _MOST_CHARS - chars)])
        chars += len(text)
    order = Ranking(query, texts, frequencies).order()
    return [kept[at] for at in order]


def _match(term: Term) -> str:
    """Return the expression of a term; a needle is letters and digits of one kind."""
    needle = term.needle
    if needle[0] >= FIRST_WIDE and not term.begins:
        return f'"{needle}"'
    if not term.ends:
        return f'"{needle}" *'
    return f'("{needle}" OR "{needle}s")' if needle.isalpha() else f'"{needle}"'
