"""Defines one session: its fields and limits, and the forms in which it is stored and given out.

Pure: no disk, no environment; the time comes in as text. The names of the JSON objects are those of
the specification; the program's own are plain.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from core.room.documents import objects_at, text_at, texts_in

Status = Literal["planning", "coding", "testing", "reviewing", "debugging", "completed", "paused"]
Outcome = Literal["success", "failed", "partial"]
STATUSES: tuple[str, ...] = get_args(Status)
OUTCOMES: tuple[str, ...] = get_args(Outcome)
ENDED = frozenset(("completed", "paused"))

GOAL_CHARS, SUMMARY_CHARS = 500, 2_000  # of the stored text
GOAL_SHORT_CHARS, SUMMARY_SHORT_CHARS = 50, 100
ITEM_CHARS = 1_000  # of each text of a decision, an approach, a blocker
TAG_CHARS, PATH_CHARS, AGENT_CHARS = 50, 500, 100
MOST_TAGS, MOST_ITEMS, MOST_FILES = 20, 100, 500

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided and why; made_by is the agent, timestamp the time in ISO 8601 UTC."""

    what: str
    why: str = ""
    made_by: str = ""
    timestamp: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the declared object."""
        return {
            "what": self.what,
            "why": self.why,
            "madeBy": self.made_by,
            "timestamp": self.timestamp,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """What was tried, and how it went."""

    description: str
    result: str = "success"
    reason: str = ""
    timestamp: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the declared object."""
        reason = {"reason": self.reason} if self.reason else {}
        head = {"description": self.description, "result": self.result}
        return {**head, **reason, "timestamp": self.timestamp}


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """What stood in the way, and how it was resolved, if it was."""

    description: str
    resolved: bool = False
    resolution: str = ""
    discovered_at: str = ""
    resolved_at: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the declared object."""
        told: dict[str, Any] = {"description": self.description, "resolved": self.resolved}
        if self.resolution:
            told["resolution"] = self.resolution
        told["discoveredAt"] = self.discovered_at
        if self.resolved_at:
            told["resolvedAt"] = self.resolved_at
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Which files a session changed, and how, in a sentence."""

    modified_files: tuple[str, ...] = ()
    summary: str = ""

    def __bool__(self) -> bool:
        return bool(self.modified_files or self.summary)

    def as_json(self) -> dict[str, Any]:
        """Return the declared object."""
        return {"modifiedFiles": list(self.modified_files), "summary": self.summary}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A session before it is saved: the words of the model, without number and dates.

    What is None keeps the stored value of a session that is continued. Decisions, approaches and
    blockers join those that are stored; one with the same text takes its place. id: of the session
    to continue, "" for none. parent: of the one that came before, "" for none. Dates that are given
    come from an import.
    """

    goal: str
    summary: str | None = None
    status: str | None = None
    tags: tuple[str, ...] | None = None
    parent: str = ""
    id: str = ""
    decisions: tuple[Decision, ...] = ()
    approaches: tuple[Approach, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    changes: Changes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session as it is stored.

    number: its short name in this project, `#128`; id: its name everywhere. Dates are ISO 8601 in
    UTC; ended_at is "" while the session is open. archive: the file that has its texts, "" for this
    database; an archived session has only its short texts here.
    """

    number: int
    id: str
    goal: str
    summary: str = ""
    status: str = "planning"
    tags: tuple[str, ...] = ()
    agent: str = ""
    parent_id: str = ""
    decisions: tuple[Decision, ...] = ()
    approaches: tuple[Approach, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    changes: Changes = field(default_factory=Changes)
    has_warnings: bool = False
    started_at: str = ""
    ended_at: str = ""
    created_at: str = ""
    updated_at: str = ""
    archive: str = ""

    @property
    def goal_short(self) -> str:
        """The goal in at most GOAL_SHORT_CHARS characters."""
        return shortened(self.goal, GOAL_SHORT_CHARS)

    @property
    def summary_short(self) -> str:
        """The summary in at most SUMMARY_SHORT_CHARS characters."""
        return shortened(self.summary, SUMMARY_SHORT_CHARS)

    @property
    def failed(self) -> list[Approach]:
        """The approaches that failed."""
        return [it for it in self.approaches if it.result == "failed"]

    @property
    def open_blockers(self) -> list[Blocker]:
        """The blockers that nobody has resolved."""
        return [it for it in self.blockers if not it.resolved]

    @property
    def date(self) -> str:
        """The day on which it was saved last, YYYY-MM-DD."""
        return (self.updated_at or self.created_at)[:10]

    @property
    def texts(self) -> list[str]:
        """All words of the session that a search may find, the telling ones first."""
        told = [self.goal, *self.tags, self.summary, self.changes.summary]
        told += [text for it in self.decisions for text in (it.what, it.why)]
        told += [text for it in self.approaches for text in (it.description, it.reason)]
        told += [text for it in self.blockers for text in (it.description, it.resolution)]
        return [text for text in told if text]

    def metadata(self) -> dict[str, Any]:
        """Return the declared `metadata`."""
        return {
            "decisions": [it.as_json() for it in self.decisions],
            "approaches": [it.as_json() for it in self.approaches],
            "blockers": [it.as_json() for it in self.blockers],
            "codeChanges": self.changes.as_json(),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the declared `context` object; what is empty and optional there is left out."""
        parent = {"parentId": self.parent_id} if self.parent_id else {}
        ended = {"endedAt": self.ended_at} if self.ended_at else {}
        return {
            "id": self.id,
            **parent,
            "goal": self.goal,
            "summary": self.summary,
            "status": self.status,
            "tags": list(self.tags),
            "agent": self.agent,
            "metadata": self.metadata(),
            "startedAt": self.started_at,
            **ended,
            "createdAt": self.created_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A command, an edit or an error of a client as a hook recorded it, or a lesson it was shown.

    kind: of KINDS. result: success, failed, or the end of what was printed; of a lesson
    FOLLOWED or SHOWN. content: of a lesson its id and topic.
    """

    id: str
    kind: str
    content: str
    result: str = ""
    file_path: str = ""
    created_at: str = ""
    context_id: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the object with the names of the table's columns."""
        told = {"id": self.id, "type": self.kind, "content": self.content}
        optional = {"result": self.result, "filePath": self.file_path}
        kept = {key: value for key, value in optional.items() if value}
        return {**told, **kept, "createdAt": self.created_at}


def shortened(text: str, most: int) -> str:
    """Return the text as one line of at most so many characters, with … where it was cut."""
    line = _BLANKS.sub(" ", text).strip()
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def to_metadata(session: Session) -> str:
    """Return the text of the column `metadata`; `{}` where there is none of it."""
    if not (session.decisions or session.approaches or session.blockers or session.changes):
        return "{}"
    return json.dumps(session.metadata(), ensure_ascii=False, separators=(",", ":"))


def from_metadata(text: str) -> dict[str, Any]:
    """Return the fields of a Session that the column `metadata` holds.

    Whatever is of another kind than declared is passed over: others may write the table, too.
    """
    try:
        data = json.loads(text or "{}") if text != "{}" else {}
    except (ValueError, RecursionError):
        data = {}
    if not isinstance(data, dict) or not data:
        return {}
    changes = data.get("codeChanges")
    changes = changes if isinstance(changes, dict) else {}
    files = changes.get("modifiedFiles")
    return {
        "decisions": tuple(_decision(it) for it in objects_at(data, "decisions")),
        "approaches": tuple(_approach(it) for it in objects_at(data, "approaches")),
        "blockers": tuple(_blocker(it) for it in objects_at(data, "blockers")),
        "changes": Changes(
            modified_files=texts_in(files),
            summary=text_at(changes, "summary"),
        ),
    }


def _decision(data: Mapping[str, Any]) -> Decision:
    return Decision(
        what=text_at(data, "what"),
        why=text_at(data, "why"),
        made_by=text_at(data, "madeBy"),
        timestamp=text_at(data, "timestamp"),
    )


def _approach(data: Mapping[str, Any]) -> Approach:
    return Approach(
        description=text_at(data, "description"),
        result=text_at(data, "result"),
        reason=text_at(data, "reason"),
        timestamp=text_at(data, "timestamp"),
    )


def _blocker(data: Mapping[str, Any]) -> Blocker:
    return Blocker(
        description=text_at(data, "description"),
        resolved=data.get("resolved") is True,
        resolution=text_at(data, "resolution"),
        discovered_at=text_at(data, "discoveredAt"),
        resolved_at=text_at(data, "resolvedAt"),
    )
