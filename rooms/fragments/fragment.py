"""Defines fragments, links, the rows beside them, their filter, requests and refusals.

A kind is the sort of knowledge, a lifetime how long it is kept; the specification calls both
`type`. Pure: no disk, no environment. Moments are texts, ISO 8601 in UTC.
"""

import sys
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from core.config import DEFAULT_AGENT
from core.errors import RefusedError
from core.text.plain import digest, normal_form, one_line

DEFAULT_TOPIC = "general"
RECALL_TOKENS, CONTEXT_TOKENS = 1_000, 2_000  # of an answer
CONTEXT_TYPES = ("preference", "error", "procedure")  # beside what is pinned

Kind = Literal["fact", "decision", "error", "preference", "procedure", "relation"]
Lifetime = Literal["working", "episodic", "semantic", "procedural"]
Relation = Literal["related", "caused_by", "resolved_by", "part_of", "contradicts", "superseded_by"]
Tier = Literal["hot", "warm", "cold", "permanent"]
Privacy = Literal["private", "team", "public"]

KINDS: tuple[str, ...] = get_args(Kind)
LIFETIMES: tuple[str, ...] = get_args(Lifetime)
RELATIONS: tuple[str, ...] = get_args(Relation)
WORDS_OF_TYPE = (*KINDS, *LIFETIMES)

VERSION_FIELDS = ("content", "topic", "keywords", "kind", "importance")  # that a version keeps
HOUR, DAY = 1, 24

# The specification's names of columns, by ours.
_COLUMN_OF = {
    "kind": "type",
    "agent": "agent_id",
    "session": "session_id",
    "privacy": "privacy_scope",
    "tier": "ttl_tier",
    "utility": "utility_score",
    "relation": "relation_type",
}
_SHOWN_ID_CHARS, _READ_ID_CHARS = 40, 400  # of a bad id
_TEXT_FAILURES = ("bad_answer", "refused", "too_large")  # failures that single texts may cause


class TypeRow(NamedTuple):
    """The meaning of one word of `type`; 0 is never."""

    kind: Kind
    lifetime: Lifetime
    importance: float
    hours: int = 0  # until a fragment expires
    stale_days: int = 0  # without use, after which a cold fragment goes to the bin
    doubtful_days: int = 0  # unverified, after which it is listed as doubtful and stays


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """One piece of knowledge, as it is stored."""

    number: int = 0  # of its row in this database, 0 if not stored
    id: str
    content: str
    topic: str = DEFAULT_TOPIC
    keywords: tuple[str, ...] = ()
    kind: Kind = "fact"
    lifetime: Lifetime = "semantic"
    importance: float = 0.5  # from 0 to 1
    content_hash: str = ""
    source: str = ""
    agent: str = DEFAULT_AGENT
    session: str = ""  # of working memory
    privacy: Privacy = "private"
    access_count: int = 0  # recalls
    accessed_at: str = ""
    sessions_count: int = 0  # sessions with a recall
    last_session: str = ""
    created_at: str = ""
    updated_at: str = ""
    tier: Tier = "hot"
    estimated_tokens: int = 0
    utility: float = 1.0
    verified_at: str = ""  # when somebody last confirmed it
    checked_at: str = ""  # when it was compared for contradictions
    decayed_at: str = ""  # up to when its importance has decayed
    is_anchor: bool = False
    stale_days: int = 0  # of its `TypeRow`; the settings have the last word
    expires_at: str = ""  # "" for never
    deleted_at: str = ""
    deletion: str = ""  # why it is in the bin: forgotten, expired, stale, merged, ended
    superseded_at: str = ""  # since when another has its place
    promoted: str = ""  # `id` of its record in a memory log, `id@fp` by older versions

    @property
    def is_live(self) -> bool:
        """Whether it can be recalled."""
        return not (self.deleted_at or self.superseded_at)

    @property
    def record_id(self) -> str:
        """The `id` of its record, "" for none."""
        return self.promoted.partition("@")[0]

    @property
    def text(self) -> str:
        """The text that is searched."""
        return "\n".join((self.content, self.topic, " ".join(self.keywords)))

    @property
    def changed_at(self) -> str:
        """When it was last saved, corrected, superseded or forgotten."""
        return max(self.created_at, self.updated_at, self.superseded_at, self.deleted_at)

    @property
    def used_at(self) -> str:
        """When it was last recalled, corrected or saved."""
        return max(self.accessed_at, self.updated_at, self.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link between two fragments; a pair has one in each direction at most."""

    from_id: str
    to_id: str
    relation: Relation = "related"
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A fragment before it was amended."""

    fragment_id: str
    content: str
    topic: str = ""
    keywords: tuple[str, ...] = ()
    kind: Kind = "fact"
    importance: float = 0.5
    amended_at: str = ""
    amended_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFeedback:
    tool_name: str
    relevant: bool
    sufficient: bool
    suggestion: str = ""
    context: str = ""
    session_id: str = ""
    trigger_type: str = "voluntary"
    created_at: str = ""
    agent: str = DEFAULT_AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFeedback:
    session_id: str = ""
    overall_success: bool = True
    tool_highlights: tuple[str, ...] = ()
    tool_pain_points: tuple[str, ...] = ()
    created_at: str = ""
    agent: str = DEFAULT_AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The use of the room by one session."""

    session_id: str
    agent: str = DEFAULT_AGENT
    started_at: str = ""
    last_at: str = ""
    calls: int = 0
    written: int = 0  # fragments
    reflected_at: str = ""  # when `reflect` was called in it
    ended_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Two fragments that may contradict each other. similarity: from 0 to 1."""

    first_id: str
    second_id: str
    similarity: float
    found_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The fragment that a caller wants."""

    content: str
    topic: str = ""  # "" for the first keyword
    type: str = ""  # a word of `TYPES`, "" for the default
    keywords: tuple[str, ...] = ()  # () to find them in the content
    importance: float | None = None  # None for the type's
    source: str = ""
    linked_to: tuple[str, ...] = ()  # ids
    privacy: str = "private"
    is_anchor: bool = False
    is_working: bool = False  # it lives as long as its session


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """The changes that a caller wants; None leaves a field as it is."""

    id: str
    content: str | None = None
    topic: str | None = None
    keywords: tuple[str, ...] | None = None  # () to find them in the content
    type: str | None = None  # a word of `TYPES`
    importance: float | None = None
    is_anchor: bool | None = None
    supersedes: bool = False  # put a new fragment in its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """The results of a session."""

    summary: str  # of all, needed; the others are one thing each
    decisions: tuple[str, ...] = ()
    errors_resolved: tuple[str, ...] = ()
    new_procedures: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    source: str = ""
    effectiveness: TaskFeedback | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and its filter; an empty field filters nothing."""

    agent: str = ""  # whose, beside the default agent's
    session: str = ""  # whose working memory
    keywords: tuple[str, ...] = ()
    topic: str = ""
    type: str = ""  # a word of `TYPES`
    text: str = ""
    tags: tuple[str, ...] = ()  # a fragment must have all
    since: str = ""  # day or moment, included, as `until`
    until: str = ""
    changed_since: str = ""  # as in `Filter`
    tokens: int = RECALL_TOKENS  # of the answer
    limit: int = 0  # 0 for no limit
    with_links: bool = True  # return linked fragments, too
    relation: str = ""  # follow only such links
    threshold: float | None = None  # least cosine of what a vector alone finds, None for the room's

    @property
    def has_only_words(self) -> bool:
        """Whether it has words and no filter, so that other rooms can answer."""
        filters = self.agent, self.topic, self.type, *self.tags, self.since, self.until
        return bool(self.question) and not any(map(str.strip, (*filters, self.relation)))

    @property
    def question(self) -> str:
        """The keywords that the text does not hold, then the text."""
        text = plain_keyword(self.text)
        words = [word for word in self.keywords if word.strip() and plain_keyword(word) not in text]
        return " ".join([*words, self.text]).strip()


class Embedding(NamedTuple):
    """A fragment's vector: 32-bit floats, little endian, of norm 1."""

    number: int
    vector: bytes


Entry = Version | ToolFeedback | TaskFeedback | Activity | Suspicion
State = Literal["live", "superseded", "bin", "kept", "all"]
Order = Literal["number", "newest", "changed", "worth"]
Group = Literal[
    "kind", "lifetime", "tier", "topic", "agent", "deletion", "privacy", "content_hash", ""
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter of fragments; an empty field filters nothing."""

    agents: tuple[str, ...] = ()  # any of them, as of kinds, lifetimes, topics
    kinds: tuple[str, ...] = ()
    lifetimes: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()  # compared by `plain_keyword`, as keywords are
    keywords: tuple[str, ...] = ()  # all of them
    numbers: tuple[int, ...] | None = None  # None for all, () finds none
    session: str = ""
    privacy: str = ""
    content_hash: str = ""
    since: str = ""  # day or moment of creation, included, as `until`
    until: str = ""
    changed_since: str = ""  # day or moment of the last change, included
    state: State = "live"  # superseded: with a successor; kept: all but the bin
    is_anchor: bool | None = None
    has_vector: bool | None = None
    is_checked: bool | None = None  # for contradictions
    after: int = 0  # number of the last fragment on the page before


def hash_of(content: str) -> str:
    """Return 32 hex digits of a content; case counts, blanks and composition do not."""
    plain = " ".join(normal_form("NFC", content).split())
    return digest(plain)[:32]


def plain_keyword(keyword: str) -> str:
    """Return the spelling in which keywords and topics are compared.

    >>> plain_keyword(" Ｃafé")
    'café'
    """
    # Without NUL, which ends a text in SQLite's JSON.
    return normal_form("NFKC", keyword).casefold().strip().replace("\0", " ")


def column_of(name: str) -> str:
    """Return the specification's name of a field and column, such as `agent_id` of `agent`."""
    return _COLUMN_OF.get(name, name)


class FragmentsError(RefusedError):
    """A call on the fragments is refused, for the key of a sentence and its facts."""

    table = "fragments.room"


class NoSuchFragmentError(FragmentsError):
    """No fragment has this id, or it is in the bin. Facts: id."""

    key = "no_such_fragment"

    def __init__(self, *, id: str) -> None:
        """id: as the caller wrote it, of any length, secrets included."""
        from core.sanitizer import redact  # a server starts faster without it

        super().__init__(id=one_line(redact(id[:_READ_ID_CHARS]).text[:_SHOWN_ID_CHARS]) or '""')


class UpkeepError(FragmentsError):
    table = "fragments.upkeep"


class UpkeepBusyError(UpkeepError, TimeoutError):
    """Another process runs the upkeep. Facts: path."""

    key = "busy"


class ServiceError(FragmentsError):
    """A model gave no usable answer, or the settings name none."""

    table = "fragments.services"

    def __init__(self, key: str, /, *, retry_after_s: float = 0, **facts: str | int) -> None:
        super().__init__(key, **facts)
        self.retry_after_s = retry_after_s  # the service wants no call for so long, 0: unsaid

    @property
    def may_be_text_fault(self) -> bool:
        """Whether one text may be the cause, so that others may succeed."""
        return self.key in _TEXT_FAILURES


def package_error(variable: str, package: str, *packages: str) -> ServiceError:
    """Return the refusal for a missing package. packages: all to install."""
    install = " ".join((sys.executable, "-m pip install", *(packages or (package,))))
    return ServiceError("no_package", variable=variable, package=package, install=install)
