"""Tests that the doctor knows which hooks Codex runs: it keeps what its user has reviewed."""

import json
import subprocess
import threading
from pathlib import Path

from tests.clients.desk import LESSON, NEEDS_CLIENTS, WAIT_S, Desk, a_desk
from tests.clients.headless import CODEX
from tests.clients.stand_in_model import Say
from tests.support.cli_process import Run
from tests.support.sentences import pair

pytestmark = NEEDS_CLIENTS

UNREVIEWED = "--dangerously-bypass-hook-trust"
# As a user starts it who has a terminal for the review.
STARTED = CODEX._replace(arguments=tuple(it for it in CODEX.arguments if it != UNREVIEWED))


def does_run(desk: Desk) -> bool:
    """Whether Codex runs the hook for the start of a session."""
    return LESSON in desk.run(STARTED, [Say("Done.")])[0].text


def said(desk: Desk) -> str:
    """What the doctor says of the hooks, by its key."""
    done = Run.started("doctor", cwd=desk.project, environment=desk.environment())
    ends = {
        key: pair(f"doctor.{f'client_{key}'}")[0].partition("): ")[2]
        for key in ("unseen", "changed")
    }
    return " ".join(key for key, end in ends.items() if end in done.out)


def reviewed(desk: Desk) -> str:
    """What Codex notes in its configuration when its user approves of the hooks that it lists."""
    asked = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "it", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(desk.project)]}},
    ]
    with subprocess.Popen(
        [*CODEX.command, "app-server"],
        cwd=desk.project,
        env=desk.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        bell = threading.Timer(WAIT_S, process.kill)
        bell.start()
        assert process.stdin and process.stdout
        process.stdin.writelines(f"{json.dumps(message)}\n" for message in asked)
        process.stdin.flush()
        answers = map(json.loads, process.stdout)
        listed = next(answer["result"]["data"] for answer in answers if answer.get("id") == 2)
        process.kill()
        bell.cancel()
    return "".join(
        f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n'
        for folder in listed
        for hook in folder["hooks"]
    )


def test_the_doctor_names_hooks_that_codex_does_not_run_and_no_others(
    tmp_path: Path, cache: Path
) -> None:
    desk = a_desk(tmp_path, cache, "codex")
    configuration = desk.home / ".codex" / "config.toml"
    configuration.parent.mkdir()
    configuration.write_text(f'[projects."{desk.project}"]\ntrust_level = "trusted"\n')
    assert (said(desk), does_run(desk)) == ("unseen", False)
    configuration.write_text(configuration.read_text() + reviewed(desk))
    assert (said(desk), does_run(desk)) == ("", True)
    hooks = desk.project / ".codex" / "hooks.json"
    hooks.write_text(hooks.read_text("utf-8").replace('"timeout": 10', '"timeout": 11'), "utf-8")
    assert (said(desk), does_run(desk)) == ("changed", False)
