"""Decides which files of a project hold the rules, so that every client reads them exactly once.

Clients read each other's files, and a row says which. Pure: texts by their names in the project.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from commands.documents.markdown_code import without_code
from commands.documents.marked_block import BrokenBlockError, block_in, without_block
from commands.setup.client_table import AGENTS, CLAUDE, CLIENTS, LOCAL, TOOLS, Rules

BLOCK = "rules"
ROWS: Mapping[str, Rules] = {client.key: client.rules for client in CLIENTS if client.rules}
# The client that reads AGENTS.md by an import of ours.
[IMPORTER] = [key for key, row in ROWS.items() if row.hides_agents]
_HOPS = 4  # so far Claude Code follows imports
_IMPORT = re.compile(r"(?<!\S)@([^\s#]+)(?:#\S*)?(?!\S)")

Body = Literal["rules", "import"]
Homes = Mapping[str, Body]


@dataclass(frozen=True, slots=True)
class RulesFiles:
    """What stands in the rules files of a project: texts of the user, and blocks of ours.

    text: that of a file, None where there is none. real: what tells a file under two names.
    is_sound: whether a file can be edited, which one that is no text or holds half a block cannot.
    named: by client, the files that its settings name in place of those in its row.
    """

    text: Callable[[str], str | None]
    real: Callable[[str], str]
    is_sound: Callable[[str], bool]
    named: Mapping[str, tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """Every file that may hold a block of ours."""
        return names_beside(self.named)

    @property
    def ours(self) -> list[str]:
        """The files into which setup has put something."""
        return [name for name in self.names if self.block(name) is not None]

    def block(self, name: str) -> str | None:
        """Return what setup has put into this file; None where nothing can be taken out."""
        try:
            return block_in(self.text(name) or "", BLOCK)
        except BrokenBlockError:
            return None

    def imports_ours(self, name: str) -> bool:
        """Return whether what setup has put into this file is the import of AGENTS.md."""
        return self.block(name) == import_of(name)

    def has_text(self, name: str) -> bool:
        """Return whether a file holds more than our block; True for one that cannot be read."""
        return bool(self._rest(name).strip("\ufeff \t\r\n")) or not self.is_sound(name)

    def by_hand(self) -> frozenset[str]:
        """Return the files into which a person copied the rules."""
        names = {*self.names, *(name for row in ROWS.values() for name in row.reads)}
        tools = TOOLS["lessons"]
        return frozenset(name for name in names if all(tool in self._rest(name) for tool in tools))

    def is_there(self, name: str) -> bool:
        """Return whether the file exists, readable or not."""
        return self.text(name) is not None or not self.is_sound(name)

    def reach_agents(self, names: Iterable[str]) -> bool:
        """Return whether texts of the user in these files import AGENTS.md, also through others."""
        met, last = set[str](), list(names)
        for _ in range(_HOPS):
            found = {path for name in last for path in imported(self._rest(name), name)} - met
            if any(self.real(path) == self.real(AGENTS) for path in found):
                return True
            met |= found
            last = [path for path in found if not path.startswith("..")]
        return False

    def _rest(self, name: str) -> str:
        """Return the text without our block."""
        text = self.text(name) or ""
        try:
            return without_block(text, BLOCK)
        except BrokenBlockError:
            return text


def names_beside(named: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return every file that may hold a block of ours. named: as of `RulesFiles`."""
    instead = [row.instead for row in ROWS.values() if row.instead]
    others = [name for names in named.values() for name in names]
    homes = [row.home for row in ROWS.values()][::-1]
    return tuple(dict.fromkeys((AGENTS, *instead, *CLAUDE, *others, *homes)))


# Imports.


def import_of(name: str) -> str:
    """Return the line by which the file `name` imports AGENTS.md; its path counts from there."""
    return f"@{'../' * name.count('/')}{AGENTS}"


def imported(text: str, name: str) -> list[str]:
    """Return the files that the file `name` with this text imports, by their names in the project.

    A path counts from the directory of the file that names it; one above the project begins with
    `..`. Fences, indented code, code spans, comments, absolute paths and those of the home import
    nothing. In doubt a line is no import: a model reads rules twice rather than never.
    """
    paths = _IMPORT.findall(without_code(text))
    directory = posixpath.dirname(name)
    return [
        posixpath.normpath(posixpath.join(directory, path)) for path in paths if path[0] not in "/~"
    ]


# What each client reads.


def read_by(files: RulesFiles, client: str, homes: Homes | None = None) -> tuple[str, ...]:
    """Return the files that a client reads, as they are or with these bodies put in."""
    if client not in ROWS:
        return ()
    row, names = ROWS[client], _own_files(files, client)
    if row.hides_agents:
        put_in = homes or {}
        names = tuple(name for name in names if name in put_in or files.is_there(name))
        as_it_is = homes is None and any(map(files.imports_ours, CLAUDE))
        by_ours = as_it_is or "import" in put_in.values()
        imports = by_ours or _is_linked(files) or files.reach_agents([LOCAL])
        return (*names, AGENTS) if imports or not names else names
    return (*names, AGENTS) if row.imports and files.reach_agents(names) else names


def reads(files: RulesFiles, client: str, name: str, homes: Homes | None = None) -> bool:
    """Return whether a client reads this file, under whatever name."""
    return files.real(name) in map(files.real, read_by(files, client, homes))


def depends(files: RulesFiles, client: str) -> bool:
    """Return whether a client reads what setup has put in where its own rules stand.

    A block in a file that the user may switch off for this client is another client's.
    """
    unsure = ROWS[client].unsure if client in ROWS else ()
    return not (set(read_by(files, client)) - set(unsure)).isdisjoint(files.ours)


def copies(files: RulesFiles, client: str, homes: Homes) -> list[str]:
    """Return the files from which a client gets the rules, each file under one name."""
    holding = {name for name, body in homes.items() if body != "import"} | files.by_hand()
    names = [name for name in read_by(files, client, homes) if name in holding]
    return list({files.real(name): name for name in reversed(names)}.values())


def _own_files(files: RulesFiles, client: str) -> tuple[str, ...]:
    """Return the files that a client reads by itself, without an import."""
    row = ROWS[client]
    if row.instead and files.is_there(row.instead):
        return (row.instead,)
    return files.named.get(client, row.reads)


# Where the rules go.


def homes_for(files: RulesFiles, clients: Collection[str]) -> dict[str, Body]:
    """Return the smallest set of files with our rules with which each client reads one copy.

    The readers of a copy that a person made get no second one.
    """
    hand = files.by_hand()
    needing = [key for key in ROWS if key in clients and hand.isdisjoint(read_by(files, key))]
    homes: dict[str, Body] = {}
    if AGENTS not in hand and _is_shared(files, needing):
        homes[AGENTS] = "rules"
    for client in needing:
        if ROWS[client].instead in _own_files(files, client):
            homes[ROWS[client].instead] = "rules"
    by_import = AGENTS in hand and (_would_hide(files) or _keeps_import(files))
    if IMPORTER in needing or (IMPORTER in clients and by_import):
        body = _importer_body(files, shared=AGENTS in homes)
        if body:
            homes[_importer_home(files)] = body
    for client in needing:
        served = any(name in homes and files.is_sound(name) for name in read_by(files, client))
        if client != IMPORTER and not served and _home(files, client) != AGENTS:
            is_taken = ROWS[client].own_file and _is_taken(files, ROWS[client].home)
            homes[AGENTS if is_taken else _home(files, client)] = "rules"
    return homes


def _home(files: RulesFiles, client: str) -> str:
    names, home = _own_files(files, client), ROWS[client].home
    return home if home in names else names[0]


def _is_shared(files: RulesFiles, needing: Collection[str]) -> bool:
    """Return whether AGENTS.md is a home."""
    others = [client for client in needing if client != IMPORTER]
    by_agents = [key for key in others if _reads_agents_first(files, key)]
    if IMPORTER not in needing:
        return bool(by_agents)
    unsure = any(CLAUDE[0] in ROWS[client].unsure for client in others)
    return (
        any(CLAUDE[0] not in ROWS[client].reads for client in by_agents)
        or (unsure and _may_import(files))
        or _is_linked(files)
        or _would_hide(files)
        or _keeps_import(files)
    )


def _reads_agents_first(files: RulesFiles, client: str) -> bool:
    """Return whether a client reads AGENTS.md, and not the file that would be its own."""
    names, home = _own_files(files, client), ROWS[client].home
    return AGENTS in names and (home == AGENTS or home not in names)


def _is_taken(files: RulesFiles, name: str) -> bool:
    """Return whether a file that we would make is one of the user's."""
    return files.text(name) is not None and files.block(name) is None and files.is_sound(name)


# Claude Code, which AGENTS.md reaches by an import.


def _importer_home(files: RulesFiles) -> str:
    held = [name for name in CLAUDE if files.block(name) is not None]
    return next(iter(held or filter(files.is_there, CLAUDE)), CLAUDE[0])


def _importer_body(files: RulesFiles, *, shared: bool) -> Body | None:
    """Return what Claude Code's file gets; None where AGENTS.md is read, or has to be cured."""
    if _keeps_import(files):
        return "import"
    if _would_hide(files):
        return "import" if files.is_sound(AGENTS) else None
    if _is_linked(files):
        return None
    return "import" if shared and _may_import(files) else "rules"


def _is_linked(files: RulesFiles) -> bool:
    """Return whether the user has made AGENTS.md part of what Claude Code reads."""
    there = [name for name in CLAUDE if files.is_there(name)]
    is_same = any(files.real(name) == files.real(AGENTS) for name in there)
    return is_same or files.reach_agents(there)


def _would_hide(files: RulesFiles) -> bool:
    """Return whether a CLAUDE.md with no import would keep an AGENTS.md text from Claude Code."""
    return not any(map(files.has_text, CLAUDE)) and files.has_text(AGENTS)


def _keeps_import(files: RulesFiles) -> bool:
    """Return whether Claude Code gets a text of AGENTS.md by our import, which then stays."""
    return files.imports_ours(_importer_home(files)) and files.has_text(AGENTS)


def _may_import(files: RulesFiles) -> bool:
    """Return whether Claude Code can be given AGENTS.md with our rules for its own.

    Not where the user keeps AGENTS.md from it by a CLAUDE.md with another text. Without a CLAUDE.md
    the text of AGENTS.md is for Claude Code as well: newer versions read it by themselves, except
    beside a CLAUDE.local.md, which only one person has.
    """
    has_own = any(map(files.has_text, CLAUDE))
    is_apart = has_own and files.has_text(AGENTS) and not _keeps_import(files)
    return files.is_sound(AGENTS) and not is_apart
