"""No text stalls a regular expression: every one of them takes time in proportion to its text.

The expressions are those of the source and of the tables of rules, so that none is forgotten.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from commands.hook import events
from commands.rooms import sources
from core.data import rows, rules, shapes, with_parts
from core.guard.injection import order_expression, order_rules
from core.guard.named_values import keyed_rules, name_patterns
from core.lessons.anchors import _parse_pattern
from core.lessons.recall import _GAP
from core.lessons.record_text import _LIKE_QUOTES, _LIKE_SIGNS, _UNSEEN
from core.sanitizer import redact
from tests.stalling import Attack, ambiguities, attacks_of, by_example, growth, seconds, use_of
from tests.support.tables import none_of, table
from tests.support.templates import examples, expand
from tests.weight import ROOT, product

ONE_IN, ONE_IN_OF_REDACTION = 100, 4_000  # attacks are tried; all of them take hours
FAST_REDACTION = 0.16  # seconds for 16 KB: 10 ms for each
# Heads at which some version of a rule took exponential time, or the square of its text.
KNOWN = [Attack(*row) for row in table("known_attacks")]
GLOBS = "*a*a*a*b", "**/a/**/a/**/b", "**/**/**", "?" * 60, "[a-z]*[a-z]*x", "a*" * 40, "**/" * 40
# A file without one of these words compiles nothing, and is not parsed.
MAY_COMPILE = re.compile(r"\b(?:re|expression_of|order_expression)\b")
COMPILER = re.compile(
    r"re\.(?:compile|search|match|fullmatch|finditer|findall|sub|subn|split)|expression_of|order_expression"
)


class Expression(NamedTuple):
    """An expression, its place, and a text in which it matches, if one is known.

    anchored: it is only asked whether it matches where a text begins.
    """

    where: str
    pattern: str
    flags: int = 0
    example: str = ""
    anchored: bool = False


# Calls whose expression is made while the program runs, each with its expressions. Those of tables
# are none here, and those of the demo and of argparse's messages read what this program writes.
OF_TABLES = (
    "core.lessons.anchors '|'.join(map(translate, readings))",
    "core.data with_parts(pattern)",
    "core.guard.injection pattern",
    "core.guard.injection rule.pattern",
    "core.guard.injection rule.unless",
    "core.guard.named_values suffix",
    "core.guard.named_values f'(?:{prefix})\\\\Z'",
    "core.data pattern",
    "core.data shapes(table)[name]",
    "core.parser pattern",
)
MADE: dict[str, list[str]] = {
    **{call: [] for call in OF_TABLES},
    "core.lessons.record_text char_class": [_UNSEEN, _LIKE_SIGNS, _LIKE_QUOTES],
    "commands.rooms.read pattern": [r"(?<![^\W_])deploy[^\W\d_]*|deploy"],
    r"commands.clients.rules f'(?<!\\S)@(?:\\./)?{re.escape(import_path)}(?!\\S)'": [
        r"(?<!\S)@(?:\./)?AGENTS\.md(?!\S)"
    ],
    "commands.hook.events sign": [events._REMOVED_LINE, events._ADDED_LINE],
    r"commands.hook.shell f'^[ \\t]*{re.escape(end)}[ \\t]*\\r?$'": [r"(?m)^[ \t]*EOF[ \t]*\r?$"],
    "commands.hook.shell row['option']": [it["option"] for it in rows("shell_edits")],
    r"commands.rooms.lesson f'(?<!\\w){re.escape(name.casefold())}'": [r"(?<!\w)deploy"],
    "commands.rooms.sources opening": [opening for _, opening, _ in sources._SKIPPED_PARTS],
    "commands.rooms.sources end": [end.format(fence="```") for _, _, end in sources._SKIPPED_PARTS],
    "core.guard.looks f'(?:{char_pattern}){{1,{LONGEST_VALUE_CHARS}}}+'": [
        rf"(?:[^{quote}\\\r\n]|\\[^\r\n{quote}]|\\{quote}(?=[^\s,;:)}}\]])){{1,512}}+"
        for quote in "\"'`”"
    ],
    "core.text.terms '|'.join(spellings)": ["캐쉬|메세지"],
    "core.text.ranking '(?![0-9])' if needle.isdigit() else 's?(?![a-z])'": ["s?(?![a-z])"],
    r"core.lessons.recall f'(?<!\\w){program}{_GAP}{rest_pattern}'": [
        rf"(?<!\w)kubectl{_GAP}apply"
    ],
    r"core.lessons.recall '(?!(?<=\\w)\\w)' + re.escape(trigger)": [r"(?!(?<=\w)\w)deploy"],
}


@cache
def expressions() -> tuple[Expression, ...]:
    """Return every expression of the program."""
    found = [*in_source(), *in_tables()]
    return tuple(dict.fromkeys(it for it in found if isinstance(it, Expression)))


def in_tables() -> Iterator[Expression]:
    for rule in rules():
        if rule.table != "keyed":
            example = expand(examples()[rule.name].example)[0]
            yield Expression(rule.name, with_parts(rule.pattern), 0, example)
    for kind in ("shapes", "characters"):
        for name, pattern in shapes(kind).items():
            yield Expression(f"{kind}.jsonl {name}", pattern)
    for rule in (*keyed_rules(False), *keyed_rules(True)):
        before, after = name_patterns(rule.pattern, rule.before)
        if before:  # it is searched within the last characters before a name
            yield Expression(rule.name, before.pattern)
        if after:
            yield Expression(rule.name, after.pattern, anchored=True)
    for phrase in order_rules():
        for pattern in filter(None, (phrase.pattern, phrase.unless)):
            yield Expression("core.guard.injection", order_expression(pattern).pattern)
    for glob in GLOBS:
        for piece in _parse_pattern(glob):
            if isinstance(piece, re.Pattern):
                yield Expression(f"core.lessons.anchors {glob}", piece.pattern, anchored=True)
    for where, patterns in MADE.items():
        yield from (Expression(where, pattern) for pattern in patterns)


@cache
def in_source() -> tuple[Expression | str, ...]:
    """Return the expression of each call, or the code that makes it while the program runs."""
    texts = {path: path.read_text(encoding="utf-8") for path in product()}
    compiling = {path: text for path, text in texts.items() if MAY_COMPILE.search(text)}
    return tuple(found for path, text in compiling.items() for found in in_file(path, text))


def in_file(path: Path, text: str) -> Iterator[Expression | str]:
    nodes = list(ast.walk(ast.parse(text)))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    calls = [call for call in calls if COMPILER.fullmatch(ast.unparse(call.func))]
    if not calls:
        return
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    module, used = importlib.import_module(name), methods(nodes)
    for call in calls:
        made, function = ast.unparse(call), ast.unparse(call.func)
        asked = {function[3:]} if function in ("re.match", "re.fullmatch") else used.get(made, {""})
        try:
            pattern = value_of(module, call.args[0])
        except NameError:
            yield f"{name} {ast.unparse(call.args[0])}"
            continue
        given = [it.value for it in call.keywords if it.arg == "flags"]
        given += call.args[1:2] if function == "re.compile" else []
        flags = int(sum(value_of(module, it) for it in given))
        if isinstance(pattern, re.Pattern):
            pattern, flags = pattern.pattern, pattern.flags
        pattern = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        anchored = asked <= {"match", "fullmatch"}
        yield Expression(f"{name}:{call.lineno}", pattern, flags & ~re.UNICODE, "", anchored)


def methods(nodes: list[ast.AST]) -> dict[str, set[str]]:
    """Return which methods of a pattern are used of each call, or of the name that it gets."""
    names, found = dict[str, str](), dict[str, set[str]]()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = ast.unparse(node.value)
    for node in nodes:
        if isinstance(node, ast.Attribute) and hasattr(re.Pattern, node.attr):
            value = ast.unparse(node.value)
            found.setdefault(names.get(value, value), set()).add(node.attr)
    return found


def value_of(module: ModuleType, expression: ast.expr) -> Any:
    return eval(compile(ast.Expression(expression), module.__name__, "eval"), vars(module))


def is_chosen(attack: Attack, where: str, one_in: int) -> bool:
    return crc32(repr((where, attack)).encode("utf-8", "surrogatepass")) % one_in == 0


def pumped(found: Expression) -> str:
    """Return the first attack that takes an expression more than linear time, or ""."""
    use = use_of(found.pattern, found.flags, anchored=found.anchored)
    for attack in attacks_of(found.pattern, found.example, found.flags):
        if is_chosen(attack, found.where, ONE_IN) and (took := growth(use, attack)):
            return f"{attack!r:.200} {took}"
    return ""


@pytest.mark.long  # it costs much
def test_no_expression_can_read_a_text_in_many_ways() -> None:
    none_of(it for it in in_source() if isinstance(it, str) and it not in MADE)
    assert len(expressions()) > 800
    found = ((it.where, ambiguities(it.pattern, it.flags)) for it in expressions())
    none_of(f"{where}: {ways}" for where, ways in found if ways)


QUOTED = r"""(['"])(?:''|(?!\1)[^\r\n]){3,256}(?=\1)"""
ESCAPED = r"""(?:\\["'](?=\S)|[^\r\n"]){3,256}(?=")"""


def test_an_expression_that_reads_a_text_in_many_ways_is_seen() -> None:
    letters = (r"(?:a+)+b", r"(?:a|aa)*b", r"\s*\s*x", r"(?:[ \t]*-)+[ \t]*-*[ \t]*x")
    none_of(it for it in (QUOTED, ESCAPED, *letters) if not ambiguities(it))


@pytest.mark.long  # it measures the time
def test_an_expression_beyond_linear_time_is_seen() -> None:
    attacks = {
        QUOTED: Attack('"', "''"),
        r"[a-z]+=": Attack("", "a"),
        r"`+[^`]+?`": Attack("", "`"),
    }
    for pattern, attack in attacks.items():
        assert growth(use_of(pattern), attack), pattern
        assert attack.piece[0] in {it.piece[:1] for it in attacks_of(pattern)}, pattern


@pytest.mark.long  # it measures the time
def test_expressions_take_linear_time() -> None:
    none_of(f"{it.where}: {took}" for it in expressions() if (took := pumped(it)))


@pytest.mark.long  # it measures the time
def test_redaction_takes_linear_time() -> None:
    attacks = [*KNOWN]
    for it in examples().values():
        tried = by_example(expand(it.example)[0])
        attacks += [at for at in tried if is_chosen(at, it.name, ONE_IN_OF_REDACTION)]
    took = ((attack, growth(redact, attack, FAST_REDACTION)) for attack in attacks)
    none_of(f"{attack!r:.120}: {it}" for attack, it in took if it)


@pytest.mark.long
def test_a_text_of_all_hints_and_examples_takes_no_more_than_4_seconds_per_100_kb() -> None:
    texts = [expand(text)[0] for it in examples().values() for text in (it.example, it.lookalike)]
    text = " ".join(filter(None, texts))
    redact(text[:40_000])  # compiles the rules
    assert seconds(redact, text[:50_000]) < 2
