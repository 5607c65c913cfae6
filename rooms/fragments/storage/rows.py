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
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from core.room.full_text import INDEXED_VERSION, TermIndex, coverage_of
from core.text.ranking import Coverage
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import Embedding, Entry, Filter, Fragment, Link, plain_keyword
from rooms.fragments.storage.columns import ENTRY_TABLES, FRAGMENTS, ID_COLUMNS, LINKS, Table

MOST_NUMBER = 2**63 - 1  # that a database knows
_PAGE_FRAGMENTS = 500  # fragments of a page
ORDERS: dict[schema.Order, str] = {
    "number": "number",
    "newest": "created_at DESC, number DESC",
    "changed": "{} DESC, number DESC",
    "worth": "is_anchor DESC, importance DESC, created_at DESC, number DESC",
}
INDEX_STATE = "index"  # in the state: the version of `with_pieces` that made the index
_DAY_CHARS = 10  # of a day as text

# The fields by which texts and keywords are found or hidden.
_INDEXED_FIELDS = {"content", "topic", "keywords", "deleted_at", "superseded_at"}

Condition = tuple[str, list[Any]]  # in SQL with ? for each value, and the values
Tallies = list[tuple[int, int]]  # numbers of fragments, and a count for each


class Rows(ABC):
    """The fragments as one transaction sees them.

    agent: whose transaction it is, "" for all. An agent changes only its own fragments; an engine
    of several agents shows it only its own and DEFAULT_AGENT's.
    """

    # The dialect.
    lacks_moment: ClassVar[str]  # behind a column: it holds no moment
    has_moment: ClassVar[str]
    has_keyword: str  # a condition for `fragments`, ? is the keyword as `plain_keyword`
    has_vector: ClassVar[str]
    changed_at: ClassVar[str]  # `Fragment.changed_at`
    value_sql: ClassVar[Mapping[str, str]] = {}  # the SQL for the value of a column, unless it is ?
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
    def encode(self, field: str, value: Any) -> Any:
        """Return a value as its column holds it."""

    def derive_columns(self, fragment: Fragment) -> dict[str, Any]:
        """Return the columns beside the fields."""
        return {"plain_topic": plain_keyword(fragment.topic)}

    def state_key(self, agent: str, name: str) -> dict[str, str]:
        """agent: "" for the room."""
        return {"name": name}

    def order_clause(self, columns: Sequence[str]) -> str:
        """Return the ORDER BY that compares as Python does."""
        return ", ".join(columns)

    def update_index(self, before: Fragment | None, after: Fragment | None) -> None:  # noqa: B027
        """Update an index beside the columns. before, after: None for a new, a removed fragment."""

    @abstractmethod
    def term_index(self) -> TermIndex[Any]:
        """Return the index of live texts."""

    # Questions.

    def by_ids(self, ids: Iterable[str]) -> list[Fragment]:
        """Return fragments in this order, without the missing."""
        return self._find_by("id", list(ids))

    def by_numbers(self, numbers: Iterable[int]) -> list[Fragment]:
        """Return fragments in this order, without the missing."""
        return self._find_by("number", list(numbers))

    def find(
        self, filter_: Filter, *, order: schema.Order = "number", limit: int = 0, offset: int = 0
    ) -> list[Fragment]:
        """order: by `number`, ascending; `newest` or last `changed` first; `worth`: anchors, then
        importance, then the newest. Of equals the greater number comes first. limit: 0 for all.
        """
        condition, values = self.condition_of(filter_)
        statement = f"SELECT {FRAGMENTS.column_list} FROM fragments WHERE {condition}"
        statement += f" ORDER BY {ORDERS[order].format(self.changed_at)} LIMIT ? OFFSET ?"
        return self.fragments(statement, [*values, limit or MOST_NUMBER, offset])

    def count(self, filter_: Filter, by: schema.Group = "", *, least: int = 0) -> dict[str, int]:
        """Count fragments by a field, {"": 52} without one. least: leave out rarer values."""
        condition, values = self.condition_of(filter_)
        column = f"coalesce({FRAGMENTS.columns[by]}, '')" if by else "''"
        group = f" GROUP BY 1 HAVING count(*) >= {least:d}" if by else ""
        statement = f"SELECT {column}, count(*) FROM fragments WHERE {condition}{group}"
        return dict(sorted(self.run(statement, values), key=lambda row: str(row[0])))

    def has(self, filter_: Filter, count: int = 1) -> bool:
        """Return whether there are at least `count`; count no further."""
        condition, values = self.condition_of(filter_)
        matches = f"SELECT 1 FROM fragments WHERE {condition} LIMIT ?"
        [total] = self.run(f"SELECT count(*) FROM ({matches}) counted", [*values, count]).fetchone()
        return bool(total >= count)

    @abstractmethod
    def count_keywords(self, keywords: Sequence[str], filter_: Filter, most: int) -> Tallies:
        """Return numbers and how many keywords each has, the most first, then greater numbers."""

    def coverage(self, query: str, most: int) -> Coverage:
        """Return which live fragments have strong terms. most: looked at for the rarest terms."""
        return coverage_of(self.term_index(), query, most)

    @abstractmethod
    def nearest_cosines(self, vector: bytes, filter_: Filter, most: int) -> list[tuple[int, float]]:
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
            condition, keys = self.any_of(column, ends)
            selects.append(f"SELECT id FROM fragment_links WHERE {condition} AND {kinds}")
            values += [*keys, *words]
        statement = f"SELECT {LINKS.column_list} FROM fragment_links WHERE id IN"
        rows = self.run(f"{statement} ({' UNION ALL '.join(selects)}) ORDER BY id", values)
        return list(map(LINKS.read, rows))

    def count_links(self, filter_: Filter) -> dict[str, int]:
        """Count the fragments' links by relation."""
        condition, values = self.condition_of(filter_)
        ids = f"SELECT id FROM fragments WHERE {condition}"
        statement = "SELECT relation_type, count(*) FROM fragment_links WHERE from_id IN"
        rows = self.run(f"{statement} ({ids}) GROUP BY 1", values)
        return dict(sorted(rows, key=lambda row: str(row[0])))

    def entries(self, kind: type[Entry], *, subject: str = "", since: str = "") -> list[Any]:
        """Return entries of a kind, oldest first. subject: a fragment or session."""
        table = ENTRY_TABLES[kind]
        condition, values = self._condition_of_entries(table, subject=subject, since=since)
        condition += f" ORDER BY {self.order_clause(table.order)}"
        statement = f"SELECT {table.column_list} FROM {table.name} WHERE {condition}"
        return list(map(table.read, self.run(statement, values)))

    def count_entries(self, kind: type[Entry]) -> int:
        return int(self.run(f"SELECT count(*) FROM {ENTRY_TABLES[kind].name}").fetchone()[0])

    def state(self) -> dict[str, str]:
        """Return the figures, added up over agents, and the place of the upkeep, by name."""
        state = dict[str, str]()
        for name, value in sorted(self.run("SELECT name, value FROM state")):
            before = state.get(name, "0")
            is_figure = before.isdecimal() and value.isdecimal()
            state[name] = str(int(before) + int(value)) if is_figure else value
        state.pop(INDEX_STATE, None)
        return state

    # Changes.

    @abstractmethod
    def add(self, fragments: Sequence[Fragment]) -> list[Fragment]:
        """Store new fragments; return them with their numbers."""

    def replace(self, fragments: Sequence[Fragment]) -> None:
        """Overwrite own fragments by number; a changed text loses its vector."""
        numbers = [fragment.number for fragment in fragments]
        by_number = {fragment.number: fragment for fragment in self.by_numbers(numbers)}
        for fragment in fragments:
            before = by_number.get(fragment.number)
            if before is None or self.agent not in ("", before.agent):
                continue
            row = self.row_of(fragment)
            changes = ", ".join(f"{column} = {self.value_sql.get(column, '?')}" for column in row)
            statement = f"UPDATE fragments SET {changes} WHERE number = ?"
            self.run(statement, [*row.values(), fragment.number])
            self.update_index(before, fragment)
            if fragment.text != before.text:
                self.drop_vectors([fragment.number])
            by_number[fragment.number] = fragment

    def set_fields(self, numbers: Iterable[int], values: Mapping[str, Any]) -> None:
        if values.keys() & _INDEXED_FIELDS:
            self.replace([replace(fragment, **values) for fragment in self.by_numbers(numbers)])
        elif values:
            changes = ", ".join(f"{FRAGMENTS.columns[field]} = ?" for field in values)
            row_values = [self.encode(field, value) for field, value in values.items()]
            condition, keys = self.any_of("number", numbers)
            self.run(f"UPDATE fragments SET {changes} WHERE {condition}", [*row_values, *keys])

    def drop(self, ids: Iterable[str]) -> int:
        """Remove own fragments with links, versions, suspicions and vectors; return how many."""
        dropped = [fragment for fragment in self.by_ids(ids) if self.agent in ("", fragment.agent)]
        if not dropped:
            return 0
        self.drop_vectors([fragment.number for fragment in dropped])
        for fragment in dropped:
            self.update_index(fragment, None)
        for table, column in ID_COLUMNS:
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

    def put_entries(self, entries: Iterable[Entry]) -> None:
        """Store entries; an activity or a suspicion replaces that with its key."""
        for entry in entries:
            table = ENTRY_TABLES[type(entry)]
            row = self._values_of(table, entry)
            self._put(table.name, row, table.key, row)

    def drop_entries(self, kind: type[Entry], *, subject: str = "", before: str = "") -> int:
        """Remove entries about a fragment or session, before a moment, or all; return how many."""
        table = ENTRY_TABLES[kind]
        condition, values = self._condition_of_entries(table, subject=subject, before=before)
        return int(self.run(f"DELETE FROM {table.name} WHERE {condition}", values).rowcount)

    def is_index_of_this_version(self) -> bool:
        """Return whether this version of `with_pieces` made the index."""
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
        sum_sql = "CAST(CAST(state.value AS bigint) + CAST(excluded.value AS bigint) AS text)"
        for name, figure in figures.items():
            if figure:
                key = self.state_key(self.agent, name)
                self._put("state", key | {"value": str(figure)}, key, ("value",), sum_sql)

    # For the engines.

    def fragments(self, statement: str, values: Iterable[Any]) -> list[Fragment]:
        """Run a statement that selects the columns of FRAGMENTS."""
        return list(map(FRAGMENTS.read, self.run(statement, values)))

    def condition_of(self, filter_: Filter) -> Condition:
        lacks, has = self.lacks_moment, self.has_moment
        states: dict[schema.State, str] = {
            "live": f"deleted_at {lacks} AND superseded_at {lacks}",
            "superseded": f"deleted_at {lacks} AND superseded_at {has}",
            "bin": f"deleted_at {has}",
            "kept": f"deleted_at {lacks}",
            "all": "1 = 1",
        }
        conditions: list[Condition] = [(states[filter_.state], [])]
        choices: dict[str, Sequence[str]] = {
            "agent_id" if filter_.content_hash else self.agent_column: filter_.agents,
            "type": filter_.kinds,
            "lifetime": filter_.lifetimes,
            "plain_topic": tuple(map(plain_keyword, filter_.topics)),
        }
        conditions += [self.any_of(column, words) for column, words in choices.items() if words]
        if filter_.numbers is not None:
            conditions.append(self.any_of("number", filter_.numbers))
        for name in ("session", "privacy", "content_hash"):
            if value := getattr(filter_, name):
                conditions.append((f"{FRAGMENTS.columns[name]} = ?", [value]))
        if filter_.after:
            conditions.append(("number > ?", [filter_.after]))
        starts = {"created_at": filter_.since, self.changed_at: filter_.changed_since}
        conditions += [(f"{sql} >= ?", [_bound_of(text)]) for sql, text in starts.items() if text]
        if filter_.until:
            conditions.append(("created_at <= ?", [_bound_of(filter_.until, is_end=True)]))
        if filter_.is_checked is not None:
            conditions.append((f"checked_at {has if filter_.is_checked else lacks}", []))
        if filter_.is_anchor is not None:
            conditions.append(("is_anchor = ?", [filter_.is_anchor]))
        if filter_.has_vector is not None:
            conditions.append((f"{'' if filter_.has_vector else 'NOT '}({self.has_vector})", []))
        conditions += [(self.has_keyword, [plain_keyword(keyword)]) for keyword in filter_.keywords]
        texts, values = zip(*conditions, strict=True)
        return " AND ".join(texts), [*chain.from_iterable(values)]

    def _condition_of_entries(
        self, table: Table, *, subject: str = "", since: str = "", before: str = ""
    ) -> Condition:
        has_subject = " OR ".join(f"{column} = ?" for column in table.subject)
        arguments: dict[str, list[Any]] = {
            f"({has_subject})": [subject] * len(table.subject) if subject else [],
            f"{table.moment} >= ?": [_bound_of(since)] if since else [],
            f"{table.moment} < ?": [_bound_of(before)] if before else [],
        }
        conditions = [condition for condition, values in arguments.items() if values]
        return " AND ".join(conditions or ["1 = 1"]), [*chain.from_iterable(arguments.values())]

    def _find_by(self, column: str, keys: Sequence[Any]) -> list[Fragment]:
        condition, values = self.any_of(column, keys)
        statement = f"SELECT {FRAGMENTS.column_list} FROM fragments WHERE {condition}"
        fragments = self.fragments(statement, values)
        by_key = {getattr(fragment, column): fragment for fragment in fragments}
        return [by_key[key] for key in dict.fromkeys(keys) if key in by_key]

    def _values_of(self, table: Table, row: Any) -> dict[str, Any]:
        columns = table.columns.items()
        return {column: self.encode(field, getattr(row, field)) for field, column in columns}

    def row_of(self, fragment: Fragment) -> dict[str, Any]:
        """Return the columns of a fragment, without its number."""
        row = self._values_of(FRAGMENTS, fragment) | self.derive_columns(fragment)
        del row["number"]
        return row

    def _put(
        self, table: str, row: Mapping[str, Any], key: Iterable[str], changing: Iterable[str],
        new_sql: str = "",
    ) -> None:  # fmt: skip
        """Store a row, or set `changing` where its key exists. new_sql: to this SQL."""
        names, placeholders = ", ".join(row), ", ".join("?" * len(row))
        changes = ", ".join(f"{column} = {new_sql or f'excluded.{column}'}" for column in changing)
        conflict = f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}" if key else ""
        self.run(f"INSERT INTO {table} ({names}) VALUES ({placeholders}){conflict}", row.values())


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
def statements_of(file_name: str) -> dict[str, list[str]]:
    """Return the statements of a file beside this one, by the heading above them."""
    text = Path(__file__).with_name(file_name).read_text(encoding="utf-8")
    parts = re.split(r"^-- (version \d+|always|security):.*\n", text, flags=re.MULTILINE)[1:]
    sections = (re.sub(r"^--.*\n", "", part, flags=re.MULTILINE) for part in parts[1::2])
    statements = (map(str.strip, re.split(r";\n(?:\n|\Z)", section)) for section in sections)
    return dict(zip(parts[::2], ([*filter(None, texts)] for texts in statements), strict=True))


def pages_of(rows: Rows, filter_: Filter) -> Iterator[list[Fragment]]:
    """Yield the filter's fragments in pages, by number."""
    while True:
        page = rows.find(filter_, limit=_PAGE_FRAGMENTS)
        if page:
            yield page
        if len(page) < _PAGE_FRAGMENTS:
            return
        filter_ = replace(filter_, after=page[-1].number)


def _bound_of(text: str, *, is_end: bool = False) -> str | None:
    """Return what to compare with a day or a moment. is_end: its last microsecond."""
    try:
        start = datetime.fromisoformat(text)
        if not start.tzinfo:
            start = start.replace(tzinfo=UTC)
        length = timedelta(days=1) if len(text) == _DAY_CHARS else timedelta(seconds=1)
        return (start + (length - datetime.resolution) if is_end else start).isoformat()
    except (ValueError, OverflowError):
        return None  # compares with nothing
