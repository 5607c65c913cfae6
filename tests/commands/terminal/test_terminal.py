"""Tests who is asked at a terminal, and that nothing of a path that wants to speak reaches it."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from core.lessons.record import new_record
from core.program import shown
from tests.support.cli_process import Command, Desk, Run
from tests.support.git_clones import commit, git, path_of, write
from tests.support.samples import NOW, a_line, a_principle, a_record
from tests.support.tables import ROOT, table

NAME = "x\x1b]0;owned\x07\x9b31m\u202e\n.context: 0 secrets\r\u2028y"
UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]")
FORGED = re.compile("^.context: 0 secrets", re.MULTILINE)

ROWS = table("commands/hostile_paths")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("answer", ["y\n", "예\n", "\n"])
def test_a_person_at_a_terminal_decides(answer: str, desk: Desk) -> None:
    """How each command asks is told in tests/stories/agree.txt."""
    desk.write(a_record())
    before = desk.files()
    done = Run.at_terminal("forget", a_record().id, answer=answer, **desk.place())
    assert "To delete: 1." in done.out and "? [y/N] " in done.out
    assert (desk.files() != before) == (answer != "\n")
    assert ("Nothing was " in done.out) == (answer == "\n")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A project whose own name wants to speak, with every flaw that a warning names."""
    folder = tmp_path / NAME
    folder.mkdir()
    git(folder, "init", "--quiet")
    good = (a_record(), new_record(a_principle(), now=NOW))
    write(folder, *good)
    commit(folder)
    conflict = b"<<<<<<< HEAD\n=======\n>>>>>>> x\n"
    write(folder, *good, a_line(a_record("odd"), by=NAME), b"torn\n", conflict)
    return folder


def faults(*texts: str) -> list[str]:
    return [text for text in texts if UNSAFE.search(text) or FORGED.search(text)]


@pytest.mark.long  # it costs much
def test_no_command_prints_a_control_of_its_projects_path(
    hostile: Path,
    command: Command,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {"ID": a_record().id, "NONE": str(hostile / NAME), "LOG": str(path_of(hostile))}
    names["PAGE"] = str(hostile / "page.html")
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("SENTINEL_MEMORY_STATE", str(hostile / "state"))
    for given in ROWS["commands"]:
        done = command(*(names.get(word, word) for word in given.split()))
        assert done.out or done.errors, given
        assert faults(done.out, done.errors, *caplog.messages) == [], given


@pytest.mark.long  # it costs much
def test_the_server_prints_no_control_of_its_projects_path(hostile: Path) -> None:
    name = json.dumps(NAME)[1:-1]
    sent = "".join(f"{json.dumps(it)}\n" for it in ROWS["requests"]).replace("NAME", name)
    command = (sys.executable, str(ROOT / "server.py"), "--project", str(hostile))
    done = Run.process(*command, cwd=hostile, environment={**os.environ}, given=sent.encode())
    assert "unreadable lines skipped: " in done.errors
    answers = [json.loads(line) for line in done.out.split("\n") if line]
    for answer in answers:  # `data` of an error gives the client what it sent
        answer.get("error", {}).pop("data", None)
    assert faults(json.dumps(answers, ensure_ascii=False), done.errors) == []
    refused = Run.process(sys.executable, str(ROOT / "server.py"), NAME, cwd=hostile)
    assert (refused.code, faults(refused.out, refused.errors)) == (2, [])


def test_only_one_place_writes_to_standard_error_or_logs() -> None:
    """All other code goes through `complain` or `warn`, which make what they print safe."""
    allowed = {"commands/terminal/screen.py", "core/program.py"}
    allowed.add("commands/report.py")  # commands for a runner, escaped as that reads them
    allowed |= {"commands/terminal/ask.py", "core/parser.py"}  # made safe by the second
    allowed |= {"commands/view/view.py", "commands/hook/scene.py", "protocol/call.py"}
    allowed.add("protocol/stdio.py")  # names of tools, and what is no answer
    allowed.add("core/postgres/pool.py")  # keeps the driver from its log
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("core", "commands", "protocol", "rooms")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"sys\.stderr|getLogger", path.read_text(encoding="utf-8"))
    }
    assert found <= allowed


def test_a_fact_is_shown_in_one_line() -> None:
    assert shown(Path("a\x1b[31m\nb")) == "a\ufffd[31m\ufffdb"
    assert (shown("결제 é"), shown(3)) == ("결제 é", "3")
