"""Prints the statistics in short sections, as wide as the screen."""

from collections.abc import Sequence
from datetime import date

from commands.hook.journal import KEPT_DAYS
from commands.stats.figures import WARNED_TOKENS, Growth, Stats
from commands.stats.hook_use import Showings, Unheeded
from commands.stats.parts import Page, day_text, head_of, last_day, named, section, topic_of
from commands.terminal.safe_text import plain
from commands.terminal.screen import Screen
from core.lessons.record import Record, seconds_of
from core.messages import Facts, say

MONTH_CHARS = 7


def lines_of(stats: Stats, screen: Screen, rooms: Sequence[str] = ()) -> list[str]:
    """Return the sections, a blank line between them; only the project's path may be wider.

    rooms: lines about each room, below the head.
    """
    page = Page(screen)
    head = [page.project(stats.frame.project), *rooms]
    flaws = {
        **{"skipped": stats.log.skipped, "conflicts": stats.log.conflicts},
        **{"hidden": len(stats.log.hidden), "unsettled": len(stats.log.unsettled)},
    }
    if any(flaws.values()):
        head += page.said(say("stats.flaws", **flaws), "")
    if not stats.log.count:
        return [*head, *page.said(say("stats.empty"), "")]
    sections = [
        _records(stats, page),
        _growth(stats.growth, page),
        _search(stats, page),
        _came_back(stats.came_back, page),
        _questions(stats.questions, page),
        _compaction(stats, page),
        *_hooks(stats.showings, page),
    ]
    return [*head, *(line for part in sections if part for line in ("", *page.titled(part)))]


def _records(stats: Stats, page: Page) -> list[str]:
    principles = stats.compaction.principles
    counts = {"count": stats.log.count, "logs": stats.log.count - principles}
    title = say("stats.records", principles=principles, size=stats.size, **counts)
    rows = (
        [f"{topic.logs:,}", f"{topic.principles:,}", f"{topic.size:,}", topic_of(topic.topic)]
        for topic in stats.topics
    )
    return section(page, title, "log principle bytes topic", rows, len(stats.topics))


def _growth(growth: Growth, page: Page) -> list[str]:
    rows = [
        [f"{one.new:,}", f"{one.total:,}", f"{one.size:,}", _begins(one.begins, growth.unit, page)]
        for one in growth.periods
    ]
    head = head_of(page, f"new total bytes {growth.unit}")
    return [say("stats.growth"), *page.table(head, rows)]


def _search(stats: Stats, page: Page) -> list[str]:
    cost, settings = stats.search, stats.frame.settings
    facts = {"tokens": cost.tokens, "budget": settings.budget_tokens}
    if cost.shows_all:
        text = say("stats.search_whole", **facts)
    else:
        facts |= {"whole": cost.whole_tokens, "chars": settings.budget_chars}
        text = say("stats.search_part", **facts)
    warned = "search_warned" if cost.tokens >= WARNED_TOKENS else "search_quiet"
    text = f"{text} {say(f'stats.{warned}', limit=WARNED_TOKENS)}"
    return [say("stats.search"), *page.said(text)]


def _came_back(records: Sequence[Record], page: Page) -> list[str]:
    rows = (
        [f"{record.seen:,}", last_day(record), *named(record, record.key_text)]
        for record in records
    )
    title = say("stats.came_back", count=len(records))
    return section(page, title, "times last id record", rows, len(records))


def _questions(records: Sequence[Record], page: Page) -> list[str]:
    rows = ([last_day(record), *named(record, record.ask_next_time)] for record in records)
    title = say("stats.questions", count=len(records))
    return section(page, title, "last id question", rows, len(records))


def _compaction(stats: Stats, page: Page) -> list[str]:
    state = stats.compaction
    facts = {"count": stats.log.count, "threshold": stats.frame.settings.threshold}
    text = say(f"stats.{state.need}", **facts)
    if state.replaced:
        day = day_text(seconds_of(state.last))
        text += " " + say("stats.replaced", replaced=state.replaced, day=day)
    return [say("stats.compaction"), *page.said(text)]


def _hooks(showings: Showings, page: Page) -> list[list[str]]:
    title = say("stats.hooks", days=KEPT_DAYS)
    if not showings.sessions:
        return [[title, *page.said(say("stats.no_sessions"))]]
    return [
        [title, *_sessions(showings, page)],
        _most_shown(showings, page),
        _unheeded(showings.unheeded, page),
        _never(showings.never, page),
    ]


def _sessions(showings: Showings, page: Page) -> list[str]:
    clients = [
        f"{plain(name) or say('stats.unnamed')} {count:,}"
        for name, count in showings.clients.items()
    ]
    facts: Facts = {
        "sessions": showings.sessions,
        "day": day_text(showings.since_s or 0),
        "clients": ", ".join(clients),
        "tokens": sum(moment.tokens for moment in showings.moments.values()),
    }
    counts = {"changed": showings.changed, "saved": showings.changed_saved}
    given = {"reminders": showings.reminders, "saved": showings.reminders_saved}
    rows = [
        [f"{moment.texts:,}", f"{moment.records:,}", f"{moment.tokens:,}", say(f"stats.{name}")]
        for name, moment in showings.moments.items()
    ]
    return [
        *page.said(say("stats.sessions", **facts)),
        *page.table(head_of(page, "times count tokens shown_at"), rows),
        *page.said(say("stats.changed", **counts)),
        *(page.said(say("stats.reminders", **given)) if showings.reminders else ()),
    ]


def _most_shown(showings: Showings, page: Page) -> list[str]:
    rows = (
        [f"{one.at_start:,}", f"{one.at_action:,}", *named(one.record, one.record.key_text)]
        for one in showings.shown
    )
    title = say("stats.most_shown", count=len(showings.shown))
    lines = section(page, title, "at_start at_action id record", rows, len(showings.shown))
    if showings.gone:
        lines += page.said(say("stats.gone", gone=showings.gone))
    return lines


def _unheeded(unheeded: Sequence[Unheeded], page: Page) -> list[str]:
    rows = (
        [day_text(one.shown_s), last_day(one.record), *named(one.record, one.record.key_text)]
        for one in unheeded
    )
    title = say("stats.unheeded", count=len(unheeded))
    return section(page, title, "first_shown last id record", rows, len(unheeded))


def _never(records: Sequence[Record], page: Page) -> list[str]:
    rows = ([last_day(record), *named(record, record.key_text)] for record in records)
    title = say("stats.never", count=len(records))
    return section(page, title, "last id record", rows, len(records))


def _begins(first: date | None, unit: str, page: Page) -> str:
    if first is None:
        return say("stats.earlier")
    return str(first)[: MONTH_CHARS if unit == "month" else None]
