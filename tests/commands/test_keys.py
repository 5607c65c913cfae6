"""Tests that a key which a command makes opens the door of a server over HTTP."""

import os
import re
import sys
from pathlib import Path

import pytest

from http_server.access_keys import keys_of
from http_server.papers import papers_of
from tests.support.cli_process import Command

SECRET = re.compile(r"smk_[A-Za-z0-9_-]{43}")


@pytest.mark.row("004 4.17", "002 2.10.g")
def test_a_key_is_printed_once_and_opens_the_door_until_it_is_removed(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("SENTINEL_MEMORY_FRAGMENTS", "SENTINEL_MEMORY_ACCESS_KEY", "MEMENTO_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    with monkeypatch.context() as narrow:
        narrow.setenv("COLUMNS", "24")
        narrow.setattr(sys.stdout, "isatty", lambda: True)
        [secret] = SECRET.findall(command("keys", "add", "laptop").out)
    listing, data = command("keys", "list"), command("keys", "list", "--json")
    assert command("keys") == listing
    assert listing.lines[-1] == "Keys: 1."
    [key] = data.told["keys"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", key.pop("madeAt"))
    expected = {"name": "laptop", "agent": "default", "usedAt": None, "tokens": 0}
    assert key == expected
    credential = keys_of(os.environ, papers_of(os.environ)).check(secret)
    assert credential
    assert (credential.name, credential.agent) == ("laptop", "default")
    for text in (listing.out, data.out):
        assert "laptop" in text and secret not in text and credential.paper not in text
    assert command("keys", "remove", "laptop").code == 1  # nobody was there to say yes
    assert command("keys", "remove", "laptop", "--dry-run").code == 0
    keys = keys_of(os.environ, papers_of(os.environ))
    assert keys.check(secret)
    removed = command("keys", "remove", "laptop", "--yes")
    assert (removed.code, removed.lines[-1]) == (0, "Removed: key laptop, tokens 0.")
    assert keys.check(secret) is None
