"""Keeps for each agent which of its fragments have a keyword, one hash an agent.

A server that has too little memory drops whole keys: with one key for each keyword, a question
would find less than there is, and nothing would tell. So all keywords of an agent are fields of one
key, and its head says of which revision they are, and how many there are.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rooms.fragments.postgres.terms import keyword_terms
from rooms.fragments.redis.client import Client
from rooms.fragments.redis.seals import SEAL_BYTES, digest_of, key_of

if TYPE_CHECKING:
    from redis import Redis

TTL_S = 7 * 86_400  # after the last change: an agent that is gone leaves nothing
MOST_NUMBERS = 20_000  # that one question may have to look through
_HEAD = b"head"
_AT_ONCE = 1_000  # fields of one command
_MEMORY_S = 5.0  # sets that are behind are not asked again for so long, at the same revision
_NUMBERS = re.compile(rb"\[(?:\d{1,18}(?:,\d{1,18})*)?\]")

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Change:
    """What a transaction did to the keywords of one agent: by number, those before and after."""

    former: str
    revision: str
    words: Mapping[int, tuple[Words, Words]] = field(default_factory=dict)


class KeywordSets:
    """The sets of one database. base: what the names of its keys begin with."""

    def __init__(self, client: Client, base: str) -> None:
        self._client, self._base = client, base
        # By agent the revision that its sets did not have, and until when that is believed.
        self._behind = dict[str, tuple[str, float]]()

    def name_of(self, agent: str) -> str:
        """Return the name of the key of an agent; no two agents share one."""
        return f"{self._base}:{quote(agent, safe='')}:keywords"

    def having(
        self, keywords: Sequence[str], revisions: Mapping[str, str], most: int
    ) -> list[tuple[int, int]] | None:
        """Return what `Reading.with_keywords` does for the live fragments of some agents.

        None where the sets of one of them are not of its revision.
        """
        if any(self._is_behind(agent, it) for agent, it in revisions.items()):
            return None
        fields = [_field_of(it) for it in keyword_terms(keywords, ("",))]
        agents = [agent for agent, revision in revisions.items() if revision]
        answers = self._client.ask(lambda redis: self._read(redis, agents, fields))
        if answers is None:
            return None
        counted = Counter[int]()
        for agent, (length, values) in zip(agents, answers, strict=True):
            numbers = _numbers_of(self.name_of(agent), revisions[agent], length, fields, values)
            if numbers is None:
                self._behind[agent] = revisions[agent], time.monotonic() + _MEMORY_S
                return None
            if sum(map(len, numbers)) > MOST_NUMBERS:
                return None
            for some in numbers:
                counted.update(some)
        found = sorted(counted.items(), key=lambda it: (it[1], it[0]), reverse=True)
        return found[:most]

    def follow(self, agent: str, change: Change) -> bool:
        """Bring the sets of an agent from its former revision to the new one.

        False where they are of another revision, somebody else changes them, or nobody answers:
        they are left as they are, and are not used until they are made anew.
        """
        return bool(self._client.ask(lambda redis: self._change(redis, agent, change)))

    def put(self, agent: str, revision: str, numbers: Mapping[str, Iterable[int]]) -> bool:
        """Make the sets of an agent anew. numbers: by keyword, of its live fragments."""
        name = self.name_of(agent)
        fields = {
            _field_of(word): _value(name, _field_of(word), some) for word, some in numbers.items()
        }
        pairs = list(fields.items())

        def put(redis: "Redis") -> bool:
            with redis.pipeline(transaction=True) as pipe:
                pipe.delete(name)
                for start in range(0, len(pairs), _AT_ONCE):
                    pipe.hset(name, mapping=dict(pairs[start : start + _AT_ONCE]))
                _end(pipe, name, revision, len(pairs))
            return True

        has_put = bool(self._client.ask(put))
        if has_put:
            self._behind.pop(agent, None)
        return has_put

    def are_of(self, agent: str, revision: str) -> bool:
        """Return whether the sets of an agent are there, and of this revision."""
        read = self._client.ask(lambda redis: self._read(redis, [agent], []))
        [(length, values)] = read or [(None, None)]
        return _numbers_of(self.name_of(agent), revision, length, [], values) is not None

    def _is_behind(self, agent: str, revision: str) -> bool:
        known, until = self._behind.get(agent, ("", 0.0))
        return known == revision and time.monotonic() < until

    def _read(
        self, redis: "Redis", agents: Sequence[str], fields: Sequence[bytes]
    ) -> list[tuple[Any, Any]]:
        with redis.pipeline(transaction=True) as pipe:
            for agent in agents:
                pipe.hlen(self.name_of(agent))
                pipe.hmget(self.name_of(agent), [_HEAD, *fields])
            answers = pipe.execute() if agents else []
        return list(zip(answers[::2], answers[1::2], strict=True))

    def _change(self, redis: "Redis", agent: str, change: Change) -> bool:
        from redis.exceptions import WatchError

        name = self.name_of(agent)
        gone, new = _by_field(change.words, 0), _by_field(change.words, 1)
        fields = list({**gone, **new})
        with redis.pipeline() as pipe:
            pipe.watch(name)  # type: ignore[no-untyped-call]
            length, values = pipe.hlen(name), pipe.hmget(name, [_HEAD, *fields])
            is_first = not length and not change.former
            empty = [set[int]() for _ in fields]
            numbers = _numbers_of(name, change.former, length, fields, values)
            if numbers is None and not is_first:
                return False
            count = 0 if is_first else length - 1
            pipe.multi()
            for one, before in zip(fields, numbers or empty, strict=True):
                after = (before - gone.get(one, set())) | new.get(one, set())
                count += bool(after) - bool(before)
                if after:
                    pipe.hset(name, one, _value(name, one, after))
                else:
                    pipe.hdel(name, one)
            try:
                _end(pipe, name, change.revision, count)
            except WatchError:
                return False
        return True


def words_of(keywords: Iterable[str]) -> Words:
    """Return keywords as they are compared."""
    return frozenset(keyword_terms(keywords, ("",)))


def _end(pipe: Any, name: str, revision: str, count: int) -> None:
    """Write the head of so many keywords, and carry out all that was gathered."""
    pipe.hset(name, _HEAD, _head(name, revision, count))
    pipe.expire(name, TTL_S)
    pipe.execute()


def _head(name: str, revision: str, count: int) -> bytes:
    return digest_of(f"{name} {count}".encode(), key_of({name: revision}))


def _field_of(word: str) -> bytes:
    return b"=" + word.encode("utf-8", "surrogatepass")


def _value(name: str, one: bytes, numbers: Iterable[int]) -> bytes:
    return _sealed(name, one, json.dumps(sorted(numbers), separators=(",", ":")).encode())


def _sealed(name: str, one: bytes, text: bytes) -> bytes:
    return digest_of(b"\0".join((name.encode(), one, text))) + text


def _numbers_of(
    name: str, revision: str, length: object, fields: Sequence[bytes], values: object
) -> list[set[int]] | None:
    """Return the numbers of some fields; None where any of it is not as it was written."""
    if not (
        isinstance(length, int) and isinstance(values, list) and len(values) == len(fields) + 1
    ):
        return None
    if values[0] != _head(name, revision, length - 1):
        return None
    found = list[set[int]]()
    for one, value in zip(fields, values[1:], strict=True):
        text = b"[]" if value is None else bytes(value)[SEAL_BYTES:]
        if value is not None and value != _sealed(name, one, text):
            return None
        if not _NUMBERS.fullmatch(text):
            return None
        found.append(set(json.loads(text)))
    return found


def _by_field(words: Mapping[int, tuple[Words, Words]], place: int) -> dict[bytes, set[int]]:
    """Return by field the numbers that have it, before (0) or after (1) a change."""
    found = dict[bytes, set[int]]()
    for number, both in words.items():
        for word in both[place]:
            found.setdefault(_field_of(word), set()).add(number)
    return found
