"""Knows the rows of the specifications and who holds each; prints them as a table.

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
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
FILE = Path(__file__).with_name("rows.toml")
FIELDS = "requires", "reading", "outside", "otherwise"
TITLES = {
    "001": "001 The memory log",
    "002": "002 Fragments, for a team",
    "003": "003 Sessions",
    "004": "004 Fragments, for one person",
    "P": "P What the memory log promises",
    "I": "I What holds for every file and every sequence of calls",
}
_ID = re.compile(r"(001 \d+(-\d+)?\.[a-z]|(002 2\.|003 T|004 4\.)\d+(\.[a-z])?|[PI]\d+)")
_HEAD = re.compile(r"## .*\[(.+)\] *")


@dataclass(frozen=True)
class Row:
    """What a specification asks for. reading: how it is read, or what is done in its place.

    outside, otherwise: why nothing can hold it, as no program can make it happen, or as it is not
    done on purpose.
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


def rows_of(text: str) -> tuple[dict[str, Row], list[str]]:
    """Return the rows of a file by id, and what is wrong in it."""
    rows, faults = dict[str, Row](), list[str]()
    for id_, fields in tomllib.loads(text).items():
        texts = [it for it in fields.values() if isinstance(it, str) and it.strip()]
        if not _ID.fullmatch(id_):
            wrong = 'is no id: write "001 3-1.a", "002 2.13", "003 T9.a", "004 4.5", "P1" or "I1"'
        elif "requires" not in fields or not fields.keys() <= {*FIELDS}:
            wrong = f"has {', '.join(fields)}: its fields are {', '.join(FIELDS)}, the first a must"
        elif len(texts) < len(fields):
            wrong = "has a field without a text: write a sentence or remove it"
        else:
            rows[id_] = Row(id_, **fields)
            continue
        faults.append(f"rows.toml: [{id_!r}] {wrong}")
    return rows, faults


def claims_of_tests(source: str, where: str) -> tuple[list[Claim], list[str]]:
    """Return what the tests of a file hold, and the marks in it that hold nothing."""
    if "mark.row" not in source:
        return [], []
    tree = ast.parse(source)
    claims, faults, read = [], [], set()
    for name, mark in _marks_in(tree):
        read.add(mark.func)
        for argument in mark.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                claims.append(Claim(argument.value, f"{where}::{name}"))
            else:
                faults.append(f"{where}:{mark.lineno}: name the rows as they are, in quotes")
    faults += [
        f"{where}:{node.lineno}: put the mark of a row above a test or a class of tests"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _is_mark(node) and node not in read
    ]
    return claims, faults


def _marks_in(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield each mark above a test or a class, or around a test case, with what it marks."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    inside = {child: f"{owner.name}::" for owner in classes for child in owner.body}
    for node in ast.walk(tree):
        marks: list[ast.expr]
        match node:
            case ast.ClassDef(name=name, decorator_list=marks):
                pass
            case (
                ast.FunctionDef(name=name, decorator_list=marks)
                | ast.AsyncFunctionDef(name=name, decorator_list=marks)
            ) if name.startswith("test_"):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Call() as around)):
                marks = [around]
            case _:
                continue
        for mark in marks:
            if isinstance(mark, ast.Call) and _is_mark(mark.func):
                yield inside.get(node, "") + name, mark


def _is_mark(node: ast.AST) -> bool:
    is_row = isinstance(node, ast.Attribute) and node.attr == "row"
    return is_row and ast.unparse(node) == "pytest.mark.row"


def claims_of_stories(text: str, where: str) -> list[Claim]:
    """Return what the stories of a file hold."""
    heads = (_HEAD.fullmatch(line) for line in text.splitlines())
    return [
        Claim(row.strip(), f"{where}: {head[0].partition('[')[0][3:].strip()}", is_story=True)
        for head in heads
        if head
        for row in head[1].split(",")
    ]


@cache
def claims_in(folder: Path) -> tuple[list[Claim], list[str]]:
    """Return what all tests and stories of a folder hold, and the marks that hold nothing."""
    claims, faults = list[Claim](), list[str]()
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        of_file = claims_of_tests(path.read_text(encoding="utf-8"), name)
        claims += of_file[0]
        faults += of_file[1]
    for path in sorted(folder.glob("stories/**/*.txt")):
        name = path.relative_to(folder).as_posix()
        claims += claims_of_stories(path.read_text(encoding="utf-8"), name)
    return claims, faults


def holders_of(rows: Iterable[str], claims: Iterable[Claim]) -> dict[str, list[str]]:
    """Return who holds each row."""
    holders: dict[str, list[str]] = {row: [] for row in rows}
    for claim in claims:
        holders.get(claim.row, []).append(claim.holder)
    return holders


def unknown_in(rows: Iterable[str], claims: Iterable[Claim]) -> list[str]:
    """Say of each claim that names no row what to name."""
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
    """Say of each row that nothing holds what to do."""
    return [
        f"{row.id}: {row.requires} Nothing holds it: put its id above the test that would fail, or"
        " at the head of a story; outside or otherwise in rows.toml says why none can."
        for row in rows.values()
        if row.needs_holder and not holders[row.id]
    ]


def table(rows: Iterable[Row], holders: Mapping[str, Sequence[str]]) -> str:
    """Return the rows in Markdown, those of each document below its title."""
    lines, document = list[str](), ""
    for row in rows:
        found = row.id[:3] if row.id[0].isdigit() else row.id[0]
        if found != document:
            document = found
            lines += ["", f"## {TITLES[found]}", "", "| Row | Required | Read as | Held by |"]
            lines += ["| --- | --- | --- | --- |"]
        told = [row.reading, row.outside and f"Outside: {row.outside}"]
        told += [row.otherwise and f"Otherwise: {row.otherwise}"]
        held = "<br>".join(f"`{holder}`" for holder in holders[row.id])
        cells = [row.id, row.requires, " ".join(filter(None, told)), held]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines[1:])


def main(arguments: Sequence[str]) -> int:
    """Print the rows with their holders; `--open`: only those that nothing holds."""
    rows, _ = rows_of(FILE.read_text(encoding="utf-8"))
    holders = holders_of(rows, claims_in(TESTS)[0])
    shown = [row for row in rows.values() if not ("--open" in arguments and holders[row.id])]
    print(table(shown, holders) or "Every row has its holder.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
