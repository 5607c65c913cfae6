"""Every refusal and failure of a PostgreSQL server, by the errors of the server itself."""

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from core.errors import RefusedError
from core.program import shown
from core.room.database import DatabaseBusyError, DatabaseError, DatabaseWaitEndedError

if TYPE_CHECKING:
    from psycopg import Error

Phase = Literal["begin", "body", "commit"]
_REASON_CHARS = 200


class ServerSettingError(RefusedError):
    """A setting of the server cannot be used. Facts: variable, and those of the sentence."""

    table = "postgres"


class ServerError(DatabaseError):
    """A server cannot be used. Facts: path, and those of the key.

    path: the server's name, without a password.
    """

    table = "postgres"


class NoConnectionError(ServerError):
    """No server answers, the way is not secured, or nobody gets in. Facts: path, reason.

    Keys: `unreachable`, `not_proven`, and those of a server that refuses.
    """

    placed = ("path", "reason")  # libpq names hosts, sockets and users


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
_EXPLAINED = ("Is the server running", "DETAIL:", "HINT:")  # below the line on the error
_TLS = re.compile(r"(?i)\bssl|sslmode|sslrootcert|certificate")
_STARTING = re.compile(r"(?:starting up|shutting down|in recovery|not (?:yet )?accepting)")

# By the beginning of the codes of SQLSTATE: an error in any phase, and one in the first.
_KEYS = {
    "57014": "slow",
    "42501": "denied",
    **dict.fromkeys(("3F000", "42P01", "42703", "42883"), "schema_missing"),
    "53100": "disk_full",
    "25006": "read_only",
    "53200": "memory",
    "53300": "full",
}
_KEYS_AT_BEGIN = {
    **dict.fromkeys(("22023", "42704", "42501"), "no_roles"),
    "0A000": "read_only",  # a standby begins no transaction that writes
}
_BUSY = ("55P03", "40P01", "40001")
_CUT = ("57P01", "57P02", "57P03", "57P05", "25P03", "25P04")


def failed_connection(name: str, error: Exception | None) -> ServerError:
    """Return the error for a failed connection. error: None where nobody answered in time."""
    from psycopg import OperationalError

    if error is not None and not isinstance(error, OperationalError):
        return ServerError("bad_address", path=name)  # its words may quote the password
    text = str(error or "")
    lines = text.splitlines()
    if "FATAL" not in text and (line := next(filter(_TLS.search, lines), "")):
        return NoConnectionError("not_proven", path=name, reason=_reason(line))
    if _NO_PASSWORD not in text and ("FATAL" not in text or _STARTING.search(text)):
        return NoConnectionError("unreachable", path=name, reason=_reason(text))
    for key, pattern in _REFUSALS.items():
        if line := next(filter(pattern.search, lines), ""):
            return NoConnectionError(key, path=name, reason=_reason(line.rpartition("FATAL:")[2]))
    return NoConnectionError("refused", path=name, reason=_reason(text))


@contextlib.contextmanager
def connecting(name: str) -> Iterator[None]:
    """Raise errors of connecting, and a missing driver, as ours."""
    try:
        from psycopg import Error
    except ImportError as error:
        raise ServerError("no_driver", path=name) from error
    try:
        yield
    except Error as error:
        raise failed_connection(name, error) from None


@contextlib.contextmanager
def translated(name: str, phase: Phase, *, query_s: float, waited_s: float) -> Iterator[None]:
    """Raise the errors of psycopg as ours. phase: of the transaction."""
    from psycopg import Error

    try:
        yield
    except Error as error:
        raise error_of(name, error, phase, query_s=query_s, waited_s=waited_s) from error


def error_of(
    name: str, error: "Error", phase: Phase, *, query_s: float, waited_s: float
) -> DatabaseError:
    from psycopg import OperationalError

    state = error.sqlstate or ""
    if not (state or isinstance(error, OperationalError)):
        # psycopg itself: a value that cannot be sent
        return ServerError("failed", path=name, state="client", reason=type(error).__name__)
    has_ended = state[:2] in ("08", "") or state in _CUT
    if phase == "commit" and (has_ended or error.diag.severity_nonlocalized in ("FATAL", "PANIC")):
        # As where WAL finds the disk full: the change may be in it.
        return ServerError("unknown", path=name)
    if has_ended:
        return ConnectionCutError(path=name)
    if state in _BUSY:
        return ServerBusyError("lock", path=name, waited_s=max(round(waited_s), 1))
    keys = _KEYS | _KEYS_AT_BEGIN if phase == "begin" else _KEYS
    if state in keys:
        return ServerError(keys[state], path=name, query_s=max(round(query_s), 1))
    # Names alone: the other lines of the server quote data.
    where = error.diag.table_name or error.diag.constraint_name or ""
    reason = shown(f"{type(error).__name__} {where}".strip())[:_REASON_CHARS]
    return ServerError("failed", path=name, state=state, reason=reason)


def _reason(text: str) -> str:
    lines = [line for each in text.splitlines() if (line := each.strip())]
    lines = [line for line in lines if not line.startswith(_EXPLAINED)]
    return shown(lines[-1] if lines else "no answer")[:_REASON_CHARS]
