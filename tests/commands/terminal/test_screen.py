"""Tests the facts about a terminal, the texts that are written on it, and who is asked there."""

import io
import json
import os
import re
import sys
import threading
import time
import unicodedata
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cli
from commands.terminal import ask as module
from commands.terminal import screen
from commands.terminal.ask import progress
from core.lessons.record import new_record
from core.messages import Language, use_language
from tests.core.guard.test_marks import IGNORABLE, OTHERS, chars_of
from tests.support.cli_process import Command, Desk, Run, without_settings
from tests.support.doc_shop import Shop
from tests.support.git_clones import commit, git, path_of, write
from tests.support.samples import NOW, a_line, a_principle, a_record
from tests.support.sentences import in_language
from tests.support.servers import WAIT_S
from tests.support.tables import ROOT, none_of, table

ROWS = table("commands/columns")
PLAIN = screen.Screen(width=40)
COLOURED = screen.Screen(width=40, colours=True)


def test_a_terminal_shows_no_signs_of_markdown_and_a_diff_in_colours() -> None:
    document = "\n".join(ROWS["markdown"])
    assert screen.markdown_lines(document, PLAIN) == ROWS["markdown at a terminal"]
    bold = [line for line in screen.markdown_lines(document, COLOURED) if "\x1b[1m" in line]
    assert [screen.without_colours(line)[:7] for line in bold] == ["Memory:", "Changed", "       "]
    diff = ["--- a", "+++ a", "@@ -1 +1 @@", "-old", "+new", " same", ""]
    assert screen.paint_diff(diff, PLAIN) == diff
    red, green = "\x1b[31m-old\x1b[0m", "\x1b[32m+new\x1b[0m"
    assert screen.paint_diff(diff, COLOURED)[3:] == [red, green, " same", ""]


def test_cells_are_counted_as_a_terminal_draws_them() -> None:
    none_of(it for it in ROWS["cells"] if screen.cells(it[0]) != it[1])


@given(st.text(), st.integers(min_value=1, max_value=30))
@example("기록 하나", 7)
def test_a_fitted_text_is_a_beginning_that_fits(text: str, most: int) -> None:
    shown = screen.shorten(text, most)
    assert screen.cells(shown) <= most
    assert shown == text or text.startswith(shown[:-1])


def test_a_text_breaks_between_syllables_at_blanks_and_in_no_command() -> None:
    shown = ["기록 하나", "기록 하…", "기록…", "기…", "기…", "…", "…"]
    assert [screen.shorten("기록 하나", most) for most in (9, 8, 7, 4, 3, 2, 1)] == shown
    for word in ("x" * 90, f"git add {'a/b ' * 30}a/b", f"`{'x ' * 45}x`"):
        assert screen.wrap_text(f"one {word} two", 80) == ["  one", f"  {word}", "  two"]
    assert screen.wrap_text("한글 " * 17, 80) == ["  " + "한글 " * 14 + "한글", "  한글 한글"]
    assert screen.wrap_text("", 80) == []
    for text, lines, *narrow in ROWS["a_command_is_not_torn"]:
        width = next(iter(narrow), max(map(screen.cells, lines)))
        wrapped = screen.wrap_text(text, width, " " * (len(text) - len(text.lstrip())))
        assert wrapped == screen.break_text(text, width) == lines


def test_numbers_stand_at_the_right_and_texts_at_the_left_of_their_columns() -> None:
    head, *rows = ROWS["columns"]
    lines = ROWS["columns as a table"]
    assert screen.render_table(head, rows, screen.Screen(width=40)) == lines
    assert screen.render_table(head, [], screen.Screen(width=40))[0].split() == lines[0].split()


def test_a_day_has_its_year_only_where_it_is_another() -> None:
    none_of(
        row
        for row in ROWS["a_day_has_its_year_only_where_it_is_another"]
        if in_language(row[1], screen.day_text, row[0], date(2026, 11, 22)) != row[2]
    )


def test_signs_and_colours_are_for_terminals_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, term, sign in (("utf-8", "xterm", "✓"), ("ascii", "xterm", "ok"),
                                 ("utf-8", "linux", "ok")):  # fmt: skip
        monkeypatch.setenv("TERM", term)
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        assert screen.screen_here(stream).sign("ok") == sign
    none_of(
        (environment, is_terminal, system)
        for environment, is_terminal, system, expected in ROWS["colours"]
        if screen.has_colours(environment, is_terminal=is_terminal, system=system) is not expected
    )


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("variable", "red"), [("FORCE_COLOR", True), ("TERM", False)])
def test_the_color_of_an_error_depends_on_standard_error(variable: str, red: bool) -> None:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = Run.at_terminal("show", "zzz", environment={**environment, variable: "1"})
    assert (done.code, done.out) == (1, "")
    assert done.errors.startswith("\x1b[31mzzz: nothing" if red else "zzz: nothing")
    assert len(done.errors.splitlines()) == 1


UNSAFE = [*chars_of(IGNORABLE), *chars_of(OTHERS), "\u2028", "\u2029", "\ud800", "\ue000"]


@pytest.mark.long  # it costs much
def test_no_hidden_character_is_printed() -> None:
    for char in UNSAFE:
        text = f"a{char}, b"
        shown = [screen.plain(text), *screen.plain_lines(text), screen.plain_json([text])]
        assert char not in "".join(shown), hex(ord(char))


@pytest.mark.long  # it costs much
@given(st.text(st.characters() | st.sampled_from("\x1b\x9b\ufe0f\u200d\U000e0041\n❤: ")))
def test_any_text_becomes_a_line_without_a_control(text: str) -> None:
    assert not any(line.lstrip().startswith("::") for line in screen.plain_lines(text))
    for line in (screen.plain(text), *screen.plain_lines(text)):
        kinds = {unicodedata.category(char) for char in line}
        assert not kinds & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert json.loads(screen.plain_json(text)) == text


class Terminal(io.StringIO):
    """A terminal that somebody looks at."""

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
        """Wait until it shows the text so many times."""
        with self._news:
            assert self._news.wait_for(lambda: self.getvalue().count(text) >= times, WAIT_S)


SENTENCES = "The log is broken by a merge. Run python cli.py doctor --fix, then try again."


def test_an_error_wraps_at_words_with_a_red_first_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("COLUMNS", "30"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    screen.complain(SENTENCES, block=["  pip install  it"])
    screen.warn("One line.")
    first, *lines, last = shown.getvalue().splitlines()
    assert first == "\x1b[31mThe log is broken by a merge.\x1b[0m"
    wrapped = ["Run", "python cli.py doctor --fix,", "then try again."]
    assert (lines, last) == ([*wrapped, "  pip install  it"], "\x1b[33mOne line.\x1b[0m")


def test_a_printed_text_commands_no_runner_and_is_one_plain_line_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen.complain(f"{SENTENCES}\n::error::")
    assert capsys.readouterr().err == f"{SENTENCES} ::error::\n"
    monkeypatch.setenv("COLUMNS", "20")
    lines = ["  ::error file=x::y", "a long line of text ::stop-commands::z", "a ::b:: c"]
    screen.print_lines(lines)
    screen.print_within(lines)
    screen.complain("::warning::x")
    printed = capsys.readouterr()
    shown = (printed.out + printed.err).splitlines()
    assert not [line for line in shown if line.lstrip().startswith("::")]
    assert "a ::b:: c" in shown
    assert screen.plain("❤\ufe0f 결제 é") == "❤\ufe0f 결제 é"  # an emoji keeps its form
    assert (screen.plain_json("❤\ufe0f"), screen.plain_json("\x7f")) == ('"❤\ufe0f"', '"\\u007f"')


# The line that says that a command is at work.


def looked_at(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Take a terminal for standard error, and make the waits shorter than they are."""
    monkeypatch.setattr(module, "SILENCE_S", 0.05)
    monkeypatch.setattr(module, "_REFRESH_S", 0.01)
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    return made


@pytest.mark.parametrize(("lang", "said"), [("en", "Reading ... "), ("ko", "읽는 중 ... ")])
def test_a_long_wait_is_told_in_one_line_that_goes_again_even_if_the_work_fails(
    monkeypatch: pytest.MonkeyPatch, lang: Language, said: str
) -> None:
    terminal = looked_at(monkeypatch)
    with pytest.raises(ValueError), use_language(lang), progress():
        terminal.wait_for(said, times=3)
        raise ValueError
    parts = terminal.getvalue().split("\r")
    assert len(parts) > 3 and all(part.startswith(said) for part in parts[1:-2])
    assert re.fullmatch(" +", parts[-2]) and parts[-1] == ""
    assert "\n" not in terminal.getvalue()


@pytest.mark.long  # it waits for a line that must not come
def test_a_short_wait_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = looked_at(monkeypatch)
    monkeypatch.setattr(module, "SILENCE_S", 3_600)
    monkeypatch.setattr(module, "_REFRESH_S", 0)
    with progress():
        time.sleep(0.1)  # a progress that is not silent would print a line meanwhile
    assert terminal.getvalue() == ""


def test_where_nobody_looks_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, before = io.StringIO(), threading.active_count()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress():
        assert threading.active_count() == before  # no thread that could print later
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


SHOWN = "81a1 #1 k3fa9x2m"
NARROW = ("list", "search redis", "search zzz", "list --topic buil", "list --forgotten", "topics")
SCREENS = [
    *(*NARROW, "report", "stats", "scan", "doctor", f"show {SHOWN}", f"show {SHOWN} --versions"),
    f"forget {SHOWN} --dry-run",
]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_no_line_is_wider_than_the_terminal_and_none_has_signs_of_markdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    shop = Shop(tmp_path, "en")
    shop.leak()
    shop.export_to(tmp_path / "rooms.jsonl")
    (shop.home / ".cursor").mkdir()  # a client that is not set up
    without_settings(monkeypatch)
    monkeypatch.chdir(shop.root)
    settings = {"SENTINEL_MEMORY_LANG": lang, "TERM": "xterm", "HOME": str(shop.home)}
    settings["SENTINEL_MEMORY_FRAGMENTS"] = str(shop.home / "memory.db")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert cli.main(["import", str(tmp_path / "rooms.jsonl"), "--yes"]) == 0
    widths = [(words, width) for words in NARROW for width in (24, 40, 60, 132)]
    for words, width in [*widths, *((words, 80) for words in SCREENS)]:
        monkeypatch.setenv("COLUMNS", str(width))
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        monkeypatch.setattr(sys, "stderr", terminal)
        cli.main(words.split())
        lines = screen.without_colours(terminal.getvalue()).splitlines()
        assert lines, words
        none_of(line for line in lines if screen.cells(line) > width and str(shop.root) not in line)
        signs = re.compile(r"^#+ |(?<!/)\*\*(?!/)|^\| |``")
        none_of(line for line in lines if words == "report" and signs.search(line))
    piped = Run.placed("report", cwd=shop.root, environment={**os.environ})
    assert re.search(r"^##+ ", piped.out, re.MULTILINE) and "**" in piped.out


# Who is asked, and the parts of a hostile path that may reach the terminal.

NAME = "x\x1b]0;owned\x07\x9b31m\u202e\n.context: 0 secrets\r\u2028y"
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]")
FORGED = re.compile("^.context: 0 secrets", re.MULTILINE)
HOSTILE = table("commands/hostile_paths")


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
    return [text for text in texts if CONTROL.search(text) or FORGED.search(text)]


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
    for words in HOSTILE["commands"]:
        done = command(*(names.get(word, word) for word in words.split()))
        assert done.out or done.errors, words
        assert faults(done.out, done.errors, *caplog.messages) == [], words


@pytest.mark.long  # it costs much
def test_the_server_prints_no_control_of_its_projects_path(hostile: Path) -> None:
    name = json.dumps(NAME)[1:-1]
    sent = "".join(f"{json.dumps(it)}\n" for it in HOSTILE["requests"]).replace("NAME", name)
    command = (sys.executable, str(ROOT / "server.py"), "--project", str(hostile))
    done = Run.process(*command, cwd=hostile, environment={**os.environ}, given=sent.encode())
    assert "unreadable lines skipped: " in done.errors
    answers = [json.loads(line) for line in done.out.split("\n") if line]
    for answer in answers:  # `data` of an error repeats the client's request
        answer.get("error", {}).pop("data", None)
    assert faults(json.dumps(answers, ensure_ascii=False), done.errors) == []
    refused = Run.process(sys.executable, str(ROOT / "server.py"), NAME, cwd=hostile)
    assert (refused.code, faults(refused.out, refused.errors)) == (2, [])


def test_only_one_place_writes_to_standard_error_or_logs() -> None:
    """All other code goes through `complain` or `warn`, which make their output safe."""
    allowed = {"commands/terminal/screen.py", "core/program.py"}
    allowed.add("commands/report.py")  # commands for a runner, escaped as that reads them
    allowed |= {"commands/terminal/ask.py", "core/parser.py"}  # made safe by the second
    allowed |= {"commands/view/view.py", "commands/hook/scene.py", "protocol/call.py"}
    allowed.add("protocol/stdio.py")  # names of tools, and output that is no answer
    allowed.add("core/postgres/pool.py")  # keeps the driver from its log
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("core", "commands", "protocol", "rooms")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"sys\.stderr|getLogger", path.read_text(encoding="utf-8"))
    }
    assert found <= allowed
