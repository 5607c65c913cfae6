"""Prepares a draft for storage, and works out the session that a save makes of it.

`redact_draft` comes before anything else sees a text: it redacts, then checks the limits.
`continue_session` is pure: a session and a draft go in, the new session comes out.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from core.room.redaction import without_secrets
from core.sanitizer import redact, secret_values_in
from core.text.plain import SURROGATE, fold_text, normal_form
from rooms.sessions import session as limits
from rooms.sessions.session import POINTS, Action, Changes, Draft, Point, Session, SessionsError

_RAW_TIMES = 10  # its limit: a longer text is too long, whatever the redactor takes out of it
_AGENT_CHARS, _RAW_CHARS = 40, 1_000  # kept of the name of a client, and read of it
# The one name of each client, whatever it calls itself in the handshake or in a hook.
# fmt: off
_AGENT_NAMES = {
    "claude code": "claude-code", "claude-ai": "claude-desktop",
    "cursor-vscode": "cursor", "cursor-agent": "cursor",
    "codex-mcp-client": "codex", "codex-cli": "codex",
    "gemini-cli": "gemini", "gemini-cli-mcp-client": "gemini",
    "visual studio code": "vscode", "visual studio code - insiders": "vscode",
    "github-copilot": "copilot", "copilot-cli": "copilot", "windsurf-client": "windsurf",
}
# fmt: on
_SAFE_TEXT = re.compile(r"[0-9TZ:+. -]*|ctx_[0-9a-f]{12}|[a-z]{1,12}")  # dates, our ids, our words
_Content = TypeVar("_Content", Draft, Session)


class Field(NamedTuple):
    """A field with a text, and its limit. is_required: not blank."""

    name: str
    most_chars: int
    is_required: bool = False


def redact_draft(draft: Draft, *, strict: bool = False) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft redacted and checked, and the kinds of its secrets. Raises SessionsError.

    A secret that one text reveals goes from all texts; `strict` refuses it. Limits hold for the
    redacted text.
    """
    check_counts(draft)
    texts, all_kinds = list[str](), list[str]()

    def check_raw(text: str, field: Field) -> str:
        if SURROGATE.search(text):
            raise SessionsError("lone_surrogate", field=field.name)
        if field.is_required and not text.strip():
            raise SessionsError("blank", field=field.name)
        if len(text) > field.most_chars * _RAW_TIMES:
            raise _too_long_error(text, field)
        texts.append(text)
        return text

    def redact_text(text: str, field: Field) -> str:
        text, kinds = redact(text, secrets) if secrets else (text, [])
        if kinds and strict:
            facts = {"field": field.name, "kinds": ", ".join(sorted({*kinds}))}
            raise SessionsError("secret_refused", **facts)
        all_kinds.extend(kinds)
        if len(text) > field.most_chars:
            raise _too_long_error(text, field)
        return text

    tags, changes = draft.tags, draft.changes
    if tags is not None:
        tags = tuple(filter(None, (normal_form("NFC", tag).strip() for tag in tags)))
    if changes is not None:
        files = dict.fromkeys(path for path in changes.modified_files if path.strip())
        changes = replace(changes, modified_files=tuple(files))
    draft = replace(draft, goal=draft.goal.strip(), tags=tags, changes=changes)
    draft = with_texts(draft, check_raw)
    secrets = secret_values_in(texts)
    draft = with_texts(draft, redact_text)
    if draft.tags is not None:
        draft = replace(draft, tags=tuple(dict.fromkeys(draft.tags)))
    return draft, tuple(dict.fromkeys(all_kinds))


def _too_long_error(text: str, field: Field) -> SessionsError:
    facts = {"chars": len(text), "over": len(text) - field.most_chars, "most": field.most_chars}
    return SessionsError("too_long", field=field.name, **facts)


def check_counts(content: Draft | Session) -> None:
    files = content.changes.modified_files if content.changes else ()
    counts = {"tags": (len(content.tags or ()), limits.MOST_TAGS)}
    counts |= {name: (len(getattr(content, name)), limits.MOST_POINTS) for name in POINTS}
    counts["codeChanges"] = (len(files), limits.MOST_FILES)
    for field, (count, most) in counts.items():
        if count > most:
            raise SessionsError("too_many", field=field, count=count, most=most)


def with_texts(content: _Content, change: Callable[[str, Field], str]) -> _Content:
    """Return a draft or session with `change` applied to each text of a person or client."""
    goal = change(content.goal, Field("goal", limits.GOAL_CHARS, is_required=True))
    summary, tags, changes = content.summary, content.tags, content.changes
    if summary is not None:
        summary = change(summary, Field("summary", limits.SUMMARY_CHARS))
    if tags is not None:
        tags = tuple(change(tag, Field("tags", limits.TAG_CHARS)) for tag in tags)
    if changes is not None:
        path_field = Field("codeChanges", limits.PATH_CHARS)
        files = tuple(change(path, path_field) for path in changes.modified_files)
        sentence = change(changes.summary, Field("codeChanges", limits.POINT_CHARS))
        changes = Changes(modified_files=files, summary=sentence)
    fields: Any = {
        name: tuple(
            replace(
                point,
                text=change(point.text, Field(name, limits.POINT_CHARS, is_required=True)),
                why=change(point.why, Field(name, limits.POINT_CHARS)),
                made_by=change(point.made_by, Field(name, limits.AGENT_CHARS)),
            )
            for point in getattr(content, name)
        )
        for name in POINTS
    }
    fields |= {"goal": goal, "summary": summary, "tags": tags, "changes": changes}
    return replace(content, **fields)


class RedactedSession(NamedTuple):
    """A redacted session with its actions, and the kind of each secret."""

    session: Session
    actions: list[Action]
    kinds: tuple[str, ...] = ()


def redact_session(session: Session, actions: Sequence[Action] = ()) -> RedactedSession:
    """Redact a session; a secret that one text reveals goes from all."""
    (session, actions), kinds = without_secrets((session, tuple(actions)), _SAFE_TEXT)
    return RedactedSession(session, list(actions), kinds)


def agent_of(name: str) -> str:
    """Return a client's one name, "" for none, an unknown one in lower case and printable.

    >>> agent_of("Claude Code")
    'claude-code'
    """
    plain = "".join(char for char in " ".join(name[:_RAW_CHARS].split()) if char.isprintable())
    lowered = plain.strip().lower()[:_AGENT_CHARS].rstrip()
    return _AGENT_NAMES.get(lowered, lowered)


def continue_session(session: Session, draft: Draft, *, agent: str, now: str) -> Session:
    """Return the session with a draft merged in; `former` keeps replaced texts.

    A point replaces the stored one with its text. An unchanged point keeps its first time; a
    blocker always keeps the time of its discovery. Raises SessionsError for more than a session
    may hold.
    """
    status = draft.status or session.status
    ended_at = ""
    if status in limits.ENDED_STATUSES:  # with the last save that says so
        ended_at = now if draft.status else session.ended_at or now
    changes = session.changes
    if draft.changes:
        files = dict.fromkeys((*changes.modified_files, *draft.changes.modified_files))
        summary = draft.changes.summary or changes.summary
        changes = Changes(modified_files=tuple(files), summary=summary)
    points: Any = {name: _merge(name, session, draft, agent, now) for name in POINTS}
    new_session = replace(
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
    check_counts(new_session)
    old_values: Any = {
        name: value
        for name in ("goal", "summary", "status", "tags")
        if (value := getattr(session, name)) and value != getattr(new_session, name)
    }
    old_points, new_points = (
        [*state.points(), Point(text="codeChanges", why=state.changes.summary)]
        for state in (session, new_session)
    )
    new_reasons = {(fold_sentence(point.text), point.why) for point in new_points}
    lost_reasons = tuple(
        f"{limits.shorten(point.text, limits.SUMMARY_SHORT_CHARS)}: {point.why}"
        for point in old_points
        if point.why and (fold_sentence(point.text), point.why) not in new_reasons
    )
    old_values |= {"reasons": lost_reasons} if lost_reasons else {}
    if old_values and session.number:  # it is not new
        former = (*session.former, limits.Former(at=now, **old_values))
        new_session = replace(new_session, former=former[-limits.MOST_FORMER :])
    return with_warning_flag(new_session)


def with_warning_flag(session: Session) -> Session:
    """Set `has_warnings` by failed approaches and open blockers."""
    return replace(session, has_warnings=bool(session.failures or session.open_blockers))


def resolve(session: Session, blockers: Iterable[Point], now: str) -> Session:
    """Resolve the open blockers of an earlier session that `blockers` report as resolved."""
    solutions = {fold_sentence(point.text): point for point in blockers if point.is_resolved}
    points = tuple(
        replace(point, is_resolved=True, why=solution.why or point.why, resolved_at=now)
        if not point.is_resolved and (solution := solutions.get(fold_sentence(point.text)))
        else point
        for point in session.blockers
    )
    if points == session.blockers:
        return session
    return with_warning_flag(replace(session, blockers=points))


def _merge(name: str, session: Session, draft: Draft, agent: str, now: str) -> tuple[Point, ...]:
    old_points: tuple[Point, ...] = getattr(session, name)
    by_text = {fold_sentence(point.text): point for point in old_points}
    for point in getattr(draft, name):
        old_point = by_text.get(fold_sentence(point.text))
        outcome = (point.result, point.is_resolved)
        is_unchanged = old_point and outcome == (old_point.result, old_point.is_resolved)
        if old_point and is_unchanged and point.why in ("", old_point.why):
            continue
        discovered_at = old_point.at if old_point and name == "blockers" else ""
        made_by = point.made_by or (agent if name == "decisions" else "")
        new_point = replace(point, made_by=made_by, at=point.at or discovered_at or now)
        if point.is_resolved:
            solution = point.why or (old_point.why if old_point else "")
            new_point = replace(new_point, why=solution, resolved_at=point.resolved_at or now)
        by_text[fold_sentence(point.text)] = new_point
    return tuple(by_text.values())


def fold_sentence(text: str) -> str:
    """Return a text without its case, blanks and last full stop."""
    return fold_text(normal_form("NFC", text)).rstrip(".")
