"""Tests that nothing a terminal obeys or does not show is ever printed."""

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.terminal.safe_text import complain, plain, plain_json, plain_lines, warn
from tests.core.injection.test_hidden import IGNORABLE, OTHERS, chars_of
from tests.support.rows import none_of

UNSAFE = [*chars_of(IGNORABLE), *chars_of(OTHERS), "\u2028", "\u2029", "\ud800", "\ue000"]


@pytest.mark.long  # it costs much
def test_no_hidden_character_is_printed() -> None:
    none_of(
        hex(ord(char))
        for char in UNSAFE
        if char in plain(f"a{char}, b")
        or char in "".join(plain_lines(f"a{char}, b"))
        or char in plain_json([f"a{char}, b"])
    )


def test_an_emoji_keeps_its_form_and_the_data_are_those_that_were_given() -> None:
    assert plain("❤\ufe0f 결제 é") == "❤\ufe0f 결제 é"
    assert plain_json("❤\ufe0f") == '"❤\ufe0f"'
    assert plain_json("\x7f") == '"\\u007f"'


@pytest.mark.long  # it costs much
@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\ufe0f\u200d\U000e0041\n❤")))
def test_any_text_becomes_a_line_without_a_control(text: str) -> None:
    for line in (plain(text), *plain_lines(text)):
        kinds = {unicodedata.category(char) for char in line}
        assert not kinds & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert json.loads(plain_json(text)) == text


class Terminal(io.StringIO):
    """What somebody looks at."""

    def isatty(self) -> bool:
        return True


SENTENCES = "The log is broken by a merge. Run python cli.py doctor --fix, then try again."


def test_an_error_wraps_at_words_and_its_first_sentence_is_red(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("COLUMNS", "30"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    complain(SENTENCES, block=["  pip install  it"])
    warn("One line.")
    assert shown.getvalue().splitlines() == [
        "\x1b[31mThe log is broken by a merge.\x1b[0m",
        "Run",
        "python cli.py doctor --fix,",
        "then try again.",
        "  pip install  it",
        "\x1b[33mOne line.\x1b[0m",
    ]


def test_an_error_in_a_pipe_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    complain(f"{SENTENCES}\n::error::")
    assert capsys.readouterr().err == f"{SENTENCES} ::error::\n"
