"""Changes fragments on one connection that is in a write transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rooms.fragments.engine import Entry
from rooms.fragments.fragment import Embedding, Fragment, Link
from rooms.fragments.sqlite import index
from rooms.fragments.sqlite.reading import SqliteReading
from rooms.fragments.sqlite.rows import TABLES, column_of, entry_values, stored, values_of


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
            values = values_of(fragment)
            index.remove(self._connection, stored_ones[fragment.number])
            self._connection.execute(
                f"UPDATE fragments SET {', '.join(f'{name} = ?' for name in values)}"
                " WHERE number = ?",
                (*values.values(), fragment.number),
            )
            index.add(self._connection, fragment)

    def touch(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        """See `Writing`."""
        columns = ", ".join(f"{column_of(name)} = ?" for name in values)
        given = [stored(name, value) for name, value in values.items()]
        self._connection.executemany(
            f"UPDATE fragments SET {columns} WHERE number = ?",
            [(*given, number) for number in numbers],
        )

    def drop(self, ids: Iterable[str]) -> int:
        """See `Writing`."""
        dropped = self.by_ids(ids)
        for fragment in dropped:
            index.remove(self._connection, fragment)
        each = [(it.id,) for it in dropped]
        for statement in (
            "DELETE FROM fragment_links WHERE from_id = ?",
            "DELETE FROM fragment_links WHERE to_id = ?",
            "DELETE FROM fragment_versions WHERE fragment_id = ?",
            "DELETE FROM suspicions WHERE first_id = ?",
            "DELETE FROM suspicions WHERE second_id = ?",
            "DELETE FROM fragments WHERE id = ?",
        ):
            self._connection.executemany(statement, each)
        self._connection.executemany(
            "DELETE FROM fragment_vectors WHERE number = ?", [(it.number,) for it in dropped]
        )
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
        cursor = self._connection.executemany(
            "DELETE FROM fragment_links WHERE from_id = ? AND to_id = ?", ends
        )
        return max(cursor.rowcount, 0)

    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        """See `Writing`."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO fragment_vectors VALUES (?, ?)", list(embeddings)
        )

    def drop_vectors(self) -> None:
        """See `Writing`."""
        self._connection.execute("DELETE FROM fragment_vectors")

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
        given = {f"{table.about} = ?": of, f"{table.moment} < ?": before}
        condition = " AND ".join([key for key, value in given.items() if value] or ["1"])
        values = [value for value in given.values() if value]
        cursor = self._connection.execute(f"DELETE FROM {table.name} WHERE {condition}", values)
        return cursor.rowcount

    def set_state(self, values: Mapping[str, str]) -> None:
        """See `Writing`."""
        for name, value in values.items():
            if value:
                self._connection.execute(
                    "INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value)
                )
            else:
                self._connection.execute("DELETE FROM state WHERE name = ?", (name,))

    def count_up(self, figures: Mapping[str, int]) -> None:
        """See `Writing`."""
        self._connection.executemany(
            "INSERT INTO state VALUES (?, ?) ON CONFLICT DO UPDATE"
            " SET value = CAST(value AS INTEGER) + CAST(excluded.value AS INTEGER)",
            [(name, str(figure)) for name, figure in figures.items() if figure],
        )
