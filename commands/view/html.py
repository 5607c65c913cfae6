"""Writes the page of a memory as one file of HTML that loads nothing and keeps texts texts.

It reads its style and script from files beside this one. The page's policy allows these two, by
their hashes, and nothing else.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from commands.view.escaping import as_line, as_name
from commands.view.page import Page
from commands.view.part import Figure, Part
from commands.view.records import kinds_of
from commands.view.sections import again, beginning, newest, records
from core.lessons.record import seconds_of
from core.lessons.record_text import day_of
from core.messages import language, say

STYLES = ("view.css", "record.css", "print.css")
SCRIPT = "view.js"
KINDS = ("principle", "log", "open", "again", "marked")
ORDERS = ("newest", "oldest", "seen")
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


def page_html(page: Page, version: str = "", parts: Sequence[Part] = ()) -> str:
    """Return the document: the newest records first, then all of them by topic, then the parts."""
    style = "\n".join([_assets(*STYLES), *(part.style for part in parts)])
    script = _assets(SCRIPT)
    head = _HEAD.format(
        lang=language(),
        title=as_line(say("view.title", project=page.project)),
        style=style,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    copied = as_line(say("view.copied", text="{text}"))
    also = "lesson" if parts else ""  # so that a reader can choose the lessons alone
    overview = [*newest(page), *again(page), *records(page, also)]
    lines = [
        f'<a class="skip" href="#records">{as_line(say("view.skip"))}</a>',
        *_masthead(page, parts),
        *_search(page, parts),
        '<main id="records" tabindex="-1">',
        *_results(parts),
        '<div id="overview">',
        *(overview if page.topics else beginning()),
        *(line for part in parts for line in part.section),
        "</div>",
        "</main>",
        *_keys(parts),
        f"<footer>{_sentence(_made(page, version))}</footer>",
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


def _hash(text: str) -> str:
    """Return the hash of a text as a Content Security Policy names it."""
    return "sha256-" + base64.b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def _made(page: Page, version: str) -> str:
    return say("view.made", version=version, date=day_of(page.now))


def _word(key: str, parts: Sequence[Part]) -> str:
    """Return a sentence of the page; beside others than lessons it reads otherwise."""
    if not parts:
        return say(f"view.{key}")
    *names, last = (say("view.of_lessons"), *(part.name for part in parts))
    return say(f"view.{key}_beside", names=say("view.and", names=", ".join(names), last=last))


def _masthead(page: Page, parts: Sequence[Part]) -> list[str]:
    before, after = say("view.title", project="\0").split("\0")
    notes = list[str]()
    if page.log.hidden:
        notes.append(say("view.hidden", count=len(page.log.hidden)))
    if page.log.unsettled:
        notes.append(say("view.unsettled", count=len(page.log.unsettled)))
    if page.log.conflicts:
        notes.append(say("view.conflicts", conflicts=page.log.conflicts))
    if page.log.skipped:
        notes.append(say("view.skipped", skipped=page.log.skipped))
    if page.compaction.need == "required":
        notes.append(say("view.required", threshold=page.frame.settings.threshold))
    return [
        '<header class="masthead">',
        '<div class="title">',
        f"<h1>{as_line(before)}{as_name(page.project)}{as_line(after)}</h1>",
        f'<button type="button" id="help" class="live" aria-haspopup="dialog" hidden>'
        f"{as_line(say('view.keys'))} <kbd>?</kbd></button>",
        "</div>",
        *(_figures(page, parts) if page.topics or parts else ()),
        *(f'<p class="note">{as_line(note)}</p>' for note in notes),
        "</header>",
    ]


def _figures(page: Page, parts: Sequence[Part]) -> list[str]:
    """Return the figures of the memory in one line; one that counts records leads to them."""
    moments = (entry.record.updated or entry.record.created for entry in page.entries)
    last = day_of(max(moments, key=seconds_of, default=""))
    figures = [
        Figure(say("view.records"), page.log.count, "topics"),
        Figure(say("view.principles"), page.compaction.principles, "topics", "type=principle"),
        Figure(say("view.again"), len(page.came_back), "again", "type=again"),
        Figure(say("view.questions"), len(page.questions), "topics", "type=open"),
        Figure(say("view.topics"), len(page.topics), "topics"),
    ]
    saved = f"<li>{as_line(say('view.last'))} <b>{last}</b></li>"
    return [
        '<ul class="figures">',
        *map(_figure, filter(_has_any, figures)),
        *([saved] if page.topics else ()),
        *(_figure(it) for part in parts for it in filter(_has_any, part.figures)),
        "</ul>",
    ]


def _has_any(figure: Figure) -> bool:
    return figure.number > 0


def _figure(figure: Figure) -> str:
    """Return a figure as a link to what it counts."""
    to = f' data-to="{figure.state}"' if figure.state else ""
    told = f"{as_line(figure.label)} <b>{figure.number:,}</b>"
    return f'<li><a href="#{figure.target}"{to}>{told}</a></li>'


def _sentence(text: str) -> str:
    """Return one of our sentences; no date in it breaks at a hyphen."""
    return _DATE.sub(r'<span class="date">\g<0></span>', as_line(text))


def _search(page: Page, parts: Sequence[Part]) -> list[str]:
    label = as_line(say("view.search"))
    found = say("view.found", shown="{shown}", count="{count}")
    return [
        f'<div class="search live" role="search" aria-label="{label}" hidden>',
        "<div>",
        '<div class="field">',
        f'<input type="search" id="query" autocomplete="off" spellcheck="false"'
        f' aria-label="{label}" placeholder="{as_line(_word("search_hint", parts))}">',
        '<button type="button" id="more-filters" aria-expanded="false" aria-controls="filters">'
        f"{as_line(say('view.filters'))}</button>",
        "</div>",
        *_filters(page, parts),
        '<p class="found">'
        f'<output id="found" for="query" data-some="{as_line(found)}"></output>'
        f' <button type="button" id="clear" hidden>{as_line(say("view.clear"))}</button></p>',
        "</div>",
        "</div>",
    ]


def _filters(page: Page, parts: Sequence[Part]) -> list[str]:
    """Return the choices of type, agent, date and order; only what is there can be chosen."""
    there = {kind for entry in page.entries for kind in kinds_of(entry)}
    every = {"": say("view.kind_all")}
    kinds = {it: say(f"view.kind_{it}") for it in KINDS if it in there}
    agents = sorted({it for part in parts for it in part.agents}, key=str.casefold)
    makers = {"": say("view.agent_all")} | {agent: agent for agent in agents}
    orders = {it if it != "newest" else "": say(f"view.sort_{it}") for it in ORDERS}
    types: Groups = {"": every | kinds}
    if parts:
        lesson = {"lesson": say("view.kind_lesson")} if page.topics else {}
        own = {part.title: part.kinds for part in parts}
        types = {"": every, say("view.lessons"): lesson | kinds, **own}
    return [
        '<div id="filters">',
        *_choice("type", say("view.choose_type"), types),
        *(_choice("agent", say("view.choose_agent"), {"": makers}) if agents else ()),
        f'<label class="since">{as_line(say("view.since"))}'
        f' <input type="date" id="since" max="{day_of(page.now)}"></label>',
        *_choice("sort", say("view.choose_sort"), {"": orders}),
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


def _results(parts: Sequence[Part]) -> list[str]:
    """Return the place of what is found, which the script fills."""
    title, nothing = (as_line(_word(key, parts)) for key in ("results", "nothing"))
    return [
        '<section id="results" aria-labelledby="results-title" hidden>',
        f'<h2 id="results-title">{title}</h2>',
        '<div id="found-records"></div>',
        f'<p class="nothing" id="nothing" hidden>{nothing}</p>',
        f'<p><button type="button" id="next" hidden>{as_line(say("view.next"))}</button></p>',
        "</section>",
    ]


def _keys(parts: Sequence[Part]) -> list[str]:
    """Return the dialog of keys and colours."""
    themes = "".join(
        f'<option value="{theme}">{as_line(say(f"view.theme_{theme}"))}</option>'
        for theme in ("auto", "light", "dark")
    )
    own = {key: told for part in parts for key, told in part.keys.items()}
    keys = {key: say(f"view.{name}") for key, name in KEYS.items()} | own
    single = ["/", "j", "k", "?", *own]
    return [
        '<dialog id="keys" aria-labelledby="keys-title">',
        f'<h2 id="keys-title">{as_line(say("view.keys"))}</h2>',
        '<dl class="keys">',
        *(
            "<div><dt>"
            + " ".join(f"<kbd>{key}</kbd>" for key in names.split())
            + f"</dt><dd>{as_line(told)}</dd></div>"
            for names, told in keys.items()
        ),
        "</dl>",
        '<p><label><input type="checkbox" id="shortcuts" checked>'
        f" {as_line(say('view.keys_on'))} ({', '.join(single)})</label></p>",
        f'<p><label>{as_line(say("view.theme"))} <select id="theme">{themes}</select></label></p>',
        f'<form method="dialog"><button>{as_line(say("view.close"))}</button></form>',
        "</dialog>",
    ]
