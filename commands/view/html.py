"""Writes the page of a memory as one file of HTML that loads nothing and keeps texts texts.

It reads its style and script from files beside this one. The page's policy allows these two, by
their hashes, and nothing else.
"""

import base64
import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files

from commands.view.escaping import as_line, as_name
from commands.view.page import Page
from commands.view.part import Figure, Part
from commands.view.records import kinds_of
from commands.view.sections import again, beginning, newest, records
from commands.view.statistics import statistics
from commands.view.words import word
from core.lessons.answers.rendering import day_of
from core.lessons.record import seconds_of
from core.messages import Language
from core.text import matching

STYLES = ("view.css", "record.css", "print.css")
SCRIPTS = ("matching.js", "address.js", "view.js", "keys.js", "plot.js")
KINDS = ("principle", "log", "open", "again", "marked")
ORDERS = ("best", "newest", "oldest", "seen")
KEYS = {
    "/": "key_search",
    "j k": "key_next",
    "↓ Enter": "key_down",
    "Esc": "key_clear",
    "?": "key_keys",
}

Groups = Mapping[str, Mapping[str, str]]  # titles, and what can be chosen below, by its value

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")

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


def page_html(page: Page, lang: Language, version: str = "", part: Part | None = None) -> str:
    """Return the document: the newest records first, then all of them by topic, then the part."""
    style, script = _assets(*STYLES), _tables() + _assets(*SCRIPTS)
    if part:
        style, script = f"{style}\n{part.style}", f"{script}\n{part.script}"
    head = _HEAD.format(
        lang=lang,
        title=as_line(word(lang, "title", project=page.project)),
        style=style,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    copied = as_line(word(lang, "copied", text="{text}"))
    also = "lesson" if part else ""  # so that a reader can choose the lessons alone
    overview = [*newest(page, lang), *again(page, lang), *records(page, lang, also)]
    beside = part.section if part else ()
    lines = [
        f'<a class="skip" href="#records">{as_line(word(lang, "skip"))}</a>',
        *_masthead(page, lang, part),
        *_search(page, lang, part),
        '<main id="records" tabindex="-1">',
        *_results(lang, part),
        '<div id="overview">',
        *(overview if page.topics else beginning(lang)),
        *beside,
        *(statistics(page, lang) if page.topics else ()),
        "</div>",
        "</main>",
        *_keys(lang, part),
        f"<footer>{_sentence(_made(page, version, lang))}</footer>",
        f'<p class="toast" role="status" data-copied="{copied}"></p>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return head + "".join(f"{line}\n" for line in lines)


@cache
def _assets(*names: str) -> str:
    """Return these files as one text."""
    folder = files("commands.view")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


@cache
def _tables() -> str:
    """Return the words and letters that the search of the terminal knows, for that of the page."""
    tables = json.dumps(matching.tables(), ensure_ascii=False, separators=(",", ":"))
    return '"use strict";\nconst TABLES = ' + tables.replace("<", "\\u003c") + ";\n"


def _hash(text: str) -> str:
    """Return the hash of a text as a Content Security Policy names it."""
    return "sha256-" + base64.b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def _made(page: Page, version: str, lang: Language) -> str:
    return word(lang, "made", version=version, date=day_of(page.now))


def _word(lang: Language, key: str, part: Part | None) -> str:
    """Return a sentence of the page, as it reads beside the part."""
    return part.words.get(key) or word(lang, key) if part else word(lang, key)


def _masthead(page: Page, lang: Language, part: Part | None) -> list[str]:
    before, after = word(lang, "title", project="\0").split("\0")
    notes = [word(lang, note) for note in page.notes]
    if page.log.hidden:
        notes.append(word(lang, "hidden", count=len(page.log.hidden)))
    if page.log.unsettled:
        notes.append(word(lang, "unsettled", count=len(page.log.unsettled)))
    if page.log.conflicts:
        notes.append(word(lang, "conflicts", conflicts=page.log.conflicts))
    if page.log.skipped:
        notes.append(word(lang, "skipped", skipped=page.log.skipped))
    if page.compaction.need == "required":
        notes.append(word(lang, "required", threshold=page.frame.threshold))
    return [
        '<header class="masthead">',
        '<div class="title">',
        f"<h1>{as_line(before)}{as_name(page.project)}{as_line(after)}</h1>",
        f'<button type="button" id="help" class="live" aria-haspopup="dialog" hidden>'
        f"{as_line(word(lang, 'keys'))} <kbd>?</kbd></button>",
        "</div>",
        *(_figures(page, lang, part) if page.topics or part else ()),
        *(f'<p class="note">{as_line(note)}</p>' for note in notes),
        "</header>",
    ]


def _figures(page: Page, lang: Language, part: Part | None) -> list[str]:
    """Return the figures of the memory in one line; one that counts records leads to them."""
    moments = (entry.record.updated or entry.record.created for entry in page.entries)
    last = day_of(max(moments, key=seconds_of, default=""))
    figures = [
        Figure(word(lang, "records"), page.log.count, "topics"),
        Figure(word(lang, "principles"), page.compaction.principles, "topics", "type=principle"),
        Figure(word(lang, "again"), len(page.came_back), "again", "type=again"),
        Figure(word(lang, "questions"), len(page.questions), "topics", "type=open"),
        Figure(word(lang, "topics"), len(page.topics), "topics"),
        *(part.figures if part else ()),
    ]
    lines = []
    for label, count, target, state in figures:
        figure = f"{as_line(label)} <b>{count:,}</b>"
        to = f' data-to="{state}"' if state else ""
        lines.append(f'<li><a href="#{target}"{to}>{figure}</a></li>' if count else "")
    if page.topics:
        lines.append(f"<li>{as_line(word(lang, 'last'))} <b>{last}</b></li>")
    return ['<ul class="figures">', *filter(None, lines), "</ul>"]


def _sentence(text: str) -> str:
    """Return one of our sentences; no date in it breaks at a hyphen."""
    return _DATE.sub(r'<span class="date">\g<0></span>', as_line(text))


def _search(page: Page, lang: Language, part: Part | None) -> list[str]:
    label = as_line(word(lang, "search"))
    found = word(lang, "found", shown="{shown}", count="{count}")
    return [
        f'<div class="search live" role="search" aria-label="{label}" hidden>',
        "<div>",
        '<div class="field">',
        f'<input type="search" id="query" autocomplete="off" spellcheck="false"'
        f' aria-label="{label}" placeholder="{as_line(_word(lang, "search_hint", part))}">',
        '<button type="button" id="more-filters" aria-expanded="false" aria-controls="filters">'
        f"{as_line(word(lang, 'filters'))}</button>",
        "</div>",
        *_filters(page, lang, part),
        '<p class="found">'
        f'<output id="found" for="query" data-some="{as_line(found)}"></output>'
        f' <button type="button" id="clear" hidden>{as_line(word(lang, "clear"))}</button></p>',
        "</div>",
        "</div>",
    ]


def _filters(page: Page, lang: Language, part: Part | None) -> list[str]:
    """Return the choices of type, author, date and order; only what is there can be chosen."""
    there = {kind for entry in page.entries for kind in kinds_of(entry, lang)}
    every = {"": word(lang, "kind_all")}
    kinds = {it: word(lang, f"kind_{it}") for it in KINDS if it in there}
    names = sorted({it.added.author for it in page.entries if it.added}, key=str.casefold)
    authors = {name: name for name in names}
    everybody = {"": _word(lang, "author_all", part)}
    orders = {it if it != "best" else "": word(lang, f"sort_{it}") for it in ORDERS}
    types: Groups = {"": every | kinds}
    makers: Groups = {"": everybody | authors}
    if part:
        lessons, own, people, agents = part.titles
        lesson = {"lesson": part.words["kind_lesson"]} if page.topics else {}
        types = {"": every, lessons: lesson | kinds, own: part.kinds}
        makers = {"": everybody, people: authors, agents: part.makers}
    return [
        '<div id="filters">',
        *_choice("type", word(lang, "choose_type"), types),
        *(
            _choice("author", _word(lang, "choose_author", part), makers)
            if names or (part and part.makers)
            else ()
        ),
        f'<label class="since">{as_line(word(lang, "since"))}'
        f' <input type="date" id="since" max="{day_of(page.now)}"></label>',
        *_choice("sort", word(lang, "choose_sort"), {"": orders}),
        "</div>",
    ]


def _choice(name: str, label: str, groups: Groups) -> list[str]:
    """Return a list to choose from; a group without a title stands as it is."""
    lines = [f'<select id="{name}" aria-label="{as_line(label)}">']
    for title, options in groups.items():
        listed = [
            f'<option value="{as_line(value)}">{as_line(text)}</option>'
            for value, text in options.items()
        ]
        if title and listed:
            listed = [f'<optgroup label="{as_line(title)}">', *listed, "</optgroup>"]
        lines += listed
    return [*lines, "</select>"]


def _results(lang: Language, part: Part | None) -> list[str]:
    """Return the place of what is found, which the script fills."""
    title, nothing = (as_line(_word(lang, key, part)) for key in ("results", "nothing"))
    loose = as_line(word(lang, "loose", count="{count}"))
    return [
        '<section id="results" aria-labelledby="results-title" hidden>',
        f'<h2 id="results-title">{title}</h2>',
        '<div id="found-records"></div>',
        f'<p class="nothing" id="nothing" hidden>{nothing}</p>',
        f'<p id="near" hidden>{as_line(word(lang, "near"))} <span></span></p>',
        f'<p id="loose" hidden><a href="#records" data-more="{loose}"></a></p>',
        f'<p><button type="button" id="next" hidden>{as_line(word(lang, "next"))}</button></p>',
        "</section>",
    ]


def _keys(lang: Language, part: Part | None) -> list[str]:
    """Return the dialog of keys and colours."""
    themes = "".join(
        f'<option value="{theme}">{as_line(word(lang, f"theme_{theme}"))}</option>'
        for theme in ("auto", "light", "dark")
    )
    own = dict(part.keys) if part else {}
    keys = {key: word(lang, name) for key, name in KEYS.items()} | own
    single = ["/", "j", "k", "?", *own]
    return [
        '<dialog id="keys" aria-labelledby="keys-title">',
        f'<h2 id="keys-title">{as_line(word(lang, "keys"))}</h2>',
        '<dl class="keys">',
        *(
            "<div><dt>"
            + " ".join(f"<kbd>{key}</kbd>" for key in names.split())
            + f"</dt><dd>{as_line(told)}</dd></div>"
            for names, told in keys.items()
        ),
        "</dl>",
        '<p><label><input type="checkbox" id="shortcuts" checked>'
        f" {as_line(word(lang, 'keys_on'))} ({', '.join(single)})</label></p>",
        f"<p><label>{as_line(word(lang, 'theme'))}"
        f' <select id="theme">{themes}</select></label></p>',
        f'<form method="dialog"><button>{as_line(word(lang, "close"))}</button></form>',
        "</dialog>",
    ]
