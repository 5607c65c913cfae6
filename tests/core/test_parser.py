"""Tests the parser of command lines: its layout, its refusals, and the commands that it names."""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from core import parser, program
from core.parser import Parser, filled, nearest, one_of
from tests.support.tables import ROOT, table

SEVERAL = ("a", "b", "c")


def test_a_refusal_says_what_is_wrong_and_what_helps(capsys: pytest.CaptureFixture[str]) -> None:
    made = Parser(prog="made")
    made.add_argument("one", metavar="ONE")
    made.add_argument("--some", nargs="+")
    made.add_argument("--kind", type=one_of(SEVERAL))
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
    assert filled(text, 30) == ["실수 직전에 쓰는 코드나 명령", "조각. 여러 번 쓸 수 있습니다"]
    assert filled("one two three four", 14) == ["one two", "three four"]
    assert (filled("word", 3), filled("", 10)) == (["word"], [])
    made = Parser(prog="made")
    made.add_argument("-o", "--output", metavar="FILE", help="where it goes")
    assert "\n  -o, --output FILE  where it goes\n" in made.format_help()
    made = Parser(prog="made")
    made.add_argument("names", nargs="*", type=one_of(SEVERAL))
    assert made.parse_args([]).names == []
    assert made.parse_args(["a", "c"]).names == ["a", "c"]
    with pytest.raises(argparse.ArgumentTypeError):
        one_of(SEVERAL)("d")
    assert nearest("--sinse", ["--since", "--topic"]) == "--since"
    assert nearest("xyz", ["--since"]) == ""


# A command that a sentence names runs as it is typed.


@pytest.mark.long  # it costs much
@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
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
    for started, named in (
        ("python3", "python3 cli.py"),
        ("C:/Program Files/python.exe", '"C:/Program Files/python.exe" cli.py'),
    ):
        monkeypatch.setattr(sys, "orig_argv", [started, "cli.py"])
        assert program.command("sentinel-memory", "cli.py") == named
    monkeypatch.setattr(parser, "CLI", "sentinel-memory")
    with pytest.raises(SystemExit):
        Parser(prog="sentinel-memory-server").parse_args(["--foo"])
    said = "Nothing was done. sentinel-memory-server --help shows what it takes."
    assert capsys.readouterr().err.splitlines()[1] == said
    monkeypatch.setattr(program, "_IS_INSTALLED", True)
    for started, path, named in (
        ("/home/a/bin/sentinel-memory", "/usr/bin:/home/a/bin", "sentinel-memory"),
        ("/home/a/bin/sentinel-memory-server", "/usr/bin:/home/a/bin", "sentinel-memory"),
        ("/home/a/bin/sentinel-memory", "/usr/bin", "/home/a/bin/sentinel-memory"),
        ("sentinel-memory", "", "sentinel-memory"),
    ):
        monkeypatch.setattr(sys, "argv", [started])
        monkeypatch.setenv("PATH", path.replace(":", os.pathsep))
        assert program.command("sentinel-memory", "cli.py") == named
