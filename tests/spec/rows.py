"""Knows the rows of the specifications and who holds each; prints them.

    python -m tests.spec.rows           # all rows
    python -m tests.spec.rows --open    # those that nothing holds

A test or a class of tests holds a row by `@pytest.mark.row("001 3-1.a")` above it, a state machine
by `TestIt = pytest.mark.row("I14")(It.TestCase)`, a story by `[001 3-1.a]` at the end of its head.
The head of a story may name a section alone, `[001 3-1]`: that says where it belongs and holds no
row, as nobody can tell which of them it shows. A row with `outside` or `otherwise` needs no holder.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
FILE = Path(__file__).with_name("rows.toml")
_ID = re.compile(r"(001 \d+(-\d+)?\.[a-z]|(002 2\.|003 T|004 4\.)\d+(\.[a-z])?|[PI]\d+)")
_HEAD = re.compile(r"## .*\[(.+)\] *")


@dataclass(frozen=True)
class Row:
    """A requirement of a specification. reading: its interpretation, or the behaviour in its place.

    outside, otherwise: why no test can hold it: no program can make it happen, or the project
    departs from it on purpose.
    """

    id: str
    requires: str
    reading: str = ""
    outside: str = ""
    otherwise: str = ""

    @property
    def needs_holder(self) -> bool:
        return not (self.outside or self.otherwise)


class Claim(NamedTuple):
    """That a test or a story holds a row. row: the id as it is written there."""

    row: str
    holder: str
    is_story: bool = False


def rows_of(text: str) -> dict[str, Row]:
    """Return the rows of a file by id. Raises ValueError, or TypeError for an unknown field."""
    rows = {id_: Row(id_, **fields) for id_, fields in tomllib.loads(text).items()}
    for row in rows.values():
        if not all(isinstance(it, str) for it in astuple(row)):
            raise TypeError(f"{row.id}: a field is a sentence")
        if not _ID.fullmatch(row.id):
            raise ValueError(f'{row.id}: write "001 3-1.a", "002 2.13", "004 4.5", "P1" or "I1"')
    return rows


def claims_of_tests(source: str, where: str) -> list[Claim]:
    """Return the claims of a file's tests. Raises ValueError for a mark that belongs to no test."""
    if "mark.row" not in source:
        return []
    tree = ast.parse(source)
    marks = [*_marks_in(tree.body)]
    if len(marks) < sum(map(_is_mark, ast.walk(tree))):
        raise ValueError(f"{where}: put the mark of a row above a test or a class of tests")
    return [
        Claim(ast.literal_eval(row), f"{where}::{name}")
        for name, mark in marks
        for row in mark.args
    ]


def _marks_in(nodes: Iterable[ast.stmt], inside: str = "") -> Iterator[tuple[str, ast.Call]]:
    """Yield each mark above a test or a class, or around a test case, with the name of its test."""
    for node in nodes:
        marks = list[ast.expr]()
        match node:
            case ast.ClassDef(name=name, decorator_list=marks, body=body):
                yield from _marks_in(body, f"{name}::")
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name.startswith("test_"):
                name, marks = node.name, node.decorator_list
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Call() as around)):
                marks = [around]
        for mark in marks:
            if isinstance(mark, ast.Call) and _is_mark(mark.func):
                yield inside + name, mark


def _is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.row"


def claims_of_stories(text: str, where: str) -> list[Claim]:
    heads = (_HEAD.fullmatch(line) for line in text.splitlines())
    return [
        Claim(row.strip(), f"{where}: {head[0].partition('[')[0][3:].strip()}", is_story=True)
        for head in heads
        if head
        for row in head[1].split(",")
    ]


@cache
def claims_in(folder: Path) -> list[Claim]:
    claims = list[Claim]()
    for pattern, read in (("*.py", claims_of_tests), ("stories/**/*.txt", claims_of_stories)):
        for path in sorted(folder.rglob(pattern)):
            name = path.relative_to(folder).as_posix()
            claims += read(path.read_text(encoding="utf-8"), name)
    return claims


def holders_of(rows: Iterable[str], claims: Iterable[Claim]) -> dict[str, list[str]]:
    holders: dict[str, list[str]] = {row: [] for row in rows}
    for claim in claims:
        holders.get(claim.row, []).append(claim.holder)
    return holders


def unknown_in(rows: Iterable[str], claims: Iterable[Claim]) -> list[str]:
    """Return a sentence for each claim that names no row, with the ids it could name."""
    known = set(rows)
    sections = {row.rpartition(".")[0] for row in known} - {"002 2", "004 4", ""}
    faults = []
    for claim in claims:
        if claim.row in known or (claim.is_story and claim.row in sections):
            continue
        ask = "no row: correct the id, or add the row to tests/spec/rows.toml"
        if claim.row in sections:
            below = sorted(row for row in known if row.startswith(f"{claim.row}."))
            ask = f"a section: name a row of it, {below[0]} to {below[-1]}"
        faults.append(f"{claim.holder}: {claim.row!r} is {ask}")
    return faults


def open_in(rows: Mapping[str, Row], holders: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each row that no test holds, with the remedy."""
    return [
        f"{row.id}: {row.requires} Nothing holds it: put its id above the test that would fail, or"
        " at the head of a story; outside or otherwise in rows.toml says why none can."
        for row in rows.values()
        if row.needs_holder and not holders[row.id]
    ]


def told(row: Row, holders: Sequence[str]) -> str:
    """Return a row with its holders, in lines."""
    more = {"Read as": row.reading, "Outside": row.outside, "Otherwise": row.otherwise}
    lines = [f"    {name}: {text}" for name, text in more.items() if text]
    return "\n".join([f"{row.id}: {row.requires}", *lines, *(f"    - {it}" for it in holders)])


def main(arguments: Sequence[str]) -> int:
    """Print the rows with their holders; `--open`: only those that nothing holds."""
    rows = rows_of(FILE.read_text(encoding="utf-8"))
    holders = holders_of(rows, claims_in(TESTS))
    shown = [row for row in rows.values() if not ("--open" in arguments and holders[row.id])]
    print("\n".join(told(row, holders[row.id]) for row in shown) or "Every row has its holder.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
