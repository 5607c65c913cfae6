"""Reads how the server is to be reached over HTTP, from the command line and the environment."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.errors import RefusedError
from core.parser import FROM_ENVIRONMENT
from core.program import CLI, SERVER_COMMAND
from http_server.hosts import is_loopback

DEFAULT_PORT, DEFAULT_HOST = 56332, "127.0.0.1"
DEFAULT_TTL_MINUTES, MOST_TTL_MINUTES = 60.0, 60 * 24 * 365
_MOST_PORT = 65_535


class ServingError(RefusedError):
    """The server cannot be reached in this way; takes the key of its sentence."""

    table = "http.serving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the server is reached.

    url: what clients call it, without a slash at the end, "" for the address it listens on.
    origins: of web pages that may call it. ttl_s: after so many seconds without a request a session
    has ended. log_directory: for a file of what is said, "" for none.
    """

    port: int
    host: str = DEFAULT_HOST
    url: str = ""
    with_sse: bool = False
    is_open: bool = False
    origins: tuple[str, ...] = ()
    ttl_s: float = DEFAULT_TTL_MINUTES * 60
    log_directory: str = ""


def read_options(
    given: argparse.Namespace, environment: Mapping[str, str], rooms: tuple[str, ...]
) -> Options:
    """Return how to serve over HTTP. Raises ServingError.

    given: what `add_serving` added, of which something was given, and `project`. rooms: what is to
    be served.
    """
    if given.http is None:
        extra = {"--host": given.host, "--url": given.url, "--sse": given.sse}
        options = {**extra, "--no-auth": given.no_auth}
        raise ServingError("only_with_http", option=next(it for it in options if options[it]))
    needing = [room for room in rooms if not room.startswith("fragments")]
    if needing and not given.project:
        raise ServingError("needs_project", rooms=", ".join(needing), server=SERVER_COMMAND)
    host = (given.host or DEFAULT_HOST).strip()
    url = _url(given.url or "")
    if given.no_auth and (url or not is_loopback(host)):
        raise ServingError("open_to_others", cli=CLI)
    if not url and not is_loopback(host):
        raise ServingError("needs_url", host=host, server=SERVER_COMMAND)
    return Options(
        port=_port(given.http, environment),
        host=host,
        url=url,
        with_sse=given.sse,
        is_open=given.no_auth,
        origins=_origins(environment.get("ALLOWED_ORIGINS", "")),
        ttl_s=_ttl_s(environment.get("SESSION_TTL_MINUTES", "")),
        log_directory=environment.get("LOG_DIR", "").strip(),
    )


def bracketed(host: str) -> str:
    """Return a host as it stands in an address."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _port(given: str, environment: Mapping[str, str]) -> int:
    source = "--http"
    if given == FROM_ENVIRONMENT:
        given, source = environment.get("PORT", "").strip() or str(DEFAULT_PORT), "PORT"
    if not (given.isascii() and given.isdigit() and len(given) < 6 and int(given) <= _MOST_PORT):
        raise ServingError("bad_port", source=source, server=SERVER_COMMAND, port=DEFAULT_PORT)
    return int(given)


def _url(given: str) -> str:
    url = given.strip().rstrip("/")
    if url and not _is_origin(url):
        raise ServingError("bad_url")
    if url.startswith("http://") and not is_loopback(urlsplit(url).hostname or ""):
        raise ServingError("bad_url")
    return url


def _origins(given: str) -> tuple[str, ...]:
    origins = tuple(filter(None, (it.strip().rstrip("/") for it in given.split(","))))
    if not all(_is_origin(it) for it in origins):
        raise ServingError("bad_origin")
    return origins


def _is_origin(address: str) -> bool:
    """Return whether an address is a scheme, a host and perhaps a port, and no more."""
    try:
        parts = urlsplit(address)
        rest = parts.path or parts.query or parts.fragment or parts.username or parts.password
        is_whole = parts.port is None or parts.port > 0
    except ValueError:
        return False
    is_plain = address.isascii() and address.isprintable() and not set("*\\ ") & set(address)
    return (
        is_plain
        and is_whole
        and not rest
        and parts.scheme in ("http", "https")
        and bool(parts.hostname)
    )


def _ttl_s(given: str) -> float:
    try:
        minutes = float(given.strip() or DEFAULT_TTL_MINUTES)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= MOST_TTL_MINUTES:
        raise ServingError("bad_ttl", most=MOST_TTL_MINUTES)
    return minutes * 60
