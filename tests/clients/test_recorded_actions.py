"""Tests that what real clients do is recorded by the hooks that setup writes for them.

Nobody is asked anything, as in test_real_clients.py. One conversation runs commands, edits a file
and saves; the actions then belong to the session that it has saved.
"""

from pathlib import Path

import pytest

from tests.clients.desk import NEEDS_CLIENTS, a_desk, rows_of
from tests.clients.headless import CLIENTS, CODEX, GEMINI, Headless
from tests.clients.stand_in_model import Call

pytestmark = NEEDS_CLIENTS

TOOLS = {
    "claude-code": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "gemini": ("run_shell_command", "command"),
    "copilot": ("bash", "command"),
}
# Who may run a command without being asked.
ALLOWED = {
    "claude-code": ("--allowedTools", "Bash"),
    "copilot": ("--allow-tool", "shell"),
    "gemini": ("--yolo",),
    "codex": (),
}
GOOD, BAD, IDLE = "python3 -c 'print(1)'", "python3 -c 'raise SystemExit(3)'", "ls"
GOAL = "Mend the refund"
EDIT = ("edit", "Write refund.py (+1 -0)", "success", "refund.py")
EXPECTED = {
    "claude-code": [
        ("command", GOOD, "success", ""),
        ("error", BAD, "failed: Exit code 3", ""),
        EDIT,
    ],
    # it does not tell how a command went, and has no event after a patch that a shell applies
    "codex": [("command", GOOD, "", ""), ("command", BAD, "", "")],
    "gemini": [("command", GOOD, "success", ""), ("error", BAD, "failed: (empty)", ""), EDIT],
    "copilot": [("command", GOOD, "success", ""), ("error", BAD, "failed", ""), EDIT],
}


def command(client: Headless, line: str) -> Call:
    tool, key = TOOLS[client.key]
    return Call(tool, {key: line, "description": "Run it"} if client is not CODEX else {key: line})


@pytest.mark.row("003 T26")
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.key)
def test_commands_and_edits_belong_to_the_session_that_their_conversation_saves(
    client: Headless, tmp_path: Path, cache: Path
) -> None:
    desk = a_desk(tmp_path, cache, f"{client.key} --rooms lessons,sessions")
    arguments = client.arguments
    if client is GEMINI:
        arguments = tuple(
            word for word in arguments if word not in ("--approval-mode", "auto_edit")
        )
    started = client._replace(arguments=(*arguments, *ALLOWED[client.key]))
    script = [
        command(client, GOOD),
        command(client, BAD),
        client.edit(desk.project),
        Call("context_save", {"goal": GOAL}),
        command(client, IDLE),
    ]
    requests = desk.run(started, script)
    assert "#1" in requests[-1].answers[-2]
    path = desk.project / ".context" / "sessions" / "history.db"
    actions = (
        "SELECT type, content, coalesce(result, ''), coalesce(file_path, '')"
        " FROM actions JOIN contexts c ON c.id = context_id WHERE c.goal = ?"
    )
    kept = rows_of(path, actions, GOAL)
    [[waiting]] = rows_of(path, "SELECT count(*) FROM actions WHERE context_id LIKE 'conv:%'")
    assert (sorted(kept), waiting) == (sorted(EXPECTED[client.key]), 0)
