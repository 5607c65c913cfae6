"""Writes the cards of the page: a record whole or in brief."""

import math
import re

from commands.documents.facts import labelled
from commands.hook.journal import KEPT_DAYS
from commands.view.escaping import as_line, as_name, as_text, spoken
from commands.view.page import Entry, topic_anchor
from core.lessons.record import seconds_of
from core.lessons.record_text import day_of, topic_text, warning
from core.messages import say

SHORT_ID = 8

_CODE = re.compile("(?<!`)`([^`\n]+)`(?!`)")


def kinds_of(entry: Entry) -> list[str]:
    """Return by what a reader can filter a record: its type, and what deserves a look."""
    record = entry.record
    found = {
        record.type: True,
        "open": record.ask_next_time.strip(),
        "again": record.seen > 1,
        "marked": warning(record),
    }
    return [kind for kind, has in found.items() if has]


def card(entry: Entry, also: str = "") -> list[str]:
    """Return the lines of a record with all that is known of it.

    also: a further word by which a reader can filter every record.
    """
    record = entry.record
    last = record.updated or record.created
    moment_s = seconds_of(last)
    data = {
        "kinds": " ".join([*kinds_of(entry), *([also] if also else [])]),
        "day": day_of(last),
        "at": str(int(moment_s)) if math.isfinite(moment_s) else "0",
        "seen": str(record.seen),
        "names": " ".join((entry.token, record.created, record.updated, *record.source_ids)),
    }
    told = " ".join(f'data-{name}="{as_line(value)}"' for name, value in data.items())
    return [
        f'<article id="{entry.anchor}" class="{record.type}" {told}'
        f' aria-labelledby="{entry.anchor}-lesson" tabindex="-1">',
        _about(entry),
        *_texts(entry, f"{entry.anchor}-lesson"),
        *_more(entry),
        "</article>",
    ]


def brief(entry: Entry) -> list[str]:
    """Return the lines of a record in brief; its date leads to the whole."""
    return [
        f'<article class="brief {entry.record.type}" aria-labelledby="new-{entry.anchor}"'
        ' tabindex="-1">',
        _about(entry),
        *_texts(entry, f"new-{entry.anchor}"),
        "</article>",
    ]


def topic_link(name: str) -> str:
    """Return a link to a topic, which works without the script, too."""
    return f'<a class="of" href="#{as_line(topic_anchor(name))}">{as_name(topic_text(name))}</a>'


def as_code(text: str) -> str:
    """Turn what stands between backticks in HTML into code."""
    return _CODE.sub(r"<code>\1</code>", text)


def _about(entry: Entry) -> str:
    """Return the line above a lesson: topic, kind, how often it came back, and a link to it."""
    record = entry.record
    parts = [topic_link(record.topic)]
    if record.type == "principle":
        kind = say("view.principle")
        if record.source_count:
            kind += " · " + say("view.merged", count=record.source_count)
        parts.append(f'<span class="kind">{as_line(kind)}</span>')
    if record.seen > 1:
        seen = as_line(say("view.seen", count=record.seen))
        parts.append(f'<span class="again">{seen}</span>')
    last = _day(record.updated or record.created)
    parts.append(f'<a class="link" href="#{entry.anchor}">{last}</a>')
    return f'<p class="about">{" ".join(parts)}</p>'


def _texts(entry: Entry, name: str) -> list[str]:
    """Return what a record says: its lesson, what was missing, and what to ask.

    name: the id of the lesson in the document.
    """
    record, lines = entry.record, list[str]()
    if notice := warning(record):
        lines.append(f'<p class="warning">{as_line(notice)}</p>')
    lines.append(
        f'<p class="lesson text" id="{name}" {spoken(record.lesson)}>'
        f"{as_code(as_text(record.lesson))}</p>"
    )
    texts = [
        f"<div><dt>{as_line(label)}</dt>"
        f'<dd class="text" {spoken(text)}>{as_code(as_text(text))}</dd></div>'
        for label, text in labelled(record)
    ]
    return [*lines, *(["<dl>", *texts, "</dl>"] if texts else ())]


def _more(entry: Entry) -> list[str]:
    """Return what stands below the texts of a record: files, triggers, and facts."""
    record, lines = entry.record, list[str]()
    places = [
        f"<div><dt>{as_line(say(f'documents.{name}'))}</dt>"
        f"<dd>{', '.join(f'<code>{as_line(it)}</code>' for it in given)}</dd></div>"
        for name, given in (("paths", record.paths), ("when", record.when))
        if given
    ]
    if places:
        lines += ['<dl class="places">', *places, "</dl>"]
    return [*lines, f'<p class="facts">{" · ".join(_facts(entry))}</p>']


def _facts(entry: Entry) -> list[str]:
    """Return when a record was saved, how often hooks showed it, and its id to copy."""
    record = entry.record
    key = "compacted" if record.source_count else "saved"
    parts = [f"{as_line(say(f'view.{key}'))} {_day(record.compacted_at or record.created)}"]
    if record.updated:
        parts.append(f"{as_line(say('view.updated'))} {_day(record.updated)}")
    if entry.reach is not None:
        parts.append(as_line(say("view.reach", count=entry.reach, days=KEPT_DAYS)))
    return [*parts, _id(entry)]


def _id(entry: Entry) -> str:
    """Return the beginning of the id, which a click copies whole."""
    if not entry.token:
        return f"<code>{as_line(say('answers.no_token'))}</code>"
    token, label = as_line(entry.token), as_line(say("view.copy"))
    short = as_line(entry.token[:SHORT_ID])
    return (
        f'<button type="button" class="id" data-copy="{token}" title="{label} {token}">'
        f"<code>{short}</code></button>"
    )


def _day(moment: str) -> str:
    day = day_of(moment)
    return f'<time datetime="{day}">{day}</time>' if day[0] != "?" else day
