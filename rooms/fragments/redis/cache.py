"""Remembers answers for one database on a Redis server."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from core.program import version
from rooms.fragments.redis.client import RETRY_S, Client
from rooms.fragments.redis.keyword_sets import KeywordSets
from rooms.fragments.redis.place import Place
from rooms.fragments.redis.seals import VERSION, digest_of, key_of, opened, sealed

if TYPE_CHECKING:
    from redis import Redis

PREFIX = "sentinel-memory"
MOST_BYTES = 1_000_000  # of one answer; a greater one is not kept
_AT_ONCE = 1_000  # keys of one command


class Cache:
    """Safe to use from several threads. database: its name, by which others are told apart.

    hits: how many questions were answered here.
    """

    def __init__(self, place: Place, database: str, *, retry_s: float = RETRY_S) -> None:
        """retry_s: see `Client`."""
        self.place, self.client = place, Client(place, retry_s=retry_s)
        whose = f"{version()} {VERSION} {database}"  # other programs may see other terms in a text
        self._base = f"{PREFIX}:{digest_of(whose.encode('utf-8', 'surrogatepass')).decode()}"
        self.sets = KeywordSets(self.client, self._base)
        self.hits = 0

    def name_of(self, agent: str, question: Sequence[Any], revisions: Mapping[str, str]) -> str:
        """Return the name of the answer to a question of an agent in one state."""
        text = json.dumps(question, separators=(",", ":")).encode()
        digest = hashlib.blake2b(text, digest_size=20, key=key_of(revisions)).hexdigest()
        return f"{self._base}:{quote(agent, safe='')}:answer:{digest}"

    def answer(self, name: str, revisions: Mapping[str, str]) -> Any:
        """Return the data that was kept for these revisions, None for none."""
        if not self.place.keeps_answers:
            return None
        value = self.client.ask(lambda redis: redis.getrange(name, 0, MOST_BYTES))
        return opened(value, name, key_of(revisions))

    def keep(self, name: str, revisions: Mapping[str, str], data: Any) -> None:
        """Keep data for some minutes."""
        value = sealed(data, name, key_of(revisions)) if self.place.keeps_answers else b""
        if not value or len(value) > MOST_BYTES:
            return
        self.client.ask(lambda redis: redis.set(name, value, ex=self.place.ttl_s))

    def clear(self) -> int | None:
        """Remove all that is kept of this database; return how many keys, None for no answer."""

        def remove(redis: "Redis") -> int:
            names = list(redis.scan_iter(f"{self._base}:*", count=_AT_ONCE))
            some = (names[it : it + _AT_ONCE] for it in range(0, len(names), _AT_ONCE))
            return sum(int(redis.unlink(*it)) for it in some)

        return self.client.ask(remove)

    def close(self) -> None:
        """Let go of the connections."""
        self.client.close()
