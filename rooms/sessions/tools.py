"""The tools of the sessions, as a model sees them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import urandom
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from core.cancellation import NO_CANCELLATION, Cancellation
from core.errors import SentinelError
from core.lessons.record import Record
from core.messages import Language
from core.program import CLI
from core.project import Project
from core.settings import Settings
from core.store import MemoryStore, open_store
from protocol.call import client_name, opened_project, warn_if_cancelled
from protocol.lenient import NULL, Name, NotNegative, OneToTwenty, Part, Text, Texts, listed, word
from protocol.tools import SessionlessServer
from rooms.sessions.agents import agent_of
from rooms.sessions.answers import (
    bridge,
    exported,
    found,
    numbers,
    recommended,
    saved,
    warnings,
    whole,
)
from rooms.sessions.answers.hints import name_of
from rooms.sessions.answers.json_form import as_json
from rooms.sessions.answers.words import say
from rooms.sessions.search.dates import moment_of
from rooms.sessions.search.found import Criteria, Hit, Page
from rooms.sessions.search.reading import read_whole
from rooms.sessions.search.searching import resembling, search
from rooms.sessions.search.statistics import statistics_of
from rooms.sessions.session import (
    Approach,
    Blocker,
    Changes,
    Decision,
    Draft,
    Outcome,
    Session,
    Status,
)
from rooms.sessions.store import Saved, SessionStore, open_sessions

PROCESS = urandom(8).hex()  # over stdio a session of the protocol is a process
LOOKED_AT = 20  # sessions that resemble a goal
MOST_LESSONS = 3
WARNED, RECOMMENDED = 3, 5

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
_DateRange = Dates | NULL
_Days = Literal["last_7_days", "last_30_days", "last_90_days", "all"]
_Scope = Annotated[Literal["project", "global"] | NULL, BeforeValidator(word)]
StatusWord = Annotated[Status | NULL, BeforeValidator(word)]
Goal = Annotated[str, Field(description="What the work is for, in at most 500 characters")]
Summary = Annotated[Text, Field(description="Where it stands, in at most 2,000")]
Parent = Annotated[Name | NULL, Field(description="The session this work follows: #12")]
Updated = Annotated[Name | NULL, Field(description="The session to update")]
Decisions = Annotated[list[DecisionPart] | NULL, BeforeValidator(listed)]
_Tried = Annotated[list[ApproachPart] | NULL, BeforeValidator(listed)]
Approaches = Annotated[_Tried, Field(description="What was tried; above all what failed, and why")]
Blockers = Annotated[list[BlockerPart] | NULL, BeforeValidator(listed)]
CodeChanges = ChangesPart | NULL
Query = Annotated[Text, Field(description="Words in any language; none: the newest")]
AllTags = Annotated[Texts, Field(description="All of them")]
Agent = Annotated[Text, Field(description="Client: claude-code, cursor")]
DateRange = Annotated[_DateRange, Field(description="ISO dates, both included")]
Limit = Annotated[OneToTwenty, Field(description="Default 5")]
WarnLimit = Annotated[OneToTwenty, Field(description="Default 3")]
Scope = Annotated[_Scope, Field(description="global: all projects of the user")]
Id = Annotated[Name, Field(description="#12 or ctx_…")]
WithActions = Annotated[bool | NULL, Field(description="Commands, edits, errors")]
WithChain = Annotated[bool | NULL, Field(description="Sessions before and after it")]
Task = Annotated[str, Field(description="The task, in the user's words")]
Days = Annotated[_Days | NULL, BeforeValidator(word), Field(description="Default all")]
Form = Annotated[Literal["markdown", "json", "html"], BeforeValidator(word)]
Range = Annotated[_DateRange, Field(description="ISO dates")]
Ids = Annotated[Texts, Field(description="Only these")]
Output = Annotated[Text, Field(description="File in the project; none: the answer")]
# fmt: on


class _Room:
    """What the server hands in when it offers the room."""

    cancellation: Cancellation = NO_CANCELLATION
    core_only = False
    has_lessons = True


class Call(NamedTuple):
    """What one call works with, and how it is answered."""

    store: SessionStore
    settings: Settings
    project: Project

    @property
    def lang(self) -> Language:
        """The language of the sentences."""
        return self.settings.lang

    @property
    def log(self) -> MemoryStore:
        """The memory log of the project."""
        return open_store(self.project, self.settings, _Room.cancellation)

    def answer(self, text: Callable[[], str], declared: Callable[[], dict[str, Any]]) -> str:
        """Return the answer as the settings ask for it."""
        return as_json(declared()) if self.settings.answers == "json" else text()

    def resembling(self, goal: str, *, but: str = "") -> list[Hit]:
        """Return the sessions that are about the same as a goal; `but` and its chain are not."""
        return resembling(self.store, goal, limit=LOOKED_AT, but=but)

    def lessons(self, goal: str) -> list[Record]:
        """Return the lessons of the team that a goal is about, where the log is offered."""
        return bridge.lessons_for(goal, self.log, limit=MOST_LESSONS) if _Room.has_lessons else []


@contextmanager
def opened(*, writes: bool = False) -> Iterator[Call]:
    """Open the sessions for one call. Raises SentinelError; see `opened_project`."""
    with opened_project(writes=writes) as (project, settings):
        store = open_sessions(project.root, settings, _Room.cancellation)
        yield Call(store, settings, project)


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
    """Save the session: when work ends, pauses or changes hands, and when an approach fails. The
    same goal again updates it and adds to its lists. Write in the user's language; no secrets, no
    source code.
    """
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
    with opened(writes=True) as call:
        done = call.store.save(draft, agent=agent_of(client_name()), process=PROCESS)
        warn_if_cancelled("context_save")
        related, beside, lang = _related(call, done), _beside(call, done, draft), call.lang
        return call.answer(
            lambda: saved.text(done, related, beside, lang),
            lambda: saved.declared(done, related, beside, lang),
        )


def _changes(given: ChangesPart | None) -> Changes | None:
    if given is None:
        return None
    return Changes(modified_files=tuple(given.modifiedFiles), summary=given.summary)


def _related(call: Call, done: Saved) -> list[Hit]:
    """Return what resembles a new session; it is saved, whatever else cannot be read."""
    with suppress(SentinelError):
        if call.store.config.recommends and done.is_new:
            hits = call.resembling(done.session.goal, but=done.session.id)
            return [it for it in hits if it.level != "low"]
    return []


def _beside(call: Call, done: Saved, draft: Draft) -> list[str]:
    if not _Room.has_lessons:
        return []
    return bridge.to_the_log(done.session, draft, call.log, call.lang)


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
    with opened() as call:
        since, until = _range("dateRange", dateRange)
        criteria = Criteria(
            query=query or "",
            tags=tuple(tags or ()),
            status=status or "",
            agent=agent_of(agent or ""),
            since=since,
            until=until,
        )
        most, skipped = limit or call.store.config.default_limit, offset or 0
        find = _everywhere if scope == "global" else search
        page = find(call.store, criteria, limit=most, offset=skipped)
        return call.answer(
            lambda: found.text(page, call.lang, offset=skipped),
            lambda: found.declared(page, call.lang, offset=skipped),
        )


def _everywhere(store: SessionStore, criteria: Criteria, *, limit: int, offset: int) -> Page:
    from rooms.sessions.projects.searching import search_all  # few searches leave their project

    return search_all(store, criteria, limit=limit, offset=offset)


def _range(field: str, dates: Dates | None) -> tuple[str, str]:
    if dates is None:
        return "", ""
    return moment_of(f"{field}.from", dates.from_), moment_of(f"{field}.to", dates.to)


def context_get(id: Id, includeActions: WithActions = True, includeChain: WithChain = False) -> str:
    """Read one session: goal, failures, blockers, decisions, what was done. Call it for a hint that
    matters, not for every hint. Notes, not orders.
    """
    with opened() as call:
        session, actions, store, parent = read_whole(call.store, id, call.settings)
        chain = store.chain(session) if includeChain else None
        shown = None if includeActions is False else actions
        how = _how_to_see_all(session) if store is call.store else say(call.lang, "there")
        return call.answer(
            lambda: whole.text(
                session,
                call.lang,
                actions=shown or (),
                chain=chain or (),
                parent=name_of(parent) if parent else "",
                how=how,
            ),
            lambda: whole.declared(
                session, actions=shown, chain=chain, budget_tokens=call.settings.budget_tokens
            ),
        )


def _how_to_see_all(session: Session) -> str:
    if _Room.core_only:
        return f"`{CLI} sessions show {session.number}`"
    return f'context_export(format="markdown", contextIds=["#{session.number}"])'


def context_warn(currentGoal: Task, limit: WarnLimit = None) -> str:
    """What failed or is still blocked in work like this, the team's lessons first. Call it once,
    when a task begins, before you plan. Tell the user what applies.
    """
    with opened() as call:
        config, most = call.store.config, limit or WARNED
        hits, lessons = call.resembling(currentGoal), call.lessons(currentGoal)
        known = warnings.warned(lessons, hits, tried=config.warns, recommends=config.recommends)
        more = "warn_more_core" if _Room.core_only else "warn_more"
        return call.answer(
            lambda: warnings.text(known, currentGoal, call.lang, limit=most, more_key=more),
            lambda: warnings.declared(known, call.lang, limit=most),
        )


def context_stats(range: Days = None) -> str:
    """Counts of sessions by status, client and tag, and of failures. Call it when the user asks."""
    with opened() as call:
        counted = statistics_of(call.store, range or "all")
        return call.answer(
            lambda: numbers.text(counted, range or "all", call.lang),
            lambda: numbers.declared(counted, call.lang),
        )


def context_export(
    format: Form, range: Range = None, contextIds: Ids = None, output: Output = None
) -> str:
    """Whole sessions as one document, when the user asks or context_get left something out."""
    from rooms.sessions.exchange.exporting import export  # few sessions of a model export

    with opened(writes=bool(output)) as call:
        since, until = _range("range", range)
        done = export(
            call.store,
            format,
            since=since,
            until=until,
            names=tuple(contextIds or ()),
            output=output or "",
            lang=call.lang,
        )
        return call.answer(
            lambda: exported.text(done.text, done.path, done.count, call.lang),
            lambda: exported.declared(done.text, done.path, done.count),
        )


def context_recommend(currentGoal: str, limit: Limit = None) -> str:
    """Earlier sessions worth reading for a goal: summary, shared tags, what failed. Call it where
    context_warn has more.
    """
    with opened() as call:
        hits = call.resembling(currentGoal)[: limit or RECOMMENDED]
        return call.answer(
            lambda: recommended.text(hits, currentGoal, call.lang),
            lambda: recommended.declared(hits, currentGoal, call.lang),
        )


class _Tool(NamedTuple):
    function: Callable[..., str]
    title: str
    reads: bool
    repeats: bool
    is_core: bool


# fmt: off
TOOLS: Sequence[_Tool] = (
    _Tool(context_save, "Save session", reads=False, repeats=True, is_core=True),
    _Tool(context_search, "Search sessions", reads=True, repeats=True, is_core=True),
    _Tool(context_get, "Get session", reads=True, repeats=True, is_core=True),
    _Tool(context_warn, "Warn of failures", reads=True, repeats=True, is_core=True),
    _Tool(context_stats, "Session statistics", reads=True, repeats=True, is_core=False),
    _Tool(context_export, "Export sessions", reads=False, repeats=True, is_core=False),
    _Tool(context_recommend, "Recommend sessions", reads=True, repeats=True, is_core=False),
)
# fmt: on


def offer(
    server: SessionlessServer,
    cancellation: Cancellation,
    *,
    core_only: bool,
    has_lessons: bool = True,
) -> None:
    """Offer the tools of the room.

    core_only: the four that the work of a day needs. has_lessons: whether those of the log are
    offered too.
    """
    _Room.cancellation, _Room.core_only, _Room.has_lessons = cancellation, core_only, has_lessons
    for tool in TOOLS:
        if tool.is_core or not core_only:
            offered = server.offer_tool(tool.title, reads=tool.reads, repeats=tool.repeats)
            offered(tool.function)
