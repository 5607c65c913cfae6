"""Tests which room uses which, and what each keeps away from."""

import ast
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.cli_process import Run
from tests.support.tables import ROOT

# A room is a folder or a file, and what is not named here belongs to the folder above it. Each room
# may use itself and the rooms on its right; from outside of a top folder, its name means all of it.
ROOMS = {
    "server": "core protocol rooms http_server",
    "cli": "core commands",
    "protocol": "core",
    "http_server": "core protocol",
    "rooms.sessions.tools": "core protocol rooms.sessions",
    "rooms.sessions": "core rooms.room",
    "rooms.fragments.tools": "core protocol rooms.fragments",
    "rooms.fragments": "core rooms.room",
    "rooms.room": "core",
    "rooms": "core rooms.room",
    "commands": "commands core rooms commands.terminal commands.clients",
    "commands.rooms": "core rooms commands.terminal commands.clients commands.view",
    "commands.report": "core commands.terminal commands.clients commands.revisions"
    " commands.suspicions",
    "commands.revisions": "core commands.suspicions",
    "commands.suspicions": "core commands.terminal",
    "commands.scan": "core rooms.room commands.terminal commands.revisions commands.suspicions",
    "commands.doctor": "core rooms.room commands.terminal commands.clients",
    "commands.stats": "core rooms.room commands.terminal commands.hook",
    "commands.demo": "core commands.terminal commands.clients",
    "commands.view": "core rooms.room commands.terminal commands.clients",
    "commands.keys": "core http_server commands.terminal",
    "commands.terminal": "core rooms.room",
    "commands.clients": "core commands.terminal",
    "core.store": "core core.lessons core.lessons.file",
    "core.git": "core core.text",
    "core.lessons.history": "core core.git core.lessons",
    "core.lessons.reach": "core core.git core.lessons core.sanitizer core.text",
    "core.lessons.file": "core core.disk core.git",
    "core.lessons": "core core.data core.sanitizer core.text core.guard core.text.ranking",
    "core.sanitizer": "core core.data core.guard",
    "core.text": "core.data core.guard",
    "core.text.ranking": "core core.text",
    "core.guard": "core.data",
    "core.data": "",
    "core.disk": "core",
    "core.postgres": "core core.room",
    "core.room": "core core.disk core.text core.text.ranking core.guard core.sanitizer",
    "core": "",
}
# What a room never imports: a pure room asks neither disk nor process nor environment nor clock.
OUTSIDE = set("os pathlib subprocess tempfile time socket shutil io".split())
PURE = "core.guard core.sanitizer core.text".split()
PURE += "core.lessons core.errors core.text.ranking".split()
FOREIGN = {
    "server": {"fastmcp", "pydantic"},
    "protocol": {"anyio", "fastmcp", "mcp", "pydantic"},
    "rooms.sessions.tools": {"fastmcp", "pydantic"},
    "rooms.sessions": {"markdown_it"},
    "rooms.fragments.tools": {"fastmcp", "pydantic"},
    "rooms.fragments": {"numpy", "onnxruntime", "tokenizers", "psycopg", "redis"},
    "core.disk": {"filelock"},
    "core.postgres": {"psycopg", "psycopg_pool"},
    "http_server": set(
        "anyio fastmcp mcp mcp_types prometheus_client pydantic pydantic_core sse_starlette"
        " starlette uvicorn".split()
    ),
}
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
    """What the tests ask of a file. It is read once, and its tree is not kept: it is large."""

    sign: str
    imports: tuple[str, ...]  # at its top or when it gets there; modules by their full names
    starts: bool  # another process


@cache
def read(path: Path) -> File:
    text = path.read_text(encoding="utf-8")
    tree, may_start = ast.parse(text), STARTING.search(text)  # to unparse every call takes long
    imports, calls = list[str](), list[ast.Call]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports += imported(node, path)
        elif isinstance(node, ast.Call) and may_start:
            calls.append(node)
    starts = any(STARTING.fullmatch(ast.unparse(call.func)) for call in calls)
    return File(ast.get_docstring(tree) or "", tuple(imports), starts)


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
    """So what holds for every call of git stands in one place; the demo starts us, too."""
    started = {module for module, path in sources().items() if read(path).starts}
    by_us = {"commands.clients.setup", "commands.demo"}
    for_us = {"core.git", "commands.rooms.lesson", "rooms.fragments.models.judge"}
    assert started == for_us | by_us


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
