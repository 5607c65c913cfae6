"""Writes the sessions' part of the page: the timeline, and what can be filtered by."""

from datetime import date
from functools import cache
from importlib.resources import files

from commands.view.escaping import as_line
from commands.view.page import Page
from commands.view.part import Figure, Part
from commands.view.sessions.cards import kinds_of, row, status_text
from commands.view.sessions.timeline import Month, Timeline
from commands.view.sessions.words import word
from core.lessons.answers.rendering import day_of
from core.messages import Language
from rooms.sessions.session import STATUSES

KEYS = {"o": "key_open"}


def part_of(timeline: Timeline, page: Page, lang: Language) -> Part:
    """Return what a timeline adds to the page of the lessons."""
    items = timeline.items
    there = {kind for item in items for kind in kinds_of(item.session)}
    kinds = {kind: word(lang, f"kind_{kind}") for kind in ("session", "warned", "archived")}
    kinds |= {status: status_text(status, lang) for status in STATUSES}
    warned = sum(item.session.has_warnings for item in items)
    return Part(
        title=word(lang, "sessions"),
        name=word(lang, "of_sessions"),
        shown=len(items),
        figures=(
            Figure(word(lang, "sessions"), timeline.total, "sessions"),
            Figure(word(lang, "warned"), warned, "sessions", "type=warned"),
        ),
        section=tuple(_section(timeline, page, lang)),
        kinds={kind: text for kind, text in kinds.items() if kind in there},
        agents=frozenset(it.session.agent for it in items) - {""},
        keys={key: word(lang, name) for key, name in KEYS.items()},
        style=_asset("sessions.css"),
        script=_asset("sessions.js"),
    )


@cache
def _asset(name: str) -> str:
    return files("commands.view.sessions").joinpath(name).read_text(encoding="utf-8")


def _section(timeline: Timeline, page: Page, lang: Language) -> list[str]:
    lines = [
        '<section id="sessions" aria-labelledby="sessions-title">',
        f'<h2 id="sessions-title">{as_line(word(lang, "sessions"))}</h2>',
        f'<p class="soft">{as_line(word(lang, "about"))}</p>',
    ]
    shown = len(timeline.items)
    if shown < timeline.total:
        note = word(lang, "left_out", shown=shown, count=timeline.total)
        lines.append(f'<p class="note">{as_line(note)}</p>')
    for at, month in enumerate(timeline.months):
        lines += _month(month, page.log.count, lang, is_newest=not at)
    return [*lines, "</section>"]


def _month(month: Month, records: int, lang: Language, *, is_newest: bool) -> list[str]:
    """Return the sessions of a month; the script folds all months that have an id."""
    anchor = "" if is_newest else f' id="show={as_line(month.name)}"'
    lines = [
        f'<details class="topic month lanes{month.lanes}"{anchor} open>',
        f"<summary><h3>{as_line(_month_text(month.name, lang))}</h3>"
        f' <span class="count">{len(month.items):,}</span></summary>',
    ]
    last = ""
    for item in month.items:
        day = day_of(item.session.updated_at)
        beside = _day_text(day, lang) if day != last else ""
        lines += row(item, lang, records + item.place, day=beside)
        last = day
    return [*lines, "</details>"]


def _month_text(name: str, lang: Language) -> str:
    year, _, number = name.partition("-")
    if not (number.isdecimal() and 1 <= int(number) <= 12):
        return word(lang, "no_date")
    return word(lang, f"month_{int(number)}", year=year)


def _day_text(day: str, lang: Language) -> str:
    try:
        moment = date.fromisoformat(day)
    except ValueError:  # as a hand may write it
        return ""
    weekday = word(lang, "weekdays").split()[moment.weekday()]
    return word(lang, "day", weekday=weekday, day=moment.day)
