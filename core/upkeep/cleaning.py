"""Redacts rows of the database, and a file; a secret that one text gives away goes from all."""

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.disk.files import replace_whole
from core.sanitizer import has_secret, redact, values_in

MOST_FILE_BYTES = 5_000_000

_JSON = "json"  # the column of a file that holds it
_NAMING = "id", "_table"  # what says which row it is

_SURROGATE = re.compile("[\ud800-\udfff]")

Row = dict[str, Any]


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

    of_json: the columns that hold JSON, in which each text is redacted by itself.
    """
    texts = [text for row in rows for text in _texts(row, of_json)]
    if not any(map(has_secret, texts)):  # nearly always, and at half the price
        return [*rows], ()
    known = values_in(texts)
    kinds = dict[str, None]()

    def clean(text: str) -> str:
        shown, found = redact(text, known)
        kinds.update(dict.fromkeys(found))
        return shown

    done = [
        {
            name: value if name in _NAMING else _mapped(value, clean, is_json=name in of_json)
            for name, value in row.items()
        }
        for row in rows
    ]
    return done, tuple(kinds)


def kinds_in_file(path: Path) -> tuple[str, ...]:
    """Return the kinds of the secrets in a file; () where there is none that can be read."""
    row = _read(path)
    return cleaned([row])[1] if row else ()


def clean_file(path: Path) -> None:
    """Take the secrets out of a file, which is replaced as a whole. Raises OSError.

    One that is too large stays as it is.
    """
    row = _read(path) if os.path.lexists(path) and os.lstat(path).st_size <= MOST_FILE_BYTES else {}
    [done], kinds = cleaned([row or {}])
    if not kinds:
        return
    text = done.get(_JSON) or done.get("text") or ""
    if _JSON in done:
        text = _dumped(json.loads(text), indent=2) + "\n"
    replace_whole(path, text.encode("utf-8", "surrogateescape"))


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


def _texts(row: Row, of_json: Collection[str]) -> Iterator[str]:
    """Yield the texts of a row, those within JSON one by one."""
    found = list[str]()

    def keep(text: str) -> str:
        found.append(text)
        return text

    for name, value in row.items():
        if name not in _NAMING:
            _mapped(value, keep, is_json=name in of_json)
    yield from found


def _mapped(value: Any, change: Callable[[str], str], *, is_json: bool) -> Any:
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
    if changed == data:
        return value
    return _dumped(changed, separators=(",", ":"))


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


def _walked(data: Any, change: Callable[[str], str]) -> Any:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, list):
        return [_walked(it, change) for it in data]
    if isinstance(data, dict):
        return {change(key): _walked(value, change) for key, value in data.items()}
    return data
