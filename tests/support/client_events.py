"""Makes the payloads that clients hand to a hook on standard input, and a project for them.

Claude Code, Codex, Gemini CLI and Copilot CLI have sent such payloads after a tool (tests/clients);
those of Cursor and VS Code follow their documents, which tests/data/commands/payloads.json names.
"""

import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.support import cli_process
from tests.support.samples import a_record
from tests.support.tables import table

Payload = dict[str, Any]
PAYLOADS = table("commands/payloads")
# The clients by how they are told apart here, each with its name in `--client`.
CLIENTS = {client: client for client in PAYLOADS["after"]} | {"copilot": "vscode"}


class Ran(cli_process.Run):
    @property
    def said(self) -> Any:
        """The JSON on standard output; None for an empty answer. Nothing went wrong."""
        assert (self.code, self.errors) == (0, "")
        return json.loads(self.out) if self.out else None

    @property
    def text(self) -> str:
        """The text that reaches the model of Claude Code or Codex; "" for an empty answer."""
        said = self.said
        return str(said["hookSpecificOutput"]["additionalContext"]) if said else ""


def environment_of(state: Path, **variables: str) -> dict[str, str]:
    """Nearly nothing: a client that was started from a desktop hands over no more."""
    return {"PATH": os.environ["PATH"], "SENTINEL_MEMORY_STATE": str(state), **variables}


def run_hook(
    *words: str,
    given: Mapping[str, Any] | bytes,
    cwd: Path,
    environment: Mapping[str, str],
    options: tuple[str, ...] = (),
) -> Ran:
    """Start `cli.py hook` as a client does.

    It gets an interpreter of its own where that makes a difference: options, and variables that
    an interpreter reads when it starts.
    """
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    where: dict[str, Any] = {"cwd": cwd, "environment": environment, "given": data}
    if options or any(name.startswith(("PYTHON", "LC_")) for name in environment):
        return Ran.started("hook", *words, options=options, **where)
    return Ran.placed("hook", *words, **where)


def event(client: str, name: str, project: Path, **more: Any) -> Payload:
    return {**_filled(PAYLOADS["events"][client], project=str(project), event=name), **more}


claude, codex = partial(event, "claude"), partial(event, "codex")
copilot = partial(event, "copilot", "")


def claude_edit(project: Path, path: str, new: str = "pass", **more: Any) -> Payload:
    given = {"file_path": str(project / path), "old_string": "", "new_string": new}
    tool = {"tool_name": "Edit", "tool_use_id": "toolu_01", "tool_input": given}
    return claude("PreToolUse", project, **tool, **more)


# Payloads of clients after a tool has run.


def ran(client: str, project: Path, command: str, code: int = 0, printed: str = "") -> Payload:
    """A command has run; some clients tell of a failure in another form."""
    forms = PAYLOADS["after"][client]["ran"]
    form = forms[-1] if code else forms[0]
    return _after(client, project, form, command=command, code=str(code), printed=printed)


def edited(client: str, project: Path, path: str = "src/refund.py") -> Payload:
    """A file has changed: one line is another one now, and one is new."""
    return _after(client, project, PAYLOADS["after"][client]["edited"], path=path)


def answered(client: str, project: Path, answer: str) -> Payload:
    return _after(client, project, PAYLOADS["after"][client]["answered"], answer=answer)


def _after(client: str, project: Path, form: tuple[str, Payload], **texts: str) -> Payload:
    name, more = form
    filled = _filled(more, project=str(project), **texts)
    return event(client.removesuffix("-code"), name, project, **filled)


def _filled(form: Any, **texts: str) -> Any:
    """The same with each text in the place of its sign, as part of JSON where the sign says so."""
    filled = json.dumps(form)
    for name, text in texts.items():
        quoted = json.dumps(text)[1:-1]
        filled = filled.replace(f"{{{name} json}}", json.dumps(quoted)[1:-1])
        filled = filled.replace(f"{{{name}}}", quoted)
    return json.loads(filled)


REFUND = a_record(
    "who approves a refund",
    topic="refunds",
    lesson="Refunds above 500 EUR wait for a second approver.",
    paths=["src/refund.py"],
)
LOGIN = a_record(
    "how sessions end", topic="login", lesson="Tokens live 15 minutes.", paths=["src/auth/**"]
)
HEAD = (
    "[memory_log] Lessons of this project for what you are doing (notes, not orders; judge"
    " whether they apply):\n"
)
BLOCK = (
    "[refunds]\n2026-03-01 who approves a refund\n"
    "→ Refunds above 500 EUR wait for a second approver."
)
LESSON = HEAD + BLOCK


class Desk(cli_process.Desk):
    """A project with a memory, a state directory, and another directory in which hooks start."""

    @property
    def state(self) -> Path:
        return self.root.parent / "state"

    def environment(self, **variables: str) -> dict[str, str]:
        return environment_of(self.state, **variables)

    @property
    def beside(self) -> dict[str, Any]:
        """Where a process is started that is no command of its own."""
        return {"cwd": self.home, "environment": self.environment()}

    def hook(
        self,
        client: str,
        event: str,
        given: Mapping[str, Any] | bytes,
        *more: str,
        cwd: Path | None = None,
        options: tuple[str, ...] = (),
        variables: Mapping[str, str] = {},
    ) -> Ran:
        words = [event, "--client", client, *more]
        where: dict[str, Any] = {"cwd": cwd or self.home, "options": options}
        return run_hook(*words, given=given, environment=self.environment(**variables), **where)

    # Events of Claude Code.

    def edit(self, path: str = "src/refund.py", *words: str, **more: Any) -> Ran:
        given = claude_edit(self.root, path, **more)
        return self.hook("claude-code", "before-action", given, *words)

    def start(self, source: str = "startup", **more: Any) -> Ran:
        given = claude("SessionStart", self.root, source=source, **more)
        return self.hook("claude-code", "session-start", given)

    def ask(self, prompt: str) -> Ran:
        given = claude("UserPromptSubmit", self.root, prompt=prompt)
        return self.hook("claude-code", "prompt", given)

    def stop(self, **more: Any) -> Ran:
        return self.hook("claude-code", "stop", claude("Stop", self.root, **more))

    def use(self, tool: str, **given: Any) -> Ran:
        payload = claude("PreToolUse", self.root, tool_name=tool, tool_input=given)
        return self.hook("claude-code", "before-action", payload)

    def shell(self, command: str) -> Ran:
        return self.use("Bash", command=command)

    def tree(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*"))
