"""Tests what is known of a terminal, and what is written on it, on standard error, too."""

import io
import os

import pytest

from commands.terminal.markdown_lines import markdown_lines
from commands.terminal.printing import painted_diff
from commands.terminal.screen import Screen, screen_here
from tests.support.cli_process import Run

posix = pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")

PLAIN = Screen(width=40)
COLOURED = Screen(width=40, colours=True)
DOCUMENT = """# shop: what **nobody** knew

- **db `x_y`** (seen 2 times): run `python cli.py list --topic T` before \\[it\\], or none
  - Missing then: a line\\
    and another
<details>
<summary>Replaced: 2</summary>

</details>

| | before | after |
| --- | ---: | ---: |
| Records | 1,000 | 7 |
"""


def test_a_document_has_no_signs_on_a_terminal_and_no_line_is_too_wide() -> None:
    assert markdown_lines(DOCUMENT, PLAIN) == [
        "shop: what nobody knew",
        "",
        "- db x_y (seen 2 times): run",
        "  python cli.py list --topic T before",
        "  [it], or none",
        "  - Missing then: a line",
        "    and another",
        "",
        "Replaced: 2",
        "",
        "           before  after",
        "  Records   1,000  7",
    ]


def test_headings_and_strong_words_are_bold() -> None:
    bold = [line for line in markdown_lines(DOCUMENT, COLOURED) if "\x1b[1m" in line]
    assert bold[0].startswith("\x1b[1mshop:\x1b[0m \x1b[1mwhat\x1b[0m")
    assert bold[1].startswith("- \x1b[1mdb\x1b[0m \x1b[1mx_y\x1b[0m (seen")


def test_a_control_of_a_terminal_in_a_document_is_not_obeyed() -> None:
    assert markdown_lines("- a\x1b[2Jb", PLAIN) == ["- a\ufffd[2Jb"]


def test_a_diff_is_red_and_green_where_there_are_colours() -> None:
    lines = ["--- a", "+++ a", "@@ -1 +1 @@", "-old", "+new", " same", ""]
    assert painted_diff(lines, PLAIN) == lines
    assert painted_diff(lines, COLOURED)[3:] == [
        "\x1b[31m-old\x1b[0m",
        "\x1b[32m+new\x1b[0m",
        " same",
        "",
    ]


@pytest.mark.parametrize(
    ("encoding", "term", "sign"),
    [("utf-8", "xterm", "✓"), ("ascii", "xterm", "ok"), ("utf-8", "linux", "ok")],
)
def test_signs_are_letters_where_a_terminal_may_lack_them(
    monkeypatch: pytest.MonkeyPatch, encoding: str, term: str, sign: str
) -> None:
    monkeypatch.setenv("TERM", term)
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert screen_here(stream).sign("ok") == sign


def test_sentences_are_no_wider_than_a_hundred_cells() -> None:
    assert [Screen(width=width).text_width for width in (80, 100, 240)] == [80, 100, 100]


@pytest.mark.long  # it costs much
@posix
@pytest.mark.parametrize(("variable", "red"), [("FORCE_COLOR", True), ("TERM", False)])
def test_an_error_is_red_by_what_standard_error_is(variable: str, red: bool) -> None:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = Run.at_terminal("show", "zzz", environment={**environment, variable: "1"})
    assert (done.code, done.out) == (1, "")
    assert done.errors.startswith("\x1b[31mzzz: no record" if red else "zzz: no record")
    assert len(done.errors.splitlines()) == 1
