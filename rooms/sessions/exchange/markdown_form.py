"""Writes sessions as Markdown, in which no text becomes a heading, a link, a table or a tag."""

from collections.abc import Iterable, Iterator

from core.lessons.record_text import minute_of
from core.messages import say
from core.text.plain import as_code, escaped_lines, heading, inline, listed, one_line, started
from rooms.sessions.exchange.document import (
    MARK,
    Form,
    Head,
    Whole,
    done_in,
    ended,
    facts_of,
    kind_of,
    outcome,
)
from rooms.sessions.session import Session

_BEGINS = f"<!-- {MARK}:"


def _begin(head: Head) -> str:
    intro = say("sessions.exchange.intro", count=head.count, date=head.exported[:10])
    lines = [
        f"{_BEGINS} the next export may replace this file -->",
        f"# {heading(say('sessions.exchange.title', project=head.project))}",
        "",
        intro if head.count else say("sessions.exchange.none"),
    ]
    return "\n".join([*lines, ""])


def _session(whole: Whole, head: Head) -> str:
    session = whole.session
    lines = ["", f"## \\#{session.number} {heading(session.goal)}", ""]
    facts = [inline(one_line(fact)) for fact in facts_of(whole)]
    tags = [as_code(one_line(tag)) for tag in session.tags]
    lines.append("; ".join([*facts, *([", ".join(tags)] if tags else ())]).replace("#", "\\#"))
    if paragraph := escaped_lines(session.summary):
        lines += ["", *(f"{line}\\" for line in paragraph[:-1]), paragraph[-1]]
    for name, items in _sections(session):
        lines += ["", f"### {say(f'sessions.exchange.{name}')}", "", *items]
    if whole.actions:
        lines += ["", f"### {say('sessions.exchange.actions')}", ""]
        for action in whole.actions:
            start = " ".join((minute_of(action.created_at), kind_of(action)))
            told = one_line(ended(action))
            result = f" → {inline(told)}" if told else ""
            done = as_code(one_line(done_in(action)))
            lines.append(f"- {started(inline(one_line(start).strip()))}: {done}{result}")
    return "\n".join([*lines, ""])


def _sections(session: Session) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a session that it has: the key of the heading, and the lines."""
    parts: list[tuple[str, Iterable[list[str]]]] = [
        ("decisions", (_item(it.what, "why", it.why) for it in session.decisions)),
        (
            "approaches",
            (
                _item(it.description, "reason", it.reason, outcome(it.result))
                for it in session.approaches
            ),
        ),
        (
            "blockers",
            (
                _item(
                    it.description,
                    "resolution",
                    it.resolution,
                    say("sessions.exchange.resolved" if it.resolved else "sessions.exchange.open"),
                )
                for it in session.blockers
            ),
        ),
        ("changes", _changes(session)),
    ]
    for name, items in parts:
        if lines := [line for item in items for line in item]:
            yield name, lines


def _item(text: str, label: str, more: str, state: str = "") -> list[str]:
    lines = listed(f"- **{state}**: " if state else "- ", escaped_lines(text))
    if more.strip():
        lines += listed(f"  - {say(f'sessions.exchange.{label}')}: ", escaped_lines(more))
    return lines


def _changes(session: Session) -> list[list[str]]:
    changes = session.changes
    files = [started(as_code(one_line(path).strip())) for path in changes.modified_files]
    lines = [[f"- {path}"] for path in files]
    if changes.summary.strip():
        lines.insert(0, listed("- ", escaped_lines(changes.summary)))
    return lines


def _end(head: Head, left_out: int) -> str:
    return (
        f"\n{say('sessions.exchange.left_out', count=left_out, suffix='md')}\n" if left_out else ""
    )


MARKDOWN = Form((".md", ".markdown"), _BEGINS, _begin, _session, _end)
