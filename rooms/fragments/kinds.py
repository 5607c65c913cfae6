"""Says what each kind of fragment is worth, how long it lives, and which word means what.

A fragment has a kind, what it says, and a lifetime, how long it is kept. The specifications of the
room call both `type`; one table takes all ten words.
"""

from typing import Literal, NamedTuple, get_args

Kind = Literal["fact", "decision", "error", "preference", "procedure", "relation"]
Lifetime = Literal["working", "episodic", "semantic", "procedural"]
Relation = Literal["related", "caused_by", "resolved_by", "part_of", "contradicts", "superseded_by"]
Tier = Literal["hot", "warm", "cold", "permanent"]
Privacy = Literal["private", "team", "public"]

KINDS: tuple[str, ...] = get_args(Kind)
LIFETIMES: tuple[str, ...] = get_args(Lifetime)
RELATIONS: tuple[str, ...] = get_args(Relation)
TIERS: tuple[str, ...] = get_args(Tier)
PRIVACIES: tuple[str, ...] = get_args(Privacy)
WORDS_OF_TYPE = (*KINDS, *LIFETIMES)

HOUR, DAY = 1, 24


class TypeRow(NamedTuple):
    """What one word of `type` means.

    hours: after how many a fragment expires, 0 for never. stale_days: unused for longer, a cold
    fragment goes into the bin, 0 for never. doubtful_days: unverified for longer, it is listed as
    doubtful and stays, 0 for never.
    """

    kind: Kind
    lifetime: Lifetime
    importance: float
    hours: int = 0
    stale_days: int = 0
    doubtful_days: int = 0


# fmt: off
TYPES: dict[str, TypeRow] = {
    "fact": TypeRow("fact", "semantic", 0.5, stale_days=60),
    "decision": TypeRow("decision", "semantic", 0.7, stale_days=90),
    "error": TypeRow("error", "semantic", 0.8),
    "preference": TypeRow("preference", "semantic", 0.9),
    "procedure": TypeRow("procedure", "procedural", 0.7, doubtful_days=30),
    "relation": TypeRow("relation", "semantic", 0.4, stale_days=60),
    "working": TypeRow("fact", "working", 0.3, hours=48 * HOUR),
    "episodic": TypeRow("fact", "episodic", 0.4, hours=90 * DAY),
    "semantic": TypeRow("fact", "semantic", 0.5),
    "procedural": TypeRow("procedure", "procedural", 0.7, doubtful_days=30),
}
# fmt: on
DEFAULT_TYPE = "fact"
