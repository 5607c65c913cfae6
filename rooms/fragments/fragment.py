"""Defines one fragment, the links between fragments, and what is kept beside them.

Pure: no disk, no environment; the time comes in as text, ISO 8601 in UTC.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import NamedTuple

from core.config import DEFAULT_AGENT
from core.text.plain import normal_form
from rooms.fragments.kinds import Kind, Lifetime, Privacy, Relation, Tier

CONTENT_CHARS = 300  # recommended; a longer text is stored, and its answer says so
CONTENT_BYTES = 1_024  # refused above
TOPIC_CHARS, KEYWORD_CHARS, SOURCE_CHARS = 50, 50, 200
MOST_KEYWORDS = 20
SUGGESTION_CHARS, SITUATION_CHARS = 500, 200
DEFAULT_TOPIC = "general"

# The columns whose names are the specification's, by ours.
_COLUMN_OF = {
    "kind": "type",
    "agent": "agent_id",
    "session": "session_id",
    "privacy": "privacy_scope",
    "tier": "ttl_tier",
    "utility": "utility_score",
}

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """One atom of knowledge, as it is stored.

    number: of its row in this database, which no other has; 0 for one that is not stored. agent:
    whose it is. session: that of a working memory, else "". importance: from 0 to 1. stale_days:
    see `TypeRow`. expires_at: when its lifetime ends, "" for never. deleted_at: since when it is in
    the bin, and why (`forgotten`, `expired`, `stale`, `merged`, `ended`). superseded_at: since when
    another has its place. promoted: the `id` of the record of a memory log that has it, `id@fp` as
    an older version wrote it, "" for none. access_count: how often it was recalled;
    sessions_count: in how many sessions, the last of them is last_session. verified_at: when
    somebody last said that it holds; checked_at: when it was last compared with others, for
    contradictions. decayed_at: up to when its importance has decayed.
    """

    number: int = 0
    id: str
    content: str
    topic: str = DEFAULT_TOPIC
    keywords: tuple[str, ...] = ()
    kind: Kind = "fact"
    lifetime: Lifetime = "semantic"
    importance: float = 0.5
    content_hash: str = ""
    source: str = ""
    agent: str = DEFAULT_AGENT
    session: str = ""
    privacy: Privacy = "private"
    access_count: int = 0
    accessed_at: str = ""
    sessions_count: int = 0
    last_session: str = ""
    created_at: str = ""
    updated_at: str = ""
    tier: Tier = "hot"
    estimated_tokens: int = 0
    utility: float = 1.0
    verified_at: str = ""
    checked_at: str = ""
    decayed_at: str = ""
    is_anchor: bool = False
    stale_days: int = 0
    expires_at: str = ""
    deleted_at: str = ""
    deletion: str = ""
    superseded_at: str = ""
    promoted: str = ""

    @property
    def is_live(self) -> bool:
        """Whether it can be recalled."""
        return not (self.deleted_at or self.superseded_at)

    @property
    def record_id(self) -> str:
        """The id of the record that it became, "" for none."""
        return self.promoted.partition("@")[0]

    @property
    def text(self) -> str:
        """What is searched: the content, the topic, the keywords."""
        return "\n".join((self.content, self.topic, " ".join(self.keywords)))

    @property
    def used_at(self) -> str:
        """When it was last recalled, corrected or saved."""
        return max(self.accessed_at, self.updated_at, self.created_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A relation from one fragment to another. One pair has one link in one direction."""

    from_id: str
    to_id: str
    relation: Relation = "related"
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a fragment said before it was amended, at amended_at by the agent amended_by."""

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
    """Whether the answer of a tool was of use to an agent."""

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
    """How the work of an agent's session went."""

    session_id: str = ""
    overall_success: bool = True
    tool_highlights: tuple[str, ...] = ()
    tool_pain_points: tuple[str, ...] = ()
    created_at: str = ""
    agent: str = DEFAULT_AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What one session did with the room: how many calls, how many fragments it wrote.

    reflected_at: when `reflect` was called in it. ended_at: when it ended.
    """

    session_id: str
    agent: str = DEFAULT_AGENT
    started_at: str = ""
    last_at: str = ""
    calls: int = 0
    written: int = 0
    reflected_at: str = ""
    ended_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Two fragments that may contradict each other, and how near they are, from 0 to 1."""

    first_id: str
    second_id: str
    similarity: float
    found_at: str = ""


class Embedding(NamedTuple):
    """The vector of one fragment: 32-bit floats, little endian, of length 1."""

    number: int
    vector: bytes


def hash_of(content: str) -> str:
    """Return what two equal contents share: case counts, blanks and composition do not."""
    plain = _BLANKS.sub(" ", normal_form("NFC", content)).strip()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def plain_keyword(keyword: str) -> str:
    """Return a keyword or a topic in the spelling in which two are compared."""
    return normal_form("NFKC", keyword).casefold().strip()


def column_of(name: str) -> str:
    """Return the specification's name of a field, which is that of its column."""
    return _COLUMN_OF.get(name, name)
