"""Tests the metadata of the package, and that the bundle of `packaging/bundle.py` runs."""

import io
import json
import os
import shutil
import stat
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import server
from commands.clients.table import COMMANDS
from core.messages import Facts, say
from core.program import CLI
from tests.support.cli_process import Run
from tests.support.git_clones import copied_checkout
from tests.support.sentences import sentence
from tests.support.servers import ServerProcess
from tests.support.tables import ROOT, table
from tests.test_architecture import FOREIGN

sys.path.insert(0, str(ROOT / "packaging"))

from bundle import TEXTS, Bundle, bundle_of, main

NAME = f"sentinel-memory-{server.VERSION}.mcpb"
OLDER = Bundle("0.1.0", {"manifest.json": b'{"name": "sentinel-memory"}'}).archive()
PACKER = ROOT / "tests" / "mcpb"
PACKER_CLI = PACKER / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
CONFIGURE = """
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
const given = JSON.parse(process.argv[1]);
const config = await getMcpConfigForManifest({ ...given, systemDirs: {}, pathSeparator: "/" });
console.log(JSON.stringify(config ?? null));
"""

Build = Callable[..., Run]


@pytest.fixture
def build(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Build:
    """Carries out one `packaging/bundle.py` in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Run:
        try:
            code = main(arguments)
        except SystemExit as refused:
            code = int(str(refused.code))
        return Run(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    """The bundle of this checkout."""
    return bundle_of(ROOT)


@pytest.fixture(scope="module")
def manifest(bundle: Bundle) -> dict[str, Any]:
    return dict(json.loads(bundle.files["manifest.json"]))


@pytest.fixture(scope="module")
def unpacked(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Korean name and a blank in it, into which a client has unpacked it."""
    folder = tmp_path_factory.mktemp("bundle") / "확장 프로그램"
    with zipfile.ZipFile(io.BytesIO(bundle.archive())) as archive:
        archive.extractall(folder)
    return folder


def test_every_file_of_the_checkout_is_there_byte_for_byte_and_no_command(bundle: Bundle) -> None:
    """A style or a statement that a module reads belongs to the program like the module."""
    folders = [ROOT / name for name in ("core", "protocol", "rooms", "http_server")]
    files = [path for it in folders for path in it.rglob("*") if path.is_file()]
    beside = {it.relative_to(ROOT).as_posix() for it in files if it.parent.name != "__pycache__"}
    made = {"manifest.json", "mcpb-resources/ko-KR.json", "pyproject.toml"}
    assert {*bundle.files} == {*beside, *made, "server.py", "README.md", "LICENSE"}
    for path in bundle.files.keys() - made:
        assert bundle.files[path] == (ROOT / path).read_bytes(), path
    about = {"name": "sentinel-memory", "version": server.VERSION, "requires-python": ">=3.11"}
    packages = (ROOT / "requirements.txt").read_text("utf-8").split()
    assert tomllib.loads(bundle.files["pyproject.toml"].decode()) == {
        "project": {**about, "dependencies": packages},
        "tool": {"uv": {"package": False}},
    }


def test_the_manifest_names_the_server_and_the_settings_a_client_asks_for(
    bundle: Bundle, manifest: dict[str, Any]
) -> None:
    """Each tool with the first paragraph that a model reads, and all texts in Korean as well."""
    paragraphs = {it["name"]: it["description"].split("\n\n")[0] for it in table("tool_surface")}
    tools = {name: text.replace("\n", " ") for name, text in paragraphs.items()}
    of_today = {
        "version": server.VERSION,
        "tools": [{"name": name, "description": text} for name, text in tools.items()],
    }
    assert manifest == {**table("bundle_manifest"), **of_today}
    korean = json.loads(bundle.files["mcpb-resources/ko-KR.json"])
    assert korean == {
        "description": TEXTS["ko"]["description"],
        "long_description": TEXTS["ko"]["long_description"],
        "tools": [{"name": name, "description": TEXTS["ko"][name]} for name in tools],
    }


@pytest.mark.long
def test_the_same_files_give_the_same_bytes_which_say_nothing_of_the_machine(
    tmp_path: Path, bundle: Bundle
) -> None:
    checkout = copied_checkout(tmp_path)
    for path in checkout.rglob("*.py"):
        path.chmod(0o700)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    data = bundle.archive()
    assert bundle_of(checkout).archive() == data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(bundle.files)
    facts = {(it.date_time, it.create_system, it.external_attr >> 16) for it in entries}
    assert facts == {((1980, 1, 1, 0, 0, 0), 3, stat.S_IFREG | 0o644)}
    script = checkout / "server.py"  # with the line ends of Windows
    script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n"))
    made = bundle_of(checkout)
    for name in ("manifest.json", "pyproject.toml"):
        assert made.files[name] == bundle.files[name]


@pytest.mark.long
def test_it_is_written_where_it_is_wanted_and_one_of_another_version_is_replaced(
    build: Build, tmp_path: Path, bundle: Bundle
) -> None:
    data = bundle.archive()
    (tmp_path / "새 폴더").mkdir()
    (tmp_path / NAME).write_bytes(OLDER)
    for words in ((), ("-o", "새 폴더/기억.MCPB")):
        path = words[-1] if words else NAME
        done = build(*words)
        said = f"{path}: {len(bundle.files)} files, {len(data):,} bytes.\nIn Claude Desktop: "
        assert (done.code, done.errors) == (0, "")
        assert done.out.startswith(said)
        assert (tmp_path / path).read_bytes() == data
    assert len([it for it in tmp_path.rglob("*") if it.is_file()]) == 2
    (tmp_path / NAME).rename("real.mcpb")
    (tmp_path / NAME).symlink_to("real.mcpb")
    (tmp_path / "real.mcpb").write_bytes(OLDER)
    assert build().code == 0
    assert os.readlink(tmp_path / NAME) == "real.mcpb"
    assert (tmp_path / "real.mcpb").read_bytes() == data


OTHERS: dict[str, bytes | Callable[[Path], None]] = {
    "empty": b"",
    "text": b"notes of last week\n",
    "another": Bundle("1.0", {"manifest.json": b'{"name": "another"}'}).archive(),
    "odd manifest": Bundle("1.0", {"manifest.json": b'["sentinel-memory"]'}).archive(),
    "no manifest": Bundle("1.0", {"notes.txt": b"sentinel-memory"}).archive(),
    "torn": OLDER[:-30],
    "folder": os.mkdir,
    "pipe": os.mkfifo,
}


@pytest.mark.long  # it costs much
def test_a_file_that_is_no_bundle_of_this_server_is_left_alone_and_an_impossible_place_refused(
    build: Build, tmp_path: Path
) -> None:
    def state(path: Path) -> tuple[int, int, int]:
        found = path.stat()
        return found.st_mode, found.st_size, found.st_mtime_ns

    for kind, data in OTHERS.items():
        path = tmp_path / f"{kind}.mcpb"
        path.write_bytes(data) if isinstance(data, bytes) else data(path)
        before = state(path)
        done = build("--output", path.name)
        assert (done.code, done.out) == (1, ""), kind
        assert done.errors == (
            f"{path.name}: it already exists and is not a bundle of Sentinel-Memory. Nothing was"
            " written. Move it away, or give another name with -o.\n"
        )
        assert state(path) == before
    (tmp_path / "dist").mkdir()
    nowhere = (str(Path("none", NAME)), 1, "written (No such file or directory). What was there is")
    no_suffix = [(name, 1, "which must end in .mcpb") for name in ("bundle.zip", "README", "dist")]
    for name, code, said in (("", 2, "-o/--output: a file name is missing"), *no_suffix, nowhere):
        done = build("-o", name)
        assert (done.code, done.out, said in done.errors) == (code, "", True), done
    made = {f"{kind}.mcpb" for kind in OTHERS} | {"dist"}
    assert {it.relative_to(tmp_path).as_posix() for it in tmp_path.rglob("*")} == made


@pytest.mark.long
def test_nothing_is_written_where_nobody_may_or_of_a_checkout_without_a_file(
    tmp_path: Path,
) -> None:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    place = tmp_path / "place"
    place.mkdir()
    (place / NAME).write_bytes(OLDER)
    place.chmod(0o500)
    script = ROOT / "packaging" / "bundle.py"
    done = Run.started(script=script, cwd=place, environment=environment)
    place.chmod(0o700)
    assert (done.code, done.out) == (1, "")
    assert f"{NAME}: the bundle could not be written (Permission denied)" in done.errors
    assert [path.name for path in place.iterdir()] == [NAME]
    assert (place / NAME).read_bytes() == OLDER

    missing = copied_checkout(tmp_path) / "server.py"
    missing.unlink()
    copied = shutil.copytree(ROOT / "packaging", missing.parent / "packaging", dirs_exist_ok=True)
    words = ("-o", "made.mcpb")
    done = Run.started(*words, script=copied / "bundle.py", cwd=tmp_path, environment=environment)
    said = f"{missing}: it belongs in the bundle but cannot be read (No such file or directory)"
    assert (done.code, done.out, done.errors.startswith(said)) == (1, "", True)
    assert "Nothing was written. Restore it in the clone" in done.errors
    assert list(tmp_path.glob("*.mcpb")) == []


@pytest.mark.long
def test_the_unpacked_server_saves_and_finds_in_the_project_that_was_chosen(
    unpacked: Path, manifest: dict[str, Any], tmp_path: Path
) -> None:
    project, elsewhere = tmp_path / "내 프로젝트", tmp_path / "elsewhere"
    for folder in (project, elsewhere):
        folder.mkdir()
    given = {"${__dirname}": str(unpacked), "${user_config.project_directory}": str(project)}
    arguments = manifest["server"]["mcp_config"]["args"]
    for variable, value in given.items():
        arguments = [argument.replace(variable, value) for argument in arguments]
    assert arguments[:4] == ["run", "--project", str(unpacked), "python"]
    facts: Facts = {"count": 1, "project": str(project)}
    with ServerProcess(
        *arguments[5:],
        cwd=elsewhere,
        stderr_path=tmp_path / "stderr.txt",
        environment={"SENTINEL_MEMORY_LANG": "ko"},
        script=Path(arguments[4]),
    ) as running:
        saved = running.call(
            "log_memory", topic="결제", missing_context="세율이 다르다", lesson="먼저 확인"
        )
        found = running.call("search_memory", query="세율")
        assert (running.close(), running.stderr()) == (0, "")
    new = sentence("ko", "answers.saved_new", type="log", topic="결제", **facts)
    assert saved.splitlines()[0] == new
    assert found.splitlines()[0] == sentence("ko", "answers.head_all", **facts)
    assert found.endswith(" 세율이 다르다\n→ 먼저 확인")
    assert (project / ".context" / "memory_log.jsonl").is_file()
    assert not (unpacked / ".context").exists()
    assert list(elsewhere.iterdir()) == []


@pytest.fixture
def node(tmp_path: Path) -> Callable[..., str]:
    """Runs the packer that npm has installed; it must end without an error."""
    if not PACKER_CLI.is_file() and not os.environ.get("CI"):
        pytest.skip("the packer is not installed: npm ci --prefix tests/mcpb --ignore-scripts")
    environment = {**os.environ, "HOME": str(tmp_path), "NO_COLOR": "1"}

    def run(*arguments: str) -> str:
        done = Run.process(shutil.which("node") or "node", *arguments, cwd=PACKER,
                           environment=environment)  # fmt: skip
        assert (done.code, done.errors) == (0, ""), done
        return done.out

    return run


@pytest.mark.night
def test_the_packer_finds_no_fault_and_unpacks_every_file_as_it_was(
    bundle: Bundle, unpacked: Path, tmp_path: Path, node: Callable[..., str]
) -> None:
    said = node(str(PACKER_CLI), "validate", str(unpacked / "manifest.json"))
    assert said == "Manifest schema validation passes!\n"
    packed, folder = tmp_path / NAME, tmp_path / "풀린 곳"
    packed.write_bytes(bundle.archive())
    size = packed.stat().st_size / 1024
    said = node(str(PACKER_CLI), "info", str(packed))
    assert said == f"File: {NAME}\nSize: {size:.2f} KB\n\nWARNING: Not signed\n"
    said = node(str(PACKER_CLI), "unpack", str(packed), str(folder))
    assert said == f"Extension unpacked successfully to {folder}\n"
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    assert found == bundle.files


CHOSEN = {"project_directory": "/내 프로젝트"}


@pytest.mark.night
def test_the_packer_fills_in_the_choices_of_the_user_and_starts_nothing_without_a_project(
    manifest: dict[str, Any], node: Callable[..., str]
) -> None:
    words = ("run", "--project", "/확장 프로그램", "python", "/확장 프로그램/server.py")
    languages = [(CHOSEN | {"language": it}, it) for it in ("ko", "")]
    for chosen, language in ((CHOSEN, "en"), *languages, (dict[str, str](), None)):
        given = {"manifest": manifest, "extensionPath": "/확장 프로그램", "userConfig": chosen}
        said = node("--input-type=module", "-e", CONFIGURE, json.dumps(given))
        arguments = [*words, "--project", CHOSEN["project_directory"]]
        config = {"command": "uv", "args": arguments, "env": {"SENTINEL_MEMORY_LANG": language}}
        assert json.loads(said) == (None if language is None else config)


def test_each_fact_is_that_of_the_place_where_it_is() -> None:
    """The packages, the extras, the commands, the version and the licence."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert about["dependencies"] == (ROOT / "requirements.txt").read_text("utf-8").split()
    lines = (ROOT / "requirements-rooms.txt").read_text("utf-8").splitlines()
    extras = about["optional-dependencies"]
    assert sorted({package for extra in extras.values() for package in extra}) == [
        line for line in lines if not line.startswith("#")
    ]
    parts = ("postgres", "redis", "http")  # all that a team needs
    assert sorted(extras["team"]) == sorted(package for it in parts for package in extras[it])
    assert sorted(about["scripts"]) == sorted(COMMANDS)
    assert "version" not in about and about["dynamic"] == ["version"]
    licence = (ROOT / "LICENSE").read_text("utf-8")
    assert licence.startswith(f"{about['license']} License\n")
    assert [author["name"] for author in about["authors"]] == ["the Sentinel-Memory authors"]
    assert "the Sentinel-Memory authors\n" in licence


def test_the_packages_of_the_door_come_with_those_that_are_needed_anyway() -> None:
    """uvicorn and starlette stand in no extra of ours."""
    modules, by_module = FOREIGN["http_server"] - {"prometheus_client"}, packages_distributions()
    there = {
        canonicalize_name(Requirement(line).name)
        for name in ("fastmcp", "fastmcp-slim", "mcp", "pydantic")
        for line in (name, *(requires(name) or ()))
        if "extra ==" not in line
    }
    assert {it for it in modules if not {*map(canonicalize_name, by_module[it])} & there} == set()


def test_a_sentence_of_a_checkout_names_its_script() -> None:
    assert CLI == "python cli.py"
    assert say("hook.usage").startswith("usage: python cli.py hook ")
