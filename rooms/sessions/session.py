"""Defines one session: its fields and limits, and how it is stored and given out.

Pure: no disk, no environment; the time comes in as text. The names of the JSON objects are those of
the specification; the program's own are plain.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from core.errors import RefusedError
from core.messages import say
from core.room.documents import objects_at, text_at, texts_in

Status = Literal["planning", "coding", "testing", "reviewing", "debugging", "completed", "paused"]
Outcome = Literal["success", "failed", "partial"]
STATUSES: tuple[str, ...] = get_args(Status)
OUTCOMES: tuple[str, ...] = get_args(Outcome)
ENDED = frozenset(("completed", "paused"))

GOAL_CHARS, SUMMARY_CHARS = 500, 2_000  # of the stored text
GOAL_SHORT_CHARS, SUMMARY_SHORT_CHARS = 50, 100
POINT_CHARS = 1_000  # of each text of a decision, an approach, a blocker
TAG_CHARS, PATH_CHARS, AGENT_CHARS = 50, 500, 100
MOST_TAGS, MOST_POINTS, MOST_FILES, MOST_FORMER = 20, 100, 500, 10

LESSON, FOLLOWED, SHOWN = "lesson", "followed", "shown"  # as an older version noted lessons
ACTION_KINDS = ("command", "edit", "error", LESSON)

_BLANKS = re.compile(r"\s+")


class SessionsError(RefusedError):
    """A call on the sessions cannot be carried out; takes the key of its sentence and its facts."""

    table = "sessions.room"


class NoSuchSessionError(SessionsError):
    """No session has this number or id. Facts: name."""

    key = "no_such_session"


class ExchangeError(SessionsError):
    """A document cannot be written or read as asked; takes the key of its sentence."""

    table = "sessions.exchange"


class UpkeepError(SessionsError):
    """Something about an archive, a repair or a removal; takes the key of its sentence."""

    table = "sessions.upkeep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A decision, an approach or a blocker of a session.

    text: what was decided or tried, or what stood in the way. why: the reason; of a blocker how it
    was resolved. result: of an approach, one of OUTCOMES. is_resolved, resolved_at: of a blocker.
    made_by: the agent who decided. at: the moment, ISO 8601 in UTC.
    """

    text: str
    why: str = ""
    result: str = ""
    is_resolved: bool = False
    made_by: str = ""
    at: str = ""
    resolved_at: str = ""


class Declared(NamedTuple):
    """How the specification declares a kind of point.

    names: each JSON name with the field of Point that it has. optional: the JSON names that are
    left out where they are empty.
    """

    names: Mapping[str, str]
    optional: frozenset[str] = frozenset()

    def as_json(self, point: Point) -> dict[str, Any]:
        """Return the declared object."""
        values = {name: getattr(point, field) for name, field in self.names.items()}
        return {name: it for name, it in values.items() if it or name not in self.optional}

    def read(self, data: Mapping[str, Any]) -> Point:
        """Return the point of a declared object; a value of another kind counts as empty."""
        values = {
            field: data.get(name) is True if field == "is_resolved" else text_at(data, name)
            for name, field in self.names.items()
        }
        return Point(**values)  # type: ignore[arg-type]  # each field has its own kind


# The kinds of points, each in the field of its name of a Draft and a Session. Whatever is done to
# all texts of a session walks this table, so that a new field cannot be forgotten.
# fmt: off
POINTS: Mapping[str, Declared] = {
    "decisions": Declared(
        {"what": "text", "why": "why", "madeBy": "made_by", "timestamp": "at"}),
    "approaches": Declared(
        {"description": "text", "result": "result", "reason": "why", "timestamp": "at"},
        frozenset(("reason",))),
    "blockers": Declared(
        {"description": "text", "resolved": "is_resolved", "resolution": "why",
         "discoveredAt": "at", "resolvedAt": "resolved_at"},
        frozenset(("resolution", "resolvedAt"))),
}
# fmt: on


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
class Former:
    """What an update has replaced in a session; "" and () for what stayed.

    at: the moment of the update, ISO 8601 in UTC.
    """

    at: str
    goal: str = ""
    summary: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return an object with what was replaced."""
        texts = {"goal": self.goal, "summary": self.summary, "status": self.status}
        told: dict[str, Any] = {name: text for name, text in texts.items() if text}
        return {"replacedAt": self.at, **told, **({"tags": list(self.tags)} if self.tags else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A session before it is saved: the words of the model, without number and dates.

    What is None keeps the stored value of a session that is continued. Points join those that are
    stored; one with the same text takes its place. id: of the session to continue, "" for none.
    parent: of the one that came before, "" for none.
    """

    goal: str
    summary: str | None = None
    status: str | None = None
    tags: tuple[str, ...] | None = None
    parent: str = ""
    id: str = ""
    decisions: tuple[Point, ...] = ()
    approaches: tuple[Point, ...] = ()
    blockers: tuple[Point, ...] = ()
    changes: Changes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session as it is stored.

    number: its short name in this project, `#128`; id: its name everywhere. Dates are ISO 8601 in
    UTC; ended_at is "" while the session is open. former: what updates have replaced, the oldest
    first. archive: the file to which an older version has moved its texts; "" for nearly all.
    """

    number: int
    id: str
    goal: str
    summary: str = ""
    status: str = "planning"
    tags: tuple[str, ...] = ()
    agent: str = ""
    parent_id: str = ""
    decisions: tuple[Point, ...] = ()
    approaches: tuple[Point, ...] = ()
    blockers: tuple[Point, ...] = ()
    changes: Changes = field(default_factory=Changes)
    former: tuple[Former, ...] = ()
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
    def failed(self) -> list[Point]:
        """The approaches that failed."""
        return [it for it in self.approaches if it.result == "failed"]

    @property
    def open_blockers(self) -> list[Point]:
        """The blockers that nobody has resolved."""
        return [it for it in self.blockers if not it.is_resolved]

    @property
    def date(self) -> str:
        """The day on which it was saved last, YYYY-MM-DD."""
        return (self.updated_at or self.created_at)[:10]

    @property
    def texts(self) -> list[str]:
        """All words of the session that a search may find, the telling ones first."""
        texts = [self.goal, *self.tags, self.summary, self.changes.summary]
        texts += [text for it in self.points() for text in (it.text, it.why)]
        return [text for text in texts if text]

    def points(self) -> Iterator[Point]:
        """Yield all points, kind by kind."""
        for name in POINTS:
            yield from getattr(self, name)

    def metadata(self) -> dict[str, Any]:
        """Return the declared `metadata`."""
        points = {
            name: [declared.as_json(it) for it in getattr(self, name)]
            for name, declared in POINTS.items()
        }
        return {**points, "codeChanges": self.changes.as_json()}

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

    kind: one of ACTION_KINDS. result: success, failed, or the end of what was printed; of a lesson
    FOLLOWED or SHOWN. content: of a lesson its id and topic.
    """

    id: str
    kind: str
    content: str
    result: str = ""
    file_path: str = ""
    created_at: str = ""
    context_id: str = ""

    @property
    def done(self) -> str:
        """What was done, and in which file where that does not say so."""
        path = self.file_path if self.file_path not in self.content else ""
        return " ".join(filter(None, (self.content, path)))

    @property
    def kind_name(self) -> str:
        """The kind in the reader's language."""
        is_known = self.kind in ACTION_KINDS
        return say(f"sessions.exchange.{self.kind}") if is_known else self.kind

    @property
    def end(self) -> str:
        """How it went, as far as that is known; of a lesson in the reader's language."""
        is_ours = self.kind == LESSON and self.result in (FOLLOWED, SHOWN)
        return say(f"sessions.exchange.{self.result}") if is_ours else self.result

    def as_json(self) -> dict[str, Any]:
        """Return the object with the names of the table's columns."""
        optional = {"result": self.result, "filePath": self.file_path}
        known = {name: value for name, value in optional.items() if value}
        kind = {"id": self.id, "type": self.kind, "content": self.content}
        return {**kind, **known, "createdAt": self.created_at}


def shortened(text: str, most: int) -> str:
    """Return the text as one line of at most so many characters, with … where it was cut."""
    line = _BLANKS.sub(" ", text).strip()
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def to_metadata(session: Session) -> str:
    """Return the text of the column `metadata`; `{}` where there is none of it."""
    if not (any(session.points()) or session.changes or session.former):
        return "{}"
    former = {"former": [it.as_json() for it in session.former]} if session.former else {}
    data = {**session.metadata(), **former}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


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
    points = {
        name: tuple(map(declared.read, objects_at(data, name))) for name, declared in POINTS.items()
    }
    return {**points, "changes": changes_in(data), "former": former_in(data)}


def changes_in(data: Mapping[str, Any]) -> Changes:
    """Return the declared `codeChanges` of an object."""
    changes = data.get("codeChanges")
    changes = changes if isinstance(changes, dict) else {}
    files = tuple(dict.fromkeys(texts_in(changes.get("modifiedFiles"))))
    return Changes(modified_files=files, summary=text_at(changes, "summary"))


def former_in(data: Mapping[str, Any]) -> tuple[Former, ...]:
    """Return what updates have replaced, as `Former.as_json` writes it."""
    return tuple(
        Former(
            at=text_at(it, "replacedAt"),
            goal=text_at(it, "goal"),
            summary=text_at(it, "summary"),
            status=text_at(it, "status"),
            tags=texts_in(it.get("tags")),
        )
        for it in objects_at(data, "former")[-MOST_FORMER:]
    )
