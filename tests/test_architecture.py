"""The floors of the house: arrows run down only, and importing has no effect."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STANDARD = sys.stdlib_module_names

THIRD_PARTY = {
    "server": {"fastmcp", "pydantic"},
    "protocol.call": {"fastmcp"},
    "protocol.tools": {"anyio", "fastmcp", "mcp", "pydantic"},
    "core.disk.lock": {"filelock"},
    "protocol.arguments": {"pydantic"},
    "protocol.quick_start": {"pydantic"},
    "commands.demo.stage": {"fastmcp"},
    "commands.demo.demo": {"fastmcp"},
}


def sources() -> dict[str, Path]:
    paths = [ROOT / "server.py", ROOT / "cli.py"]
    for room in ("core", "protocol", "commands"):
        paths += ROOT.glob(f"{room}/**/*.py")
    named = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}
    return {name: path for name, path in named.items() if not name.endswith("__init__")}


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: name the module in full, no relative import"
            packages = (ROOT / str(node.module).replace(".", "/")).is_dir()
            found |= {
                f"{node.module}.{it.name}" if packages else str(node.module) for it in node.names
            }
    return found


@pytest.mark.parametrize("name", sources())
def test_only_the_named_files_know_a_foreign_package(name: str) -> None:
    tops = {module.split(".")[0] for module in imports_of(sources()[name])}
    foreign = tops - STANDARD - {"core", "protocol", "commands"}
    assert foreign <= THIRD_PARTY.get(name, set()), f"{name} imports {sorted(foreign)}"


@pytest.mark.parametrize("name", sources())
def test_every_file_begins_with_its_sign(name: str) -> None:
    sign = ast.get_docstring(ast.parse(sources()[name].read_text(encoding="utf-8")))
    assert sign, f"{name} has no docstring"
    assert len(sign.splitlines()[0]) > 20


@pytest.mark.parametrize("name", sources())
def test_functions_stay_under_forty_lines_and_files_say_why_above_three_hundred(name: str) -> None:
    text = sources()[name].read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 40, f"{name}.{node.name}: {length} lines"
    if len(text.splitlines()) > 300:
        assert "is long because" in (ast.get_docstring(tree) or ""), (
            f"{name}: {len(text.splitlines())} lines"
        )


IMPORTING = """
import contextlib, importlib, io, os, sys
for name in sys.argv[1:]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        importlib.import_module(name)
    if said.getvalue() or os.listdir():
        print(name, repr(said.getvalue()), os.listdir())
"""


def test_importing_prints_nothing_and_creates_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    names = [name for name in sources() if name != "server"]
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, *names],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
