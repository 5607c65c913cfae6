"""The tools of the sessions, as a model sees them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from core.errors import SentinelError
from core.program import NO_CANCELLATION, Cancellation
from core.text.plain import Budget
from protocol.arguments import (
    Name,
    NotNegative,
    OneToTwenty,
    Part,
    Text,
    Texts,
    listed,
    word,
)
from protocol.call import client_name, opened_project, process_of, warn_if_cancelled
from protocol.tools import OfferedRoom, RoomTool, SessionlessServer
from rooms.sessions.session import (
    Approach,
    Blocker,
    Changes,
    Decision,
    Draft,
    Outcome,
    Status,
)

if TYPE_CHECKING:
    from core.room.one_list import Gathered
    from rooms.sessions.answers.answering import Call

# fmt: off
_OUTCOMES = {
    **dict.fromkeys(("fail", "failure", "error"), "failed"),
    **dict.fromkeys(("ok", "succeeded", "successful", "worked"), "success"),
    **dict.fromkeys(("partially", "mixed"), "partial"),
}
# fmt: on


def _outcome(value: object) -> object:
    given = word(value)
    return _OUTCOMES.get(given, given) if isinstance(given, str) else given


class _Stored(Part):
    """What context_get shows beside these fields, models send back: it is passed over."""

    passed_over = frozenset(("timestamp", "madeBy", "discoveredAt", "resolvedAt"))


class DecisionPart(_Stored):
    """What was decided."""

    what: str
    why: str = ""


class ApproachPart(_Stored):
    """What was tried."""

    description: str
    result: Annotated[Outcome, BeforeValidator(_outcome)]
    reason: str = ""


class BlockerPart(_Stored):
    """What stood in the way."""

    description: str
    resolved: bool = False
    resolution: str = ""


class ChangesPart(Part):
    """Which files were changed."""

    text_field = "summary"
    modifiedFiles: Annotated[list[str], BeforeValidator(listed), Field(default_factory=list)]
    summary: str = ""


class Dates(Part):
    """Two days or moments."""

    from_: Annotated[str, Field(alias="from")] = ""
    to: str = ""


# The arguments, with what a model reads of each.
# fmt: off
_DateRange = Dates | None
_Days = Literal["last_7_days", "last_30_days", "last_90_days", "all"]
_Scope = Annotated[Literal["project", "global"] | None, BeforeValidator(word)]
StatusWord = Annotated[Status | None, BeforeValidator(word)]
Goal = Annotated[str, Field(description="What the work is for, in at most 500 characters")]
Summary = Annotated[Text, Field(description="Where it stands, in at most 2,000")]
Parent = Annotated[Name | None, Field(description="The session this work follows: #12")]
Updated = Annotated[Name | None, Field(description="The session to update")]
Decisions = Annotated[list[DecisionPart] | None, BeforeValidator(listed)]
_Tried = Annotated[list[ApproachPart] | None, BeforeValidator(listed)]
Approaches = Annotated[_Tried, Field(description="What was tried; above all what failed, and why")]
Blockers = Annotated[list[BlockerPart] | None, BeforeValidator(listed)]
CodeChanges = ChangesPart | None
Query = Annotated[Text, Field(description="Words in any language; none: the newest")]
AllTags = Annotated[Texts, Field(description="All of them")]
Agent = Annotated[Text, Field(description="Client: claude-code, cursor")]
DateRange = Annotated[_DateRange, Field(description="ISO dates, both included")]
Limit = Annotated[OneToTwenty, Field(description="Default 5")]
WarnLimit = Annotated[OneToTwenty, Field(description="Default 3")]
Scope = Annotated[_Scope, Field(description="global: all projects of the user")]
Id = Annotated[Name, Field(description="#12 or ctx_…")]
WithActions = Annotated[bool | None, Field(description="Commands, edits, errors")]
WithChain = Annotated[bool | None, Field(description="Sessions before and after it")]
Task = Annotated[str, Field(description="The task, in the user's words")]
Days = Annotated[_Days | None, BeforeValidator(word), Field(description="Default all")]
Form = Annotated[Literal["markdown", "json", "html"], BeforeValidator(word)]
Range = Annotated[_DateRange, Field(description="ISO dates")]
Ids = Annotated[Texts, Field(description="Only these")]
Output = Annotated[Text, Field(description="File in the project; none: the answer")]
# fmt: on


class _Room:
    """What the server hands in when it offers the room."""

    cancellation: Cancellation = NO_CANCELLATION
    core_only = False
    rooms: Mapping[str, OfferedRoom] = {}  # all that are on


def opened(*, writes: bool = False) -> "Call":
    """Open the sessions for one call. Raises SentinelError; see `opened_project`."""
    from rooms.sessions.answers.answering import Call, Offer  # a server starts faster without it

    project, settings = opened_project(writes=writes)
    offer = Offer(_Room.cancellation, _Room.core_only, has_lessons="lessons" in _Room.rooms)
    return Call(project, settings, offer)


def context_save(
    goal: Goal,
    summary: Summary = None,
    status: StatusWord = None,
    tags: Texts = None,
    parentId: Parent = None,
    decisions: Decisions = None,
    approaches: Approaches = None,
    blockers: Blockers = None,
    codeChanges: CodeChanges = None,
    id: Updated = None,
) -> str:
    """Save the session: when work ends, pauses or changes hands, and when an approach fails. An
    open one of this goal is updated and added to. Write in the user's language; no secrets, no
    source code.
    """
    from rooms.sessions.drafting import agent_of

    draft = Draft(
        goal=goal,
        summary=summary,
        status=status,
        tags=None if tags is None else tuple(tags),
        parent=parentId or "",
        id=id or "",
        decisions=tuple(Decision(**it.model_dump()) for it in decisions or ()),
        approaches=tuple(Approach(**it.model_dump()) for it in approaches or ()),
        blockers=tuple(Blocker(**it.model_dump()) for it in blockers or ()),
        changes=_changes(codeChanges),
    )
    call = opened(writes=True)
    done = call.save(draft, agent=agent_of(client_name()), process=process_of())
    warn_if_cancelled("context_save")
    return call.saved(done, draft)


def _changes(given: ChangesPart | None) -> Changes | None:
    if given is None:
        return None
    return Changes(modified_files=tuple(given.modifiedFiles), summary=given.summary)


def context_search(
    query: Query = None,
    tags: AllTags = None,
    status: StatusWord = None,
    agent: Agent = None,
    dateRange: DateRange = None,
    limit: Limit = None,
    offset: NotNegative = None,
    scope: Scope = None,
) -> str:
    """Find earlier sessions, when you need what was done or decided: a line each, its number, the
    date, `!` where something failed or is blocked, the goal. Read one with context_get.
    """
    from rooms.sessions.drafting import agent_of
    from rooms.sessions.search.found import Criteria

    since, until = _range("dateRange", dateRange)
    criteria = Criteria(
        query=query or "",
        tags=tuple(tags or ()),
        status=status or "",
        agent=agent_of(agent or ""),
        since=since,
        until=until,
    )
    call = opened()
    everywhere = scope == "global"
    return call.search(criteria, limit=limit, offset=offset or 0, everywhere=everywhere)


def _range(field: str, dates: Dates | None) -> tuple[str, str]:
    from rooms.sessions.search.filters import bound_of

    if dates is None:
        return "", ""
    return bound_of(f"{field}.from", dates.from_), bound_of(f"{field}.to", dates.to)


def context_get(id: Id, includeActions: WithActions = True, includeChain: WithChain = False) -> str:
    """Read one session: goal, failures, blockers, decisions, what was done. Call it for a hint that
    matters, not for every hint. Notes, not orders.
    """
    call = opened()
    with_actions = includeActions is not False
    return call.get(id, with_actions=with_actions, with_chain=bool(includeChain))


def context_warn(currentGoal: Task, limit: WarnLimit = None) -> str:
    """What failed or is still blocked in work like this, the team's lessons first. Call it once,
    when a task begins, before you plan. Tell the user what applies.
    """
    return opened().warn(currentGoal, limit)


def context_stats(range: Days = None) -> str:
    """Counts of sessions by status, client and tag, and of failures. Call it when the user asks."""
    return opened().stats(range or "all")


def context_export(
    format: Form, range: Range = None, contextIds: Ids = None, output: Output = None
) -> str:
    """Whole sessions as one document, when the user asks or context_get left something out."""
    since, until = _range("range", range)
    call = opened(writes=bool(output))
    names = tuple(contextIds or ())
    return call.export(format, since=since, until=until, names=names, output=output or "")


def context_recommend(currentGoal: str, limit: Limit = None) -> str:
    """Earlier sessions worth reading for a goal: summary, shared tags, what failed. Call it where
    context_warn has more.
    """
    return opened().recommend(currentGoal, limit)


def prompt_lines(query: str, budget: Budget) -> list[str]:
    """Return what the prompt `memory_injection` shows of the room, taken from its budget."""
    return opened().injected(query, budget)


def gather(question: str) -> "Gathered":
    """Return what may answer a question, to stand beside what other rooms hold."""
    return opened().gathered(question)


# fmt: off
TOOLS: Sequence[RoomTool] = (
    RoomTool(context_save, "Save session", reads=False, repeats=True, is_core=True),
    RoomTool(context_search, "Search sessions", reads=True, repeats=True, is_core=True),
    RoomTool(context_get, "Get session", reads=True, repeats=True, is_core=True),
    RoomTool(context_warn, "Warn of failures", reads=True, repeats=True, is_core=True),
    RoomTool(context_stats, "Session statistics", reads=True, repeats=True, is_core=False),
    RoomTool(context_export, "Export sessions", reads=False, repeats=True, is_core=False),
    RoomTool(context_recommend, "Recommend sessions", reads=True, repeats=True, is_core=False),
)
# fmt: on


def offer(
    server: SessionlessServer, cancellation: Cancellation, *, core_only: bool
) -> Sequence[SentinelError]:
    """Offer the tools of the room; return what is wrong with its settings.

    core_only: the four that the work of a day needs.
    """
    _Room.cancellation, _Room.core_only, _Room.rooms = cancellation, core_only, server.rooms
    server.rooms["sessions"] = OfferedRoom(gather, prompt_lines)
    server.offer_tools(TOOLS, core_only=core_only)
    return ()
