"""Knows the rows of the specifications and who holds each; prints them as a table.

    python -m tests.spec.rows           # all rows
    python -m tests.spec.rows --open    # those that nothing holds

A test or a class of tests holds a row by `@pytest.mark.row("001 3-1.a")` above it, a state machine
by `TestIt = pytest.mark.row("I14")(It.TestCase)`, a story by `[001 3-1.a]` at the end of its head.
The head of a story may name a section alone, `[001 3-1]`: that says where it belongs and holds no
row, as nobody can tell which of them it shows. A row with `outside` or `otherwise` needs no holder.
"""

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
_DOCUMENT = re.compile(r"\d{3}|[PI]")


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

    @property
    def words(self) -> str:
        """What is said of it beside what it asks for."""
        told = [self.reading]
        told += [f"Outside: {self.outside}"] if self.outside else []
        told += [f"Otherwise: {self.otherwise}"] if self.otherwise else []
        return " ".join(filter(None, told))


@dataclass(frozen=True)
class Claim:
    """That a test or a story holds a row. row: the id as it stands there."""

    row: str
    holder: str
    is_story: bool = False


def rows_of(text: str) -> tuple[dict[str, Row], list[str]]:
    """Return the rows of a file by id, and what is wrong in it."""
    rows, faults = {}, []
    for id_, fields in tomllib.loads(text).items():
        wrong = _wrong_in(id_, fields)
        if wrong:
            faults.append(f"rows.toml: [{id_!r}] {wrong}")
        else:
            rows[id_] = Row(id_, **fields)
    return rows, faults


def _wrong_in(id_: str, fields: object) -> str:
    if not _ID.fullmatch(id_):
        return 'is no id: write "001 3-1.a", "002 2.13", "003 T9.a", "004 4.5", "P1" or "I1"'
    if not isinstance(fields, dict) or "requires" not in fields:
        return 'says not what it asks for: add requires = "…"'
    unknown = sorted(fields.keys() - set(FIELDS))
    if unknown:
        return f"has {', '.join(unknown)}: its fields are {', '.join(FIELDS)}"
    empty = [name for name, text in fields.items() if not (isinstance(text, str) and text.strip())]
    return f"has no text in {', '.join(empty)}: write a sentence or remove it" if empty else ""


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
    """Each mark above a test or a class, or around a test case, with the name of what it marks."""
    inside = {
        child: f"{parent.name}::"
        for parent in ast.walk(tree)
        if isinstance(parent, ast.ClassDef)
        for child in parent.body
    }
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name, decorator_list=marks):
                pass
            case ast.FunctionDef(name=name, decorator_list=marks) if name.startswith("test_"):
                pass
            case ast.AsyncFunctionDef(name=name, decorator_list=marks) if name.startswith("test_"):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Call() as around)):
                marks = [around]
            case _:
                continue
        for mark in marks:
            if isinstance(mark, ast.Call) and _is_mark(mark.func):
                yield inside.get(node, "") + name, mark


def _is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.row"


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
    claims, faults = [], []
    for path in sorted(folder.rglob("*.py")):
        of_file = claims_of_tests(path.read_text(encoding="utf-8"), _name(path, folder))
        claims += of_file[0]
        faults += of_file[1]
    for path in sorted(folder.glob("stories/**/*.txt")):
        claims += claims_of_stories(path.read_text(encoding="utf-8"), _name(path, folder))
    return claims, faults


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


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
        if claim.row in sections:
            below = sorted(row for row in known if row.startswith(f"{claim.row}."))
            ask = f"a section: name a row of it, {below[0]} to {below[-1]}"
        else:
            ask = "no row: correct the id, or add the row to tests/spec/rows.toml"
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
    lines: list[str] = []
    document = ""
    for row in rows:
        [found] = _DOCUMENT.findall(row.id)[:1]
        if found != document:
            document = found
            lines += ["", f"## {TITLES[found]}", ""] if lines else [f"## {TITLES[found]}", ""]
            lines += ["| Row | Required | Read as | Held by |", "| --- | --- | --- | --- |"]
        held = "<br>".join(f"`{holder}`" for holder in holders[row.id])
        cells = [row.id, row.requires, row.words, held]
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the rows with their holders."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.spec.rows", description="Print the rows."
    )
    parser.add_argument("--open", action="store_true", help="only those that nothing holds")
    asked = parser.parse_args(arguments)
    rows, _ = rows_of(FILE.read_text(encoding="utf-8"))
    holders = holders_of(rows, claims_in(TESTS)[0])
    shown = [row for row in rows.values() if not (asked.open and holders[row.id])]
    print(table(shown, holders) or "Every row has its holder.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
