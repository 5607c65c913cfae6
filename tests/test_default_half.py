"""Tests that the default half of the tests measures no time, so that a busy machine fails none."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
OUTSIDE = ("mark.long", "mark.night", "NEEDS_CLIENTS", "needs_browser")
CLOCKS = {"time.monotonic", "time.monotonic_ns", "monotonic"}
STOPWATCHES = {"time.perf_counter", "perf_counter", "time.process_time", "process_time"}
SLEEPS = {"time.sleep", "sleep", "asyncio.sleep", "anyio.sleep"}
NAMES = ("monotonic", "perf_counter", "process_time", "sleep")  # no other file is parsed

Function = ast.FunctionDef | ast.AsyncFunctionDef


def default_functions(tree: ast.Module) -> Iterator[Function]:
    """Yield the tests and fixtures of a file that run in the default half."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node).startswith("pytestmark = "):
            if is_outside(node.value):
                return
            continue
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        if not any(map(is_outside, getattr(node, "decorator_list", []))):
            yield from (
                it
                for it in inside
                if isinstance(it, Function) and not any(map(is_outside, it.decorator_list))
            )


def is_outside(mark: ast.expr) -> bool:
    return any(name in ast.unparse(mark) for name in OUTSIDE)


def measured(function: Function) -> Iterator[str]:
    """Yield the code that may fail on a busy machine: a stopwatch, a limit of time, a sleep.

    A sleep in a loop is none of these, nor is a time that must be long.
    """
    fine = {id(it) for node in ast.walk(function) for it in unmoved(node)}
    for node in ast.walk(function):
        if id(node) in fine:
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) in STOPWATCHES | SLEEPS:
            yield ast.unparse(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            sides = (node.left, node.right)
            if any(isinstance(it, ast.Call) and ast.unparse(it.func) in CLOCKS for it in sides):
                yield ast.unparse(node)


def unmoved(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that no busy machine can turn red."""
    if isinstance(node, ast.While):
        yield from (it for part in node.body for it in ast.walk(part))
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Gt | ast.GtE):
        yield node.left


def test_no_test_of_the_default_half_measures_time() -> None:
    found = [
        f"{path.relative_to(TESTS)}: {function.name}: {what}"
        for path in sorted(TESTS.rglob("test_*.py"))
        if any(name in (text := path.read_text(encoding="utf-8")) for name in NAMES)
        for function in default_functions(ast.parse(text))
        if function.name.startswith("test_")
        for what in measured(function)
    ]
    assert not found, "mark these as long, or tell it without a clock:\n" + "\n".join(found)
