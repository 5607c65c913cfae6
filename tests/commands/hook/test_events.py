"""Tests how the events of clients are read, and which files a command line edits."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.clients.table import HOOKS
from commands.hook.events import (
    MOST_FILES,
    MOST_TEXT_CHARS,
    Moment,
    new_lines,
    path_inside,
    read_moment,
    render_answer,
)
from commands.hook.shell import edits_of
from tests.support.tables import none_of, table

ROWS = table("commands/events")


def tool(name: str, given: Any, **more: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": given, **more}


def read(payload: dict[str, Any]) -> tuple[tuple[str, ...], str, str]:
    """Files, command and text of a tool call."""
    moment = read_moment("claude-code", "before-action", payload)
    return moment.paths, moment.command, moment.text


@pytest.mark.parametrize(
    ("payload", "files", "command", "text"),
    ROWS["the_files_the_command_and_the_text_of_a_tool_are_read"],
)
def test_the_files_the_command_and_the_text_of_a_tool_are_read(
    payload: dict[str, Any], files: list[str], command: str, text: str
) -> None:
    assert read(payload) == (tuple(files), command, text)


def test_a_tool_that_changes_nothing_or_is_unknown_is_no_action() -> None:
    given = {"file_path": "/p/a.py", "path": "/p/a.py", "content": "x", "command": "x"}
    for name in ROWS["tools that change nothing"]:
        assert read(tool(name, given)) == ((), "", ""), name
        assert not read_moment("cursor", "before-action", tool(name, given)).says_something, name


def test_a_field_that_is_missing_or_of_another_type_is_left_out() -> None:
    payloads = [*ROWS["odd"], tool("Edit", {"file_path": "a" * 5_000, "workdir": 1})]
    events = [(client, it.hook_event) for client, hooks in HOOKS.items() for it in hooks.events]
    for (client, event), payload in product(events, payloads):
        moment = read_moment(client, event, payload)
        assert moment == Moment(name=moment.name), (client, event)


def test_only_the_beginning_of_a_long_input_is_read() -> None:
    edits = [{"file_path": f"src/{at}.py", "new_string": "x" * 5_000} for at in range(500)]
    paths, command, text = read(tool("Edit", {"edits": edits, "command": "y" * 50_000}))
    assert paths == tuple(f"src/{at}.py" for at in range(MOST_FILES))
    assert (len(command), len(text)) == (4 * MOST_TEXT_CHARS, MOST_TEXT_CHARS)
    patch = "".join(f"*** Add File: {at}\n+{'x' * 50}\n" for at in range(500))
    paths, command, text = read(tool("apply_patch", {"input": patch}))
    assert (len(paths), command, len(text)) == (MOST_FILES, "", MOST_TEXT_CHARS)


def test_a_moment_has_the_values_of_the_fields_of_a_payload() -> None:
    none_of(
        (payload, moment)
        for payload, fields in ROWS["fields"]
        for moment in [read_moment("cursor", "stop", payload)._asdict()]
        if json.loads(json.dumps({name: moment[name] for name in fields})) != fields
    )


@pytest.mark.parametrize(("client", "event", "payload", "said"), ROWS["answers"])
def test_an_answer_names_the_event_as_the_client_does_or_has_one_key(
    client: str, event: str, payload: dict[str, Any], said: str
) -> None:
    text = f'{{"hookEventName": "{said}", "additionalContext": "\\uac12"}}'
    expected = said if said.startswith("{") else f'{{"hookSpecificOutput": {text}}}'
    assert render_answer(client, event, read_moment(client, event, payload), "값") == expected


@pytest.mark.parametrize(
    ("folder", "path", "name"), ROWS["a_path_is_told_from_the_folder_or_lies_outside"]
)
def test_a_path_is_told_from_the_folder_or_lies_outside(folder: str, path: str, name: str) -> None:
    assert path_inside(folder, path) == name


@pytest.mark.parametrize(("text", "before", "new"), ROWS["lines"])
def test_only_lines_that_were_not_there_are_new(text: str, before: str, new: list[str]) -> None:
    assert new_lines(text, before) == new


@pytest.mark.long  # it costs much
@given(st.text(), st.text())
def test_no_line_is_new_beside_its_own_text_and_all_are_beside_none(one: str, other: str) -> None:
    assert new_lines(one, one) == []
    assert "".join(new_lines(one, "")).split() == "".join(one.splitlines()).split()
    assert set(new_lines(one, other)) <= set(one.splitlines())


# A command line.

FILE, SHELL = "src/pay/refund.py", table("commands/shell")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text("x")
    return tmp_path


def edits(command: str, root: Path) -> tuple[tuple[str, ...], str]:
    return edits_of(command.replace("FILE", FILE).replace("ROOT", str(root)), str(root), str(root))


@pytest.mark.parametrize("kind", SHELL["edits"])
def test_a_command_that_edits_a_file_is_seen_to_do_so(kind: str, root: Path) -> None:
    commands = SHELL["edits"][kind]
    none_of(it for it in commands if str(root / FILE) not in edits(it, root)[0])


@pytest.mark.parametrize("command", SHELL["with_a_text"])
def test_of_a_here_document_the_file_and_the_text_are_seen(command: str, root: Path) -> None:
    paths, text = edits(command, root)
    assert str(root / FILE) in paths
    assert "x = 1" in text


def test_a_command_that_only_reads_edits_nothing(root: Path) -> None:
    none_of(it for it in SHELL["reads"] if edits(it, root)[0] not in ((), ("/tmp/a.py",)))


def test_a_command_on_many_files_names_no_edit(root: Path) -> None:
    for at in range(60):
        (root / f"src/{at}.py").write_text("x")
    for command in ("black .", "rm -rf src", "sed -i s/a/b/ src/*.py"):
        assert edits_of(command, str(root), str(root))[0] == ()


@given(st.text(st.sampled_from(list("'\"\\$(){}<>|;&\n =-*[]~#aF/.")), max_size=80))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for command in (text, f"sed -i {text}", f"cat <<{text}", f"bash -c {text}", f"A={text}; rm $A"):
        edits_of(command, "/nowhere", "/")


@pytest.mark.long  # it costs much
def test_odd_and_long_commands_are_read_soon() -> None:
    """Each would take minutes if its time grew with the square of its length."""
    for text in ("'", '"', '\\"', "$(", "<<a\n", "(", "a=a;$a ", "{a,a}", "bash -c '", "\\", "# "):
        edits_of(f"rm {text * 8_000}", "/nowhere", "/")
