"""Finds sessions by words, tags, status, client, dates or a goal, and counts them.

Also in the user's other projects, where they share.
"""

import heapq
import json
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import Literal, NamedTuple

from core.config import Settings, state_directory
from core.disk import errors_as, replace_file
from core.errors import SentinelError
from core.room.full_text import SqliteTermIndex, coverage_of
from core.text.plain import end_of, normal_form
from core.text.ranking import Ranking
from rooms.sessions import rows
from rooms.sessions.session import LESSON_KIND, NoSuchSessionError, Point, Session, SessionsError
from rooms.sessions.store import FORMER_ARCHIVE, SessionStore, ancestors_of, open_sessions

Level = Literal["high", "medium", "low"]

# Shares of a question's words that a session has, a rare word counting for more; a session below
# the least is no hit. Worked out on descriptions of real work, whose earlier sessions on the same
# work were known: benchmarks/README.md.
_HIGH, MEDIUM_SHARE, LEAST_SHARE = 0.6, 0.4, 0.25
_MOST_SIMILAR = 1_000  # candidates for a goal: nobody asks how many there are
_MOST_CANDIDATES = 3_000  # that have one of the rarest terms of the question
_BLOCK = 12  # sessions of about the same share, whose texts are ranked
_MOST_CHARS = 500_000  # of the texts that are ranked at once
_MOST_FAILING = 10  # sessions with a failure, of which one may be about the question
MOST_OFFSET = 2**31  # SQLite takes no number beyond 63 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """The criteria of a search; an empty one does not count."""

    query: str = ""
    tags: tuple[str, ...] = ()  # a session needs all
    status: str = ""
    agent: str = ""
    since: str = ""  # of the last save: a day or moment, ISO 8601, inclusive
    until: str = ""


class Hit(NamedTuple):
    """A session found. share: of the query, 0 to 1. project: "" for this one."""

    session: Session
    share: float | None = None
    project: str = ""

    @property
    def level(self) -> Level | None:
        """The share in a word; None without a query."""
        if self.share is None:
            return None
        return "high" if self.share >= _HIGH else "medium" if self.share >= MEDIUM_SHARE else "low"


class Page(NamedTuple):
    """Some hits, best first, and the count of all."""

    hits: list[Hit]
    total: int
    failing_hit: Hit | None = None  # the best, on the page or not, with a failure on the query


class Candidates:
    """The sessions with a good share of a question.

    shares: by number. best: numbers, greatest share first, then the newer.
    """

    def __init__(
        self,
        connection: Connection,
        query: str,
        pool: Collection[int] | None = None,
        exclusions: Collection[int] = (),
        *,
        most: int = _MOST_CANDIDATES,
        any_word: bool = False,
    ) -> None:
        """Find them. The connection must stay open.

        pool: the only sessions allowed; `most` does not hold then. most: sessions with one of the
        rarest terms to look at. any_word: ignore words that no session has. exclusions: left out.
        """
        self._connection, self._query = connection, query
        most = most if pool is None else sys.maxsize
        self.coverage = coverage_of(SqliteTermIndex(connection, rows.INDEX), query, most)
        shares = self.coverage.shares(LEAST_SHARE, any_word=any_word)
        numbers = set(shares if pool is None else pool).difference(exclusions)
        self.shares = {number: share for number, share in shares.items() if number in numbers}
        self.best = sorted(self.shares, key=lambda n: (self.shares[n], n), reverse=True)

    def page_of(self, offset: int, limit: int) -> list[Hit]:
        """Return the hits of a page. No two overlap; the ranker orders near shares."""
        first, frequencies = offset // _BLOCK * _BLOCK, self.coverage.frequencies()
        hits = list[Hit]()
        for start in range(first, min(offset + limit, len(self.best)), _BLOCK):
            block = self.hits_of(sorted(self.best[start : start + _BLOCK]))
            texts, left_chars = list[str](), _MOST_CHARS
            for session in (hit.session for hit in block):
                first_texts = session.goal, json.dumps(session.tags, ensure_ascii=False)
                other_texts = replace(session, goal="", tags=(), summary="").texts
                texts.append("\n".join([*first_texts, session.summary, *other_texts])[:left_chars])
                left_chars -= len(texts[-1])
            hits += [block[i] for i in Ranking(self._query, texts, frequencies).order()]
        return hits[offset - first : offset - first + limit]

    def hits_of(self, numbers: Sequence[int]) -> list[Hit]:
        """Return these sessions in this order, each with its share."""
        condition = f"number IN ({', '.join(map(str, numbers))})"
        sessions = rows.sessions_where(self._connection, condition)
        hits = {session.number: Hit(session, self.shares[session.number]) for session in sessions}
        return [hits[number] for number in numbers if number in hits]

    def find_failing(self, hits: Sequence[Hit]) -> Hit | None:
        """Return the best session beside the hits with a failure or blocker on the question."""
        numbers = {hit.session.number for hit in hits}
        condition = f"has_warnings AND number IN ({', '.join(map(str, self.best))})"
        statement = f"SELECT number FROM contexts WHERE {condition}"
        failing_numbers = {number for (number,) in self._connection.execute(statement)} - numbers
        best_numbers = [number for number in self.best if number in failing_numbers]
        return find_failing_hit(self._query, self.hits_of(best_numbers[:_MOST_FAILING]))


def search(store: SessionStore, criteria: Criteria, *, limit: int, offset: int = 0) -> Page:
    """Return the matches, most relevant first; without a query the newest first.

    offset: how many to skip. A session needs a quarter of the query's words that any session has.
    Raises errors of the store.
    """
    offset, tags = min(offset, MOST_OFFSET), _plain_tags(criteria.tags)
    conditions = {
        "status = ?": criteria.status,
        "agent = ?": criteria.agent,
        "updated_at >= ?": criteria.since,
        "updated_at < ?": end_of(criteria.until),
    }
    conditions = {condition: value for condition, value in conditions.items() if value}
    values = (*conditions.values(),)
    condition = " AND ".join([*conditions, *(["has_tags(tags)"] if tags else [])])
    statement = f"SELECT number FROM contexts WHERE {condition or '1'}"
    with store.reading() as connection:
        if tags:
            may_fit = lru_cache(maxsize=4_096)(lambda text: tags <= _plain_tags(rows.tags_of(text)))
            connection.create_function("has_tags", 1, may_fit)
        if not criteria.query.strip():
            [total] = connection.execute(f"SELECT count(*) FROM ({statement})", values).fetchone()
            clause = f"{condition or '1'} ORDER BY updated_at DESC, number DESC LIMIT ? OFFSET ?"
            sessions = rows.sessions_where(connection, clause, (*values, limit, offset))
            return Page([Hit(session) for session in sessions], total)
        pool = {n for (n,) in connection.execute(statement, values)} if condition else None
        candidates = Candidates(connection, criteria.query, pool, any_word=True)
        hits = candidates.page_of(offset, limit)
        failing = find_failing_hit(criteria.query, hits) or candidates.find_failing(hits)
        return Page(hits, len(candidates.best), failing)


def _plain_tags(tags: Iterable[str]) -> frozenset[str]:
    plain = (normal_form("NFC", tag).strip().casefold() for tag in tags)
    return frozenset(tag for tag in plain if tag)


def find_similar(
    store: SessionStore,
    goal: str,
    *,
    limit: int,
    new_session: Session | None = None,
    any_word: bool = False,
) -> list[Hit]:
    """Return the sessions on a goal, closest first, each with a share.

    new_session: left out with those before it. any_word: ignore words that no session has;
    LEAST_SHARE holds for the others.
    """
    with store.reading() as connection:
        chain = [new_session, *ancestors_of(connection, new_session)] if new_session else []
        exclusions, most = [session.number for session in chain], _MOST_SIMILAR
        candidates = Candidates(connection, goal, None, exclusions, most=most, any_word=any_word)
        return candidates.hits_of(candidates.best[:limit])  # a goal says enough by its words


def find_failing_hit(question: str, hits: Sequence[Hit]) -> Hit | None:
    """Return the first hit whose failures or open blockers have a word of the question."""
    points = [
        (hit, point) for hit in hits for point in hit.session.failures + hit.session.open_blockers
    ]
    indexes = indexes_about(question, [point for _, point in points]) if points else ()
    return points[min(indexes)][0] if indexes else None


def indexes_about(question: str, points: Sequence[Point]) -> set[int]:
    """Return the indexes of points with an exact word of a question."""
    texts = [f"{point.text}\n{point.why}" for point in points]
    return set(Ranking(question, texts).coverage().shares())


_MOST_TOP_TAGS = 10
DAYS: Mapping[str, int] = {"last_7_days": 7, "last_30_days": 30, "last_90_days": 90}


class Statistics(NamedTuple):
    """The counts of sessions, highest first."""

    sessions: int
    by_status: Mapping[str, int]
    by_agent: Mapping[str, int]
    top_tags: Mapping[str, int]
    failures: int  # failed approaches
    actions_per_session: float
    warned_sessions: int  # with a failure or open blocker
    continued_sessions: int  # with a later one


_IS_WITHIN = "(:since = '' OR coalesce(updated_at, created_at) >= :since)"
_IDS = f"SELECT id FROM contexts WHERE {_IS_WITHIN}"
_COUNTS = (
    "SELECT count(*) FROM contexts, json_each(metadata, '$.approaches') AS tried"
    f" WHERE {_IS_WITHIN} AND has_warnings AND json_valid(metadata)"
    " AND json_extract(metadata, tried.fullkey || '.result') = 'failed'",
    # A lesson that was shown is nothing that was done.
    f"SELECT count(*) FROM actions WHERE type != '{LESSON_KIND}' AND context_id IN ({_IDS})",
    f"SELECT count(*) FROM contexts WHERE has_warnings AND {_IS_WITHIN}",
    f"SELECT count(DISTINCT parent_id) FROM contexts WHERE parent_id IN ({_IDS})",
)


def statistics_of(store: SessionStore, range_: str = "all") -> Statistics:
    """Count the sessions last saved in a range (a key of DAYS, or all). Raises as the store."""
    moment = datetime.now(UTC) - timedelta(days=DAYS.get(range_, 0))
    since = {"since": moment.isoformat(timespec="seconds") if range_ in DAYS else ""}
    statuses, agents, tags = Counter[str](), Counter[str](), Counter[str]()
    with store.reading() as connection:
        cursor = connection.execute(
            f"SELECT status, agent, tags FROM contexts WHERE {_IS_WITHIN}", since
        )
        for status, agent, tags_text in map(rows.decode_row, cursor):
            statuses[status or "planning"] += 1
            agents[agent or ""] += 1
            tags.update(set(rows.tags_of(tags_text)))
        cursors = (connection.execute(statement, since) for statement in _COUNTS)
        failed, actions, warned, continued = (cursor.fetchone()[0] for cursor in cursors)

    def rank_counts(counter: Counter[str], most: int | None = None) -> dict[str, int]:
        return dict(sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))[:most])

    sessions = statuses.total()
    counts_by_name = rank_counts(statuses), rank_counts(agents), rank_counts(tags, _MOST_TOP_TAGS)
    actions_per_session = actions / sessions if sessions else 0.0
    return Statistics(sessions, *counts_by_name, failed, actions_per_session, warned, continued)


def all_tags_of(store: SessionStore) -> list[str]:
    """Return each tag once. Raises errors of the store."""
    with store.reading() as connection:
        cursor = connection.execute("SELECT DISTINCT tags FROM contexts")
        return [*dict.fromkeys(tag for (text,) in cursor for tag in rows.tags_of(text))]


# Projects that share: no repository can carry a consent, which is a file in the user's state
# directory. A search reads each project's own index; no copy of a session leaves its project.

_CONSENT = "sessions-are-shared"
# Copies of short texts, made by older versions.
_FORMER_COPIES = ("global.db", "global.db-wal", "global.db-shm")
_LEVELS: tuple[Level | None, ...] = (None, "low", "medium", "high")  # the worst first
_MOST_BYTES = 10_000  # of a path in a consent
_WAIT_S = 1  # for a writer in another project


def share_project(root: Path, environment: Mapping[str, str]) -> None:
    """Let the user's other projects find this one's sessions. Raises SessionsError."""
    path = _consent_path_of(os.fspath(root), environment)
    if path is None:
        raise SessionsError("no_state")
    with errors_as(SessionsError, "no_consent", path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        consent = os.path.realpath(root).encode("utf-8", "surrogateescape")
        replace_file(path, consent, is_private=True)
    remove_former_copies(root, environment)


def unshare_project(root: Path | str, environment: Mapping[str, str]) -> bool:
    """Take the consent back; return whether there was one. Raises SessionsError."""
    path = _consent_path_of(os.fspath(root), environment)
    if path is None:
        return False
    remove_former_copies(root, environment)
    with errors_as(SessionsError, "no_consent", path), suppress(FileNotFoundError):
        path.unlink()
        return True
    return False


def _consent_path_of(root: str, environment: Mapping[str, str]) -> Path | None:
    """Return the consent's file; None for an account without a home directory."""
    directory = state_directory(root, environment)
    return Path(directory, _CONSENT) if directory else None


def shared_roots(root: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the directories of all sharing projects, some perhaps gone. root: any project's."""
    path, roots = _consent_path_of(os.fspath(root), environment), list[str]()
    for consent in path.parent.parent.glob(f"*/{_CONSENT}") if path else ():
        with suppress(OSError), open(consent, encoding="utf-8", errors="surrogateescape") as file:
            shared_root = file.read(_MOST_BYTES)
            # A consent in the place of another project is none.
            if os.path.isabs(shared_root) and _consent_path_of(shared_root, environment) == consent:
                roots.append(shared_root)
    return sorted(roots)


def remove_former_copies(root: Path | str, environment: Mapping[str, str]) -> None:
    """Remove the database into which older versions copied texts."""
    directory = state_directory(os.fspath(root), environment)
    for name in _FORMER_COPIES if directory else ():
        with suppress(OSError):
            os.unlink(os.path.join(os.path.dirname(directory), name))


def search_all(store: SessionStore, criteria: Criteria, *, limit: int, offset: int = 0) -> Page:
    """Search this project and all that share, best first: by level, then the newer.

    Each project keeps its order. `Hit.project` names another project; an unreadable one is passed
    over. Raises errors of the store.
    """

    def worth_of(hit: Hit) -> tuple[int, str]:
        return _LEVELS.index(hit.level), hit.session.updated_at

    offset = min(offset, MOST_OFFSET)
    pages = [search(store, criteria, limit=offset + limit)]
    for other_store in other_stores(store.root):
        with suppress(SentinelError, OSError):
            page = search(other_store, criteria, limit=offset + limit)
            name = other_store.root.name or str(other_store.root)
            hits = [hit._replace(project=name) for hit in page.hits]
            failing = page.failing_hit and page.failing_hit._replace(project=name)
            pages.append(Page(hits, page.total, failing))
    merged = heapq.merge(*(page.hits for page in pages), key=worth_of, reverse=True)
    all_failing = [page.failing_hit for page in pages if page.failing_hit]
    return Page(
        hits=list(islice(merged, offset, offset + limit)),
        total=sum(page.total for page in pages),
        failing_hit=max(all_failing, key=worth_of, default=None),
    )


def other_stores(root: Path) -> Iterator[SessionStore]:
    """Yield the stores of the other sharing projects, for reading."""
    own_root = os.path.realpath(root)
    for other_root in shared_roots(root, os.environ):
        if other_root != own_root and os.path.isdir(other_root):
            with suppress(SentinelError, OSError):
                yield open_sessions(Path(other_root), Settings(lock_timeout_s=_WAIT_S))


def find_session(store: SessionStore, name: str) -> tuple[SessionStore, Session]:
    """Return a session by number or id, with its store; an id also from sharing projects.

    Raises NoSuchSessionError, and SessionsError with the file of an archived session.
    """
    try:
        return store, store.get(name)
    except NoSuchSessionError:
        if name.strip().startswith("ctx_"):
            for other_store in other_stores(store.root):
                with suppress(SentinelError, OSError):
                    return other_store, other_store.get(name)
        raise


def former_archive_of(store: SessionStore, session: Session) -> str:
    """Return an older version's archive with the session's texts; mostly ""."""
    if not FORMER_ARCHIVE.match(session.archive):
        return ""
    return (store.path.parent / session.archive).relative_to(store.root).as_posix()
