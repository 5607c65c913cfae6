"""Tests what `packaging/bundle.py` packs, what the official packer says of it, and that it runs."""

import io
import json
import os
import shutil
import stat
import sys
import tomllib
import zipfile
from collections.abc import Callable
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

import pytest

import server
from core.messages import Facts
from tests.support.cli_process import Command, Run
from tests.support.git_clones import copied_checkout
from tests.support.sentences import sentence
from tests.support.stdio_client import ROOT, ServerProcess

sys.path.insert(0, str(ROOT / "packaging"))

from bundle import TEXTS, Bundle, bundle_of, main

NAME = f"sentinel-memory-{server.VERSION}.mcpb"
OLDER = Bundle("0.1.0", {"manifest.json": b'{"name": "sentinel-memory"}'}).archive()
NOT_PROGRAM = [
    *("LICENSE", "README.md", "manifest.json", "mcpb-resources/ko-KR.json"),
    "pyproject.toml",
]
PACKER = ROOT / "tests" / "mcpb"
PACKER_CLI = PACKER / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
CONFIGURE = """
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
const given = JSON.parse(process.argv[1]);
const config = await getMcpConfigForManifest({ ...given, systemDirs: {}, pathSeparator: "/" });
console.log(JSON.stringify(config ?? null));
"""

packer_installed = pytest.mark.skipif(
    not (PACKER / "node_modules").is_dir() and not os.environ.get("CI"),
    reason="the packer is not installed: npm ci --prefix tests/mcpb --ignore-scripts",
)
posix = pytest.mark.skipif(os.name == "nt", reason="permissions, pipes and links of POSIX")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def build(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one `packaging/bundle.py`."""

    def run(*arguments: str) -> Run:
        code = main(arguments)
        return Run(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    """The bundle of this checkout."""
    return bundle_of(ROOT)


@pytest.fixture(scope="module")
def manifest(bundle: Bundle) -> dict[str, Any]:
    """Its manifest."""
    read: dict[str, Any] = json.loads(bundle.files["manifest.json"])
    return read


@pytest.fixture(scope="module")
def unpacked(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Korean name and a blank in it, into which a client has unpacked it."""
    folder = tmp_path_factory.mktemp("bundle") / "확장 프로그램"
    packed = folder.with_suffix(".zip")
    packed.write_bytes(bundle.archive())
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    return folder


def written(size: int, path: str = NAME) -> Run:
    """What a run says that has written a bundle of this checkout."""
    files = len(bundle_of(ROOT).files)
    said = (
        f"{path}: {files} files, {size:,} bytes.\nIn Claude Desktop: Settings -> Extensions ->"
        " Advanced settings -> Install Extension. Choose this file, then the directory of your"
        " project.\n"
    )
    return Run(0, said, "")


def started(script: Path, *arguments: str, cwd: Path) -> Run:
    """The script of a checkout, as a process of its own."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return Run.started(*arguments, script=script, cwd=cwd, environment=environment)


# What is in it.


@pytest.mark.long  # it costs much
def test_it_holds_the_modules_that_the_server_imports_and_no_command(bundle: Bundle) -> None:
    finder = ModuleFinder(path=[str(ROOT)])
    finder.run_script(str(ROOT / "server.py"))
    files = [vars(module)["__file__"] for module in finder.modules.values()]
    imported = {Path(file).relative_to(ROOT).as_posix() for file in files if file}
    assert {"core/guard/named_values.py", "protocol/arguments.py"} < imported
    assert {*imported, *NOT_PROGRAM} <= bundle.files.keys()
    assert not [path for path in bundle.files if path.startswith("commands/")]


def test_what_comes_from_the_checkout_is_there_byte_for_byte_with_its_data(bundle: Bundle) -> None:
    """A style or a statement that a module reads is as much of the program as the module."""
    folders = [ROOT / name for name in ("core", "protocol", "rooms", "http_server")]
    files = [path for it in folders for path in it.rglob("*") if path.is_file()]
    beside = {it.relative_to(ROOT).as_posix() for it in files if it.parent.name != "__pycache__"}
    made = {"manifest.json", "mcpb-resources/ko-KR.json", "pyproject.toml"}
    assert {"core/data/rules.jsonl", "rooms/fragments/words.ko.json", *beside, *made} <= {
        *bundle.files
    }
    for path in bundle.files.keys() - made:
        assert bundle.files[path] == (ROOT / path).read_bytes(), path
    assert tomllib.loads(bundle.files["pyproject.toml"].decode()) == {
        "project": {
            "name": "sentinel-memory",
            "version": server.VERSION,
            "requires-python": ">=3.11",
            "dependencies": (ROOT / "requirements.txt").read_text("utf-8").split(),
        },
        "tool": {"uv": {"package": False}},
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


def test_the_manifest_says_what_a_client_starts_and_asks_for(
    bundle: Bundle, manifest: dict[str, Any]
) -> None:
    """Each tool with the first paragraph that a model reads, and all texts in Korean as well."""

    def both(key: str) -> str:
        return " / ".join(it[key] for it in TEXTS.values())

    surface = json.loads((ROOT / "tests/data/tool_surface.json").read_text("utf-8"))
    paragraphs = {it["name"]: it["description"].split("\n\n")[0] for it in surface}
    tools = {name: text.replace("\n", " ") for name, text in paragraphs.items()}
    arguments = "run --project ${__dirname} python ${__dirname}/server.py --project"
    project = {"title": both("project_title"), "description": both("project_description")}
    language = {"title": both("language_title"), "description": both("language_description")}
    korean = json.loads(bundle.files["mcpb-resources/ko-KR.json"])
    assert manifest == {
        "manifest_version": "0.4",
        "name": "sentinel-memory",
        "display_name": "Sentinel-Memory",
        "version": server.VERSION,
        "author": {"name": "Sentinel-Memory"},
        "description": TEXTS["en"]["description"],
        "long_description": TEXTS["en"]["long_description"],
        "tools": [{"name": name, "description": text} for name, text in tools.items()],
        "localization": {
            "resources": "mcpb-resources/${locale}.json",
            "default_locale": "en-US",
        },
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": [*arguments.split(), "${user_config.project_directory}"],
                "env": {"SENTINEL_MEMORY_LANG": "${user_config.language}"},
            },
        },
        "user_config": {
            "project_directory": {"type": "directory", **project, "required": True},
            "language": {"type": "string", **language, "required": False, "default": "en"},
        },
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": ">=3.11"},
        },
    }
    assert korean == {
        "description": TEXTS["ko"]["description"],
        "long_description": TEXTS["ko"]["long_description"],
        "tools": [{"name": name, "description": TEXTS["ko"][name]} for name in tools],
    }


# Writing it.


@pytest.mark.long
def test_it_is_written_where_it_is_wanted_and_one_of_another_version_is_replaced(
    build: Command, project: Path, bundle: Bundle
) -> None:
    data = bundle.archive()
    (project / "새 폴더").mkdir()
    (project / NAME).write_bytes(OLDER)
    for words in ((), ("-o", "새 폴더/기억.MCPB")):
        assert build(*words) == written(len(data), *words[1:])
        assert (project / (words[-1] if words else NAME)).read_bytes() == data
    assert len([it for it in project.rglob("*") if it.is_file()]) == 2
    if os.name == "posix":
        (project / NAME).rename("real.mcpb")
        (project / NAME).symlink_to("real.mcpb")
        (project / "real.mcpb").write_bytes(OLDER)
        assert build().code == 0
        assert os.readlink(project / NAME) == "real.mcpb"
        assert (project / "real.mcpb").read_bytes() == data


OTHER_FILE = (
    "{}: it already exists and is not a bundle of Sentinel-Memory. Nothing was written. Move it"
    " away, or give another name with -o.\n"
)
NO_SUFFIX = (
    "{}: a client knows a bundle by its name, which must end in .mcpb. Nothing was written. Repeat"
    " the command with such a name.\n"
)
NOT_WRITTEN = (
    "{}: the bundle could not be written ({}). What was there is unchanged. Name a writable place"
    " with -o.\n"
)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"notes of last week\n",
        Bundle("1.0", {"manifest.json": b'{"name": "another"}'}).archive(),
        Bundle("1.0", {"manifest.json": b'["sentinel-memory"]'}).archive(),
        Bundle("1.0", {"notes.txt": b"sentinel-memory"}).archive(),
        OLDER[:-30],
        os.mkdir,
        pytest.param(getattr(os, "mkfifo", None), marks=posix),
    ],
    ids=["empty", "text", "another", "odd-manifest", "no-manifest", "torn", "folder", "pipe"],
)
def test_what_is_no_bundle_of_this_server_is_left_alone(
    build: Command, project: Path, data: bytes | Callable[[Path], None]
) -> None:
    path = project / "mine.mcpb"
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        data(path)
    before = (path.stat().st_mode, path.stat().st_size, path.stat().st_mtime_ns)
    assert build("--output", "mine.mcpb") == Run(1, "", OTHER_FILE.format("mine.mcpb"))
    assert (path.stat().st_mode, path.stat().st_size, path.stat().st_mtime_ns) == before
    assert [*project.rglob("*")] == [path]


@pytest.mark.long  # it costs much
def test_a_place_that_cannot_be_is_refused(build: Command, project: Path) -> None:
    (project / "dist").mkdir()
    for name in ("bundle.zip", "README", "dist"):
        assert build("-o", name) == Run(1, "", NO_SUFFIX.format(name))
    path = str(Path("none", NAME))
    assert build("-o", path) == Run(1, "", NOT_WRITTEN.format(path, "No such file or directory"))
    assert list(project.rglob("*")) == [project / "dist"]


def test_a_name_that_is_empty_is_refused(
    project: Path, build: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        build("-o", "")
    assert refused.value.code == 2
    assert "-o/--output: a file name is missing" in capsys.readouterr().err
    assert list(project.iterdir()) == []


@pytest.mark.long  # it costs much
@posix
def test_a_bundle_that_may_not_be_replaced_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(OLDER)
    tmp_path.chmod(0o500)
    run = started(ROOT / "packaging" / "bundle.py", cwd=tmp_path)
    tmp_path.chmod(0o700)
    assert run == Run(1, "", NOT_WRITTEN.format(NAME, "Permission denied"))
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_bytes() == OLDER


@pytest.mark.long
def test_a_checkout_in_which_a_file_is_missing_gives_no_bundle(tmp_path: Path) -> None:
    missing = copied_checkout(tmp_path) / "server.py"
    missing.unlink()
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    run = started(tmp_path / "packaging" / "bundle.py", "-o", "made.mcpb", cwd=tmp_path)
    sentence = f"{missing}: it belongs in the bundle but cannot be read (No such file or directory)"
    assert (run.code, run.out, run.errors.startswith(sentence)) == (1, "", True)
    assert "Nothing was written. Restore it in the clone" in run.errors
    assert list(tmp_path.glob("*.mcpb")) == []


# Running it.


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
    assert saved.splitlines()[0] == sentence(
        "ko", "answers.saved_new", type="log", topic="결제", **facts
    )
    assert found.splitlines()[0] == sentence("ko", "answers.head_all", **facts)
    assert found.endswith(" 세율이 다르다\n→ 먼저 확인")
    assert (project / ".context" / "memory_log.jsonl").is_file()
    assert not (unpacked / ".context").exists()
    assert list(elsewhere.iterdir()) == []


# What the official packer says.


def packer(*arguments: str, home: Path) -> str:
    """What `mcpb` prints when it is content."""
    assert PACKER_CLI.is_file(), "the packer is missing; .ci/run installs it"
    return in_node(str(PACKER_CLI), *arguments, home=home)


def in_node(*arguments: str, home: Path) -> str:
    node = shutil.which("node")
    assert node, "no node to run the packer"
    environment = {**os.environ, "HOME": str(home), "NO_COLOR": "1"}
    done = Run.process(node, *arguments, cwd=PACKER, environment=environment)
    assert (done.code, done.errors) == (0, ""), done
    return done.out


@pytest.mark.night
@packer_installed
def test_the_packer_finds_no_fault_and_unpacks_every_file_as_it_was(
    bundle: Bundle, unpacked: Path, tmp_path: Path
) -> None:
    said = packer("validate", str(unpacked / "manifest.json"), home=tmp_path)
    assert said == "Manifest schema validation passes!\n"
    packed, folder = tmp_path / NAME, tmp_path / "풀린 곳"
    packed.write_bytes(bundle.archive())
    size = packed.stat().st_size / 1024
    said = packer("info", str(packed), home=tmp_path)
    assert said == f"File: {NAME}\nSize: {size:.2f} KB\n\nWARNING: Not signed\n"
    said = packer("unpack", str(packed), str(folder), home=tmp_path)
    assert said == f"Extension unpacked successfully to {folder}\n"
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    assert found == bundle.files


@pytest.mark.night
@packer_installed
@pytest.mark.parametrize(
    ("chosen", "language"),
    [
        ({"project_directory": "/내 프로젝트"}, "en"),
        ({"project_directory": "/내 프로젝트", "language": "ko"}, "ko"),
        ({"project_directory": "/내 프로젝트", "language": ""}, ""),
        ({}, None),
    ],
    ids=["default", "korean", "emptied", "no project"],
)
def test_the_packer_fills_in_what_the_user_chose_and_starts_nothing_without_a_project(
    manifest: dict[str, Any], tmp_path: Path, chosen: dict[str, str], language: str | None
) -> None:
    given = {"manifest": manifest, "extensionPath": "/확장 프로그램", "userConfig": chosen}
    said = in_node("--input-type=module", "-e", CONFIGURE, json.dumps(given), home=tmp_path)
    words = ("run", "--project", "/확장 프로그램", "python", "/확장 프로그램/server.py")
    config = {
        "command": "uv",
        "args": [*words, "--project", "/내 프로젝트"],
        "env": {"SENTINEL_MEMORY_LANG": language},
    }
    assert json.loads(said) == (None if language is None else config)
