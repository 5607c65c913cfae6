"""The floors of the house: arrows run down only, and importing has no effect."""

import ast
import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STANDARD = sys.stdlib_module_names

# From the ground up: a file may import what stands on a lower floor than its own.
FLOORS = [
    {
        "core.messages",
        "core.words",
        "core.estimates",
        "core.patterns",
        "core.secret_rules",
        "core.suspicion",
    },
    {"core.ranking", "core.value_ends", "core.secret_names", "core.text_forms"},
    {"core.errors", "core.atomic", "core.value_shapes", "core.marking"},
    {"core.platform_tokens", "core.service_tokens", "core.structure_rules", "core.keyed_rules"},
    {"core.paths", "core.settings"},
    {"core.keyed_values"},
    {"core.sanitizer"},
    {"core.record", "core.project", "core.lock"},
    {"core.files", "core.lines", "core.flaws", "core.merging", "core.compaction"},
    {"core.memory_log", "core.rendering"},
    {"core.health", "core.notes", "core.fitting"},
    {"core.repair", "core.log_secrets", "core.renewal"},
    {"core.cleaning"},
    {"core.store"},
    {"core.answers", "core.briefing", "core.recall"},
    {
        "faces.client_table",
        "faces.git",
        "faces.plain",
        "faces.quick_start",
        "faces.wire",
        "faces.workflow",
    },
    {"faces.clients", "faces.json_tree", "faces.toml_table"},
    {"faces.jsonc"},
    {"faces.marked_block", "faces.rules_imports", "faces.hook_events", "faces.sessions"},
    {"faces.setup_table", "faces.rules_plan"},
    {"faces.hook_text", "faces.setup_here"},
    {"faces.setup_files"},
    {
        "faces.bundle_words",
        "faces.demo_words",
        "faces.desk_words",
        "faces.doctor_words",
        "faces.history_words",
        "faces.onboard_words",
        "faces.report_words",
        "faces.scan_words",
        "faces.setup_words",
        "faces.stats_words",
    },
    {"faces.export_words", "faces.html_text", "faces.import_words", "faces.view_words"},
    {"faces.exporting", "faces.exporting_json", "faces.user_files"},
    {"faces.setup_entries", "faces.setup_rules", "faces.setup_writing"},
    {"faces.setup_lines", "faces.setup_plan"},
    {"faces.exporting_html", "faces.exporting_markdown", "faces.outgoing"},
    {"faces.inert"},
    {"faces.exporting_rules", "faces.importing_topics"},
    {"faces.importing_markdown"},
    {"faces.importing_sources"},
    {"faces.columns", "faces.counting", "faces.view_plot"},
    {"faces.onboarding_items", "faces.showings"},
    {"faces.figures", "faces.onboarding"},
    {"faces.stats_json", "faces.stats_lines"},
    {"faces.arguments", "faces.console", "faces.demo_reading", "faces.demo_stage"},
    {"faces.git_reading", "faces.record_lines", "faces.checkup", "faces.bundling"},
    {"faces.old_logs"},
    {"faces.versions"},
    {"faces.lineage", "faces.naming", "faces.scanning", "faces.export_files"},
    {
        "faces.scan_lines",
        "faces.desk",
        "faces.viewing",
        "faces.comparing",
        "faces.reporting_range",
    },
    {"faces.desk_lines", "faces.view_records", "faces.reporting", "faces.reporting_parts"},
    {"faces.topics_rename", "faces.edit_text", "faces.view_page", "faces.reporting_markdown"},
    {"faces.reporting_github", "faces.reporting_json"},
    {
        "faces.bundle",
        "faces.demo",
        "faces.doctor",
        "faces.edit",
        "faces.export",
        "faces.forget",
        "faces.history",
        "faces.hook",
        "faces.importing",
        "faces.list",
        "faces.onboard",
        "faces.report",
        "faces.restore",
        "faces.scan",
        "faces.search",
        "faces.setup",
        "faces.show",
        "faces.stats",
        "faces.topics",
        "faces.uncompact",
        "faces.view",
    },
    {"server", "cli"},
]
PURE = [
    *("messages", "errors", "ranking", "settings", "sanitizer", "record"),
    *(
        "paths",
        "words",
        "patterns",
        "secret_rules",
        "platform_tokens",
        "service_tokens",
        "structure_rules",
    ),
    *(
        "keyed_rules",
        "keyed_values",
        "value_ends",
        "value_shapes",
        "secret_names",
        "suspicion",
        "marking",
    ),
    *(
        "lines",
        "flaws",
        "merging",
        "memory_log",
        "health",
        "repair",
        "log_secrets",
        "renewal",
        "cleaning",
        "compaction",
        "rendering",
        "fitting",
        "notes",
        "answers",
        "briefing",
        "recall",
    ),
]
THIRD_PARTY = {
    "server": {"anyio", "fastmcp", "mcp", "pydantic"},
    "core.lock": {"filelock"},
    "faces.arguments": {"pydantic"},
    "faces.quick_start": {"pydantic"},
    "faces.demo_stage": {"fastmcp"},
    "faces.demo": {"fastmcp"},
}


def sources() -> dict[str, Path]:
    paths = [ROOT / "server.py", ROOT / "cli.py", *ROOT.glob("core/*.py"), *ROOT.glob("faces/*.py")]
    named = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}
    return {name: path for name, path in named.items() if not name.endswith("__init__")}


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: name the module in full, no relative import"
            packages = node.module in ("core", "faces")  # `from faces import git` names a module
            found |= {
                f"{node.module}.{it.name}" if packages else str(node.module) for it in node.names
            }
    return found


def test_every_file_has_its_floor() -> None:
    assert set().union(*FLOORS) == set(sources())


@pytest.mark.parametrize("name", sources())
def test_arrows_run_down_only(name: str) -> None:
    floor = next(at for at, names in enumerate(FLOORS) if name in names)
    below = set().union(*FLOORS[:floor])
    ours = {module for module in imports_of(sources()[name]) if module in sources()}
    wrong = sorted(ours - below)
    assert not wrong, f"{name} imports {wrong}, which stand on its own floor or above"


@pytest.mark.parametrize("name", ["Design.md", "Design_KR.md"])
def test_the_drawing_of_the_floors_has_every_file_once_and_its_arrows_run_down(name: str) -> None:
    drawing = (ROOT / "docs" / name).read_text(encoding="utf-8").split("```\n")[1]
    above, below = drawing.split("▼\n")
    drawn = re.findall(r"faces/(\w+)", above)
    for command in (line.rpartition("┆")[2] for line in above.splitlines() if "┆" in line):
        drawn += command.rpartition("  ")[2].split(", ")
    faces = [module.removeprefix("faces.") for module in sources() if module.startswith("faces.")]
    assert sorted(it for pattern in drawn for it in fnmatch.filter(faces, pattern)) == sorted(faces)

    floors = [re.findall(r"core/(\w+)", line) for line in below.splitlines()]
    place = {f"core.{module}": at for at, modules in enumerate(floors) for module in modules}
    assert len(place) == sum(map(len, floors))
    assert place.keys() == {module for module in sources() if module.startswith("core.")}
    for module, at in place.items():
        wrong = [it for it in imports_of(sources()[module]) if place.get(it, at + 1) <= at]
        assert not wrong, f"{module} is not drawn above {wrong}"


@pytest.mark.parametrize("name", sources())
def test_only_the_named_files_know_a_foreign_package(name: str) -> None:
    tops = {module.split(".")[0] for module in imports_of(sources()[name])}
    foreign = tops - STANDARD - {"core", "faces"}
    assert foreign <= THIRD_PARTY.get(name, set()), f"{name} imports {sorted(foreign)}"


@pytest.mark.parametrize("name", PURE)
def test_pure_files_touch_no_disk_process_or_environment(name: str) -> None:
    unclean = {"os", "pathlib", "subprocess", "tempfile", "time", "socket", "shutil", "io"}
    tops = {module.split(".")[0] for module in imports_of(ROOT / "core" / f"{name}.py")}
    assert not tops & unclean, f"core/{name}.py imports {sorted(tops & unclean)}"


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
