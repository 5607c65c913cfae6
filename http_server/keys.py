"""Knows the keys that open the server: makes them, checks them, takes them back.

A key has 256 random bits and is kept as its hash alone: who reads the papers cannot come in.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from core.config import DEFAULT_AGENT, FRAGMENTS_PLACE, NAME_CHARS, REFUSED_AGENTS
from core.postgres.server import is_server
from core.program import shown
from core.room.database import DatabaseError
from core.sanitizer import has_secret
from http_server.options import HttpServerError
from http_server.papers import Paper, Papers, hash_of

PREFIX = "smk_"
MASTER_VARIABLES = "SENTINEL_MEMORY_ACCESS_KEY", "MEMENTO_ACCESS_KEY"
MASTER_NAME = "environment"  # what lists call the key of the environment
# The key of the environment is let in at once, however many wrong ones came before it (s04): it
# must be too long to be guessed.
LEAST_MASTER_CHARS, KEY_NAME_CHARS = 24, 60
_MOST_SECRET_CHARS = 1_000
_NOTED_AFTER_S = 60.0  # a key in use is written no more often than this


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Who has come in.

    agent: whose fragments the key opens. paper: the hash of the key. name: of the key.
    """

    agent: str
    paper: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as lists show it. paper: its hash. tokens: those given for the key that still work."""

    name: str
    agent: str
    paper: str
    made_at: float
    used_at: float
    tokens: int


class Keys:
    """The keys of one server. Every method raises DatabaseError.

    master: the key of the environment, "" for none; its agent is DEFAULT_AGENT. keeps_agents_apart:
    whether the fragments do; else a key of another agent would promise what nothing holds.
    """

    def __init__(
        self,
        papers: Papers,
        master: str = "",
        *,
        keeps_agents_apart: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._papers, self._clock = papers, clock
        self._master = hash_of(master) if master else ""
        self._keeps_agents_apart = keeps_agents_apart

    def check(self, secret: str) -> Credential | None:
        """Return whose key this is; None for a text that is no key."""
        return self.of(hash_of(secret)) if 0 < len(secret) <= _MOST_SECRET_CHARS else None

    def of(self, paper: str) -> Credential | None:
        """Return whose key has this hash, and note that the key was used.

        None where it was removed, or the environment's changed. Hashes are looked up, never
        secrets: how long that takes tells nothing about a key.
        """
        if self._master and hmac.compare_digest(paper, self._master):
            return Credential(agent=DEFAULT_AGENT, paper=paper, name=MASTER_NAME)
        found = self._papers.get("key", paper)
        if found is None:
            return None
        now = self._clock()
        if now - found.used_at > _NOTED_AFTER_S:
            with suppress(DatabaseError):  # who comes in does not wait for a list to be right
                self._papers.replace(found, replace(found, used_at=now))
        return Credential(agent=found.agent, paper=found.key, name=_name(found))

    def any(self) -> bool:
        """Return whether there is a key at all."""
        return bool(self._master or self._papers.listed("key"))

    def add(self, name: str, agent: str = "") -> str:
        """Make a key and return it: it is never to be had again. Raises HttpServerError."""
        name = _fit(name.strip(), "name", KEY_NAME_CHARS)
        agent = _fit(agent.strip(), "agent", NAME_CHARS) or DEFAULT_AGENT
        if agent.lower() in REFUSED_AGENTS:
            raise HttpServerError("agent_refused", agent=agent)
        if agent != DEFAULT_AGENT and not self._keeps_agents_apart:
            raise HttpServerError("one_agent", agent=agent)
        if not name:
            raise HttpServerError("name_blank")
        if name == MASTER_NAME or any(_name(it) == name for it in self._papers.listed("key")):
            raise HttpServerError("name_taken", name=name)
        secret = PREFIX + secrets.token_urlsafe(32)
        made_at, body = self._clock(), {"name": name}
        self._papers.put(
            Paper(kind="key", key=hash_of(secret), agent=agent, body=body, made_at=made_at)
        )
        return secret

    def listed(self) -> list[Key]:
        """Return the keys, the oldest first; that of the environment is none of them."""
        tokens = [*self._papers.listed("access"), *self._papers.listed("refresh")]
        return [
            Key(
                name=_name(paper),
                agent=paper.agent,
                paper=paper.key,
                made_at=paper.made_at,
                used_at=paper.used_at,
                tokens=sum(token.body.get("paper") == paper.key for token in tokens),
            )
            for paper in self._papers.listed("key")
        ]

    def named(self, name: str) -> Key:
        """Return the key of a name. Raises HttpServerError where there is none."""
        name = name.strip()
        for key in self.listed():
            if key.name == name:
                return key
        name = shown(name)
        is_key = name.startswith(PREFIX) or has_secret(name)  # a key is not repeated whole
        raise HttpServerError("no_key", name=f"{PREFIX}…" if is_key else name[:KEY_NAME_CHARS])

    def remove(self, name: str) -> Key:
        """Take a key back with all that was given for it, and return it. Raises HttpServerError."""
        key = self.named(name)
        if not self._papers.drop("key", key.paper):  # another was faster
            raise HttpServerError("no_key", name=key.name)
        return key


def keys_of(environment: Mapping[str, str], papers: Papers) -> Keys:
    """Return the keys among the papers, and the one of the environment. Raises HttpServerError."""
    variable = next((it for it in MASTER_VARIABLES if environment.get(it, "").strip()), "")
    master = environment.get(variable, "").strip()
    if variable and len(master) < LEAST_MASTER_CHARS:
        raise HttpServerError("short_master", variable=variable, least=LEAST_MASTER_CHARS)
    is_apart = is_server(environment.get(FRAGMENTS_PLACE, "").strip())
    return Keys(papers, master, keeps_agents_apart=is_apart)


def _fit(name: str, what: str, most: int) -> str:
    """Return a name that lists can show. Raises HttpServerError."""
    if len(name) > most:
        raise HttpServerError("name_long", what=what, chars=len(name), most=most)
    if not name.isprintable():  # also half of a character
        raise HttpServerError("name_odd", what=what)
    if has_secret(name):
        raise HttpServerError("name_secret", what=what)
    return name


def _name(paper: Paper) -> str:
    return str(paper.body.get("name", ""))
