"""Prepares a draft for storage, and works out the session that a save makes of it.

`prepare_draft` comes before anything else sees a text: it redacts, then checks the limits.
`continue_session` is pure: a session and a draft go in, the new session comes out.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from core.room.redaction import without_secrets
from core.sanitizer import redact, values_in
from core.text.plain import SURROGATE, normal_form
from rooms.sessions import session as limits
from rooms.sessions.session import POINTS, Action, Changes, Draft, Point, Session, SessionsError

_RAW_TIMES = 10  # of its limit: a longer text is too long, whatever the redactor takes out of it
_AGENT_CHARS, _RAW_CHARS = 40, 1_000  # of the name of a client, and read of it
# The one name of each client, whatever it calls itself in the handshake or in a hook.
# fmt: off
_AGENTS = {
    "claude code": "claude-code", "claude-ai": "claude-desktop",
    "cursor-vscode": "cursor", "cursor-agent": "cursor",
    "codex-mcp-client": "codex", "codex-cli": "codex",
    "gemini-cli": "gemini", "gemini-cli-mcp-client": "gemini",
    "visual studio code": "vscode", "visual studio code - insiders": "vscode",
    "github-copilot": "copilot", "copilot-cli": "copilot", "windsurf-client": "windsurf",
}
# fmt: on
_PLAIN = re.compile(r"[0-9TZ:+. -]*|ctx_[0-9a-f]{12}|[a-z]{1,12}")  # dates, our ids, our words
_Given = TypeVar("_Given", Draft, Session)


class Place(NamedTuple):
    """The field of a text, and its limit. is_required: not blank."""

    field: str
    most: int
    is_required: bool = False


def prepare_draft(draft: Draft, *, strict: bool = False) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft redacted and checked, and the kinds of its secrets. Raises SessionsError.

    A secret that one text reveals goes from all texts; `strict` refuses it. Limits hold for the
    redacted text.
    """
    if draft.status is not None and draft.status not in limits.STATUSES:
        raise SessionsError("bad_status", known=", ".join(limits.STATUSES))
    if any(it.result not in limits.OUTCOMES for it in draft.approaches):
        raise SessionsError("bad_result", known=", ".join(limits.OUTCOMES))
    count, most = len(draft.tags or ()), limits.MOST_TAGS
    if count > most:
        raise SessionsError("too_many", field="tags", count=count, most=most)
    check_counts(draft)
    texts, redacted = list[str](), list[str]()

    def look_at(text: str, place: Place) -> str:
        if SURROGATE.search(text):
            raise SessionsError("lone_surrogate", field=place.field)
        if place.is_required and not text.strip():
            raise SessionsError("blank", field=place.field)
        if len(text) > place.most * _RAW_TIMES:
            raise _too_long(text, place)
        texts.append(text)
        return text

    def clean(text: str, place: Place) -> str:
        text, kinds = redact(text, known) if known else (text, [])
        if kinds and strict:
            facts = {"field": place.field, "kinds": ", ".join(sorted({*kinds}))}
            raise SessionsError("secret_refused", **facts)
        redacted.extend(kinds)
        if len(text) > place.most:
            raise _too_long(text, place)
        return text

    done = with_texts(_without_blanks(draft), look_at)
    known = values_in(texts)
    done = with_texts(done, clean)
    if done.tags is not None:
        done = replace(done, tags=tuple(dict.fromkeys(done.tags)))
    return done, tuple(dict.fromkeys(redacted))


def _without_blanks(draft: Draft) -> Draft:
    tags, changes = draft.tags, draft.changes
    if tags is not None:
        tags = tuple(filter(None, (normal_form("NFC", tag).strip() for tag in tags)))
    if changes is not None:
        files = dict.fromkeys(path for path in changes.modified_files if path.strip())
        changes = replace(changes, modified_files=tuple(files))
    return replace(draft, goal=draft.goal.strip(), tags=tags, changes=changes)


def _too_long(text: str, place: Place) -> SessionsError:
    facts = {"chars": len(text), "over": len(text) - place.most, "most": place.most}
    return SessionsError("too_long", field=place.field, **facts)


def check_counts(given: Draft | Session) -> None:
    files = given.changes.modified_files if given.changes else ()
    counts = {name: (len(getattr(given, name)), limits.MOST_POINTS) for name in POINTS}
    counts["codeChanges"] = (len(files), limits.MOST_FILES)
    for field, (count, most) in counts.items():
        if count > most:
            raise SessionsError("too_many", field=field, count=count, most=most)


def with_texts(given: _Given, change: Callable[[str, Place], str]) -> _Given:
    """Return a draft or session with `change` applied to each text of somebody."""

    goal = change(given.goal, Place("goal", limits.GOAL_CHARS, is_required=True))
    summary, tags, changes = given.summary, given.tags, given.changes
    if summary is not None:
        summary = change(summary, Place("summary", limits.SUMMARY_CHARS))
    if tags is not None:
        tags = tuple(change(tag, Place("tags", limits.TAG_CHARS)) for tag in tags)
    if changes is not None:
        path, about = (Place("codeChanges", it) for it in (limits.PATH_CHARS, limits.POINT_CHARS))
        files = tuple(change(it, path) for it in changes.modified_files)
        changes = Changes(modified_files=files, summary=change(changes.summary, about))
    fields: Any = {
        name: tuple(
            replace(
                it,
                text=change(it.text, Place(name, limits.POINT_CHARS, is_required=True)),
                why=change(it.why, Place(name, limits.POINT_CHARS)),
                made_by=change(it.made_by, Place(name, limits.AGENT_CHARS)),
            )
            for it in getattr(given, name)
        )
        for name in POINTS
    }
    fields |= {"goal": goal, "summary": summary, "tags": tags, "changes": changes}
    return replace(given, **fields)


class Cleaned(NamedTuple):
    """A redacted session with its actions, and the kind of each secret."""

    session: Session
    actions: list[Action]
    redacted: tuple[str, ...] = ()


def redact_session(session: Session, actions: Sequence[Action] = ()) -> Cleaned:
    """Redact a session; a secret that one text reveals goes from all."""
    (done, others), kinds = without_secrets((session, tuple(actions)), _PLAIN)
    return Cleaned(done, list(others), kinds)


def agent_of(name: str) -> str:
    """Return a client's one name, "" for none, an unknown one in lower case and printable.

    >>> agent_of("Claude Code")
    'claude-code'
    """
    plain = "".join(char for char in " ".join(name[:_RAW_CHARS].split()) if char.isprintable())
    lowered = plain.strip().lower()[:_AGENT_CHARS].rstrip()
    return _AGENTS.get(lowered, lowered)


def continue_session(session: Session, draft: Draft, *, agent: str, now: str) -> Session:
    """Return the session with a draft merged in; `former` keeps replaced texts.

    A point replaces the stored one with its text. A point told again as it was keeps its first
    time; a blocker always keeps the time of its discovery. Raises SessionsError for more than a
    session may hold.
    """
    status = draft.status or session.status
    ended_at = ""
    if status in limits.ENDED:  # with the last save that says so
        ended_at = now if draft.status else session.ended_at or now
    changes = session.changes
    if draft.changes:
        files = dict.fromkeys((*changes.modified_files, *draft.changes.modified_files))
        summary = draft.changes.summary or changes.summary
        changes = Changes(modified_files=tuple(files), summary=summary)
    points: Any = {name: _joined(name, session, draft, agent, now) for name in POINTS}
    done = replace(
        session,
        goal=draft.goal,
        summary=session.summary if draft.summary is None else draft.summary,
        status=status,
        tags=session.tags if draft.tags is None else draft.tags,
        agent=agent or session.agent,
        parent_id=draft.parent or session.parent_id,
        changes=changes,
        ended_at=ended_at,
        updated_at=now,
        **points,
    )
    check_counts(done)
    replaced: Any = {
        name: value
        for name in ("goal", "summary", "status", "tags")
        if (value := getattr(session, name)) and value != getattr(done, name)
    }
    before, after = (
        [*it.points(), Point(text="codeChanges", why=it.changes.summary)] for it in (session, done)
    )
    kept, short = {(comparable(it.text), it.why) for it in after}, limits.SUMMARY_SHORT_CHARS
    if lost := [it for it in before if it.why and (comparable(it.text), it.why) not in kept]:
        replaced["reasons"] = tuple(f"{limits.shorten(it.text, short)}: {it.why}" for it in lost)
    if replaced and session.number:  # it is not new
        former = (*session.former, limits.Former(at=now, **replaced))
        done = replace(done, former=former[-limits.MOST_FORMER :])
    return with_warning_flag(done)


def with_warning_flag(session: Session) -> Session:
    """Set `has_warnings` by failed approaches and open blockers."""
    return replace(session, has_warnings=bool(session.failed or session.open_blockers))


def with_resolved(session: Session, blockers: Iterable[Point], now: str) -> Session:
    """Resolve the open blockers of an earlier session that `blockers` report as resolved."""
    resolved = {comparable(it.text): it for it in blockers if it.is_resolved}
    settled = tuple(
        replace(it, is_resolved=True, why=cure.why or it.why, resolved_at=now)
        if not it.is_resolved and (cure := resolved.get(comparable(it.text)))
        else it
        for it in session.blockers
    )
    return (
        with_warning_flag(replace(session, blockers=settled))
        if settled != session.blockers
        else session
    )


def _joined(name: str, session: Session, draft: Draft, agent: str, now: str) -> tuple[Point, ...]:
    known: dict[str, Point] = {comparable(it.text): it for it in getattr(session, name)}
    for it in getattr(draft, name):
        before = known.get(comparable(it.text))
        outcome = (it.result, it.is_resolved)
        is_known = before and outcome == (before.result, before.is_resolved)
        if before and is_known and it.why in ("", before.why):
            continue
        first = before.at if before and name == "blockers" else ""
        made_by = it.made_by or (agent if name == "decisions" else "")
        new = replace(it, made_by=made_by, at=it.at or first or now)
        if it.is_resolved:
            cure = it.why or (before.why if before else "")
            new = replace(new, why=cure, resolved_at=it.resolved_at or now)
        known[comparable(it.text)] = new
    return tuple(known.values())


def comparable(text: str) -> str:
    """Return a text without its case, blanks and last full stop."""
    return " ".join(normal_form("NFC", text).casefold().split()).rstrip(".")
