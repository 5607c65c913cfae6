"""Keeps and asks the table of terms: which fragment of which agent has which piece of text.

A live fragment has the pieces that a question asks for, and EVERY; each fragment has its keywords,
marked by whether it is live. An index of text in the order of the numbers is what row security lets
be used, and the newest of a common term are read from its end, without all the others.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from core.config import DEFAULT_AGENT
from core.room.full_text import Extent
from core.text.terms import Term, pieces_of, verb_beginning
from rooms.fragments.fragment import Fragment
from rooms.fragments.storage.columns import spelled

EVERY = "*"  # the term of every live fragment
LIVE, DEAD = "+", "-"  # before a keyword
_MOST_CHARS = 200  # of a term: an entry of an index has room for 2,700 bytes
_ALL_AGENTS = """(WITH RECURSIVE each AS (
  (SELECT agent_id FROM fragment_terms ORDER BY agent_id LIMIT 1) UNION ALL
  SELECT (SELECT t.agent_id FROM fragment_terms t WHERE t.agent_id > each.agent_id
    ORDER BY t.agent_id LIMIT 1) FROM each WHERE each.agent_id IS NOT NULL)
  SELECT agent_id FROM each WHERE agent_id IS NOT NULL)"""
_EXTENT = """SELECT
    (SELECT number FROM fragment_terms WHERE agent_id = r.agent_id AND term = %s
      ORDER BY number LIMIT 1),
    (SELECT number FROM fragment_terms WHERE agent_id = r.agent_id AND term = %s
      ORDER BY number DESC LIMIT 1),
    texts FROM {agents} AS a(agent) JOIN revisions r ON r.agent_id = a.agent WHERE texts > 0"""
_NEWEST = """SELECT w.at, of.number
  FROM unnest(%s::int[], %s::text[]) AS w(at, term) CROSS JOIN {agents} AS a(agent)
  CROSS JOIN LATERAL (SELECT number FROM fragment_terms
    WHERE agent_id = a.agent AND term = w.term{among} ORDER BY number DESC LIMIT %s) of"""
_WORDS = """WITH RECURSIVE w AS (
  SELECT b.begins, b.ends, a.agent, (SELECT t.term FROM fragment_terms t WHERE
    t.agent_id = a.agent AND t.term >= b.begins AND t.term < b.ends ORDER BY t.term LIMIT 1) AS term
  FROM unnest(%s::text[], %s::text[]) AS b(begins, ends) CROSS JOIN {agents} AS a(agent)
  UNION ALL SELECT w.begins, w.ends, w.agent, (SELECT t.term FROM fragment_terms t WHERE
    t.agent_id = w.agent AND t.term > w.term AND t.term < w.ends ORDER BY t.term LIMIT 1)
  FROM w WHERE w.term IS NOT NULL)
  SELECT DISTINCT begins, term FROM w WHERE term IS NOT NULL"""


class Match(NamedTuple):
    """What finds the texts that have one of some words, or one that begins so, "" for none."""

    words: tuple[str, ...]
    begins: str = ""


class Agents(NamedTuple):
    """Whose rows are read, as a table of a statement, and its values."""

    table: str
    values: tuple[Any, ...]


def agents_of(agent: str, wanted: Sequence[str] = ()) -> Agents:
    """Return whose rows are read: those that are wanted, else all that an agent sees."""
    names = list(dict.fromkeys(wanted or ([agent, DEFAULT_AGENT] if agent else [])))
    return Agents("unnest(%s::text[])", (names,)) if names else Agents(_ALL_AGENTS, ())


def terms_of(fragment: Fragment) -> set[str]:
    """Return what a fragment is found by."""
    terms = {(LIVE if fragment.is_live else DEAD) + it for it in _spelled(fragment.keywords)}
    if fragment.is_live:
        pieces = set(pieces_of(fragment.content)) | set(pieces_of(fragment.topic))
        pieces.update(pieces_of(" ".join(fragment.keywords)))
        terms.update(_folded(it) for it in pieces)
        terms.update(filter(None, map(verb_beginning, pieces)))
        terms.add(EVERY)
    return terms


def keyword_terms(keywords: Iterable[str], marks: Iterable[str] = (LIVE, DEAD)) -> list[str]:
    """Return the terms of keywords of fragments that are live, or not."""
    return [mark + it for it in dict.fromkeys(_spelled(keywords)) for mark in marks]


class PostgresTerms:
    """See `Terms`. Of one question: what was read is kept for its next part."""

    def __init__(self, cursor: Any, agent: str) -> None:
        self._cursor, self._agents = cursor, agents_of(agent)
        self._words = dict[str, list[str]]()
        self._found = dict[Match, tuple[int, list[int]]]()

    def extent(self) -> Extent:
        """See `Terms`."""
        rows = [it for it in self._rows(_EXTENT, (EVERY, EVERY), ()) if it[0] is not None]
        if not rows:
            return Extent(1, 0, 0)
        first, newest, texts = zip(*rows, strict=True)
        return Extent(min(first), max(newest), sum(texts))

    def match(self, term: Term) -> Match:
        """See `Terms`."""
        needle = _folded(term.needle)
        if term.run.startswith(term.needle) and (stem := verb_beginning(term.run)):
            return Match((needle, stem))
        if term.begins and not term.ends:
            return Match((), needle)
        if term.ends and needle.isalpha():
            return Match((needle, f"{needle}s"))
        return Match((needle,))

    def any_of(self, words: Sequence[str]) -> Match:
        """See `Terms`."""
        return Match(tuple(words))

    def words(self, begins: str, most: int) -> list[str]:
        """See `Terms`."""
        self._read_words([begins])
        return self._words[begins][:most]

    def newest(
        self, matches: Sequence[Match], most: int, within: Sequence[Match] = ()
    ) -> list[list[int]]:
        """See `Terms`."""
        if not within:
            return self._newest(matches, most)
        among = sorted({number for some in self._newest(within, most) for number in some})
        return self._read(matches, most, " AND number = ANY (%s::bigint[])", (among,))

    def _newest(self, matches: Sequence[Match], most: int) -> list[list[int]]:
        """Return the newest of each match; what is known already is not read again."""

        def is_known(match: Match) -> bool:
            read, numbers = self._found.get(match, (0, []))
            return read >= most or len(numbers) < read

        unknown = [it for it in dict.fromkeys(matches) if not is_known(it)]
        for match, numbers in zip(unknown, self._read(unknown, most), strict=True):
            self._found[match] = most, numbers
        return [self._found[it][1][:most] for it in matches]

    def _read(
        self, matches: Sequence[Match], most: int, among: str = "", given: tuple[Any, ...] = ()
    ) -> list[list[int]]:
        self._read_words([it.begins for it in matches if it.begins])
        places, words = list[int](), list[str]()
        for at, match in enumerate(matches):
            meant = (*match.words, *(self._words[match.begins] if match.begins else ()))
            words += meant
            places += [at] * len(meant)
        found: list[set[int]] = [set() for _ in matches]
        if words:
            statement = _NEWEST.replace("{among}", among)
            for at, number in self._rows(statement, (places, words), (*given, min(most, 2**62))):
                found[at].add(number)
        return [sorted(it, reverse=True)[:most] for it in found]

    def _read_words(self, beginnings: Iterable[str]) -> None:
        """Read the words that begin so, all at once."""
        new = [it for it in dict.fromkeys(beginnings) if it not in self._words]
        if not new:
            return
        self._words |= {it: [] for it in new}
        ends = [f"{it}\U0010ffff" for it in new]
        for begins, word in self._rows(_WORDS, (new, ends), ()):
            self._words[begins].append(word)
        for it in new:
            self._words[it].sort()

    def _rows(self, statement: str, before: tuple[Any, ...], behind: tuple[Any, ...]) -> list[Any]:
        """Return the rows of a statement about the agents whose fragments are seen.

        before, behind: values that stand in it before and behind those of the agents.
        """
        made = statement.replace("{agents}", self._agents.table)
        rows: list[Any] = self._cursor.execute(
            made, (*before, *self._agents.values, *behind)
        ).fetchall()
        return rows


def put(cursor: Any, terms: Mapping[tuple[str, int], Iterable[str]]) -> None:
    """Put terms of fragments, by their agent and number, into the table, and count the texts."""
    cursor.execute(
        "WITH new AS (INSERT INTO fragment_terms (agent_id, term, number)"
        " SELECT * FROM unnest(%s::text[], %s::text[], %s::bigint[]) ON CONFLICT DO NOTHING"
        " RETURNING agent_id, term) INSERT INTO revisions AS r (agent_id, texts)"
        " SELECT agent_id, count(*) FROM new WHERE term = %s GROUP BY 1"
        " ON CONFLICT (agent_id) DO UPDATE SET texts = r.texts + excluded.texts",
        (*_columns(terms), EVERY),
    )


def take(cursor: Any, terms: Mapping[tuple[str, int], Iterable[str]]) -> None:
    """Take terms of fragments, by their agent and number, out of the table and the count."""
    cursor.execute(
        "WITH gone AS (DELETE FROM fragment_terms t"
        " USING unnest(%s::text[], %s::text[], %s::bigint[]) AS it(agent, term, number)"
        " WHERE t.agent_id = it.agent AND t.term = it.term AND t.number = it.number"
        " RETURNING t.agent_id, t.term)"
        " UPDATE revisions r SET texts = r.texts - its.texts FROM"
        " (SELECT agent_id, count(*) AS texts FROM gone WHERE term = %s GROUP BY 1) its"
        " WHERE r.agent_id = its.agent_id",
        (*_columns(terms), EVERY),
    )


def lacks(cursor: Any, terms: Mapping[tuple[str, int], Iterable[str]]) -> bool:
    """Return whether one of these is not in the table."""
    row = cursor.execute(
        "SELECT EXISTS (SELECT FROM unnest(%s::text[], %s::text[], %s::bigint[])"
        " AS it(agent, term, number) WHERE NOT EXISTS (SELECT FROM fragment_terms t"
        " WHERE t.agent_id = it.agent AND t.term = it.term AND t.number = it.number))",
        _columns(terms),
    ).fetchone()
    return bool(row[0])


def _columns(terms: Mapping[tuple[str, int], Iterable[str]]) -> tuple[list[str], ...]:
    rows = [(agent, term, number) for (agent, number), its in terms.items() for term in sorted(its)]
    return tuple(map(list, zip(*rows, strict=True))) if rows else ([], [], [])


def _spelled(keywords: Iterable[str]) -> list[str]:
    return [spelled(it)[:_MOST_CHARS] for it in keywords]


def _folded(piece: str) -> str:
    """Return a piece without the marks of its Latin letters, as SQLite's index has it, too."""
    if not piece.isascii():
        parts = (unicodedata.normalize("NFD", it) for it in piece)
        piece = "".join(
            it[0] if len(it) == 2 and it[0].isascii() else unicodedata.normalize("NFC", it)
            for it in parts
        )
    return piece[:_MOST_CHARS]
