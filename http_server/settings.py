"""Reads the options of the server from command line and environment."""

import argparse
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.errors import RefusedError
from core.parser import FROM_ENVIRONMENT
from core.program import CLI, SERVER_COMMAND

DEFAULT_PORT, DEFAULT_HOST = 56332, "127.0.0.1"
DEFAULT_TTL_MINUTES, MOST_TTL_MINUTES = 60.0, 60 * 24 * 365
_MOST_PORT = 65_535


class ServingError(RefusedError):
    """The server cannot start so. Takes the key of its sentence, its facts."""

    table = "http.serving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How clients reach the server."""

    port: int
    host: str = DEFAULT_HOST
    url: str = ""  # for clients, without a last slash; "" for the address it listens on
    with_sse: bool = False
    is_open: bool = False
    origins: tuple[str, ...] = ()  # of web pages that may call
    ttl_s: float = DEFAULT_TTL_MINUTES * 60  # unused for so long, a session ends
    log_directory: str = ""


def read_options(
    options: argparse.Namespace, environment: Mapping[str, str], rooms: tuple[str, ...]
) -> Options:
    """options: of `add_serving`, with one of its options and `project`. Raises ServingError."""
    if options.http is None:
        values = {"--host": options.host, "--url": options.url, "--sse": options.sse}
        values["--no-auth"] = options.no_auth
        raise ServingError("only_with_http", option=next(name for name in values if values[name]))
    project_rooms = [room for room in rooms if not room.startswith("fragments")]
    if project_rooms and not options.project:
        raise ServingError("needs_project", rooms=", ".join(project_rooms), server=SERVER_COMMAND)
    host, url = (options.host or DEFAULT_HOST).strip(), (options.url or "").strip().rstrip("/")
    is_in_clear = url.startswith("http://") and not is_loopback(urlsplit(url).hostname or "")
    if url and (is_in_clear or not _is_origin(url)):
        raise ServingError("bad_url")
    if options.no_auth and (url or not is_loopback(host)):
        raise ServingError("open_to_others", cli=CLI)
    if not url and not is_loopback(host):
        raise ServingError("needs_url", host=host)
    origins = environment.get("ALLOWED_ORIGINS", "").split(",")
    origins = [origin.strip().rstrip("/") for origin in origins]
    if not all(_is_origin(origin) for origin in origins if origin):
        raise ServingError("bad_origin")
    port, source = options.http, "--http"
    if port == FROM_ENVIRONMENT:
        port, source = environment.get("PORT", "").strip() or str(DEFAULT_PORT), "PORT"
    if not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) <= _MOST_PORT):
        raise ServingError("bad_port", source=source, server=SERVER_COMMAND, port=DEFAULT_PORT)
    try:
        minutes = float(environment.get("SESSION_TTL_MINUTES", "").strip() or DEFAULT_TTL_MINUTES)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= MOST_TTL_MINUTES:
        raise ServingError("bad_ttl", most=MOST_TTL_MINUTES)
    return Options(
        port=int(port),
        host=host,
        url=url,
        with_sse=options.sse,
        is_open=options.no_auth,
        origins=tuple(filter(None, origins)),
        ttl_s=minutes * 60,
        log_directory=environment.get("LOG_DIR", "").strip(),
    )


def is_loopback(host: str) -> bool:
    """Return whether no other machine reaches this host of a URI."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_origin(address: str) -> bool:
    try:
        parts = urlsplit(address)
        is_valid = parts.port is None or parts.port > 0
    except ValueError:
        return False
    rest = parts.path or parts.query or parts.fragment or parts.username or parts.password
    is_plain = address.isascii() and address.isprintable() and not set("*\\ ") & set(address)
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    return is_plain and is_valid and is_web and not rest
