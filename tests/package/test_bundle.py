"""Tests what `packaging/bundle.py` packs, what the official packer says of it, and that it runs."""

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


def written(size: int, path: str = NAME) -> str:
    """What a run says that has written a bundle of this checkout."""
    files = len(bundle_of(ROOT).files)
    return (
        f"{path}: {files} files, {size:,} bytes.\nIn Claude Desktop: Settings -> Extensions ->"
        " Advanced settings -> Install Extension. Choose this file, then the directory of your"
        " project.\n"
    )


def started(script: Path, *arguments: str, cwd: Path) -> Run:
    """The script of a checkout, as a process of its own."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return Run.started(*arguments, script=script, cwd=cwd, environment=environment)


OTHER_FILE = (
    "{}: it already exists and is not a bundle of Sentinel-Memory. Nothing was written. Move it"
    " away, or give another name with -o.\n"
)


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


def test_whatever_lies_beside_a_module_is_there(bundle: Bundle) -> None:
    """A style or a statement that a module reads is as much of the program as the module."""
    folders = [ROOT / name for name in ("core", "protocol", "rooms", "http_server")]
    files = [path for it in folders for path in it.rglob("*") if path.is_file()]
    beside = {it.relative_to(ROOT).as_posix() for it in files if it.parent.name != "__pycache__"}
    assert beside <= bundle.files.keys()


def test_what_comes_from_the_checkout_has_the_same_bytes(bundle: Bundle) -> None:
    own = ("manifest.json", "mcpb-resources/ko-KR.json", "pyproject.toml")
    taken = [path for path in bundle.files if path not in own]
    assert len(taken) == len(bundle.files) - len(own)
    assert {"core/data/rules.jsonl", "rooms/fragments/words.ko.json"} < set(taken)
    for path in taken:
        assert bundle.files[path] == (ROOT / path).read_bytes(), path


def test_the_packages_are_those_of_the_server(bundle: Bundle) -> None:
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
def test_a_checkout_with_the_line_ends_of_windows_has_the_same_manifest(
    tmp_path: Path, bundle: Bundle
) -> None:
    script = copied_checkout(tmp_path) / "server.py"
    script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n"))
    made = bundle_of(tmp_path)
    for path in ("manifest.json", "pyproject.toml"):
        assert made.files[path] == bundle.files[path]


@pytest.mark.long
def test_the_same_files_give_the_same_bytes(tmp_path: Path, bundle: Bundle) -> None:
    checkout = copied_checkout(tmp_path)
    for path in checkout.rglob("*.py"):
        path.chmod(0o700)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert bundle_of(checkout).archive() == bundle.archive()


@pytest.mark.long  # it costs much
def test_entries_are_sorted_and_say_nothing_of_the_machine(bundle: Bundle, tmp_path: Path) -> None:
    packed = tmp_path / NAME
    packed.write_bytes(bundle.archive())
    with zipfile.ZipFile(packed) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(bundle.files)
    facts = {(it.date_time, it.create_system, it.external_attr >> 16) for it in entries}
    assert facts == {((1980, 1, 1, 0, 0, 0), 3, stat.S_IFREG | 0o644)}


# The manifest.


def test_the_manifest_says_how_the_server_is_started(manifest: dict[str, Any]) -> None:
    assert manifest["server"] == {
        "type": "uv",
        "entry_point": "server.py",
        "mcp_config": {
            "command": "uv",
            "args": [
                *("run", "--project", "${__dirname}"),
                *("python", "${__dirname}/server.py"),
                *("--project", "${user_config.project_directory}"),
            ],
            "env": {"SENTINEL_MEMORY_LANG": "${user_config.language}"},
        },
    }


def test_the_manifest_asks_for_the_project_and_offers_the_language(
    manifest: dict[str, Any],
) -> None:
    asked = manifest["user_config"]
    assert list(asked) == ["project_directory", "language"]
    for setting, key in (("project_directory", "project"), ("language", "language")):
        for part in ("title", "description"):
            assert asked[setting].pop(part) == " / ".join(
                it[f"{key}_{part}"] for it in TEXTS.values()
            )
    assert asked == {
        "project_directory": {"type": "directory", "required": True},
        "language": {"type": "string", "required": False, "default": "en"},
    }


def test_the_manifest_names_version_platforms_and_python(manifest: dict[str, Any]) -> None:
    facts = ("manifest_version", "name", "version", "compatibility", "prompts_generated")
    assert {key: manifest[key] for key in facts} == {
        "manifest_version": "0.4",
        "name": "sentinel-memory",
        "version": server.VERSION,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": ">=3.11"},
        },
        "prompts_generated": True,
    }


def test_each_tool_is_described_by_the_first_paragraph_that_a_model_reads(
    manifest: dict[str, Any],
) -> None:
    surface = json.loads((ROOT / "tests/data/tool_surface.json").read_text("utf-8"))
    paragraphs = [(tool["name"], tool["description"].split("\n\n")[0]) for tool in surface]
    assert manifest["tools"] == [
        {"name": name, "description": text.replace("\n", " ")} for name, text in paragraphs
    ]


def test_the_korean_texts_stand_for_all_that_a_client_can_translate(
    bundle: Bundle, manifest: dict[str, Any]
) -> None:
    place = manifest["localization"]["resources"].replace("${locale}", "ko-KR")
    korean = json.loads(bundle.files[place])
    names = [tool["name"] for tool in manifest["tools"]]
    assert korean == {
        "description": TEXTS["ko"]["description"],
        "long_description": TEXTS["ko"]["long_description"],
        "tools": [{"name": name, "description": TEXTS["ko"][name]} for name in names],
    }
    assert korean.keys() <= manifest.keys()


# Writing it.


@pytest.mark.long
@pytest.mark.parametrize("words", [(), ("-o", "새 폴더/기억.MCPB")])
def test_it_is_written_where_it_is_wanted(
    build: Command, project: Path, bundle: Bundle, words: tuple[str, ...]
) -> None:
    (project / "새 폴더").mkdir()
    run = build(*words)
    name = words[-1] if words else NAME
    assert [str(it.relative_to(project)) for it in project.rglob("*.[mM]*")] == [name]
    data = (project / name).read_bytes()
    assert data == bundle.archive()
    assert run == Run(0, written(len(data), *words[1:]), "")


@pytest.mark.long
def test_a_bundle_of_another_version_is_replaced(
    build: Command, project: Path, bundle: Bundle
) -> None:
    older = Bundle("0.1.0", {"manifest.json": b'{"name": "sentinel-memory"}'})
    (project / NAME).write_bytes(older.archive())
    run = build()
    assert run == Run(0, written((project / NAME).stat().st_size), "")
    assert (project / NAME).read_bytes() == bundle.archive()
    assert [path.name for path in project.iterdir()] == [NAME]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"notes of last week\n",
        Bundle("1.0", {"manifest.json": b'{"name": "another"}'}).archive(),
        Bundle("1.0", {"manifest.json": b'["sentinel-memory"]'}).archive(),
        Bundle("1.0", {"notes.txt": b"sentinel-memory"}).archive(),
        Bundle("1.0", {"manifest.json": b'{"name": "sentinel-memory"}'}).archive()[:-30],
    ],
    ids=["empty", "text", "another-bundle", "odd-manifest", "no-manifest", "torn"],
)
def test_a_file_that_is_no_bundle_of_this_server_is_left_alone(
    build: Command, project: Path, data: bytes
) -> None:
    (project / "mine.mcpb").write_bytes(data)
    assert build("--output", "mine.mcpb") == Run(1, "", OTHER_FILE.format("mine.mcpb"))
    assert (project / "mine.mcpb").read_bytes() == data
    assert [path.name for path in project.iterdir()] == ["mine.mcpb"]


@pytest.mark.long
@pytest.mark.parametrize("make", [os.mkdir, pytest.param(getattr(os, "mkfifo", None), marks=posix)])
def test_a_folder_or_a_pipe_with_the_name_of_a_bundle_is_left_alone(
    build: Command, project: Path, make: Callable[[Path], None]
) -> None:
    make(project / NAME)
    before = stat.S_IFMT((project / NAME).stat().st_mode)
    assert build() == Run(1, "", OTHER_FILE.format(NAME))
    assert list(project.rglob("*")) == [project / NAME]
    assert stat.S_IFMT((project / NAME).stat().st_mode) == before


@posix
@pytest.mark.long
def test_a_link_to_a_bundle_stays_a_link(build: Command, project: Path, bundle: Bundle) -> None:
    older = Bundle("0.1.0", {"manifest.json": b'{"name": "sentinel-memory"}'})
    (project / "real.mcpb").write_bytes(older.archive())
    (project / NAME).symlink_to("real.mcpb")
    assert build().code == 0
    assert os.readlink(project / NAME) == "real.mcpb"
    assert (project / "real.mcpb").read_bytes() == bundle.archive()


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", ["bundle.zip", "README", "dist"])
def test_a_name_that_no_client_knows_for_a_bundle_is_refused(
    build: Command, project: Path, name: str
) -> None:
    (project / "dist").mkdir()
    sentence = "a client knows a bundle by its name, which must end in .mcpb. Nothing was written."
    said = f"{name}: {sentence} Repeat the command with such a name.\n"
    assert build("-o", name) == Run(1, "", said)
    assert list(project.rglob("*")) == [project / "dist"]


def test_a_name_that_is_empty_is_refused(
    project: Path, build: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        build("-o", "")
    assert refused.value.code == 2
    assert "-o/--output: a file name is missing" in capsys.readouterr().err
    assert list(project.iterdir()) == []


def not_written(path: str, reason: str) -> Run:
    """What a run says that could not write."""
    sentence = f"{path}: the bundle could not be written ({reason}). What was there is unchanged."
    return Run(1, "", f"{sentence} Name a writable place with -o.\n")


@pytest.mark.long
def test_a_folder_that_is_not_there_is_told(build: Command, project: Path) -> None:
    path = str(Path("dist", NAME))
    assert build("-o", path) == not_written(path, "No such file or directory")
    assert list(project.iterdir()) == []


@pytest.mark.long  # it costs much
@posix
def test_a_bundle_that_may_not_be_replaced_stays_as_it_is(tmp_path: Path) -> None:
    older = Bundle("0.1.0", {"manifest.json": b'{"name": "sentinel-memory"}'}).archive()
    (tmp_path / NAME).write_bytes(older)
    tmp_path.chmod(0o500)
    run = started(ROOT / "packaging" / "bundle.py", cwd=tmp_path)
    tmp_path.chmod(0o700)
    assert run == not_written(NAME, "Permission denied")
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_bytes() == older


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
def test_the_packer_finds_no_fault_with_the_manifest(unpacked: Path, tmp_path: Path) -> None:
    said = packer("validate", str(unpacked / "manifest.json"), home=tmp_path)
    assert said == "Manifest schema validation passes!\n"


@pytest.mark.night
@packer_installed
def test_the_packer_unpacks_every_file_as_it_was(bundle: Bundle, tmp_path: Path) -> None:
    packed, folder = tmp_path / NAME, tmp_path / "풀린 곳"
    packed.write_bytes(bundle.archive())
    said = packer("unpack", str(packed), str(folder), home=tmp_path)
    assert said == f"Extension unpacked successfully to {folder}\n"
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    assert found == bundle.files


@pytest.mark.night
@packer_installed
def test_the_packer_tells_a_bundle_that_nobody_has_signed(bundle: Bundle, tmp_path: Path) -> None:
    packed = tmp_path / NAME
    packed.write_bytes(bundle.archive())
    size = packed.stat().st_size / 1024
    said = packer("info", str(packed), home=tmp_path)
    assert said == f"File: {NAME}\nSize: {size:.2f} KB\n\nWARNING: Not signed\n"


@pytest.mark.night
@packer_installed
@pytest.mark.parametrize(
    ("chosen", "language"),
    [({}, "en"), ({"language": "ko"}, "ko"), ({"language": ""}, "")],
    ids=["default", "korean", "emptied"],
)
def test_the_packer_fills_in_what_the_user_chose(
    manifest: dict[str, Any], tmp_path: Path, chosen: dict[str, str], language: str
) -> None:
    given = {
        "manifest": manifest,
        "extensionPath": "/확장 프로그램",
        "userConfig": {"project_directory": "/내 프로젝트", **chosen},
    }
    said = in_node("--input-type=module", "-e", CONFIGURE, json.dumps(given), home=tmp_path)
    assert json.loads(said) == {
        "command": "uv",
        "args": [
            *("run", "--project", "/확장 프로그램", "python", "/확장 프로그램/server.py"),
            *("--project", "/내 프로젝트"),
        ],
        "env": {"SENTINEL_MEMORY_LANG": language},
    }


@pytest.mark.night
@packer_installed
def test_a_client_starts_nothing_before_the_project_is_chosen(
    manifest: dict[str, Any], tmp_path: Path
) -> None:
    given = {"manifest": manifest, "extensionPath": "/extension", "userConfig": {}}
    said = in_node("--input-type=module", "-e", CONFIGURE, json.dumps(given), home=tmp_path)
    assert said == "null\n"
