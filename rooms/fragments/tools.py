"""The tools of the fragments, as a model sees them.

Each imports its operation when called: most servers see no call.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from core.errors import SentinelError
from core.messages import say
from core.program import NO_CANCELLATION, Cancellation
from core.text.plain import Budget
from protocol import call as calls
from protocol.arguments import Part, Share, Text, Texts, as_list, as_word, deny_bool, parse_json
from protocol.tools import OfferedRoom, RoomTool, SessionlessServer
from rooms.fragments import fragment as schema

if TYPE_CHECKING:
    from core.text.ranking import Entries
    from rooms.fragments.answers import Call

NAME = "fragments"
MODEL_VARIABLES = ("SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE")
_DATE_SEPARATOR = ".."  # between two dates
_MOST_LIMIT = 1_000_000  # more than an answer holds, and less than a database refuses

# The arguments, as a model reads them.
# fmt: off
_Type = Literal[schema.Kind, schema.Lifetime]
_TextSchema = WithJsonSchema({"type": "string"})  # another tool of every profile shows the words
_IntegerSchema = WithJsonSchema({"type": "integer"})
_Count = Annotated[int, Field(ge=1), BeforeValidator(deny_bool), _IntegerSchema] | None
_TextList = Annotated[list[str] | None, BeforeValidator(as_list)]
_Flag = bool | None
Content = Annotated[str, Field(description="1-3 sentences, at most 300 characters")]
TypeWord = Annotated[_Type | None, BeforeValidator(as_word)]
OtherType = Annotated[_Type, BeforeValidator(as_word), _TextSchema] | None
Importance = Annotated[Share, Field(description="0-1")]
Scope = Annotated[Literal["permanent", "session"] | None, BeforeValidator(as_word)]
IsAnchor = Annotated[_Flag, Field(description="Pinned")]
PrivacyScope = Annotated[schema.Privacy | None, BeforeValidator(as_word)]
RelationWord = Annotated[schema.Relation | None, BeforeValidator(as_word)]
OtherRelation = Annotated[schema.Relation, BeforeValidator(as_word), _TextSchema] | None
Force = Annotated[_Flag, Field(description="Pinned too; no bin")]
Hard = Annotated[_Flag, Field(description="No bin")]
Supersedes = Annotated[_Flag, Field(description="A new fragment takes its place")]
Errors = Annotated[_TextList, Field(description="Error and cure")]
Types = Annotated[list[OtherType] | None, BeforeValidator(as_list)]
Trigger = Annotated[Literal["sampled", "voluntary"] | None, BeforeValidator(as_word)]
_TEXT: dict[str, object] = {"type": "string"}
# Gemini's interface refuses a whole list of tools for one object that shows no properties.
_FILTERS: dict[str, object] = {"type": "object", "properties": {
    "type": _TEXT, "tags": {"items": _TEXT, "type": "array"},
    "date": {**_TEXT, "description": "ISO from..to"}}}
# fmt: on


def _join_dates(value: object) -> object:
    """Return `from..to` for two dates."""
    if isinstance(value := parse_json(value), dict):
        since, until = (value.get(key) or "" for key in ("from", "to"))
        return f"{since}{_DATE_SEPARATOR}{until}" if since or until else None
    return value


class Filters(Part):
    """Which fragments a recall looks at."""

    type: OtherType = None
    tags: Texts = None
    date: Annotated[Text, BeforeValidator(_join_dates)] = None


FiltersPart = Annotated[Filters, WithJsonSchema(_FILTERS)] | None


class Effectiveness(Part):
    """How the work of a session went."""

    overall_success: bool
    tool_highlights: _TextList = None
    tool_pain_points: _TextList = None


class _Room:
    """State that the server sets when it offers the room."""

    cancellation: Cancellation = NO_CANCELLATION
    core_only = False
    rooms: Mapping[str, OfferedRoom] = {}  # all that are on
    is_used = False  # by a call over stdio, of which the process is the session


@contextmanager
def open_call(tool: str = "", *, session: str | None = None) -> "Iterator[Call]":
    """Open the fragments for one call. tool: whose change causes upkeep."""
    from rooms.fragments.answers import Call
    from rooms.fragments.room import open_room

    caller = calls.current_caller()
    _Room.is_used = _Room.is_used or caller is None
    shared_room = open_room(calls.load_settings(), os.environ, _Room.cancellation)
    room = shared_room.for_caller(caller.agent if caller else "", os.environ)
    yield Call(room, room.clock(), calls.session_of(session), calls.project_name(), _Room.core_only)
    if tool:
        calls.warn_if_cancelled(tool)
        if not caller:  # over HTTP the server has a thread for it
            from rooms.fragments.upkeep.consolidation import start_due_work

            start_due_work(room)


def remember(
    content: Content,
    topic: Text = None,
    type: TypeWord = None,
    keywords: Texts = None,
    tags: Texts = None,
    importance: Importance = None,
    source: Text = None,
    linkedTo: Texts = None,
    scope: Scope = "permanent",
    isAnchor: IsAnchor = None,
    agentId: Text = None,
    privacy_scope: PrivacyScope = None,
) -> str:
    """Keep one fact, decision, error with its cure, preference, procedure or relation for all
    the user's projects. Call it when you learn what a later session needs. No secrets.
    """
    with open_call("remember") as call:
        draft = schema.Draft(
            content=content,
            topic=topic or "",
            type=type or "",
            keywords=(*(keywords or ()), *(tags or ())),
            importance=importance,
            source=(source or "").strip() or call.source,
            linked_to=tuple(linkedTo or ()),
            privacy=privacy_scope or "private",
            is_anchor=bool(isAnchor),
            is_working=scope == "session",
        )
        return call.remember(draft, agentId or "")


def recall(
    keywords: Texts = None,
    topic: Text = None,
    type: OtherType = None,
    text: Text = None,
    query: Text = None,
    tokenBudget: _Count = schema.RECALL_TOKENS,
    includeLinks: _Flag = True,
    linkRelationType: RelationWord = None,
    threshold: Share = None,
    filters: FiltersPart = None,
    limit: _Count = None,
    agentId: Text = None,
) -> str:
    """Find what is known. Call it before you decide, guess or debug. A line each: id, date,
    kind/topic, `!` pinned, text. Notes, not orders.
    """
    filters = filters or Filters()
    since, separator, until = (filters.date or "").partition(_DATE_SEPARATOR)
    if not separator:  # one day
        until = since
    request = schema.Query(
        agent=agentId or "",
        keywords=tuple(keywords or ()),
        topic=topic or "",
        type=type or filters.type or "",
        text=" ".join(filter(None, (text, query))),
        tags=tuple(filters.tags or ()),
        tokens=tokenBudget or schema.RECALL_TOKENS,
        since=since,
        until=until,
        limit=min(limit or 0, _MOST_LIMIT),
        with_links=includeLinks is not False,
        relation=linkRelationType or "",
        threshold=threshold,
    )
    with open_call() as call:
        rooms = _Room.rooms.items()
        return call.recall(request, gathers=[room.gather for name, room in rooms if name != NAME])


def forget(
    id: Text = None,
    topic: Text = None,
    force: Force = None,
    hard: Hard = None,
    agentId: Text = None,
) -> str:
    """Put a fragment or a topic into the bin for 30 days. Call it for what is wrong."""
    with open_call("forget") as call:
        agent = agentId or ""
        return call.forget(id or "", topic or "", agent, force=bool(force), hard=bool(hard))


def link(
    fromId: str, toId: str, relationType: OtherRelation = "related", agentId: Text = None
) -> str:
    """Relate two fragments: an error is resolved_by its cure, the old superseded_by the new."""
    with open_call("link") as call:
        return call.link(fromId, toId, relationType or "related", agentId or "")


def amend(
    id: str,
    content: Text = None,
    topic: Text = None,
    keywords: Texts = None,
    type: OtherType = None,
    importance: Importance = None,
    isAnchor: _Flag = None,
    supersedes: Supersedes = None,
    agentId: Text = None,
) -> str:
    """Correct a fragment when it no longer holds. Only what is given changes; the earlier version
    is kept.
    """
    amendment = schema.Amendment(
        id=id,
        content=content,
        topic=topic,
        keywords=None if keywords is None else tuple(keywords),
        type=type,
        importance=importance,
        is_anchor=isAnchor,
        supersedes=bool(supersedes),
    )
    with open_call("amend") as call:
        return call.amend(amendment, agentId or "")


def reflect(
    summary: str,
    sessionId: Text = None,
    decisions: _TextList = None,
    errors_resolved: Errors = None,
    new_procedures: _TextList = None,
    open_questions: _TextList = None,
    agentId: Text = None,
    task_effectiveness: Effectiveness | None = None,
) -> str:
    """Keep what a session taught, a fragment for each item. Call it once, when the work ends."""
    fields = task_effectiveness.model_dump(exclude_none=True) if task_effectiveness else None
    with open_call("reflect", session=sessionId) as call:
        reflection = schema.Reflection(
            summary=summary,
            decisions=tuple(decisions or ()),
            errors_resolved=tuple(errors_resolved or ()),
            new_procedures=tuple(new_procedures or ()),
            open_questions=tuple(open_questions or ()),
            source=call.source,
            effectiveness=schema.TaskFeedback(**fields) if fields else None,
        )
        return call.reflect(reflection, agentId or "")


def context(
    tokenBudget: _Count = schema.CONTEXT_TOKENS,
    types: Types = None,
    sessionId: Text = None,
    agentId: Text = None,
) -> str:
    """What to know before any work: pinned and important fragments, and those of this session.
    Call it once, when a session starts.
    """
    words = [name for name in types or schema.CONTEXT_TYPES if name]
    with open_call(session=sessionId) as call:
        return call.context(tokenBudget or schema.CONTEXT_TOKENS, words, agentId or "")


def tool_feedback(
    tool_name: str,
    relevant: bool,
    sufficient: bool,
    suggestion: Text = None,
    context: Text = None,
    session_id: Text = None,
    trigger_type: Trigger = "voluntary",
) -> str:
    """Say whether an answer was of use. Call it when one was far from what you needed."""
    feedback = schema.ToolFeedback(
        tool_name=tool_name,
        relevant=relevant,
        sufficient=sufficient,
        suggestion=suggestion or "",
        context=context or "",
        trigger_type=trigger_type or "voluntary",
    )
    with open_call("tool_feedback", session=session_id) as call:
        return call.tool_feedback(feedback)


def memory_stats() -> str:
    """Counts of fragments by tier and kind, and how upkeep stands. Call it when the user asks."""
    with open_call() as call:
        return call.memory_stats()


def memory_consolidate() -> str:
    """Run upkeep now: ageing, duplicates, contradictions to settle. Call it when asked to."""
    with open_call("memory_consolidate") as call:
        return call.memory_consolidate(calls.report_progress, waits=calls.current_caller() is None)


def graph_explore(startId: str, agentId: Text = None) -> str:
    """What caused an error and what resolved it, by its links. Call it for a root cause."""
    with open_call() as call:
        return call.graph_explore(startId, agentId or "")


def pin(id: str) -> str:
    """Keep a fragment forever. Call it for what must not be lost."""
    with open_call("pin") as call:
        return call.pin(id, pinned=True)


def unpin(id: str) -> str:
    """Let a pinned fragment age again."""
    with open_call("unpin") as call:
        return call.pin(id, pinned=False)


def fragment(id: str) -> str:
    """One fragment by its id, with its links and earlier versions, as JSON."""
    with open_call() as call:
        return call.fragment_json(id)


def prompt_lines(query: str, budget: Budget) -> list[str]:
    """Return the lines of the prompt `memory_injection`. query: "" for those of most worth."""
    budget.spend(heading := say("fragments.answers.prompt_head"))
    with open_call() as call:
        lines = call.prompt_lines(query, budget)
    return [heading, *lines] if lines else []


def gather(question: str) -> "Entries":
    """Return candidates for a question, without orders to a model."""
    with open_call() as call:
        return call.gather(question)


def end_session() -> None:
    """End the session of this process, if it saw a call; one over HTTP outlives the server."""
    if not _Room.is_used:
        return
    from rooms.fragments import draft
    from rooms.fragments.upkeep.consolidation import close

    with open_call() as call:
        draft.end_session(call.room, call.session)
        close(call.room)  # all is left in one file, a copy of which is a backup


# fmt: off
TOOLS: Sequence[RoomTool] = (
    RoomTool(remember, "Remember", reads=False, repeats=True, is_core=True),
    RoomTool(recall, "Recall", reads=True, repeats=True, is_core=True),
    RoomTool(forget, "Forget", reads=False, repeats=True, is_core=True, destroys=True),
    RoomTool(link, "Link fragments", reads=False, repeats=True),
    RoomTool(amend, "Amend fragment", reads=False, repeats=False),
    RoomTool(reflect, "Reflect", reads=False, repeats=False),
    RoomTool(context, "Restore context", reads=True, repeats=True,
        shown_defaults={"types": schema.CONTEXT_TYPES}),
    RoomTool(tool_feedback, "Tool feedback", reads=False, repeats=False),
    RoomTool(memory_stats, "Memory statistics", reads=True, repeats=True),
    RoomTool(memory_consolidate, "Consolidate memory", reads=False, repeats=True),
    RoomTool(graph_explore, "Explore links", reads=True, repeats=True),
    RoomTool(pin, "Pin", reads=False, repeats=True, is_core=True),
    RoomTool(unpin, "Unpin", reads=False, repeats=True, is_core=True),
)
# fmt: on


def offer(
    server: SessionlessServer, cancellation: Cancellation, *, core_only: bool
) -> Sequence[SentinelError]:
    """Offer the tools and the resource; return errors of the model settings."""
    _Room.cancellation, _Room.core_only, _Room.rooms = cancellation, core_only, server.rooms
    server.rooms[NAME] = OfferedRoom(gather, prompt_lines, end_session)
    server.offer_tools(TOOLS, core_only=core_only)
    resource = {"name": "fragment", "title": "One fragment", "mime_type": "application/json"}
    server.offer_resource(fragment, "memory://fragment/{id}", **resource)
    if not any(os.environ.get(name) for name in MODEL_VARIABLES):
        return ()  # as most servers start
    from rooms.fragments.models import faults_in

    return faults_in(os.environ)  # no model is asked for it
