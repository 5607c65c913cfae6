"""Restores what to know before any work, and makes fragments of the results of a session."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.text.plain import Budget
from rooms.fragments.activity import is_over, note, unreflected
from rooms.fragments.draft import Draft, Remembered, prepared, stored
from rooms.fragments.errors import FragmentsError
from rooms.fragments.fragment import (
    CONTENT_BYTES,
    CONTEXT_TOKENS,
    CONTEXT_TYPES,
    DEFAULT_TOPIC,
    KINDS,
    SUGGESTION_CHARS,
    Activity,
    Fragment,
    Link,
    TaskFeedback,
    Wanted,
)
from rooms.fragments.recall import (
    Line,
    by_worth,
    check_type,
    is_current,
    plain_line,
    taken,
    worth_of,
)
from rooms.fragments.room import Room, named, readers, repeats_when_cut, writer
from rooms.fragments.texts import Text, check_count, cleaned, keywords_of
from rooms.fragments.upkeep.life import before

_WORKING_SHARE = 0.25  # of the budget; its rest goes to the others
_MOST_ANCHORS = 500
_TOLD_DAYS = 7  # a session that ended before is no news
ITEM_BYTES = 8_192
MOST_ITEMS = 50
QUESTION_KEYWORD = "open question"
_TYPES = {
    "summary": "episodic",
    "decisions": "decision",
    "errors_resolved": "error",
    "new_procedures": "procedure",
    "open_questions": "fact",
}
# A sentence with the signs that close it, or a line.
_SENTENCE = re.compile(r"[^\n]+?(?:(?<=[.!?。！？…])[\"'”’)\]]*(?=\s)|(?=\n)|\Z)")


class Context(NamedTuple):
    """The restored fragments. core: pinned, then of most worth. working: the newest first.

    unreflected: past sessions that wrote and never reflected. left_out: how many fragments did not
    fit.
    """

    core: list[Fragment]
    working: list[Fragment]
    unreflected: list[Activity]
    left_out: int = 0


@repeats_when_cut
def restore_context(
    room: Room,
    *,
    tokens: int = CONTEXT_TOKENS,
    types: Sequence[str] = CONTEXT_TYPES,
    session: str = "",
    agent: str = "",
    line: Line = plain_line,
) -> Context:
    """Return the fragments for a session's start; this counts no use.

    tokens: of the answer. types: of `TYPES`; pinned fragments come anyway. session: whose working
    memory. agent, line: see `recall`. Raises FragmentsError, DatabaseError.
    """
    for word in types:
        check_type("types", word)
    agents, now = readers(room, agent), room.clock()
    worth = worth_of(room.config, now, has_order=True)
    since = before(now, days=_TOLD_DAYS)
    kinds = tuple(word for word in types if word in KINDS)
    lifetimes = tuple(word for word in types if word not in KINDS)
    typed = list[Fragment]()
    with room.engine.reading() as rows:
        anchors = rows.find(Wanted(agents=agents, is_anchor=True), limit=_MOST_ANCHORS)
        if kinds:
            typed += by_worth(rows, Wanted(agents=agents, kinds=kinds), worth)
        if lifetimes:
            typed += by_worth(rows, Wanted(agents=agents, lifetimes=lifetimes), worth)
        working = by_worth(rows, Wanted(agents=agents, lifetimes=("working",)), worth)
        silent = unreflected(rows, room.own or agents, since=since)
    working = [
        it
        for it in working
        if it.session in ("", session) and is_current(it, room, now, it.session)
    ]
    working.sort(key=lambda it: (it.created_at, it.number), reverse=True)
    ids = {it.id for it in working}
    best = [*sorted(anchors, key=worth, reverse=True), *sorted(typed, key=worth, reverse=True)]
    core = {
        it.id: it
        for it in best
        if it.id not in ids and not it.session and is_current(it, room, now, "")
    }
    budget = Budget(tokens, room.settings.budget_chars)
    share = budget.split_off(_WORKING_SHARE) if working else Budget(0, 0)
    own = list(taken(share, working, line))
    budget.add(share)
    kept = list(taken(budget, [*core.values()], line))
    others = [it for it in silent if it.session_id != session and is_over(it, now)]
    return Context(kept, own, others, len(core) + len(working) - len(kept) - len(own))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """The results of a session. summary: of all, needed; others: one thing each.

    effectiveness: None where nothing is said.
    """

    summary: str
    decisions: tuple[str, ...] = ()
    errors_resolved: tuple[str, ...] = ()
    new_procedures: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    source: str = ""
    effectiveness: TaskFeedback | None = None


class Reflected(NamedTuple):
    """The fragments in the order of the reflection, some of them known.

    parted: number of items too long for one fragment. redacted: kinds of secrets taken out.
    """

    saved: list[Remembered]
    parted: int = 0
    redacted: tuple[str, ...] = ()


def reflect(room: Room, reflection: Reflection, *, agent: str = "", session: str = "") -> Reflected:
    """Store the summary and each other item as fragments, all or nothing.

    A text above `CONTENT_BYTES` is parted where sentences end; its parts are linked with the first.
    The session counts as reflected. Raises FragmentsError, DatabaseError.
    """
    session, owner, now = named("sessionId", session), writer(room, agent), room.clock()
    items, how = list(_items(reflection)), reflection.effectiveness
    about_tools = [*how.tool_highlights, *how.tool_pain_points] if how else []
    check_count("task_effectiveness", len(about_tools), MOST_ITEMS)
    texts = [Text(field, text, ITEM_BYTES, in_bytes=True) for field, text in items]
    texts += [Text("task_effectiveness", text, SUGGESTION_CHARS) for text in about_tools]
    clean, redacted = cleaned(texts, strict=room.settings.strict)
    drafts = [
        [prepared(_draft(reflection, field, part)) for part in parts_of(text)]
        for (field, _), text in zip(items, clean, strict=False)
        if text
    ]
    saved = list[Remembered]()
    with room.engine.writing() as rows:
        for parts in drafts:
            made = [stored(rows, room, part, agent=agent, session="") for part in parts]
            first, *others = dict.fromkeys(each.fragment.id for each in made)
            rows.put_links(
                Link(from_id=other, to_id=first, relation="part_of", created_at=now)
                for other in others
            )
            saved += made
        if how:
            middle = len(items) + len(how.tool_highlights)
            feedback = replace(
                how,
                session_id=session,
                tool_highlights=tuple(filter(None, clean[len(items) : middle])),
                tool_pain_points=tuple(filter(None, clean[middle:])),
                created_at=now,
                agent=owner,
            )
            rows.note([feedback])
        wrote = sum(each.is_new for each in saved)
        note(rows, room, session, agent, wrote=wrote, has_reflected=True)
    return Reflected(saved, sum(len(parts) > 1 for parts in drafts), redacted)


def parts_of(text: str, most: int = CONTENT_BYTES) -> list[str]:
    """Return pieces of at most `most` bytes, parted where sentences end.

    A longer sentence is parted at blanks, a longer word anywhere. Only blanks are lost.
    """
    parts = list[str]()
    for piece in _pieces(text.strip(), most):
        joined = f"{parts[-1]} {piece}" if parts else ""
        if joined and len(joined.encode()) <= most:
            parts[-1] = joined
        else:
            parts.append(piece)
    return parts


def _pieces(text: str, most: int) -> Iterator[str]:
    if len(text.encode()) <= most:
        yield text
        return
    for sentence in filter(None, map(str.strip, _SENTENCE.findall(text))):
        if len(sentence.encode()) <= most:
            yield sentence
            continue
        for word in sentence.split():
            rest = word
            while rest:
                piece = rest.encode()[:most].decode(errors="ignore")  # no character is parted
                yield piece
                rest = rest[len(piece) :]


def _items(reflection: Reflection) -> Iterator[tuple[str, str]]:
    if not reflection.summary.strip():
        raise FragmentsError("blank", field="summary")
    for field in _TYPES:
        texts = [reflection.summary] if field == "summary" else getattr(reflection, field)
        check_count(field, len(texts), MOST_ITEMS)
        yield from ((field, text) for text in texts)


def _draft(reflection: Reflection, field: str, text: str) -> Draft:
    is_question = field == "open_questions"
    return Draft(
        content=text,
        type=_TYPES[field],
        topic=DEFAULT_TOPIC,
        keywords=(QUESTION_KEYWORD, *keywords_of(text)) if is_question else (),
        source=reflection.source,
    )
