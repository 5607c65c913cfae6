"""Takes secrets out of a room: rows of its database, a file, whole values of ours.

A secret of one text goes from all texts that belong together.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from core.disk import errors_as, replace_file
from core.errors import DiskError
from core.room.documents import dump_json
from core.sanitizer import redact, secret_values_in
from core.text.plain import Change, map_texts

MOST_FILE_BYTES = 5_000_000

_JSON = "json"  # the column of a file
_NAMING = "id", "_table"  # say which row it is

Row = dict[str, Any]
_Value = TypeVar("_Value")


class SecretPlace(NamedTuple):
    """A place that holds likely secrets, and the rules that fit, each once.

    path: the file, or the server's name. name: for people, if there is one.
    """

    path: Path | str
    name: str
    kinds: tuple[str, ...]


class Redaction(NamedTuple):
    """The redacted places, those that are left, and the files that keep the bytes for now."""

    redacted_places: list[SecretPlace]
    left_places: list[SecretPlace]
    unpurged_files: list[Path]


def redact_rows(rows: Sequence[Row], columns: Collection[str]) -> tuple[list[Row], tuple[str, ...]]:
    """Return rows without secrets, and the kinds of these, each once.

    columns: of JSON, in which each text is redacted by itself.
    """

    def change_column(name: str, value: Any, change: Change) -> Any:
        if name in _NAMING or not isinstance(value, str):
            return value
        if name not in columns:
            return change(value)
        try:
            data = json.loads(value)
            changed_data = map_texts(data, change)
        except (ValueError, RecursionError):  # broken or too deep JSON is one text
            return change(value)
        return value if changed_data == data else dump_json(changed_data)

    result, kinds = _redact_with(
        lambda change: [
            {name: change_column(name, value, change) for name, value in row.items()}
            for row in rows
        ]
    )
    return result, tuple(dict.fromkeys(kinds))


def redact_file(path: Path, *, dry_run: bool = False) -> tuple[str, ...]:
    """Take the secrets out of a file, unless that is too large; return their kinds.

    No link is followed. Raises DiskError.
    """
    with errors_as(DiskError, "system", path), suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):  # a link may lead to a stranger's file
            return ()
        with open(path, "rb") as file:
            text = file.read(MOST_FILE_BYTES).decode("utf-8", "surrogateescape")
        [row], kinds = redact_rows([{_JSON: text}], (_JSON,))
        if kinds and not dry_run and os.lstat(path).st_size <= MOST_FILE_BYTES:
            text = row[_JSON]
            with suppress(ValueError, RecursionError):
                text = dump_json(json.loads(text), indent=2) + "\n"
            replace_file(path, text.encode("utf-8", "surrogateescape"))
        return kinds
    return ()


def without_secrets(value: Any, safe: re.Pattern[str]) -> tuple[Any, tuple[str, ...]]:
    """Return a value without secrets, and the kind of each. safe: fits texts without any."""
    result, kinds = _redact_with(
        lambda change: map_texts(value, lambda text: text if safe.fullmatch(text) else change(text))
    )
    return result, tuple(kinds)


def _redact_with(change_texts: Callable[[Change], _Value]) -> tuple[_Value, list[str]]:
    texts, kinds = list[str](), list[str]()

    def note(text: str) -> str:
        texts.append(text)
        return text

    unchanged_value = change_texts(note)
    known_values = secret_values_in(texts)
    if not known_values:  # nearly always
        return unchanged_value, []

    def redact_text(text: str) -> str:
        result, new_kinds = redact(text, known_values)
        kinds.extend(new_kinds)
        return result

    return change_texts(redact_text), kinds
