"""What the server must remember: keys, clients, consents under way, codes, tokens, sessions.

All of it is in a database, so that any process of several can check it and a restart logs nobody
out. A secret is kept as its hash alone.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Kind = Literal["key", "client", "consent", "code", "access", "refresh", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """One thing that the server remembers.

    key: its id, or the hash of its secret. agent: whose it is. parent: the key of the paper that it
    was given for, with which it goes: a token goes with the key that was typed on the consent page,
    a session with its credential. body: what else is known, as JSON can hold it. expires_at:
    seconds since 1970, 0 for never. made_at, used_at: the same.
    """

    kind: Kind
    key: str
    agent: str = ""
    parent: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    expires_at: float = 0.0
    made_at: float = 0.0
    used_at: float = 0.0


COLUMNS = "kind, key, agent, parent, body, expires_at, made_at, used_at"


def body_of(paper: Paper) -> str:
    """Return the body of a paper as JSON."""
    return json.dumps(dict(paper.body), ensure_ascii=False)


def row_of(paper: Paper) -> tuple[object, ...]:
    """Return the values of a paper for COLUMNS."""
    times = paper.expires_at, paper.made_at, paper.used_at
    return paper.kind, paper.key, paper.agent, paper.parent, body_of(paper), *times


def paper_of(row: Sequence[Any]) -> Paper:
    """Return the paper of such values; PostgreSQL has read the body of it already."""
    kind, key, agent, parent, body, expires_at, made_at, used_at = row
    return Paper(
        kind=kind,
        key=key,
        agent=agent,
        parent=parent,
        body=json.loads(body) if isinstance(body, str) else body,
        expires_at=expires_at,
        made_at=made_at,
        used_at=used_at,
    )


class Papers(Protocol):
    """Where papers are kept. Safe for threads and processes. Every method raises DatabaseError."""

    def put(self, paper: Paper) -> None:
        """Keep a paper, in the place of the one with its kind and key."""

    def get(self, kind: Kind, key: str) -> Paper | None:
        """Return a paper; None where there is none, or where it has expired."""

    def take(self, kind: Kind, key: str) -> Paper | None:
        """Return a paper and remove it: of several who ask at once, one gets it."""

    def replace(self, before: Paper, *after: Paper) -> bool:
        """Keep papers in the place of one, all at once; False where it is gone or another now."""

    def touch(self, kind: Kind, key: str, *, used_at: float, expires_at: float) -> bool:
        """Note that a paper was used, and how long it is good; False where there is none."""

    def drop(self, kind: Kind, key: str) -> int:
        """Remove a paper and all that was given for it; return how many there were.

        What `replace` is about to keep in its place goes as well, or is not kept.
        """

    def listed(self, kind: Kind) -> list[Paper]:
        """Return the papers of a kind that have not expired, the oldest first."""

    def count(self, kind: Kind) -> int:
        """Return how many papers of a kind have not expired."""

    def expired(self, kind: Kind) -> list[Paper]:
        """Return the papers of a kind that have expired and are still there, the oldest first."""

    def sweep(self) -> int:
        """Remove what has expired; return how many there were."""

    def check(self) -> None:
        """Raise DatabaseError where the papers cannot be read now."""

    def close(self) -> None:
        """Let go of connections."""


def hash_of(secret: str) -> str:
    """Return what is kept of a secret: it has so many random bits that no salt adds to them."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
