"""JSON that leaves a room or comes into it: a `config.json`, and values of somebody else.

An unusable value is refused by its key: a default might do something that somebody has ruled out.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from core.disk import open_regular_file
from core.errors import RefusedError
from core.guard.characters import HIDDEN_CLASS, RARE
from core.messages import say
from core.text.plain import moment_of

CONFIG_NAME = "config.json"
MOST_CONFIG_BYTES = 100_000
_MOST_SECONDS = 1e11  # a greater number is a moment in milliseconds

_UNSAFE = re.compile(f"{RARE}[{HIDDEN_CLASS}\ud800-\udfff\x7f-\x9f\u2028\u2029]")


class Expected(NamedTuple):
    """Checks the value of a key. sentence: the key of the sentence on fitting values."""

    sentence: str
    fits: Callable[[Any], bool]


Keys = Mapping[str, tuple[str, Expected]]  # by `group.key`: the name of the value, its check


class ConfigError(RefusedError):
    """A `config.json` cannot be used. Facts: path, name, and expected, the key of a sentence."""

    table = "room"

    def sentence(self) -> str:
        facts = dict(self.facts)
        if "expected" in facts:
            facts["expected"] = say(str(facts["expected"]))
        return say(f"{self.table}.{self.key}", **facts)


def wrong_value(path: Path, name: str, expected: str) -> ConfigError:
    return ConfigError("bad_config", path=str(path), name=name, expected=expected)


def values_in(path: Path, keys: Keys) -> dict[str, Any]:
    """Return the values of a `config.json` by their names. Raises ConfigError."""
    values = dict[str, Any]()
    for name, value in _read_keys(path, keys).items():
        if name in keys:
            field, expected = keys[name]
            if not expected.fits(value):
                raise wrong_value(path, name, expected.sentence)
            values[field] = tuple(value) if isinstance(value, list) else value
    return values


def unknown_keys_in(path: Path, keys: Keys) -> list[str]:
    """Return the unknown keys of a `config.json`. Raises ConfigError."""
    return [name for name in _read_keys(path, keys) if name not in keys]


def _read_keys(path: Path, keys: Keys) -> dict[str, Any]:
    value = None
    try:
        with open_regular_file(path) as file:
            data = file.read(MOST_CONFIG_BYTES + 1)
        if len(data) <= MOST_CONFIG_BYTES:
            value = json.loads(data.decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.islink(path):
            return {}
    except (OSError, ValueError, RecursionError):
        pass
    if not isinstance(value, dict):
        raise ConfigError("config_json", path=str(path))

    def read_leaves(group: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
        for key, value in group.items():
            name = f"{prefix}{key}"
            if not any(key.startswith(f"{name}.") for key in keys):
                yield name, value
            elif isinstance(value, dict):
                yield from read_leaves(value, f"{name}.")
            else:
                raise wrong_value(path, name, "room.expects_object")

    return dict(read_leaves(value, ""))


def texts_in(value: object) -> tuple[str, ...]:
    """Return the texts of a list, () for anything else."""
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def objects_at(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects of the list at a key, [] without one."""
    items = data.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def text_at(data: Mapping[str, Any], key: str) -> str:
    """Return the text at a key, "" without one."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def moment_in(value: Any) -> str:
    """Return ISO 8601 for a text, seconds or milliseconds; "" for others."""
    if isinstance(value, str):
        return moment_of(value.strip())
    if type(value) not in (int, float):
        return ""
    seconds = value / 1_000 if value > _MOST_SECONDS else value
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


def dump_json(value: object, indent: int | None = None) -> str:
    r"""Return a value as JSON, with unseen characters escaped (`\u`)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text).replace("\x7f", r"\u007f")
