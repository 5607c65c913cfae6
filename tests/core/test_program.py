"""Tests that a command that a sentence names runs as it is typed."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from core import parser, program
from tests.support.stdio_client import ROOT


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


def test_an_installed_server_is_no_command_of_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parser, "CLI", "sentinel-memory")
    with pytest.raises(SystemExit):
        parser.Parser(prog="sentinel-memory-server").parse_args(["--foo"])
    said = "Nothing was done. sentinel-memory-server --help shows what it takes."
    assert capsys.readouterr().err.splitlines()[1] == said


def test_an_interpreter_is_named_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "orig_argv", ["python3", "cli.py"])
    assert program.command("sentinel-memory", "cli.py") == "python3 cli.py"
    monkeypatch.setattr(sys, "orig_argv", ["C:/Program Files/python.exe", "cli.py"])
    assert program.command("sentinel-memory", "cli.py") == '"C:/Program Files/python.exe" cli.py'


@pytest.mark.parametrize(
    ("started", "path", "named"),
    [
        ("/home/a/bin/sentinel-memory", "/usr/bin:/home/a/bin", "sentinel-memory"),
        ("/home/a/bin/sentinel-memory-server", "/usr/bin:/home/a/bin", "sentinel-memory"),
        ("/home/a/bin/sentinel-memory", "/usr/bin", "/home/a/bin/sentinel-memory"),
        ("sentinel-memory", "", "sentinel-memory"),
    ],
)
def test_an_installed_command_outside_of_the_path_is_named_with_its_directory(
    started: str, path: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "_IS_INSTALLED", True)
    monkeypatch.setattr(sys, "argv", [started])
    monkeypatch.setenv("PATH", path.replace(":", os.pathsep))
    assert program.command("sentinel-memory", "cli.py") == named
