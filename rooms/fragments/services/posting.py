"""Posts JSON to a service and reads its answer, within bounds of time and size.

What leaves the machine is what the caller posts, to the address that the user has named, and to no
other: a redirection is refused. A service on this machine is never asked through a proxy; for
others HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment hold. The key stands in one header of
the request, never in an address, an error or a log.
"""

import contextlib
import http.client
import json
import math
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rooms.fragments.errors import ServiceError
from rooms.fragments.services.address import is_local

_MOST_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 65_536
_MOST_PAUSE_S = 3_600
_AGAIN_S = 0.1  # a socket that was not open yet at the deadline is by then
_OF_STATUS = {401: "no_access", 403: "no_access", 404: "not_there", 429: "overloaded"}
_OF_STATUS |= {408: "failed", 503: "overloaded"}


class Service(NamedTuple):
    """A service to post to. variable: the one that names it, for sentences; key: "" for none."""

    address: str
    variable: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Service({self.variable})"  # the key is nobody's business


class _Deadline:
    """Ends connections at a moment: a timeout of a socket begins anew with every byte that comes.

    A service could else send its headers, or one `100 Continue` after the other, for ever.
    """

    def __init__(self, until: float) -> None:
        self._until = until
        self._connections = list[http.client.HTTPConnection]()
        self._is_over = threading.Event()

    @property
    def has_passed(self) -> bool:
        return time.monotonic() >= self._until

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Keep it for what is asked in here."""
        threading.Thread(target=self._watch, name="service-deadline", daemon=True).start()
        try:
            yield
        finally:
            self._is_over.set()

    def plain(self, host: str, **options: Any) -> http.client.HTTPConnection:
        """Return a connection that ends at this moment."""
        return self._watched(http.client.HTTPConnection(host, **options))

    def encrypted(self, host: str, **options: Any) -> http.client.HTTPConnection:
        """Return such a one for https."""
        return self._watched(http.client.HTTPSConnection(host, **options))

    def _watched(self, connection: http.client.HTTPConnection) -> http.client.HTTPConnection:
        self._connections.append(connection)
        return connection

    def _watch(self) -> None:
        pause_s = max(self._until - time.monotonic(), 0.0)
        sockets = list[socket.socket]()
        while not self._is_over.wait(pause_s):
            pause_s = _AGAIN_S
            # An answer without a length takes the socket along; who reads it sees the deadline.
            sockets += [it.sock for it in self._connections if it.sock]
            for one in sockets:
                with contextlib.suppress(OSError):  # not of TLS, which would wait for the other end
                    socket.socket.shutdown(one, socket.SHUT_RDWR)


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a connection that ends in time."""
        return self.do_open(self._deadline.plain, request)


class _Encrypted(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a connection that ends in time."""
        return self.do_open(self._deadline.encrypted, request)


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none; what is asked then ends as an error of this status."""


def post(service: Service, body: object, *, timeout_s: float) -> Any:
    """Return the JSON that a service answers. Raises ServiceError.

    timeout_s: for the whole of it, from the connection to the last byte of the answer; where a name
    stands for several addresses, for the way to each of them.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "sentinel-memory"}
    headers["Accept"] = "application/json"
    if service.key:
        headers["Authorization"] = f"Bearer {service.key}"
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    request = urllib.request.Request(service.address, data, headers, method="POST")
    deadline = _Deadline(time.monotonic() + timeout_s)
    try:
        with (
            deadline.kept(),
            _opener(service.address, deadline).open(request, timeout=timeout_s) as response,
        ):
            text = _read(response, service, deadline)
    except urllib.error.HTTPError as error:
        error.close()
        raise _refusal(service, error) from None
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        failed = TimeoutError() if deadline.has_passed else error
        raise _failure(service, failed, timeout_s) from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ServiceError("bad_answer", variable=service.variable) from None


def _opener(address: str, deadline: _Deadline) -> urllib.request.OpenerDirector:
    host = urlsplit(address).hostname or ""
    is_direct = is_local(host) or urllib.request.proxy_bypass(host)
    proxies = {} if is_direct else urllib.request.getproxies_environment()
    return urllib.request.build_opener(
        urllib.request.ProxyHandler(proxies),
        _Plain(deadline),
        _Encrypted(deadline),
        _NoRedirection(),
    )


def _read(response: http.client.HTTPResponse, service: Service, deadline: _Deadline) -> bytes:
    pieces, size = list[bytes](), 0
    while piece := response.read1(_PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_BYTES:
            raise ServiceError("too_large", variable=service.variable)
        if deadline.has_passed:
            raise TimeoutError
    if deadline.has_passed:  # what ended there may look like an answer
        raise TimeoutError
    if response.length:  # is still to come, but the connection has ended
        raise http.client.IncompleteRead(b"")
    return b"".join(pieces)


def _refusal(service: Service, error: urllib.error.HTTPError) -> ServiceError:
    status = error.code
    if 300 <= status < 400:
        return ServiceError("elsewhere", variable=service.variable)
    key = _OF_STATUS.get(status, "refused" if status < 500 else "failed")
    pause_s = _pause_s(error.headers.get("Retry-After", "")) if key == "overloaded" else 0
    return ServiceError(key, retry_after_s=pause_s, variable=service.variable, status=status)


def _pause_s(text: str) -> float:
    """Return the seconds of a Retry-After; 0 for none, and for a date."""
    digits = text.strip()
    is_number = digits.isascii() and digits.isdigit()
    return min(int(digits[:9]), _MOST_PAUSE_S) if is_number else 0


def _failure(service: Service, error: Exception, timeout_s: float) -> ServiceError:
    """Return what a failed connection is to a person; its own text may hold the address."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    variable = service.variable
    if isinstance(reason, TimeoutError):
        return ServiceError("timeout", variable=variable, seconds=math.ceil(timeout_s))
    if isinstance(reason, ssl.SSLCertVerificationError):
        return ServiceError("no_trust", variable=variable)
    is_begun = isinstance(reason, http.client.HTTPException | ConnectionResetError)
    return ServiceError("broken_off" if is_begun else "unreachable", variable=variable)
