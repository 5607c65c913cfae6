"""Documents beside a project, JSON, and a `config.json`: files that leave a room or come into it.

An unusable value is refused by its key: a default might do something that somebody has ruled out.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.config import CONTEXT_DIRECTORY
from core.disk import open_regular, prepared, reason_of, rename, sync_directory
from core.errors import RefusedError, SentinelError
from core.guard.characters import HIDDEN_CLASS
from core.messages import say

CONFIG_NAME = "config.json"
MOST_CONFIG_BYTES = 100_000

# Clients read these as instructions: a document with texts of a memory is none.
_RULES = frozenset(
    "agents.md claude.md claude.local.md gemini.md skill.md copilot-instructions.md".split()
)
_UNSAFE = re.compile(f"[{HIDDEN_CLASS}\ud800-\udfff\x7f-\x9f\u2028\u2029]")


class Target:
    """A file inside `root` that a document may become, also in the place of an earlier one.

    begins: the start of every such document. own: names reserved in `.context`. refused: makes an
    error of `output_outside`, `output_name`, `output_reserved`, `output_exists`, or `output_write`
    with its reason.
    """

    def __init__(
        self,
        root: Path,
        output: str,
        *,
        suffixes: tuple[str, ...],
        begins: str,
        refused: Callable[..., SentinelError],
        own: frozenset[str] = frozenset(),
    ) -> None:
        self._begins, self._refused = begins.encode("ascii"), refused
        given = Path(output)
        if ".." in given.parts or "\0" in output:
            raise refused("output_outside")
        if given.suffix.lower() not in suffixes or not output.isprintable():
            raise refused("output_name")
        root = Path(os.path.realpath(root))
        self.path = Path(os.path.realpath(root / given))  # no link may lead out of the root
        if not self.path.is_relative_to(root) or self.path == root:
            raise refused("output_outside")
        self.relative = self.path.relative_to(root).as_posix()
        # The places in which programs look for files of their own; Windows drops blanks and dots
        # at the end of a name.
        parts = [part.casefold().rstrip(". ") for part in self.relative.split("/")]
        hidden = [part for part in parts if part.startswith((".", "git~")) or not part]
        is_ours = parts[0] == CONTEXT_DIRECTORY and parts[-1] not in own
        if parts[-1] in _RULES or hidden != ([CONTEXT_DIRECTORY] if is_ours else []):
            raise refused("output_reserved")
        self._check_replaceable()

    def write(self, pieces: Iterable[str]) -> None:
        """Write the document; a reader sees the whole of it or the earlier file."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            data = (piece.encode("utf-8", "replace") for piece in pieces)
            with prepared(self.path, data) as temporary:
                if Path(os.path.realpath(self.path)) != self.path:  # by a link in its way now
                    raise self._refused("output_outside")
                self._check_replaceable()
                rename(temporary, self.path)
            sync_directory(self.path.parent)
        except SentinelError:
            raise
        except OSError as error:
            raise self._refused("output_write", reason=reason_of(error)) from error

    def _check_replaceable(self) -> None:
        try:
            with open(self.path, "rb") as file:
                is_ours = file.read(len(self._begins)) == self._begins
        except FileNotFoundError:
            return
        except OSError:  # a directory, or nobody's to read
            is_ours = False
        if not is_ours:
            raise self._refused("output_exists")


# config.json


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
    for name, value in _read(path, keys).items():
        if name in keys:
            field, expected = keys[name]
            if not expected.fits(value):
                raise wrong_value(path, name, expected.sentence)
            values[field] = tuple(value) if isinstance(value, list) else value
    return values


def unknown_keys_in(path: Path, keys: Keys) -> list[str]:
    """Return the unknown keys of a `config.json`. Raises ConfigError."""
    return [name for name in _read(path, keys) if name not in keys]


def _read(path: Path, keys: Keys) -> dict[str, Any]:
    value = None
    try:
        with open_regular(path) as file:
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

    def leaves(group: dict[str, Any], above: str) -> Iterator[tuple[str, Any]]:
        for key, value in group.items():
            name = f"{above}{key}"
            if not any(known.startswith(f"{name}.") for known in keys):
                yield name, value
            elif isinstance(value, dict):
                yield from leaves(value, f"{name}.")
            else:
                raise wrong_value(path, name, "room.expects_object")

    return dict(leaves(value, ""))


def texts_in(value: object) -> tuple[str, ...]:
    """Return the texts of a list, () for anything else."""
    return tuple(it for it in value if isinstance(it, str)) if isinstance(value, list) else ()


def objects_at(data: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects of the list at a key, [] without one."""
    listed = data.get(key)
    return [it for it in listed if isinstance(it, dict)] if isinstance(listed, list) else []


def text_at(data: Mapping[str, Any], key: str) -> str:
    """Return the text at a key, "" without one."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def as_json(value: object, indent: int | None = None) -> str:
    r"""Return a value as JSON, with unseen characters escaped (`\u`)."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNSAFE.sub(lambda it: json.dumps(it[0])[1:-1], text).replace("\x7f", r"\u007f")
