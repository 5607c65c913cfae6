"""Counts the sessions of a project by what they were, over some days or over all."""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from rooms.sessions.actions.kinds import LESSON
from rooms.sessions.rows import as_texts, tags_of
from rooms.sessions.store import SessionStore

MOST_TAGS = 10
DAYS: Mapping[str, int] = {"last_7_days": 7, "last_30_days": 30, "last_90_days": 90}


class Statistics(NamedTuple):
    """How many sessions there are, in all and by kind, those of most first."""

    sessions: int = 0
    by_status: Mapping[str, int] = {}
    by_agent: Mapping[str, int] = {}
    top_tags: Mapping[str, int] = {}
    failed: int = 0
    actions_per_session: float = 0.0


_WITHIN = "(:since = '' OR coalesce(updated_at, created_at) >= :since)"
_EACH = f"SELECT id, status, agent, tags, archive FROM contexts WHERE {_WITHIN}"
_DONE = f"type != '{LESSON}'"  # a lesson that was shown is nothing that was done
_HAS_FAILED = "json_extract(metadata, tried.fullkey || '.result') = 'failed'"
_FAILED = (
    "SELECT count(*) FROM contexts, json_each(metadata, '$.approaches') AS tried"
    f" WHERE {_WITHIN} AND has_warnings AND json_valid(metadata) AND {_HAS_FAILED}"
)
_OF_ARCHIVE = (
    "SELECT id, (SELECT count(*) FROM json_each(metadata, '$.approaches') AS tried"
    f" WHERE {_HAS_FAILED}),"
    f" (SELECT count(*) FROM actions WHERE context_id = contexts.id AND {_DONE})"
    f" FROM contexts WHERE {_WITHIN} AND json_valid(metadata)"
)
_ACTIONS = (
    f"SELECT count(*) FROM actions WHERE {_DONE} AND (:since = '' OR context_id IN"
    f" (SELECT id FROM contexts WHERE {_WITHIN}))"
)


_OWN = (_FAILED, _ACTIONS)


class _Parts(NamedTuple):
    """How many failed approaches and actions the database has, or the archives."""

    failed: int = 0
    actions: int = 0


def statistics_of(store: SessionStore, range_: str = "all") -> Statistics:
    """Return the counts of the sessions saved last in a range: a key of DAYS, or all.

    Archived sessions count; of those whose file is gone, only what the database has. Raises what
    the store raises.
    """
    since = ""
    if range_ in DAYS:
        moment = datetime.now(UTC) - timedelta(days=DAYS[range_])
        since = moment.isoformat(timespec="seconds")
    with store.database.reading() as connection:
        if connection is None:
            return Statistics()
        statuses, agents, tagged, archived = Counter[str](), Counter[str](), Counter[str](), set()
        rows = map(as_texts, connection.execute(_EACH, {"since": since}))
        for id_, status, agent, tags, archive in rows:
            statuses[status or ""] += 1
            agents[agent or ""] += 1
            tagged[tags or ""] += 1  # few combinations of tags are many
            if archive:
                archived.add(id_)
        beside = _of_archives(store, archived, since) if archived else _Parts()
        own = _Parts(*(connection.execute(it, {"since": since}).fetchone()[0] for it in _OWN))
    sessions = statuses.total()
    return Statistics(
        sessions=sessions,
        by_status=_most_first(statuses),
        by_agent=_most_first(agents),
        top_tags=dict(list(_most_first(_each_tag(tagged)).items())[:MOST_TAGS]),
        failed=own.failed + beside.failed,
        actions_per_session=(own.actions + beside.actions) / sessions if sessions else 0.0,
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


def _of_archives(store: SessionStore, ids: Collection[str], since: str) -> _Parts:
    from rooms.sessions.upkeep.archive import archive, archives_of  # few projects have any

    failed = actions = 0
    for path in archives_of(store):
        with archive(store, path) as file, file.reading() as connection:
            rows = connection.execute(_OF_ARCHIVE, {"since": since}) if connection else ()
            for id_, failures, done in rows:
                if id_ in ids:
                    failed, actions = failed + failures, actions + done
    return _Parts(failed, actions)


class Effect(NamedTuple):
    """Counts over all sessions, archived ones too.

    warned: with a failure, or something that is in the way. continued: with a later session that
    goes on from them.
    """

    warned: int = 0
    continued: int = 0


_WARNED = "SELECT count(*) FROM contexts WHERE has_warnings"
_CONTINUED = (
    "SELECT count(DISTINCT parent_id) FROM contexts WHERE parent_id IN (SELECT id FROM contexts)"
)


def effect_of(store: SessionStore) -> Effect:
    """Return the counts. Raises what the store does."""
    with store.database.reading() as connection:
        if connection is None:
            return Effect()
        [warned], [continued] = (connection.execute(it).fetchone() for it in (_WARNED, _CONTINUED))
    return Effect(warned, continued)
