"""Writes the cards of fragments: what each says, what it is worth, and what it is linked to."""

import math
from collections.abc import Iterable
from urllib.parse import quote

from commands.view.escaping import as_line, as_name, as_text, spoken
from commands.view.fragments.collection import MOST_TIES, Item, Tie
from commands.view.records import as_code
from core.guard.injection import HIDDEN_TEXT
from core.lessons.record import seconds_of
from core.lessons.record_text import day_of
from core.messages import has_sentence, say
from core.text.plain import one_line
from rooms.fragments.fragment import Version
from rooms.fragments.kinds import KINDS, RELATIONS

BRIEF_CHARS = 90  # of a fragment where another names it
METER = 36  # units of width for an importance of 1


def kinds_of(item: Item) -> list[str]:
    """Return by what a reader can filter a fragment."""
    fragment = item.fragment
    found = {
        "fragment": True,
        fragment.kind: fragment.kind in KINDS,
        "pinned": fragment.is_anchor,
        "superseded": bool(fragment.superseded_at),
        "linked": bool(item.ties),
        "public": fragment.privacy == "public",
        "suspect": bool(item.marks),
    }
    return [kind for kind, has in found.items() if has]


def card(item: Item) -> list[str]:
    """Return the lines of a fragment."""
    fragment, anchor = item.fragment, item.anchor
    moment = fragment.updated_at or fragment.created_at
    moment_s = seconds_of(moment)
    data = {
        "kinds": " ".join(kinds_of(item)),
        "agent": fragment.agent,
        "day": day_of(moment),
        "at": str(int(moment_s)) if math.isfinite(moment_s) else "0",
        "seen": "0",
        "names": item.name,
    }
    told = " ".join(f'data-{name}="{as_line(value)}"' for name, value in data.items())
    looks = ["fragment", *([fragment.kind] if fragment.kind in KINDS else [])]
    looks += ["superseded"] if fragment.superseded_at else []
    return [
        f'<article id="{anchor}" class="{" ".join(looks)}" {told}'
        f' aria-labelledby="{anchor}-content" tabindex="-1">',
        _about(item),
        *_notices(item),
        f'<p class="lesson text" id="{anchor}-content" {spoken(fragment.content)}>'
        f"{as_code(as_text(fragment.content))}</p>",
        *_keywords(item),
        *_ties(item.ties),
        f'<p class="facts">{" · ".join(_facts(item))}</p>',
        *_versions(item),
        "</article>",
    ]


def _brief_link(item: Item) -> str:
    """Return a link to a fragment, with the beginning of what it says."""
    text = one_line(item.fragment.content)
    short = text if len(text) <= BRIEF_CHARS else text[: BRIEF_CHARS - 1].rstrip() + "…"
    return f'<a href="#{item.anchor}" {spoken(text)}>{as_code(as_line(short))}</a>'


def _kind_text(kind: str) -> str:
    """Return a kind in the words of the page; one of another program as it is."""
    return say(f"view_fragments.{kind}") if kind in KINDS else kind


def _relation_text(relation: str, *, is_from: bool) -> str:
    """Return a relation as one end says it; one of another program as it is."""
    key = f"{'to' if is_from else 'from'}_{relation}"
    return say(f"view_fragments.{key}") if has_sentence(f"view_fragments.{key}") else relation


def _about(item: Item) -> str:
    """Return the line above a text: topic, kind, what is special, and a link to the fragment."""
    fragment = item.fragment
    parts = [
        _sought(fragment.topic),
        f'<span class="kind"><span class="what">{as_line(say("view_fragments.fragment"))} · </span>'
        f"{as_line(_kind_text(fragment.kind))}</span>",
    ]
    if fragment.is_anchor:
        parts.append(f'<span class="pin">{as_line(say("view_fragments.pinned"))}</span>')
    if fragment.privacy in ("public", "team"):
        parts.append(f"<span>{as_line(say(f'view_fragments.{fragment.privacy}'))}</span>")
    if fragment.lifetime == "working":
        parts.append(f"<span>{as_line(say('view_fragments.working'))}</span>")
    last = _day(fragment.updated_at or fragment.created_at)
    parts.append(f'<a class="link" href="#{item.anchor}">{last}</a>')
    return f'<p class="about">{" ".join(parts)}</p>'


def _notices(item: Item) -> list[str]:
    """Return what a reader has to know first: that it is superseded, that it reads like orders."""
    lines, fragment = [], item.fragment
    if item.marks:
        is_hidden = item.marks == (HIDDEN_TEXT,)
        key = "answers.hidden_text" if is_hidden else "answers.reads_like"
        told = say(key, marks=", ".join(item.marks))
        lines.append(f'<p class="warning">{as_line(told)}</p>')
    if fragment.superseded_at:
        date = day_of(fragment.superseded_at)
        links = ", ".join(_brief_link(it) for it in item.successors[:MOST_TIES])
        name = "superseded_by_these" if links else "superseded"
        name = "promoted" if fragment.promoted else name
        told = say(f"view_fragments.{name}", date=date, record=fragment.record_id)
        lines.append(f'<p class="replaced">{as_line(told)} {links}</p>')
    return lines


def _keywords(item: Item) -> list[str]:
    """Return the keywords, each a link to all that has it. The topic is there already."""
    keywords = [it for it in item.fragment.keywords if it.strip() and it != item.fragment.topic]
    if not keywords:
        return []
    label, links = say("view_fragments.keywords"), " ".join(map(_sought, keywords))
    return [f'<p class="about keywords" aria-label="{as_line(label)}">{links}</p>']


def _sought(text: str) -> str:
    """Return a link to the fragments that have a word."""
    sought = quote(text, safe="", errors="backslashreplace")
    return f'<a class="of" href="#q={as_line(sought)}&amp;type=fragment">{as_name(text)}</a>'


def _ties(ties: Iterable[Tie]) -> list[str]:
    """Return the fragments that are linked, by relation; its successor stands above."""
    told = [it for it in ties if not (it.is_from and it.relation == "superseded_by")]
    groups = dict[tuple[str, bool], list[Item]]()
    for tie in told[:MOST_TIES]:
        groups.setdefault((tie.relation, tie.is_from), []).append(tie.other)
    if not groups:
        return []
    lines = [
        f'<div class="{relation if relation in RELATIONS else "related"}"><dt>'
        f"{as_line(_relation_text(relation, is_from=is_from))}</dt>"
        + "".join(f"<dd>{_brief_link(it)}</dd>" for it in items)
        + "</div>"
        for (relation, is_from), items in groups.items()
    ]
    more = len(told) - MOST_TIES
    note = [f'<p class="soft">{as_line(say("view_fragments.more_links", count=more))}</p>']
    return ['<dl class="ties">', *lines, "</dl>", *(note if more > 0 else ())]


def _facts(item: Item) -> list[str]:
    """Return what it is worth, how it is used, where it comes from, and its id to copy."""
    fragment = item.fragment
    parts = [_importance(fragment.importance)]
    parts.append(as_line(say("view_fragments.tier", tier=fragment.tier)))
    if fragment.access_count:
        key, date = "used_once" if fragment.access_count == 1 else "used", fragment.accessed_at
        told = say(f"view_fragments.{key}", count=fragment.access_count, date=day_of(date))
    else:
        told = say("view_fragments.never_used")
    parts.append(as_line(told))
    if fragment.expires_at:
        parts.append(as_line(say("view_fragments.expires", date=day_of(fragment.expires_at))))
    if fragment.agent:
        parts.append(as_name(fragment.agent))
    if fragment.source.strip():
        parts.append(f"{as_line(say('view_fragments.source'))} {as_name(fragment.source)}")
    if item.name:
        name, label = as_line(item.name), as_line(say("view.copy"))
        parts.append(
            f'<button type="button" class="id" data-copy="{name}" title="{label} {name}">'
            f"<code>{name}</code></button>"
        )
    return parts


def _importance(importance: float) -> str:
    """Return the importance as a bar and as a figure."""
    worth = min(max(importance, 0.0), 1.0) if math.isfinite(importance) else 0.0
    return (
        f'<svg class="worth" width="{METER}" height="6" aria-hidden="true">'
        f'<path d="M0 3H{METER}"/><path class="full" d="M0 3H{METER * worth:.0f}"/></svg>'
        f"{as_line(say('view_fragments.importance'))} {worth:.2f}"
    )


def _versions(item: Item) -> list[str]:
    """Return what it said before, folded."""
    if not item.version_count:
        return []
    title = as_line(say("view_fragments.versions", count=item.version_count))
    lines = [f'<details class="versions"><summary>{title}</summary><ol>']
    lines += [_version(it) for it in item.versions]
    if more := item.version_count - len(item.versions):
        note = as_line(say("view_fragments.earlier_versions", count=more))
        lines.append(f'<li class="soft">{note}</li>')
    return [*lines, "</ol></details>"]


def _version(version: Version) -> str:
    facts = [as_line(say("view_fragments.version", date=day_of(version.amended_at)))]
    facts.append(as_line(_kind_text(version.kind)))
    if version.topic.strip():
        facts.append(as_name(version.topic))
    if version.amended_by:
        facts.append(f"{as_line(say('view_fragments.amended_by'))} {as_name(version.amended_by)}")
    return (
        f'<li><p class="text" {spoken(version.content)}>'
        f"{as_code(as_text(version.content))}</p>"
        f'<p class="facts">{" · ".join(facts)}</p></li>'
    )


def _day(moment: str) -> str:
    day = day_of(moment)
    return f'<time datetime="{day}">{day}</time>' if day[0] != "?" else day
