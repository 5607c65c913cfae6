"""Tests what is said of arguments that cannot be meant, and where the project may be named."""

from pathlib import Path

import pytest

from core.lessons.record import Record
from tests.support.cli_process import Command, Run
from tests.support.costly import one_in
from tests.support.desk import Desk
from tests.support.git_clones import write
from tests.support.samples import a_record

VAT: Record = a_record()
WRONG = [
    ("lst", "There is no command lst. Did you mean list?"),
    ("xyzzy", "There is no command xyzzy."),
    ("list --sinse 7d", "There is no option --sinse. Did you mean --since?"),
    ("list --wrong=7d", "There is no option --wrong."),
    ("list --type logs", "--type: logs is none of log, principle. Did you mean log?"),
    ("list more", "There is no place for more."),
    ("list --limit", "--limit needs a value."),
    ("list --limit 0", "--limit: it must be a whole number of 1 or more"),
    (f"list --limit {'9' * 5_000}", "--limit: it must be a whole number of 1 or more"),
    ("list --since soon", None),
    ("list --json=1", "--json takes no value, and got 1."),
    ("show", "ID is missing."),
    ("topics rename a", "NEW is missing."),
    ("topics rname a b", "ACTION: rname is none of rename. Did you mean rename?"),
    ("forget 1234 -y -n", "-n/--dry-run and -y/--yes cannot be used together."),
    ("setup --no-", "There is no option --no-. Did you mean --no-rules?"),
    ("list --typ log", "There is no option --typ. Did you mean --type?"),
    ("show abcd --version", "There is no option --version. Did you mean --versions?"),
    ("--versoin", "There is no option --versoin. Did you mean --version?"),
    ("--foo", "There is no option --foo."),
    ("-p .", "COMMAND is missing."),
    ("setup curser", None),
    ("scan --yes", "--yes can only be used with --redact"),
    ("doctor -n", "--dry-run can only be used with --fix"),
    ("doctor --fix --json", "--fix --json can only be used with --yes / --dry-run"),
    ("help lst", "There is no command lst. Did you mean list?"),
    ("help topics rname", "ACTION: rname is none of rename. Did you mean rename?"),
    ("list --type xyzzy", "--type: xyzzy is none of log, principle."),
    ("help list more", "There is no place for more."),
    ("-p", None),
]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(("line", "said"), WRONG)
def test_a_wrong_argument_is_told_with_what_was_meant(
    command: Command, line: str, said: str | None
) -> None:
    refused = command(*line.split()).refused
    assert said in (refused, None)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("line", one_in(3, [line for line, _ in WRONG]))
def test_in_korean_no_word_of_argparse_is_left(
    command: Command, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    refused, see = command(*line.split()).errors.splitlines()
    assert any("가" <= char <= "힣" for char in refused)
    assert see.startswith("아무것도 하지 않았습니다. 쓰는 법: python cli.py help")
    for english in ("argument", "invalid", "expected", "required", "unrecognized", "allowed"):
        assert english not in refused


@pytest.mark.long  # it costs much
def test_at_a_terminal_a_refusal_is_broken_between_words(desk: Desk) -> None:
    done = Run.at_terminal("setup", "curser", **desk.place(COLUMNS="50"))
    assert done.code == 2
    assert done.errors.splitlines()[-1].startswith("Nothing was done.")


@pytest.mark.parametrize(
    "before", [("-p", "shop"), ("-pshop",), ("--project", "shop"), ("--project=shop",), ()]
)
def test_the_project_stands_before_or_behind_the_command(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch, before: tuple[str, ...]
) -> None:
    write(project, VAT)
    monkeypatch.chdir(project.parent)
    found = command(*before, "list", *(() if before else ("-p", "shop")), "--json")
    assert [it["id"] for it in found.told["records"]] == [VAT.id]


def test_a_command_without_a_project_does_not_take_one(command: Command) -> None:
    assert command("-p", ".", "demo").refused == "There is no option --project."


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("option", [("-p", "{}"), ("--project", "{}"), ("-p{}",)])
@pytest.mark.parametrize("is_before", [True, False])
def test_a_hook_takes_the_project_before_it_and_behind_it(
    desk: Desk, option: tuple[str, ...], is_before: bool
) -> None:
    desk.write(VAT)
    named = [word.format(desk.root) for word in option]
    hook = ["hook", "session-start", "--client", "claude-code"]
    words = [*named, *hook] if is_before else [*hook, *named]
    done = Run.placed(
        *words, cwd=desk.home, environment=desk.environment(), given=b'{"source": "startup"}'
    )
    assert done.code == 0
    assert VAT.lesson in done.out
