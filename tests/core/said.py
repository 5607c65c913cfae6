"""Reads from the syntax trees of the program which sentences it says.

    for said in everything_said(): said.candidates(), said.facts, said.place

A key is a text, or a text with gaps that values fill in: `say(f"keys.{column}")`.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import product
from typing import NamedTuple

from core.errors import SentinelError
from tests.support.sentences import FOLDERS, sentences
from tests.support.tables import ROOT

FILES = (*sorted(it for name in FOLDERS for it in ROOT.glob(f"{name}/**/*.py")),
         ROOT / "cli.py", ROOT / "server.py")  # fmt: skip
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
def everything_said() -> list[Said]:
    """Return every call of `say` and `explain`, and every error with the key of its sentence."""
    return [
        said
        for name, nodes in _nodes().items()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        for said in _said_by(name, node.func.id, node)
    ]


def is_written(key: str) -> bool:
    """Return whether the program has a key: whole, or what follows its table, maybe with gaps."""
    parts = key.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    texts, patterns = _texts()
    if not texts.isdisjoint(names):
        return True
    found = filter(None, (pattern.fullmatch(name) for pattern in patterns for name in names))
    return any(
        all(it in texts or texts.issuperset(re.split("[_: ]", it)) for it in match.groups())
        for match in found
    )


def _pattern(key: str) -> re.Pattern[str] | None:
    """Return what a key with gaps may become; None for no key, and where all of it is gap."""
    if not re.search("[a-z]", key) or not re.fullmatch(rf"[a-z_0-9.{_GAP}]+", key):
        return None
    return re.compile(re.escape(key).replace(re.escape(_GAP), "([a-z_0-9 :-]*)"))


@cache
def _nodes() -> dict[str, list[ast.AST]]:
    return {
        path.relative_to(ROOT).as_posix(): list(ast.walk(ast.parse(path.read_text("utf-8"))))
        for path in FILES
    }


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


def _said_by(name: str, called: str, call: ast.Call) -> Iterator[Said]:
    """Yield what one call of a file says."""
    place = f"{name}:{call.lineno}"
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
