"""Tests which imports each room may have, and its names, by tests/data/architecture.toml."""

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.cli_process import Run
from tests.support.tables import DATA, ROOT

_TABLE = tomllib.loads((DATA / "architecture.toml").read_text(encoding="utf-8"))
ROOMS: dict[str, str] = _TABLE["may_use"]
PURE, OUTSIDE = _TABLE["pure"]["rooms"].split(), set(_TABLE["pure"]["never"].split())
BARE, ALLOWED = (set(_TABLE["names"][key].split()) for key in ("bare", "allowed"))
FOREIGN = {room: set(names.split()) for room, names in _TABLE["foreign"].items()}
# The packages of the program are the folders at the top that have a sign; the others are its tools.
PACKAGES = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
STARTING = re.compile(
    r"subprocess\.(?!list2cmdline)\w+|os\.(system|popen|fork\w*|(exec|spawn|posix_spawn)\w+)|Popen"
    r"|asyncio\.create_subprocess_\w+|pty\.\w+"
)
TOPS = {"server", "cli"} | PACKAGES


def sources() -> dict[str, Path]:
    """Every module of the program by its dotted name."""
    paths = [ROOT / "server.py", ROOT / "cli.py"]
    for folder in sorted(PACKAGES):
        paths += ROOT.glob(f"{folder}/**/*.py")
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}


class File(NamedTuple):
    """The facts of a file. It is read once, and its tree is not kept: it is large."""

    sign: str
    imports: tuple[str, ...]  # at its top or when it gets there; modules by their full names
    starts: bool  # another process
    names: frozenset[str]  # of its variables, parameters and functions


@cache
def read(path: Path) -> File:
    text = path.read_text(encoding="utf-8")
    tree, may_start = ast.parse(text), STARTING.search(text)  # to unparse every call takes long
    imports, calls, names = list[str](), list[ast.Call](), set[str]()
    for node in ast.walk(tree):
        names.add(name_of(node).strip("_"))
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports += imported(node, path)
        elif isinstance(node, ast.Call) and may_start:
            calls.append(node)
    starts = any(STARTING.fullmatch(ast.unparse(call.func)) for call in calls)
    return File(ast.get_docstring(tree) or "", tuple(imports), starts, frozenset(names))


def name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
    return ""


def imported(node: ast.Import | ast.ImportFrom, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    assert not node.level, f"{path}: name the module in full, no relative import"
    module = str(node.module)
    for alias in node.names:
        name = f"{module}.{alias.name}"
        yield name if (ROOT / f"{name.replace('.', '/')}.py").is_file() else module


def room_of(module: str) -> str:
    """The longest name of ROOMS that fits; each command is a room of its own."""
    room = max((room for room in ROOMS if f"{module}.".startswith(f"{room}.")), key=len)
    return ".".join(module.split(".")[:2]) if room == "commands" else room


def may_use(room: str, used: str) -> bool:
    top = used.partition(".")[0]
    rooms = {room, *ROOMS.get(room, ROOMS["commands"]).split()}
    return used in rooms or (top in rooms and room.partition(".")[0] != top)


def test_every_room_uses_only_the_rooms_that_it_may() -> None:
    wrong = set()
    for module, path in sources().items():
        room = room_of(module)
        for used in read(path).imports:
            if used.partition(".")[0] in TOPS and not may_use(room, room_of(used)):
                wrong.add(f"{module} imports {used}")
    assert sorted(wrong) == []


def test_no_import_runs_in_a_circle() -> None:
    modules = sources()
    arrows = {module: set(read(path).imports) & modules.keys() for module, path in modules.items()}
    while free := {module for module, used in arrows.items() if not used & arrows.keys()}:
        for module in free:
            del arrows[module]
    assert sorted(arrows) == []


def test_pure_rooms_touch_no_disk_process_or_environment() -> None:
    wrong = {
        f"{module} imports {used}"
        for module, path in sources().items()
        if room_of(module) in PURE or module in PURE
        for used in read(path).imports
        if used.partition(".")[0] in OUTSIDE
    }
    assert sorted(wrong) == []


def test_only_the_named_rooms_know_a_foreign_package() -> None:
    known = sys.stdlib_module_names | TOPS
    wrong = {
        f"{module} imports {used}"
        for module, path in sources().items()
        for used in read(path).imports
        if used.partition(".")[0] not in known | FOREIGN.get(room_of(module), set())
    }
    assert sorted(wrong) == []


def test_git_an_editor_a_judge_and_this_program_are_all_that_is_started_each_in_one_file() -> None:
    """So the rules for every call of git stand in one place; the demo starts us, too."""
    started = {module for module, path in sources().items() if read(path).starts}
    by_us = {"commands.clients.setup", "commands.demo"}
    for_us = {"core.git", "commands.rooms.lesson", "rooms.fragments.models.judge"}
    assert started == for_us | by_us


def test_no_name_is_a_bare_pronoun_participle_or_adverb() -> None:
    bare = {
        f"{module}:{name}" for module, path in sources().items() for name in read(path).names & BARE
    }
    assert sorted(bare ^ ALLOWED) == []  # nor is one allowed that is gone


def test_every_file_begins_with_its_sign() -> None:
    signs = {module: read(path).sign for module, path in sources().items()}
    assert [module for module, sign in signs.items() if len(sign.partition("\n")[0]) < 20] == []
    assert [module for module, sign in signs.items() if "is long because" in sign] == []


IMPORTING = """
import contextlib, importlib, io, os, sys
for name in sys.argv[1:]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        importlib.import_module(name)
    if printed.getvalue() or os.listdir():
        print(name, repr(printed.getvalue()), os.listdir())
"""


@pytest.mark.long  # it costs much
def test_importing_prints_nothing_and_creates_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    names = [name for name in sources() if name != "server"]
    command = (sys.executable, "-c", IMPORTING, *names)
    assert Run.process(*command, cwd=tmp_path, environment=environment) == (0, "", "")
