"""Finds the PostgreSQL server that an address or the environment names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qsl, quote, unquote, urlencode

from core.postgres.errors import ServerSettingError
from core.program import shown

SCHEMES = ("postgresql://", "postgres://")
MOST_CONNECTIONS, MOST_MS = 1_000, 86_400_000
PREPARED_VARIABLE = "DB_PREPARED_STATEMENTS"
ROOM_USER_VARIABLE, ROOM_PASSWORD_VARIABLE = "POSTGRES_ROOM_USER", "POSTGRES_ROOM_PASSWORD"
_NO_HOSTS = frozenset(("host", "hostaddr", "service"))  # each says by itself where the server is
_UNSAFE_SHOWN = "/:,[]-._~"


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and how it is used.

    dsn: its address with the password, shown nowhere. room_dsn: the same with the login of agents,
    "" without one. most_connections: of one process and login. idle_s: how long an idle one is
    kept. wait_s: for a free one, and for locks. query_s: for one statement. prepares: whether
    statements are prepared; never through a pooler that is noticed.
    """

    dsn: str = field(repr=False)
    most_connections: int = 20
    idle_s: float = 30.0
    wait_s: float = 10.0
    query_s: float = 30.0
    prepares: bool = True
    room_dsn: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """User, host, port and database for people; never a password."""
        return _shown_name(self.dsn)


def is_server(place: str) -> bool:
    return place.lower().startswith(SCHEMES)


def server_of(place: str, environment: Mapping[str, str]) -> Server:
    """Return the server of an address. Raises ServerSettingError, a ValueError.

    Missing parts, all of them for `postgresql://`, come from POSTGRES_HOST, POSTGRES_PORT,
    POSTGRES_DB, POSTGRES_USER and POSTGRES_PASSWORD, or DB_HOST, DB_PORT, DB_NAME, DB_USER and
    DB_PASSWORD.
    """
    prepared = environment.get(PREPARED_VARIABLE, "").strip().lower() or "on"
    if prepared not in ("on", "off"):
        raise ServerSettingError("bad_switch", variable=PREPARED_VARIABLE)
    address = _Address(place)
    address.fill_in(environment)
    dsn, room_dsn = address.text(), ""
    if room_user := environment.get(ROOM_USER_VARIABLE, ""):
        address.log_in(room_user, environment.get(ROOM_PASSWORD_VARIABLE, ""))
        room_dsn = address.text()
    return Server(
        dsn,
        most_connections=_figure(environment, "DB_MAX_CONNECTIONS", 20, MOST_CONNECTIONS),
        idle_s=_figure(environment, "DB_IDLE_TIMEOUT_MS", 30_000, MOST_MS) / 1_000,
        wait_s=_figure(environment, "DB_CONN_TIMEOUT_MS", 10_000, MOST_MS) / 1_000,
        query_s=_figure(environment, "DB_QUERY_TIMEOUT", 30_000, MOST_MS) / 1_000,
        prepares=prepared == "on",
        room_dsn=room_dsn,
    )


class _Address:
    """The parts of an address as it spells them, percent signs and all."""

    def __init__(self, place: str) -> None:
        rest = place.partition("://")[2].partition("#")[0]
        place, _, query = rest.partition("?")
        place, _, self.database = place.partition("/")
        user, _, self.hosts = place.rpartition("@")
        self.user, _, self.password = user.partition(":")
        self.parameters = dict(parse_qsl(query, keep_blank_values=True))
        self.has_port = ":" in self.hosts.rpartition("]")[2] or "," in self.hosts

    def fill_in(self, environment: Mapping[str, str]) -> None:
        known = self.parameters.keys()

        def value_of(*names: str) -> str:
            return next((environment[name] for name in names if environment.get(name)), "")

        host = value_of("POSTGRES_HOST", "DB_HOST")
        if host and not self.hosts and not known & _NO_HOSTS:
            self.parameters["host"] = host
        if not self.has_port and not known & {"port", "service"}:
            variable = "POSTGRES_PORT" if environment.get("POSTGRES_PORT") else "DB_PORT"
            if environment.get(variable):
                self.parameters["port"] = str(_figure(environment, variable, 5_432, 65_535))
        if not self.database and not known & {"dbname", "service"}:
            self.database = quote(value_of("POSTGRES_DB", "DB_NAME"), safe="")
        if not self.user and not known & {"user", "service"}:
            self.user = quote(value_of("POSTGRES_USER", "DB_USER"), safe="")
        password = value_of("POSTGRES_PASSWORD", "DB_PASSWORD")
        if password and not self.password and not known & {"password", "passfile", "service"}:
            self.parameters["password"] = password

    def log_in(self, user: str, password: str) -> None:
        self.user, self.password = quote(user, safe=""), ""
        for name in ("user", "password", "passfile"):
            self.parameters.pop(name, None)
        if password:
            self.parameters["password"] = password

    def text(self) -> str:
        login = f"{self.user}:{self.password}" if self.password else self.user
        query = urlencode(self.parameters, quote_via=quote)
        return (
            f"postgresql://{login}{'@' if login else ''}{self.hosts}/{self.database}"
            f"{'?' if query else ''}{query}"
        )

    def shown_name(self) -> str:
        """Return the address without its password, and only with parameters of the place."""
        known = self.parameters
        user = self.user or quote(known.get("user", ""), safe="")
        hosts = self.hosts or quote(known.get("host", known.get("hostaddr", "")), _UNSAFE_SHOWN)
        port = "" if self.has_port else known.get("port", "")
        database = self.database or quote(known.get("dbname", ""), safe="")
        where = f"{hosts}{':' if port else ''}{port}"
        name = f"postgresql://{user}{'@' if user else ''}{where}/{database}"
        return shown(unquote(name, errors="replace"))


@lru_cache(maxsize=64)  # every statement has it ready for an error
def _shown_name(dsn: str) -> str:
    return _Address(dsn).shown_name()


def _figure(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Return a whole number from 1 to `most`. Raises ServerSettingError."""
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise ServerSettingError("bad_figure", variable=name, most=most, default=default)
    return int(text)
