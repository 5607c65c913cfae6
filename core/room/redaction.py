"""Takes secrets out of what a room holds: rows of its database, a file, whole values of ours.

A secret that one text gives away goes from all texts that belong together.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from core.disk import replace_whole
from core.sanitizer import redact, values_in

MOST_FILE_BYTES = 5_000_000

_JSON = "json"  # the column of a file that holds it
_NAMING = "id", "_table"  # what says which row it is

_SURROGATE = re.compile("[\ud800-\udfff]")

Row = dict[str, Any]
_Change = Callable[[str], str]
_Changed = TypeVar("_Changed")


class Held(NamedTuple):
    """A place that holds what looks like secrets.

    path: the file, or the server's name. name: what people call it there, "" for what belongs to
    none. kinds: the rules that fit, each once.
    """

    path: Path | str
    name: str
    kinds: tuple[str, ...]


class Redaction(NamedTuple):
    """What was redacted, what is left, and the files in which the bytes remain for now."""

    changed: list[Held]
    left: list[Held]
    unpurged: list[Path]


def cleaned(
    rows: Sequence[Row], of_json: Collection[str] = (_JSON,)
) -> tuple[list[Row], tuple[str, ...]]:
    """Return rows without their secrets, and the kinds of these, each once.

    of_json: the columns that hold JSON, in which each text is redacted by itself. What says which
    row it is stays.
    """

    def changed(change: _Change) -> list[Row]:
        return [
            {
                name: value if name in _NAMING else _column(value, change, name in of_json)
                for name, value in row.items()
            }
            for row in rows
        ]

    done, kinds = _redacted(changed)
    return done, tuple(dict.fromkeys(kinds))


def kinds_in_file(path: Path) -> tuple[str, ...]:
    """Return the kinds of the secrets in a file; () where there is none that can be read."""
    row = _read(path)
    return cleaned([row])[1] if row else ()


def clean_file(path: Path) -> None:
    """Take the secrets out of a file, which is replaced as a whole. Raises OSError.

    One that is too large stays as it is.
    """
    if not os.path.lexists(path) or os.lstat(path).st_size > MOST_FILE_BYTES:
        return
    [done], kinds = cleaned([_read(path) or {}])
    if not kinds:
        return
    text = done.get("text") or ""
    if _JSON in done:
        text = _dumped(json.loads(done[_JSON]), indent=2) + "\n"
    replace_whole(path, text.encode("utf-8", "surrogateescape"))


def without_secrets(value: Any, plain: re.Pattern[str]) -> tuple[Any, tuple[str, ...]]:
    """Return a value of ours without secrets, and the kind of each that was taken out.

    One that any of its texts gives away goes from all. plain: what matches it whole has none.
    """
    done, kinds = _redacted(
        lambda change: mapped(value, lambda text: text if plain.fullmatch(text) else change(text))
    )
    return done, tuple(kinds)


def mapped(value: Any, change: _Change) -> Any:
    """Return a value of ours with each text in it changed, however deep it stands."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(mapped(it, change) for it in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {it.name: mapped(getattr(value, it.name), change) for it in fields(value)}
        return replace(value, **changed)
    return value


def _redacted(changed: Callable[[_Change], _Changed]) -> tuple[_Changed, list[str]]:
    """Return what is left of some texts without their secrets, and the kind of each of these.

    changed: returns all of them, each changed.
    """
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


def _read(path: Path) -> Row | None:
    """Return a file as the one column of a row: as JSON, if it is that; None for a link."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # a link may lead to what is not ours
            return None
        with open(path, "rb") as file:
            text = file.read(MOST_FILE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return {"text" if _parsed(text) is None else _JSON: text}


def _column(value: Any, change: _Change, is_json: bool) -> Any:
    """Return the value of a column with its texts changed; JSON that nothing changes stays."""
    if not isinstance(value, str):
        return value
    data = _parsed(value) if is_json else None
    if data is None:
        return change(value)
    try:
        changed = _walked(data, change)
    except RecursionError:
        return change(value)
    return value if changed == data else _dumped(changed, separators=(",", ":"))


def _parsed(text: str) -> Any:
    """Return what a text of JSON holds, None where it is none or is nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _dumped(data: Any, **form: Any) -> str:
    """Return JSON that can be stored: half of a character stands there as an escape."""
    text = json.dumps(data, ensure_ascii=False, **form)
    return json.dumps(data, **form) if _SURROGATE.search(text) else text


def _walked(data: Any, change: _Change) -> Any:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [_walked(it, change) for it in data]
    if isinstance(data, dict):
        return {change(key): _walked(value, change) for key, value in data.items()}
    return data
