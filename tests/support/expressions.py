"""Every regular expression of the program, found in its source, so that none is forgotten."""

import ast
import importlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from commands.hook import events
from commands.rooms import sources
from core.data import rows, rules, shapes, spelled
from core.guard.injection import compiled, orders
from core.guard.named_values import around_name, keyed_rules
from core.lessons.anchors import _parts
from core.lessons.record_text import _LIKE_QUOTES, _LIKE_SIGNS, _UNSEEN
from tests.support.templates import examples, expand

ROOT = Path(__file__).parents[2]
FOLDERS = "core", "commands", "protocol", "rooms", "http_server"
COMPILERS = {
    "compile",
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
}
GLOBS = "*a*a*a*b", "**/a/**/a/**/b", "**/**/**", "?" * 60, "[a-z]*[a-z]*x", "a*" * 40, "**/" * 40
# A file without one of these words compiles nothing, and is not parsed.
_MAY_COMPILE = re.compile(r"\b(?:re|_?compiled)\b")
_OF_PATTERNS = {name for name in dir(re.Pattern) if not name.startswith("_")}


class Expression(NamedTuple):
    """An expression, where it stands, and a text in which it matches, if one is known."""

    where: str
    pattern: str
    flags: int = 0
    example: str = ""
    anchored: bool = False  # it is only asked whether it matches where a text begins


# Calls whose expression is made while the program runs, each with what it makes.
# Those of tables follow below, and those of the demo read what this program itself has printed.
_IN_TABLES = (
    "core.lessons.anchors '|'.join(map(translate, ways))",
    "core.data spelled(pattern)",
    "core.guard.injection pattern",
    "core.guard.injection order.pattern",
    "core.guard.injection order.unless",
    "core.guard.named_values following",
    "core.guard.named_values f'(?:{preceding})\\\\Z'",
    "core.data pattern",
    "core.data shapes(table)[name]",
)
MADE: dict[str, list[str]] = {
    **{call: [] for call in _IN_TABLES},
    "core.lessons.record_text each": [_UNSEEN, _LIKE_SIGNS, _LIKE_QUOTES],
    "commands.rooms.read pattern": [r"(?<![^\W_])deploy[^\W\d_]*|deploy"],
    r"commands.clients.rules f'(?<!\\S)@(?:\\./)?{re.escape(wanted)}(?!\\S)'": [
        r"(?<!\S)@(?:\./)?AGENTS\.md(?!\S)"
    ],
    "commands.hook.events sign": [events._REMOVED, events._ADDED],
    r"commands.hook.shell f'^[ \\t]*{re.escape(end)}[ \\t]*\\r?$'": [r"(?m)^[ \t]*EOF[ \t]*\r?$"],
    "commands.hook.shell row['option']": [it["option"] for it in rows("shell_edits")],
    r"commands.rooms.lesson f'(?<!\\w){re.escape(it.casefold())}'": [r"(?<!\w)deploy"],
    "commands.rooms.sources begins": [begins for _, begins, _ in sources._SKIPPED],
    "commands.rooms.sources end": [end.format(fence="```") for _, _, end in sources._SKIPPED],
    "core.guard.values f'(?:{inner}){{1,{LONGEST_VALUE_CHARS}}}+'": [
        rf"(?:[^{quote}\\\r\n]|\\[^\r\n{quote}]|\\{quote}(?=[^\s,;:)}}\]])){{1,512}}+"
        for quote in "\"'`”"
    ],
    "core.text.ranking needle + follows": ["ab(?=s?(?![a-z]))", "12(?![0-9])"],
    r"core.lessons.recall '(?!(?<=\\w)\\w)' + re.escape(trigger)": [r"(?!(?<=\w)\w)deploy"],
}


@cache
def expressions() -> tuple[Expression, ...]:
    """Return every expression of the program."""
    found = dict.fromkeys([*_in_source(), *_in_tables()])
    return tuple(found)


@cache
def unknown_calls() -> tuple[str, ...]:
    """Return the calls that make their expression while they run and are not listed here."""
    calls = (it for it in _calls() if isinstance(it, str) and it not in MADE)
    return tuple(calls)


def _in_tables() -> Iterator[Expression]:
    for rule in rules():
        if rule.table != "keyed":
            example = expand(examples()[rule.name].example)[0]
            yield Expression(rule.name, spelled(rule.pattern), 0, example)
    for table in ("shapes", "characters"):
        for name, pattern in shapes(table).items():
            yield Expression(f"{table}.jsonl {name}", pattern)
    for korean in (False, True):
        for rule in keyed_rules(korean):
            before, after = around_name(rule.pattern, rule.before)
            for part in filter(None, (before, after)):
                searched = part is before  # within the last characters before a name
                yield Expression(rule.name, part.pattern, anchored=not searched)
    for phrase in orders():
        for pattern in filter(None, (phrase.pattern, phrase.unless)):
            yield Expression("core.guard.injection", compiled(pattern).pattern)
    for glob in GLOBS:
        for piece in _parts(glob):
            if isinstance(piece, re.Pattern):
                yield Expression(f"core.lessons.anchors {glob}", piece.pattern, anchored=True)
    for where, patterns in MADE.items():
        for pattern in patterns:
            yield Expression(where, pattern)


def _in_source() -> Iterator[Expression]:
    yield from (it for it in _calls() if isinstance(it, Expression))


@cache
def _calls() -> tuple[Expression | str, ...]:
    """Return the expression of each call, or what makes it while the program runs."""
    files = [ROOT / "cli.py", ROOT / "server.py"]
    for folder in FOLDERS:
        files += (ROOT / folder).rglob("*.py")
    return tuple(found for file in sorted(files) for found in _calls_of(file))


def _calls_of(file: Path) -> Iterator[Expression | str]:
    text = file.read_text(encoding="utf-8")
    if not _MAY_COMPILE.search(text):
        return
    nodes = list(ast.walk(ast.parse(text)))
    calls = [it for it in nodes if isinstance(it, ast.Call) and _is_compiler(it)]
    if calls:
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        module = importlib.import_module(name.removesuffix(".__init__"))
        methods = _methods(nodes)
        for call in calls:
            used = methods.get(ast.unparse(call), {"search"})
            yield from _of_call(module, call, anchored=used <= {"match", "fullmatch"})


def _methods(nodes: Sequence[ast.AST]) -> dict[str, set[str]]:
    """Return with which methods the expression of each call is used."""
    names = dict[str, str]()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = ast.unparse(node.value)
    found = dict[str, set[str]]()
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in _OF_PATTERNS:
            value = ast.unparse(node.value)
            found.setdefault(names.get(value, value), set()).add(node.attr)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("re.match", "re.fullmatch"):
            found.setdefault(ast.unparse(node), set()).add("match")
    return found


def _is_compiler(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in ("compiled", "_compiled")
    of_re = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    return of_re and function.value.id == "re" and function.attr in COMPILERS  # type: ignore[attr-defined]


def _of_call(module: ModuleType, call: ast.Call, *, anchored: bool) -> Iterator[Expression | str]:
    try:
        pattern = _value(module, call.args[0])
    except NameError:
        yield f"{module.__name__} {ast.unparse(call.args[0])}"
        return
    flags = [_value(module, it.value) for it in call.keywords if it.arg == "flags"]
    if call.func.attr == "compile" if isinstance(call.func, ast.Attribute) else False:
        flags += [_value(module, it) for it in call.args[1:2]]
    if isinstance(pattern, re.Pattern):
        pattern, flags = pattern.pattern, [pattern.flags]
    if isinstance(pattern, bytes):
        pattern = pattern.decode("latin-1")
    where = f"{module.__name__}:{call.lineno}"
    yield Expression(where, pattern, int(sum(flags)) & ~re.UNICODE, anchored=anchored)


def _value(module: ModuleType, expression: ast.expr) -> Any:
    return eval(compile(ast.Expression(expression), module.__name__, "eval"), vars(module))
