"""Tests the line that says on standard error that a command is at work."""

import io
import re
import sys
import threading
import time

import pytest

from commands.terminal import ask as module
from commands.terminal.ask import progress
from core.messages import Language, speaking
from tests.support.stdio_client import WAIT_S


class Terminal(io.StringIO):
    """Somebody looks at it."""

    def __init__(self) -> None:
        super().__init__()
        self._news = threading.Condition()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._news:
            self._news.notify_all()
            return super().write(text)

    def wait_for(self, text: str, times: int = 1) -> None:
        """Wait until it shows this."""
        with self._news:
            assert self._news.wait_for(lambda: self.getvalue().count(text) >= times, WAIT_S)


def looked_at(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Take a terminal for standard error, and make the waits shorter than they are."""
    monkeypatch.setattr(module, "SILENCE_S", 0.05)
    monkeypatch.setattr(module, "_EACH_S", 0.01)
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    return made


@pytest.mark.parametrize(("lang", "said"), [("en", "Reading ... "), ("ko", "읽는 중 ... ")])
def test_a_long_wait_is_told_in_one_line_that_goes_again_even_if_the_work_fails(
    monkeypatch: pytest.MonkeyPatch, lang: Language, said: str
) -> None:
    terminal = looked_at(monkeypatch)
    with pytest.raises(ValueError), speaking(lang), progress():
        terminal.wait_for(said, times=3)
        raise ValueError
    parts = terminal.getvalue().split("\r")
    assert len(parts) > 3 and all(part.startswith(said) for part in parts[1:-2])
    assert re.fullmatch(" +", parts[-2]) and parts[-1] == ""
    assert "\n" not in terminal.getvalue()


@pytest.mark.long  # it waits for what must not come
def test_a_short_wait_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    monkeypatch.setattr(module, "SILENCE_S", 3_600)
    monkeypatch.setattr(module, "_EACH_S", 0)
    with progress():
        time.sleep(0.1)  # who does not keep silent tells it meanwhile
    assert terminal.getvalue() == ""


def test_where_nobody_looks_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, before = io.StringIO(), threading.active_count()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress():
        assert threading.active_count() == before  # nobody who could tell anything later
    assert stream.getvalue() == ""


def test_a_shorter_line_leaves_nothing_of_a_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    with progress() as tell:
        tell("Step 10 of 11: duplicates")
        terminal.wait_for("duplicates ...")
        tell("Step 11")
        terminal.wait_for("Step 11 ...")
    first, second = r"\r(Step 10 of 11: duplicates \.\.\. \d+ s)", r"\r(Step 11 \.\.\. \d+ s)( +)\r"
    found = re.search(first + second, terminal.getvalue())
    assert found and len(found[1]) == len(found[2] + found[3])
