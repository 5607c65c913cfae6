"""Turns the statistics into JSON for scripts, lists whole; docs/stats.md describes the keys.

Of a record's texts it holds only the topic; the token leads to the others.
"""

from datetime import UTC, datetime

from commands.hook.journal import KEPT_DAYS
from commands.stats.figures import WARNED_TOKENS, Growth, Stats, safe
from commands.stats.hook_use import Showings
from core.lessons.record import Record, seconds_of


def as_json(stats: Stats) -> dict[str, object]:
    """Return all figures by key; dates are ISO 8601 in UTC, null where there is none."""
    state = stats.compaction
    return {
        "project": stats.frame.project,
        "bytes": stats.size,
        "records": stats.log.count,
        "unreadable_lines": stats.log.skipped,
        "conflicts": stats.log.conflicts,
        "hidden_records": len(stats.log.hidden),
        "unsettled_gaps": len(stats.log.unsettled),
        "topics": [
            {
                "topic": safe(it.topic),
                "logs": it.logs,
                "principles": it.principles,
                "bytes": it.size,
            }
            for it in stats.topics
        ],
        "growth": _growth(stats.growth),
        "search": _search(stats),
        "came_back": [record_data(it) for it in stats.came_back],
        "questions": [record_data(it) for it in stats.questions],
        "compaction": {
            "threshold": stats.frame.settings.threshold,
            "need": state.need,
            "principles": state.principles,
            "replaced": state.replaced,
            "last": _date(state.last),
        },
        "hooks": _hooks(stats.showings),
    }


def _growth(grown: Growth) -> dict[str, object]:
    return {
        "unit": grown.unit,
        "periods": [
            {
                "begins": str(it.begins) if it.begins else None,
                "new": it.new,
                "total": it.total,
                "bytes": it.size,
            }
            for it in grown.periods
        ],
    }


def _search(stats: Stats) -> dict[str, object]:
    cost, settings = stats.search, stats.frame.settings
    return {
        "tokens": cost.tokens,
        "chars": cost.chars,
        "whole_tokens": cost.whole_tokens,
        "shows_all": cost.shows_all,
        "budget_tokens": settings.budget_tokens,
        "budget_chars": settings.budget_chars,
        "warned_tokens": WARNED_TOKENS,
    }


def _hooks(showings: Showings) -> dict[str, object]:
    return {
        "days": KEPT_DAYS,
        "sessions": showings.sessions,
        "since": moment_data(showings.since_s),
        "clients": dict(showings.clients),
        "moments": {
            name: {"texts": it.texts, "records": it.records, "tokens": it.tokens}
            for name, it in showings.moments.items()
        },
        "shown": [
            {**record_data(it.record), "at_start": it.at_start, "at_action": it.at_action}
            for it in showings.shown
        ],
        "shown_and_gone": showings.gone,
        "unheeded": [
            {**record_data(it.record), "shown": moment_data(it.shown_s)} for it in showings.unheeded
        ],
        "never_shown": [record_data(it) for it in showings.never],
        "changed_sessions": showings.changed,
        "changed_sessions_saved": showings.changed_saved,
        "reminders": showings.reminders,
        "reminders_saved": showings.reminders_saved,
    }


def record_data(record: Record) -> dict[str, object]:
    """Return what names a record, without its texts."""
    return {
        "token": safe(record.token),
        "type": record.type,
        "topic": safe(record.topic),
        "seen": record.seen,
        "last": _date(record.updated or record.created),
    }


def moment_data(at_s: int | None) -> str | None:
    """Return a moment in ISO 8601, None for none."""
    return datetime.fromtimestamp(at_s, UTC).isoformat() if at_s else None


def _date(moment: str) -> str | None:
    """Return the date of a record in UTC; somebody may have written it in another zone."""
    try:
        return datetime.fromtimestamp(seconds_of(moment), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None
