"""Says sentences of the program in a language, and reads from its syntax trees which it says.

    for said in everything_said(): said.candidates(), said.facts, said.place

A key is a text, or a text with gaps that values fill in: `say(f"keys.{column}")`.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import product
from typing import NamedTuple, ParamSpec, TypeVar

import pytest

from core.errors import SentinelError
from core.messages import Language, say, speaking
from tests.support.tables import ROOT

FOLDERS = ("core", "protocol", "rooms", "http_server", "commands")
FILES = (*sorted(it for name in FOLDERS for it in ROOT.glob(f"{name}/**/*.py")),
         ROOT / "cli.py", ROOT / "server.py")  # fmt: skip
WORD_FILES = sorted(it for name in FOLDERS for it in ROOT.glob(f"{name}/**/words.en*.json"))
_GAP = "\0"


class Said(NamedTuple):
    """One call that says a sentence.

    key: with a gap for each value in it. facts: the names that it gives; None where it gives a
    mapping, which may hold any.
    """

    key: str
    facts: frozenset[str] | None
    place: str

    @property
    def has_gap(self) -> bool:
        """Whether a value fills in a part of the key."""
        return _GAP in self.key

    def candidates(self) -> list[str]:
        """Return the keys of all sentences that it may say; [] where none of the key is known."""
        if not self.has_gap:
            return [self.key]
        pattern = _pattern(self.key)
        return [key for key in sentences("en") if pattern and pattern.fullmatch(key)]


@cache
def sentences(language: str) -> dict[str, str]:
    """Return all sentences of a language by key."""
    paths = [it.with_name(it.name.replace(".en", f".{language}")) for it in WORD_FILES]
    return {k: text for it in paths for k, text in json.loads(it.read_text("utf-8")).items()}


@cache
def everything_said() -> list[Said]:
    """Return every call of `say` and `explain`, and every error with the key of its sentence."""
    return [said for name, calls in _calls().items() for it in calls for said in _said_by(name, it)]


def is_written(key: str) -> bool:
    """Return whether the program has a key: whole, or what follows its table, maybe with gaps."""
    parts = key.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    texts, patterns = _texts()
    if not texts.isdisjoint(names):
        return True
    found = filter(None, (pattern.fullmatch(name) for pattern in patterns for name in names))
    return any(all(map(_is_value, it.groups())) for it in found)


def _is_value(text: str) -> bool:
    texts, _ = _texts()
    return text in texts or texts.issuperset(re.split("[_: ]", text))


def _pattern(key: str) -> re.Pattern[str] | None:
    """Return what a key with gaps may become; None for no key, and where all of it is gap."""
    if not re.search("[a-z]", key) or not re.fullmatch(rf"[a-z_0-9.{_GAP}]+", key):
        return None
    return re.compile(re.escape(key).replace(re.escape(_GAP), "([a-z_0-9 :-]*)"))


@cache
def _nodes() -> dict[str, list[ast.AST]]:
    names = (path.relative_to(ROOT).as_posix() for path in FILES)
    return {name: list(ast.walk(ast.parse((ROOT / name).read_text("utf-8")))) for name in names}


@cache
def _texts() -> tuple[frozenset[str], list[re.Pattern[str]]]:
    """Return the texts of the program with their words, and what keys with gaps may become."""
    texts, built = {""}, set[str]()
    for node in (node for nodes in _nodes().values() for node in nodes):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.update((node.value, *node.value.split(), node.value.rpartition(".")[2]))
        elif isinstance(node, ast.JoinedStr):
            built.update(_keys(node))
        elif isinstance(node, ast.keyword) and node.arg:
            texts.add(node.arg)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            texts.add(node.target.id)  # facts and columns are called by fields
    return frozenset(texts), [pattern for key in built if (pattern := _pattern(key))]


@cache
def _calls() -> dict[str, list[ast.Call]]:
    return {
        name: [it for it in nodes if isinstance(it, ast.Call) and isinstance(it.func, ast.Name)]
        for name, nodes in _nodes().items()
    }


def _said_by(name: str, call: ast.Call) -> Iterator[Said]:
    """Yield what one call of a file says."""
    called, place = call.func.id, f"{name}:{call.lineno}"  # type: ignore[attr-defined]
    names = [it.arg for it in call.keywords]
    facts = None if None in names else frozenset(it for it in names if it)
    keys = _keys(call.args[0]) if call.args else []
    if called in ("say", "explain"):
        start = "help." if called == "explain" else ""
        yield from (Said(start + key, facts, place) for key in keys)
    elif called == "Finding":  # whose sentence is said where it is shown
        yield from (Said(key, None, place) for key in keys if "." in key)
    elif called.endswith("Error"):
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        error = vars(import_module(module)).get(called)
        if isinstance(error, type) and issubclass(error, SentinelError):
            for key in keys or [error.key]:
                yield Said(key if "." in key else f"{error.table}.{key}", None, place)


def _keys(node: ast.expr) -> list[str]:
    """Return the keys that an expression may be, with gaps for what is not known."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return _keys(node.body) + _keys(node.orelse)
    if isinstance(node, ast.FormattedValue):
        return _keys(node.value)
    if isinstance(node, ast.JoinedStr):
        return ["".join(parts) for parts in product(*map(_keys, node.values))]
    return [_GAP]


LANGUAGES: tuple[Language, ...] = ("en", "ko")

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")
_Error = TypeVar("_Error", bound=SentinelError)


def sentence(language: Language, key: str, /, **facts: str | int) -> str:
    """Return the sentence of a key in one language, its facts filled in."""
    return in_language(language, say, key, **facts)


def in_language(
    language: Language,
    function: Callable[_Given, _Answer],
    /,
    *given: _Given.args,
    **more: _Given.kwargs,
) -> _Answer:
    """Return what a function returns in a language: `in_language("ko", str, error)`."""
    with speaking(language):
        return function(*given, **more)


def pair(key: str) -> tuple[str, str]:
    """Return a sentence in English and Korean, its facts in braces."""
    return sentences("en")[key], sentences("ko")[key]


@contextmanager
def raised(
    kind: type[_Error], key: str, *, match: str | None = None
) -> Iterator[pytest.ExceptionInfo[_Error]]:
    """Expect an error by its class and the key of its sentence: `raised(RefusedError, "blank")`."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert caught.value.key == key
