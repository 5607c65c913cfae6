"""How the statistics look on a terminal: short sections, no line wider than 80 cells."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import TypeVar

from commands.hook.journal import KEPT_DAYS
from commands.stats.figures import Stats, safe
from commands.stats.hook_use import Showings, Shown, Unheeded
from commands.stats.words import word
from commands.terminal.columns import table, wrapped
from commands.terminal.safe_text import plain
from core.lessons.answers.counting import WARNED_TOKENS, Growth, TopicCount, day_of, last_s
from core.lessons.answers.rendering import topic_text
from core.lessons.record import Record, seconds_of
from core.messages import Facts, Language

MOST_ROWS = 8
ID_CHARS = 8
MONTH_CHARS = 7
UNKNOWN_DAY = "????-??-??"

Item = TypeVar("Item")


def lines_of(stats: Stats) -> list[str]:
    """The sections, one blank line between them; the path of the project is not cut."""
    lang = stats.frame.lang
    head = [word(lang, "project", path=plain(stats.frame.project))]
    if stats.log.skipped or stats.log.conflicts:
        flaws = {"skipped": stats.log.skipped, "conflicts": stats.log.conflicts}
        head += wrapped(word(lang, "flaws", **flaws), "")
    if not stats.log.count:
        return [*head, *wrapped(word(lang, "empty"), "")]
    sections = [
        _records(stats, lang),
        _growth(stats.growth, lang),
        _search(stats, lang),
        _came_back(stats.came_back, lang),
        _questions(stats.questions, lang),
        _compaction(stats, lang),
        *_hooks(stats.showings, lang),
    ]
    return [*head, *(line for section in sections if section for line in ("", *section))]


def _records(stats: Stats, lang: Language) -> list[str]:
    def row(it: TopicCount) -> list[str]:
        return [f"{it.logs:,}", f"{it.principles:,}", f"{it.size:,}", _topic(it.topic)]

    principles = stats.compaction.principles
    counts = {"count": stats.log.count, "logs": stats.log.count - principles}
    title = word(lang, "records", principles=principles, size=stats.size, **counts)
    head = ["log", "principle", word(lang, "bytes"), "topic"]
    return _section(lang, title, head, stats.topics, row)


def _growth(grown: Growth, lang: Language) -> list[str]:
    head = [word(lang, name) for name in ("new", "total", "bytes", grown.unit)]
    rows = [
        [f"{it.new:,}", f"{it.total:,}", f"{it.size:,}", _begins(it.begins, grown.unit, lang)]
        for it in grown.periods
    ]
    return [word(lang, "growth"), *table(head, rows)]


def _search(stats: Stats, lang: Language) -> list[str]:
    cost, settings = stats.search, stats.frame.settings
    facts = {"tokens": cost.tokens, "budget": settings.budget_tokens}
    if cost.shows_all:
        said = word(lang, "search_whole", **facts)
    else:
        facts |= {"whole": cost.whole_tokens, "chars": settings.budget_chars}
        said = word(lang, "search_part", **facts)
    warned = "search_warned" if cost.tokens >= WARNED_TOKENS else "search_quiet"
    said = f"{said} {word(lang, warned, limit=WARNED_TOKENS)}"
    return [word(lang, "search"), *wrapped(said)]


def _came_back(records: Sequence[Record], lang: Language) -> list[str]:
    def row(it: Record) -> list[str]:
        return [f"{it.seen:,}", _last(it), *_named(it, it.key_text)]

    head = [word(lang, "times"), word(lang, "last"), "id", word(lang, "record")]
    return _section(lang, word(lang, "came_back", count=len(records)), head, records, row)


def _questions(records: Sequence[Record], lang: Language) -> list[str]:
    def row(it: Record) -> list[str]:
        return [_last(it), *_named(it, it.ask_next_time)]

    head = [word(lang, "last"), "id", word(lang, "question")]
    return _section(lang, word(lang, "questions", count=len(records)), head, records, row)


def _compaction(stats: Stats, lang: Language) -> list[str]:
    state = stats.compaction
    facts = {"count": stats.log.count, "threshold": stats.frame.threshold}
    said = word(lang, state.need, **facts)
    if state.replaced:
        day = _day(seconds_of(state.last))
        said += " " + word(lang, "replaced", replaced=state.replaced, day=day)
    return [word(lang, "compaction"), *wrapped(said)]


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
        "day": _day(showings.since_s or 0),
        "clients": ", ".join(clients),
        "tokens": sum(it.tokens for it in showings.moments.values()),
    }
    counts = {"changed": showings.changed, "saved": showings.changed_saved}
    given = {"reminders": showings.reminders, "saved": showings.reminders_saved}
    rows = [
        [f"{it.texts:,}", f"{it.records:,}", f"{it.tokens:,}", word(lang, name)]
        for name, it in showings.moments.items()
    ]
    head = [word(lang, name) for name in ("times", "count", "tokens", "shown_at")]
    return [
        *wrapped(word(lang, "sessions", **facts)),
        *table(head, rows),
        *wrapped(word(lang, "changed", **counts)),
        *(wrapped(word(lang, "reminders", **given)) if showings.reminders else ()),
    ]


def _most_shown(showings: Showings, lang: Language) -> list[str]:
    def row(it: Shown) -> list[str]:
        counts = [f"{it.at_start:,}", f"{it.at_action:,}"]
        return [*counts, *_named(it.record, it.record.key_text)]

    title = word(lang, "most_shown", count=len(showings.shown))
    head = [word(lang, "at_start"), word(lang, "at_action"), "id", word(lang, "record")]
    lines = _section(lang, title, head, showings.shown, row)
    if showings.gone:
        lines += wrapped(word(lang, "gone", gone=showings.gone))
    return lines


def _unheeded(found: Sequence[Unheeded], lang: Language) -> list[str]:
    def row(it: Unheeded) -> list[str]:
        return [_day(it.shown_s), _last(it.record), *_named(it.record, it.record.key_text)]

    head = [word(lang, "first_shown"), word(lang, "last"), "id", word(lang, "record")]
    return _section(lang, word(lang, "unheeded", count=len(found)), head, found, row)


def _never(records: Sequence[Record], lang: Language) -> list[str]:
    def row(it: Record) -> list[str]:
        return [_last(it), *_named(it, it.key_text)]

    head = [word(lang, "last"), "id", word(lang, "record")]
    return _section(lang, word(lang, "never", count=len(records)), head, records, row)


def _section(
    lang: Language,
    title: str,
    head: Sequence[str],
    items: Sequence[Item],
    row: Callable[[Item], Sequence[str]],
) -> list[str]:
    """A title and a table of the first items; only the title when there are none."""
    if not items:
        return [title]
    lines = [title, *table(head, list(map(row, items[:MOST_ROWS])))]
    if len(items) > MOST_ROWS:
        lines += wrapped(word(lang, "more", more=len(items) - MOST_ROWS))
    return lines


def _named(record: Record, text: str) -> list[str]:
    """The beginning of the id, which `cli.py history` takes, and what the record is about."""
    return [plain(safe(record.id)[:ID_CHARS]), f"[{_topic(record.topic)}] {_text(text)}"]


def _topic(topic: str) -> str:
    return plain(topic_text(safe(topic)))


def _text(text: str) -> str:
    """A text for a line of ours; what is saved unredacted, or by hand, may hold a secret."""
    return plain(" ".join(safe(text).split()))


def _begins(first: date | None, unit: str, lang: Language) -> str:
    if first is None:
        return word(lang, "earlier")
    return str(first)[: MONTH_CHARS if unit == "month" else None]


def _last(record: Record) -> str:
    return _day(last_s(record))


def _day(moment_s: float) -> str:
    return str(day_of(moment_s) or UNKNOWN_DAY)
