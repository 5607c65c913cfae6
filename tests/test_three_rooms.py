"""Tests that a secret which is pasted wherever there is room for a text is kept nowhere.

How the rooms answer beside one another is told by tests/stories/fragments_beside.txt, what reaches
a colleague by colleague.txt, and how a fragment becomes a lesson by rooms_lessons.txt.
"""

import gzip
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from http_server.access_keys import Keys
from http_server.papers import papers_of
from tests.conftest import StartServer
from tests.support.cli_process import TOKEN, Run
from tests.support.client_events import codex, ran, run_hook
from tests.support.git_clones import git, saved
from tests.support.servers import HttpServer, ServerProcess
from tests.support.team_engines import TeamServer
from tests.support.team_engines import team_server as team_server

ROOMS = "lessons,sessions,fragments"
SECRETS = (TOKEN, "Gx7-quiet-Otter-41")
PASTED = "배포에 쓰는 토큰은 {}, 주소는 postgresql://app:{}@db.example.com/shop".format(*SECRETS)
APPROVAL = "A refund above 500 EUR waits for a second approver."
DECISION = "업로드는 5MB 조각으로 나눈다."
SILENT = "The staging database is reset every Sunday."


def everything_in(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """All files below a folder, unpacked, and all that git keeps there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            yield path, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if path.name == "objects" and path.is_dir():
            words = ("git", "cat-file", "--batch", "--batch-all-objects")
            yield path, subprocess.run(words, cwd=path.parent, check=True, stdout=-1).stdout


def paste(call: Callable[..., str], team: Callable[..., str]) -> None:
    """Paste the secrets into each text of a tool, and keep something else beside them."""
    call("log_memory", topic="refunds", missing_context="Who approves a refund", lesson=APPROVAL,
         paths=["src/refund.py"])  # fmt: skip
    said = [
        call("context_save", goal="환불 승인 화면 고치기", summary=PASTED, status="coding"),
        call("log_memory", topic="배포", missing_context="토큰은 어디에", lesson=PASTED),
        call("remember", content=PASTED, topic="배포"),
        call("reflect", summary=PASTED, decisions=[DECISION]),
        call("recall", query=PASTED),
        call("context_search", query=PASTED),
        team("remember", content=PASTED),
        team("recall", query=PASTED),
    ]
    team("remember", content=SILENT)
    assert not any(secret in answer for secret in SECRETS for answer in said)
    assert call("recall", type="decision").count(DECISION) == 1


@pytest.mark.long  # it costs much
def test_a_secret_that_is_pasted_everywhere_is_in_no_file_commit_archive_database_or_log(
    team_server: TeamServer, tmp_path: Path, start_server: StartServer
) -> None:
    shared, home = tmp_path / "shop.git", tmp_path / "home"
    clone, dsn = home / "shop", team_server.new_dsn()
    git(tmp_path, "init", "--quiet", "--bare", str(shared))
    git(tmp_path, "clone", "--quiet", str(shared), str(clone))
    places = {"HOME": home, "XDG_DATA_HOME": home / "data", "XDG_STATE_HOME": home / "state"}
    here = {"PATH": os.environ["PATH"], "SENTINEL_MEMORY_LANG": "ko"}
    here |= {name: str(path) for name, path in places.items()}
    words = ("--project", str(clone), "--rooms", ROOMS)
    more: dict[str, Any] = {"cwd": home, "environment": here}

    def opened() -> ServerProcess:
        return start_server(*words, client="codex-mcp-client", **more)

    papers = papers_of({"SENTINEL_MEMORY_FRAGMENTS": dsn})
    key = Keys(papers, keeps_agents_apart=True).add("laptop", "second")
    papers.close()
    server = opened()
    with HttpServer(tmp_path / "server", *words,
                    environment={"SENTINEL_MEMORY_FRAGMENTS": dsn}) as team:  # fmt: skip

        def ask_team(tool: str, **arguments: Any) -> str:
            params = {"name": tool, "arguments": arguments}
            return str(team.call("tools/call", params, key=key)[2]["result"]["content"][0]["text"])

        paste(server.call, ask_team)
    server.close()
    opened().close()

    def hook(event: str, given: dict[str, Any]) -> str:
        return run_hook(event, "--client", "codex", given=given, **more).text

    call = f"curl -H 'Authorization: Bearer {TOKEN}' {PASTED}"
    hook("after-action", ran("codex", clone, call, 7, PASTED))
    for path, text, is_told in (("src/refund.py", "now", True), ("ops/배포.sh", PASTED, False)):
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-pass\n+{text}\n*** End Patch\n"
        tool = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "turn_id": "1"}
        assert (APPROVAL in hook("before-action", codex("PreToolUse", clone, **tool))) == is_told
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "환불 승인을 두 사람이 한다")
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    scanned = Run.placed("scan", "--history", cwd=clone, environment=here, is_bound=True)
    assert scanned.code == 0, scanned

    [redacted] = {it.lesson for it in saved(clone)} - {APPROVAL}
    assert "[REDACTED" in redacted
    kept = [it for folder in (tmp_path, server.stderr_path.parent) for it in everything_in(folder)]
    log = team_server.postgres.directory / "log"
    kept += [(Path("pg_dump"), team_server.postgres.run("pg_dump", dsn).encode())]
    kept += [(log, log.read_bytes())]
    for text in (APPROVAL, DECISION, SILENT):  # what else was told is there
        assert any(text.encode() in data for _, data in kept)
    assert [path for path, data in kept for it in SECRETS if it.encode() in data] == []
