"""The servers of the comparison room by room: the rooms of this project, and peers of their kind.

One text goes into each: the name that finds it again, then what the lesson says.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import venv
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from peers import INSTALLED, MARK, OTHERS, OURS, ROOT, Call, Peer, node

from core.lessons.record import Draft

PYTHON_PEERS = INSTALLED.parent / ".venv"
PINS = INSTALLED.parent / "requirements.txt"
MOST_HITS = 10
WAL = "One SQLite transaction for each save, `synchronous={level}` with a write-ahead log: {says}."
SYNCED = WAL.format(level="FULL", says="the log is fsync'd, and a save is answered after that")
CACHED = WAL.format(level="NORMAL", says="nothing is fsync'd before the answer")


def text_of(draft: Draft, name: str) -> str:
    """The lesson as one text, after its name."""
    said = (draft.missing_context, draft.lesson, draft.ask_next_time)
    return f"{name}: {' '.join(it for it in said if it)}"


class DatabasePeer(Peer):
    """A server whose records are texts in one column of a SQLite file."""

    line_based = False
    column: str  # as SELECT asks for it

    @property
    @abstractmethod
    def absent(self) -> str:
        """Why it cannot be started here; empty where it can."""

    def held(self, store: Path) -> set[str]:
        try:
            with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
                rows = database.execute(f"SELECT {self.column}").fetchall()
        except sqlite3.DatabaseError:
            return set()
        return set(MARK.findall(json.dumps(rows)))


class Room(DatabasePeer):
    """One room of this project, by itself."""

    room: str
    durability = SYNCED
    absent = ""

    @property
    def version(self) -> str:
        return OURS.version

    def command(self, store: Path) -> list[str | Path]:
        project = self.project(store)
        return [sys.executable, ROOT / "server.py", "--project", project, "--rooms", self.room]

    def environment(self, store: Path) -> dict[str, str]:
        # What a room keeps for the user, such as the list of projects, stays with the store.
        kept = str(store.parent / "user")
        return {"XDG_DATA_HOME": kept, "XDG_STATE_HOME": kept}

    def project(self, store: Path) -> Path:
        """The directory of the project to which this store belongs."""
        return store.parents[self.file_name.count("/")]


class Sessions(Room):
    """The room of sessions: the lesson is what the work was for, and where it stands."""

    name = "sessions"
    room = "sessions"
    file_name = ".context/sessions/history.db"
    column = "goal, summary FROM contexts"

    def save(self, draft: Draft, name: str) -> Call:
        summary = " ".join(it for it in (draft.lesson, draft.ask_next_time) if it)
        goal = f"{name}: {draft.missing_context}"[:500]
        return "context_save", {"goal": goal, "summary": summary, "status": "completed"}

    def read_all(self) -> Call:
        return "context_search", {"limit": 20}

    def search(self, words: str) -> Call:
        return "context_search", {"query": words, "limit": MOST_HITS}


class Fragments(Room):
    """The room of fragments, without embeddings, as it is by default."""

    name = "fragments"
    room = "fragments"
    file_name = "memory.db"
    column = "content FROM fragments"

    def environment(self, store: Path) -> dict[str, str]:
        return {**super().environment(store), "SENTINEL_MEMORY_FRAGMENTS": str(store)}

    def save(self, draft: Draft, name: str) -> Call:
        return "remember", {"content": text_of(draft, name), "type": "fact"}

    def read_all(self) -> Call:
        return "recall", {"tokenBudget": 20_000}

    def search(self, words: str) -> Call:
        return "recall", {"text": words}


class AllRooms(Fragments):
    """The server with all three rooms."""

    name = "all three"
    room = "lessons,sessions,fragments"


class MemoryKeeper(DatabasePeer):
    """Keeps the context of sessions; its search by meaning compares short runs of letters."""

    name = "mcp-memory-keeper"
    file_name = "context.db"
    column = "value FROM context_items"
    package = "mcp-memory-keeper"
    checked_version = "0.14.1"
    durability = CACHED

    @property
    def version(self) -> str:
        package = INSTALLED / self.package / "package.json"
        return str(json.loads(package.read_text("utf-8"))["version"])

    @property
    def absent(self) -> str:
        if not (INSTALLED / self.package).is_dir():
            return "not installed"
        built = INSTALLED / "better-sqlite3/build/Release/better_sqlite3.node"
        return "" if built.is_file() else "the database module that it needs is not built"

    def command(self, store: Path) -> list[str | Path]:
        return [node(), INSTALLED / self.package / "dist/index.js"]

    def environment(self, store: Path) -> dict[str, str]:
        return {"DATA_DIR": str(store.parent), "HOME": str(store.parent)}

    def save(self, draft: Draft, name: str) -> Call:
        return "context_save", {"key": name, "value": text_of(draft, name)}

    def read_all(self) -> Call:
        return "context_get", {}

    def search(self, words: str) -> Call:
        return "context_semantic_search", {"query": words, "topK": MOST_HITS}


class MemoryService(DatabasePeer):
    """Memories with embeddings; without a model it falls back to hashes of the text."""

    name = "mcp-memory-service"
    file_name = "memory.db"
    column = "content FROM memories"
    package = "mcp-memory-service"
    checked_version = "12.2.0"
    durability = CACHED

    @property
    def version(self) -> str:
        line = subprocess.run(
            [PYTHON_PEERS / "bin/memory", "--version"], capture_output=True, text=True
        )
        return line.stdout.split()[-1]

    @property
    def absent(self) -> str:
        return "" if (PYTHON_PEERS / "bin/memory").is_file() else "not installed"

    def command(self, store: Path) -> list[str | Path]:
        return [PYTHON_PEERS / "bin/memory", "server"]

    def environment(self, store: Path) -> dict[str, str]:
        return {
            "HOME": str(store.parent),
            "MCP_MEMORY_BASE_DIR": str(store.parent),
            "MCP_MEMORY_SQLITE_PATH": str(store),
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_ALLOW_HASH_EMBEDDINGS": "1",
            "HF_HUB_OFFLINE": "1",
        }

    def save(self, draft: Draft, name: str) -> Call:
        # With a conversation, what is alike is kept as well.
        return "memory_store", {"content": text_of(draft, name), "conversation_id": "one"}

    def read_all(self) -> Call:
        return "memory_list", {"page_size": 100}

    def search(self, words: str) -> Call:
        return "memory_search", {"query": words, "limit": MOST_HITS}


@dataclass(frozen=True, slots=True)
class Kind:
    """A room and the servers of its kind, those that can be started here. missing: the others."""

    peers: Sequence[Peer]
    missing: Sequence[str]


KEEPER, SERVICE = MemoryKeeper(), MemoryService()
BESIDE: dict[str, tuple[Peer, Sequence[Peer]]] = {
    "lessons": (OURS, OTHERS),
    "sessions": (Sessions(), [KEEPER]),
    "fragments": (Fragments(), [SERVICE, *OTHERS]),
}


def kind_of(room: str) -> Kind:
    """The room, and the servers beside which it is measured."""
    ours, others = BESIDE[room]
    why = {peer: absence(peer) for peer in others}
    missing = [
        f"{peer.name} is left out of this run: {said}." for peer, said in why.items() if said
    ]
    return Kind([ours, *(peer for peer in others if not why[peer])], missing)


def absence(peer: Peer) -> str:
    """Why a server cannot be started here; empty where it can."""
    if isinstance(peer, DatabasePeer):
        return peer.absent
    return "" if INSTALLED.is_dir() else "not installed"


def room_of(name: str) -> Peer:
    """One of the rooms, or all of them, as a server."""
    rooms: dict[str, Peer] = {room: ours for room, (ours, _) in BESIDE.items()}
    return {**rooms, AllRooms.name: AllRooms()}[name]


def built() -> list[Peer]:
    """The servers that only the rooms are compared with, which are here."""
    return [peer for peer in (KEEPER, SERVICE) if not peer.absent]


def install_more() -> None:
    """Build what the keeper needs, and install the servers in Python; what fails stays absent."""
    npm = shutil.which("npm")
    if npm and INSTALLED.is_dir() and KEEPER.absent:
        subprocess.run([npm, "rebuild", "better-sqlite3", "--prefix", INSTALLED.parent])
    if SERVICE.absent:
        with suppress(OSError, subprocess.CalledProcessError):
            venv.create(PYTHON_PEERS, with_pip=True)
            pip = [str(PYTHON_PEERS / "bin/python"), "-m", "pip", "install", "-q", "-r", str(PINS)]
            subprocess.run(pip, check=True, env={**os.environ, "PIP_NO_INPUT": "1"})
