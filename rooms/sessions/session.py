"""One session: its fields and limits, and its form in JSON and in the database.

Pure: no disk, no environment, no clock. The names in JSON are those of the specification.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, get_args

from core.errors import RefusedError
from core.messages import say
from core.room.documents import objects_at, text_at, texts_in

Status = Literal["planning", "coding", "testing", "reviewing", "debugging", "completed", "paused"]
Outcome = Literal["success", "failed", "partial"]
STATUSES: tuple[str, ...] = get_args(Status)
OUTCOMES: tuple[str, ...] = get_args(Outcome)
ENDED_STATUSES = frozenset(("completed", "paused"))

GOAL_CHARS, SUMMARY_CHARS = 500, 2_000  # of the stored text
GOAL_SHORT_CHARS, SUMMARY_SHORT_CHARS = 50, 100
POINT_CHARS = 1_000  # of each text of a decision, an approach, a blocker
TAG_CHARS, PATH_CHARS, AGENT_CHARS = 50, 500, 100
MOST_TAGS, MOST_POINTS, MOST_FILES, MOST_FORMER = 20, 100, 500, 10

LESSON_KIND = "lesson"  # which an older version noted as an action
ACTION_KINDS = ("command", "edit", "error", LESSON_KIND)

_Value = TypeVar("_Value")


class SessionsError(RefusedError):
    """A call on the sessions is refused; takes the key of its sentence and its facts."""

    table = "sessions.room"


class NoSuchSessionError(SessionsError):
    """No session has this number or id. Facts: name."""

    key = "no_such_session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A decision, an approach or a blocker. Dates: ISO 8601 in UTC."""

    text: str
    why: str = ""  # the reason, or a blocker's solution
    result: str = ""  # of an approach, one of OUTCOMES
    is_resolved: bool = False  # of a blocker
    made_by: str = ""  # the agent who decided
    at: str = ""
    resolved_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The files that a session changed, and a sentence on them."""

    modified_files: tuple[str, ...] = ()
    summary: str = ""

    def __bool__(self) -> bool:
        return bool(self.modified_files or self.summary)


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """The values that an update replaced; "" and () for others. at: ISO 8601 in UTC."""

    at: str
    goal: str = ""
    summary: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # of points, each after its text; the words on the changes

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The text of each value, after its name; a status has none."""
        texts = {"goal": self.goal, "summary": self.summary, "tags": ", ".join(self.tags)}
        return [pair for pair in (*texts.items(), ("reasons", "; ".join(self.reasons))) if pair[1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A session before it is saved. None keeps the stored value of a continued session."""

    goal: str
    summary: str | None = None
    status: str | None = None
    tags: tuple[str, ...] | None = None
    parent: str = ""  # the session before it
    id: str = ""  # the session to continue
    decisions: tuple[Point, ...] = ()
    approaches: tuple[Point, ...] = ()
    blockers: tuple[Point, ...] = ()
    changes: Changes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A stored session. Dates: ISO 8601 in UTC."""

    number: int  # its name in this project, `#128`
    id: str  # its name everywhere
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
    former: tuple[Former, ...] = ()  # the oldest first
    has_warnings: bool = False
    started_at: str = ""
    ended_at: str = ""  # while open
    created_at: str = ""
    updated_at: str = ""
    archive: str = ""  # an older version's file with its texts

    @property
    def goal_short(self) -> str:
        return shorten(self.goal, GOAL_SHORT_CHARS)

    @property
    def summary_short(self) -> str:
        return shorten(self.summary, SUMMARY_SHORT_CHARS)

    @property
    def metadata(self) -> dict[str, Any]:
        points = {key: [*map(shape.as_json, getattr(self, key))] for key, shape in POINTS.items()}
        return {**points, "codeChanges": CHANGES.as_json(self.changes)}

    @property
    def former_objects(self) -> list[dict[str, Any]]:
        return [FORMER.as_json(former) for former in self.former]

    @property
    def failures(self) -> list[Point]:
        return [approach for approach in self.approaches if approach.result == "failed"]

    @property
    def open_blockers(self) -> list[Point]:
        return [blocker for blocker in self.blockers if not blocker.is_resolved]

    @property
    def date(self) -> str:
        """The day of its last save, YYYY-MM-DD."""
        return (self.updated_at or self.created_at)[:10]

    @property
    def texts(self) -> list[str]:
        """All words that a search may find, the most telling first."""
        texts = [self.goal, *self.tags, self.summary, self.changes.summary]
        texts += [text for point in self.points() for text in (point.text, point.why)]
        return [text for text in texts if text]

    def points(self) -> Iterator[Point]:
        for name in POINTS:
            yield from getattr(self, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A command, edit or error that a hook recorded, or a lesson shown to the client."""

    id: str
    kind: str  # one of ACTION_KINDS
    content: str  # of a lesson its id and topic
    result: str = ""  # success, failed, or the end of the output
    file_path: str = ""
    created_at: str = ""
    context_id: str = ""

    @property
    def full_content(self) -> str:
        """The content, with the path of the file if it is not in it."""
        path = self.file_path if self.file_path not in self.content else ""
        return " ".join(filter(None, (self.content, path)))

    @property
    def kind_name(self) -> str:
        return say(f"sessions.exchange.{self.kind}") if self.kind in ACTION_KINDS else self.kind


@dataclass(frozen=True)
class Shape(Generic[_Value]):
    """A class as the specification declares it.

    names: JSON name to field or property. optional: JSON names to leave out if empty.
    """

    kind: type[_Value]
    names: Mapping[str, str]
    optional: frozenset[str] = frozenset()

    def as_json(self, value: _Value) -> dict[str, Any]:
        values = {name: getattr(value, key) for name, key in self.names.items()}
        return {
            name: list(entry) if isinstance(entry, tuple) else entry
            for name, entry in values.items()
            if entry or name not in self.optional
        }

    def read(self, data: Mapping[str, Any], **more: Any) -> _Value:
        """Return the value of an object; an entry of another type is empty. more: fields."""
        for name, key, default in self._fields:
            if isinstance(default, bool):
                more[key] = data.get(name) is True
            elif isinstance(default, tuple):
                more[key] = tuple(dict.fromkeys(texts_in(data.get(name))))
            else:
                more[key] = text_at(data, name)
        return self.kind(**more)

    @cached_property
    def _fields(self) -> list[tuple[str, str, object]]:
        defaults = {item.name: item.default for item in fields(self.kind)}  # type: ignore[arg-type]
        names = self.names.items()
        return [(name, key, defaults[key]) for name, key in names if key in defaults]


# The kinds of points, each in the field of its name of a Draft and a Session. Whatever is done to
# all texts of a session walks this table, so that a new field cannot be forgotten.
# fmt: off
POINTS: Mapping[str, Shape[Point]] = {
    "decisions": Shape(Point,
        {"what": "text", "why": "why", "madeBy": "made_by", "timestamp": "at"}),
    "approaches": Shape(Point,
        {"description": "text", "result": "result", "reason": "why", "timestamp": "at"},
        frozenset(("reason",))),
    "blockers": Shape(Point,
        {"description": "text", "resolved": "is_resolved", "resolution": "why",
         "discoveredAt": "at", "resolvedAt": "resolved_at"},
        frozenset(("resolution", "resolvedAt"))),
}
CHANGES = Shape(Changes, {"modifiedFiles": "modified_files", "summary": "summary"})
FORMER = Shape(Former,
    {"replacedAt": "at", "goal": "goal", "summary": "summary", "status": "status", "tags": "tags",
     "reasons": "reasons"},
    frozenset(("goal", "summary", "status", "tags", "reasons")))
# The declared `context` object.
SESSION = Shape(Session,
    {"id": "id", "parentId": "parent_id", "goal": "goal", "summary": "summary", "status": "status",
     "tags": "tags", "agent": "agent", "metadata": "metadata", "startedAt": "started_at",
     "endedAt": "ended_at", "createdAt": "created_at"},
    frozenset(("parentId", "endedAt")))
ACTION = Shape(Action,
    {"id": "id", "type": "kind", "content": "content", "result": "result",
     "filePath": "file_path", "createdAt": "created_at"},
    frozenset(("result", "filePath")))
# A session in a document, without its actions.
DOCUMENT_SESSION = Shape(Session,
    {**SESSION.names, "updatedAt": "updated_at", "former": "former_objects"},
    frozenset((*SESSION.optional, "former")))
# fmt: on


def read_session(context: Mapping[str, Any]) -> Session:
    """Return the session of an object like DOCUMENT_SESSION's, with the number 0.

    A value of another type is passed over: others may have written it.
    """
    value = context.get("metadata")
    metadata = {**value} if isinstance(value, dict) else {}
    if "former" in context:
        metadata["former"] = context["former"]
    return DOCUMENT_SESSION.read(context, number=0, **fields_in_metadata(metadata))


def metadata_of(session: Session) -> str:
    """Return the column `metadata`; `{}` if it is empty."""
    if not (any(session.points()) or session.changes or session.former):
        return "{}"
    former = {"former": session.former_objects} if session.former else {}
    return json.dumps({**session.metadata, **former}, ensure_ascii=False, separators=(",", ":"))


def fields_in_metadata(value: object) -> dict[str, Any]:
    """Return the fields of a Session in the column `metadata`, a text or its JSON."""
    data = json_in(value) if isinstance(value, str) and value != "{}" else value
    if not (isinstance(data, dict) and data):
        return {}
    changes = data.get("codeChanges")
    former = objects_at(data, "former")[-MOST_FORMER:]
    return {
        **{name: tuple(map(shape.read, objects_at(data, name))) for name, shape in POINTS.items()},
        "changes": CHANGES.read(changes if isinstance(changes, dict) else {}),
        "former": tuple(map(FORMER.read, former)),
    }


def json_in(text: object) -> Any:
    """Decode JSON of others; None for an invalid text."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def shorten(text: str, most_chars: int) -> str:
    """Return a text as one line of at most so many characters; `…` marks a cut."""
    line = " ".join(text.split())
    return line if len(line) <= most_chars else f"{line[: most_chars - 1].rstrip()}…"
