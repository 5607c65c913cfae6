"""Writes the cards of sessions: what each was for, and what it opens to."""

import math
from collections.abc import Iterator
from urllib.parse import quote

from commands.view.escaping import as_line, as_name, as_text, spoken
from commands.view.records import as_code
from commands.view.sessions.collection import Item, Link
from core.lessons.record import seconds_of
from core.lessons.record_text import day_of
from core.messages import has_sentence, say
from rooms.sessions.actions.kinds import KINDS, LESSON, result_of
from rooms.sessions.session import OUTCOMES, STATUSES, Action, Session, shortened

ACTION_CHARS, RESULT_CHARS = 300, 200  # of what is shown of an action

Texts = tuple[str, str, str]  # a key of our words, a text and what is said of it


def kinds_of(session: Session) -> list[str]:
    """Return by what a reader can filter a session."""
    kinds = ["session", *(["warned"] if session.has_warnings else [])]
    kinds += ["archived"] if session.archive else []
    return [*kinds, *([session.status] if session.status in STATUSES else [])]


def card(item: Item) -> list[str]:
    """Return the lines of a session."""
    session, anchor = item.session, anchor_of(item.session.number)
    moment_s = seconds_of(session.updated_at)
    data = {
        "kinds": " ".join(kinds_of(session)),
        "agent": session.agent,
        "day": day_of(session.updated_at),
        "at": str(int(moment_s)) if math.isfinite(moment_s) else "0",
        "seen": "0",
        "names": item.name,
    }
    told = " ".join(f'data-{name}="{as_line(value)}"' for name, value in data.items())
    goal = as_code(as_text(session.goal))
    return [
        f'<article id="{anchor}" class="session" {told}'
        f' aria-labelledby="{anchor}-goal" tabindex="-1">',
        _about(session),
        f'<p class="lesson text" id="{anchor}-goal" {spoken(session.goal)}>{goal}</p>',
        *_before_and_after(item),
        *_details(item),
        "</article>",
    ]


def anchor_of(number: int) -> str:
    """Return the id of a session in the document."""
    return f"s-{number}"


def status_text(status: str) -> str:
    """Return a status in the words of the page; one of another program as it is."""
    return say(f"view_sessions.{status}") if status in STATUSES else status


def _about(session: Session) -> str:
    """Return the line above a goal: warnings, status, agent, tags, and a link to the session."""
    link = f"#{anchor_of(session.number)}"
    parts = [f'<a class="of number" href="{link}">#{session.number}</a>']
    if session.has_warnings:
        counts = {"flag_failed": len(session.failed), "flag_blocked": len(session.open_blockers)}
        warned = [
            say(f"view_sessions.{key}", count=count) for key, count in counts.items() if count
        ]
        flag = " · ".join(warned) or say("view_sessions.kind_warned")
        parts.append(f'<span class="flag"><b>!</b> {as_line(flag)}</span>')
    status = as_line(status_text(session.status))
    parts.append(f'<span class="kind">{status}</span>')
    if session.archive:
        parts.append(f'<span class="kind">{as_line(say("view_sessions.archived"))}</span>')
    if session.agent:
        parts.append(f"<span>{as_name(session.agent)}</span>")
    parts += [_tag(tag) for tag in session.tags]
    day = day_of(session.updated_at)
    dated = f'<time datetime="{day}">{day}</time>' if day[0] != "?" else day
    parts.append(f'<span class="link">{dated}</span>')
    return f'<p class="about">{" ".join(parts)}</p>'


def _tag(tag: str) -> str:
    sought = quote(tag, safe="", errors="backslashreplace")
    return f'<a class="of" href="#q={as_line(sought)}&amp;type=session">{as_name(tag)}</a>'


def _before_and_after(item: Item) -> list[str]:
    """Return the line that says which session this one continues, and which continue it."""
    parts = []
    if item.before:
        parts.append(f"↳ {as_line(say('view_sessions.continues'))} {_number(item.before)}")
    if item.after:
        numbers = ", ".join(map(_number, item.after))
        parts.append(f"{as_line(say('view_sessions.continued'))} {numbers}")
    return [f'<p class="facts line">{" · ".join(parts)}</p>'] if parts else []


def _number(link: Link) -> str:
    if not link.is_shown:
        return f"#{link.number}"
    return f'<a href="#{anchor_of(link.number)}" title="{as_line(link.goal)}">#{link.number}</a>'


def _details(item: Item) -> list[str]:
    """Return what a session opens to. In a list of terms, where the search looks for texts."""
    session = item.session
    if session.archive:
        note = say("view_sessions.in_archive", number=session.number)
        texts = [_term("summary", session.summary, "")] if session.summary.strip() else []
        told = ["<dl>", *texts, "</dl>"] if texts else []
        return [*told, f'<p class="soft">{as_line(note)}</p>']
    counts = {
        "count_decisions": len(session.decisions),
        "count_approaches": len(session.approaches),
        "count_blockers": len(session.blockers),
        "count_files": len(session.changes.modified_files),
        "count_actions": len(item.actions) + item.earlier_actions,
    }
    counted = [say(f"view_sessions.{key}", count=count) for key, count in counts.items() if count]
    title = " · ".join(counted) or say("view_sessions.details")
    return [
        f'<dl class="opens"><div><dt>{as_line(say("view_sessions.details"))}</dt><dd>',
        f'<details id="show={anchor_of(session.number)}"><summary>{as_line(title)}</summary>',
        "<dl>",
        *(_term(key, text, why) for key, text, why in _texts(session)),
        *_files(session),
        "</dl>",
        _facts(session),
        *_actions(item),
        "</details></dd></div></dl>",
    ]


def _texts(session: Session) -> Iterator[Texts]:
    """Yield the texts of a session, those that warn before those that went well."""
    if session.summary.strip():
        yield "summary", session.summary, ""
    for blocker in session.blockers:
        key = "resolved" if blocker.resolved else "open"
        yield key, blocker.description, blocker.resolution
    for decision in session.decisions:
        yield "decision", decision.what, decision.why
    for approach in sorted(session.approaches, key=lambda it: it.result != "failed"):
        key = approach.result if approach.result in OUTCOMES else "tried"
        yield key, approach.description, approach.reason
    if session.changes.summary.strip():
        yield "changes", session.changes.summary, ""


def _term(key: str, text: str, why: str) -> str:
    """Return one text under its label. why: the reason or the resolution, "" for none."""
    told = [f'<dd class="text" {spoken(text)}>{as_code(as_text(text))}</dd>']
    if why.strip():
        told.append(f'<dd class="text why" {spoken(why)}>{as_code(as_text(why))}</dd>')
    return (
        f'<div class="{key}"><dt>{as_line(say("view_sessions." + key))}</dt>{" ".join(told)}</div>'
    )


def _files(session: Session) -> list[str]:
    files = ", ".join(f"<code>{as_line(it)}</code>" for it in session.changes.modified_files)
    label = as_line(say("view_sessions.files"))
    return [f'<div><dt>{label}</dt><dd class="text">{files}</dd></div>'] if files else []


def _facts(session: Session) -> str:
    """Return when a session began and ended."""
    parts = [say("view_sessions.started", date=day_of(session.started_at))]
    parts += [say("view_sessions.ended", date=day_of(session.ended_at))] if session.ended_at else []
    return f'<p class="facts">{as_line(" · ".join(parts))}</p>'


def _actions(item: Item) -> list[str]:
    """Return the commands, edits and errors of a session, folded."""
    if not item.actions:
        return []
    count = len(item.actions) + item.earlier_actions
    title = f"{say('view_sessions.actions')} {count:,}"
    if errors := sum(action.kind == "error" for action in item.actions):
        title += " · " + say("view_sessions.count_errors", count=errors)
    lines = [f'<details class="actions"><summary>{as_line(title)}</summary>', "<ol>"]
    if item.earlier_actions:
        number = item.session.number
        note = say("view_sessions.earlier", count=item.earlier_actions, number=number)
        lines.append(f'<li class="soft">{as_line(note)}</li>')
    lines += [_action(action) for action in item.actions]
    return [*lines, "</ol></details>"]


def _action(action: Action) -> str:
    kind = say(f"view_sessions.{action.kind}") if action.kind in KINDS else action.kind
    where = f"{action.content} {action.file_path}" if action.kind == LESSON else action.content
    content = as_line(shortened(where, ACTION_CHARS))
    told = result_of(action, "view_sessions")
    result = "" if told == "success" else as_line(shortened(told, RESULT_CHARS))
    ended = f' <span class="result">{result}</span>' if result else ""
    known = f' class="{action.kind}"' if has_sentence(f"view_sessions.{action.kind}") else ""
    return (
        f'<li{known}><span class="kind">{as_line(kind)}</span> '
        f'<code dir="auto">{content}</code>{ended}</li>'
    )
