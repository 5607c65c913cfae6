"""Tests `config.json`: every key works, and what is wrong is said by its key."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.config import Settings
from core.errors import RefusedError
from rooms.sessions.config import Config, config_path, read_config
from rooms.sessions.session import Draft
from rooms.sessions.store import exist_in, open_sessions
from tests.support.tables import none_of, table

TABLE = table("sessions/settings")  # values by key: taken with the field they set, and refused


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


@pytest.mark.row("003 T1.a", "003 T75", "003 T76", "003 T77")
def test_each_key_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config()
    assert Config().database(tmp_path) == tmp_path / ".context" / "sessions" / "history.db"
    assert os.listdir(tmp_path) == []
    for name, (value, fields) in TABLE["changed"].items():
        write(tmp_path, with_value(name, value))
        expected: Any = {
            field: tuple(it) if isinstance(it, list) else it for field, it in fields.items()
        }
        assert read_config(tmp_path) == Config(**expected), name
    # Keys that nobody knows and a mark before the file are read over.
    known = {"keepJsonSync": False, "other": [1]}
    text = json.dumps({"other": 1, "storage": known, "search": {}})
    write(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert read_config(tmp_path) == Config(keeps_json=False)


@pytest.mark.row("003 T77.a")
def test_every_wrong_value_is_refused_by_its_key(tmp_path: Path) -> None:
    passed = []
    for name, values in TABLE["wrong"].items():
        for value in values:
            path = write(tmp_path, with_value(name, value))
            said = refusal(tmp_path)
            if not (said.startswith(f"{path}: {name} must be ") and "Nothing was saved" in said):
                passed.append((name, value, said))
    none_of(passed)


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
