"""Starts the real clients as scripts and CI do: without anybody to ask, and with no model but ours.

In what a row says, URL stands for the stand-in model, PROJECT for the directory at work, and PROMPT
for the task. Each client gets a home of its own, and no login.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.clients.stand_in_model import Call
from tests.support.node_packages import packages_of

INSTALLED = packages_of("tests/clients")


class Headless(NamedTuple):
    """How a client is started. program: a pattern below node_modules; node runs a .js file."""

    key: str
    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    writing: Call  # what makes it write refund.py
    settings: tuple[str, str] = ("", "")  # a file that it wants to find in the home, and its text

    @property
    def command(self) -> list[str]:
        """The words that start it. Raises AssertionError where it is not installed."""
        found = sorted(INSTALLED.glob(self.program))
        assert found, f"no {self.program} in {INSTALLED}; .ci/run installs it"
        node = [shutil.which("node") or "node"] if found[0].suffix == ".js" else []
        return [*node, str(found[0])]

    def edit(self, project: Path) -> Call:
        """Return the step of a script that makes it write refund.py in a project."""
        given = {
            key: filled(text, {"PROJECT": str(project)}) for key, text in self.writing.given.items()
        }
        return Call(self.writing.tool, given)

    def settle(self, home: Path) -> None:
        """Write into a home what it wants to find there."""
        name, text = self.settings
        if name:
            (home / name).parent.mkdir()
            (home / name).write_text(text, encoding="utf-8")


# fmt: off
CLAUDE_CODE = Headless("claude-code", "@anthropic-ai/claude-code-*/claude",
    ("-p", "PROMPT", "--permission-mode", "acceptEdits"),
    {"ANTHROPIC_BASE_URL": "URL", "ANTHROPIC_API_KEY": "not-a-key", "DISABLE_AUTOUPDATER": "1",
     "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
     "MCP_CONNECT_TIMEOUT_MS": "60000"},  # else it waits five seconds for a server
    Call("Write", {"file_path": "PROJECT/refund.py", "content": "rate = 0.1\n"}))
CODEX = Headless("codex", "@openai/codex-*/vendor/*/bin/codex",
    # a review of the hooks needs a terminal
    ("exec", "PROMPT", "--sandbox", "workspace-write", "--dangerously-bypass-hook-trust",
     "-m", "stand-in", "-c", 'model_provider="stand-in"',
     "-c", 'model_providers.stand-in={name="it",base_url="URL/v1",wire_api="responses"}',
     "-c", 'projects={"PROJECT"={trust_level="trusted"}}', "-c", "analytics.enabled=false",
     "-c", "check_for_update_on_startup=false", "--disable", "plugins", "--disable", "apps"),
    {},
    Call("exec_command", {"cmd": "apply_patch <<'END'\n*** Begin Patch\n*** Add File: refund.py\n"
        "+rate = 0.1\n*** End Patch\nEND"}))
GEMINI = Headless("gemini", "@google/gemini-cli/bundle/gemini.js",
    ("-p", "PROMPT", "--approval-mode", "auto_edit", "-m", "gemini-2.5-pro"),
    {"GEMINI_API_KEY": "not-a-key", "GOOGLE_GEMINI_BASE_URL": "URL",
     "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    Call("write_file", {"file_path": "PROJECT/refund.py", "content": "rate = 0.1\n"}),
    (".gemini/settings.json", '{"security": {"auth": {"selectedType": "gemini-api-key"}},'
        ' "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false}}'))
COPILOT = Headless("copilot", "@github/copilot-*/copilot",
    ("-p", "PROMPT", "--trust-folder", "--allow-tool", "write"),
    {"COPILOT_PROVIDER_BASE_URL": "URL", "COPILOT_PROVIDER_TYPE": "anthropic",
     "COPILOT_PROVIDER_API_KEY": "not-a-key", "COPILOT_MODEL": "claude-sonnet-4.5",
     "COPILOT_OFFLINE": "true"},
    Call("create", {"path": "PROJECT/refund.py", "file_text": "rate = 0.1\n"}))
# fmt: on
CLIENTS = (CLAUDE_CODE, CODEX, GEMINI, COPILOT)


def filled(text: str, signs: Mapping[str, str]) -> str:
    """Return a text of a row with what its signs stand for."""
    for sign, value in signs.items():
        text = text.replace(sign, value)
    return text
