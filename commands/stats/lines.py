"""Prints the statistics in short sections, at most 80 cells wide."""

from collections.abc import Sequence
from datetime import date

from commands.hook.journal import KEPT_DAYS
from commands.stats.effect_lines import effect_sections
from commands.stats.figures import Stats
from commands.stats.hook_use import Showings, Unheeded
from commands.stats.parts import day_text, head_of, last_day, named, section, topic_of
from commands.stats.reach import reach_sections
from commands.stats.words import word
from commands.terminal.columns import table, wrapped
from commands.terminal.safe_text import plain
from core.lessons.answers.counting import WARNED_TOKENS, Growth
from core.lessons.record import Record, seconds_of
from core.messages import Facts, Language

MONTH_CHARS = 7


def lines_of(stats: Stats) -> list[str]:
    """Return the sections, a blank line between them; only the project's path may be wider."""
    lang = stats.frame.lang
    head = [word(lang, "project", path=plain(stats.frame.project))]
    flaws = {
        **{"skipped": stats.log.skipped, "conflicts": stats.log.conflicts},
        **{"hidden": len(stats.log.hidden), "unsettled": len(stats.log.unsettled)},
    }
    if any(flaws.values()):
        head += wrapped(word(lang, "flaws", **flaws), "")
    if not stats.log.count:
        return [*head, *wrapped(word(lang, "empty"), "")]
    sections = [
        _records(stats, lang),
        _growth(stats.growth, lang),
        _search(stats, lang),
        _came_back(stats.came_back, lang),
        _questions(stats.questions, lang),
        *reach_sections(stats, lang),
        _compaction(stats, lang),
        *_hooks(stats.showings, lang),
        *effect_sections(stats.effect, lang),
    ]
    return [*head, *(line for part in sections if part for line in ("", *part))]


def _records(stats: Stats, lang: Language) -> list[str]:
    principles = stats.compaction.principles
    counts = {"count": stats.log.count, "logs": stats.log.count - principles}
    title = word(lang, "records", principles=principles, size=stats.size, **counts)
    rows = (
        [f"{topic.logs:,}", f"{topic.principles:,}", f"{topic.size:,}", topic_of(topic.topic)]
        for topic in stats.topics
    )
    return section(lang, title, "log principle bytes topic", rows, len(stats.topics))


def _growth(growth: Growth, lang: Language) -> list[str]:
    rows = [
        [f"{one.new:,}", f"{one.total:,}", f"{one.size:,}", _begins(one.begins, growth.unit, lang)]
        for one in growth.periods
    ]
    return [word(lang, "growth"), *table(head_of(lang, f"new total bytes {growth.unit}"), rows)]


def _search(stats: Stats, lang: Language) -> list[str]:
    cost, settings = stats.search, stats.frame.settings
    facts = {"tokens": cost.tokens, "budget": settings.budget_tokens}
    if cost.shows_all:
        text = word(lang, "search_whole", **facts)
    else:
        facts |= {"whole": cost.whole_tokens, "chars": settings.budget_chars}
        text = word(lang, "search_part", **facts)
    warned = "search_warned" if cost.tokens >= WARNED_TOKENS else "search_quiet"
    text = f"{text} {word(lang, warned, limit=WARNED_TOKENS)}"
    return [word(lang, "search"), *wrapped(text)]


def _came_back(records: Sequence[Record], lang: Language) -> list[str]:
    rows = (
        [f"{record.seen:,}", last_day(record), *named(record, record.key_text)]
        for record in records
    )
    title = word(lang, "came_back", count=len(records))
    return section(lang, title, "times last id record", rows, len(records))


def _questions(records: Sequence[Record], lang: Language) -> list[str]:
    rows = ([last_day(record), *named(record, record.ask_next_time)] for record in records)
    title = word(lang, "questions", count=len(records))
    return section(lang, title, "last id question", rows, len(records))


def _compaction(stats: Stats, lang: Language) -> list[str]:
    state = stats.compaction
    facts = {"count": stats.log.count, "threshold": stats.frame.threshold}
    text = word(lang, state.need, **facts)
    if state.replaced:
        day = day_text(seconds_of(state.last))
        text += " " + word(lang, "replaced", replaced=state.replaced, day=day)
    return [word(lang, "compaction"), *wrapped(text)]


def _hooks(showings: Showings, lang: Language) -> list[list[str]]:
    title = word(lang, "hooks", days=KEPT_DAYS)
    if not showings.sessions:
        return [[title, *wrapped(word(lang, "no_sessions"))]]
    return [
        [title, *_sessions(showings, lang)],
        _most_shown(showings, lang),
        _unheeded(showings.unheeded, lang),
        _never(showings.never, lang),
    ]


def _sessions(showings: Showings, lang: Language) -> list[str]:
    clients = [
        f"{plain(name) or word(lang, 'unnamed')} {count:,}"
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
        [f"{moment.texts:,}", f"{moment.records:,}", f"{moment.tokens:,}", word(lang, name)]
        for name, moment in showings.moments.items()
    ]
    return [
        *wrapped(word(lang, "sessions", **facts)),
        *table(head_of(lang, "times count tokens shown_at"), rows),
        *wrapped(word(lang, "changed", **counts)),
        *(wrapped(word(lang, "reminders", **given)) if showings.reminders else ()),
    ]


def _most_shown(showings: Showings, lang: Language) -> list[str]:
    rows = (
        [f"{one.at_start:,}", f"{one.at_action:,}", *named(one.record, one.record.key_text)]
        for one in showings.shown
    )
    title = word(lang, "most_shown", count=len(showings.shown))
    lines = section(lang, title, "at_start at_action id record", rows, len(showings.shown))
    if showings.gone:
        lines += wrapped(word(lang, "gone", gone=showings.gone))
    return lines


def _unheeded(unheeded: Sequence[Unheeded], lang: Language) -> list[str]:
    rows = (
        [day_text(one.shown_s), last_day(one.record), *named(one.record, one.record.key_text)]
        for one in unheeded
    )
    title = word(lang, "unheeded", count=len(unheeded))
    return section(lang, title, "first_shown last id record", rows, len(unheeded))


def _never(records: Sequence[Record], lang: Language) -> list[str]:
    rows = ([last_day(record), *named(record, record.key_text)] for record in records)
    title = word(lang, "never", count=len(records))
    return section(lang, title, "last id record", rows, len(records))


def _begins(first: date | None, unit: str, lang: Language) -> str:
    if first is None:
        return word(lang, "earlier")
    return str(first)[: MONTH_CHARS if unit == "month" else None]
