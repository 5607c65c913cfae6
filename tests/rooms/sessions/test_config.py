"""Tests `config.json`: every key works, and what is wrong is said by its key."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.errors import RefusedError
from core.room.documents import ConfigError
from rooms.sessions.config import Config, config_path, read_config
from rooms.sessions.session import Draft
from rooms.sessions.store import exist_in, open_sessions


def write(root: Path, content: object) -> Path:
    """Write settings: bytes as they are, anything else as JSON."""
    path = config_path(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def with_value(name: str, value: object) -> object:
    """The settings with one key, given as `storage.location`."""
    for key in reversed(name.split(".")):
        value = {key: value}
    return value


def refusal(root: Path) -> str:
    """What is said of the file; nothing else can be done either, and nothing is made."""
    with pytest.raises(RefusedError) as caught:
        read_config(root)
    for action in (lambda: open_sessions(root, Settings()), lambda: exist_in(root)):
        with pytest.raises(type(caught.value)):
            action()
    return str(caught.value)


def test_without_a_file_the_defaults_hold_and_nothing_is_made(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    assert Config().database(tmp_path) == tmp_path / ".context" / "sessions" / "history.db"
    assert os.listdir(tmp_path) == []


# fmt: off
CHANGED: dict[str, tuple[Any, dict[str, Any]]] = {
    "storage.location": ("data/sessions", {"folder": "data/sessions"}),
    "storage.dbFile": ("own.db", {"db_file": "own.db"}),
    "storage.keepJsonSync": (False, {"keeps_json": False}),
    "actionLogging.enabled": (False, {"logs_actions": False}),
    "actionLogging.commands.include": ([], {"include": ()}),
    "actionLogging.commands.exclude": (["x y"], {"exclude": ("x y",)}),
    "actionLogging.edits": (False, {"logs_edits": False}),
    "actionLogging.errors": (False, {"logs_errors": False}),
    "search.defaultLimit": (7, {"default_limit": 7}),
    "search.ftsLanguage": ("trigram", {"tokenizer": "trigram"}),
    "recommendations.enabled": (False, {"recommends": False}),
    "recommendations.showOnSessionStart": (False, {"shows_at_start": False}),
    "recommendations.warnOnFailedPatterns": (False, {"warns": False}),
}
WRONG: dict[str, list[Any]] = {
    "storage.location": [
        *("", ".", "./", "/tmp", "..", "../other", "a/../../b", "a/../b", "~", "~/x", "C:\\x"),
        *("C:/x", "\\\\host\\x", ".git", "a/.git/b", "a\nb", "a\x00b", "\ud800", 7, None, [], True),
    ],
    "storage.dbFile": [
        *("", "history", "a/b.db", "../b.db", "a\\b.db", ".db", ".hidden.db", "a\x00.db", "a?.db"),
        *("C:x.db", "archive-2024.db", "x.sqlite", 7, None, [], {}),
    ],
    "storage.keepJsonSync": ["true", 1, 0, None, []],
    "actionLogging.enabled": ["no", 1, None],
    "actionLogging.commands.include": ["npm", [1], [None], {}, None],
    "actionLogging.commands.exclude": ["npm", ["a", []], None],
    "actionLogging.edits": ["yes", 1.0],
    "actionLogging.errors": [[], {}],
    "search.defaultLimit": [0, 21, -1, 5.0, "5", True, None, 10**30, float("nan"), float("inf")],
    "search.ftsLanguage": ["korean", "unicode61; DROP TABLE contexts", 7, None, [], {}],
    "recommendations.enabled": ["true"],
    "recommendations.showOnSessionStart": [1],
    "recommendations.warnOnFailedPatterns": [None],
}
# fmt: on


@pytest.mark.row("003 T1.a", "003 T75", "003 T76", "003 T77")
def test_each_key_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    wrong = []
    for name, (value, fields) in CHANGED.items():
        write(tmp_path, with_value(name, value))
        if read_config(tmp_path) != Config(**fields):
            wrong.append(name)
    assert wrong == []


def test_keys_that_nobody_knows_and_a_mark_before_the_file_are_read_over(tmp_path: Path) -> None:
    known = {"keepJsonSync": False, "other": [1]}
    text = json.dumps({"other": 1, "storage": known, "search": {}})
    write(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert read_config(tmp_path) == Config(keeps_json=False)


@pytest.mark.row("003 T77.a")
def test_every_wrong_value_is_refused_by_its_key(tmp_path: Path) -> None:
    passed = []
    for name, values in WRONG.items():
        for value in values:
            path = write(tmp_path, with_value(name, value))
            try:
                read_config(tmp_path)
            except ConfigError as error:
                said = str(error)
                if said.startswith(f"{path}: {name} must be ") and "Nothing was saved" in said:
                    continue
            passed.append((name, value))
    assert passed == []


def test_a_group_of_keys_that_is_no_object_is_refused_by_its_name(tmp_path: Path) -> None:
    odd: list[object] = [None, [], "x", 7]
    for name in {name.rpartition(".")[0] for name in CHANGED}:
        for value in odd:
            write(tmp_path, with_value(name, value))
            assert f"{name} must be an object" in refusal(tmp_path)


HOSTILE: dict[str, bytes] = {
    "deep": b"[" * 90_000,
    "deep objects": b'{"a":' * 15_000,
    "huge": b'{"a": "' + b"x" * 200_000 + b'"}',
    "a huge number": b'{"search": {"defaultLimit": ' + b"9" * 90_000 + b"}}",
    "a list": b"[]",
    "a text": b'"x"',
    "null": b"null",
    "cut off": b'{"storage": ',
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "empty": b"",
    "NUL": b"\x00" * 100,
    "comments": b'{} // "x"',
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_json_object_is_said_and_stays_as_it_is(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, HOSTILE[kind])
    said = refusal(tmp_path)
    expected = "search.defaultLimit must be" if kind == "a huge number" else "is not a JSON object"
    assert str(path) in said and (expected in said or "is not a JSON object" in said)
    assert path.read_bytes() == HOSTILE[kind]
    assert sorted(os.listdir(path.parent)) == ["config.json"]


# links, and what is no file


def link(at: Path, to: str) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    try:
        at.symlink_to(to)
    except OSError:
        pytest.skip("this system lets nobody make links")


@pytest.mark.parametrize("target", ["nowhere.json", "/dev/null", "/dev/zero", ".", "a pipe"])
def test_a_link_that_leads_to_no_settings_is_said_and_a_pipe_is_not_waited_for(
    tmp_path: Path, target: str
) -> None:
    if target == "a pipe" and os.name == "posix":
        config_path(tmp_path).parent.mkdir(parents=True)
        os.mkfifo(config_path(tmp_path))
    else:
        link(config_path(tmp_path), target)
    assert "is not a JSON object" in refusal(tmp_path)


@pytest.mark.row("003 T1.b")
@pytest.mark.parametrize("linked", ["data", ".context", ".context/sessions"])
def test_a_directory_that_a_link_leads_out_of_the_project_is_refused_by_the_key(
    tmp_path: Path, linked: str
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    link(project / linked, str(outside))
    if linked == "data":
        write(project, with_value("storage.location", "data/sessions"))
        assert "storage.location must be a directory inside the project" in refusal(project)
    else:
        said = refusal(project)
        assert f"{project / linked} is a symbolic link that leads out of the project" in said
        assert f"rm {project / linked}" in said and "Nothing was read or written" in said
    assert os.listdir(outside) == []


def test_a_link_inside_the_project_may_hold_the_sessions(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    link(tmp_path / ".context" / "sessions", "../data")
    store = open_sessions(tmp_path, Settings())
    store.save(Draft(goal="g"), agent="a", process="p")
    assert (tmp_path / "data" / "history.db").is_file()
    assert store.get("#1").goal == "g"
