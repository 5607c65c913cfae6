"""Says with which statements a transaction begins, all of them sent at once."""

from dataclasses import dataclass

ROOM_ROLE, UPKEEP_ROLE = "sentinel_room", "sentinel_upkeep"
AGENT_SETTING = "app.current_agent_id"
ALL_WRITERS = "sentinel-memory: all writers"  # whose lock upkeep has alone, and agents share
# The planner takes all agents to be alike, and for one with many rows it would read and sort them
# all, where an index has their order. Without bitmaps that index costs the least.
_PLANS = {"enable_bitmapscan": "off"}
# A role may have this limit from PostgreSQL 17 on; tables take as long as they need.
_NO_END = (
    "SELECT pg_catalog.set_config(name, '0', true) FROM pg_catalog.pg_settings"
    " WHERE name = 'transaction_timeout'"
)
_IDLE_S = 300  # in a transaction: of a process that hangs, after which others get its locks


@dataclass(frozen=True, slots=True)
class Opening:
    """How a transaction begins.

    role: in which it runs, "" for the login's own, which takes no turn. agent: whose rows it sees,
    "" for all. changes: False for one that only reads, and sees one state. query_s: what one
    statement may take, 0 for ever. path: the schemas in which names are looked up. in_turn: False
    for changes of rows that no other change depends on.
    """

    role: str
    agent: str = ""
    changes: bool = True
    query_s: float = 30.0
    path: str = ""
    in_turn: bool = True

    def statements(self, *, lock_s: float, wait_s: float) -> str:
        """Return the statements; the last answers with role, whether it bypasses, and the process.

        lock_s: how long to wait for its turn; wait_s: for a lock on rows, later.
        """
        kind = "READ COMMITTED READ WRITE" if self.changes else "REPEATABLE READ READ ONLY"
        settings = {
            "statement_timeout": str(_ms(self.query_s)),
            "lock_timeout": str(_ms(lock_s)),
            "idle_in_transaction_session_timeout": str(_IDLE_S * 1_000),
            "row_security": "on",  # a role may have it off, for its backups
            "TimeZone": "UTC",
            "DateStyle": "ISO",
            AGENT_SETTING: self.agent,
            **({"search_path": self.path} if self.path else {}),
            **(_PLANS if self.agent else {}),
        }
        given = ", ".join(
            f"pg_catalog.set_config('{name}', {literal(value)}, true)"
            for name, value in settings.items()
        )
        return ";".join((
            f"BEGIN ISOLATION LEVEL {kind}",
            *([f"SET LOCAL ROLE {self.role}"] if self.role else []),
            f"SELECT {given}",
            *([] if self.role else [_NO_END]),
            *self._turn(),
            "SELECT current_user, rolsuper OR rolbypassrls, pg_catalog.pg_backend_pid(),"
            f" pg_catalog.set_config('lock_timeout', '{_ms(wait_s)}', true)"
            " FROM pg_catalog.pg_roles WHERE rolname = current_user",
        ))  # fmt: skip

    def _turn(self) -> list[str]:
        """Return the statement that waits until no other writer's change can come between."""
        if not (self.changes and self.role and self.in_turn):
            return []
        if not self.agent:
            return [f"SELECT pg_catalog.pg_advisory_xact_lock({_key(ALL_WRITERS)})"]
        own = _key(f"sentinel-memory: writer {self.agent}")
        return [
            f"SELECT pg_catalog.pg_advisory_xact_lock_shared({_key(ALL_WRITERS)}),"
            f" pg_catalog.pg_advisory_xact_lock({own})"
        ]


def literal(text: str) -> str:
    """Return a text as a constant of SQL, whatever the server's settings make of a backslash."""
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"E'{escaped}'"


def _key(name: str) -> str:
    return f"pg_catalog.hashtextextended({literal(name)}, 0)"


def _ms(seconds: float) -> int:
    return max(round(seconds * 1_000), 1) if seconds else 0
