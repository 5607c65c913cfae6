"""Tests how setup asks at a terminal which rooms of the memory there shall be."""

import json
import os
import signal
import subprocess
import sys

import pytest

from commands.setup.words import word
from core.messages import Language
from tests.support.cli_process import CLI, Run, read_terminal
from tests.support.costly import one_in
from tests.support.desk import Desk

pytestmark = pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")

QUESTION = "Which rooms of the memory do the agents get?"
SETUP = ("setup", "claude-code")


def at_terminal(desk: Desk, answer: str, *words: str, **variables: str) -> Run:
    return Run.at_terminal(*(words or SETUP), answer=answer, **desk.place(**variables))


def rooms_written(desk: Desk) -> list[str]:
    """What the entry says after the path of the server."""
    [entry] = json.loads((desk.root / ".mcp.json").read_text())["mcpServers"].values()
    return [it for it in entry["args"] if not it.endswith("server.py")]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("lang", "shown"),
    [
        (
            "en",
            """
Which rooms of the memory do the agents get?
     room       tokens  whose                   remembers
  1  lessons       613  the team's, by git      what instructions left out
  2  sessions    1,135  this checkout's         what was done, and what failed
  3  fragments   1,452  yours, in all projects  facts, preferences, cures
A room's tools cost these tokens in every session. With fewer tools, by name:
sessions:core 846, fragments:core 650.
Numbers or names, such as 1 2; Enter for lessons alone:""",
        ),
        (
            "ko",
            """
기억의 방 가운데 무엇을 켤까요?
     방          토큰  누구의 것          남기는 것
  1  lessons      613  팀(git으로 공유)   지시에 빠져 있던 것과 교훈
  2  sessions   1,135  이 체크아웃        한 일과 실패한 시도
  3  fragments  1,452  나(모든 프로젝트)  사실, 선호, 오류와 해결법
토큰은 방의 도구 목록이 세션마다 쓰는 양입니다. 도구를 줄이려면 이름으로
고르세요: sessions:core 846, fragments:core 650
번호나 이름(예: 1 2), lessons만 켜려면 Enter:""",
        ),
    ],
)
def test_each_room_has_one_line_on_a_terminal_of_80_columns(
    lang: Language, shown: str, desk: Desk
) -> None:
    out = at_terminal(desk, "\n\n", SENTINEL_MEMORY_LANG=lang, COLUMNS="80", NO_COLOR="1").out
    assert shown in out


@pytest.mark.long  # it costs much
def test_enter_writes_what_a_setup_without_the_question_writes(desk: Desk) -> None:
    assert desk.run(*SETUP, "--yes").code == 0
    wanted = desk.files()
    assert desk.run(*SETUP, "--remove", "--yes").code == 0
    assert desk.files() != wanted
    done = at_terminal(desk, "\ny\n")
    assert (done.code, done.errors) == (0, "")
    assert desk.files() == wanted


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("answer", "rooms"),
    [
        ("lessons, Sessions:core 3", ["--rooms", "lessons,sessions:core,fragments"]),
        ("2", ["--rooms", "sessions"]),
        pytest.param("1", [], marks=pytest.mark.long),
        pytest.param("1 2", ["--rooms", "lessons,sessions"], marks=pytest.mark.long),
        pytest.param(" 1,3 ", ["--rooms", "lessons,fragments"], marks=pytest.mark.long),
    ],
)
def test_the_entry_names_the_rooms_that_were_chosen(
    answer: str, rooms: list[str], desk: Desk
) -> None:
    done = at_terminal(desk, f"{answer}\ny\n")
    assert (done.code, done.errors, rooms_written(desk)) == (0, "", rooms)
    assert ("Without lessons no tool" in done.out) == (answer == "2")


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("wrong", one_in(5, ["attic", "4", "0", "1 sessions sessions:core", "12"]))
def test_a_wrong_answer_is_told_and_asked_again(wrong: str, desk: Desk) -> None:
    done = at_terminal(desk, f"{wrong}\n1 2\ny\n")
    assert word("en", "no_rooms", text=wrong) in " ".join(done.out.split())
    assert done.out.count(word("en", "rooms_prompt")) == 2
    assert (done.code, rooms_written(desk)) == (0, ["--rooms", "lessons,sessions"])


@pytest.mark.long  # it costs much
def test_the_end_of_input_ends_it_with_nothing_written(desk: Desk) -> None:
    done = at_terminal(desk, "\x04")
    assert (done.code, done.errors, desk.files()) == (1, "", {})
    assert done.out.endswith(f"{word('en', 'rooms_prompt')}\n{word('en', 'not_changed')}\n")


@pytest.mark.long  # it costs much
def test_an_interruption_ends_it_with_nothing_written(desk: Desk) -> None:
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [sys.executable, str(CLI), *SETUP],
        stdin=theirs,
        stdout=theirs,
        cwd=desk.root,
        env=desk.environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in a job it is ignored
    )
    try:
        said = b""
        while b"Enter for" not in said:
            said += read_terminal(ours)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
    finally:
        running.kill()
        running.wait()
        os.close(theirs)
        os.close(ours)
    assert desk.files() == {}


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    "option",
    one_in(
        3, ["--remove", "--yes", "--dry-run", "--rooms=lessons", "--url=https://memory.example.com"]
    ),
)
def test_who_has_said_it_or_writes_no_entry_of_ours_is_not_asked(option: str, desk: Desk) -> None:
    if option == "--remove":
        assert desk.run(*SETUP, "--yes").code == 0
    done = at_terminal(desk, "y\n", *SETUP, option)
    assert (done.code, QUESTION in done.out) == (0, False)


def test_where_nobody_can_answer_it_is_not_asked(desk: Desk) -> None:
    done = desk.run(*SETUP)
    assert (done.code, done.errors) == (1, word("en", "no_terminal") + "\n")
    assert QUESTION not in done.out


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("variable", one_in(2, [False, True]))
def test_an_entry_that_names_rooms_is_not_asked_about_again(variable: bool, desk: Desk) -> None:
    assert at_terminal(desk, "1 2\ny\n").code == 0
    path = desk.root / ".mcp.json"
    if variable:
        data = json.loads(path.read_text())
        [entry] = data["mcpServers"].values()
        entry["args"] = [it for it in entry["args"] if it.endswith("server.py")]
        entry["env"] = {"SENTINEL_MEMORY_ROOMS": "lessons sessions"}
        path.write_text(json.dumps(data, indent=2) + "\n")
    before = desk.files()
    done = at_terminal(desk, "")
    assert (QUESTION in done.out, done.out.splitlines()[-1]) == (
        False,
        word("en", "nothing_to_do"),
    )
    assert desk.files() == before
    done = at_terminal(desk, "y\n", "setup", "claude-code", "cursor")
    assert (done.code, QUESTION in done.out) == (0, False)
    assert rooms_written(desk) == ([] if variable else ["--rooms", "lessons,sessions"])


@pytest.mark.long  # it costs much
def test_nobody_chooses_rooms_for_a_client_that_cannot_be_set_up(desk: Desk) -> None:
    done = at_terminal(desk, "", "setup", "claude-desktop", "--user")
    assert QUESTION not in done.out
