"""What a caller of `recall` asks for, checked, and as the storage is asked for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.text.plain import bound_of
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import (
    KINDS,
    LIFETIMES,
    MOST_KEYWORDS,
    RELATIONS,
    WORDS_OF_TYPE,
    Wanted,
    plain_keyword,
)
from rooms.fragments.room import Room, readers

DEFAULT_TOKENS = 1_000


class RecallError(FragmentsError):
    """A question cannot be asked so; takes the key of its sentence, its facts: field, …"""

    table = "fragments.recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a caller asks for; what is left empty does not count.

    keywords, text: words, a question. type: one of the ten words of `TYPES`. tags: keywords that a
    fragment must have. since, until: days or moments, both included. tokens: of the answer. limit:
    how many at most, 0 for as many as fit. with_links: also what is linked to them. relation: only
    along such links. threshold: the least cosine of what is found by its vector alone.
    """

    keywords: tuple[str, ...] = ()
    topic: str = ""
    type: str = ""
    text: str = ""
    tags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    tokens: int = DEFAULT_TOKENS
    limit: int = 0
    with_links: bool = True
    relation: str = ""
    threshold: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether it asks something in words, of whatever kind and time the answer is."""
        narrowed = self.topic, self.type, *self.tags, self.since, self.until, self.relation
        return bool(self.question) and not any(map(str.strip, narrowed))

    @property
    def question(self) -> str:
        """All that is asked for in words, without what is said twice."""
        said = plain_keyword(self.text)
        some = [it for it in self.keywords if it.strip() and plain_keyword(it) not in said]
        return " ".join([*some, self.text]).strip()


def wanted_of(room: Room, query: Query, agent: str) -> Wanted:
    """Return the fragments that a query is about. Raises RecallError."""
    _check(query)
    return Wanted(
        agents=readers(room, agent),
        kinds=(query.type,) if query.type in KINDS else (),
        lifetimes=(query.type,) if query.type in LIFETIMES else (),
        topics=(query.topic,) if query.topic.strip() else (),
        keywords=tuple(tag for tag in query.tags if tag.strip()),
        since=bound_of(query.since),
        until=bound_of(query.until),
    )


def check_type(field: str, word: str) -> None:
    """Raise RecallError for what is no word of `type`; "" is none, and allowed."""
    if word and word not in WORDS_OF_TYPE:
        raise RecallError("bad_type", field=field, known=", ".join(WORDS_OF_TYPE))


def _check(query: Query) -> None:
    if len(query.tags) > MOST_KEYWORDS:  # no fragment has more
        facts = {"count": len(query.tags), "most": MOST_KEYWORDS}
        raise RecallError("too_many_tags", field="tags", **facts)
    dates: Mapping[str, str] = {"from": query.since, "to": query.until}
    for field, text in dates.items():
        if text.strip() and not bound_of(text):
            raise RecallError("bad_date", field=field)
    check_type("type", query.type)
    if query.relation and query.relation not in RELATIONS:
        raise RecallError("bad_type", field="linkRelationType", known=", ".join(RELATIONS))
    if query.tokens < 1:
        raise RecallError("bad_tokens")
    if query.threshold is not None and not 0 <= query.threshold <= 1:
        raise RecallError("bad_threshold")
