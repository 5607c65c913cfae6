"""Tests what the environment says of how the server is reached over HTTP."""

import argparse
import json
import os
import stat
from logging.handlers import TimedRotatingFileHandler
from pathlib import Path

import pytest

from core.parser import add_serving
from http_server.options import Options, read_options
from http_server.run import KEPT_DAYS, daily_file
from tests.support.http_server import HttpServer

ORIGIN = "https://pages.example"
MEMENTO_KEY = "the-key-of-the-specification-0123"


def options_of(*given: str, **environment: str) -> Options:
    parser = argparse.ArgumentParser()
    add_serving(parser)
    parser.add_argument("--project")
    return read_options(parser.parse_args(given), environment, ("fragments",))


@pytest.mark.row("002 2.2", "002 2.3", "002 2.67.a")
def test_what_nobody_says_is_as_the_specification_says_it() -> None:
    read = options_of("--http")
    assert (read.port, read.host, read.ttl_s) == (56332, "127.0.0.1", 3600)
    assert (read.with_sse, read.is_open, read.origins, read.log_directory) == (False, False, (), "")


@pytest.mark.row("002 2.3")
def test_the_environment_says_port_origins_end_and_log() -> None:
    given = {"PORT": "8080", "SESSION_TTL_MINUTES": "5", "LOG_DIR": "/var/log/mcp"}
    read = options_of("--http", **given, ALLOWED_ORIGINS=f"{ORIGIN}, http://localhost:3000/")
    assert (read.port, read.ttl_s, read.log_directory) == (8080, 300, "/var/log/mcp")
    assert read.origins == (ORIGIN, "http://localhost:3000")
    assert options_of("--http", "9000", PORT="8080").port == 9000


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.67", "002 2.68", "002 2.69")
def test_the_names_of_the_specification_work_in_a_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    given = {
        "MEMENTO_ACCESS_KEY": MEMENTO_KEY,
        "ALLOWED_ORIGINS": ORIGIN,
        "LOG_DIR": str(log),
    }
    with HttpServer(tmp_path, key="", environment=given) as server:
        assert server.ask("POST", "/mcp", {})[0] == 401
        server.begin(key=MEMENTO_KEY)
        status, headers, body = server.ask("GET", "/health", headers={"Origin": ORIGIN})
        assert status == 200 and headers["access-control-allow-origin"] == ORIGIN
        assert json.loads(body) == {"status": "ok"}
        [file] = log.iterdir()
        text = file.read_text(encoding="utf-8")
        assert server.url in text and MEMENTO_KEY not in text + server.said
        if os.name == "posix":
            assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.row("002 2.68")
def test_the_log_begins_a_file_each_day_and_keeps_some(tmp_path: Path) -> None:
    daily = daily_file(str(tmp_path), 1)
    assert isinstance(daily, TimedRotatingFileHandler)
    daily.close()
    assert (daily.when, daily.backupCount, daily.utc) == ("MIDNIGHT", KEPT_DAYS, True)
