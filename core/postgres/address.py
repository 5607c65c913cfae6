"""Finds the PostgreSQL server that an address or the environment names, and says what fails there.

Every refusal and failure is told by the errors of the server itself.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, urlencode

from core.errors import RefusedError
from core.program import printable_fact
from core.room.database import DatabaseBusyError, DatabaseError, DatabaseWaitEndedError

if TYPE_CHECKING:
    from psycopg import Error

SCHEMES = ("postgresql://", "postgres://")
MOST_CONNECTIONS, MOST_MS = 1_000, 86_400_000
PREPARED_VARIABLE = "DB_PREPARED_STATEMENTS"
ROOM_USER_VARIABLE, ROOM_PASSWORD_VARIABLE = "POSTGRES_ROOM_USER", "POSTGRES_ROOM_PASSWORD"
# The variables of each part of an address, and the parts that say it as well.
_PARTS = {
    "host": ("POSTGRES_HOST", "DB_HOST", {"host", "hostaddr"}),
    "port": ("POSTGRES_PORT", "DB_PORT", {"port"}),
    "dbname": ("POSTGRES_DB", "DB_NAME", {"dbname"}),
    "user": ("POSTGRES_USER", "DB_USER", {"user"}),
    "password": ("POSTGRES_PASSWORD", "DB_PASSWORD", {"password", "passfile"}),
}
_LOGIN = ("user", "password", "passfile")

Phase = Literal["begin", "body", "commit"]
_REASON_CHARS = 200


class ServerSettingError(RefusedError):
    """A setting of the server cannot be used. Facts: variable, and those of the sentence."""

    table = "postgres"


class ServerError(DatabaseError):
    """A server cannot be used. Facts: path, its name without a password, and those of the key."""

    table = "postgres"


class NoConnectionError(ServerError):
    """No server answers, the way is not secured, or nobody gets in. Facts: path, reason."""

    place_keys = ("path", "reason")  # libpq names hosts, sockets and users


class ServerBusyError(ServerError, DatabaseBusyError):
    """Connections or locks were not free in time. Facts: path, waited_s; keys: pool, lock."""


class ServerWaitEndedError(ServerError, DatabaseWaitEndedError):
    """The call was cancelled while it waited. Facts: path."""

    key = "wait_ended"


class ConnectionCutError(ServerError):
    """The connection ended before anything was stored. Facts: path."""

    key = "cut"


_NO_PASSWORD = "no password supplied"  # libpq says so by itself, of a server that asked for one
_REFUSALS = {  # the first that fits: a wrong password comes with a second try that has no TLS
    "login": re.compile(rf"authentication failed|role .{{0,200}} does not exist|{_NO_PASSWORD}"),
    "no_entry": re.compile(r"pg_hba\.conf"),
    "no_database": re.compile(r"database .{0,200} does not exist"),
    "full": re.compile(r"too many (?:clients|connections)|connection slots|connection limit"),
}
_EXPLANATIONS = ("Is the server running", "DETAIL:", "HINT:")  # below the line on the error
_TLS = re.compile(r"(?i)\bssl|sslmode|sslrootcert|certificate")
_RESTARTING = re.compile(r"(?:starting up|shutting down|in recovery|not (?:yet )?accepting)")

# By the beginning of the codes of SQLSTATE: an error in any phase, and one in the first.
_KEYS = {
    **{"57014": "slow", "42501": "denied", "25006": "read_only"},
    **{"53100": "disk_full", "53200": "memory", "53300": "full"},
    **dict.fromkeys(("3F000", "42P01", "42703", "42883"), "schema_missing"),
}
_KEYS_AT_BEGIN = {
    **dict.fromkeys(("22023", "42704", "42501"), "no_roles"),
    "0A000": "read_only",  # a standby begins no transaction that writes
}
_BUSY_STATES = ("55P03", "40P01", "40001")
_CUT_STATES = ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04")


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and how it is used."""

    dsn: str = field(repr=False)  # its address with the password, shown nowhere
    most_connections: int = 20  # of one process and login
    idle_s: float = 30.0  # for which an idle one is kept
    wait_s: float = 10.0  # for a free one, and for locks
    query_s: float = 30.0  # for one statement
    prepares: bool = True  # statements; never through a pooler that is noticed
    room_dsn: str = field(default="", repr=False)  # the same with the login of agents, if any

    @property
    def name(self) -> str:
        """User, host, port and database for people; never a password."""
        return _public_name_of(self.dsn)


def is_server(place: str) -> bool:
    return place.lower().startswith(SCHEMES)


def server_of(place: str, environment: Mapping[str, str]) -> Server:
    """Return the server of an address. Raises ServerSettingError, a ValueError, and ServerError.

    Missing parts, all of them for `postgresql://`, come from POSTGRES_HOST, POSTGRES_PORT,
    POSTGRES_DB, POSTGRES_USER and POSTGRES_PASSWORD, or DB_HOST, DB_PORT, DB_NAME, DB_USER and
    DB_PASSWORD.
    """
    switch = environment.get(PREPARED_VARIABLE, "").strip().lower() or "on"
    if switch not in ("on", "off"):
        raise ServerSettingError("bad_switch", variable=PREPARED_VARIABLE)
    parts = _parts_of(f"postgresql://{place.partition('://')[2]}")
    for part, (name, other_name, synonyms) in _PARTS.items():
        variable = name if environment.get(name) else other_name
        if environment.get(variable) and not parts.keys() & (synonyms | {"service"}):
            parts[part] = environment[variable]
            if part == "port":
                parts[part] = str(_number_from(environment, variable, 5_432, 65_535))
    dsn, room_dsn = _address_of(parts), ""
    if room_user := environment.get(ROOM_USER_VARIABLE, ""):
        parts = {part: value for part, value in parts.items() if part not in _LOGIN}
        parts["user"] = room_user
        if room_password := environment.get(ROOM_PASSWORD_VARIABLE, ""):
            parts["password"] = room_password
        room_dsn = _address_of(parts)
    return Server(
        dsn,
        most_connections=_number_from(environment, "DB_MAX_CONNECTIONS", 20, MOST_CONNECTIONS),
        idle_s=_number_from(environment, "DB_IDLE_TIMEOUT_MS", 30_000, MOST_MS) / 1_000,
        wait_s=_number_from(environment, "DB_CONN_TIMEOUT_MS", 10_000, MOST_MS) / 1_000,
        query_s=_number_from(environment, "DB_QUERY_TIMEOUT", 30_000, MOST_MS) / 1_000,
        prepares=switch == "on",
        room_dsn=room_dsn,
    )


def _parts_of(address: str) -> dict[str, str]:
    """Return the parts that an address has, by libpq's names. Raises ServerError."""
    with translate_connect_errors(""):
        from psycopg.conninfo import conninfo_to_dict

        try:
            return {part: str(value) for part, value in conninfo_to_dict(address).items()}
        except UnicodeError:
            raise ServerError("bad_address", path="") from None


def _address_of(parts: Mapping[str, str]) -> str:
    return f"postgresql://?{urlencode(parts, quote_via=quote)}"


@lru_cache(maxsize=64)  # every statement has it ready for an error
def _public_name_of(dsn: str) -> str:
    """Return the address without its password, and only with parameters of the place."""
    parts = _parts_of(dsn)
    hosts = parts.get("host", parts.get("hostaddr", "")).split(",")
    ends = list[str]()
    for host, port in zip_longest(hosts, parts.get("port", "").split(","), fillvalue=""):
        ends.append(f"{f'[{host}]' if ':' in host else host}{':' if port else ''}{port}")
    login = f"{parts['user']}@" if "user" in parts else ""
    return printable_fact(f"postgresql://{login}{','.join(ends)}/{parts.get('dbname', '')}")


def _number_from(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Return a whole number from 1 to `most`. Raises ServerSettingError."""
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise ServerSettingError("bad_figure", variable=name, most=most, default=default)
    return int(text)


def connection_error_of(name: str, error: Exception | None) -> ServerError:
    """Return the error for a failed connection. error: None where nobody answered in time."""
    from psycopg import OperationalError

    if error is not None and not isinstance(error, OperationalError):
        return ServerError("bad_address", path=name)  # its words may quote the password
    text = str(error or "")
    lines = text.splitlines()
    if "FATAL" not in text and (line := next(filter(_TLS.search, lines), "")):
        return NoConnectionError("not_proven", path=name, reason=_cause_in(line))
    if _NO_PASSWORD not in text and ("FATAL" not in text or _RESTARTING.search(text)):
        return NoConnectionError("unreachable", path=name, reason=_cause_in(text))
    for key, pattern in _REFUSALS.items():
        if line := next(filter(pattern.search, lines), ""):
            return NoConnectionError(key, path=name, reason=_cause_in(line.rpartition("FATAL:")[2]))
    return NoConnectionError("refused", path=name, reason=_cause_in(text))


@contextlib.contextmanager
def translate_connect_errors(name: str) -> Iterator[None]:
    """Raise errors of connecting, and a missing driver, as ours."""
    try:
        from psycopg import Error
    except ImportError as error:
        raise ServerError("no_driver", path=name) from error
    try:
        yield
    except Error as error:
        raise connection_error_of(name, error) from None


def error_of(
    name: str, error: "Error", phase: Phase, *, query_s: float, waited_s: float
) -> DatabaseError:
    from psycopg import OperationalError

    state = error.sqlstate or ""
    if not (state or isinstance(error, OperationalError)):
        # psycopg itself: a value that cannot be sent
        return ServerError("failed", path=name, state="client", reason=type(error).__name__)
    has_ended = state[:2] in ("08", "") or state in _CUT_STATES
    if phase == "commit" and (has_ended or error.diag.severity_nonlocalized in ("FATAL", "PANIC")):
        # As where WAL finds the disk full: the change may be in it.
        return ServerError("unknown", path=name)
    if has_ended:
        return ConnectionCutError(path=name)
    if state in _BUSY_STATES:
        return ServerBusyError("lock", path=name, waited_s=max(round(waited_s), 1))
    keys = _KEYS | _KEYS_AT_BEGIN if phase == "begin" else _KEYS
    if state in keys:
        return ServerError(keys[state], path=name, query_s=max(round(query_s), 1))
    # Names alone: the other lines of the server quote data.
    relation = error.diag.table_name or error.diag.constraint_name or ""
    reason = printable_fact(f"{type(error).__name__} {relation}".strip())[:_REASON_CHARS]
    return ServerError("failed", path=name, state=state, reason=reason)


def _cause_in(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(_EXPLANATIONS)]
    return printable_fact(lines[-1] if lines else "no answer")[:_REASON_CHARS]
