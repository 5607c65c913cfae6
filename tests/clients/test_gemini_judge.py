"""Tests that the real Gemini command line judges two texts without anything to act with."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from rooms.fragments.models.judge import RULE, Verdict, is_private, judge_of
from tests.clients.desk import GEMINI, NEEDS_CLIENTS
from tests.clients.stand_in_model import Events, Request, StandInModel

pytestmark = NEEDS_CLIENTS

SPY = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('started'); sys.stdin.read()"


class Model(StandInModel):
    """A model that decides, and keeps all that it was asked."""

    def __init__(self) -> None:
        super().__init__([])
        self.bodies: list[dict[str, Any]] = []

    def answer(self, request: Request) -> Events:
        self.bodies.append(request.body)
        return request.say('{"label": "contradiction", "confidence": 0.9}')


@pytest.fixture
def home() -> Iterator[Path]:
    """A home with a server and a hook; the program takes no settings from a directory for all."""
    here = Path(__file__).parent
    if not is_private(here):
        pytest.skip("others can write to a directory above this one")
    with TemporaryDirectory(prefix=".home-", dir=here, ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        GEMINI.settle(home)
        settings = json.loads((home / ".gemini/settings.json").read_text())
        settings["model"] = {"name": "gemini-2.5-pro"}
        spy = {"command": sys.executable, "args": ["-c", SPY, str(home / "server")]}
        settings["mcpServers"] = {"spy": spy}
        hook = {"type": "command", "command": f"touch {home}/hook; echo '{{}}'"}
        settings["tools"] = {"enableHooks": True}
        settings["hooks"] = {"SessionStart": [{"hooks": [hook]}]}
        (home / ".gemini/settings.json").write_text(json.dumps(settings))
        yield home


def test_it_gets_the_rule_and_the_texts_and_no_tool_hook_or_server(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "bin").mkdir()
    words = " ".join(f"'{word}'" for word in GEMINI.command)
    (home / "bin/gemini").write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    (home / "bin/gemini").chmod(0o755)
    with Model() as model:
        for name in [name for name in os.environ if name.startswith(("XDG_", "GEMINI"))]:
            monkeypatch.delenv(name)
        for name, value in GEMINI.environment.items():
            if name != "GEMINI_CLI_TRUST_WORKSPACE":
                monkeypatch.setenv(name, value.replace("URL", model.url))
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("PATH", f"{home}/bin{os.pathsep}{os.environ['PATH']}")
        judge = judge_of({**os.environ, "SENTINEL_MEMORY_JUDGE": "gemini"})
        assert judge
        assert judge.verdict("port 8080", "port 9090") == Verdict("contradiction", 0.9)
    [body] = model.bodies
    assert [it for group in body["tools"] for it in group.get("functionDeclarations", [])] == []
    assert body["systemInstruction"]["parts"][0]["text"].startswith(RULE)
    assert body["contents"][-1]["parts"][-1]["text"].strip() == json.dumps(
        {"earlier": "port 8080", "later": "port 9090"}
    )
    assert sorted(it.name for it in home.iterdir()) == [".gemini", "bin"]
