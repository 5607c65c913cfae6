"""Caches keywords and answers in Redis, beside a PostgreSQL server.

Each name holds the revisions of the seen agents, which only the fragments' server hands out: an
answer of another state has another name, and expires. After a failure that server answers, and
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
from rooms.fragments.storage.rows import Rows

VARIABLE = "SENTINEL_MEMORY_REDIS"
TIMEOUT_S = 0.1  # for a connection, and for each answer
PAUSE_S = 5.0  # in which nobody asks after a failure
TTL_S = 300
MOST_NUMBERS, MOST_BYTES = 20_000, 1_000_000  # of one set, of one answer
_MOST_DB = 999
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_SENTINELS = "localhost:26379,localhost:26380,localhost:26381"
_ANY = b"0"  # the number of no fragment, in every set: a set that was dropped has not even that


class RedisSettingError(ConfigError):
    """A setting of Redis cannot be used. Facts: variable, and expected, the key of a sentence."""

    table = "fragments.redis"
    key = "bad_redis"


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A Redis server."""

    name: str  # for people
    address: str = field(repr=False)
    sentinels: tuple[tuple[str, int], ...] = ()  # asked for the server named `master`
    sentinel_password: str = field(default="", repr=False)
    master: str = ""
    keeps_answers: bool = True  # beside keywords
    ttl_s: int = TTL_S  # for either


def redis_server_of(environment: Mapping[str, str]) -> RedisServer | None:
    """Return the server that VARIABLE or REDIS_ENABLED switches on. Raises PlaceError."""

    def given(name: str, default: str = "") -> str:
        return environment.get(name, "").strip() or default

    def switch(name: str, default: str = "false") -> bool:
        value = given(name, default).lower()
        if value not in (*_ON, *_OFF):
            raise RedisSettingError(variable=name, expected="fragments.redis.expects_switch")
        return value in _ON

    ttl_s = _number("CACHE_DB_TTL", given("CACHE_DB_TTL", str(TTL_S)), 1, 86_400, "seconds")
    kept: dict[str, Any] = {"keeps_answers": switch("CACHE_ENABLED", "true"), "ttl_s": ttl_s}
    if given(VARIABLE):
        return RedisServer(_name_of(given(VARIABLE)), given(VARIABLE), **kept)
    if not switch("REDIS_ENABLED"):
        return None
    login = quote(given("REDIS_USERNAME"), ""), quote(environment.get("REDIS_PASSWORD", ""), "")
    host, scheme = given("REDIS_HOST", "localhost"), "rediss" if switch("REDIS_TLS") else "redis"
    host = f"[{host}]" if ":" in host else host
    port = _number("REDIS_PORT", given("REDIS_PORT", "6379"), 1, 65_535, "port")
    db = _number("REDIS_DB", given("REDIS_DB", "0"), 0, _MOST_DB, "db")
    address = f"{scheme}://{':'.join(login)}@{host}:{port}/{db}"
    name = _name_of(address)
    if not switch("REDIS_SENTINEL_ENABLED"):
        return RedisServer(name, address, **kept)
    ends = (one.strip().partition(":") for one in given("REDIS_SENTINELS", _SENTINELS).split(","))
    sentinels = tuple(
        (host, _number("REDIS_SENTINELS", port or "26379", 1, 65_535, "sentinels"))
        for host, _, port in ends
    )
    master, password = given("REDIS_MASTER_NAME", "mymaster"), "REDIS_SENTINEL_PASSWORD"
    kept |= {"master": master, "sentinel_password": environment.get(password, "")}
    return RedisServer(f"redis+sentinel://{master}/{db}", address, sentinels, **kept)


def _number(variable: str, text: str, least: int, most: int, expected: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 9 and least <= int(text) <= most:
        return int(text)
    raise RedisSettingError(variable=variable, expected=f"fragments.redis.expects_{expected}")


def _name_of(address: str) -> str:
    """Return the address for people. Raises PlaceError."""
    wrong = RedisSettingError(variable=VARIABLE, expected="fragments.redis.expects_address")
    try:
        parts = urlsplit(address)
        port = 6379 if parts.port is None else parts.port
        more = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
    except ValueError:
        raise wrong from None  # the wrong part may be the password
    is_place = parts.scheme in ("redis", "rediss") and parts.hostname and port
    if not is_place or parts.fragment or more.keys() - {"ssl_ca_certs"}:
        raise wrong
    db = _number(VARIABLE, parts.path.strip("/") or "0", 0, _MOST_DB, "address")
    host = parts.netloc.rpartition("@")[2].removesuffix(f":{port}")
    return f"{parts.scheme}://{host}:{port}/{db}"


class Cache:
    """Safe for threads. database: tells it from others. figures: hits, misses and errors so far."""

    def __init__(self, place: RedisServer, database: str, *, pause_s: float = PAUSE_S) -> None:
        self.server, self.figures, self._pause_s = place, Counter[str](), pause_s
        # Another version of the program may see other terms in a text.
        self.key_prefix = f"sentinel-memory:{_digest([read_version(), database])}"
        self._redis: Any = None
        self._rests_until = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether nobody asks, as the server has just failed."""
        return time.monotonic() < self._rests_until

    def ask(self, question: Callable[[Any], Any]) -> Any:
        """Return None if the server fails or rests."""
        if self.is_paused:
            return None
        try:
            if self._redis is None:
                self._redis = self._client()
            return question(self._redis)
        except Exception:  # a stranger on that port can make the library raise anything
            self.figures["errors"] += 1
            self._rests_until = time.monotonic() + self._pause_s
            return None

    def _client(self) -> Any:
        """Return a client that is not connected yet."""
        from redis import Redis, Sentinel
        from redis.backoff import NoBackoff
        from redis.connection import parse_url
        from redis.retry import Retry

        place, parse, sentinel = self.server, cast(Any, parse_url), cast(Any, Sentinel)  # no types
        how: dict[str, Any] = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S}
        how |= {"retry": Retry(NoBackoff(), 0), "protocol": 2}
        if not place.sentinels:
            return Redis.from_url(place.address, **how)
        login = {**parse(place.address), **how}
        for name in ("host", "port", "connection_class"):
            login.pop(name, None)
        login["ssl"] = place.address.startswith("rediss")
        asking = {**how, "password": place.sentinel_password or None, "ssl": login["ssl"]}
        asked = sentinel(list(place.sentinels), sentinel_kwargs=asking, **login)
        return asked.master_for(place.master)

    def is_reachable(self) -> bool:
        return bool(self.ask(lambda redis: redis.ping()))

    def clear(self) -> None:
        """Remove every value of this database."""
        self.ask(lambda redis: [redis.unlink(it) for it in redis.scan_iter(f"{self.key_prefix}:*")])

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

    def _name_of(self, *what: object) -> str:
        """Return a name of no other agent: each has its own revision."""
        state = _digest(sorted(self._revisions.items()))
        return f"{self._cache.key_prefix}:{state}:{_digest(what)}"

    def count_keywords(
        self, keywords: Sequence[str], wanted: Filter, most: int
    ) -> list[tuple[int, int]]:
        """Intersect the sets of the keywords."""
        words, seen = sorted({*map(plain_keyword, keywords)}), self._revisions
        is_all = not wanted.agents or {*wanted.agents} == seen.keys()
        if not (words and seen and is_all) or replace(wanted, agents=()) != Filter():
            return self._rows.count_keywords(keywords, wanted, most)
        names = [self._name_of("keyword", word) for word in words]
        found = self._cache.ask(lambda redis: _having(redis, names, most))
        self._cache.figures["misses" if found is None else "hits"] += 1
        if found is not None:
            return list(found)
        numbers = [
            [number for number, _ in self._rows.count_keywords([word], wanted, MOST_NUMBERS)]
            for word in words
        ]
        if any(len(some) == MOST_NUMBERS for some in numbers):
            return self._rows.count_keywords(keywords, wanted, most)

        def keep(redis: Any) -> None:
            with redis.pipeline() as pipe:
                for name, some in zip(names, numbers, strict=True):
                    pipe.sadd(name, _ANY, *some)
                    pipe.expire(name, self._cache.server.ttl_s)
                pipe.execute()

        self._cache.ask(keep)
        return _counted(numbers, most)

    def coverage(self, query: str, most: int) -> Coverage:
        if not (self._cache.server.keeps_answers and self._revisions):
            return self._rows.coverage(query, most)
        name = self._name_of("holding", query, most)
        kept = self._cache.ask(lambda redis: _holding_of(redis.getrange(name, 0, MOST_BYTES)))
        self._cache.figures["hits" if kept else "misses"] += 1
        if kept:
            return cast(Coverage, kept)
        found = self._rows.coverage(query, most)
        terms = [[*it.term, it.having, it.numbers and [*it.numbers]] for it in found.terms]
        text = json.dumps([found.total, terms])
        if len(text) <= MOST_BYTES:
            self._cache.ask(lambda redis: redis.set(name, text, ex=self._cache.server.ttl_s))
        return found


def _having(redis: Any, names: Sequence[str], most: int) -> list[tuple[int, int]] | None:
    """Return numbers and how many sets have each; None if one is missing."""
    in_all = redis.sinter(names)
    if _ANY not in in_all:
        return None
    if len(in_all) > most or len(names) == 1:
        return _counted([[*map(int, in_all - {_ANY})]] * len(names), most)
    with redis.pipeline() as pipe:
        for name in names:
            pipe.smembers(name)
        sets = pipe.execute()
    if not all(_ANY in each for each in sets):
        return None
    return _counted([[*map(int, each - {_ANY})] for each in sets], most)


def _counted(numbers: Sequence[Sequence[int]], most: int) -> list[tuple[int, int]]:
    counted = Counter(number for some in numbers for number in some)
    return sorted(counted.items(), key=lambda it: (it[1], it[0]), reverse=True)[:most]


def _holding_of(data: bytes) -> Coverage | None:
    if not data:
        return None
    total, terms = json.loads(data)
    return Coverage(total, [TermCount(Term(*term), having, it) for *term, having, it in terms])
