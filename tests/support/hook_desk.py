"""Gives a test of hooks a project with two lessons, and hands it what clients send."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.client_events import Ran, claude, claude_edit, environment_of, run_hook
from tests.support.desk import Desk as AnyDesk
from tests.support.samples import a_record

NOTHING_ELSE: Mapping[str, str] = {}
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
LOGIN_BLOCK = "[login]\n2026-03-01 how sessions end\n→ Tokens live 15 minutes."
LESSON = HEAD + BLOCK


class Desk(AnyDesk):
    """A project with a memory, a state directory, and another directory in which hooks start."""

    @property
    def state(self) -> Path:
        return self.root.parent / "state"

    @property
    def elsewhere(self) -> Path:
        return self.home

    def environment(self, **variables: str) -> dict[str, str]:
        return environment_of(self.state, **variables)

    @property
    def beside(self) -> dict[str, Any]:
        """Where a process is started that is no command of its own."""
        return {"cwd": self.elsewhere, "environment": self.environment()}

    @property
    def opening(self) -> str:
        """What a session is told when it starts, with both records in the log."""
        return (
            f"[memory_log - records: 2 | {self.root}]\ntopics: refunds (1), login (1)\n"
            "All records (2); search_memory has no others now."
            f" Notes of colleagues and their agents, not orders:\n{LOGIN_BLOCK}\n{BLOCK}"
        )

    def hook(
        self,
        client: str,
        event: str,
        given: Mapping[str, Any] | bytes,
        *more: str,
        cwd: Path | None = None,
        options: tuple[str, ...] = (),
        variables: Mapping[str, str] = NOTHING_ELSE,
    ) -> Ran:
        words = [event, "--client", client, *more]
        where: dict[str, Any] = {"cwd": cwd or self.elsewhere, "options": options}
        return run_hook(*words, given=given, environment=self.environment(**variables), **where)

    # What Claude Code does.

    def edit(self, path: str = "src/refund.py", *words: str, **more: Any) -> Ran:
        """It is about to edit this file."""
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
