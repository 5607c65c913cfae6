"""Writes sessions as one page of HTML without a script, in which texts stay texts."""

from collections.abc import Iterable, Iterator
from html import escape

from core.messages import say
from core.room.documents import END, begins_with, block, head_of, line, spoken, text_element
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

_BEGINS = begins_with(MARK)


def _begin(head: Head) -> str:
    intro = say("sessions.exchange.intro", count=head.count, date=head.exported[:10])
    title = say("sessions.exchange.title", project=head.project)
    return head_of(MARK, title, intro if head.count else say("sessions.exchange.none"))


def _session(whole: Whole, head: Head) -> str:
    session = whole.session
    lines = [
        f'<article id="s{session.number}">',
        _facts(whole),
        f"<h2 {spoken(session.goal)}>{line(session.goal)}</h2>",
    ]
    if session.summary.strip():
        lines.append(text_element("p", session.summary))
    for name, items in _sections(session):
        lines += [f"<h3>{escape(say(f'sessions.exchange.{name}'))}</h3>", "<ul>", *items, "</ul>"]
    if whole.actions:
        label = f"{say('sessions.exchange.actions')} ({len(whole.actions):,})"
        lines.append(f"<details><summary>{escape(label)}</summary>")
        lines.append("<ul>")
        for action in whole.actions:
            start = f"<time>{line(action.created_at[:16].replace('T', ' '))}</time>"
            kind = line(kind_of(action))
            told = ended(action)
            result = f" → {line(told)}" if told else ""
            done = f"<code>{block(done_in(action))}</code>"
            lines.append(f"<li>{start} {kind}: {done}{result}</li>")
        lines += ["</ul>", "</details>"]
    return "\n".join([*lines, "</article>", ""])


def _facts(whole: Whole) -> str:
    number = whole.session.number
    parts = [f'<a class="number" href="#s{number}">#{number}</a>']
    for fact in facts_of(whole):
        name = f"#{whole.parent}"
        if whole.parent and fact == say("sessions.exchange.continues", name=name):
            link = f'<a href="#s{whole.parent}">{name}</a>'
            parts.append(f"<span>{escape(fact).replace(name, link)}</span>")
        else:
            parts.append(f"<span>{line(fact)}</span>")
    parts += [f'<span class="tag"><bdi>{line(tag)}</bdi></span>' for tag in whole.session.tags]
    return f'<p class="facts">{" ".join(parts)}</p>'


def _sections(session: Session) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a session that it has: the key of the heading, and the items."""
    approaches = (
        _item(it.description, it.reason, outcome(it.result), warns=it.result == "failed")
        for it in session.approaches
    )
    blockers = (
        _item(
            it.description,
            it.resolution,
            say("sessions.exchange.resolved" if it.resolved else "sessions.exchange.open"),
            warns=not it.resolved,
        )
        for it in session.blockers
    )
    changes = [f"<li><code>{line(path)}</code></li>" for path in session.changes.modified_files]
    if session.changes.summary.strip():
        changes.insert(0, _item(session.changes.summary, ""))
    parts: list[tuple[str, Iterable[str]]] = [
        ("decisions", (_item(it.what, it.why) for it in session.decisions)),
        ("approaches", approaches),
        ("blockers", blockers),
        ("changes", changes),
    ]
    for name, items in parts:
        if lines := list(items):
            yield name, lines


def _item(text: str, more: str, state: str = "", *, warns: bool = False) -> str:
    kind = "state warn" if warns else "state"
    first = f'<span class="{kind}">{escape(state)}</span> ' if state else ""
    rest = text_element("p", more) if more.strip() else ""
    return f"<li>{first}{text_element('span', text)}{rest}</li>"


def _end(head: Head, left_out: int) -> str:
    note = say("sessions.exchange.left_out", count=left_out, suffix="html") if left_out else ""
    return f"{f'<p>{escape(note)}</p>' if note else ''}{END}"


HTML = Form((".html", ".htm"), _BEGINS, _begin, _session, _end)
