"""Changes fragments in a transaction on a PostgreSQL server."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from core.room.full_text import INDEXED_VERSION
from rooms.fragments.fragment import Embedding, Fragment, Wanted, column_of
from rooms.fragments.postgres import terms, vectors
from rooms.fragments.postgres.conditions import numbers_of
from rooms.fragments.postgres.noting import PostgresNoting
from rooms.fragments.postgres.reading import INDEX
from rooms.fragments.postgres.rows import stored, values_of
from rooms.fragments.storage.engine import pages_of
from rooms.fragments.storage.rows import Rows

# The fields of a fragment that its terms are made of, and those that say whether it is live.
_KNOWN = frozenset(("content", "topic", "keywords", "deleted_at", "superseded_at"))
_THESE = "number = ANY (%s::bigint[])"


class PostgresWriting(PostgresNoting):
    """See `Writing`. What is another agent's is not changed."""

    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        """See `Writing`."""
        if not fragments:
            return []
        rows = [values_of(it) for it in fragments]
        self._cursor.executemany(
            f"INSERT INTO fragments ({', '.join(rows[0])})"
            f" VALUES ({', '.join(['%s'] * len(rows[0]))}) RETURNING number",
            [tuple(it.values()) for it in rows],
            returning=True,
        )
        numbers = [row[0] for at in self._cursor.results() for row in at.fetchall()]
        added = [replace(it, number=at) for it, at in zip(fragments, numbers, strict=True)]
        terms.put(self._cursor, {(it.agent, it.number): terms.terms_of(it) for it in added})
        return added

    def replace(self, fragments: Sequence[Fragment]) -> None:
        """See `Writing`."""
        before = {it.number: it for it in self._own(it.number for it in fragments)}
        after = {it.number: it for it in fragments if it.number in before}
        if not after:
            return
        rows = [values_of(it) for it in after.values()]
        self._cursor.executemany(
            f"UPDATE fragments SET {', '.join(f'{name} = %s' for name in rows[0])}"
            " WHERE number = %s",
            [(*row.values(), number) for row, number in zip(rows, after, strict=True)],
        )
        gone, new = dict[tuple[str, int], set[str]](), dict[tuple[str, int], set[str]]()
        for number, it in after.items():
            old, had = before[number], terms.terms_of(before[number])
            has = terms.terms_of(it)
            same = has & had if it.agent == old.agent else set[str]()
            gone[old.agent, number], new[it.agent, number] = had - same, has - same
        if any(gone.values()):
            terms.take(self._cursor, gone)
        if any(new.values()):
            terms.put(self._cursor, new)
        changed = [number for number, it in after.items() if it.text != before[number].text]
        if changed:
            self.drop_vectors(changed)

    def touch(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        """See `Writing`."""
        given = numbers_of(numbers)
        if not values or not given:
            return
        if values.keys() & _KNOWN:
            self.replace([replace(it, **values) for it in self.by_numbers(given)])
            return
        columns = ", ".join(f"{column_of(name)} = %s" for name in values)
        self._cursor.execute(
            f"UPDATE fragments SET {columns} WHERE number = ANY (%s::bigint[])",
            (*(stored(name, value) for name, value in values.items()), given),
        )

    def drop(self, ids: Iterable[str]) -> int:
        """See `Writing`."""
        dropped = [it for it in self.by_ids(ids) if self._agent in ("", it.agent)]
        if not dropped:
            return 0
        terms.take(self._cursor, {(it.agent, it.number): terms.terms_of(it) for it in dropped})
        gone = [it.id for it in dropped]
        for statement in (
            "DELETE FROM fragment_links WHERE from_id = ANY (%s)",
            "DELETE FROM fragment_links WHERE to_id = ANY (%s)",
            "DELETE FROM suspicions WHERE first_id = ANY (%s)",
            "DELETE FROM suspicions WHERE second_id = ANY (%s)",
            "DELETE FROM fragment_versions WHERE fragment_id = ANY (%s)",
            "DELETE FROM fragments WHERE id = ANY (%s)",
        ):
            self._cursor.execute(statement, (gone,))
        return len(dropped)

    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        """See `Writing`. What is no vector is taken for none."""
        given = [(vectors.floats_of(it.vector), it.number) for it in embeddings]
        if not given or not self._has_vectors:
            return
        if not self._agent:  # upkeep, whose the tables are
            for dimensions in {len(it) for it, _ in given if it}:
                vectors.put_index(self._cursor, dimensions)
        self._cursor.executemany(
            "UPDATE fragments SET embedding = %s::vector WHERE number = %s",
            [(vectors.text_of(it) if it else None, number) for it, number in given],
        )
        self._revise(_THESE, (numbers_of(number for _, number in given),))

    def drop_vectors(self, numbers: Iterable[int] | None = None) -> None:
        """See `Writing`."""
        which = "true" if numbers is None else _THESE
        values = () if numbers is None else (numbers_of(numbers),)
        self._cursor.execute(
            f"UPDATE fragments SET embedding = NULL WHERE embedding IS NOT NULL AND {which}", values
        )
        self._revise(which, values)

    def mend_index(self) -> bool:
        """See `Writing`."""
        known, texts, is_current = 0, Counter[str](), True
        wanted = Wanted(agents=(self._agent,) if self._agent else (), state="all")
        for some in pages_of(cast(Rows, self), wanted):
            has = {(it.agent, it.number): terms.terms_of(it) for it in some}
            known += sum(map(len, has.values()))
            texts.update(agent for (agent, _), its in has.items() if terms.EVERY in its)
            if is_current and terms.lacks(self._cursor, has):
                is_current = False
        whose, own = ("WHERE agent_id = %s", (self._agent,)) if self._agent else ("", ())
        [(count,)] = self._rows(f"SELECT count(*) FROM fragment_terms {whose}", own)
        counted = dict(self._rows(f"SELECT agent_id, texts FROM revisions {whose}", own))
        if is_current and count == known and texts == Counter(counted):
            self._note_index()
            return False
        self._cursor.execute("SET LOCAL statement_timeout = 0")  # millions of rows, in one
        self._cursor.execute(f"DELETE FROM fragment_terms {whose}", own)
        self._cursor.execute(f"UPDATE revisions SET texts = 0 {whose}", own)
        for some in pages_of(cast(Rows, self), wanted):
            terms.put(self._cursor, {(it.agent, it.number): terms.terms_of(it) for it in some})
        self._revise()
        self._note_index()
        return True

    def keep_index(self) -> bool:
        """Make the terms anew where another version of `terms_of` made them; as upkeep alone.

        Return whether they were.
        """
        noted = self._rows("SELECT value FROM state WHERE name = %s", (INDEX,))
        return noted != [(str(INDEXED_VERSION),)] and self.mend_index()

    def _note_index(self) -> None:
        if not self._agent:
            self.set_state({INDEX: str(INDEXED_VERSION)})

    def _own(self, numbers: Iterable[int]) -> list[Fragment]:
        return [it for it in self.by_numbers(numbers) if self._agent in ("", it.agent)]
