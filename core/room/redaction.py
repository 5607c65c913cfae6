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

from core.disk import replace_file
from core.room.documents import as_json
from core.sanitizer import redact, values_in
from core.text.plain import Change, map_texts

MOST_FILE_BYTES = 5_000_000

_JSON = "json"  # the column of a file
_NAMING = "id", "_table"  # say which row it is

Row = dict[str, Any]
_Changed = TypeVar("_Changed")


class SecretPlace(NamedTuple):
    """A place that holds likely secrets, and the rules that fit, each once.

    path: the file, or the server's name. name: for people, if there is one.
    """

    path: Path | str
    name: str
    kinds: tuple[str, ...]


class Redaction(NamedTuple):
    """The redacted places, those that are left, and the files that keep the bytes for now."""

    changed: list[SecretPlace]
    left: list[SecretPlace]
    unpurged: list[Path]


def clean_rows(rows: Sequence[Row], of_json: Collection[str]) -> tuple[list[Row], tuple[str, ...]]:
    """Return rows without secrets, and the kinds of these, each once.

    of_json: columns of JSON, in which each text is redacted by itself.
    """

    def changed_column(name: str, value: Any, change: Change) -> Any:
        if name in _NAMING or not isinstance(value, str):
            return value
        if name not in of_json:
            return change(value)
        try:
            data = json.loads(value)
            changed = map_texts(data, change)
        except (ValueError, RecursionError):  # broken or too deep JSON is one text
            return change(value)
        return value if changed == data else as_json(changed)

    done, kinds = _redacted(
        lambda change: [
            {name: changed_column(name, value, change) for name, value in row.items()}
            for row in rows
        ]
    )
    return done, tuple(dict.fromkeys(kinds))


def kinds_in_file(path: Path) -> tuple[str, ...]:
    """Return the kinds of secrets in a file; () where none can be read."""
    return _cleaned_file(path)[1]


def clean_file(path: Path) -> None:
    """Take the secrets out of a file, unless that is too large. Raises OSError."""
    text, kinds = _cleaned_file(path)
    if kinds and os.lstat(path).st_size <= MOST_FILE_BYTES:
        with suppress(ValueError, RecursionError):
            text = as_json(json.loads(text), indent=2) + "\n"
        replace_file(path, text.encode("utf-8", "surrogateescape"))


def without_secrets(value: Any, plain: re.Pattern[str]) -> tuple[Any, tuple[str, ...]]:
    """Return a value without secrets, and the kind of each. plain: fits texts without any."""
    done, kinds = _redacted(
        lambda change: map_texts(
            value, lambda text: text if plain.fullmatch(text) else change(text)
        )
    )
    return done, tuple(kinds)


def _redacted(changed: Callable[[Change], _Changed]) -> tuple[_Changed, list[str]]:
    texts, kinds = list[str](), list[str]()

    def keep(text: str) -> str:
        texts.append(text)
        return text

    unchanged = changed(keep)
    known = values_in(texts)
    if not known:  # nearly always
        return unchanged, []

    def clean(text: str) -> str:
        done, found = redact(text, known)
        kinds.extend(found)
        return done

    return changed(clean), kinds


def _cleaned_file(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the beginning of a file without secrets; no link is followed."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # a link may lead to a stranger's file
            return "", ()
        with open(path, "rb") as file:
            text = file.read(MOST_FILE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return "", ()
    [row], kinds = clean_rows([{_JSON: text}], (_JSON,))
    return row[_JSON], kinds
