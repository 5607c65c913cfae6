"""Defines an engine, which keeps fragments, and its rows, with one set of SQL for every engine.

Every rule stands above these verbs. Subclasses fill in the dialect at the top of `Rows`.
docs/design.md says how to add one; `tests/rooms/fragments/test_engines.py` is the contract.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from core.room.full_text import INDEXED_VERSION, TermIndex, coverage_of
from core.text.ranking import Coverage
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Embedding, Entry, Filter, Fragment, Link, plain_keyword
from rooms.fragments.storage.columns import ENTRY_TABLES, FRAGMENTS, LINKS, NAMING, Table

MOST_NUMBER = 2**63 - 1  # that a database knows
_AT_ONCE = 500  # fragments of a page
ORDERS: dict[schema.Order, str] = {
    "number": "number",
    "newest": "created_at DESC, number DESC",
    "worth": "is_anchor DESC, importance DESC, created_at DESC, number DESC",
}
INDEX_STATE = "index"  # in the state: the version of `indexed` that made the index
_DAY_CHARS = 10  # of a day as text

# The fields by which texts and keywords are found or hidden.
_INDEXED_FIELDS = {"content", "topic", "keywords", "deleted_at", "superseded_at"}

Condition = tuple[str, list[Any]]  # in SQL with ? for each value, and the values
Counted = list[tuple[int, int]]  # numbers of fragments, and a count for each


class Rows(ABC):
    """The fragments as one transaction sees them.

    agent: whose transaction it is, "" for all. An agent changes only its own fragments; an engine
    of several agents shows it only its own and DEFAULT_AGENT's.
    """

    # The dialect.
    no_moment: ClassVar[str]  # behind a column: it holds no moment
    a_moment: ClassVar[str]
    has_keyword: str  # a condition for `fragments`, ? is the keyword as `plain_keyword`
    has_vector: ClassVar[str]
    marks: ClassVar[Mapping[str, str]] = {}  # the SQL for the value of a column, unless it is ?
    agent_column: ClassVar[str] = "agent_id"  # unless a hash of a content is asked for, too

    def __init__(self, agent: str = "") -> None:
        self.agent = agent

    @abstractmethod
    def run(self, statement: str, values: Iterable[Any] = ()) -> Any:
        """Run a statement with ? for each value; return its cursor.

        A number above MOST_NUMBER counts as that; half of a character is found nowhere.
        """

    @abstractmethod
    def any_of(self, column: str, values: Iterable[Any]) -> Condition:
        """Return the condition that a column has one of many values."""

    @abstractmethod
    def encoded(self, field: str, value: Any) -> Any:
        """Return a value as its column holds it."""

    def derived(self, fragment: Fragment) -> dict[str, Any]:
        """Return the columns beside the fields."""
        return {"plain_topic": plain_keyword(fragment.topic)}

    def state_key(self, agent: str, name: str) -> dict[str, str]:
        """agent: "" for the room."""
        return {"name": name}

    def ordered(self, columns: Sequence[str]) -> str:
        """Return the ORDER BY that compares as Python does."""
        return ", ".join(columns)

    def index(self, before: Fragment | None, after: Fragment | None) -> None:  # noqa: B027
        """Update an index beside the columns. before, after: None for a new, a removed fragment."""

    @abstractmethod
    def terms(self) -> TermIndex[Any]:
        """Return the index of live texts."""

    # Questions.

    def by_ids(self, ids: Iterable[str]) -> list[Fragment]:
        """Return fragments in this order, without the missing."""
        return self._by("id", list(ids))

    def by_numbers(self, numbers: Iterable[int]) -> list[Fragment]:
        """Return fragments in this order, without the missing."""
        return self._by("number", list(numbers))

    def find(
        self, wanted: Filter, *, order: schema.Order = "number", limit: int = 0, offset: int = 0
    ) -> list[Fragment]:
        """order: by `number`, ascending; `newest` first; `worth`: anchors first, then by
        importance, then the newest. Of equals the greater number comes first. limit: 0 for all.
        """
        condition, values = self.condition_of(wanted)
        return self.fragments(
            f"SELECT {FRAGMENTS.selected} FROM fragments WHERE {condition}"
            f" ORDER BY {ORDERS[order]} LIMIT ? OFFSET ?",
            [*values, limit or MOST_NUMBER, offset],
        )

    def count(self, wanted: Filter, by: schema.By = "", *, least: int = 0) -> dict[str, int]:
        """Count the wanted by a field, {"": 52} without one. least: leave out rarer values."""
        condition, values = self.condition_of(wanted)
        column = f"coalesce({FRAGMENTS.columns[by]}, '')" if by else "''"
        group = f" GROUP BY 1 HAVING count(*) >= {least:d}" if by else ""
        statement = f"SELECT {column}, count(*) FROM fragments WHERE {condition}{group}"
        return dict(sorted(self.run(statement, values), key=lambda row: str(row[0])))

    def has(self, wanted: Filter, count: int = 1) -> bool:
        """Return whether there are at least `count`; count no further."""
        condition, values = self.condition_of(wanted)
        some = f"SELECT 1 FROM fragments WHERE {condition} LIMIT ?"
        [found] = self.run(f"SELECT count(*) FROM ({some}) counted", [*values, count]).fetchone()
        return bool(found >= count)

    @abstractmethod
    def count_keywords(self, keywords: Sequence[str], wanted: Filter, most: int) -> Counted:
        """Return numbers and how many keywords each has, the most first, then greater numbers."""

    def coverage(self, query: str, most: int) -> Coverage:
        """Return which live fragments have strong terms. most: looked at for the rarest terms."""
        return coverage_of(self.terms(), query, most)

    @abstractmethod
    def nearest_cosines(self, vector: bytes, wanted: Filter, most: int) -> list[tuple[int, float]]:
        """Return numbers and cosines, to six decimals.

        The nearest come first, of equals the greater number. A vector of another length, and bytes
        that are none, are near to nothing.
        """

    @abstractmethod
    def vectors(self, numbers: Iterable[int]) -> list[Embedding]:
        """Return the embeddings that there are, by number."""

    def links(self, ids: Iterable[str], relations: Sequence[str] = ()) -> list[Link]:
        """Return the links from and to fragments, oldest first. relations: () for all."""
        ends, selects, values = list(ids), list[str](), list[Any]()
        kinds, words = self.any_of("relation_type", relations) if relations else ("1 = 1", [])
        for column in ("from_id", "to_id"):  # by the index of each
            condition, some = self.any_of(column, ends)
            selects.append(f"SELECT id FROM fragment_links WHERE {condition} AND {kinds}")
            values += [*some, *words]
        statement = f"SELECT {LINKS.selected} FROM fragment_links WHERE id IN"
        rows = self.run(f"{statement} ({' UNION ALL '.join(selects)}) ORDER BY id", values)
        return list(map(LINKS.read, rows))

    def count_links(self, wanted: Filter) -> dict[str, int]:
        """Count the wanted fragments' links by relation."""
        condition, values = self.condition_of(wanted)
        statement = (
            "SELECT relation_type, count(*) FROM fragment_links WHERE from_id IN"
            f" (SELECT id FROM fragments WHERE {condition}) GROUP BY 1"
        )
        return dict(sorted(self.run(statement, values), key=lambda row: str(row[0])))

    def entries(self, kind: type[Entry], *, subject: str = "", since: str = "") -> list[Any]:
        """Return entries of a kind, oldest first. of: the fragment or session they are about."""
        table = ENTRY_TABLES[kind]
        condition, values = self._condition_of_entries(table, subject=subject, since=since)
        statement = (
            f"SELECT {table.selected} FROM {table.name} WHERE {condition}"
            f" ORDER BY {self.ordered(table.order)}"
        )
        return list(map(table.read, self.run(statement, values)))

    def count_entries(self, kind: type[Entry]) -> int:
        return int(self.run(f"SELECT count(*) FROM {ENTRY_TABLES[kind].name}").fetchone()[0])

    def state(self) -> dict[str, str]:
        """Return the figures, added up over agents, and the place of the upkeep, by name."""
        kept = dict[str, str]()
        for name, value in sorted(self.run("SELECT name, value FROM state")):
            before = kept.get(name, "0")
            is_figure = before.isdecimal() and value.isdecimal()
            kept[name] = str(int(before) + int(value)) if is_figure else value
        kept.pop(INDEX_STATE, None)
        return kept

    # Changes.

    @abstractmethod
    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        """Store new fragments; return them with their numbers."""

    def replace(self, fragments: Sequence[Fragment]) -> None:
        """Overwrite own fragments by number; a changed text loses its vector."""
        present = {each.number: each for each in self.by_numbers(it.number for it in fragments)}
        for fragment in fragments:
            before = present.get(fragment.number)
            if before is None or self.agent not in ("", before.agent):
                continue
            row = self.row_of(fragment)
            setting = ", ".join(f"{column} = {self.marks.get(column, '?')}" for column in row)
            statement = f"UPDATE fragments SET {setting} WHERE number = ?"
            self.run(statement, [*row.values(), fragment.number])
            self.index(before, fragment)
            if fragment.text != before.text:
                self.drop_vectors([fragment.number])
            present[fragment.number] = fragment

    def set_fields(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        if values.keys() & _INDEXED_FIELDS:
            self.replace([replace(each, **values) for each in self.by_numbers(numbers)])
        elif values:
            setting = ", ".join(f"{FRAGMENTS.columns[field]} = ?" for field in values)
            new = [self.encoded(field, value) for field, value in values.items()]
            condition, which = self.any_of("number", numbers)
            self.run(f"UPDATE fragments SET {setting} WHERE {condition}", [*new, *which])

    def drop(self, ids: Iterable[str]) -> int:
        """Remove own fragments with links, versions, suspicions and vectors; return how many."""
        dropped = [each for each in self.by_ids(ids) if self.agent in ("", each.agent)]
        if not dropped:
            return 0
        self.drop_vectors([each.number for each in dropped])
        for fragment in dropped:
            self.index(fragment, None)
        for table, column in NAMING:
            condition, values = self.any_of(column, [fragment.id for fragment in dropped])
            self.run(f"DELETE FROM {table} WHERE {condition}", values)
        return len(dropped)

    def put_links(self, links: Iterable[Link]) -> None:
        """Store links; a linked pair gets the new relation."""
        for link in links:
            self._put(LINKS.name, self._values_of(LINKS, link), LINKS.key, ("relation_type",))

    def drop_links(self, links: Iterable[Link]) -> int:
        """Remove links by their ends; return how many."""
        statement = "DELETE FROM fragment_links WHERE from_id = ? AND to_id = ?"
        return sum(self.run(statement, (link.from_id, link.to_id)).rowcount for link in links)

    @abstractmethod
    def put_vectors(self, embeddings: Iterable[Embedding]) -> None:
        """Store vectors in place of earlier ones."""

    @abstractmethod
    def drop_vectors(self, numbers: Iterable[int] | None = None) -> None:
        """numbers: None for all."""

    def note(self, entries: Iterable[Entry]) -> None:
        """Store entries; an activity or a suspicion replaces that with its key."""
        for entry in entries:
            table = ENTRY_TABLES[type(entry)]
            row = self._values_of(table, entry)
            self._put(table.name, row, table.key, row)

    def drop_entries(self, kind: type[Entry], *, subject: str = "", before: str = "") -> int:
        """Remove entries about a fragment or session, before a moment, or all; return how many."""
        condition, values = self._condition_of_entries(
            ENTRY_TABLES[kind], subject=subject, before=before
        )
        statement = f"DELETE FROM {ENTRY_TABLES[kind].name} WHERE {condition}"
        return int(self.run(statement, values).rowcount)

    def is_index_of_this_version(self) -> bool:
        """Return whether this version of `indexed` made the index."""
        row = self.run("SELECT value FROM state WHERE name = ?", [INDEX_STATE]).fetchone()
        return bool(row == (str(INDEXED_VERSION),))

    @abstractmethod
    def mend_index(self) -> bool:
        """Rebuild the index if it is out of step; return whether it was."""

    def set_state(self, values: Mapping[str, str]) -> None:
        """The values are of no agent; "" removes one."""
        for name, value in values.items():
            key = self.state_key("", name)
            condition = " AND ".join(f"{column} = ?" for column in key)
            if value:
                self._put("state", key | {"value": value}, key, ("value",))
            else:
                self.run(f"DELETE FROM state WHERE {condition}", key.values())

    def count_up(self, figures: Mapping[str, int]) -> None:
        added = "CAST(CAST(state.value AS bigint) + CAST(excluded.value AS bigint) AS text)"
        for name, figure in figures.items():
            if figure:
                key = self.state_key(self.agent, name)
                self._put("state", key | {"value": str(figure)}, key, ("value",), added)

    # For the engines.

    def fragments(self, statement: str, values: Iterable[Any]) -> list[Fragment]:
        """Run a statement that selects the columns of FRAGMENTS."""
        return list(map(FRAGMENTS.read, self.run(statement, values)))

    def condition_of(self, wanted: Filter) -> Condition:
        none, any_moment = self.no_moment, self.a_moment
        states: dict[schema.State, str] = {
            "live": f"deleted_at {none} AND superseded_at {none}",
            "superseded": f"deleted_at {none} AND superseded_at {any_moment}",
            "bin": f"deleted_at {any_moment}",
            "kept": f"deleted_at {none}",
            "all": "1 = 1",
        }
        parts: list[Condition] = [(states[wanted.state], [])]
        choices: dict[str, Sequence[str]] = {
            "agent_id" if wanted.content_hash else self.agent_column: wanted.agents,
            "type": wanted.kinds,
            "lifetime": wanted.lifetimes,
            "plain_topic": tuple(map(plain_keyword, wanted.topics)),
        }
        parts += [self.any_of(column, words) for column, words in choices.items() if words]
        if wanted.numbers is not None:
            parts.append(self.any_of("number", wanted.numbers))
        for name in ("session", "privacy", "content_hash"):
            if value := getattr(wanted, name):
                parts.append((f"{FRAGMENTS.columns[name]} = ?", [value]))
        if wanted.after:
            parts.append(("number > ?", [wanted.after]))
        if wanted.since:
            parts.append(("created_at >= ?", [_bound(wanted.since)]))
        if wanted.until:
            parts.append(("created_at <= ?", [_bound(wanted.until, is_end=True)]))
        if wanted.is_checked is not None:
            parts.append((f"checked_at {any_moment if wanted.is_checked else none}", []))
        if wanted.is_anchor is not None:
            parts.append(("is_anchor = ?", [wanted.is_anchor]))
        if wanted.has_vector is not None:
            parts.append((f"{'' if wanted.has_vector else 'NOT '}({self.has_vector})", []))
        parts += [(self.has_keyword, [plain_keyword(keyword)]) for keyword in wanted.keywords]
        return " AND ".join(part for part, _ in parts), [it for _, some in parts for it in some]

    def _condition_of_entries(
        self, table: Table, *, subject: str = "", since: str = "", before: str = ""
    ) -> Condition:
        about = " OR ".join(f"{column} = ?" for column in table.subject)
        parts: dict[str, list[Any]] = {
            f"({about})": [subject] * len(table.subject) if subject else [],
            f"{table.moment} >= ?": [_bound(since)] if since else [],
            f"{table.moment} < ?": [_bound(before)] if before else [],
        }
        asked = [part for part, values in parts.items() if values]
        return " AND ".join(asked or ["1 = 1"]), [each for some in parts.values() for each in some]

    def _by(self, column: str, keys: Sequence[Any]) -> list[Fragment]:
        condition, values = self.any_of(column, keys)
        statement = f"SELECT {FRAGMENTS.selected} FROM fragments WHERE {condition}"
        found = {getattr(each, column): each for each in self.fragments(statement, values)}
        return [found[key] for key in dict.fromkeys(keys) if key in found]

    def _values_of(self, table: Table, row: Any) -> dict[str, Any]:
        columns = table.columns.items()
        return {column: self.encoded(field, getattr(row, field)) for field, column in columns}

    def row_of(self, fragment: Fragment) -> dict[str, Any]:
        """Return the columns of a fragment, without its number."""
        row = self._values_of(FRAGMENTS, fragment) | self.derived(fragment)
        del row["number"]
        return row

    def _put(
        self, table: str, row: Mapping[str, Any], key: Iterable[str], changing: Iterable[str],
        new: str = "",
    ) -> None:  # fmt: skip
        """Store a row, or set `changing` where its key exists. new: to this SQL."""
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        setting = ", ".join(f"{column} = {new or f'excluded.{column}'}" for column in changing)
        instead = f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {setting}" if key else ""
        self.run(f"INSERT INTO {table} ({names}) VALUES ({marks}){instead}", row.values())


class Engine(ABC):
    """Keeps fragments. Safe for threads."""

    name: str  # for people, a path or a server without its password
    keeps_agents_apart: bool = False  # whether an agent sees nothing of another

    @abstractmethod
    def reading(self) -> AbstractContextManager[Rows]:
        """Read one state; make nothing. Raises DatabaseError."""

    @abstractmethod
    def writing(self, *, wait_s: float | None = None) -> AbstractContextManager[Rows]:
        """Change fragments in one transaction: on disk as a whole at the end, or not at all.

        wait_s: for other writers, None for the settings'. Raises DatabaseError, WaitEndedError.
        """

    @abstractmethod
    def locked_upkeep(self, *, timeout_s: float) -> AbstractContextManager[None]:
        """Keep others from the upkeep; a killed process lets go at once. Raises UpkeepError."""

    @abstractmethod
    def exists(self) -> bool:
        """Return whether anything was ever stored."""

    @abstractmethod
    def purge(self) -> bool:
        """Remove the bytes of deleted rows; False if that has to wait."""

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and memory."""

    def keeps_vectors(self) -> bool:
        """False for a server without the extension."""
        return True

    def for_agent(self, agent: str) -> "Engine":
        """Return an agent's engine, "" for all: it changes its own, and sees the default's, too."""
        return self

    def figures(self) -> dict[str, int]:
        """Return counts since the opening, such as `redis_hits`."""
        return {}

    def keep_copy(self) -> None:  # noqa: B027 a server has nothing to do
        """Make the daily copy, if due; a server has none. Raises DatabaseError."""


@cache
def statements_of(schema: str) -> dict[str, list[str]]:
    """Return the statements of a file beside this one, by the heading above them."""
    text = Path(__file__).with_name(schema).read_text(encoding="utf-8")
    parts = re.split(r"^-- (version \d+|always|security):.*\n", text, flags=re.MULTILINE)[1:]
    bare = (re.sub(r"^--.*\n", "", part, flags=re.MULTILINE) for part in parts[1::2])
    statements = ([it.strip() for it in re.split(r";\n(?:\n|\Z)", part)] for part in bare)
    return dict(zip(parts[::2], ([*filter(None, some)] for some in statements), strict=True))


def pages_of(rows: Rows, wanted: Filter) -> Iterator[list[Fragment]]:
    """Yield wanted fragments in pages, by number."""
    while True:
        page = rows.find(wanted, limit=_AT_ONCE)
        if page:
            yield page
        if len(page) < _AT_ONCE:
            return
        wanted = replace(wanted, after=page[-1].number)


def _bound(text: str, *, is_end: bool = False) -> str | None:
    """Return what to compare with a day or a moment. is_end: its last microsecond."""
    try:
        start = datetime.fromisoformat(text)
        if not start.tzinfo:
            start = start.replace(tzinfo=UTC)
        lasts = timedelta(days=1) if len(text) == _DAY_CHARS else timedelta(seconds=1)
        return (start + (lasts - datetime.resolution) if is_end else start).isoformat()
    except (ValueError, OverflowError):
        return None  # compares with nothing
