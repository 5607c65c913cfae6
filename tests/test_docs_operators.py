"""Tests that what operators copy names settings, flags and commands that the program knows."""

import argparse
import re
from functools import cache

import pytest

import cli
from core.parser import Parser, add_serving
from http_server.limits import MOST_BYTES
from tests.support.documents import blocks, text_of
from tests.support.stdio_client import ROOT
from tests.test_docs_commands import OPTION, OPTIONS, calls

yaml = pytest.importorskip("yaml", reason="there is no PyYAML here to parse the file with")
HERE = "docs/operators"
PAGE = "docs/team.md"
SAMPLE, COMPOSE = f"{HERE}/example.env", f"{HERE}/compose.yaml"
OF_OTHERS = {"MEMORY_NAME", "FORWARDED_ALLOW_IPS"}  # of these files themselves, of uvicorn
NAME = r"[A-Z][A-Z0-9]*_[A-Z0-9_]+|PORT"


@cache
def sources() -> str:
    rooms = ("core", "rooms", "http_server", "commands")
    paths = [path for room in rooms for path in ROOT.glob(f"{room}/**/*.py")]
    return "".join(path.read_text(encoding="utf-8") for path in paths)


def names_of(sample: str) -> list[str]:
    return re.findall(rf"^({NAME})=", sample, re.M)


def test_the_sample_names_only_settings_that_are_read() -> None:
    names = names_of(text_of(SAMPLE))
    assert "SENTINEL_MEMORY_FRAGMENTS" in names
    assert [it for it in names if f'"{it}"' not in sources() and it not in OF_OTHERS] == []


def test_compose_takes_what_it_needs_from_the_sample() -> None:
    text = text_of(COMPOSE)
    services = yaml.safe_load(text)["services"]
    assert set(re.findall(r"(?<!\$)\$\{(\w+)\}", text)) <= set(names_of(text_of(SAMPLE)))
    servers = [it for it in services.values() if it.get("env_file")]
    assert len(servers) == 2
    assert all("/health" in it["healthcheck"]["test"][-1] for it in servers)
    for name in (it for it in services if it.startswith("memory-")):
        assert f"{name}:56332" in text_of(f"{HERE}/Caddyfile")


def test_the_image_starts_the_server_with_flags_that_it_takes() -> None:
    parser = Parser(prog="server")
    add_serving(parser)
    flags = set(re.findall(r"--(?:http|host|url|rooms)\b", text_of(f"{HERE}/Dockerfile")))
    known = {option for action in parser._actions for option in action.option_strings}
    assert flags == {"--http", "--host", "--url", "--rooms"}
    assert flags - {"--rooms"} <= known


def test_the_table_of_flags_holds_every_flag_of_the_door() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_serving(parser)
    flags = {option for action in parser._actions for option in action.option_strings}
    told = set(re.findall(r"^\| `(--[\w-]+)", text_of(PAGE), re.M))
    assert told == flags | {"--rooms"}


def test_the_table_of_settings_names_only_what_is_read() -> None:
    cells = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", text_of(PAGE), re.M)
    names = {it for cell in cells for it in re.findall(r"`([A-Z_]+)`", cell)}
    assert {it for it in names if f'"{it}"' not in sources()} == set()
    prefixes = ("POSTGRES_", "DB_", "REDIS_", "CACHE_")
    read = {it for it in re.findall(rf'"({NAME})"', sources()) if it.startswith(prefixes)}
    assert read <= names


def test_every_command_of_the_page_exists() -> None:
    found = calls(text_of(PAGE))
    assert {command for command, _ in found} >= {"doctor", "keys", "fragments", "import", "export"}
    for command, rest in found:
        action = f"{command} {''.join(rest.split()[:1])}"
        assert {command, action} & cli.COMMANDS.keys()
        assert set(re.findall(OPTION, rest)) <= OPTIONS[command]


def test_nginx_passes_on_what_the_server_takes_and_believes_no_client() -> None:
    [block] = blocks(text_of(PAGE), "nginx")
    [mebibytes] = re.findall(r"client_max_body_size (\d+)m;", block)
    assert int(mebibytes) * 1024 * 1024 > MOST_BYTES  # so that the sentence is the server's
    assert "X-Forwarded-For $remote_addr;" in block and "Host $host;" in block
