"""The tools of the sessions, as a model sees them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import urandom
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from core.cancellation import NO_CANCELLATION, Cancellation
from core.messages import Language
from core.settings import Settings
from protocol.call import opened_project
from protocol.tools import SessionlessServer
from rooms.sessions.session import Outcome, Status
from rooms.sessions.store import SessionStore, open_sessions

PROCESS = urandom(8).hex()  # over stdio a session of the protocol is a process

Text = str | SkipJsonSchema[None]
Texts = list[str] | SkipJsonSchema[str | None]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class DecisionPart(_Part):
    what: str
    why: str = ""


class ApproachPart(_Part):
    description: str
    result: Outcome
    reason: Text = None


class BlockerPart(_Part):
    description: str
    resolved: bool = False
    resolution: Text = None


class ChangesPart(_Part):
    modifiedFiles: list[str] = []
    summary: str = ""


class Dates(_Part):
    from_: Annotated[Text, Field(alias="from")] = None
    to: Text = None


class Call(NamedTuple):
    """What one call works with, and how it is answered."""

    store: SessionStore
    settings: Settings

    @property
    def lang(self) -> Language:
        """The language of the sentences."""
        return self.settings.lang


class _Room:
    """What the server hands in when it offers the room."""

    cancellation: Cancellation = NO_CANCELLATION


@contextmanager
def opened(*, writes: bool = False) -> Iterator[Call]:
    """Open the sessions for one call. Raises SentinelError; see `opened_project`."""
    with opened_project(writes=writes) as (project, settings):
        yield Call(open_sessions(project.root, settings, _Room.cancellation), settings)


def context_save(
    goal: Annotated[str, Field(description="What the work is for; at most 500 characters")],
    summary: Annotated[Text, Field(description="What happened; at most 2,000")] = None,
    status: Status | SkipJsonSchema[None] = None,
    tags: Texts = None,
    parentId: Annotated[Text, Field(description="The session this one continues")] = None,
    decisions: list[DecisionPart] | SkipJsonSchema[None] = None,
    approaches: list[ApproachPart] | SkipJsonSchema[None] = None,
    blockers: list[BlockerPart] | SkipJsonSchema[None] = None,
    codeChanges: ChangesPart | SkipJsonSchema[None] = None,
    id: Annotated[Text, Field(description="Update this session")] = None,
) -> str:
    """Save where the work stands, when it ends, stops or changes hands."""
    raise NotImplementedError


def context_search(
    query: Text = None,
    tags: Texts = None,
    status: Status | SkipJsonSchema[None] = None,
    agent: Text = None,
    dateRange: Dates | SkipJsonSchema[None] = None,
    limit: Annotated[int | SkipJsonSchema[None], Field(ge=1, le=20)] = None,
    offset: Annotated[int, Field(ge=0)] = 0,
    scope: Literal["project", "global"] = "project",
) -> str:
    """Earlier sessions, a line each."""
    raise NotImplementedError


def context_get(id: str, includeActions: bool = True, includeChain: bool = False) -> str:
    """One session in full."""
    raise NotImplementedError


def context_warn(currentGoal: str, limit: Annotated[int, Field(ge=1, le=20)] = 3) -> str:
    """What failed or is still blocked in work like this."""
    raise NotImplementedError


def context_stats(
    range: Literal["last_7_days", "last_30_days", "last_90_days", "all"] = "all",
) -> str:
    """Counts of sessions."""
    raise NotImplementedError


def context_export(
    format: Literal["markdown", "json", "html"],
    range: Dates | SkipJsonSchema[None] = None,
    contextIds: Texts = None,
    output: Annotated[Text, Field(description="File in the project")] = None,
) -> str:
    """Sessions as one document."""
    raise NotImplementedError


def context_recommend(currentGoal: str, limit: Annotated[int, Field(ge=1, le=20)] = 5) -> str:
    """Earlier sessions worth reading for this goal."""
    raise NotImplementedError


class _Tool(NamedTuple):
    function: Callable[..., str]
    title: str
    reads: bool
    is_core: bool


TOOLS: Sequence[_Tool] = (
    _Tool(context_save, "Save session", reads=False, is_core=True),
    _Tool(context_search, "Search sessions", reads=True, is_core=True),
    _Tool(context_get, "Get session", reads=True, is_core=True),
    _Tool(context_warn, "Warn of failures", reads=True, is_core=True),
    _Tool(context_stats, "Session statistics", reads=True, is_core=False),
    _Tool(context_export, "Export sessions", reads=False, is_core=False),
    _Tool(context_recommend, "Recommend sessions", reads=True, is_core=False),
)


def offer(server: SessionlessServer, cancellation: Cancellation, *, core_only: bool) -> None:
    """Offer the tools of the room; core_only: the four that the work of a day needs."""
    _Room.cancellation = cancellation
    for tool in TOOLS:
        if tool.is_core or not core_only:
            offered = server.offer_tool(tool.title, reads=tool.reads, repeats=tool.reads)
            offered(tool.function)
