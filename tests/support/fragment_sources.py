"""Makes what fragments are imported from: databases and files of other programs."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

# Of the fourth specification, as it stands there.
SCHEMA = """CREATE TABLE memory_item (
  id TEXT PRIMARY KEY,
  type TEXT CHECK (type IN ('working','episodic','semantic','procedural')),
  content TEXT,
  importance REAL,
  privacy_scope TEXT CHECK (privacy_scope IN ('private','team','public')) DEFAULT 'private',
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  last_accessed TIMESTAMP,
  pinned BOOLEAN DEFAULT FALSE
);
CREATE VIRTUAL TABLE memory_item_fts USING fts5(content);
"""
COLUMNS = ("id", "type", "content", "importance", "privacy_scope", "created_at", "pinned")


def make_memory_db(path: Path, *rows: Sequence[Any]) -> Path:
    """Make a database with these rows of COLUMNS."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        places = ", ".join("?" * len(COLUMNS))
        connection.executemany(
            f"INSERT INTO memory_item ({', '.join(COLUMNS)}) VALUES ({places})", rows
        )
        connection.commit()
    return path


def make_lines(path: Path, *values: Any) -> Path:
    """Make a file with these values, one on a line; a text stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [it if isinstance(it, str) else json.dumps(it, ensure_ascii=False) for it in values]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


# A graph of server-memory.
GRAPH = (
    {
        "type": "entity",
        "name": "Kim",
        "entityType": "person",
        "observations": ["Prefers tabs", "Works on payments"],
    },
    {"type": "entity", "name": "shop", "entityType": "project", "observations": []},
    {"type": "relation", "from": "Kim", "to": "shop", "relationType": "works on"},
)
# Rows of the second specification: a fragment, its successor, a link, a former version.
DUMP = (
    {
        "id": "frag-1a2b3c",
        "content": "Redis is off by default.",
        "topic": "redis",
        "keywords": ["redis", "cache"],
        "type": "decision",
        "importance": 0.75,
        "linked_to": ["frag-4d5e6f", "frag-gone99"],
        "ttl_tier": "cold",
        "agent_id": "admin",
        "access_count": 3,
        "accessed_at": "2026-04-02 10:00:00+00",
        "created_at": "2026-04-01 10:00:00+09",
        "utility_score": 1.5,
        "is_anchor": False,
        "embedding": [0.1, 0.2],
    },
    {
        "id": "frag-4d5e6f",
        "content": "Redis is on by default.",
        "topic": "redis",
        "keywords": [],
        "type": "decision",
        "importance": 0.9,
        "agent_id": "codex",
        "created_at": "2026-03-01T10:00:00Z",
        "is_anchor": True,
    },
    {
        "id": 7,
        "from_id": "frag-4d5e6f",
        "to_id": "frag-1a2b3c",
        "relation_type": "superseded_by",
        "created_at": "2026-04-01T10:00:00Z",
    },
    {
        "fragment_id": "frag-1a2b3c",
        "content": "Redis is off.",
        "topic": "redis",
        "type": "fact",
        "amended_at": "2026-04-02T00:00:00Z",
        "amended_by": "codex",
    },
    {"tool_name": "recall", "relevant": True, "sufficient": False, "created_at": "2026-04-02"},
)
