"""Tests the entries that setup writes for a server that others run."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands.setup.client_table import CLIENTS, TEAM_ENTRY
from commands.setup.files import LEVELS, Level, Tree
from commands.setup.remote.address import KEY_VARIABLE, AddressError, checked_url
from core.messages import Language
from tests.support.costly import one_in
from tests.support.desk import Desk
from tests.support.documents import text_of
from tests.support.sentences import sentence
from tests.support.setup_bench import Bench
from tests.support.tables import table

ROWS = table("commands/remote_entries")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the bench has paths of POSIX")

URL = "https://memory.example.com/mcp"
TAKING = [client for client in CLIENTS if client.remote]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "shop", tmp_path / "home")


def entry(bench: Bench, file: str) -> Any:
    text = bench.path(file).read_text("utf-8")
    data = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    tables = next(data[key] for key in ("mcpServers", "servers", "mcp_servers") if key in data)
    return tables[TEAM_ENTRY]


@pytest.mark.row("002 2.81")
def test_each_client_gets_its_own_form_with_the_name_of_the_variable(bench: Bench) -> None:
    bench.put({})
    bench.take(bench.plan(*(it.key for it in TAKING), url=URL))

    expected: dict[str, Any] = ROWS["each_client_gets_its_own_form"]
    assert {file: entry(bench, file) for file in expected} == expected


@pytest.mark.parametrize("name", ["docs/clients.md", "docs/clients.ko.md"])
def test_the_document_shows_each_entry_as_it_is_written(name: str, bench: Bench) -> None:
    rows = re.findall(r"^\| ([^|]+) \| `([^`]+)`, `\w+` \| `([^`]+)` \|$", text_of(name), re.M)
    bench.put({})
    bench.take(bench.plan(*(it.key for it in TAKING), url=URL))
    told = [
        tomllib.loads(f"it = {text}")["it"] if file.endswith(".toml") else json.loads(text)
        for _, file, text in rows
    ]
    assert told == [entry(bench, f"root/{file}") for _, file, _ in rows]
    assert [client for client, _, _ in rows] == [it.name for it in TAKING]


@pytest.mark.long  # it costs much
@pytest.mark.parametrize(
    ("client", "level"),
    one_in(
        2,
        [(it.key, level) for it in TAKING for level in LEVELS if it.of_user or level != "user"],
        names=2,
    ),
)
def test_it_comes_beside_our_own_entry_and_goes_without_a_trace(
    client: str, level: Level, bench: Bench
) -> None:
    bench.put({})
    bench.take(bench.plan(client, level=level))
    before = bench.files()
    for oauth in (False, True, False):
        given: dict[str, Any] = {"level": level, "url": URL, "oauth": oauth}
        bench.take(bench.plan(client, **given))
        assert bench.plan(client, **given).changes == ()
        assert bench.plan(client, level=level).changes == ()
        there = b"".join(bench.files().values())
        assert (KEY_VARIABLE.encode() in there) == (not oauth)
    bench.take(bench.plan(client, level=level, remove=True, url=URL))
    assert bench.files() == before
    bench.take(bench.plan(client, level=level, url=URL))
    bench.take(bench.plan(client, level=level, remove=True))
    assert bench.files() == {}


def test_a_file_that_stays_on_this_machine_stays_so(bench: Bench) -> None:
    bench.put({})
    exclude = bench.root / ".git" / "info" / "exclude"
    tree = Tree(exclude, "", frozenset())
    bench.take(bench.plan("claude-code", tree=tree))
    kept_out = exclude.read_bytes()
    assert b".claude/settings.local.json" in kept_out
    for remove in (False, True):
        bench.take(bench.plan("claude-code", tree=tree, url=URL, remove=remove))
        assert exclude.read_bytes() == kept_out


def test_what_the_user_has_put_into_the_entry_stays(bench: Bench) -> None:
    own = {"url": "http://old.example.com/mcp", "headers": {"X-Team": "shop"}, "timeout": 5}
    bench.put({"root/.cursor/mcp.json": json.dumps({"mcpServers": {TEAM_ENTRY: own}})})
    planned = bench.plan("cursor", url=URL)
    bench.take(planned)
    headers = {"X-Team": "shop", "Authorization": "Bearer ${env:SENTINEL_MEMORY_KEY}"}
    expected = {**own, "url": URL, "headers": headers}
    assert entry(bench, "root/.cursor/mcp.json") == expected


def test_an_entry_of_that_name_that_starts_a_program_is_left_alone(bench: Bench) -> None:
    files = {"root/.mcp.json": json.dumps({"mcpServers": {TEAM_ENTRY: {"command": "x"}}})}
    bench.put(files)
    for remove in (False, True):
        planned = bench.plan("claude-code", url=URL, remove=remove, approvals=False)
        assert planned.changes == ()
    assert [it.key for it in bench.plan("claude-code", url=URL).problems] == ["foreign_entry"]


def test_a_model_that_would_see_the_tools_twice_is_told_of(bench: Bench) -> None:
    bench.put({})
    assert bench.plan("cursor", url=URL).notes == ()
    bench.do("cursor", rooms=("lessons", "fragments"))
    [note] = bench.plan("cursor", url=URL).notes
    assert (note.key, note.facts["rooms"]) == ("offered_twice", "fragments")


def test_addresses_are_places_and_nothing_else() -> None:
    good = {
        "https://memory.example.com": URL,
        "https://memory.example.com/": URL,
        f" {URL} ": URL,
        "http://127.0.0.1:56332/mcp": "http://127.0.0.1:56332/mcp",
        "http://[::1]:56332": "http://[::1]:56332/mcp",
        "https://example.com/team/mcp": "https://example.com/team/mcp",
    }
    assert {given: checked_url(given) for given in good} == good
    secret = "https://memory.example.com/mcp?key=smk_" + "a" * 43
    bad = {
        "memory.example.com": "bad_url",
        "ftp://memory.example.com": "bad_url",
        "https://": "bad_url",
        "https://memory.example.com:99999": "bad_url",
        "https://memory.example.com/${HOME}": "bad_url",
        "https://memory.example.com/mcp?x=1": "bad_url",
        'https://memory.example.com/"': "bad_url",
        "https://ann:word@memory.example.com": "url_secret",
        secret: "url_secret",
    }
    found = {}
    for given in bad:
        with pytest.raises(AddressError) as raised:
            checked_url(given)
        found[given] = raised.value.fault
    assert found == bad


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_person_is_told_what_is_left_to_do(lang: Language, desk: Desk) -> None:
    key = "smk_" + "k" * 43
    told = {"SENTINEL_MEMORY_LANG": lang}
    given = ("setup", "claude-code", "codex", "claude-desktop", "--url", URL, "--yes")
    code, out, errors = desk.run(*given, **told)
    assert (code, errors) == (0, "")
    facts = {"variable": KEY_VARIABLE, "line": f"export {KEY_VARIABLE}=smk_…"}
    flat = " ".join(out.split())
    assert " ".join(sentence(lang, "setup.next_key", **facts).split()) in flat
    files = ".mcp.json, .codex/config.toml"
    assert " ".join(sentence(lang, "setup.next_commit_remote", files=files).split()) in flat
    assert " ".join(sentence(lang, "setup.no_remote_claude-desktop", url=URL).split()) in flat
    assert not (desk.root / ".context").exists()
    code, out, errors = desk.run(*given[:-1], "--yes", **told, SENTINEL_MEMORY_KEY=key)
    assert (code, key in out) == (0, False)
    code, out, errors = desk.run(*given, "--url", f"{URL}?key={key}", **told)
    assert (code, key in out + errors) == (2, False)
    code, out, errors = desk.run("setup", "cursor", "--oauth", **told)
    assert code == 2 and "--url" in errors
