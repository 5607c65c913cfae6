"""Counts the sessions of a project by what they were, over some days or over all, and says it."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from core.messages import say
from rooms.sessions.hints import brief
from rooms.sessions.rows import as_texts, tags_of
from rooms.sessions.session import LESSON
from rooms.sessions.store import SessionStore

MOST_TAGS = 10
_NAME_CHARS = 50  # of a name that is counted
DAYS: Mapping[str, int] = {"last_7_days": 7, "last_30_days": 30, "last_90_days": 90}


class Statistics(NamedTuple):
    """How many sessions there are, in all and by kind, those of most first.

    failed: approaches. warned: sessions in which something failed or is in the way. continued:
    sessions from which a later one goes on.
    """

    sessions: int = 0
    by_status: Mapping[str, int] = {}
    by_agent: Mapping[str, int] = {}
    top_tags: Mapping[str, int] = {}
    failed: int = 0
    actions_per_session: float = 0.0
    warned: int = 0
    continued: int = 0


_WITHIN = "(:since = '' OR coalesce(updated_at, created_at) >= :since)"
_EACH = f"SELECT status, agent, tags FROM contexts WHERE {_WITHIN}"
_DONE = f"type != '{LESSON}'"  # a lesson that was shown is nothing that was done
_HAS_FAILED = "json_extract(metadata, tried.fullkey || '.result') = 'failed'"
_FAILED = (
    "SELECT count(*) FROM contexts, json_each(metadata, '$.approaches') AS tried"
    f" WHERE {_WITHIN} AND has_warnings AND json_valid(metadata) AND {_HAS_FAILED}"
)
_IDS = f"SELECT id FROM contexts WHERE {_WITHIN}"
_COUNTED = (
    f"SELECT count(*) FROM actions WHERE {_DONE} AND context_id IN ({_IDS})",
    f"SELECT count(*) FROM contexts WHERE has_warnings AND {_WITHIN}",
    f"SELECT count(DISTINCT parent_id) FROM contexts WHERE parent_id IN ({_IDS})",
)


def statistics_of(store: SessionStore, range_: str = "all") -> Statistics:
    """Return the counts of the sessions saved last in a range: a key of DAYS, or all.

    Raises what the store raises.
    """
    since = ""
    if range_ in DAYS:
        moment = datetime.now(UTC) - timedelta(days=DAYS[range_])
        since = moment.isoformat(timespec="seconds")
    with store.reading() as connection:
        statuses, agents, tags = Counter[str](), Counter[str](), Counter[str]()
        for status, agent, listed in map(as_texts, connection.execute(_EACH, {"since": since})):
            statuses[status or ""] += 1
            agents[agent or ""] += 1
            tags.update(set(tags_of(listed)))
        counts = (connection.execute(it, {"since": since}) for it in (_FAILED, *_COUNTED))
        failed, actions, warned, continued = (it.fetchone()[0] for it in counts)
    sessions = statuses.total()
    return Statistics(
        sessions=sessions,
        by_status=_most_first(statuses),
        by_agent=_most_first(agents),
        top_tags=dict(list(_most_first(tags).items())[:MOST_TAGS]),
        failed=failed,
        actions_per_session=actions / sessions if sessions else 0.0,
        warned=warned,
        continued=continued,
    )


def tags_of_all(store: SessionStore) -> list[str]:
    """Return the tags of all sessions, each once. Raises what the store raises."""
    with store.reading() as connection:
        rows = connection.execute("SELECT DISTINCT tags FROM contexts")
        return [*dict.fromkeys(tag for (text,) in rows for tag in tags_of(text))]


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda it: (-it[1], it[0])))


# What context_stats answers


def counted_text(numbers: Statistics, range_: str) -> str:
    """Return the counts, a line for each kind."""
    lines = [say("sessions.answers.stats_head", count=numbers.sessions, range=range_)]
    for key, counts in (
        ("stats_status", numbers.by_status),
        ("stats_agent", _by_agent(numbers)),
        ("stats_tags", numbers.top_tags),
    ):
        if counts:
            listed = ", ".join(f"{brief(it, _NAME_CHARS)} {n:,}" for it, n in counts.items())
            lines.append(say(f"sessions.answers.{key}", listed=listed))
    if numbers.sessions:
        actions = f"{numbers.actions_per_session:.1f}"
        lines.append(say("sessions.answers.stats_failed", failed=numbers.failed, actions=actions))
    return "\n".join(lines)


def counted_object(numbers: Statistics) -> dict[str, Any]:
    """Return the object ContextStatsOutput."""
    return {
        "totalSessions": numbers.sessions,
        "byStatus": dict(numbers.by_status),
        "byAgent": _by_agent(numbers),
        "topTags": [{"tag": tag, "count": count} for tag, count in numbers.top_tags.items()],
        "failedApproaches": numbers.failed,
        "avgActionsPerSession": round(numbers.actions_per_session, 1),
    }


def _by_agent(numbers: Statistics) -> dict[str, int]:
    return {it or say("sessions.answers.unknown"): n for it, n in numbers.by_agent.items()}
