"""How the statistics look on a terminal: short sections, no line wider than 80 cells."""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import islice

from commands.hook.journal import KEPT_DAYS
from commands.stats.figures import Stats, safe
from commands.stats.hook_use import Showings, Unheeded
from commands.stats.words import WORDS, word
from commands.terminal.columns import table, wrapped
from commands.terminal.safe_text import plain
from core.lessons.answers.counting import WARNED_TOKENS, Growth, day_of, last_s
from core.lessons.answers.rendering import topic_text
from core.lessons.record import Record, seconds_of
from core.messages import Facts, Language

MOST_ROWS = 8
ID_CHARS = 8
MONTH_CHARS = 7
UNKNOWN_DAY = "????-??-??"


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
    principles = stats.compaction.principles
    counts = {"count": stats.log.count, "logs": stats.log.count - principles}
    title = word(lang, "records", principles=principles, size=stats.size, **counts)
    rows = (
        [f"{it.logs:,}", f"{it.principles:,}", f"{it.size:,}", _topic(it.topic)]
        for it in stats.topics
    )
    return _section(lang, title, "log principle bytes topic", rows, len(stats.topics))


def _growth(growth: Growth, lang: Language) -> list[str]:
    rows = [
        [f"{it.new:,}", f"{it.total:,}", f"{it.size:,}", _begins(it.begins, growth.unit, lang)]
        for it in growth.periods
    ]
    return [word(lang, "growth"), *table(_head(lang, f"new total bytes {growth.unit}"), rows)]


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
    rows = ([f"{it.seen:,}", _last(it), *_named(it, it.key_text)] for it in records)
    title = word(lang, "came_back", count=len(records))
    return _section(lang, title, "times last id record", rows, len(records))


def _questions(records: Sequence[Record], lang: Language) -> list[str]:
    rows = ([_last(it), *_named(it, it.ask_next_time)] for it in records)
    title = word(lang, "questions", count=len(records))
    return _section(lang, title, "last id question", rows, len(records))


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
    return [
        *wrapped(word(lang, "sessions", **facts)),
        *table(_head(lang, "times count tokens shown_at"), rows),
        *wrapped(word(lang, "changed", **counts)),
        *(wrapped(word(lang, "reminders", **given)) if showings.reminders else ()),
    ]


def _most_shown(showings: Showings, lang: Language) -> list[str]:
    rows = (
        [f"{it.at_start:,}", f"{it.at_action:,}", *_named(it.record, it.record.key_text)]
        for it in showings.shown
    )
    title = word(lang, "most_shown", count=len(showings.shown))
    lines = _section(lang, title, "at_start at_action id record", rows, len(showings.shown))
    if showings.gone:
        lines += wrapped(word(lang, "gone", gone=showings.gone))
    return lines


def _unheeded(found: Sequence[Unheeded], lang: Language) -> list[str]:
    rows = (
        [_day(it.shown_s), _last(it.record), *_named(it.record, it.record.key_text)] for it in found
    )
    title = word(lang, "unheeded", count=len(found))
    return _section(lang, title, "first_shown last id record", rows, len(found))


def _never(records: Sequence[Record], lang: Language) -> list[str]:
    rows = ([_last(it), *_named(it, it.key_text)] for it in records)
    title = word(lang, "never", count=len(records))
    return _section(lang, title, "last id record", rows, len(records))


def _section(
    lang: Language, title: str, columns: str, rows: Iterable[list[str]], count: int
) -> list[str]:
    """A title and a table of the first of `count` rows; only the title when there are none.

    No other row is made: to redact its text takes long.
    """
    if not count:
        return [title]
    lines = [title, *table(_head(lang, columns), list(islice(rows, MOST_ROWS)))]
    if count > MOST_ROWS:
        lines += wrapped(word(lang, "more", more=count - MOST_ROWS))
    return lines


def _head(lang: Language, columns: str) -> list[str]:
    """The heads of these columns; data such as `id` has the same name in every language."""
    return [word(lang, name) if name in WORDS else name for name in columns.split()]


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
