"""Tests how the Gemini command line is started, with a program that tells what it got."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.errors import ServiceError
from rooms.fragments.models import check, missing
from rooms.fragments.models.judge import (
    RULE,
    GeminiJudge,
    JudgeSettings,
    Verdict,
    found_program,
    is_private,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a script is no program there")

TELLING = """
import json, os, sys
from pathlib import Path
given = sys.stdin.read()
settings = json.loads(Path(os.environ["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).read_text())
rule = Path(os.environ["GEMINI_SYSTEM_MD"]).read_text()
told = {"rule": rule, "arguments": sys.argv[1:], "given": given, "folder": os.getcwd(),
        "files": sorted(os.listdir()), "settings": settings,
        "rooms": os.environ["SENTINEL_MEMORY_ROOMS"]}
Path(TOLD).write_text(json.dumps(told))
print("Loaded cached credentials.")
print('{"label": "contradiction", "confidence": 0.9}')
"""

Made = Callable[[str], str]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes a program `gemini` of this source and returns the directory that it is in."""

    def make(source: str) -> str:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "gemini"
        told = repr(str(tmp_path / "told.json"))
        program.write_text(f"#!{sys.executable}\nTOLD = {told}\n{source}")
        program.chmod(0o755)
        return str(folder)

    return make


def judge(path: str, place: Path, timeout_s: float = 60) -> GeminiJudge:
    """A judge for which every directory is private: those of a test are below one for all."""
    settings = JudgeSettings("gemini", str(place), path=path)
    return GeminiJudge(settings, timeout_s, lambda _: True)


@pytest.mark.row("002 2.62.d", "002 2.76", "002 2.76.a")
def test_it_gets_the_texts_as_input_in_an_empty_directory_with_nothing_to_act_with(
    made: Made, tmp_path: Path
) -> None:
    later = "$(touch /tmp/x); `id` & \"quoted\" 'single' %PATH%\nnext line 결제"
    assert judge(made(TELLING), tmp_path).verdict("earlier", later) == Verdict("contradiction", 0.9)
    told: dict[str, Any] = json.loads((tmp_path / "told.json").read_text())
    assert told["arguments"] == ["--extensions", "none", "--allowed-mcp-server-names", "none"]
    assert told["files"] == ["rule.md", "settings.json"]
    assert told["rule"] == RULE
    assert Path(told["folder"]).parent == tmp_path and not os.path.exists(told["folder"])
    assert told["settings"]["tools"] == {"core": []}
    assert told["rooms"] == "lessons"
    assert json.loads(told["given"]) == {"earlier": "earlier", "later": later}


def failure(path: str, timeout_s: float = 60) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        judge(path, Path(path).parent, timeout_s).verdict("earlier", "later")
    return caught.value


@pytest.mark.row("002 2.76.a")
def test_it_is_not_started_where_others_could_put_their_settings(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "home/data"
    inner.mkdir(parents=True, mode=0o700)
    tmp_path.chmod(0o700)
    assert is_private(inner, tmp_path)
    for mode in (0o770, 0o702, 0o1777):
        inner.parent.chmod(mode)
        assert not is_private(inner, tmp_path), oct(mode)
        monkeypatch.setenv("HOME", str(inner))
        settings = JudgeSettings("gemini", str(inner), path=made(TELLING))
        one = GeminiJudge(settings, is_private=lambda it: is_private(it, tmp_path))
        with pytest.raises(ServiceError) as caught:
            one.verdict("earlier", "later")
        assert caught.value.key == "no_private_place"
    assert not (tmp_path / "told.json").exists()


@pytest.mark.long  # it costs much
def test_a_program_that_fails_or_says_nothing_of_use_is_a_sentence(made: Made) -> None:
    error = failure(made("import sys; print('{}'); sys.exit(41)"))
    assert (error.key, error.facts["status"]) == ("program_failed", 41)
    assert failure(made("print('I cannot do that.')")).key == "bad_answer"
    assert failure(made("print('x' * 1_000_000)")).key == "bad_answer"
    assert (
        failure(made("import sys; sys.stdout.buffer.write(bytes([255, 254]))")).key == "bad_answer"
    )


def test_a_program_that_hangs_is_ended_with_whatever_it_started(made: Made, tmp_path: Path) -> None:
    source = """
import subprocess, sys, time
from pathlib import Path
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
Path(TOLD).write_text(str(child.pid))
time.sleep(3600)
"""
    told = tmp_path / "told.json"
    for limit_s in (1.5, 6, 60):  # on a busy machine it has not started the other before
        assert failure(made(source), limit_s).key == "timeout"
        if told.exists() and told.read_text():
            break
    child, ends = int(told.read_text()), time.monotonic() + 60
    while is_running(child) and time.monotonic() < ends:
        time.sleep(0.02)
    assert not is_running(child)


def is_running(process: int) -> bool:
    """Whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return state not in "ZX"


def test_it_is_found_in_absolute_directories_of_the_path_only(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(TELLING)
    monkeypatch.chdir(folder)
    for path in ("", ".", os.pathsep, str(tmp_path)):
        assert found_program(path) == "", path
        assert failure(path).key == "no_program"
    assert found_program(os.pathsep.join((".", str(tmp_path), folder))) == f"{folder}/gemini"
    os.chmod(f"{folder}/gemini", 0o644)
    assert found_program(folder) == ""


def test_what_is_missing_here_is_told_apart_from_what_is_wrong(made: Made) -> None:
    environment = {"SENTINEL_MEMORY_JUDGE": "gemini", "PATH": ""}
    assert check(environment) == []
    assert [error.key for error in missing(environment)] == ["no_program"]
    assert missing({**environment, "PATH": made(TELLING)}) == []
    assert missing({}) == []
    wrong = {"SENTINEL_MEMORY_JUDGE": "gpt", "SENTINEL_MEMORY_EMBEDDINGS": "localhost"}
    assert [error.key for error in check(wrong)] == ["bad_address", "bad_judge"]
    assert missing(wrong) == []
