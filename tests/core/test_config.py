"""Tests the project that a process finds, the settings of a user, and the parser of command lines.

The rows of the tables stand in tests/data/config.json.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import parser, program
from core.config import Settings, find_project, read_settings
from core.messages import language_of
from core.parser import Parser, choice_of, wrap_text
from tests.support.tables import ROOT, table

TABLES = table("config")


def made(folder: Path, *names: str) -> Path:
    """The folder, with these folders in it."""
    for name in names:
        (folder / name).mkdir(parents=True)
    return folder


def root_of(folder: Path) -> Path:
    return find_project(None, {}, folder).root


# Folders that another user has put above.

ME, STRANGER, ROOT_USER = 1000, 1001, 0


@pytest.fixture
def owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The owners of paths below the common directory `tmp_path`; others belong to `ME`."""
    found: dict[str, int] = {}

    def owner(path: str, *, itself: bool = False) -> int:
        return found.get(Path(path).relative_to(tmp_path).as_posix(), ME)

    monkeypatch.setattr("core.config._owner_of", owner)
    monkeypatch.setattr(os, "geteuid", lambda: ME, raising=False)
    made(tmp_path, "common/.context", "common/.git", "common/till/src")
    return found


OF_A_STRANGER = dict.fromkeys(("common", "common/.git", "common/.context", "common/till"), STRANGER)


def test_a_project_that_the_user_or_root_has_put_above_is_taken(
    owners: dict[str, int], tmp_path: Path
) -> None:
    for owned in ({}, {".": ROOT_USER}, {"common": ROOT_USER}, OF_A_STRANGER):
        owners.clear()
        owners |= owned
        project = find_project(None, {}, tmp_path / "common" / "till")
        assert (project.root, project.warnings) == (tmp_path / "common", ())


@pytest.mark.parametrize(
    "planted",
    [("common/.git", "common/.context"), ("common/.git",), ("common/.context",), ("common",)],
)
def test_a_project_that_a_stranger_has_put_above_is_passed_over_with_a_word(
    planted: tuple[str, ...], owners: dict[str, int], tmp_path: Path
) -> None:
    owners |= dict.fromkeys(planted, STRANGER)
    project = find_project(None, {}, tmp_path / "common" / "till")
    assert project.root == tmp_path / "common" / "till"
    assert not project.is_unexpanded
    assert len(project.warnings) == (2 if "common" in planted else len(planted))
    assert "belongs to another user and is passed over" in project.warnings[0]
    named = find_project(str(tmp_path / "common"), {}, tmp_path)  # by the user
    assert (named.root, named.warnings) == (tmp_path / "common", ())
    if len(planted) == 2:  # a repository behind the planted one
        made(tmp_path, ".git", ".context")
        assert root_of(tmp_path / "common" / "till") == tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", [".git", ".context"])
def test_a_link_belongs_to_who_made_it_and_not_to_whom_it_leads(name: str, tmp_path: Path) -> None:
    made(tmp_path, "real/.git", "real/.context", "common/.git", "common/.context", "common/till")
    link, till = tmp_path / "common" / name, tmp_path / "common" / "till"
    link.rmdir()
    link.symlink_to(tmp_path / "real" / name)
    assert root_of(till) == tmp_path / "common"
    os.lchown(link, STRANGER, STRANGER)
    project = find_project(None, {}, till)
    assert project.root == till
    assert project.warnings[0].startswith(repr(str(link)))


# Settings. In the table a name stands without SENTINEL_MEMORY_ before it, in a warning as well.

LONG: list[Any] = [{"LOCK_TIMEOUT_S": "9" * 5_000}, {"lock_timeout_s": 999_999_999}, []]


def test_a_setting_is_read_or_left_with_a_word_and_a_person_reads_the_locale() -> None:
    for given, changed, warnings in [*TABLES["settings"], LONG]:
        settings = read_settings({f"SENTINEL_MEMORY_{name}": it for name, it in given.items()})
        told = tuple(f"SENTINEL_MEMORY_{it}" for it in warnings)
        assert settings == Settings(**changed, warnings=told)
    for name, least, default in [("BUDGET", 1_000, 20_000), ("HOOK_BUDGET", 200, 1_500)]:
        variable = f"SENTINEL_MEMORY_{name}"
        said = f"{variable} is not a whole number of {least} or more; {default} is used"
        for value in TABLES["no budgets"]:
            settings = read_settings({variable: value})
            [error] = settings.errors
            assert error.facts == {"variable": variable, "least": least, "default": default}
            assert settings == Settings(errors=(error,), warnings=(said,))
    for environment, lang in TABLES["languages"]:
        assert language_of(environment, for_person=True) == lang
        named = environment.get("SENTINEL_MEMORY_LANG")
        assert language_of(environment) == ("ko" if named == "ko" else "en")


# The parser of command lines.

SEVERAL = ("a", "b", "c")


def test_a_refusal_names_the_mistake_and_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    made = Parser(prog="made")
    made.add_argument("one", metavar="ONE")
    made.add_argument("--some", nargs="+")
    made.add_argument("--kind", type=choice_of(SEVERAL))
    made.add_argument("--on", action="store_true")
    made.add_argument("--only")
    either = made.add_mutually_exclusive_group()
    either.add_argument("--left", action="store_true")
    either.add_argument("--right", action="store_true")
    shows = "Nothing was done. made --help shows what it takes."
    for line, said in table("config")["refusals of the parser"]:
        with pytest.raises(SystemExit) as ended:
            made.parse_args(line.split(" "))
        assert ended.value.code == 2
        assert capsys.readouterr().err.splitlines() == [f"made: {said}", shows]


def test_help_is_laid_out_in_cells_and_known_names_are_taken_and_near_ones_named() -> None:
    text = "실수 직전에 쓰는 코드나 명령 조각. 여러 번 쓸 수 있습니다"
    assert wrap_text(text, 30) == ["실수 직전에 쓰는 코드나 명령", "조각. 여러 번 쓸 수 있습니다"]
    assert wrap_text("one two three four", 14) == ["one two", "three four"]
    assert (wrap_text("word", 3), wrap_text("", 10)) == (["word"], [])
    made = Parser(prog="made")
    made.add_argument("-o", "--output", metavar="FILE", help="where it goes")
    assert "\n  -o, --output FILE  where it goes\n" in made.format_help()
    made.add_argument("names", nargs="*", type=choice_of(SEVERAL))
    assert made.parse_args([]).names == []
    assert made.parse_args(["a", "c"]).names == ["a", "c"]


# A command that a sentence names runs as it is typed.


@pytest.mark.long  # it costs much
def test_a_usage_and_a_refusal_name_commands_that_run_where_they_are_read(tmp_path: Path) -> None:
    def printed(cwd: Path, *words: str) -> str:
        return subprocess.check_output(words, cwd=cwd, encoding="utf-8")

    for cwd in (ROOT, tmp_path):
        told = printed(cwd, sys.executable, str(ROOT / "cli.py"), "list", "--help")
        words = shlex.split(told.partition(": ")[2])
        named = words[: words.index("list")]
        assert printed(cwd, *named, "list", "--help") == told
        assert (named[1] == "cli.py") == (cwd == ROOT)
    server = (sys.executable, str(ROOT / "server.py"), "--foo")
    done = subprocess.run(server, cwd=tmp_path, capture_output=True, encoding="utf-8")
    refused, see = done.stderr.splitlines()
    assert refused.endswith(": There is no option --foo.")
    see = see.removeprefix("Nothing was done. ").removesuffix(" shows what it takes.")
    told = printed(tmp_path, *(named := shlex.split(see)))
    assert " ".join(named[:-1]) in told and "--version" in told


def test_a_program_is_named_as_it_was_started_and_a_server_is_no_command_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    of_windows = ("C:/Program Files/python.exe", '"C:/Program Files/python.exe" cli.py')
    for started, named in (("python3", "python3 cli.py"), of_windows):
        monkeypatch.setattr(sys, "orig_argv", [started, "cli.py"])
        assert program.command_for("sentinel-memory", "cli.py") == named
    monkeypatch.setattr(parser, "CLI", "sentinel-memory")
    with pytest.raises(SystemExit):
        Parser(prog="sentinel-memory-server").parse_args(["--foo"])
    said = "Nothing was done. sentinel-memory-server --help shows what it takes."
    assert capsys.readouterr().err.splitlines()[1] == said
    monkeypatch.setattr(program, "_IS_INSTALLED", True)
    for started, path, named in TABLES["programs"]:
        monkeypatch.setattr(sys, "argv", [started])
        monkeypatch.setenv("PATH", path.replace(":", os.pathsep))
        assert program.command_for("sentinel-memory", "cli.py") == named
