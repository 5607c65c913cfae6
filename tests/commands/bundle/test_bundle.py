"""Tests what `cli.py bundle` packs, what the official packer says of it, and that it runs."""

import json
import os
import shutil
import stat
import tomllib
import zipfile
from functools import partial
from itertools import product
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

import pytest

import server
from commands.bundle.bundle import Bundle, bundle_of
from commands.bundle.words import WORDS, word
from core.messages import Facts
from tests.support.cli_process import Command, Run
from tests.support.costly import one_in
from tests.support.git_clones import copied_checkout
from tests.support.sentences import say
from tests.support.stdio_client import ROOT, ServerProcess

NAME = f"sentinel-memory-{server.VERSION}.mcpb"
NOT_PROGRAM = [
    *("LICENSE", "README.md", "manifest.json", "mcpb-resources/ko-KR.json"),
    "pyproject.toml",
]
PACKER = Path(__file__).parents[3] / "tests" / "mcpb"
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
def build(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """Carries out one `cli.py bundle`."""
    return partial(Run.of, capsys, "bundle")


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
    return f"{word('en', 'written', path=path, files=files, size=size)}\n{word('en', 'next')}\n"


def started(script: Path, *arguments: str, cwd: Path) -> Run:
    """The command of another checkout, as a process of its own."""
    variables = {"SENTINEL_MEMORY_LANG": "en", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**os.environ, **variables}
    return Run.started("bundle", *arguments, script=script, cwd=cwd, environment=environment)


# What is in it.


@pytest.mark.long  # it costs much
def test_it_holds_the_modules_that_the_server_imports_and_no_command(bundle: Bundle) -> None:
    finder = ModuleFinder(path=[str(ROOT)])
    finder.run_script(str(ROOT / "server.py"))
    files = [vars(module)["__file__"] for module in finder.modules.values()]
    imported = {Path(file).relative_to(ROOT).as_posix() for file in files if file}
    assert {"core/injection/phrases.py", "protocol/half_characters.py"} < imported
    assert {*imported, *NOT_PROGRAM} <= bundle.files.keys()
    assert not [path for path in bundle.files if path.startswith("commands/")]


def test_what_comes_from_the_checkout_has_the_same_bytes(bundle: Bundle) -> None:
    taken = [path for path in bundle.files if path.endswith((".py", ".md", "LICENSE"))]
    assert len(taken) == len(bundle.files) - 3
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
            assert asked[setting].pop(part) == " / ".join(WORDS[f"{key}_{part}"])
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
        "description": WORDS["description"][1],
        "long_description": WORDS["long_description"][1],
        "tools": [{"name": name, "description": WORDS[name][1]} for name in names],
    }
    assert korean.keys() <= manifest.keys()


# Writing it.


@pytest.mark.long
def test_it_is_written_into_the_working_directory(
    build: Command, project: Path, bundle: Bundle
) -> None:
    run = build()
    assert [path.name for path in project.iterdir()] == [NAME]
    data = (project / NAME).read_bytes()
    assert data == bundle.archive()
    assert run == Run(0, written(len(data)), "")


def test_the_help_keeps_the_names_in_its_sentence(build: Command) -> None:
    said = " ".join(build("--help").out.split())
    assert " Build the .mcpb file for Claude Desktop. " in said


@pytest.mark.long
def test_it_is_written_under_the_name_that_was_given(
    build: Command, project: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", "ko")
    (project / "새 폴더").mkdir()
    run = build("-o", "새 폴더/기억.MCPB")
    data = (project / "새 폴더" / "기억.MCPB").read_bytes()
    assert data == bundle.archive()
    said = f"새 폴더/기억.MCPB: 파일 {len(bundle.files)}개, {len(data):,}바이트."
    assert (run.code, run.out.splitlines()[0], run.errors) == (0, said, "")


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
@pytest.mark.parametrize("lang", ["en", pytest.param("ko", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "data",
    one_in(
        6,
        [
            b"",
            b"notes of last week\n",
            Bundle("1.0", {"manifest.json": b'{"name": "another"}'}).archive(),
            Bundle("1.0", {"manifest.json": b'["sentinel-memory"]'}).archive(),
            Bundle("1.0", {"notes.txt": b"sentinel-memory"}).archive(),
            Bundle("1.0", {"manifest.json": b'{"name": "sentinel-memory"}'}).archive()[:-30],
        ],
    ),
    ids=["empty", "text", "another-bundle", "odd-manifest", "no-manifest", "torn"],
)
def test_a_file_that_is_no_bundle_of_this_server_is_left_alone(
    build: Command, project: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, lang: str
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    (project / "mine.mcpb").write_bytes(data)
    run = build("--output", "mine.mcpb")
    sentence = WORDS["other_file"][lang == "ko"].format(path="mine.mcpb")
    assert run == Run(1, "", f"{sentence}\n")
    assert (project / "mine.mcpb").read_bytes() == data
    assert [path.name for path in project.iterdir()] == ["mine.mcpb"]


@pytest.mark.long
def test_a_folder_with_the_name_of_a_bundle_is_left_alone(build: Command, project: Path) -> None:
    (project / NAME).mkdir()
    assert build() == Run(1, "", f"{word('en', 'other_file', path=NAME)}\n")
    assert list(project.rglob("*")) == [project / NAME]


@posix
@pytest.mark.long
def test_a_pipe_with_the_name_of_a_bundle_is_left_alone(build: Command, project: Path) -> None:
    os.mkfifo(project / NAME)
    assert build() == Run(1, "", f"{word('en', 'other_file', path=NAME)}\n")
    assert stat.S_ISFIFO((project / NAME).stat().st_mode)


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
@pytest.mark.parametrize(
    ("name", "lang"),
    one_in(3, product(["bundle.zip", "README", "dist"], ["en", "ko"]), names=2),
)
def test_a_name_that_no_client_knows_for_a_bundle_is_refused(
    build: Command, project: Path, monkeypatch: pytest.MonkeyPatch, name: str, lang: str
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    (project / "dist").mkdir()
    sentence = WORDS["other_name"][lang == "ko"].format(path=name)
    assert build("-o", name) == Run(1, "", f"{sentence}\n")
    assert list(project.rglob("*")) == [project / "dist"]


def test_a_name_that_is_empty_is_refused(project: Path, build: Command) -> None:
    done = build("-o", "")
    assert done.refused == "-o/--output: a file name is missing"
    assert list(project.iterdir()) == []


@pytest.mark.long  # it costs much
def test_a_name_cannot_steer_the_terminal(build: Command) -> None:
    run = build("-o", "\x1b[2Jout")
    assert run == Run(1, "", f"{word('en', 'other_name', path='�[2Jout')}\n")


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.long
def test_a_folder_that_is_not_there_is_told(
    build: Command, project: Path, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    monkeypatch.setenv("SENTINEL_MEMORY_LANG", lang)
    path = str(Path("dist", NAME))
    sentence = WORDS["not_written"][lang == "ko"]
    said = sentence.format(path=path, reason="No such file or directory")
    assert build("-o", path) == Run(1, "", f"{said}\n")
    assert list(project.iterdir()) == []


@pytest.mark.long  # it costs much
@posix
def test_a_bundle_that_may_not_be_replaced_stays_as_it_is(tmp_path: Path) -> None:
    older = Bundle("0.1.0", {"manifest.json": b'{"name": "sentinel-memory"}'}).archive()
    (tmp_path / NAME).write_bytes(older)
    tmp_path.chmod(0o500)
    run = started(ROOT / "cli.py", cwd=tmp_path)
    tmp_path.chmod(0o700)
    sentence = word("en", "not_written", path=NAME, reason="Permission denied")
    assert run == Run(1, "", f"{sentence}\n")
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_bytes() == older


@pytest.mark.long
def test_a_checkout_in_which_a_file_is_missing_gives_no_bundle(tmp_path: Path) -> None:
    missing = copied_checkout(tmp_path) / "server.py"
    missing.unlink()
    run = started(tmp_path / "cli.py", "-o", "made.mcpb", cwd=tmp_path)
    reason = "No such file or directory"
    sentence = word("en", "incomplete", path=str(missing), reason=reason)
    assert run == Run(1, "", f"{sentence}\n")
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
    assert saved.splitlines()[0] == say("ko", "saved_new", type="log", topic="결제", **facts)
    assert found.splitlines()[0] == say("ko", "head_all", **facts)
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
