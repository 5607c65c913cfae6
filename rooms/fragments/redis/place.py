"""Says which Redis or Valkey server is meant, by an address or by the names of the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from core.errors import RefusedError
from core.messages import say

VARIABLE = "SENTINEL_MEMORY_REDIS"
PORT, SENTINEL_PORT = 6379, 26379
TTL_S, MOST_TTL_S = 300, 86_400  # how long an answer is remembered
_MOST_DB = 999
_SCHEMES = {"redis": False, "rediss": True}
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_SENTINELS = "localhost:26379,localhost:26380,localhost:26381"


class PlaceError(RefusedError):
    """A setting of Redis cannot be used. Facts: variable, expected."""

    table = "fragments.redis"
    key = "bad_redis"

    def sentence(self) -> str:
        """Say what the variable must hold, in the reader's language."""
        expected = say(f"{self.table}.{self.facts['expected']}")
        return say(f"{self.table}.{self.key}", **self.facts | {"expected": expected})


@dataclass(frozen=True, slots=True)
class Place:
    """A server, and what is kept there.

    sentinels: who are asked for the server named master; () to go to host and port. certificates:
    a file of those that are trusted, "" for the system's. keeps_answers: whether answers are
    remembered, for ttl_s.
    """

    host: str = "localhost"
    port: int = PORT
    db: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    uses_tls: bool = False
    certificates: str = ""
    sentinels: tuple[tuple[str, int], ...] = ()
    sentinel_password: str = field(default="", repr=False)
    master: str = ""
    keeps_answers: bool = True
    ttl_s: int = TTL_S

    @property
    def name(self) -> str:
        """What people call it."""
        if self.sentinels:
            return f"redis+sentinel://{self.master}/{self.db}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"redis{'s' * self.uses_tls}://{host}:{self.port}/{self.db}"


def place_of(environment: Mapping[str, str]) -> Place | None:
    """Return the server that is switched on, None for none. Raises PlaceError.

    It is the address of SENTINEL_MEMORY_REDIS, or with REDIS_ENABLED that of REDIS_HOST, … .
    """
    given = _Given(environment)
    kept = {
        "keeps_answers": given.switch("CACHE_ENABLED", True),
        "ttl_s": given.number("CACHE_DB_TTL", TTL_S, 1, MOST_TTL_S, "expects_seconds"),
    }
    address = given.value(VARIABLE)
    if address:
        return Place(**_parts(address), **kept)  # type: ignore[arg-type]
    if not given.switch("REDIS_ENABLED", False):
        return None
    has_sentinels = given.switch("REDIS_SENTINEL_ENABLED", False)
    return Place(
        host=given.value("REDIS_HOST") or "localhost",
        port=given.number("REDIS_PORT", PORT, 1, 65_535, "expects_port"),
        db=given.number("REDIS_DB", 0, 0, _MOST_DB, "expects_db"),
        user=given.value("REDIS_USERNAME"),
        password=environment.get("REDIS_PASSWORD", ""),
        uses_tls=given.switch("REDIS_TLS", False),
        sentinels=_sentinels(given.value("REDIS_SENTINELS") or _SENTINELS) if has_sentinels else (),
        sentinel_password=environment.get("REDIS_SENTINEL_PASSWORD", ""),
        master=(given.value("REDIS_MASTER_NAME") or "mymaster") if has_sentinels else "",
        **kept,  # type: ignore[arg-type]
    )


class _Given:
    """Reads the variables of an environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def value(self, name: str) -> str:
        return self._environment.get(name, "").strip()

    def switch(self, name: str, default: bool) -> bool:
        value = self.value(name).lower()
        if value not in ("", *_ON, *_OFF):
            raise PlaceError(variable=name, expected="expects_switch")
        return value in _ON if value else default

    def number(self, name: str, default: int, least: int, most: int, expected: str) -> int:
        value = self.value(name)
        number = _number(value, least, most) if value else default
        if number is None:
            raise PlaceError(variable=name, expected=expected)
        return number


def _parts(address: str) -> dict[str, object]:
    """Return the fields of `Place` that an address names. Raises PlaceError."""
    wrong = PlaceError(variable=VARIABLE, expected="expects_address")
    try:
        parts = urlsplit(address)
        port = PORT if parts.port is None else parts.port
        more = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
    except ValueError:
        raise wrong from None  # what is wrong with it may be the password
    db = _number(parts.path.strip("/") or "0", 0, _MOST_DB)
    if parts.scheme not in _SCHEMES or not parts.hostname or not port or db is None:
        raise wrong
    if parts.fragment or more.keys() - {"ssl_ca_certs"}:
        raise wrong
    return {
        "host": parts.hostname,
        "port": port,
        "db": db,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "uses_tls": _SCHEMES[parts.scheme],
        "certificates": more.get("ssl_ca_certs", [""])[0],
    }


def _sentinels(text: str) -> tuple[tuple[str, int], ...]:
    """Return hosts and ports of a list. Raises PlaceError."""
    found = list[tuple[str, int]]()
    for one in filter(None, (it.strip() for it in text.split(","))):
        host, colon, digits = one.rpartition(":")
        port = _number(digits, 1, 65_535) if colon else SENTINEL_PORT
        if port is None or not (host or one):
            raise PlaceError(variable="REDIS_SENTINELS", expected="expects_sentinels")
        found.append((host if colon else one, port))
    return tuple(found)


def _number(text: str, least: int, most: int) -> int | None:
    """Return the number that a text is, None for none in these bounds."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    number = int(text)
    return number if least <= number <= most else None
