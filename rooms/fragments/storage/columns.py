"""Maps fields to columns, and turns values of the room into a database's and back.

What another program may have put there is read as something that the room can work with. NUL, which
PostgreSQL does not keep, is stored there as U+0001 and 0, and U+0001 as itself and 1.
"""

import json
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from core.room.documents import texts_in
from rooms.fragments import fragment as schema
from rooms.fragments.fragment import column_of

if TYPE_CHECKING:
    from psycopg import Cursor

UNKNOWN_MOMENT = "1970-01-01T00:00:00+00:00"  # of an unreadable creation
_UNKNOWN_TIER = "warm"
_MOST_UTILITY = 1e9  # other shares end at 1
_ESCAPE, _ESCAPED = "\x01", re.compile("\x01([01])")
_FLOAT_BYTES, _HEAD_BYTES = 4, 4  # of a vector as PostgreSQL sends it


@dataclass(eq=False)  # each is one of its kind
class Table:
    """A table, the class of its rows, and its columns by field."""

    name: str
    row: type[Any]
    subject: tuple[str, ...] = ()  # columns of the subject
    moment: str = "created_at"  # column of the time
    order: tuple[str, ...] = ("id",)  # oldest first
    key: tuple[str, ...] = ()  # by which a new row replaces an old one; () if rows are only added

    def __post_init__(self) -> None:
        self.columns = {field.name: column_of(field.name) for field in fields(self.row)}
        self.column_list = ", ".join(self.columns.values())
        self._readers = [(field.name, _reader_of(field)) for field in fields(self.row)]

    def read(self, values: Sequence[Any]) -> Any:
        """Return a row from column values; a wrong value becomes a default."""
        readers = zip(self._readers, values, strict=True)
        return self.row(**{field: read(value) for (field, read), value in readers})


def is_moment(field: str) -> bool:
    return field.endswith("_at")


def _reader_of(field: Field[Any]) -> Callable[[Any], Any]:
    if get_origin(field.type) is Literal:  # another program may have stored another word
        words = get_args(field.type)
        word = _UNKNOWN_TIER if field.name == "tier" else field.default
        return lambda value: value if value in words else word
    if field.type is float:
        most = _MOST_UTILITY if field.name == "utility" else 1.0
        number = field.default if isinstance(field.default, float) else 0.0
        return lambda value: _number_of(value, most, number)
    if field.type is int:
        return lambda value: value if isinstance(value, int) else 0
    if field.type is bool:
        return bool
    if field.type is not str:
        return _texts_of
    if field.name == "created_at":
        return lambda value: moment_of(value) or UNKNOWN_MOMENT
    return moment_of if is_moment(field.name) else _text_of


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _texts_of(value: object) -> tuple[str, ...]:
    """Return the texts of a list, plain or in JSON."""
    if value == "[]":
        return ()
    try:
        texts = json.loads(value) if isinstance(value, str | bytes) else value
    except (ValueError, RecursionError):
        return ()
    return texts_in(texts)


@lru_cache(maxsize=4_096)  # many rows are of the same moment
def moment_of(value: object) -> str:
    """Return a moment with a zone; "" for another text."""
    text = _text_of(value)
    if text.endswith("+00"):  # as PostgreSQL sends it, whose connection is in UTC
        text = f"{text.replace(' ', 'T', 1)}:00"
    try:
        return text if text and datetime.fromisoformat(text).tzinfo else ""
    except ValueError:
        return ""


def _number_of(value: object, most: float, default: float) -> float:
    if not isinstance(value, int | float) or not isfinite(value):
        return default
    return min(max(float(value), 0.0), most)


FRAGMENTS = Table("fragments", schema.Fragment)
LINKS = Table("fragment_links", schema.Link, key=("from_id", "to_id"))
VERSIONS = Table("fragment_versions", schema.Version, ("fragment_id",), moment="amended_at")
_ENDS = ("first_id", "second_id")
SUSPICIONS = Table(
    "suspicions", schema.Suspicion, _ENDS, moment="found_at", order=("found_at", *_ENDS), key=_ENDS
)
_SESSION, _STARTED = ("session_id",), ("started_at", "session_id", "agent_id")
ENTRY_TABLES: dict[type[Any], Table] = {
    schema.Version: VERSIONS,
    schema.ToolFeedback: Table("tool_feedback", schema.ToolFeedback, _SESSION),
    schema.TaskFeedback: Table("task_feedback", schema.TaskFeedback, _SESSION),
    schema.Activity: Table(
        "activities", schema.Activity, _SESSION, moment="last_at", order=_STARTED, key=_STARTED[1:]
    ),
    schema.Suspicion: SUSPICIONS,
}
# Each column that names a fragment, in the order in which its rows go.
ID_COLUMNS = (
    *((LINKS.name, "from_id"), (LINKS.name, "to_id")),
    *((SUSPICIONS.name, column) for column in SUSPICIONS.subject),
    *((VERSIONS.name, "fragment_id"), (FRAGMENTS.name, "id")),
)


def adapt_cursor(cursor: "Cursor[Any]") -> "Cursor[Any]":
    """Let a cursor take and give the room's values."""
    from psycopg.adapt import Loader
    from psycopg.types.string import StrDumperUnknown

    class TextDumper(StrDumperUnknown):
        """Half of a character becomes a text found nowhere."""

        def dump(self, obj: str) -> bytes:
            if _ESCAPE in obj or "\0" in obj:
                obj = obj.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")
            return obj.encode("utf-8", "backslashreplace")

    class TextLoader(Loader):
        def load(self, data: Any) -> str:
            text = bytes(data).decode("utf-8", "replace")
            if _ESCAPE not in text:
                return text
            return _ESCAPED.sub(lambda match: "\0" if match[1] == "0" else _ESCAPE, text)

    cursor.adapters.register_dumper(str, TextDumper)
    for name in ("text", "varchar", "timestamptz"):  # a date beyond Python's stays a text
        cursor.adapters.register_loader(name, TextLoader)
    return cursor


def floats_of(vector: bytes) -> tuple[float, ...]:
    """Return the numbers of a vector, () for other bytes."""
    count, rest = divmod(len(vector), _FLOAT_BYTES)
    floats = () if rest else struct.unpack(f"<{count}f", vector)
    return floats if all(map(isfinite, floats)) else ()


def floats_from_server(value: bytes) -> tuple[float, ...]:
    """Read a vector as the server sends it."""
    data = bytes(value)[_HEAD_BYTES:]
    return struct.unpack(f">{len(data) // _FLOAT_BYTES}f", data)
