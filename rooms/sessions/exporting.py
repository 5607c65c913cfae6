"""Gives sessions out as one document: Markdown or HTML for people, JSON to be imported again.

In Markdown no text becomes a heading, a link, a table or a tag. In HTML texts stay texts: the page
has no script, loads nothing, and its policy allows only its own style.
"""

import base64
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.lessons.record import utc_now
from core.lessons.record_text import minute_of
from core.messages import language, say
from core.room.documents import CONFIG_NAME, Target, as_json
from core.room.redaction import without_secrets
from core.text.plain import (
    LINE_ENDS,
    Budget,
    as_code,
    escaped_lines,
    heading,
    inline,
    listed,
    one_line,
    printable,
    shown_path,
    started,
)
from rooms.sessions.rows import actions_of, sessions_where
from rooms.sessions.search import bound_of
from rooms.sessions.session import Action, ExchangeError, NoSuchSessionError, Session
from rooms.sessions.store import CURRENT, SessionStore, resolve, shown_name

FormName = Literal["markdown", "json", "html"]
MARK = "sentinel-memory-sessions"  # in the first line of each form: an export may replace it
VERSION = 1  # of the JSON

_SAVED = "coalesce(nullif(updated_at, ''), created_at)"
_OWN = frozenset((CONFIG_NAME, CURRENT))
_PLAIN = re.compile(r"[0-9TZ:+. -]*|ctx_[0-9a-f]{12}|[a-z]{1,12}")  # dates, our ids, our words
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")
_COMMENT = f"<!-- {MARK}:"
_JSON_BEGINS = f'{{"format": "{MARK}", "version": '


@dataclass(frozen=True, slots=True)
class Head:
    """What a document says of itself. exported: the moment, in ISO 8601."""

    project: str
    count: int
    exported: str


class Whole(NamedTuple):
    """A session with its actions. parent: the number of the one it continues, 0 for none."""

    session: Session
    actions: Sequence[Action]
    parent: int = 0


class Form(NamedTuple):
    """One form of document, which is written piece by piece.

    begins: with what every document of it begins, also after years. between: what stands between
    two sessions. end: gets how many sessions were left out.
    """

    suffixes: tuple[str, ...]
    begins: str
    begin: Callable[[Head], str]
    session: Callable[[Whole], str]
    end: Callable[[int], str]
    between: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    """A document. text: of it, "" if it is in a file; path: of that, from the project's root.

    count: of its sessions; left_out: of those for which an answer has no room, as it says itself.
    """

    text: str
    path: str
    count: int
    left_out: int = 0


class Cleaned(NamedTuple):
    """A session with its actions, and the kind of each secret that was taken out of them."""

    session: Session
    actions: list[Action]
    redacted: tuple[str, ...] = ()


def cleaned(session: Session, actions: Sequence[Action]) -> Cleaned:
    """Return a session without secrets; one that any of its texts gives away goes from all."""
    (done, others), kinds = without_secrets((session, tuple(actions)), _PLAIN)
    return Cleaned(done, list(others), kinds)


def export(
    store: SessionStore,
    form: FormName,
    *,
    since: str = "",
    until: str = "",
    names: Sequence[str] = (),
    output: str = "",
) -> Exported:
    """Return sessions as one document, those saved last first, or write them to a file.

    since, until: days or moments in ISO 8601, both included, of the last save. names: numbers or
    ids, () for all. output: a file in the project, "" to return the text; that keeps to the budget
    of one answer, with whole sessions or none, and says how many it leaves out. Raises
    SessionsError, ExchangeError, and what the store raises.
    """
    written = FORMS[form]
    target = _target_of(store.root, output, written, form) if output else None
    with chosen(store, since, until, names) as (count, wholes):
        head = Head(store.root.name, count, utc_now())
        if target:
            target.write(_pieces(wholes, written, head))
            return Exported("", target.relative, count)
        budget = Budget(store.settings.budget_tokens, store.settings.budget_chars)
        begin, taken = written.begin(head), list[str]()
        budget.spend(begin)
        budget.spend(written.end(count))
        for whole in wholes:
            text = written.session(whole)
            if not budget.take(text):
                break
            taken.append(text)
    left_out = count - len(taken)
    text = begin + written.between.join(taken) + written.end(left_out)
    return Exported(text, "", len(taken), left_out)


@contextmanager
def chosen(
    store: SessionStore, since: str, until: str, names: Sequence[str]
) -> Iterator[tuple[int, Iterator[Whole]]]:
    """Yield how many sessions fit, and these without secrets, as of one moment.

    Raises SessionsError.
    """
    conditions, values = list[str](), list[str]()
    if first := bound_of("from", since):
        conditions.append(f"{_SAVED} >= ?")
        values.append(first)
    if last := bound_of("to", until):  # a day with all of its moments
        conditions.append(f"substr({_SAVED}, 1, {len(last)}) <= ?")
        values.append(last)
    with store.database.reading() as connection:
        if connection is None:
            for name in names:
                raise NoSuchSessionError(name=shown_name(name))
            yield 0, iter(())
            return
        statement = f"SELECT number FROM contexts WHERE {' AND '.join(conditions) or '1'}"
        rows = connection.execute(f"{statement} ORDER BY {_SAVED} DESC, number DESC", values)
        numbers = [number for (number,) in rows]
        if names:
            wanted = {resolve(connection, name).number for name in names}
            numbers = [number for number in numbers if number in wanted]
        yield len(numbers), (whole_of(connection, number) for number in numbers)


def whole_of(connection: sqlite3.Connection, number: int) -> Whole:
    """Return the session of a number with its actions, without secrets."""
    [session] = sessions_where(connection, "number = ?", (number,))
    statement = "SELECT number FROM contexts WHERE id = ?"
    parent = connection.execute(statement, (session.parent_id,)).fetchone()
    clean = cleaned(session, actions_of(connection, session.id))
    return Whole(clean.session, clean.actions, parent[0] if parent else 0)


def _pieces(wholes: Iterable[Whole], form: Form, head: Head) -> Iterator[str]:
    yield form.begin(head)
    between = ""
    for whole in wholes:
        yield between + form.session(whole)
        between = form.between
    yield form.end(0)


def _target_of(root: Path, output: str, form: Form, name: str) -> Target:
    """Return the file that an export may become. Raises ExchangeError.

    root: of the project. name: of the form, for a sentence.
    """

    def refused(key: str, **facts: str) -> ExchangeError:
        suffix, suffixes = form.suffixes[0].lstrip("."), ", ".join(form.suffixes)
        about = {"path": shown_path(output), "form": name, "suffix": suffix, "suffixes": suffixes}
        return ExchangeError(key, **about, **facts)

    return Target(
        root, output, suffixes=form.suffixes, begins=form.begins, refused=refused, own=_OWN
    )


# What the forms for people are made of


class _Entry(NamedTuple):
    """One thing of a session. more: a reason or a solution, and label, what it is; state: how it
    went, in a word. is_code: a path. warns: something failed or is open.
    """

    text: str
    label: str = ""
    more: str = ""
    state: str = ""
    is_code: bool = False
    warns: bool = False


def outcome(result: str) -> str:
    """Return how an approach went, in the reader's language."""
    return say(f"sessions.exchange.{result if result in ('success', 'failed') else 'partial'}")


def _facts(whole: Whole) -> list[str]:
    """Return what is known of a session beside its texts, a few words each, unescaped."""
    session = whole.session
    began = session.started_at[:10]
    facts = list[str]()
    if began not in ("", session.date):
        facts.append(say("sessions.exchange.started", date=began))
    facts += [say("sessions.exchange.saved", date=session.date), session.status, session.agent]
    if whole.parent:
        facts.append(say("sessions.exchange.continues", name=f"#{whole.parent}"))
    return [fact for fact in facts if fact]


def _sections(session: Session) -> Iterator[tuple[str, list[_Entry]]]:
    """Yield the parts of a session that it has: the heading, and the entries."""
    states = {it: say(f"sessions.exchange.{it}") for it in ("open", "resolved")}
    changes = session.changes
    parts = {
        "decisions": [_Entry(it.text, "why", it.why) for it in session.decisions],
        "approaches": [
            _Entry(it.text, "reason", it.why, outcome(it.result), warns=it.result == "failed")
            for it in session.approaches
        ],
        "blockers": [
            _Entry(
                it.text,
                "resolution",
                it.why,
                states["resolved" if it.is_resolved else "open"],
                warns=not it.is_resolved,
            )
            for it in session.blockers
        ],
        "changes": [
            *([_Entry(changes.summary)] if changes.summary.strip() else ()),
            *(_Entry(path, is_code=True) for path in changes.modified_files),
        ],
    }
    for name, entries in parts.items():
        if entries:
            yield say(f"sessions.exchange.{name}"), entries


# Markdown


def _begin_markdown(head: Head) -> str:
    intro = say("sessions.exchange.intro", count=head.count, date=head.exported[:10])
    lines = [
        f"{_COMMENT} the next export may replace this file -->",
        f"# {heading(say('sessions.exchange.title', project=head.project))}",
        "",
        intro if head.count else say("sessions.exchange.none"),
    ]
    return "\n".join([*lines, ""])


def _as_markdown(whole: Whole) -> str:
    session = whole.session
    lines = ["", f"## \\#{session.number} {heading(session.goal)}", ""]
    facts = [inline(one_line(fact)) for fact in _facts(whole)]
    tags = [as_code(one_line(tag)) for tag in session.tags]
    lines.append("; ".join([*facts, *([", ".join(tags)] if tags else ())]).replace("#", "\\#"))
    if paragraph := escaped_lines(session.summary):
        lines += ["", *(f"{line}\\" for line in paragraph[:-1]), paragraph[-1]]
    for title, entries in _sections(session):
        lines += ["", f"### {title}", ""]
        for entry in entries:
            lines += _markdown_entry(entry)
    if whole.actions:
        lines += ["", f"### {say('sessions.exchange.actions')}", ""]
        for action in whole.actions:
            start = " ".join((minute_of(action.created_at), action.kind_name))
            end = one_line(action.end)
            result = f" → {inline(end)}" if end else ""
            done = as_code(one_line(action.done))
            lines.append(f"- {started(inline(one_line(start).strip()))}: {done}{result}")
    return "\n".join([*lines, ""])


def _markdown_entry(entry: _Entry) -> list[str]:
    if entry.is_code:
        return [f"- {started(as_code(one_line(entry.text).strip()))}"]
    state = f"**{entry.state}**: " if entry.state else ""
    lines = listed(f"- {state}", escaped_lines(entry.text))
    if entry.more.strip():
        label = say(f"sessions.exchange.{entry.label}")
        lines += listed(f"  - {label}: ", escaped_lines(entry.more))
    return lines


def _end_markdown(left_out: int) -> str:
    note = say("sessions.exchange.left_out", count=left_out, suffix="md")
    return f"\n{note}\n" if left_out else ""


# HTML


@cache
def _style() -> str:
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def _begin_html(head: Head) -> str:
    """Return the page up to its first session."""
    title = escape(one_line(say("sessions.exchange.title", project=head.project)))
    intro = say("sessions.exchange.intro", count=head.count, date=head.exported[:10])
    digest = base64.b64encode(sha256(_style().encode("utf-8")).digest()).decode("ascii")
    own = f"style-src 'sha256-{digest}'"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    lines = [
        f"<!doctype html>\n{_COMMENT} the next export may replace this file -->",
        f'<html lang="{language()}">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}</title>\n<style>{_style()}</style>\n</head>\n<body>",
        f"<header><h1>{title}</h1>",
        f"<p>{escape(intro if head.count else say('sessions.exchange.none'))}</p></header>",
        "<main>",
    ]
    return "\n".join([*lines, ""])


def _as_html(whole: Whole) -> str:
    session = whole.session
    lines = [
        f'<article id="s{session.number}">',
        _html_facts(whole),
        f"<h2 {_spoken(session.goal)}>{_line(session.goal)}</h2>",
    ]
    if session.summary.strip():
        lines.append(_element("p", session.summary))
    for title, entries in _sections(session):
        lines += [f"<h3>{escape(title)}</h3>", "<ul>", *map(_html_entry, entries), "</ul>"]
    if whole.actions:
        label = f"{say('sessions.exchange.actions')} ({len(whole.actions):,})"
        lines.append(f"<details><summary>{escape(label)}</summary>\n<ul>")
        for action in whole.actions:
            start = f"<time>{_line(action.created_at[:16].replace('T', ' '))}</time>"
            result = f" → {_line(action.end)}" if action.end else ""
            done = f"<code>{_block(action.done)}</code>"
            lines.append(f"<li>{start} {_line(action.kind_name)}: {done}{result}</li>")
        lines.append("</ul>\n</details>")
    return "\n".join([*lines, "</article>", ""])


def _html_facts(whole: Whole) -> str:
    number, parent = whole.session.number, f"#{whole.parent}"
    parts = [f'<a class="number" href="#s{number}">#{number}</a>']
    continues = say("sessions.exchange.continues", name=parent)
    for fact in _facts(whole):
        text = _line(fact)
        if whole.parent and fact == continues:
            text = text.replace(parent, f'<a href="#s{whole.parent}">{parent}</a>')
        parts.append(f"<span>{text}</span>")
    parts += [f'<span class="tag"><bdi>{_line(tag)}</bdi></span>' for tag in whole.session.tags]
    return f'<p class="facts">{" ".join(parts)}</p>'


def _html_entry(entry: _Entry) -> str:
    if entry.is_code:
        return f"<li><code>{_line(entry.text)}</code></li>"
    kind = "state warn" if entry.warns else "state"
    state = f'<span class="{kind}">{escape(entry.state)}</span> ' if entry.state else ""
    more = _element("p", entry.more) if entry.more.strip() else ""
    return f"<li>{state}{_element('span', entry.text)}{more}</li>"


def _end_html(left_out: int) -> str:
    note = say("sessions.exchange.left_out", count=left_out, suffix="html")
    said = f"<p>{escape(note)}</p>" if left_out else ""
    return f"{said}</main>\n</body>\n</html>\n"


def _element(tag: str, text: str) -> str:
    """Return an element with a text of somebody, all of its lines."""
    return f'<{tag} class="text" {_spoken(text)}>{_block(text)}</{tag}>'


def _line(text: str) -> str:
    """Return a text as one line."""
    return escape(one_line(text))


def _block(text: str) -> str:
    """Return a text with its line ends, a lone carriage return among them."""
    return escape("\n".join(map(printable, LINE_ENDS.split(text.strip("\r\n")))))


def _spoken(text: str) -> str:
    """Return the attributes for direction and language of an element with this text."""
    own = "ko" if _HANGUL.search(text) else "en"
    return 'dir="auto"' if own == language() else f'dir="auto" lang="{own}"'


# JSON: the declared `context` objects with their actions, to be imported


def context_of(whole: Whole) -> dict[str, Any]:
    """Return the declared object of a session, with its last change and its actions."""
    session = whole.session
    former = [it.as_json() for it in session.former]
    return {
        **session.as_json(),
        "updatedAt": session.updated_at,
        **({"former": former} if former else {}),
        "actions": [action.as_json() for action in whole.actions],
    }


def _begin_json(head: Head) -> str:
    facts = {"project": head.project, "exported": head.exported, "count": head.count}
    return f'{_JSON_BEGINS}{VERSION}, {as_json(facts)[1:-1]}, "contexts": ['


def _as_json(whole: Whole) -> str:
    return f"\n{as_json(context_of(whole))}"


def _end_json(left_out: int) -> str:
    if not left_out:
        return "\n]}\n"
    note = say("sessions.exchange.left_out", count=left_out, suffix="json")
    return f'\n], "leftOut": {left_out}, "note": {as_json(note)}}}\n'


FORMS: Mapping[FormName, Form] = {
    "markdown": Form((".md", ".markdown"), _COMMENT, _begin_markdown, _as_markdown, _end_markdown),
    "html": Form(
        (".html", ".htm"), f"<!doctype html>\n{_COMMENT}", _begin_html, _as_html, _end_html
    ),
    "json": Form((".json",), _JSON_BEGINS, _begin_json, _as_json, _end_json, between=","),
}
