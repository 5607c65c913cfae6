"""Posts JSON to a service and reads its answer, within bounds of time and size.

What leaves the machine is what the caller posts, to the address that the user has named, and to no
other: a redirection is refused. A service on this machine is never asked through a proxy; for
others HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment hold. The key stands in one header of
the request, never in an address, an error or a log.
"""

import http.client
import json
import math
import ssl
import time
import urllib.error
import urllib.request
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rooms.fragments.services.address import is_local
from rooms.fragments.services.errors import ServiceError

_MOST_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 65_536
_MOST_PAUSE_S = 3_600
_OF_STATUS = {401: "no_access", 403: "no_access", 404: "not_there", 429: "overloaded"}
_OF_STATUS |= {408: "failed", 503: "overloaded"}


class Service(NamedTuple):
    """A service to post to. variable: the one that names it, for sentences; key: "" for none."""

    address: str
    variable: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Service({self.variable})"  # the key is nobody's business


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none; what is asked then ends as an error of this status."""


def post(service: Service, body: object, *, timeout_s: float) -> Any:
    """Return the JSON that a service answers. Raises ServiceError.

    timeout_s: for every step of the connection, and for the whole answer.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "sentinel-memory"}
    headers["Accept"] = "application/json"
    if service.key:
        headers["Authorization"] = f"Bearer {service.key}"
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    request = urllib.request.Request(service.address, data, headers, method="POST")
    until = time.monotonic() + timeout_s
    try:
        with _opener(service.address).open(request, timeout=timeout_s) as response:
            text = _read(response, service, until)
    except urllib.error.HTTPError as error:
        error.close()
        raise _refusal(service, error) from None
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise _failure(service, error, timeout_s) from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ServiceError("bad_answer", variable=service.variable) from None


def _opener(address: str) -> urllib.request.OpenerDirector:
    host = urlsplit(address).hostname or ""
    is_direct = is_local(host) or urllib.request.proxy_bypass(host)
    proxies = {} if is_direct else urllib.request.getproxies_environment()
    return urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _NoRedirection())


def _read(response: http.client.HTTPResponse, service: Service, until: float) -> bytes:
    pieces, size = list[bytes](), 0
    while piece := response.read1(_PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > _MOST_BYTES:
            raise ServiceError("too_large", variable=service.variable)
        if time.monotonic() > until:
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
