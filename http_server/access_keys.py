"""Makes, checks and removes the keys that open the server.

A key has 256 random bits; only its hash is kept, so a reader of the papers cannot come in.
"""

import hmac
import secrets
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from core.config import DEFAULT_AGENT, FRAGMENTS_VARIABLE, NAME_CHARS, REFUSED_AGENTS
from core.errors import RefusedError
from core.postgres.address import is_server
from core.program import printable_fact
from core.room.database import DatabaseError
from core.sanitizer import has_secret
from http_server.papers import Paper, Papers, hash_of

PREFIX = "smk_"
MASTER_VARIABLES = "SENTINEL_MEMORY_ACCESS_KEY", "MEMENTO_ACCESS_KEY"
MASTER_NAME = "environment"  # the environment's key, in lists
# However many wrong keys came before, the environment's is let in at once: it must be too long to
# be guessed.
LEAST_MASTER_CHARS, KEY_NAME_CHARS = 24, 60
_MOST_CHARS = 1_000
_NOTE_USE_S = 60.0  # a key in use is written no more often than this


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A key that was let in. agent: whose fragments it opens. paper: its hash."""

    agent: str
    paper: str
    name: str


class Key(NamedTuple):
    """A key as lists show it. tokens: how many of its tokens still work."""

    name: str
    paper: Paper
    tokens: int


class Keys:
    """Every method raises DatabaseError.

    master: the key of the environment, for DEFAULT_AGENT. keeps_agents_apart: whether the fragments
    do; else no other agent gets a key.
    """

    def __init__(
        self, papers: Papers, master: str = "", *, keeps_agents_apart: bool = False
    ) -> None:
        self.place, self._papers = papers.place, papers
        self._master = hash_of(master) if master else ""
        self._keeps_agents_apart = keeps_agents_apart

    def check(self, secret: str) -> Credential | None:
        """Return the credential of a key; None for another text."""
        return self.find_credential(hash_of(secret)) if 0 < len(secret) <= _MOST_CHARS else None

    def find_credential(self, paper: str) -> Credential | None:
        """Return the credential of a key's hash, and note its use; None for a removed key.

        Hashes are looked up, never secrets: the time tells nothing about a key.
        """
        if self._master and hmac.compare_digest(paper, self._master):
            return Credential(agent=DEFAULT_AGENT, paper=paper, name=MASTER_NAME)
        key_paper = self._papers.get("key", paper)
        if key_paper is None:
            return None
        now = self._papers.clock()
        if now - key_paper.used_at > _NOTE_USE_S:
            with suppress(DatabaseError):  # nobody waits for a list to be right
                self._papers.replace(key_paper, replace(key_paper, used_at=now))
        return Credential(agent=key_paper.agent, paper=key_paper.key, name=key_paper.name)

    def has_any(self) -> bool:
        return bool(self._master or self._papers.list_all("key"))

    def add(self, name: str, agent: str | None = None) -> str:
        """Return a new key, which nobody can read again. Raises RefusedError."""
        name = _check_name(name.strip(), "name", KEY_NAME_CHARS)
        agent = DEFAULT_AGENT if agent is None else _check_name(agent.strip(), "agent", NAME_CHARS)
        if not agent:  # a script whose variable is empty means no other agent's fragments
            raise RefusedError("http.access.agent_blank")
        if agent.lower() in REFUSED_AGENTS:
            raise RefusedError("http.access.agent_refused", agent=agent)
        if agent != DEFAULT_AGENT and not self._keeps_agents_apart:
            raise RefusedError("http.access.one_agent", agent=agent)
        if not name:
            raise RefusedError("http.access.name_blank")
        if name == MASTER_NAME or any(key.name == name for key in self._papers.list_all("key")):
            raise RefusedError("http.access.name_taken", name=name)
        secret = PREFIX + secrets.token_urlsafe(32)
        facts: Any = {"agent": agent, "body": {"name": name}, "made_at": self._papers.clock()}
        self._papers.put(Paper(kind="key", key=hash_of(secret), **facts))
        return secret

    def list_all(self) -> list[Key]:
        """Return the keys, oldest first, without the environment's."""
        tokens = [*self._papers.list_all("access"), *self._papers.list_all("refresh")]
        counts = Counter(token.body.get("paper") for token in tokens)
        return [Key(paper.name, paper, counts[paper.key]) for paper in self._papers.list_all("key")]

    def find_key(self, name: str) -> Key:
        """Return the key of this name. Raises RefusedError."""
        name = name.strip()
        for key in self.list_all():
            if key.name == name:
                return key
        name = printable_fact(name)
        is_key = name.startswith(PREFIX) or has_secret(name)  # a key is not repeated whole
        name = f"{PREFIX}…" if is_key else name[:KEY_NAME_CHARS]
        raise RefusedError("http.access.no_key", name=name, place=self.place)

    def remove(self, name: str) -> Key:
        """Remove a key with its tokens. Raises RefusedError."""
        key = self.find_key(name)
        if not self._papers.drop("key", key.paper.key):  # another was faster
            raise RefusedError("http.access.no_key", name=key.name, place=self.place)
        return key


def keys_of(environment: Mapping[str, str], papers: Papers) -> Keys:
    """Read the environment's key from `MASTER_VARIABLES`. Raises RefusedError."""
    variable = next((name for name in MASTER_VARIABLES if environment.get(name, "").strip()), "")
    master = environment.get(variable, "").strip()
    if variable and len(master) < LEAST_MASTER_CHARS:
        raise RefusedError("http.access.short_master", variable=variable, least=LEAST_MASTER_CHARS)
    is_apart = is_server(environment.get(FRAGMENTS_VARIABLE, "").strip())
    return Keys(papers, master, keeps_agents_apart=is_apart)


def _check_name(name: str, field: str, most: int) -> str:
    """Return the name. Raises RefusedError for one that lists cannot show."""
    if len(name) > most:
        raise RefusedError("http.access.name_long", what=field, chars=len(name), most=most)
    if not name.isprintable():  # also half of a character
        raise RefusedError("http.access.name_odd", what=field)
    if has_secret(name):
        raise RefusedError("http.access.name_secret", what=field)
    return name
