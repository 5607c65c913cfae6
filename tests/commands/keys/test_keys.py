"""Tests the commands for the keys of a server over HTTP."""

import json
import os
import re
from pathlib import Path

import pytest

import cli
from http_server.papers_here import keys_of, papers_of

SECRET = re.compile(r"smk_[A-Za-z0-9_-]{43}")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_ACCESS_KEY", "MEMENTO_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.row("004 4.17")
def test_a_key_is_printed_once_and_opens_the_door(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["keys", "add", "laptop"]) == 0
    [secret] = SECRET.findall(capsys.readouterr().out)
    credential = keys_of(os.environ, papers_of(os.environ)).check(secret)
    assert credential
    assert (credential.name, credential.agent) == ("laptop", "default")
    assert cli.main(["keys", "list"]) == 0
    assert cli.main(["keys", "--json"]) == 0
    told = capsys.readouterr().out
    assert "laptop" in told
    assert secret not in told
    assert credential.paper not in told


def test_the_data_say_what_is_known_of_each_key(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["keys", "add", "laptop"])
    capsys.readouterr()
    cli.main(["keys", "list", "--json"])
    [key] = json.loads(capsys.readouterr().out)["keys"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", key.pop("madeAt"))
    expected = {"name": "laptop", "agent": "default", "usedAt": None, "tokens": 0, "sessions": 0}
    assert key == expected


@pytest.mark.row("002 2.10.g")
def test_a_removed_key_opens_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["keys", "add", "laptop"])
    [secret] = SECRET.findall(capsys.readouterr().out)
    assert cli.main(["keys", "remove", "laptop"]) == 1  # nobody was there to say yes
    assert cli.main(["keys", "remove", "laptop", "--dry-run"]) == 0
    keys = keys_of(os.environ, papers_of(os.environ))
    assert keys.check(secret)
    assert cli.main(["keys", "remove", "laptop", "--yes"]) == 0
    assert "Removed: key laptop, tokens 0, sessions 0." in capsys.readouterr().out
    assert keys.check(secret) is None
    assert cli.main(["keys", "remove", "laptop", "--yes"]) == 1
    assert "There is no key named laptop." in capsys.readouterr().err


@pytest.mark.long  # it costs much
def test_names_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["keys", "add", "laptop"])
    capsys.readouterr()
    for arguments, told in (
        (["laptop"], "There is a key named laptop already."),
        ([" "], "The name of the key is blank."),
        (["x" * 61], "has 61 characters"),
        (["a\x07b"], "contains a control character"),
        (["ghp_a7Kq9ZxB3mTr0LwYc5HnVe8PdJf2GsUo1234"], "The name looks like a secret, and names"),
        (["environment"], "There is a key named environment already."),
        (["x", "--agent", "admin"], "admin is no name that an agent may have."),
        (["x", "--agent", "alice"], "Fragments in a SQLite file are one person's"),
    ):
        assert cli.main(["keys", "add", *arguments]) == 1, arguments
        answer = capsys.readouterr()
        assert told in answer.err, arguments
        assert not SECRET.search(answer.out)


def test_a_short_key_of_the_environment_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMENTO_ACCESS_KEY", "too-short-really")
    assert cli.main(["keys", "list"]) == 0
    monkeypatch.setenv("MEMENTO_ACCESS_KEY", "too-short-reall")
    assert cli.main(["keys", "list"]) == 1
    told = capsys.readouterr().err
    assert "MEMENTO_ACCESS_KEY is shorter than 16 characters" in told
    assert "too-short" not in told


def test_a_key_that_is_given_as_a_name_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["keys", "remove", "smk_" + "x" * 43, "--yes"])
    assert "smk_x" not in capsys.readouterr().err
