"""Caches keywords and answers in Redis, beside a PostgreSQL server.

Each key holds the revisions of the seen agents, which only the fragments' server hands out: an
answer of another state has another key, and expires. After a failure that server answers, and
Redis rests for `PAUSE_S`.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast
from urllib.parse import parse_qs, quote, urlsplit

from core.program import read_version
from core.room.documents import ConfigError
from core.text.ranking import Coverage, TermCount
from core.text.terms import Term
from rooms.fragments.fragment import Filter, plain_keyword
from rooms.fragments.storage.rows import Rows, Tallies

VARIABLE = "SENTINEL_MEMORY_REDIS"
TIMEOUT_S = 0.1  # for a connection, and for each answer
PAUSE_S = 5.0  # in which nobody asks after a failure
TTL_S = 300
MOST_NUMBERS, MOST_BYTES = 20_000, 1_000_000  # of one set, of one answer
_MOST_DB = 999
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_SENTINELS = "localhost:26379,localhost:26380,localhost:26381"
_NUMBER_0 = b"0"  # of no fragment, but in every set: a set that was dropped has not even that


class RedisSettingError(ConfigError):
    """A setting of Redis cannot be used. Facts: variable, and expected, the key of a sentence."""

    table = "fragments.redis"
    key = "bad_redis"


@dataclass(frozen=True, slots=True)
class RedisServer:
    name: str  # for people
    address: str = field(repr=False)
    sentinels: tuple[tuple[str, int], ...] = ()  # asked for the server named `master`
    sentinel_password: str = field(default="", repr=False)
    master: str = ""
    keeps_answers: bool = True  # beside keywords
    ttl_s: int = TTL_S  # for either


def redis_server_of(environment: Mapping[str, str]) -> RedisServer | None:
    """Return the server that VARIABLE or REDIS_ENABLED switches on. Raises RedisSettingError."""

    def read(name: str, default: str = "") -> str:
        return environment.get(name, "").strip() or default

    def is_on(name: str, default: str = "false") -> bool:
        value = read(name, default).lower()
        if value not in (*_ON, *_OFF):
            raise RedisSettingError(variable=name, expected="fragments.redis.expects_switch")
        return value in _ON

    ttl_s = _number_of("CACHE_DB_TTL", read("CACHE_DB_TTL", str(TTL_S)), 1, 86_400, "seconds")
    settings: dict[str, Any] = {"keeps_answers": is_on("CACHE_ENABLED", "true"), "ttl_s": ttl_s}
    if read(VARIABLE):
        return RedisServer(_name_of(read(VARIABLE)), read(VARIABLE), **settings)
    if not is_on("REDIS_ENABLED"):
        return None
    login = quote(read("REDIS_USERNAME"), ""), quote(environment.get("REDIS_PASSWORD", ""), "")
    host, scheme = read("REDIS_HOST", "localhost"), "rediss" if is_on("REDIS_TLS") else "redis"
    host = f"[{host}]" if ":" in host else host
    port = _number_of("REDIS_PORT", read("REDIS_PORT", "6379"), 1, 65_535, "port")
    db = _number_of("REDIS_DB", read("REDIS_DB", "0"), 0, _MOST_DB, "db")
    address = f"{scheme}://{':'.join(login)}@{host}:{port}/{db}"
    name = _name_of(address, "REDIS_HOST", "host")
    if not is_on("REDIS_SENTINEL_ENABLED"):
        return RedisServer(name, address, **settings)
    ends = (end.strip().partition(":") for end in read("REDIS_SENTINELS", _SENTINELS).split(","))
    sentinels = tuple(
        (host, _number_of("REDIS_SENTINELS", host and (port or "26379"), 1, 65_535, "sentinels"))
        for host, _, port in ends  # without a host it would be this machine
    )
    master, password = read("REDIS_MASTER_NAME", "mymaster"), "REDIS_SENTINEL_PASSWORD"
    settings |= {"master": master, "sentinel_password": environment.get(password, "")}
    return RedisServer(f"redis+sentinel://{master}/{db}", address, sentinels, **settings)


def _number_of(variable: str, text: str, least: int, most: int, expected: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 9 and least <= int(text) <= most:
        return int(text)
    raise RedisSettingError(variable=variable, expected=f"fragments.redis.expects_{expected}")


def _name_of(address: str, variable: str = VARIABLE, expected: str = "address") -> str:
    """Return the address for people. Raises RedisSettingError."""
    refusal = RedisSettingError(variable=variable, expected=f"fragments.redis.expects_{expected}")
    try:
        parts = urlsplit(address)
        port = 6379 if parts.port is None else parts.port
        options = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
    except ValueError:
        raise refusal from None  # the wrong part may be the password
    is_redis = parts.scheme in ("redis", "rediss") and parts.hostname and port
    if not is_redis or parts.fragment or options.keys() - {"ssl_ca_certs"}:
        raise refusal
    db = _number_of(variable, parts.path.strip("/") or "0", 0, _MOST_DB, expected)
    host = parts.netloc.rpartition("@")[2].removesuffix(f":{port}")
    return f"{parts.scheme}://{host}:{port}/{db}"


class Cache:
    """Safe for threads. database: tells it from others. figures: hits, misses and errors so far."""

    def __init__(self, server: RedisServer, database: str, *, pause_s: float = PAUSE_S) -> None:
        self.server, self.figures, self._pause_s = server, Counter[str](), pause_s
        # Another version of the program may see other terms in a text.
        self.key_prefix = f"sentinel-memory:{_digest([read_version(), database])}"
        self._redis: Any = None
        self._paused_until_s = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether nobody asks, as the server has just failed."""
        return time.monotonic() < self._paused_until_s

    def ask(self, question: Callable[[Any], Any]) -> Any:
        """Return None if the server fails or is left alone."""
        if self.is_paused:
            return None
        try:
            if self._redis is None:
                self._redis = self._make_client()
            return question(self._redis)
        except Exception:  # a stranger on that port can make the library raise anything
            self.figures["errors"] += 1
            self._paused_until_s = time.monotonic() + self._pause_s
            return None

    def _make_client(self) -> Any:
        """Return a client that is not connected yet."""
        from redis import Redis, Sentinel
        from redis.backoff import NoBackoff
        from redis.connection import parse_url
        from redis.retry import Retry

        server, parse, sentinel = self.server, cast(Any, parse_url), cast(Any, Sentinel)  # no types
        options: dict[str, Any] = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S}
        options |= {"retry": Retry(NoBackoff(), 0), "protocol": 2}
        if not server.sentinels:
            return Redis.from_url(server.address, **options)
        login = {**parse(server.address), **options}
        for name in ("host", "port", "connection_class"):
            login.pop(name, None)
        login["ssl"] = server.address.startswith("rediss")
        options |= {"password": server.sentinel_password or None, "ssl": login["ssl"]}
        client = sentinel(list(server.sentinels), sentinel_kwargs=options, **login)
        return client.master_for(server.master)

    def is_reachable(self) -> bool:
        return bool(self.ask(lambda redis: redis.ping()))

    def clear(self) -> None:
        """Remove every value of this database."""
        pattern = f"{self.key_prefix}:*"
        self.ask(lambda redis: [redis.unlink(key) for key in redis.scan_iter(pattern)])

    def close(self) -> None:
        """Let go of the connections; the next question opens new ones."""
        redis, self._redis = self._redis, None
        if redis is not None:
            with suppress(Exception):  # a server that is gone takes no leave
                redis.close()


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


class CachedRows:
    """Looks up two questions of `Rows`, and passes the others through."""

    def __init__(
        self, rows: Rows, cache: Cache, revisions: Callable[[], Mapping[str, str]]
    ) -> None:
        self._rows, self._cache, self._ask_revisions = rows, cache, revisions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)

    @cached_property
    def _revisions(self) -> Mapping[str, str]:
        return {} if self._cache.is_paused else self._ask_revisions()

    def _key_of(self, *parts: object) -> str:
        """Return a key of no other agent: each has its own revision."""
        state = _digest(sorted(self._revisions.items()))
        return f"{self._cache.key_prefix}:{state}:{_digest(parts)}"

    def count_keywords(self, keywords: Sequence[str], filter_: Filter, most: int) -> Tallies:
        """Intersect the sets of the keywords."""
        words, revisions = sorted({*map(plain_keyword, keywords)}), self._revisions
        is_all = not filter_.agents or {*filter_.agents} == revisions.keys()
        if not (words and revisions and is_all) or replace(filter_, agents=()) != Filter():
            return self._rows.count_keywords(keywords, filter_, most)
        keys = [self._key_of("keyword", word) for word in words]
        tallies = self._cache.ask(lambda redis: _read_tallies(redis, keys, most))
        self._cache.figures["misses" if tallies is None else "hits"] += 1
        if tallies is not None:
            return list(tallies)
        number_sets = [
            [number for number, _ in self._rows.count_keywords([word], filter_, MOST_NUMBERS)]
            for word in words
        ]
        if any(len(numbers) == MOST_NUMBERS for numbers in number_sets):
            return self._rows.count_keywords(keywords, filter_, most)

        def store(redis: Any) -> None:
            with redis.pipeline() as pipe:
                for key, numbers in zip(keys, number_sets, strict=True):
                    pipe.sadd(key, _NUMBER_0, *numbers)
                    pipe.expire(key, self._cache.server.ttl_s)
                pipe.execute()

        self._cache.ask(store)
        return _tally(number_sets, most)

    def coverage(self, query: str, most: int) -> Coverage:
        if not (self._cache.server.keeps_answers and self._revisions):
            return self._rows.coverage(query, most)
        key = self._key_of("holding", query, most)
        value = self._cache.ask(lambda redis: _coverage_from(redis.getrange(key, 0, MOST_BYTES)))
        self._cache.figures["hits" if value else "misses"] += 1
        if value:
            return cast(Coverage, value)
        coverage = self._rows.coverage(query, most)
        terms = [[*term, count, numbers and [*numbers]] for term, count, numbers in coverage.terms]
        text = json.dumps([coverage.total, terms])
        if len(text) <= MOST_BYTES:
            self._cache.ask(lambda redis: redis.set(key, text, ex=self._cache.server.ttl_s))
        return coverage


def _read_tallies(redis: Any, keys: Sequence[str], most: int) -> Tallies | None:
    """Return numbers and how many sets have each; None if one is missing."""
    common = redis.sinter(keys)
    if _NUMBER_0 not in common:
        return None
    if len(common) > most or len(keys) == 1:
        return _tally([[*map(int, common - {_NUMBER_0})]] * len(keys), most)
    with redis.pipeline() as pipe:
        for key in keys:
            pipe.smembers(key)
        sets = pipe.execute()
    if not all(_NUMBER_0 in members for members in sets):
        return None
    return _tally([[*map(int, members - {_NUMBER_0})] for members in sets], most)


def _tally(number_sets: Sequence[Sequence[int]], most: int) -> Tallies:
    counts = Counter(number for numbers in number_sets for number in numbers)
    return sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True)[:most]


def _coverage_from(data: bytes) -> Coverage | None:
    if not data:
        return None
    total, terms = json.loads(data)
    counts = [TermCount(Term(*term), count, numbers) for *term, count, numbers in terms]
    return Coverage(total, counts)
