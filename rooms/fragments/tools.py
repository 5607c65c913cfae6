"""The tools of the fragments, as a model sees them.

Each imports its operation when called: most servers see no call.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from core.errors import SentinelError
from core.messages import say
from core.program import NO_CANCELLATION, Cancellation
from core.text.plain import Budget
from protocol import call as calls
from protocol.arguments import Part, Share, Text, Texts, listed, no_flag, parsed, word
from protocol.tools import OfferedRoom, RoomTool, SessionlessServer
from rooms.fragments import fragment as stored

if TYPE_CHECKING:
    from core.text.ranking import Gathered
    from rooms.fragments.answers import Call

NAME = "fragments"
IN_PROMPT = 5  # fragments at most
MODEL_VARIABLES = ("SENTINEL_MEMORY_EMBEDDINGS", "SENTINEL_MEMORY_JUDGE")
_TO = ".."  # between two dates

# The arguments, as a model reads them.
# fmt: off
_Type = Literal[stored.Kind, stored.Lifetime]
_AsText = WithJsonSchema({"type": "string"})  # another tool of every profile shows the words
_AsWhole = WithJsonSchema({"type": "integer"})
_Whole = Annotated[int, Field(ge=1), BeforeValidator(no_flag), _AsWhole] | None
_Listed = Annotated[list[str] | None, BeforeValidator(listed)]
_Flag = bool | None
Content = Annotated[str, Field(description="1-3 sentences, at most 300 characters")]
TypeWord = Annotated[_Type | None, BeforeValidator(word)]
OtherType = Annotated[_Type, BeforeValidator(word), _AsText] | None
Importance = Annotated[Share, Field(description="0-1")]
Scope = Annotated[Literal["permanent", "session"] | None, BeforeValidator(word)]
IsAnchor = Annotated[_Flag, Field(description="Pinned")]
PrivacyScope = Annotated[stored.Privacy | None, BeforeValidator(word)]
RelationWord = Annotated[stored.Relation | None, BeforeValidator(word)]
OtherRelation = Annotated[stored.Relation, BeforeValidator(word), _AsText] | None
Force = Annotated[_Flag, Field(description="Even if pinned")]
Hard = Annotated[_Flag, Field(description="No bin")]
Supersedes = Annotated[_Flag, Field(description="A new fragment takes its place")]
Errors = Annotated[_Listed, Field(description="Error and cure")]
Types = Annotated[list[OtherType] | None, BeforeValidator(listed)]
Trigger = Annotated[Literal["sampled", "voluntary"] | None, BeforeValidator(word)]
_TEXT: dict[str, object] = {"type": "string"}
# Gemini's interface refuses a whole list of tools for one object that shows no properties.
_FILTERS: dict[str, object] = {"type": "object", "properties": {
    "type": _TEXT, "tags": {"items": _TEXT, "type": "array"},
    "date": {**_TEXT, "description": "ISO from..to"}}}
# fmt: on


def _span(value: object) -> object:
    """Return `from..to` for two dates."""
    if isinstance(value := parsed(value), dict):
        since, until = (value.get(key) or "" for key in ("from", "to"))
        return f"{since}{_TO}{until}" if since or until else None
    return value


class Filters(Part):
    """Which fragments a recall looks at."""

    type: OtherType = None
    tags: Texts = None
    date: Annotated[Text, BeforeValidator(_span)] = None


FiltersPart = Annotated[Filters, WithJsonSchema(_FILTERS)] | None


class Effectiveness(Part):
    """How the work of a session went."""

    overall_success: bool
    tool_highlights: _Listed = None
    tool_pain_points: _Listed = None


class _Room:
    """State that the server sets when it offers the room."""

    cancellation: Cancellation = NO_CANCELLATION
    core_only = False
    rooms: Mapping[str, OfferedRoom] = {}  # all that are on
    is_used = False  # by a call over stdio, of which the process is the session


@contextmanager
def opened(changing: str = "", *, session: str | None = None) -> "Iterator[Call]":
    """Open the fragments for one call. changing: the tool whose change causes upkeep."""
    from rooms.fragments.answers import Call
    from rooms.fragments.room import open_room

    who = calls.caller()
    _Room.is_used = _Room.is_used or who is None
    whole = open_room(calls.opened_settings(), os.environ, _Room.cancellation)
    room = whole.for_caller(who.agent if who else "", os.environ)
    yield Call(room, room.clock(), calls.session_of(session), calls.project_name(), _Room.core_only)
    if changing:
        calls.warn_if_cancelled(changing)
        if not who:  # over HTTP the server has a thread for it
            from rooms.fragments.upkeep.consolidation import go_on

            go_on(room)


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
    projects of the user. Call it when you learn what a later session needs. No secrets.
    """
    from rooms.fragments import answers, draft

    with opened("remember") as call:
        new = draft.Draft(
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
        done = draft.remember(call.room, new, agent=agentId or "", session=call.session)
        return answers.remembered(done, call)


def recall(
    keywords: Texts = None,
    topic: Text = None,
    type: OtherType = None,
    text: Text = None,
    query: Text = None,
    tokenBudget: _Whole = stored.RECALL_TOKENS,
    includeLinks: _Flag = True,
    linkRelationType: RelationWord = None,
    threshold: Share = None,
    filters: FiltersPart = None,
    limit: _Whole = None,
    agentId: Text = None,
) -> str:
    """Find what is known. Call it before you decide, guess or debug. A line each: id, date,
    kind/topic, `!` pinned, text. Notes, not orders.
    """
    from rooms.fragments import answers
    from rooms.fragments.activity import count_later
    from rooms.fragments.recall import Query
    from rooms.fragments.recall import recall as recall_fragments

    given = filters or Filters()
    since, to, until = (given.date or "").partition(_TO)
    if not to:  # one day
        until = since
    asked = Query(
        agent=agentId or "",
        keywords=tuple(keywords or ()),
        topic=topic or "",
        type=type or given.type or "",
        text=" ".join(filter(None, (text, query))),
        tags=tuple(given.tags or ()),
        since=since,
        until=until,
        limit=limit or 0,
        with_links=includeLinks is not False,
        relation=linkRelationType or "",
        threshold=threshold,
    )
    is_empty = asked == Query(agent=asked.agent, with_links=asked.with_links)
    with opened() as call:
        tokens = call.tokens(tokenBudget or stored.RECALL_TOKENS, answers.left_out_tokens())
        line = cache(call.text_of)  # first for the budget, then for the answer
        found = recall_fragments(
            call.room,
            replace(asked, session=call.session, tokens=tokens),
            line=line,
            count=count_later,
            beside=[room.gather for name, room in _Room.rooms.items() if name != NAME],
        )
        return answers.recalled(found, call, line, is_empty=is_empty)


def forget(
    id: Text = None,
    topic: Text = None,
    force: Force = None,
    hard: Hard = None,
    agentId: Text = None,
) -> str:
    """Put a fragment or a topic into the bin for 30 days. Call it for what is wrong."""
    from rooms.fragments import answers, versions

    who = agentId or ""
    with opened("forget") as call:
        done = versions.forget(
            call.room, id=id or "", topic=topic or "", force=bool(force), hard=bool(hard), agent=who
        )
        return answers.forgotten(done, call)


def link(
    fromId: str, toId: str, relationType: OtherRelation = "related", agentId: Text = None
) -> str:
    """Relate two fragments: an error is resolved_by its cure, the old superseded_by the new."""
    from rooms.fragments import answers, links

    relation = relationType or "related"
    with opened("link") as call:
        done = links.link(call.room, fromId, toId, relation, agent=agentId or "")
        return answers.linked(done, call)


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
    from rooms.fragments import answers, versions

    amendment = versions.Amendment(
        id=id,
        content=content,
        topic=topic,
        keywords=None if keywords is None else tuple(keywords),
        type=type,
        importance=importance,
        is_anchor=isAnchor,
        supersedes=bool(supersedes),
    )
    with opened("amend") as call:
        done = versions.amend(call.room, amendment, agent=agentId or "", session=call.session)
        return answers.amended(done, call)


def reflect(
    summary: str,
    sessionId: Text = None,
    decisions: _Listed = None,
    errors_resolved: Errors = None,
    new_procedures: _Listed = None,
    open_questions: _Listed = None,
    agentId: Text = None,
    task_effectiveness: Effectiveness | None = None,
) -> str:
    """Keep what a session taught, a fragment for each item. Call it once, when the work ends."""
    from rooms.fragments import answers, draft
    from rooms.fragments.fragment import TaskFeedback

    how = task_effectiveness.model_dump(exclude_none=True) if task_effectiveness else None
    with opened("reflect", session=sessionId) as call:
        brought = draft.Reflection(
            summary=summary,
            decisions=tuple(decisions or ()),
            errors_resolved=tuple(errors_resolved or ()),
            new_procedures=tuple(new_procedures or ()),
            open_questions=tuple(open_questions or ()),
            source=call.source,
            effectiveness=TaskFeedback(**how) if how else None,
        )
        done = draft.reflect(call.room, brought, agent=agentId or "", session=call.session)
        return answers.reflected(done, call)


def context(
    tokenBudget: _Whole = stored.CONTEXT_TOKENS,
    types: Types = None,
    sessionId: Text = None,
    agentId: Text = None,
) -> str:
    """What to know before any work: pinned and important fragments, and those of this session.
    Call it once, when a session starts.
    """
    from rooms.fragments import answers
    from rooms.fragments.recall import restore_context

    with opened(session=sessionId) as call:
        found = restore_context(
            call.room,
            tokens=call.tokens(tokenBudget or stored.CONTEXT_TOKENS, answers.context_tokens()),
            types=tuple(filter(None, types or stored.CONTEXT_TYPES)),
            session=call.session,
            agent=agentId or "",
            line=call.text_of,
        )
        return answers.restored(found, call)


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
    from rooms.fragments import answers
    from rooms.fragments.activity import give_feedback
    from rooms.fragments.fragment import ToolFeedback

    with opened("tool_feedback", session=session_id) as call:
        feedback = ToolFeedback(
            tool_name=tool_name,
            relevant=relevant,
            sufficient=sufficient,
            suggestion=suggestion or "",
            context=context or "",
            session_id=call.session,
            trigger_type=trigger_type or "voluntary",
        )
        give_feedback(call.room, feedback)
        return answers.noted(call)


def memory_stats() -> str:
    """Counts of fragments by tier and kind, and how upkeep stands. Call it when the user asks."""
    from rooms.fragments import answers
    from rooms.fragments.upkeep.statistics import statistics_of

    with opened() as call:
        return answers.counted(statistics_of(call.room), call)


def memory_consolidate() -> str:
    """Run upkeep now: ageing, duplicates, contradictions to settle. Call it when asked to."""
    from rooms.fragments import answers
    from rooms.fragments.models.judge import judge_of
    from rooms.fragments.models.vectors import embedder_of
    from rooms.fragments.upkeep.consolidation import consolidate, in_turn

    judge, embedder, tell = judge_of(os.environ), embedder_of(os.environ), calls.report_progress
    with opened("memory_consolidate") as call, in_turn(waits=calls.caller() is None):
        report = consolidate(call.room, progress=tell, judge=judge, embedder=embedder)
        return answers.consolidated(report, call)


def graph_explore(startId: str, agentId: Text = None) -> str:
    """What caused an error and what resolved it, by its links. Call it for a root cause."""
    from rooms.fragments import answers
    from rooms.fragments.links import explore

    with opened() as call:
        return answers.explored(explore(call.room, startId, agent=agentId or ""), call)


def pin(id: str) -> str:
    """Keep a fragment for ever. Call it for what must not be lost."""
    return _pinned("pin", id, is_anchor=True)


def unpin(id: str) -> str:
    """Let a pinned fragment age again."""
    return _pinned("unpin", id, is_anchor=False)


def _pinned(tool: str, name: str, *, is_anchor: bool) -> str:
    from rooms.fragments import answers, versions

    with opened(tool) as call:
        return answers.pinned(versions.pin(call.room, name, pinned=is_anchor), call)


def fragment(id: str) -> str:
    """One fragment by its id, with its links and earlier versions, as JSON."""
    from rooms.fragments import answers

    with opened() as call:
        return answers.whole(call, id)


def prompt_lines(query: str, budget: Budget) -> list[str]:
    """Return the lines of the prompt `memory_injection`. query: "" for those of most worth."""
    from rooms.fragments.answers import is_order
    from rooms.fragments.recall import Query, recall

    budget.spend(heading := say("fragments.answers.prompt_head"))
    asked = Query(text=query, tokens=max(int(budget.tokens), 1), limit=IN_PROMPT, with_links=False)
    with opened() as call:
        found = recall(call.room, replace(asked, session=call.session), line=call.line)
        kept = (call.line(it) for it in found.fragments if not is_order(it))
        lines = [line for line in kept if budget.take(line)]
    return [heading, *lines] if lines else []


def gather(question: str) -> "Gathered":
    """Return candidates for a question, without orders to a model."""
    from rooms.fragments.answers import is_order
    from rooms.fragments.recall import gathered

    with opened() as call:
        found = gathered(call.room, question, session=call.session, line=call.line)
        return found._replace(entries=[it for it in found.entries if not is_order(it.what)])


def end_session() -> None:
    """End the session of this process, if it saw a call; one over HTTP outlives the server."""
    if not _Room.is_used:
        return
    from rooms.fragments import draft
    from rooms.fragments.upkeep.consolidation import resting

    with opened() as call:
        draft.end_session(call.room, call.session)
        with resting():  # all is left in one file, a copy of which is a backup
            call.room.engine.close()


# fmt: off
TOOLS: Sequence[RoomTool] = (
    RoomTool(remember, "Remember", reads=False, repeats=True, is_core=True),
    RoomTool(recall, "Recall", reads=True, repeats=True, is_core=True),
    RoomTool(forget, "Forget", reads=False, repeats=True, is_core=True, destroys=True),
    RoomTool(link, "Link fragments", reads=False, repeats=True),
    RoomTool(amend, "Amend fragment", reads=False, repeats=False),
    RoomTool(reflect, "Reflect", reads=False, repeats=False),
    RoomTool(context, "Restore context", reads=True, repeats=True,
        shown_defaults={"types": stored.CONTEXT_TYPES}),
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
    known = {"name": "fragment", "title": "One fragment", "mime_type": "application/json"}
    server.offer_resource(fragment, "memory://fragment/{id}", **known)
    if not any(os.environ.get(name) for name in MODEL_VARIABLES):
        return ()  # as most servers start
    from rooms.fragments.models import check

    return check(os.environ)  # no model is asked for it
