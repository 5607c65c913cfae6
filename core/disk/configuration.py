"""Reads a `config.json`: an object with known keys, each of which expects a certain value.

A value that cannot be used is refused by its key: with a default in its place, the program would
do what somebody has ruled out.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.disk.files import open_regular

CONFIG_NAME = "config.json"
MOST_BYTES = 100_000


class Expected(NamedTuple):
    """What a key may hold: the key of the sentence that says so, and a check."""

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
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if os.path.islink(path):
            raise NoObjectError from error
        return {}
    except OSError as error:
        raise NoObjectError from error
    try:
        given = json.loads(data.decode("utf-8-sig")) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError) as error:
        raise NoObjectError from error
    if not isinstance(given, dict):
        raise NoObjectError
    return given


def values_of(given: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """Return the values that are given, by their names. Raises WrongValueError."""
    values: dict[str, Any] = {}
    for name, (field, expected) in keys.items():
        part: Any = given
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
