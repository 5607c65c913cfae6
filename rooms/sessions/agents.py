"""Gives each client one name, whatever it calls itself in the handshake or in a hook."""

import re

MOST_CHARS = 40
# fmt: off
_KNOWN = {
    "claude-code": "claude-code", "claude code": "claude-code",
    "claude-ai": "claude-desktop", "claude-desktop": "claude-desktop",
    "cursor": "cursor", "cursor-vscode": "cursor", "cursor-agent": "cursor",
    "codex": "codex", "codex-mcp-client": "codex", "codex-cli": "codex",
    "gemini": "gemini", "gemini-cli": "gemini", "gemini-cli-mcp-client": "gemini",
    "visual studio code": "vscode", "visual studio code - insiders": "vscode", "vscode": "vscode",
    "copilot": "copilot", "github-copilot": "copilot", "copilot-cli": "copilot",
    "windsurf": "windsurf", "windsurf-client": "windsurf",
}
# fmt: on
_BLANKS = re.compile(r"\s+")


def agent_of(name: str) -> str:
    """Return the name of a client as sessions hold it, "" for none.

    An unknown one is kept as it is given, in lower case, without what cannot be printed.
    """
    plain = "".join(char for char in _BLANKS.sub(" ", name) if char.isprintable())
    lowered = plain.strip().lower()[:MOST_CHARS].rstrip()
    return _KNOWN.get(lowered, lowered)
