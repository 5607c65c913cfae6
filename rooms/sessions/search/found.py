"""What is looked for among the sessions, and what is found."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from rooms.sessions.session import Session

Level = Literal["high", "medium", "low"]

# Shares of a question that a session has, where a rare word is more of it than a common one; what
# has less than the least is no hit. Worked out on descriptions of real work, of which the
# earlier ones about the same work were known: benchmarks/README.md.
_HIGH, _MEDIUM, LEAST_SHARE = 0.6, 0.4, 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """What a search asks for; what is left empty does not count.

    query: words in any language. tags: a session needs all of them. since, until: days or moments
    in ISO 8601, both included; they are compared with the moment of the last save.
    """

    query: str = ""
    tags: tuple[str, ...] = ()
    status: str = ""
    agent: str = ""
    since: str = ""
    until: str = ""


class Hit(NamedTuple):
    """A session that was found. level: how much of what was sought it has; None without a query.

    project: the name of the project that it is from, "" for this one.
    """

    session: Session
    level: Level | None = None
    project: str = ""


class Page(NamedTuple):
    """Some of the sessions that were found, the best first, and how many there are in all."""

    hits: list[Hit]
    total: int


def level_of(share: float) -> Level:
    """Return the word for the share of a question that a session has."""
    return "high" if share >= _HIGH else "medium" if share >= _MEDIUM else "low"
