"""Asks a Redis server, and goes on without it where it does not answer at once.

Whatever goes wrong with it is swallowed and counted here: nobody above has to know.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from rooms.fragments.redis.place import Place

if TYPE_CHECKING:
    from redis import Redis

TIMEOUT_S = 0.1  # for a connection, and for each answer
RETRY_S = 5.0
_Result = TypeVar("_Result")


class Client:
    """Safe to use from several threads; connects when it is first asked.

    retry_s: after a failure nobody asks for so long; then one thread tries.
    errors: how often the server failed. skipped: how often it was not asked after a failure.
    """

    def __init__(self, place: Place, *, retry_s: float = RETRY_S) -> None:
        self.place = place
        self.errors = self.skipped = 0
        self._retry_s = retry_s
        self._lock = threading.Lock()
        self._redis: Redis | None = None
        self._has_failed, self._retry_at, self._is_tried = False, 0.0, False

    @property
    def works(self) -> bool:
        """Whether nothing has gone wrong since it last answered; True where nobody has asked."""
        return not self._has_failed

    @property
    def is_worth_asking(self) -> bool:
        """Whether the next question would reach the server, as far as one can tell."""
        return self.works or (not self._is_tried and time.monotonic() >= self._retry_at)

    def ask(self, question: Callable[["Redis"], _Result]) -> _Result | None:
        """Return what the server answers, None where it fails or has just failed."""
        if not self._may_ask():
            self.skipped += 1
            return None
        has_failed = True
        try:
            answer = question(self._connected())
            has_failed = False
            return answer
        # A stranger on that port can make the library raise anything; the caller has its answer
        # from elsewhere, whatever it was.
        except Exception as error:
            self.errors += 1
            has_failed = not _is_refusal(error)
            return None
        finally:
            self._note(has_failed)

    def close(self) -> None:
        """Let go of the connections; the next question opens new ones."""
        with self._lock:
            redis, self._redis = self._redis, None
        if redis is not None:
            with suppress(Exception):  # a server that is gone takes no leave
                redis.close()

    def _may_ask(self) -> bool:
        if not self._has_failed:
            return True
        with self._lock:
            if self._is_tried or time.monotonic() < self._retry_at:
                return False
            self._is_tried = True
            return True

    def _note(self, has_failed: bool) -> None:
        if not has_failed and not self._has_failed:
            return
        with self._lock:
            self._has_failed, self._is_tried = has_failed, False
            if has_failed:
                self._retry_at = time.monotonic() + self._retry_s

    def _connected(self) -> "Redis":
        with self._lock:
            if self._redis is None:
                self._redis = _redis_of(self.place)
            return self._redis


def _is_refusal(error: Exception) -> bool:
    """Return whether the server is there, and only refuses this question."""
    try:
        from redis.exceptions import ResponseError
    except ImportError:
        return False
    return isinstance(error, ResponseError)


def _redis_of(place: Place) -> "Redis":
    """Return the library's client, which is not connected yet."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
    from redis.sentinel import Sentinel

    shared: dict[str, Any] = {
        "socket_timeout": TIMEOUT_S,
        "socket_connect_timeout": TIMEOUT_S,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
    }
    if place.uses_tls:
        shared |= {"ssl": True, "ssl_ca_certs": place.certificates or None}
    given = shared | {
        "db": place.db,
        "username": place.user or None,
        "password": place.password or None,
    }
    if not place.sentinels:
        return Redis(host=place.host, port=place.port, **given)
    asking = shared | {"password": place.sentinel_password or None}
    sentinel: Any = Sentinel  # the library gives it no types
    redis: Redis = sentinel(list(place.sentinels), sentinel_kwargs=asking, **given).master_for(
        place.master
    )
    return redis
