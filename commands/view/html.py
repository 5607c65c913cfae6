"""Writes the page of a memory as one file of HTML that loads nothing and keeps texts texts.

It reads its style and script from files beside this one. The page's policy allows these two, by
their hashes, and nothing else.
"""

import base64
import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from commands.view.escaping import as_line, as_name, spoken
from commands.view.page import Entry, Page, Topic
from commands.view.plot import Series, plot
from commands.view.records import as_code, entry_lines, kinds_of
from commands.view.words import word
from core.lessons.answers.rendering import day_of, topic_text
from core.lessons.record import seconds_of
from core.messages import Language

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")

KINDS = ("all", "principle", "log", "open", "again", "marked")

_HEAD = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{style_hash}'; \
script-src '{script_hash}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
"""


def page_html(page: Page, lang: Language) -> str:
    """Return the document: figures first, then the records by topic."""
    style, script = _asset("view.css"), _asset("view.js")
    head = _HEAD.format(
        lang=lang,
        title=as_line(word(lang, "title", project=page.project)),
        style=style,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    lines = [
        f'<a class="skip" href="#records">{as_line(word(lang, "skip"))}</a>',
        *_masthead(page, lang),
        *_search(page, lang),
        '<div class="columns">',
        *_contents(page.topics, lang),
        "<main>",
        *(_glance(page, lang) if page.topics else ()),
        *_records(page, lang),
        "</main>",
        "</div>",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return head + "".join(f"{line}\n" for line in lines)


@cache
def _asset(name: str) -> str:
    return files("commands.view").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a text as a Content Security Policy names it."""
    return "sha256-" + base64.b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def _masthead(page: Page, lang: Language) -> list[str]:
    before, after = word(lang, "title", project="\0").split("\0")
    state = page.compaction
    counts = {"principles": state.principles, "logs": page.log.count - state.principles}
    about = word(lang, "about", topics=len(page.topics), date=day_of(page.now), **counts)
    notes = [word(lang, note) for note in page.notes]
    if page.log.hidden:
        notes.append(word(lang, "hidden", count=len(page.log.hidden)))
    if page.log.unsettled:
        notes.append(word(lang, "unsettled", count=len(page.log.unsettled)))
    if page.log.conflicts:
        notes.append(word(lang, "conflicts", conflicts=page.log.conflicts))
    if page.log.skipped:
        notes.append(word(lang, "skipped", skipped=page.log.skipped))
    return [
        '<header class="masthead">',
        f"<h1>{as_line(before)}{as_name(page.project)}{as_line(after)}</h1>",
        f'<p class="soft">{_sentence(about if page.topics else word(lang, "empty"))}</p>',
        *(f'<p class="note">{as_line(note)}</p>' for note in notes),
        *_settings(lang),
        "</header>",
    ]


def _sentence(text: str) -> str:
    """Return one of our sentences; no date in it breaks at a hyphen."""
    return _DATE.sub(r'<span class="date">\g<0></span>', as_line(text))


def _settings(lang: Language) -> list[str]:
    """Return colours and keys, hidden until the script runs."""
    keys = {"/": "key_search", "j, k": "key_next", "↓": "key_down", "Esc": "key_clear"}
    return [
        '<div class="settings live" hidden>',
        f'<label class="soft">{as_line(word(lang, "theme"))} <select id="theme">',
        *(
            f'<option value="{theme}">{as_line(word(lang, f"theme_{theme}"))}</option>'
            for theme in ("auto", "light", "dark")
        ),
        "</select></label>",
        f'<details class="keys"><summary>{as_line(word(lang, "keys"))}</summary><ul>',
        *(f"<li><kbd>{key}</kbd> {as_line(word(lang, name))}</li>" for key, name in keys.items()),
        '<li><label><input type="checkbox" id="shortcuts" checked>'
        f" {as_line(word(lang, 'keys_on'))} (/, j, k)</label></li>",
        "</ul></details>",
        "</div>",
    ]


def _search(page: Page, lang: Language) -> list[str]:
    label = as_line(word(lang, "search"))
    found = word(lang, "found", shown="{shown}", count="{count}")
    return [
        f'<div class="search live" role="search" aria-label="{label}" hidden>',
        "<div>",
        f'<input type="search" id="query" autocomplete="off" spellcheck="false"'
        f' aria-label="{label}" placeholder="{as_line(word(lang, "search_hint"))}">',
        *_kinds(page, lang),
        f'<output id="found" for="query" data-some="{as_line(found)}"></output>',
        "</div>",
        "</div>",
    ]


def _kinds(page: Page, lang: Language) -> list[str]:
    """Return a choice for each kind of record that there is."""
    there = {kind for entry in page.entries for kind in kinds_of(entry, lang)}
    lines = [f'<fieldset class="kinds"><legend>{as_line(word(lang, "kinds"))}</legend>']
    for kind in KINDS:
        if kind == "all" or kind in there:
            checked = " checked" if kind == "all" else ""
            lines.append(
                f'<label><input type="radio" name="kind" value="{kind}"{checked}>'
                f"<span>{as_line(word(lang, f'kind_{kind}'))}</span></label>"
            )
    return [*lines, "</fieldset>"]


def _contents(topics: Sequence[Topic], lang: Language) -> list[str]:
    label = as_line(word(lang, "topics"))
    links = [
        f'<li><a href="#{topic.anchor}">{as_name(topic.name)}</a>'
        f' <span class="soft" data-count="{topic.anchor}">{len(topic.entries)}</span></li>'
        for topic in topics
    ]
    return [
        f'<nav class="contents" aria-label="{label}">',
        *(
            [f"<details open><summary>{label}</summary><ul>", *links, "</ul></details>"]
            if links
            else ()
        ),
        "</nav>",
    ]


def _glance(page: Page, lang: Language) -> list[str]:
    return [
        '<section id="glance" aria-labelledby="glance-title">',
        f'<h2 id="glance-title">{as_line(word(lang, "glance"))}</h2>',
        *_tiles(page, lang),
        *_plots(page, lang),
        *_last_compaction(page, lang),
        *_listed("questions", [(it, it.record.ask_next_time) for it in page.questions], lang),
        *_listed("again", [(it, _again(it, lang)) for it in page.came_back], lang),
        "</section>",
    ]


def _tiles(page: Page, lang: Language) -> list[str]:
    state, search, threshold = page.compaction, page.search, page.frame.threshold
    need = "required" if state.need == "required" else "of_threshold"
    part = word(lang, "cost_part", tokens=search.whole_tokens)
    moments = (entry.record.updated or entry.record.created for entry in page.entries)
    last = max(moments, key=seconds_of, default="")
    compacted = word(lang, "last_compacted_on", date=day_of(state.last)) if state.last else ""
    replaced = word(lang, "replaced", count=state.replaced) if state.replaced else ""
    questions = word(lang, "questions_why") if page.questions else ""
    again = word(lang, "again_why") if page.came_back else ""
    tiles = [
        ("records", f"{page.log.count:,}", word(lang, need, threshold=threshold)),
        ("principles", f"{state.principles:,}", replaced),
        ("cost", f"{search.tokens:,}", word(lang, "cost_all") if search.shows_all else part),
        ("questions", f"{len(page.questions):,}", questions),
        ("again", f"{len(page.came_back):,}", again),
        ("last", day_of(last), compacted or word(lang, "never_compacted")),
    ]
    return [
        '<dl class="tiles">',
        *(
            f"<div><dt>{as_line(word(lang, key))}</dt>"
            f"<dd>{figure}</dd><dd>{_sentence(why)}</dd></div>"
            for key, figure, why in tiles
        ),
        "</dl>",
    ]


def _plots(page: Page, lang: Language) -> list[str]:
    dates = [point.date for point in page.growth]
    records = Series(
        name="records",
        title=word(lang, "plot_records"),
        label=word(lang, "records"),
        dates=dates,
        values=[point.records for point in page.growth],
        part=[point.principles for point in page.growth],
        part_label=word(lang, "principles"),
    )
    tokens = Series(
        name="tokens",
        title=word(lang, "plot_tokens"),
        label=word(lang, "tokens"),
        dates=dates,
        values=[point.tokens for point in page.growth],
        beside=[point.size for point in page.growth],
        beside_label=word(lang, "size"),
    )
    lines = ['<div class="plots">', *plot(records, lang), *plot(tokens, lang), "</div>"]
    if not page.is_from_git:
        lines.append(f'<p class="soft">{as_line(word(lang, "plot_today"))}</p>')
    return lines


def _last_compaction(page: Page, lang: Language) -> list[str]:
    if not page.last_compacted:
        return []
    replaced = sum(entry.record.source_count or 0 for entry in page.last_compacted)
    date, principles = day_of(page.compaction.last), len(page.last_compacted)
    title = word(lang, "last_compaction", date=date, principles=principles, count=replaced)
    return _folded(title, [(entry, entry.record.lesson) for entry in page.last_compacted], lang)


def _again(entry: Entry, lang: Language) -> str:
    record = entry.record
    seen = word(lang, "seen", count=record.seen)
    return f"{seen}: {record.missing_context.strip() or record.lesson}"


def _listed(name: str, items: Sequence[tuple[Entry, str]], lang: Language) -> list[str]:
    return _folded(word(lang, f"listed_{name}", count=len(items)), items, lang) if items else []


def _folded(title: str, items: Sequence[tuple[Entry, str]], lang: Language) -> list[str]:
    """Return a list of links to records, each with its topic and a text."""
    return [
        f'<details class="listed"><summary>{_sentence(title)}</summary><ul>',
        *(
            f'<li><a href="#{entry.anchor}">{as_name(topic_text(entry.record.topic))}</a>'
            f" <span {spoken(text, lang)}>{as_code(as_line(text))}</span></li>"
            for entry, text in items
        ),
        "</ul></details>",
    ]


def _records(page: Page, lang: Language) -> list[str]:
    lines = ['<section id="records" aria-labelledby="records-title" tabindex="-1">']
    hidden = "" if page.topics else " hidden"  # nothing would stand below it
    lines.append(f'<h2 id="records-title"{hidden}>{as_line(word(lang, "records"))}</h2>')
    for topic in page.topics:
        lines.append(f'<section class="topic" id="{topic.anchor}">')
        lines.append(
            f"<h3 {spoken(topic.name, lang)}>{as_name(topic.name)}"
            f' <span class="soft" data-count="{topic.anchor}">{len(topic.entries)}</span></h3>'
        )
        for entry in topic.entries:
            kinds = " ".join(kinds_of(entry, lang))
            lines.append(
                f'<article id="{entry.anchor}" class="{entry.record.type}" data-kinds="{kinds}"'
                f' aria-labelledby="{entry.anchor}-lesson" tabindex="-1">'
            )
            lines += [*entry_lines(entry, lang), "</article>"]
        lines.append("</section>")
    return [
        *lines,
        f'<p class="nothing" id="nothing" hidden>{as_line(word(lang, "nothing"))}'
        f' <button type="button" id="clear">{as_line(word(lang, "clear"))}</button></p>',
        "</section>",
    ]
