"""Asks services that the user has named, within bounds of time and size.

Only the posted body leaves the machine, to the named address alone: no redirection is followed. A
local service is never asked through a proxy; for others HTTPS_PROXY, HTTP_PROXY and NO_PROXY hold.
The key stands in one header, never in an address, an error or a log.
"""

import ipaddress
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from rooms.fragments.fragment import ServiceError

KEY_VARIABLE = "OPENAI_API_KEY"
PAUSE_S = 30.0  # for which a service that failed is left alone

_MOST_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 65_536
_MOST_PAUSE_S = 3_600
_KEY_OF_STATUS = {401: "no_access", 403: "no_access", 404: "not_there", 429: "overloaded"}
_KEY_OF_STATUS |= {408: "failed", 503: "overloaded"}

_KEY = re.compile("[!-~]*")
_VERSION = re.compile("/v[0-9][a-z0-9]*$")


@dataclass(frozen=True)
class Service:
    """variable: that named the service. key: "" for none."""

    address: str = field(repr=False)
    variable: str
    key: str = field(default="", repr=False)  # nobody's business


class Pause:
    """Leaves a failed service alone for a while, so that nobody waits for it twice."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._paused_until_s = clock, 0.0
        self._failure: ServiceError | None = None

    @contextmanager
    def try_service(self) -> Iterator[None]:
        """Ask the service inside; during the pause this raises the last ServiceError."""
        failure = self._failure
        if failure and self._clock() < self._paused_until_s:
            pause_s = failure.retry_after_s  # each call raises an error of its own
            raise ServiceError(failure.key, retry_after_s=pause_s, **failure.facts)
        try:
            yield
        except ServiceError as error:
            if not error.may_be_text_fault:
                self._paused_until_s = self._clock() + max(PAUSE_S, error.retry_after_s)
                self._failure = error
            raise
        self._failure = None


def value_of(environment: Mapping[str, str], variable: str) -> str:
    """Return a variable; "" if its reader did not expand it (`${…}`)."""
    value = environment.get(variable, "").strip()
    return "" if "${" in value else value


def faults_of_service(environment: Mapping[str, str], variable: str) -> Iterator[ServiceError]:
    """Yield faults, such as a key over http to another machine."""
    address, key = value_of(environment, variable), value_of(environment, KEY_VARIABLE)
    try:
        parts = urlsplit(address)
        is_web = parts.scheme in ("http", "https") and parts.port != 0 and "@" not in parts.netloc
        host = parts.hostname if is_web and address.isascii() and address.isprintable() else ""
    except ValueError:
        host = ""
    if not host or " " in address:
        yield ServiceError("bad_address", variable=variable)
    elif parts.scheme == "http" and key and not is_local(host):
        yield ServiceError("open_key", variable=variable)
    if not _KEY.fullmatch(key):  # a line end in it would end its line of the request
        yield ServiceError("bad_key")


def service_of(environment: Mapping[str, str], variable: str, path: str) -> Service:
    """Return a service that passed `faults_of_service`. path: such as `/embeddings`."""
    address = endpoint_of(value_of(environment, variable), path)
    return Service(address, variable, value_of(environment, KEY_VARIABLE))


def is_local(host: str) -> bool:
    """Return whether a host is this machine, so that no text for it leaves."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint_of(address: str, path: str) -> str:
    """Complete an address of the OpenAI form.

    >>> endpoint_of("http://localhost:11434", "/embeddings")
    'http://localhost:11434/v1/embeddings'
    """
    parts = urlsplit(address)
    base = parts.path.rstrip("/").removesuffix(path)
    if not _VERSION.search(base):
        base += "/v1"
    return urlunsplit(parts._replace(path=base + path, fragment=""))


def finite_number(value: object) -> float:
    """Raises ValueError for anything but a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("no finite number")
    return number


def post(service: Service, body: object, *, timeout_s: float) -> Any:
    """Return the JSON of an answer. timeout_s: until its last byte. Raises ServiceError."""
    import ssl
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    headers = {"Content-Type": "application/json", "User-Agent": "sentinel-memory"}
    headers["Accept"] = "application/json"
    if service.key:
        headers["Authorization"] = f"Bearer {service.key}"
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    variable = service.variable
    answer = run_in_thread(lambda: _read_answer(service, data, headers, timeout_s))
    try:
        text = answer.result(timeout_s)
    except HTTPError as error:
        error.close()
        status = error.code
        key = _KEY_OF_STATUS.get(status, "refused" if status < 500 else "failed")
        if 300 <= status < 400:
            raise ServiceError("elsewhere", variable=variable) from None
        digits = error.headers.get("Retry-After", "").strip() if key == "overloaded" else ""
        is_number = digits.isascii() and digits.isdigit()  # it may be a date as well
        pause_s = min(int(digits[:9]), _MOST_PAUSE_S) if is_number else 0
        raise ServiceError(key, retry_after_s=pause_s, variable=variable, status=status) from None
    except (OSError, HTTPException, UnicodeError) as error:
        # Nothing of it is quoted: it may hold the address.
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            seconds = math.ceil(timeout_s)
            raise ServiceError("timeout", variable=variable, seconds=seconds) from None
        key = "unreachable"
        if isinstance(reason, ssl.SSLCertVerificationError):
            key = "no_trust"
        elif isinstance(reason, HTTPException | ConnectionResetError):
            key = "broken_off"
        raise ServiceError(key, variable=variable) from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ServiceError("bad_answer", variable=variable) from None


def run_in_thread(work: Callable[[], Any]) -> Future[Any]:
    """Begin work in a thread that the end of the process does not wait for.

    A socket's timeout begins anew with each byte, so a service could hold its caller for ever: wait
    for the future with a timeout.
    """
    future = Future[Any]()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # for the caller that waits for the result
            future.set_exception(error)

    threading.Thread(target=run, name="fragments-model", daemon=True).start()
    return future


def _read_answer(service: Service, data: bytes, headers: dict[str, str], timeout_s: float) -> bytes:
    import urllib.request
    from http.client import IncompleteRead

    class NoRedirection(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            """Follow none: the request ends as an error."""

    deadline_s = time.monotonic() + timeout_s
    request = urllib.request.Request(service.address, data, headers, method="POST")
    host = urlsplit(service.address).hostname or ""
    is_direct = is_local(host) or urllib.request.proxy_bypass(host)
    proxies = {} if is_direct else urllib.request.getproxies_environment()
    handlers = [urllib.request.ProxyHandler(proxies), NoRedirection()]
    pieces, size = list[bytes](), 0
    with urllib.request.build_opener(*handlers).open(request, timeout=timeout_s) as response:
        while piece := response.read1(_PIECE_BYTES):
            pieces.append(piece)
            size += len(piece)
            if size > _MOST_BYTES:
                raise ServiceError("too_large", variable=service.variable)
            if time.monotonic() > deadline_s:
                raise TimeoutError
        if response.length:  # is still to come, but the connection has ended
            raise IncompleteRead(b"")
    return b"".join(pieces)
