"""Counts the sessions of a project by what they were, over some days or over all."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from rooms.sessions.rows import as_texts, tags_of
from rooms.sessions.session import LESSON
from rooms.sessions.store import SessionStore

MOST_TAGS = 10
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
    with store.database.reading() as connection:
        if connection is None:
            return Statistics()
        statuses, agents, tagged = Counter[str](), Counter[str](), Counter[str]()
        for status, agent, tags in map(as_texts, connection.execute(_EACH, {"since": since})):
            statuses[status or ""] += 1
            agents[agent or ""] += 1
            tagged[tags or ""] += 1  # few combinations of tags are many
        counts = (connection.execute(it, {"since": since}) for it in (_FAILED, *_COUNTED))
        failed, actions, warned, continued = (it.fetchone()[0] for it in counts)
    sessions = statuses.total()
    return Statistics(
        sessions=sessions,
        by_status=_most_first(statuses),
        by_agent=_most_first(agents),
        top_tags=dict(list(_most_first(_each_tag(tagged)).items())[:MOST_TAGS]),
        failed=failed,
        actions_per_session=actions / sessions if sessions else 0.0,
        warned=warned,
        continued=continued,
    )


def tags_of_all(store: SessionStore) -> list[str]:
    """Return the tags of all sessions, each once. Raises what the store raises."""
    with store.database.reading() as connection:
        rows = connection.execute("SELECT DISTINCT tags FROM contexts") if connection else ()
        return [*dict.fromkeys(tag for (text,) in rows for tag in tags_of(text))]


def _each_tag(tagged: Mapping[str, int]) -> Counter[str]:
    """Return how many sessions have each tag, from how many have each list of them."""
    counts = Counter[str]()
    for text, count in tagged.items():
        for tag in set(tags_of(text)):
            counts[tag] += count
    return counts


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda it: (-it[1], it[0])))
