"""Writes sessions as one page of HTML, in which texts stay texts.

It has no script and loads nothing, its policy allows only its own style, and hidden characters are
spelled out.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from core.messages import language, say
from core.text.plain import LINE_ENDS, one_line, printable
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

_BEGINS = f"<!doctype html>\n<!-- {MARK}:"
_END = "</main>\n</body>\n</html>\n"
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


@cache
def _style() -> str:
    return files("rooms.sessions.exchange").joinpath("page.css").read_text(encoding="utf-8")


def _begin(head: Head) -> str:
    """Return the page up to its first session."""
    title = escape(one_line(say("sessions.exchange.title", project=head.project)))
    intro = say("sessions.exchange.intro", count=head.count, date=head.exported[:10])
    if not head.count:
        intro = say("sessions.exchange.none")
    style = _style()
    allowed = f"sha256-{base64.b64encode(sha256(style.encode('utf-8')).digest()).decode('ascii')}"
    policy = f"default-src 'none'; style-src '{allowed}'; base-uri 'none'; form-action 'none'"
    lines = [
        f"{_BEGINS} the next export may replace this file -->",
        f'<html lang="{language()}">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f"<header><h1>{title}</h1>",
        f"<p>{escape(intro)}</p></header>",
        "<main>",
    ]
    return "\n".join([*lines, ""])


def _session(whole: Whole, head: Head) -> str:
    session = whole.session
    lines = [
        f'<article id="s{session.number}">',
        _facts(whole),
        f"<h2 {_spoken(session.goal)}>{_line(session.goal)}</h2>",
    ]
    if session.summary.strip():
        lines.append(_text_element("p", session.summary))
    for name, items in _sections(session):
        lines += [f"<h3>{escape(say(f'sessions.exchange.{name}'))}</h3>", "<ul>", *items, "</ul>"]
    if whole.actions:
        label = f"{say('sessions.exchange.actions')} ({len(whole.actions):,})"
        lines.append(f"<details><summary>{escape(label)}</summary>")
        lines.append("<ul>")
        for action in whole.actions:
            start = f"<time>{_line(action.created_at[:16].replace('T', ' '))}</time>"
            kind = _line(kind_of(action))
            told = ended(action)
            result = f" → {_line(told)}" if told else ""
            done = f"<code>{_block(done_in(action))}</code>"
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
            parts.append(f"<span>{_line(fact)}</span>")
    parts += [f'<span class="tag"><bdi>{_line(tag)}</bdi></span>' for tag in whole.session.tags]
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
    changes = [f"<li><code>{_line(path)}</code></li>" for path in session.changes.modified_files]
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
    rest = _text_element("p", more) if more.strip() else ""
    return f"<li>{first}{_text_element('span', text)}{rest}</li>"


def _end(head: Head, left_out: int) -> str:
    note = say("sessions.exchange.left_out", count=left_out, suffix="html") if left_out else ""
    return f"{f'<p>{escape(note)}</p>' if note else ''}{_END}"


def _text_element(tag: str, text: str) -> str:
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


HTML = Form((".html", ".htm"), _BEGINS, _begin, _session, _end)
