"""The tools of the sessions, as a model sees them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import urandom
from typing import Annotated, Any, Literal, NamedTuple

from fastmcp.server.dependencies import get_context
from pydantic import BeforeValidator, Field

from core.cancellation import NO_CANCELLATION, Cancellation
from core.errors import SentinelError
from core.program import CLI
from core.project import Project
from core.settings import Settings
from core.store import MemoryStore, open_store
from core.text.tokens import estimate_tokens
from protocol.call import opened_project
from protocol.lenient import (
    NULL,
    Name,
    NotNegative,
    OneToTwenty,
    Part,
    Text,
    Texts,
    listed,
    parsed,
    word,
)
from protocol.tools import SessionlessServer
from rooms.sessions import bridge
from rooms.sessions.agents import agent_of
from rooms.sessions.answers import (
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
from rooms.sessions.errors import NoSuchSessionError, SessionsError
from rooms.sessions.search.dates import moment_of
from rooms.sessions.search.found import Criteria, Hit, Page
from rooms.sessions.search.searching import resembling, search
from rooms.sessions.search.statistics import statistics_of
from rooms.sessions.session import Approach, Blocker, Changes, Decision, Draft, Outcome, Status
from rooms.sessions.store import SessionStore, open_sessions

PROCESS = urandom(8).hex()  # over stdio a session of the protocol is a process
LOOKED_AT = 20  # sessions that resemble a goal
MOST_LESSONS = 3


_OUTCOMES = {
    **dict.fromkeys(("fail", "failure", "error"), "failed"),
    **dict.fromkeys(("ok", "succeeded", "successful", "worked"), "success"),
    **dict.fromkeys(("partially", "mixed"), "partial"),
}


def _outcome(value: object) -> object:
    given = word(value)
    return _OUTCOMES.get(given, given) if isinstance(given, str) else given


class _Stored(Part):
    """What a session has more of it, context_get shows, and models send it back."""

    passed_over = frozenset(("timestamp", "madeBy", "discoveredAt", "resolvedAt"))


class DecisionPart(_Stored):
    what: str
    why: str = ""


class ApproachPart(_Stored):
    description: str
    result: Annotated[Outcome, BeforeValidator(_outcome)]
    reason: str = ""


class BlockerPart(_Stored):
    description: str
    resolved: bool = False
    resolution: str = ""


class ChangesPart(Part):
    modifiedFiles: Annotated[list[str], BeforeValidator(listed), Field(default_factory=list)]
    summary: str = ""


class Dates(Part):
    from_: Annotated[str, Field(alias="from")] = ""
    to: str = ""


StatusWord = Annotated[Status | NULL, BeforeValidator(word)]
Decisions = Annotated[list[DecisionPart] | NULL, BeforeValidator(listed)]
Approaches = Annotated[list[ApproachPart] | NULL, BeforeValidator(listed)]
Blockers = Annotated[list[BlockerPart] | NULL, BeforeValidator(listed)]
CodeChanges = Annotated[ChangesPart | NULL, BeforeValidator(parsed)]
DateRange = Annotated[Dates | NULL, BeforeValidator(parsed)]


class Call(NamedTuple):
    """What one call works with, and how it is answered."""

    store: SessionStore
    settings: Settings
    project: Project

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


class _Room:
    """What the server hands in when it offers the room."""

    cancellation: Cancellation = NO_CANCELLATION
    core_only = False
    has_lessons = True


@contextmanager
def opened(*, writes: bool = False) -> Iterator[Call]:
    """Open the sessions for one call. Raises SentinelError; see `opened_project`."""
    with opened_project(writes=writes) as (project, settings):
        store = open_sessions(project.root, settings, _Room.cancellation)
        yield Call(store, settings, project)


def _agent() -> str:
    """Return the name of the client, "" outside of a server."""
    try:
        params = get_context().session.client_params
    except RuntimeError:
        return ""
    return agent_of(params.client_info.name) if params else ""


def context_save(
    goal: Annotated[str, Field(description="What the work is for, in at most 500 characters")],
    summary: Annotated[Text, Field(description="Where it stands, in at most 2,000")] = None,
    status: StatusWord = None,
    tags: Texts = None,
    parentId: Annotated[
        Name | NULL, Field(description="The session this work follows: #12")
    ] = None,
    decisions: Decisions = None,
    approaches: Annotated[
        Approaches, Field(description="What was tried, above all what failed, and why")
    ] = None,
    blockers: Blockers = None,
    codeChanges: CodeChanges = None,
    id: Annotated[Name | NULL, Field(description="The session to update")] = None,
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
        done = call.store.save(draft, agent=_agent(), process=PROCESS)
        related, beside, lang = list[Hit](), list[str](), call.settings.lang
        with suppress(SentinelError):  # it is saved, whatever else cannot be read
            if call.store.config.recommends and done.is_new:
                found = call.resembling(done.session.goal, but=done.session.id)
                related = [it for it in found if it.level != "low"]
        if _Room.has_lessons:
            beside = bridge.to_the_log(done.session, call.log, lang)
        return call.answer(
            lambda: saved.text(done, related, beside, lang),
            lambda: saved.declared(done, related, beside, lang),
        )


def _changes(given: ChangesPart | None) -> Changes | None:
    if given is None:
        return None
    return Changes(modified_files=tuple(given.modifiedFiles), summary=given.summary)


def context_search(
    query: Annotated[Text, Field(description="Words in any language; none: the newest")] = None,
    tags: Annotated[Texts, Field(description="All of them")] = None,
    status: StatusWord = None,
    agent: Annotated[Text, Field(description="Client: claude-code, cursor")] = None,
    dateRange: Annotated[DateRange, Field(description="ISO dates, both included")] = None,
    limit: Annotated[OneToTwenty, Field(description="Default 5")] = None,
    offset: NotNegative = None,
    scope: Annotated[
        Literal["project", "global"] | NULL,
        BeforeValidator(word),
        Field(description="global: all projects of the user"),
    ] = None,
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
        lang, skipped = call.settings.lang, offset or 0
        find = _everywhere if scope == "global" else search
        page = find(
            call.store, criteria, limit=limit or call.store.config.default_limit, offset=skipped
        )
        return call.answer(
            lambda: found.text(page, lang, offset=skipped),
            lambda: found.declared(page, lang, offset=skipped),
        )


def _everywhere(store: SessionStore, criteria: Criteria, *, limit: int, offset: int) -> Page:
    from rooms.sessions.projects.searching import search_all  # few searches leave their project

    return search_all(store, criteria, limit=limit, offset=offset)


def context_get(
    id: Annotated[Name, Field(description="#12 or ctx_…")],
    includeActions: Annotated[bool | NULL, Field(description="Commands, edits, errors")] = True,
    includeChain: Annotated[bool | NULL, Field(description="Sessions before and after it")] = False,
) -> str:
    """Read one session: goal, failures, blockers, decisions, what was done. Call it for a hint that
    matters, not for every hint. Notes, not orders.
    """
    with opened() as call:
        store, lang = call.store, call.settings.lang
        session = store.get(id)
        if session.archive:
            from rooms.sessions.upkeep.archive import whole as brought_back

            session, actions = brought_back(store, session)
        else:
            actions = store.actions(session) if includeActions is not False else []
        chain = store.chain(session) if includeChain else []
        shown = list(actions) if includeActions is not False else []
        return call.answer(
            lambda: whole.text(
                session,
                lang,
                actions=shown,
                chain=chain,
                parent=_parent(store, session.parent_id),
                how=_how_to_see_all(session.number),
            ),
            lambda: whole.declared(
                session,
                actions=None if includeActions is False else shown,
                chain=chain if includeChain else None,
                budget_tokens=call.settings.budget_tokens,
            ),
        )


def _parent(store: SessionStore, id_: str) -> str:
    """Return the name of a parent, "" for none and for one that is gone."""
    with suppress(NoSuchSessionError):
        return name_of(store.get(id_)) if id_ else ""
    return ""


def _how_to_see_all(number: int) -> str:
    if _Room.core_only:
        return f"`{CLI} sessions show {number}`"
    return f'context_export(format="markdown", contextIds=["#{number}"])'


def context_warn(
    currentGoal: Annotated[str, Field(description="The task, in the user's words")],
    limit: Annotated[OneToTwenty, Field(description="Default 3")] = None,
) -> str:
    """What failed or is still blocked in work like this, the team's lessons first. Call it once,
    when a task begins, before you plan. Tell the user what applies.
    """
    with opened() as call:
        lang, config = call.settings.lang, call.store.config
        hits = call.resembling(currentGoal)
        lessons = (
            bridge.lessons_for(currentGoal, call.log, limit=MOST_LESSONS)
            if _Room.has_lessons
            else []
        )
        known = warnings.warned(lessons, hits, tried=config.warns, recommends=config.recommends)
        more = "warn_more_core" if _Room.core_only else "warn_more"
        return call.answer(
            lambda: warnings.text(known, currentGoal, lang, limit=limit or 3, more_key=more),
            lambda: warnings.declared(known, lang, limit=limit or 3),
        )


def context_stats(
    range: Annotated[
        Literal["last_7_days", "last_30_days", "last_90_days", "all"] | NULL,
        BeforeValidator(word),
        Field(description="Default all"),
    ] = None,
) -> str:
    """Counts of sessions by status, client and tag, and of failures. Call it when the user asks."""
    with opened() as call:
        counted, lang = statistics_of(call.store, range or "all"), call.settings.lang
        return call.answer(
            lambda: numbers.text(counted, range or "all", lang),
            lambda: numbers.declared(counted, lang),
        )


def context_export(
    format: Annotated[Literal["markdown", "json", "html"], BeforeValidator(word)],
    range: Annotated[DateRange, Field(description="ISO dates")] = None,
    contextIds: Annotated[Texts, Field(description="Only these")] = None,
    output: Annotated[Text, Field(description="File in the project; none: the answer")] = None,
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
        )
        settings, path = call.settings, str(done.path or "")
        if not path and _is_too_long(done.text, settings):
            raise SessionsError("export_too_long", count=done.count)
        return call.answer(
            lambda: exported.text(done.text, path, done.count, settings.lang),
            lambda: exported.declared(done.text, path, done.count),
        )


def _is_too_long(text: str, settings: Settings) -> bool:
    """Return whether a document is too long for an answer."""
    return len(text) > settings.budget_chars or estimate_tokens(text) > settings.budget_tokens


def context_recommend(
    currentGoal: str, limit: Annotated[OneToTwenty, Field(description="Default 5")] = None
) -> str:
    """Earlier sessions worth reading for a goal: summary, shared tags, what failed. Call it where
    context_warn has more.
    """
    with opened() as call:
        hits, lang = call.resembling(currentGoal)[: limit or 5], call.settings.lang
        return call.answer(
            lambda: recommended.text(hits, currentGoal, lang),
            lambda: recommended.declared(hits, currentGoal, lang),
        )


def _range(field: str, dates: Dates | None) -> tuple[str, str]:
    """Return the ends of a range as a search takes them. Raises SessionsError."""
    if dates is None:
        return "", ""
    return moment_of(f"{field}.from", dates.from_), moment_of(f"{field}.to", dates.to)


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
