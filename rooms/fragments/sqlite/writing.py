"""Changes fragments on one connection that is in a write transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rooms.fragments.engine import Entry
from rooms.fragments.fragment import Embedding, Fragment, Link, column_of
from rooms.fragments.sqlite import index
from rooms.fragments.sqlite.conditions import ANY_OF, bound, listed
from rooms.fragments.sqlite.reading import SqliteReading
from rooms.fragments.sqlite.rows import condition_of, entry_values, stored, values_of
from rooms.fragments.stored.rows import TABLES


class SqliteWriting(SqliteReading):
    """See `Writing`."""

    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        """See `Writing`."""
        added = list[Fragment]()
        for fragment in fragments:
            values = values_of(fragment)
            cursor = self._connection.execute(
                f"INSERT INTO fragments ({', '.join(values)})"
                f" VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            )
            added.append(replace(fragment, number=cursor.lastrowid or 0))
            index.add(self._connection, added[-1])
        return added

    def replace(self, fragments: Sequence[Fragment]) -> None:
        """See `Writing`."""
        stored_ones = {it.number: it for it in self.by_numbers(it.number for it in fragments)}
        for fragment in fragments:
            before = stored_ones.get(fragment.number)
            if before is None:
                continue
            values = values_of(fragment)
            index.remove(self._connection, [before.number])
            self._connection.execute(
                f"UPDATE fragments SET {', '.join(f'{name} = ?' for name in values)}"
                " WHERE number = ?",
                (*values.values(), fragment.number),
            )
            index.add(self._connection, fragment)
            if fragment.text != before.text:
                self.drop_vectors([fragment.number])
            stored_ones[fragment.number] = fragment

    def touch(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        """See `Writing`."""
        if not values:
            return
        if values.keys() & index.KNOWN:
            self.replace([replace(it, **values) for it in self.by_numbers(numbers)])
            return
        columns = ", ".join(f"{column_of(name)} = ?" for name in values)
        given = [stored(name, value) for name, value in values.items()]
        self._connection.execute(
            f"UPDATE fragments SET {columns} WHERE number {ANY_OF}", (*given, listed(numbers))
        )

    def drop(self, ids: Iterable[str]) -> int:
        """See `Writing`."""
        dropped = self.by_ids(ids)
        index.remove(self._connection, (it.number for it in dropped))
        self.drop_vectors(it.number for it in dropped)
        gone = listed(it.id for it in dropped)
        for statement in (
            f"DELETE FROM fragment_links WHERE from_id {ANY_OF} OR to_id {ANY_OF}",
            f"DELETE FROM suspicions WHERE first_id {ANY_OF} OR second_id {ANY_OF}",
            f"DELETE FROM fragment_versions WHERE fragment_id {ANY_OF}",
            f"DELETE FROM fragments WHERE id {ANY_OF}",
        ):
            self._connection.execute(statement, (gone,) * statement.count("?"))
        return len(dropped)

    def put_links(self, links: Iterable[Link]) -> int:
        """See `Writing`."""
        new = 0
        for link in links:
            ends = link.from_id, link.to_id
            new += not self._connection.execute(
                "SELECT 1 FROM fragment_links WHERE from_id = ? AND to_id = ?", ends
            ).fetchone()
            self._connection.execute(
                "INSERT INTO fragment_links (from_id, to_id, relation_type, created_at)"
                " VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET relation_type = excluded.relation_type",
                (*ends, link.relation, link.created_at),
            )
        return new

    def drop_links(self, links: Iterable[Link]) -> int:
        """See `Writing`."""
        ends = [(it.from_id, it.to_id) for it in links]
        statement = "DELETE FROM fragment_links WHERE from_id = ? AND to_id = ?"
        return max(self._connection.executemany(statement, ends).rowcount, 0)

    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        """See `Writing`."""
        self._file = None  # nobody else sees these before the end, and they may never be there
        self._connection.executemany(
            "INSERT OR REPLACE INTO fragment_vectors (number, embedding) VALUES (?, ?)",
            list(embeddings),
        )

    def drop_vectors(self, numbers: Iterable[int] | None = None) -> None:
        """See `Writing`."""
        if numbers is None:
            self._connection.execute("DELETE FROM fragment_vectors")
            return
        self._connection.execute(
            f"DELETE FROM fragment_vectors WHERE number {ANY_OF}", (listed(numbers),)
        )

    def note(self, entries: Iterable[Entry]) -> None:
        """See `Writing`."""
        for entry in entries:
            table = TABLES[type(entry)]
            verb = "INSERT OR REPLACE" if table.replaces else "INSERT"
            self._connection.execute(
                f"{verb} INTO {table.name} ({', '.join(table.columns)})"
                f" VALUES ({', '.join('?' * len(table.columns))})",
                entry_values(entry),
            )

    def forget_entries(self, kind: type[Entry], *, of: str = "", before: str = "") -> int:
        """See `Writing`."""
        table = TABLES[kind]
        condition, values = condition_of(table, of=of, before=before)
        statement = f"DELETE FROM {table.name} WHERE {condition}"
        return self._connection.execute(statement, [*map(bound, values)]).rowcount

    def mend_index(self) -> bool:
        """See `Writing`."""
        if index.is_current(self._connection):
            return False
        index.make_anew(self._connection)
        return True

    def set_state(self, values: Mapping[str, str]) -> None:
        """See `Writing`."""
        kept = [it for it in values.items() if it[1]]
        self._connection.executemany("DELETE FROM state WHERE name = ?", [(it,) for it in values])
        self._connection.executemany("INSERT INTO state VALUES (?, ?)", kept)

    def count_up(self, figures: Mapping[str, int]) -> None:
        """See `Writing`."""
        self._connection.executemany(
            "INSERT INTO state VALUES (?, ?) ON CONFLICT DO UPDATE"
            " SET value = CAST(value AS INTEGER) + CAST(excluded.value AS INTEGER)",
            [(name, str(figure)) for name, figure in figures.items() if figure],
        )

    def revised(self) -> Mapping[str, tuple[str, str]]:
        """See `Writing`."""
        return {}
