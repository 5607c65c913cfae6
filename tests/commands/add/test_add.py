"""Tests that `cli.py add` saves a person's lesson through the door of all lessons."""

import sys
from pathlib import Path

import pytest

from core.lessons.record import Record
from tests.support.cli_process import TOKEN, Command, Run
from tests.support.desk import Desk
from tests.support.git_clones import path_of, saved, write
from tests.support.samples import a_record

GIVEN = ("add", "--topic", "ci", "--missing", "Which Node the CI has", "--lesson", "Use Node 22")
NOBODY = "Nothing was changed: "

# Stands for a person who writes below each heading what the arguments say, `-` for nothing.
TYPED = """
import pathlib, sys
*typed, name = sys.argv[1:]
path = pathlib.Path(name)
text = path.read_text(encoding="utf-8")
for pair in typed:
    heading, _, body = pair.partition("=")
    assert f"== {heading} ==" in text, heading
    text = text.replace(f"== {heading} ==", f"== {heading} ==\\n{body}")
path.write_text(text, encoding="utf-8")
"""


@pytest.fixture
def editor(project: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    program = project.parent / "editor.py"
    program.write_text(TYPED, encoding="utf-8")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {program} 'lesson=Use Node 22'")
    return monkeypatch


def only(project: Path) -> Record:
    [record] = saved(project)
    return record


def test_a_lesson_is_shown_and_saved_with_all_that_was_given(
    command: Command, project: Path
) -> None:
    more = ("--ask", "Which one?", "--path", "ci/**", "--path", "*.yml", "--when", "node-version:")
    done = command(*GIVEN, *more, "--yes")
    record = only(project)
    assert (done.code, done.errors) == (0, "")
    assert (record.topic, record.missing_context, record.lesson) == ("ci", GIVEN[4], GIVEN[6])
    assert (record.ask_next_time, record.paths) == ("Which one?", ("ci/**", "*.yml"))
    assert (record.type, record.when) == ("log", ("node-version:",))
    assert done.lines[0] == "To save:"
    assert f"{record.token}  log [ci]" in done.lines[-4:]
    assert done.lines[-1] == "topics: ci (1)"


def test_without_a_terminal_nothing_is_saved(command: Command, project: Path) -> None:
    done = command(*GIVEN)
    assert (done.code, done.errors[: len(NOBODY)]) == (1, NOBODY)
    assert "Use Node 22" in done.out
    assert list(project.iterdir()) == []


def test_a_dry_run_shows_it_and_saves_nothing(command: Command, project: Path) -> None:
    done = command(*GIVEN, "-n")
    assert (done.code, done.errors) == (0, "")
    assert done.lines[-1] == "Nothing was changed (--dry-run)."
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(("answer", "count"), [("y\n", 1), ("n\n", 0)])
def test_a_person_decides(desk: Desk, answer: str, count: int) -> None:
    done = Run.at_terminal(*GIVEN, answer=answer, **desk.place())
    assert "Save? [y/N] " in done.out
    assert done.code == 1 - count
    assert len(saved(desk.root) if desk.log.exists() else []) == count


def test_the_same_gap_again_takes_the_place_of_its_record(command: Command, project: Path) -> None:
    command(*GIVEN, "--path", "ci/**", "-y")
    done = command(*GIVEN[:-1], "Use Node 24", "-y")
    record = only(project)
    assert (record.lesson, record.paths) == ("Use Node 24", ("ci/**",))
    assert done.lines[0] == "A record has this gap already. To save in its place:"


def test_a_secret_is_replaced_before_it_is_shown_or_saved(command: Command, project: Path) -> None:
    done = command(*GIVEN[:-1], f"The token is {TOKEN}", "-y")
    assert TOKEN not in done.out + done.errors + path_of(project).read_text()
    assert "[REDACTED]" in only(project).lesson
    assert "Secrets redacted" in done.out or "redacted" in done.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--lesson", "가" * 342), "lesson: 1,026 bytes of UTF-8, 2 above the limit of 1,024."),
        (("--path", "../x"), "paths: one of them points outside the project"),
        (("--when", "abc"), "when: one of the pieces is blank or has fewer than 4 characters"),
        (("--ask", "?" * 513), "ask_next_time: 513 bytes of UTF-8, 1 above the limit of 512."),
    ],
)
def test_the_limits_are_those_of_all_lessons(
    command: Command, project: Path, more: tuple[str, str], said: str
) -> None:
    done = command(*GIVEN, *more, "-y")
    assert (done.code, done.errors[: len(said)]) == (1, said)
    assert list(project.iterdir()) == []


def test_where_a_text_is_missing_an_editor_opens_with_the_others(
    editor: pytest.MonkeyPatch, command: Command, project: Path
) -> None:
    done = command("add", "--topic", "ci", "--missing", "Which Node", "-y")
    assert (done.code, done.errors) == (0, "")
    record = only(project)
    assert (record.topic, record.missing_context, record.lesson) == (
        "ci",
        "Which Node",
        "Use Node 22",
    )


def test_what_was_typed_and_not_saved_is_kept(
    editor: pytest.MonkeyPatch, command: Command, project: Path
) -> None:
    done = command("add", "--topic", "ci", "--missing", "Which Node")
    first, second = done.errors.splitlines()
    assert (done.code, first[: len(NOBODY)]) == (1, NOBODY)
    kept = Path(second.removeprefix("What you typed is kept in ").removesuffix("."))
    assert "Use Node 22" in kept.read_text(encoding="utf-8")
    kept.unlink()
    done = command("add", "--topic", "ci")
    kept = Path(done.errors.splitlines()[-1].removeprefix("What you typed is kept in ")[:-1])
    assert "missing_context: it is blank." in done.errors
    kept.unlink()
    assert list(project.iterdir()) == []


def test_an_unchanged_text_saves_nothing(
    editor: pytest.MonkeyPatch, command: Command, project: Path
) -> None:
    editor.setenv("EDITOR", "true")
    assert command("add") == Run(0, "Nothing was changed.\n", "")
    assert list(project.iterdir()) == []


def test_without_an_editor_it_says_so(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    assert command("add").errors.startswith("No editor is set.")


def test_the_same_soft_words_come_as_for_an_agent(command: Command, project: Path) -> None:
    write(project, a_record(topic="authentication"))
    done = command("add", "--topic", "auth", *GIVEN[3:], "-y")
    assert "authentication" in "\n".join(done.lines[-4:])
