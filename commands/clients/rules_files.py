"""Decides which files of a project hold the rules, so that every client reads them exactly once.

Pure: it looks at texts by their names in the project. The table is what the clients document:
AGENTS.md is read by Cursor, VS Code and Codex (AGENTS.override.md takes its place for Codex), and
by Claude Code from 2.1.277 on where it has no CLAUDE.md, .claude/CLAUDE.md or CLAUDE.local.md;
these three by Claude Code and VS Code; CLAUDE.md by Cursor, unless one of its settings is off;
`.cursor/rules` and `.cursorrules` by Cursor; `.github/copilot-instructions.md` by VS Code; by
Gemini CLI what `context.fileName` names, else GEMINI.md. Claude Code and Gemini CLI follow imports.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from commands.clients.rules_imports import imported
from commands.documents.marked_block import BrokenBlockError, block_in, without_block

AGENTS, OVERRIDE, GEMINI = "AGENTS.md", "AGENTS.override.md", "GEMINI.md"
CURSORRULES, COPILOT = ".cursorrules", ".github/copilot-instructions.md"
CLAUDE, LOCAL = ("CLAUDE.md", ".claude/CLAUDE.md"), "CLAUDE.local.md"
CURSOR_RULE = ".cursor/rules/sentinel-memory.mdc"
BLOCK = "rules"
_TOOLS = ("search_memory", "log_memory", "compact_memory")
_HOPS = 4  # so far Claude Code follows imports

Body = Literal["rules", "import"]


def import_of(name: str) -> str:
    """The line with which the file `name` takes in AGENTS.md; its path counts from that file."""
    return f"@{'../' * name.count('/')}{AGENTS}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules files of a project. text: that of a file, None where there is none.

    real: what tells a file under two names. is_sound: whether a file can be edited, which one that
    is no text or holds half a block cannot. gemini: the names that Gemini CLI reads.
    """

    text: Callable[[str], str | None]
    real: Callable[[str], str]
    is_sound: Callable[[str], bool]
    gemini: tuple[str, ...] = (GEMINI,)

    @property
    def names(self) -> tuple[str, ...]:
        """Every file that may hold a block of ours."""
        return tuple(dict.fromkeys((AGENTS, OVERRIDE, *CLAUDE, *self.gemini, GEMINI, CURSOR_RULE)))

    @property
    def ours(self) -> list[str]:
        """The files into which setup has put something."""
        return [name for name in self.names if self.block(name) is not None]

    def block(self, name: str) -> str | None:
        """What setup has put into this file; None for nothing that could be taken out."""
        try:
            return block_in(self.text(name) or "", BLOCK)
        except BrokenBlockError:
            return None

    def imports_ours(self, name: str) -> bool:
        """Whether what setup has put into this file is the import of AGENTS.md."""
        return self.block(name) == import_of(name)

    def has_text(self, name: str) -> bool:
        """Whether a file holds more than what setup has put in; also one that cannot be read."""
        return bool(self._rest(name).strip("\ufeff \t\r\n")) or not self.is_sound(name)

    def by_hand(self) -> frozenset[str]:
        """The files into which somebody copied the rules."""
        names = (CURSORRULES, COPILOT, LOCAL, *self.names)
        return frozenset(it for it in names if all(tool in self._rest(it) for tool in _TOOLS))

    def read_by(self, client: str, homes: dict[str, Body] | None = None) -> tuple[str, ...]:
        """The files that a client reads, as they are or with these bodies put in."""
        if client == "cursor":
            return (AGENTS, CURSORRULES, CURSOR_RULE, CLAUDE[0])
        if client == "vscode":
            return (AGENTS, *CLAUDE, LOCAL, COPILOT)
        if client == "codex":
            return (self._codex,)
        if client == "gemini":
            return (*self.gemini, AGENTS) if self._reach_agents(self.gemini) else self.gemini
        if client == "claude-code":
            put_in = homes or {}
            own = [name for name in (*CLAUDE, LOCAL) if name in put_in or self._is_there(name)]
            as_it_is = homes is None and any(map(self.imports_ours, CLAUDE))
            by_ours = as_it_is or "import" in put_in.values()
            imports = by_ours or self._is_linked or self._reach_agents([LOCAL])
            return (*own, AGENTS) if imports or not own else tuple(own)
        return ()

    def reads(self, client: str, name: str, homes: dict[str, Body] | None = None) -> bool:
        """Whether a client reads this file, under whatever name."""
        return self.real(name) in map(self.real, self.read_by(client, homes))

    def depends(self, client: str) -> bool:
        """Whether a client reads what setup has put in where its own rules stand.

        Cursor may be told to read no CLAUDE.md: what stands there is another client's.
        """
        read = set(self.read_by(client)) - ({CLAUDE[0]} if client == "cursor" else set())
        return not read.isdisjoint(self.ours)

    def homes(self, clients: Collection[str]) -> dict[str, Body]:
        """The smallest set of files with our rules with which each client reads one copy.

        Where a file holds a copy made by hand, nothing is put beside it for its readers.
        """
        hand = self.by_hand()
        needing = {it for it in clients if hand.isdisjoint(self.read_by(it))}
        homes: dict[str, Body] = {}
        if AGENTS not in hand and self._is_shared(needing):
            homes[AGENTS] = "rules"
        if "codex" in needing and self._codex != AGENTS:
            homes[self._codex] = "rules"
        by_import = AGENTS in hand and (self._would_hide or self._keeps_import)
        if "claude-code" in needing or ("claude-code" in clients and by_import):
            body = self._claude_body(shared=AGENTS in homes)
            if body:
                homes[self._claude] = body
        if "cursor" in needing and not self._is_served("cursor", homes):
            homes[AGENTS if self._is_taken(CURSOR_RULE) else CURSOR_RULE] = "rules"
        if "gemini" in needing and not self._is_served("gemini", homes):
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
            or (claude and (self._is_linked or self._would_hide or self._keeps_import))
        )

    def _claude_body(self, *, shared: bool) -> Body | None:
        """What the file of Claude Code gets; None where AGENTS.md is read, or has to be cured."""
        if self._keeps_import:
            return "import"
        if self._would_hide:
            return "import" if self.is_sound(AGENTS) else None
        if self._is_linked:
            return None
        return "import" if shared and self._may_import else "rules"

    def _is_served(self, client: str, homes: dict[str, Body]) -> bool:
        """Whether a client gets the rules from one of these homes."""
        return any(name in homes and self.is_sound(name) for name in self.read_by(client, homes))

    @property
    def _codex(self) -> str:
        return OVERRIDE if self._is_there(OVERRIDE) else AGENTS

    @property
    def _claude(self) -> str:
        held = [name for name in CLAUDE if self.block(name) is not None]
        return next(iter(held or filter(self._is_there, CLAUDE)), CLAUDE[0])

    @property
    def _is_linked(self) -> bool:
        """Whether the user has made AGENTS.md part of what Claude Code reads."""
        there = [name for name in CLAUDE if self._is_there(name)]
        is_same = any(self.real(name) == self.real(AGENTS) for name in there)
        return is_same or self._reach_agents(there)

    @property
    def _would_hide(self) -> bool:
        """Whether a CLAUDE.md without an import would keep a text of AGENTS.md from Claude Code."""
        return not any(map(self.has_text, CLAUDE)) and self.has_text(AGENTS)

    @property
    def _keeps_import(self) -> bool:
        """Whether Claude Code gets a text of AGENTS.md by an import of ours, which then stays."""
        return self.imports_ours(self._claude) and self.has_text(AGENTS)

    @property
    def _may_import(self) -> bool:
        """Whether Claude Code can be given AGENTS.md with our rules for its own.

        Not where AGENTS.md and CLAUDE.md both hold texts of the user, who keeps the one from Claude
        Code. Where there is no CLAUDE.md the text of AGENTS.md is for it as well: newer versions
        read it by themselves, except beside a CLAUDE.local.md, which only one person has.
        """
        has_own = any(map(self.has_text, CLAUDE))
        is_apart = has_own and self.has_text(AGENTS) and not self._keeps_import
        return self.is_sound(AGENTS) and not is_apart

    def _reach_agents(self, names: Iterable[str]) -> bool:
        """Whether texts of the user in these files import AGENTS.md, also by way of others."""
        met, last = set[str](), list(names)
        for _ in range(_HOPS):
            found = {it for name in last for it in imported(self._rest(name), name)} - met
            if any(self.real(it) == self.real(AGENTS) for it in found):
                return True
            met |= found
            last = [it for it in found if not it.startswith("..")]
        return False

    def _is_there(self, name: str) -> bool:
        return self.text(name) is not None or not self.is_sound(name)

    def _is_taken(self, name: str) -> bool:
        """Whether a file that we would make is one of the user's."""
        return self.text(name) is not None and self.block(name) is None and self.is_sound(name)

    def _rest(self, name: str) -> str:
        """The text without what setup has put in."""
        text = self.text(name) or ""
        try:
            return without_block(text, BLOCK)
        except BrokenBlockError:
            return text
