"""Keeps the server's papers on the PostgreSQL server of a team's fragments."""

import time
from collections.abc import Callable

from core.postgres.pool import Pool
from http_server.papers import COLUMNS, Kind, Paper, body_of, paper_of, row_of

_TABLE = "agent_memory.papers"
_FRESH = "(expires_at = 0 or expires_at > %s)"

# fmt: off
_PUT = f"""insert into {_TABLE} ({COLUMNS}) values (%s, %s, %s, %s, %s::jsonb, %s, %s, %s)
on conflict (kind, key) do update set agent = excluded.agent, parent = excluded.parent,
  body = excluded.body, expires_at = excluded.expires_at, made_at = excluded.made_at,
  used_at = excluded.used_at"""
_WITH_CHILDREN = f"""with recursive gone (kind, key) as (
  select kind, key from {_TABLE} where kind = %s and key = %s
  union select child.kind, child.key from {_TABLE} child join gone on child.parent = gone.key
  where child.parent != ''
) delete from {_TABLE} using gone
where {_TABLE}.kind = gone.kind and {_TABLE}.key = gone.key"""
# fmt: on


class PostgresPapers:
    """See `Papers`. pool: of the server; transactions run as its upkeep, as no agent reads them."""

    def __init__(self, pool: Pool, *, clock: Callable[[], float] = time.time) -> None:
        self._pool, self._clock = pool, clock

    def put(self, paper: Paper) -> None:
        """See `Papers`."""
        with self._pool.transaction(in_turn=False) as connection:
            connection.execute(_PUT, row_of(paper))

    def get(self, kind: Kind, key: str) -> Paper | None:
        """See `Papers`."""
        if "\0" in key:  # which the server takes nowhere
            return None
        papers = self._where(f"kind = %s and key = %s and {_FRESH}", kind, key, self._clock())
        return papers[0] if papers else None

    def take(self, kind: Kind, key: str) -> Paper | None:
        """See `Papers`."""
        statement = f"delete from {_TABLE} where kind = %s and key = %s returning {COLUMNS}"
        with self._pool.transaction(in_turn=False) as connection:
            row = connection.execute(statement, (kind, key)).fetchone()
        paper = paper_of(row) if row else None
        is_fresh = paper and (not paper.expires_at or paper.expires_at > self._clock())
        return paper if is_fresh else None

    def replace(self, before: Paper, *after: Paper) -> bool:
        """See `Papers`."""
        with self._pool.transaction(in_turn=False) as connection:
            condition = "kind = %s and key = %s and body = %s::jsonb"
            lock = f"select from {_TABLE} where {condition} for update"
            if not connection.execute(lock, (before.kind, before.key, body_of(before))).rowcount:
                return False
            for paper in after:
                connection.execute(_PUT, row_of(paper))
            return True

    def touch(self, kind: Kind, key: str, *, used_at: float, expires_at: float) -> bool:
        """See `Papers`."""
        statement = f"update {_TABLE} set used_at = %s, expires_at = %s"
        condition = f"kind = %s and key = %s and {_FRESH}"
        values = used_at, expires_at, kind, key, self._clock()
        with self._pool.transaction(in_turn=False) as connection:
            return connection.execute(f"{statement} where {condition}", values).rowcount > 0

    def drop(self, kind: Kind, key: str) -> int:
        """See `Papers`."""
        with self._pool.transaction(in_turn=False) as connection:
            # A statement sees what was there at its begin: children that come while it waits for
            # the paper would stay.
            lock = f"select from {_TABLE} where kind = %s and key = %s for update"
            connection.execute(lock, (kind, key))
            return connection.execute(_WITH_CHILDREN, (kind, key)).rowcount

    def listed(self, kind: Kind) -> list[Paper]:
        """See `Papers`."""
        return self._where(f"kind = %s and {_FRESH}", kind, self._clock())

    def count(self, kind: Kind) -> int:
        """See `Papers`."""
        statement = f"select count(*) from {_TABLE} where kind = %s and {_FRESH}"
        with self._pool.transaction(changes=False) as connection:
            row = connection.execute(statement, (kind, self._clock())).fetchone()
            return int(row[0]) if row else 0

    def expired(self, kind: Kind) -> list[Paper]:
        """See `Papers`."""
        return self._where(f"kind = %s and not {_FRESH}", kind, self._clock())

    def sweep(self) -> int:
        """See `Papers`."""
        statement = f"delete from {_TABLE} where not {_FRESH}"
        with self._pool.transaction(in_turn=False) as connection:
            return connection.execute(statement, (self._clock(),)).rowcount

    def check(self) -> None:
        """See `Papers`. In a transaction that may write: a standby begins none."""
        with self._pool.transaction(in_turn=False) as connection:
            connection.execute(f"select from {_TABLE} where false")

    def close(self) -> None:
        """See `Papers`."""
        self._pool.close()

    def _where(self, condition: str, *values: object) -> list[Paper]:
        """Return the papers that a condition holds for, the oldest first."""
        statement = f"select {COLUMNS} from {_TABLE} where {condition} order by made_at, kind, key"
        with self._pool.transaction(changes=False) as connection:
            return [paper_of(row) for row in connection.execute(statement, values)]
