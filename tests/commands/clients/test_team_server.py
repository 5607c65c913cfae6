"""Tests the entries that setup writes for a server that others run."""

import json
import os
import re
import tomllib
from typing import Any

import pytest

from commands.clients.entries import AddressError, checked_url
from commands.clients.table import CLIENTS, KEY_VARIABLE, LEVELS, TEAM_ENTRY, Level
from tests.support.costly import one_in
from tests.support.documents import text_of
from tests.support.setup_bench import Bench

URL = "https://memory.example.com/mcp"
TAKING = [client for client in CLIENTS if client.http]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")


def entry(bench: Bench, file: str) -> Any:
    data = bench.data(file)
    tables = next(data[key] for key in ("mcpServers", "servers", "mcp_servers") if key in data)
    return tables[TEAM_ENTRY]


@pytest.mark.row("002 2.81")
def test_the_document_shows_each_entry_as_it_is_written(bench: Bench) -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| `([^`]+)`, `\w+` \| `([^`]+)` \|$", text_of("docs/clients.md"), re.M
    )
    bench.do(*(it.key for it in TAKING), url=URL)
    told = [
        tomllib.loads(f"it = {text}")["it"] if file.endswith(".toml") else json.loads(text)
        for _, file, text in rows
    ]
    assert told == [entry(bench, f"root/{file}") for _, file, _ in rows]
    assert [client for client, _, _ in rows] == [it.name for it in TAKING]


@pytest.mark.parametrize(
    ("client", "level"),
    one_in(3, [(it.key, level) for it in TAKING for level in LEVELS if level in it.entry], names=2),
)
def test_it_comes_beside_our_own_entry_and_goes_without_a_trace(
    client: str, level: Level, bench: Bench
) -> None:
    bench.do(client, level=level)
    before = bench.files()
    for oauth in (False, True, False):
        given: dict[str, Any] = {"level": level, "url": URL, "oauth": oauth}
        bench.do(client, **given)
        assert bench.plan(client, **given).changes == []
        assert bench.plan(client, level=level).changes == []
        there = b"".join(bench.files().values())
        assert (KEY_VARIABLE.encode() in there) == (not oauth)
    bench.do(client, level=level, remove=True, url=URL)
    assert bench.files() == before
    bench.do(client, level=level, url=URL)
    bench.do(client, level=level, remove=True)
    assert bench.files() == {}


def test_what_the_user_has_put_into_the_entry_stays(bench: Bench) -> None:
    own = {"url": "http://old.example.com/mcp", "headers": {"X-Team": "shop"}, "timeout": 5}
    bench.put({"root/.cursor/mcp.json": {"mcpServers": {TEAM_ENTRY: own}}})
    bench.do("cursor", url=URL)
    headers = {"X-Team": "shop", "Authorization": "Bearer ${env:SENTINEL_MEMORY_KEY}"}
    assert entry(bench, "root/.cursor/mcp.json") == {**own, "url": URL, "headers": headers}


def test_an_entry_of_that_name_that_starts_a_program_is_left_alone(bench: Bench) -> None:
    bench.put({"root/.mcp.json": {"mcpServers": {TEAM_ENTRY: {"command": "x"}}}})
    for remove in (False, True):
        planned = bench.plan("claude-code", url=URL, remove=remove, approvals=False)
        assert planned.changes == []
    assert [it.key for it in bench.plan("claude-code", url=URL).problems] == ["foreign_entry"]


def test_a_model_that_would_see_the_tools_twice_is_told_of(bench: Bench) -> None:
    assert bench.plan("cursor", url=URL).notes == []
    bench.do("cursor", rooms=("lessons", "fragments"))
    [note] = bench.plan("cursor", url=URL).notes
    assert (note.key, note.facts["rooms"]) == ("offered_twice", "fragments")


def test_addresses_are_places_and_nothing_else() -> None:
    good = {
        "https://memory.example.com": URL,
        "https://memory.example.com/": URL,
        f" {URL} ": URL,
        f"{URL}/": URL,
        "http://127.0.0.1:56332/mcp": "http://127.0.0.1:56332/mcp",
        "http://[::1]:56332": "http://[::1]:56332/mcp",
        "https://example.com/team/mcp/": "https://example.com/team/mcp",
    }
    assert {given: checked_url(given) for given in good} == good
    bad = {
        "memory.example.com": "bad_url",
        "ftp://memory.example.com": "bad_url",
        "https://": "bad_url",
        "https://memory.example.com:99999": "bad_url",
        "https://memory.example.com/${HOME}": "bad_url",
        "https://memory.example.com/mcp?x=1": "bad_url",
        'https://memory.example.com/"': "bad_url",
        "https://ann:word@memory.example.com": "url_secret",
        "https://memory.example.com/mcp?key=smk_" + "a" * 43: "url_secret",
    }
    for given, key in bad.items():
        with pytest.raises(AddressError) as raised:
            checked_url(given)
        assert raised.value.key == key, given
