"""Tests the commands for the keys of a server over HTTP."""

import os
import re
from pathlib import Path

import pytest

from http_server.keys import keys_of
from http_server.papers import FILE_NAME, papers_of
from tests.support.cli_process import Command

SECRET = re.compile(r"smk_[A-Za-z0-9_-]{43}")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_ACCESS_KEY", "MEMENTO_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.row("004 4.17")
@pytest.mark.row("002 2.10.g")
def test_a_key_is_printed_once_and_opens_the_door_until_it_is_removed(command: Command) -> None:
    [secret] = SECRET.findall(command("keys", "add", "laptop").out)
    listed, data = command("keys", "list"), command("keys", "list", "--json")
    assert command("keys") == listed
    assert listed.lines[-1] == "Keys: 1."
    [key] = data.told["keys"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", key.pop("madeAt"))
    expected = {"name": "laptop", "agent": "default", "usedAt": None, "tokens": 0}
    assert key == expected
    credential = keys_of(os.environ, papers_of(os.environ)).check(secret)
    assert credential
    assert (credential.name, credential.agent) == ("laptop", "default")
    for told in (listed.out, data.out):
        assert "laptop" in told and secret not in told and credential.paper not in told
    assert command("keys", "remove", "laptop").code == 1  # nobody was there to say yes
    assert command("keys", "remove", "laptop", "--dry-run").code == 0
    keys = keys_of(os.environ, papers_of(os.environ))
    assert keys.check(secret)
    removed = command("keys", "remove", "laptop", "--yes")
    assert (removed.code, removed.lines[-1]) == (0, "Removed: key laptop, tokens 0.")
    assert keys.check(secret) is None


def test_a_short_key_of_the_environment_and_a_key_given_as_a_name_are_not_shown(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "smk_x" not in command("keys", "remove", "smk_" + "x" * 43, "--yes").errors
    monkeypatch.setenv("MEMENTO_ACCESS_KEY", "too-short-if-one-is-gone")
    assert command("keys", "list").code == 0
    monkeypatch.setenv("MEMENTO_ACCESS_KEY", "too-short-if-one-is-gon")
    refused = command("keys", "list")
    assert (refused.code, "too-short" in refused.errors) == (1, False)
    assert "MEMENTO_ACCESS_KEY is shorter than 24 characters" in refused.errors


def test_a_blank_agent_gets_no_key_of_everybody(command: Command) -> None:
    """As a script gives it whose variable is empty."""
    for blank in ("", " "):
        done = command("keys", "add", "ci", "--agent", blank)
        assert (done.code, SECRET.search(done.out)) == (1, None)
        assert done.errors.startswith("The agent of the key is blank. No key was made.")
    assert command("keys", "list", "--json").told == {"keys": []}


def test_where_no_key_was_found_is_told(command: Command, home: Path) -> None:
    """Another shell than the server's may look into another place."""
    place = str(home / "sentinel-memory" / FILE_NAME)
    for done in (command("keys"), command("keys", "remove", "laptop", "--yes")):
        assert place in "".join((done.out + done.errors).split("\n")), done


def test_a_name_that_is_none_or_taken_gets_no_key(command: Command) -> None:
    command("keys", "add", "laptop")
    for name, told in {
        "laptop": "There is a key named laptop already.",
        "a\x07b": "contains a control character",
        "ghp_a7Kq9ZxB3mTr0LwYc5HnVe8PdJf2GsUo1234": "The name looks like a secret, and names",
    }.items():
        done = command("keys", "add", name)
        assert (done.code, told in done.errors, SECRET.search(done.out)) == (1, True, None)
