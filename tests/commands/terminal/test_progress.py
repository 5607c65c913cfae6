"""Tests the line that says on standard error that a command is at work."""

import io
import re
import sys
import time
from collections.abc import Callable

import pytest

from commands.terminal import progress as module
from commands.terminal.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


Look = Callable[[io.StringIO], io.StringIO]


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Look:
    """Takes a stream for standard error, and the waits shorter than they are."""
    monkeypatch.setattr(module, "SILENCE_S", 0.05)
    monkeypatch.setattr(module, "_EACH_S", 0.01)

    def looked(stream: io.StringIO) -> io.StringIO:
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return looked


def test_a_second_of_silence_comes_first() -> None:
    assert module.SILENCE_S == 1


@pytest.mark.parametrize(("lang", "said"), [("en", "Reading ... "), ("ko", "읽는 중 ... ")])
def test_a_long_wait_is_told_in_one_line_that_goes_again(look: Look, lang: str, said: str) -> None:
    terminal = look(Terminal())
    with progress("ko" if lang == "ko" else "en"):
        time.sleep(0.2)
    parts = terminal.getvalue().split("\r")
    assert len(parts) > 3 and all(part.startswith(said) for part in parts[1:-2])
    assert re.fullmatch(" +", parts[-2]) and parts[-1] == ""
    assert "\n" not in terminal.getvalue()


def test_a_short_wait_is_not_told(look: Look) -> None:
    terminal = look(Terminal())
    with progress("en"):
        pass
    assert terminal.getvalue() == ""


def test_the_line_goes_when_the_work_fails(look: Look) -> None:
    terminal = look(Terminal())
    with pytest.raises(ValueError), progress("en"):
        time.sleep(0.2)
        raise ValueError
    assert terminal.getvalue().endswith(" \r")


def test_where_nobody_looks_nothing_is_told(look: Look) -> None:
    stream = look(io.StringIO())
    with progress("en"):
        time.sleep(0.2)
    assert stream.getvalue() == ""


def test_the_work_says_how_far_it_is_and_a_shorter_line_leaves_nothing_of_a_longer(
    look: Look,
) -> None:
    terminal = look(Terminal())
    with progress("en") as tell:
        tell("Step 10 of 11: duplicates")
        time.sleep(0.2)
        tell("Step 11")
        time.sleep(0.2)
    shown = terminal.getvalue()
    assert re.search(r"\rStep 10 of 11: duplicates \.\.\. \d s\rStep 11 \.\.\. \d s {18}\r", shown)
