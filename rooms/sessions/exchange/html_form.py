"""Writes sessions as one page of HTML without a script, in which texts stay texts.

It loads nothing, and its policy allows only its own style. Hidden characters are spelled out.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from core.messages import Language
from core.text.printable import LINE_ENDS, one_line, printable
from rooms.sessions.exchange.document import (
    MARK,
    Form,
    Head,
    Whole,
    done_in,
    facts_of,
    kind_of,
    outcome,
)
from rooms.sessions.exchange.words import say
from rooms.sessions.session import Session

_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")
_BEGINS = f"<!doctype html>\n<!-- {MARK}:"


@cache
def _style() -> str:
    return files("rooms.sessions.exchange").joinpath("page.css").read_text(encoding="utf-8")


def _begin(head: Head) -> str:
    title = escape(one_line(say(head.lang, "title", project=head.project)))
    intro = say(head.lang, "intro", count=head.count, date=head.exported[:10])
    style = _style()
    allowed = f"sha256-{base64.b64encode(sha256(style.encode('utf-8')).digest()).decode('ascii')}"
    policy = f"default-src 'none'; style-src '{allowed}'; base-uri 'none'; form-action 'none'"
    lines = [
        f"{_BEGINS} the next export may replace this file -->",
        f'<html lang="{head.lang}">',
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
        f"<p>{escape(intro if head.count else say(head.lang, 'none'))}</p></header>",
        "<main>",
    ]
    return "\n".join([*lines, ""])


def _session(whole: Whole, head: Head) -> str:
    session, lang = whole.session, head.lang
    lines = [
        f'<article id="s{session.number}">',
        _facts(whole, lang),
        f"<h2 {_spoken(session.goal, lang)}>{_line(session.goal)}</h2>",
    ]
    if session.summary.strip():
        lines.append(_text("p", session.summary, lang))
    for name, items in _sections(session, lang):
        lines += [f"<h3>{escape(say(lang, name))}</h3>", "<ul>", *items, "</ul>"]
    if whole.actions:
        label = f"{say(lang, 'actions')} ({len(whole.actions):,})"
        lines.append(f"<details><summary>{escape(label)}</summary>")
        lines.append("<ul>")
        for action in whole.actions:
            start = f"<time>{_line(action.created_at[:16].replace('T', ' '))}</time>"
            kind = _line(kind_of(action, lang))
            result = f" → {_line(action.result)}" if action.result else ""
            done = f"<code>{_block(done_in(action))}</code>"
            lines.append(f"<li>{start} {kind}: {done}{result}</li>")
        lines += ["</ul>", "</details>"]
    return "\n".join([*lines, "</article>", ""])


def _facts(whole: Whole, lang: Language) -> str:
    number = whole.session.number
    parts = [f'<a class="number" href="#s{number}">#{number}</a>']
    for fact in facts_of(whole, lang):
        name = f"#{whole.parent}"
        if whole.parent and fact == say(lang, "continues", name=name):
            link = f'<a href="#s{whole.parent}">{name}</a>'
            parts.append(f"<span>{escape(fact).replace(name, link)}</span>")
        else:
            parts.append(f"<span>{_line(fact)}</span>")
    parts += [f'<span class="tag"><bdi>{_line(tag)}</bdi></span>' for tag in whole.session.tags]
    return f'<p class="facts">{" ".join(parts)}</p>'


def _sections(session: Session, lang: Language) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a session that it has: the key of the heading, and the items."""
    approaches = (
        _item(
            it.description, it.reason, lang, outcome(it.result, lang), warns=it.result == "failed"
        )
        for it in session.approaches
    )
    blockers = (
        _item(
            it.description,
            it.resolution,
            lang,
            say(lang, "resolved" if it.resolved else "open"),
            warns=not it.resolved,
        )
        for it in session.blockers
    )
    changes = [f"<li><code>{_line(path)}</code></li>" for path in session.changes.modified_files]
    if session.changes.summary.strip():
        changes.insert(0, _item(session.changes.summary, "", lang))
    parts: list[tuple[str, Iterable[str]]] = [
        ("decisions", (_item(it.what, it.why, lang) for it in session.decisions)),
        ("approaches", approaches),
        ("blockers", blockers),
        ("changes", changes),
    ]
    for name, items in parts:
        if lines := list(items):
            yield name, lines


def _item(text: str, more: str, lang: Language, state: str = "", *, warns: bool = False) -> str:
    kind = "state warn" if warns else "state"
    first = f'<span class="{kind}">{escape(state)}</span> ' if state else ""
    rest = _text("p", more, lang) if more.strip() else ""
    return f"<li>{first}{_text('span', text, lang)}{rest}</li>"


def _text(tag: str, text: str, lang: Language) -> str:
    return f'<{tag} class="text" {_spoken(text, lang)}>{_block(text)}</{tag}>'


def _line(text: str) -> str:
    return escape(one_line(text))


def _block(text: str) -> str:
    """Return a text with its line ends, a lone carriage return among them."""
    return escape("\n".join(map(printable, LINE_ENDS.split(text.strip("\r\n")))))


def _spoken(text: str, lang: Language) -> str:
    """Return the attributes for direction and language of an element with this text."""
    own = "ko" if _HANGUL.search(text) else "en"
    return 'dir="auto"' if own == lang else f'dir="auto" lang="{own}"'


def _end(head: Head, left_out: int) -> str:
    note = say(head.lang, "left_out", count=left_out, suffix="html") if left_out else ""
    return f"{f'<p>{escape(note)}</p>' if note else ''}</main>\n</body>\n</html>\n"


HTML = Form((".html", ".htm"), _BEGINS, _begin, _session, _end)
