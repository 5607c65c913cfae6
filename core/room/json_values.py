"""Reads JSON that came from outside: texts, lists, and a `config.json`; writes what people open.

A value of `config.json` that cannot be used is refused by its key: with a default in its place,
the program would do what somebody has ruled out.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.disk import open_regular
from core.guard.characters import HIDDEN_CLASS

CONFIG_NAME = "config.json"
MOST_CONFIG_BYTES = 100_000

_UNSAFE = re.compile(f"[{HIDDEN_CLASS}\ud800-\udfff\x7f-\x9f\u2028\u2029]")


class Expected(NamedTuple):
    """What a key of `config.json` may hold: the key of the sentence that says so, and a check."""

    words: str
    fits: Callable[[Any], bool]


Keys = Mapping[str, tuple[str, Expected]]  # by `group.key`: the name of the value, what it may be


class NoObjectError(ValueError):
    """The file holds no JSON object."""


class WrongValueError(ValueError):
    """A key holds what it may not. name: of the key. expected: the key of the sentence."""

    def __init__(self, name: str, expected: str) -> None:
        super().__init__(name)
        self.name, self.expected = name, expected


TRUTH = Expected("expects_bool", lambda value: isinstance(value, bool))
TEXTS = Expected(
    "expects_texts",
    lambda value: isinstance(value, list) and all(isinstance(it, str) for it in value),
)


def read_object(path: Path) -> dict[str, Any]:
    """Return the object that the file holds; {} without a file. Raises NoObjectError."""
    try:
        with open_regular(path) as file:
            data = file.read(MOST_CONFIG_BYTES + 1)
        value = json.loads(data.decode("utf-8-sig")) if len(data) <= MOST_CONFIG_BYTES else None
    except (FileNotFoundError, NotADirectoryError) as error:
        if os.path.islink(path):
            raise NoObjectError from error
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise NoObjectError from error
    if not isinstance(value, dict):
        raise NoObjectError
    return value


def values_of(config: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """Return the values that are there, by their names. Raises WrongValueError."""
    values: dict[str, Any] = {}
    for name, (field, expected) in keys.items():
        part: Any = config
        *above, last = name.split(".")
        for depth, key in enumerate(above, 1):
            part = part.get(key, {})
            if not isinstance(part, dict):
                raise WrongValueError(".".join(above[:depth]), "expects_object")
        if last not in part:
            continue
        value = part[last]
        if not expected.fits(value):
            raise WrongValueError(name, expected.words)
        values[field] = tuple(value) if isinstance(value, list) else value
    return values


def unknown_in(part: Any, keys: Keys, above: str = "") -> Iterator[str]:
    """Yield the keys that the program does not know, such as misspelt ones."""
    for key, value in part.items() if isinstance(part, dict) else ():
        name = f"{above}{key}"
        if any(known.startswith(f"{name}.") for known in keys):
            yield from unknown_in(value, keys, f"{name}.")
        elif name not in keys:
            yield name


def texts_in(value: object) -> tuple[str, ...]:
    """Return the texts of a list that came from outside, () where it is none."""
    return tuple(it for it in value if isinstance(it, str)) if isinstance(value, list) else ()


def objects_at(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects of a list that came from outside, [] where there is none."""
    listed = data.get(key)
    return [it for it in listed if isinstance(it, dict)] if isinstance(listed, list) else []


def text_at(data: Mapping[str, Any], key: str) -> str:
    """Return a text that came from outside, "" where there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def as_json(value: object) -> str:
    r"""Return a value as JSON, in which what nobody sees is escaped (`\u`)."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if found[0] > "\x9f" else f"\\u{ord(found[0]):04x}"
