"""The memory servers of the comparison: how each is installed, started, called, and read back.

A lesson goes into each in the form that its tools ask for, in the leanest one where there is a
choice. The records of a store are read from the file by code of this project, not by the server.
"""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from measure import HERE, ROOT, ServerProcess, lessons

from core.lessons.record import Draft

INSTALLED = HERE / "peers" / "node_modules"
MARK = re.compile(r"mark-\d{5}")

Call = tuple[str, dict[str, Any]]


def marked_lessons(first: int, count: int) -> Iterator[tuple[str, Draft]]:
    """So many different records with a mark each, by which they are found again."""
    known = lessons()
    for number in range(first, first + count):
        draft, mark = known[number % len(known)], f"mark-{number:05d}"
        gap, lesson = f"{draft.missing_context} ({number})", f"{draft.lesson} {mark}"
        yield mark, replace(draft, missing_context=gap, lesson=lesson)


class Peer(ABC):
    """One memory server. `store` is always the file in which it keeps its records."""

    name: str
    file_name: str  # of the store, below the directory of a project
    line_based = True  # a record is a line of text
    text_field: str  # of such a line

    @property
    @abstractmethod
    def version(self) -> str:
        """The version that is installed."""

    @abstractmethod
    def command(self, store: Path) -> list[str | Path]:
        """The command line that starts it."""

    def environment(self, store: Path) -> dict[str, str]:
        """The environment variables with which it uses this store."""
        return {}

    @abstractmethod
    def save(self, draft: Draft, name: str) -> Call:
        """The call that saves one lesson. name: a short one that no other record has."""

    @abstractmethod
    def read_all(self) -> Call:
        """The call that reads as much as one answer can hold."""

    @abstractmethod
    def search(self, words: str) -> Call:
        """The call that searches for words."""

    def held(self, store: Path) -> set[str]:
        """The marks of the records in the file that can still be read.

        Of lines those that are JSON objects; others are passed over.
        """
        found = set()
        for line in store.read_bytes().split(b"\n") if store.exists() else ():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                found.update(MARK.findall(json.dumps(record.get(self.text_field, ""))))
        return found

    def start(self, store: Path) -> ServerProcess:
        """A running server on this store, which need not exist yet."""
        store.parent.mkdir(parents=True, exist_ok=True)
        return ServerProcess(self.command(store), self.environment(store), store.parent)

    def fill(self, store: Path, drafts: Iterable[Draft]) -> None:
        """Save these through its own tools, before anything is measured."""
        with self.start(store) as server:
            for number, draft in enumerate(drafts):
                server.call(*self.save(draft, f"{draft.topic}-{number}"))


class SentinelMemory(Peer):
    """This project."""

    name = "Sentinel-Memory"
    file_name = ".context/memory_log.jsonl"
    text_field = "lesson"

    @property
    def version(self) -> str:
        command: list[str | Path] = [sys.executable, ROOT / "server.py", "--version"]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    def command(self, store: Path) -> list[str | Path]:
        return [sys.executable, ROOT / "server.py", "--project", store.parent.parent]

    def save(self, draft: Draft, name: str) -> Call:
        fields = "topic", "missing_context", "lesson", "ask_next_time"
        return "log_memory", {it: text for it in fields if (text := getattr(draft, it))}

    def read_all(self) -> Call:
        return "search_memory", {}

    def search(self, words: str) -> Call:
        return "search_memory", {"query": words}


class ReferenceMemory(Peer):
    """The reference memory server of the protocol: a knowledge graph in a file of JSON lines."""

    name = "server-memory"
    file_name = "memory.jsonl"
    text_field = "observations"
    package = "@modelcontextprotocol/server-memory"
    script = "dist/index.js"
    checked_version = "2026.8.31"  # the version that docs/benchmarks.md describes

    @property
    def version(self) -> str:
        package = INSTALLED / self.package / "package.json"
        return str(json.loads(package.read_text("utf-8"))["version"])

    def command(self, store: Path) -> list[str | Path]:
        return [shutil.which("node") or "node", INSTALLED / self.package / self.script]

    def environment(self, store: Path) -> dict[str, str]:
        return {"MEMORY_FILE_PATH": str(store)}

    def save(self, draft: Draft, name: str) -> Call:
        texts = [draft.missing_context, draft.lesson, draft.ask_next_time or ""]
        entity = {"name": name, "entityType": "lesson", "observations": [it for it in texts if it]}
        return "create_entities", {"entities": [entity]}

    def read_all(self) -> Call:
        return "read_graph", {}

    def search(self, words: str) -> Call:
        return "search_nodes", {"query": words}


class LibsqlMemory(ReferenceMemory):
    """The same tools over an SQLite file; an answer holds at most `most_read` entities."""

    name = "mcp-memory-libsql"
    file_name = "memory.db"
    package = "mcp-memory-libsql"
    checked_version = "0.0.17"
    most_read = 50
    line_based = False

    def environment(self, store: Path) -> dict[str, str]:
        return {"LIBSQL_URL": f"file:{store}"}

    def read_all(self) -> Call:
        # `read_graph` gives the ten newest. This query matches every record, up to the limit.
        return "search_nodes", {"query": "-", "limit": self.most_read}

    def search(self, words: str) -> Call:
        return "search_nodes", {"query": words, "limit": self.most_read}

    def held(self, store: Path) -> set[str]:
        try:
            with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
                rows = database.execute("SELECT content FROM observations").fetchall()
        except sqlite3.DatabaseError:
            return set()
        return set(MARK.findall(json.dumps(rows)))


OURS = SentinelMemory()
OTHERS: Sequence[Peer] = (ReferenceMemory(), LibsqlMemory())
