"""Knows the keys that open the server: makes them, checks them, takes them back.

A key has 256 random bits and is kept as its hash alone: who reads the papers cannot come in.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from core.config import DEFAULT_AGENT, NAME_CHARS, REFUSED_AGENTS
from core.errors import RefusedError
from core.program import shown
from core.room.database import DatabaseError
from core.sanitizer import has_secret
from http_server.papers import Paper, Papers, hash_of

PREFIX = "smk_"
MASTER_VARIABLES = "SENTINEL_MEMORY_ACCESS_KEY", "MEMENTO_ACCESS_KEY"
MASTER_NAME = "environment"  # what lists call the key of the environment
LEAST_MASTER_CHARS, KEY_NAME_CHARS = 16, 60
_SECRET_BYTES, _MOST_SECRET_CHARS = 32, 1_000
_NOTED_AFTER_S = 60.0  # a key in use is written no more often than this


class HttpServerError(RefusedError):
    """Nobody new can be let in this way; takes the key of its sentence, its facts."""

    table = "http.access"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Who has come in. agent: whose fragments it opens. paper: the hash of the key. name: its."""

    agent: str
    paper: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as lists show it. tokens: given for it that still work; sessions: under way by it."""

    name: str
    agent: str
    made_at: float
    used_at: float
    tokens: int
    sessions: int


def master_of(environment: Mapping[str, str]) -> str:
    """Return the key that the environment names, "" for none. Raises HttpServerError."""
    for variable in MASTER_VARIABLES:
        if given := environment.get(variable, "").strip():
            if len(given) < LEAST_MASTER_CHARS:
                raise HttpServerError("short_master", variable=variable, least=LEAST_MASTER_CHARS)
            return given
    return ""


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
        """Return whose key this is; None for what is no key."""
        if not secret or len(secret) > _MOST_SECRET_CHARS:
            return None
        return self.of(hash_of(secret))

    def of(self, paper: str) -> Credential | None:
        """Return whose key has this hash, and note that it was used.

        None where it was removed, or the environment's changed. Hashes are looked up, never
        secrets: how long that takes tells nothing about a key.
        """
        if self._master and hmac.compare_digest(paper, self._master):
            return Credential(agent=DEFAULT_AGENT, paper=paper, name=MASTER_NAME)
        found = self._papers.get("key", paper)
        if found is None or not hmac.compare_digest(paper, found.key):
            return None
        self._note(found)
        return Credential(agent=found.agent, paper=found.key, name=_name(found))

    def any(self) -> bool:
        """Return whether there is a key at all."""
        return bool(self._master or self._papers.listed("key"))

    def add(self, name: str, agent: str = "") -> str:
        """Make a key and return it: it is never to be had again. Raises HttpServerError."""
        name, agent = _fit(name.strip(), "name", KEY_NAME_CHARS), self._agent(agent.strip())
        if not name:
            raise HttpServerError("name_blank")
        if name == MASTER_NAME or self._named(name):
            raise HttpServerError("name_taken", name=name)
        secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        body = {"name": name}
        paper = Paper(
            kind="key", key=hash_of(secret), agent=agent, body=body, made_at=self._clock()
        )
        self._papers.put(paper)
        return secret

    def listed(self) -> list[Key]:
        """Return the keys, the oldest first; that of the environment is none of them."""
        given = [*self._papers.listed("access"), *self._papers.listed("refresh")]
        sessions = self._papers.listed("session")
        return [
            Key(
                name=_name(it),
                agent=it.agent,
                made_at=it.made_at,
                used_at=it.used_at,
                tokens=sum(token.body.get("paper") == it.key for token in given),
                sessions=sum(session.parent == it.key for session in sessions),
            )
            for it in self._papers.listed("key")
        ]

    def remove(self, name: str) -> Key:
        """Take a key back with all that was given for it, and return what that was.

        Raises HttpServerError where there is none.
        """
        key, paper = self.named(name), self._named(name.strip())
        if paper is None or not self._papers.drop("key", paper.key):  # another was faster
            raise HttpServerError("no_key", name=_shown(name))
        return key

    def named(self, name: str) -> Key:
        """Return the key of a name. Raises HttpServerError where there is none."""
        for key in self.listed():
            if key.name == name.strip():
                return key
        raise HttpServerError("no_key", name=_shown(name))

    def _named(self, name: str) -> Paper | None:
        return next((it for it in self._papers.listed("key") if _name(it) == name), None)

    def _note(self, paper: Paper) -> None:
        """Note that a key is used; who comes in does not wait for a list to be right."""
        now = self._clock()
        if now - paper.used_at > _NOTED_AFTER_S:
            with suppress(DatabaseError):
                self._papers.touch("key", paper.key, used_at=now, expires_at=paper.expires_at)

    def _agent(self, agent: str) -> str:
        """Return the name of an agent that a key may be for. Raises HttpServerError."""
        agent = _fit(agent, "agent", NAME_CHARS) or DEFAULT_AGENT
        if agent.lower() in REFUSED_AGENTS:
            raise HttpServerError("agent_refused", agent=agent)
        if agent != DEFAULT_AGENT and not self._keeps_agents_apart:
            raise HttpServerError("one_agent", agent=agent)
        return agent


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


def _shown(name: str) -> str:
    """Return what somebody took for a name: not whole where it may be a key."""
    name = shown(name.strip())
    return f"{PREFIX}…" if name.startswith(PREFIX) or has_secret(name) else name[:KEY_NAME_CHARS]
