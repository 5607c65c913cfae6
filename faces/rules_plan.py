"""Decides which files of a project hold the rules, so that every client reads them exactly once.

Pure: it looks at texts by their names in the project. The table is what the clients document:
AGENTS.md is read by Cursor, VS Code and Codex (AGENTS.override.md takes its place for Codex), and
by Claude Code where there is no CLAUDE.md; CLAUDE.md by Claude Code and VS Code; `.cursor/rules`
and `.cursorrules` by Cursor; `.github/copilot-instructions.md` by VS Code; by Gemini CLI what
`context.fileName` names, else GEMINI.md. Claude Code and Gemini CLI follow an import such as
`@AGENTS.md`.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from faces.marked_block import BrokenBlockError, block_in, without_block

AGENTS, OVERRIDE, GEMINI = "AGENTS.md", "AGENTS.override.md", "GEMINI.md"
CURSORRULES, COPILOT = ".cursorrules", ".github/copilot-instructions.md"
CLAUDE = ("CLAUDE.md", ".claude/CLAUDE.md")
CURSOR_RULE = ".cursor/rules/sentinel-memory.mdc"
BLOCK = "rules"
_TOOLS = ("search_memory", "log_memory", "compact_memory")
_IMPORTED = re.compile(r"(?:^|[ \t])@(?:\.{1,2}/)?AGENTS\.md(?![\w.-])", re.MULTILINE)

Body = Literal["rules", "import", "file"]


def import_of(name: str) -> str:
    """The line with which the file `name` takes in AGENTS.md; its path counts from that file."""
    return f"@{'../' * name.count('/')}{AGENTS}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules files of a project. text: that of a file, None where there is none.

    real: what tells a file under two names; gemini: the names that Gemini CLI reads.
    """

    text: Callable[[str], str | None]
    real: Callable[[str], str]
    gemini: tuple[str, ...] = (GEMINI,)

    @property
    def names(self) -> tuple[str, ...]:
        """Every file that may hold a block of ours or is one."""
        return tuple(dict.fromkeys((AGENTS, OVERRIDE, *CLAUDE, *self.gemini, GEMINI, CURSOR_RULE)))

    def holds_ours(self, name: str) -> bool:
        """Whether setup has put something into this file."""
        text = self.text(name)
        if name == CURSOR_RULE or text is None:
            return text is not None
        try:
            return block_in(text, BLOCK) is not None
        except BrokenBlockError:
            return False

    def imports_ours(self, name: str) -> bool:
        """Whether what setup has put into this file is the import of AGENTS.md."""
        try:
            return block_in(self.text(name) or "", BLOCK) == import_of(name)
        except BrokenBlockError:
            return False

    def by_hand(self) -> frozenset[str]:
        """The files into which somebody copied the rules."""
        names = (CURSORRULES, COPILOT, *self.names)
        return frozenset(it for it in names if all(tool in self._rest(it) for tool in _TOOLS))

    def read_by(self, client: str, homes: dict[str, Body] | None = None) -> tuple[str, ...]:
        """The files that a client reads, as they are or with these bodies put in."""
        homes = homes or {}
        if client == "cursor":
            return (AGENTS, CURSORRULES, CURSOR_RULE)
        if client == "vscode":
            return (AGENTS, *CLAUDE, COPILOT)
        if client == "codex":
            return (self._codex,)
        if client == "gemini":
            imports = any(_IMPORTED.search(self._rest(name)) for name in self.gemini)
            return (*self.gemini, AGENTS) if imports else self.gemini
        if client == "claude-code":
            own = [name for name in CLAUDE if name in homes or self.text(name) is not None]
            imports = (
                self._is_linked or "import" in homes.values() or any(map(self.imports_ours, CLAUDE))
            )
            return (*own, AGENTS) if imports or not own else tuple(own)
        return ()

    def homes(self, clients: Collection[str]) -> dict[str, Body]:
        """The smallest set of files with our rules with which each client reads one copy.

        Where a file holds a copy made by hand, nothing is put beside it for its readers.
        """
        hand = self.by_hand()
        needing = {it for it in clients if not hand.intersection(self.read_by(it))}
        homes: dict[str, Body] = {}
        if self._is_shared(needing):
            homes[AGENTS] = "rules"
        if "codex" in needing and self._codex != AGENTS:
            homes[self._codex] = "rules"
        if "claude-code" in needing and not (AGENTS in homes and self._is_linked):
            homes[self._claude] = "import" if AGENTS in homes and self._may_import else "rules"
        if "cursor" in needing and AGENTS not in homes:
            homes[CURSOR_RULE] = "file"
        if "gemini" in needing and not any(it in homes for it in self.read_by("gemini")):
            homes[GEMINI if GEMINI in self.gemini else self.gemini[0]] = "rules"
        return homes

    def copies(self, client: str, homes: dict[str, Body]) -> list[str]:
        """The files from which a client gets the rules, each file under one name."""
        holding = {name for name, body in homes.items() if body != "import"} | self.by_hand()
        read = [name for name in self.read_by(client, homes) if name in holding]
        return list({self.real(name): name for name in reversed(read)}.values())

    def _is_shared(self, needing: set[str]) -> bool:
        """Whether AGENTS.md is a home."""
        claude = "claude-code" in needing
        return (
            ("codex" in needing and self._codex == AGENTS)
            or ("gemini" in needing and GEMINI not in self.gemini and AGENTS in self.gemini)
            or ("vscode" in needing and not claude)
            or (claude and "cursor" in needing and self._may_import)
            or (claude and self._is_linked)
        )

    @property
    def _codex(self) -> str:
        return AGENTS if self.text(OVERRIDE) is None else OVERRIDE

    @property
    def _claude(self) -> str:
        return next((name for name in CLAUDE if self.text(name) is not None), CLAUDE[0])

    @property
    def _is_linked(self) -> bool:
        """Whether the user has made AGENTS.md part of what Claude Code reads."""
        there = [name for name in CLAUDE if self.text(name) is not None]
        return any(
            self.real(it) == self.real(AGENTS) or _IMPORTED.search(self._rest(it)) for it in there
        )

    @property
    def _may_import(self) -> bool:
        """Whether an import brings Claude Code our rules and nothing that it does not get now."""
        return self._is_linked or not (self._rest(self._claude) and self._rest(AGENTS))

    def _rest(self, name: str) -> str:
        """The text without what setup has put in."""
        text = self.text(name) or ""
        if name == CURSOR_RULE:
            return ""
        try:
            return without_block(text, BLOCK).strip("\ufeff \t\r\n")
        except BrokenBlockError:
            return text
