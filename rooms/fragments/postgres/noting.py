"""Changes what is kept beside the fragments on a PostgreSQL server: links, entries, the state."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rooms.fragments.fragment import Entry, Link
from rooms.fragments.postgres import tables
from rooms.fragments.postgres.conditions import entries_where
from rooms.fragments.postgres.reading import PostgresReading
from rooms.fragments.postgres.rows import entry_values, stored
from rooms.fragments.storage.columns import ENTRIES


class PostgresNoting(PostgresReading):
    """See `Writing`."""

    def put_links(self, links: Iterable[Link]) -> int:
        """See `Writing`."""
        given = dict[tuple[str, str], Link]()
        for it in links:
            first = given.get((it.from_id, it.to_id), it)
            given[it.from_id, it.to_id] = replace(first, relation=it.relation)
        if not given:
            return 0
        rows = [
            (it.from_id, it.to_id, it.relation, stored("created_at", it.created_at))
            for it in given.values()
        ]
        self._cursor.executemany(
            "INSERT INTO fragment_links (from_id, to_id, relation_type, created_at)"
            " VALUES (%s, %s, %s, %s) ON CONFLICT (from_id, to_id)"
            " DO UPDATE SET relation_type = excluded.relation_type RETURNING xmax = 0",
            rows,
            returning=True,
        )
        return sum(row[0] for at in self._cursor.results() for row in at.fetchall())

    def drop_links(self, links: Iterable[Link]) -> int:
        """See `Writing`."""
        ends = {(it.from_id, it.to_id) for it in links}
        return self._cursor.execute(
            "DELETE FROM fragment_links WHERE (from_id, to_id) IN"
            " (SELECT * FROM unnest(%s::text[], %s::text[]))",
            ([it for it, _ in ends], [it for _, it in ends]),
        ).rowcount

    def note(self, entries: Iterable[Entry]) -> None:
        """See `Writing`."""
        for entry in entries:
            table = ENTRIES[type(entry)]
            new = ", ".join(f"{it} = excluded.{it}" for it in table.columns.values())
            instead = (
                f" ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {new}" if table.key else ""
            )
            self._cursor.execute(
                f"INSERT INTO {table.name} ({table.selected})"
                f" VALUES ({', '.join(['%s'] * len(table.columns))}){instead}",
                entry_values(entry),
            )

    def forget_entries(self, kind: type[Entry], *, of: str = "", before: str = "") -> int:
        """See `Writing`."""
        table = ENTRIES[kind]
        condition, values = entries_where(table, of=of, before=before)
        statement = f"DELETE FROM {table.name} WHERE {condition}"
        return self._cursor.execute(statement, values).rowcount

    def set_state(self, values: Mapping[str, str]) -> None:
        """See `Writing`. It is the room's, and only upkeep sets it."""
        for name, value in values.items():
            self._cursor.execute(
                "INSERT INTO state VALUES ('', %s, %s) ON CONFLICT (agent_id, name)"
                " DO UPDATE SET value = excluded.value"
                if value
                else "DELETE FROM state WHERE agent_id = '' AND name = %s",
                (name, value) if value else (name,),
            )

    def count_up(self, figures: Mapping[str, int]) -> None:
        """See `Writing`."""
        rows = [(self._agent, name, str(figure)) for name, figure in figures.items() if figure]
        if rows:
            self._cursor.executemany(
                "INSERT INTO state VALUES (%s, %s, %s) ON CONFLICT (agent_id, name) DO UPDATE"
                " SET value = (state.value::bigint + excluded.value::bigint)::text",
                rows,
            )

    def revised(self) -> Mapping[str, tuple[str, str]]:
        """See `Writing`."""
        self._cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else the end makes the revisions
        rows = self._rows(
            "SELECT agent_id, coalesce(former::text, ''), revision::text FROM revisions"
            " WHERE made_in = pg_current_xact_id_if_assigned() AND made_at = now()"
        )
        return {agent: (former, revision) for agent, former, revision in rows}

    def _revise(self, meant: str = "true", values: Sequence[Any] = ()) -> None:
        """Make a new revision of the agents whose fragments are meant by a condition."""
        own = (" AND agent_id = %s", (self._agent,)) if self._agent else ("", ())
        self._cursor.execute(
            "INSERT INTO revisions AS r (agent_id) SELECT DISTINCT agent_id FROM fragments"
            f" WHERE {meant}{own[0]} {tables.REVISED}",
            (*values, *own[1]),
        )
