"""Reads which sentences the program says, from the syntax trees of its files.

    for said in everything_said(): said.candidates(), said.facts, said.place

A key is a text, or a text with gaps that values fill in: `say(f"keys.{column}")`. A gap takes
what is a text somewhere in the program, so that nearly every sentence nobody can reach is found.
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from tests.support.stdio_client import ROOT

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

    @property
    def is_known(self) -> bool:
        """Whether at least a part of the key is written in the program."""
        return bool(self.key.strip(f"{_GAP}."))

    def candidates(self) -> list[str]:
        """Return the keys of all sentences that it may say."""
        if not self.has_gap:
            return [self.key]
        pattern = re.compile(re.escape(self.key).replace(re.escape(_GAP), "(.+)"))
        found = [(key, pattern.fullmatch(key)) for key in sentences("en")]
        return [key for key, match in found if match and all(map(_is_value, match.groups()))]


@cache
def sentences(language: str) -> dict[str, str]:
    """Return all sentences of a language by key."""
    paths = [it.with_name(it.name.replace(".en", f".{language}")) for it in WORD_FILES]
    return {k: text for it in paths for k, text in json.loads(it.read_text("utf-8")).items()}


@cache
def everything_said() -> list[Said]:
    """Return every call of `say` and `explain`, and every error with the key of its sentence."""
    of_classes = [
        Said(f"{_value(known, 'table')}.{key}", None, known[0])
        for known, node in _classes().items()
        if (key := _set_by(node, "key")) and _value(known, "table")
    ]
    names = [path.relative_to(ROOT).as_posix() for path in FILES]
    return [*of_classes, *(said for name in names for said in _said_in(name))]


def written_keys() -> set[str]:
    """Return the keys that stand whole in the program, wherever they are said."""
    return {text for text in _texts() if text in sentences("en")}


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text("utf-8"))


@cache
def _texts() -> frozenset[str]:
    """Return all texts of the program, and the pieces of those that are built."""
    nodes = (node for path in FILES for node in ast.walk(_tree(path.relative_to(ROOT).as_posix())))
    texts = {it.value for it in nodes if isinstance(it, ast.Constant) and isinstance(it.value, str)}
    return frozenset(texts | {word for text in texts for word in text.split()})


def _is_value(text: str) -> bool:
    parts = re.split("[_.]", text)
    return text in _texts() or text in _names() or _is_built(text) or not all(parts)


@cache
def _is_built(text: str) -> bool:
    """Return whether a text with a gap makes this one."""
    return any(pattern.fullmatch(text) for pattern in _built())


@cache
def _built() -> list[re.Pattern[str]]:
    found = []
    for path in FILES:
        for node in ast.walk(_tree(path.relative_to(ROOT).as_posix())):
            if isinstance(node, ast.JoinedStr) and (key := _keys(node, _Scope(""))[0]).strip(
                f"{_GAP}_."
            ):
                pattern = re.escape(key).replace(re.escape(_GAP), "[a-z_0-9]+")
                found.append(re.compile(pattern))
    return found


@cache
def _names() -> frozenset[str]:
    """Return the names of fields and of arguments, by which facts and columns are called."""
    return frozenset(
        name
        for path in FILES
        for node in ast.walk(_tree(path.relative_to(ROOT).as_posix()))
        for name in (
            [node.target.id]
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            else [node.arg or ""]
            if isinstance(node, ast.keyword)
            else []
        )
    )


def _said_in(name: str) -> Iterator[Said]:
    for scope, node in _calls_in(_tree(name), _Scope(name)):
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        place, start = f"{name}:{node.lineno}", "help." if called == "explain" else ""
        if called in ("say", "explain") and node.args:
            for key in _keys(node.args[0], scope):
                yield Said(start + key, _facts(node), place)
        elif called == "Finding":  # whose sentence is said where it is shown
            whole = (key for key in _keys(node.args[0], scope) if "." in key)
            yield from (Said(key, None, place) for key in whole)
        elif error := _class_of(called, name):
            table = _value(error, "table")
            for key in _keys(node.args[0], scope) if node.args else [_value(error, "key")]:
                if table:
                    yield Said(f"{table}.{key}", None, place)


class _Scope(NamedTuple):
    """Where a call stands. owner: the class, as in `_classes`."""

    file: str
    owner: tuple[str, str] = ("", "")
    function: ast.AST | None = None


def _calls_in(node: ast.AST, scope: _Scope) -> Iterator[tuple[_Scope, ast.Call]]:
    if isinstance(node, ast.Call):
        yield scope, node
    if isinstance(node, ast.ClassDef):
        scope = scope._replace(owner=(scope.file, node.name))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        scope = scope._replace(function=node)
    for child in ast.iter_child_nodes(node):
        yield from _calls_in(child, scope)


def _facts(call: ast.Call) -> frozenset[str] | None:
    names = [it.arg for it in call.keywords]
    return None if None in names else frozenset(it for it in names if it)


def _keys(node: ast.expr, scope: _Scope) -> list[str]:
    """Return the keys that an expression may be, with gaps for what is not known."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return _keys(node.body, scope) + _keys(node.orelse, scope)
    if isinstance(node, ast.FormattedValue):
        return _keys(node.value, scope)
    if isinstance(node, ast.JoinedStr):
        return ["".join(parts) for parts in product(*(_keys(it, scope) for it in node.values))]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        pairs = product(_keys(node.left, scope), _keys(node.right, scope))
        return ["".join(pair) for pair in pairs]
    if isinstance(node, ast.Name) and scope.function:
        return _assigned(node.id, scope) or [_GAP]
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self" and scope.owner[0]:
        return [_value(scope.owner, node.attr) or _GAP]
    return [_GAP]


def _assigned(name: str, scope: _Scope) -> list[str]:
    """Return all that a function assigns to a name, [] where others do."""
    function, outside = scope.function or ast.Module([], []), scope._replace(function=None)
    found = list[str]()
    arguments = {it.arg for it in ast.walk(function) if isinstance(it, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target, value in zip(*_parts(node.targets[0], node.value), strict=True):
                if isinstance(target, ast.Name) and target.id == name:
                    found += _keys(value, outside)
        elif isinstance(node, ast.For | ast.comprehension | ast.AugAssign):
            if name in _names_in(node.target):
                return []
        elif isinstance(node, ast.NamedExpr) and node.target.id == name:
            found += _keys(node.value, outside)
    return [] if name in arguments else found


def _parts(target: ast.expr, value: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return target.elts, value.elts
    return [target], [value]


def _names_in(node: ast.AST) -> set[str]:
    return {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}


@cache
def _classes() -> dict[tuple[str, str], ast.ClassDef]:
    """Return all classes by file and name."""
    names = [it.relative_to(ROOT).as_posix() for it in FILES]
    found = ((name, it) for name in names for it in ast.walk(_tree(name)))
    return {(name, it.name): it for name, it in found if isinstance(it, ast.ClassDef)}


@cache
def _imports(file: str) -> dict[str, tuple[str, str]]:
    """Return what a file imports by name, as file and name."""
    return {
        alias.asname or alias.name: (f"{(node.module or '').replace('.', '/')}.py", alias.name)
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _class_of(name: str, file: str) -> tuple[str, str] | None:
    for known in ((file, name), _imports(file).get(name, ("", ""))):
        if known in _classes():
            return known
    return None


def _value(error: tuple[str, str], wanted: str) -> str:
    """Return a text that a class or one of its bases sets."""
    node = _classes()[error]
    bases = (_class_of(it.id, error[0]) for it in node.bases if isinstance(it, ast.Name))
    inherited = (_value(it, wanted) for it in bases if it)
    return _set_by(node, wanted) or next(filter(None, inherited), "")


def _set_by(node: ast.ClassDef, wanted: str) -> str:
    """Return a text that the body of a class sets."""
    for line in node.body:
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        value = getattr(line, "value", None)
        if target is not None and value is not None:
            for one, given in zip(*_parts(target, value), strict=True):
                if getattr(one, "id", "") == wanted and isinstance(given, ast.Constant):
                    return str(given.value)
    return ""
