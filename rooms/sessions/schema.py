"""The tables of the sessions' database, version by version.

The tables, columns and indexes of the specification keep their names. Ours beside them: `number`,
the short name of a session; `updated_at`; `process`, which saved it; `archive`, the file that has
its texts now; `revision`, which grows with each change, so that a reader takes in only what is new.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.room.database import Database, Migrations

APPLICATION_ID = 0x534D_0001  # "SM", room two
ARCHIVE_NAME = re.compile(r"archive-[0-9]{4}\.db\Z")  # of the file of a year

# fmt: off
MIGRATIONS: Migrations = (
    (
        """CREATE TABLE contexts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,  -- also the rowid: a number is never given twice
  id TEXT NOT NULL UNIQUE,
  parent_id TEXT,
  goal TEXT NOT NULL,
  goal_short TEXT,
  summary TEXT,
  summary_short TEXT,
  status TEXT DEFAULT 'planning',
  tags TEXT DEFAULT '[]',
  agent TEXT,
  metadata TEXT DEFAULT '{}',
  has_warnings BOOLEAN DEFAULT 0,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  created_at TEXT DEFAULT CURRENT_TIMESTAMP,
  updated_at TEXT,
  process TEXT DEFAULT '',
  archive TEXT DEFAULT '',
  revision INTEGER NOT NULL DEFAULT 0,
  FOREIGN KEY (parent_id) REFERENCES contexts(id)
)""",
        """CREATE VIRTUAL TABLE contexts_fts USING fts5(
  goal, summary, tags,
  content='contexts',
  content_rowid='number'
)""",
        """CREATE TABLE actions (
  id TEXT PRIMARY KEY,
  context_id TEXT NOT NULL,
  type TEXT NOT NULL,
  content TEXT NOT NULL,
  result TEXT,
  file_path TEXT,
  created_at TEXT DEFAULT CURRENT_TIMESTAMP,
  FOREIGN KEY (context_id) REFERENCES contexts(id)
)""",
        # What a client did before its model saved a session; it moves to `actions` with the save.
        """CREATE TABLE waiting_actions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  client_session TEXT NOT NULL,
  type TEXT NOT NULL,
  content TEXT NOT NULL,
  result TEXT,
  file_path TEXT,
  created_at TEXT NOT NULL
)""",
        # Which session belongs to which conversation of a client, as its hooks have seen.
        """CREATE TABLE conversations (
  agent TEXT NOT NULL,
  client_session TEXT NOT NULL,
  context_id TEXT NOT NULL,
  seen_at TEXT NOT NULL,
  PRIMARY KEY (agent, client_session)
) WITHOUT ROWID""",
        "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
        "INSERT INTO counters VALUES ('revision', 0), ('removed', 0)",
        "CREATE INDEX idx_contexts_parent ON contexts(parent_id)",
        "CREATE INDEX idx_contexts_status ON contexts(status)",
        "CREATE INDEX idx_contexts_agent ON contexts(agent)",
        "CREATE INDEX idx_contexts_created ON contexts(created_at)",
        "CREATE INDEX idx_contexts_updated ON contexts(updated_at, status, agent, tags)",
        "CREATE INDEX idx_contexts_revision ON contexts(revision)",
        "CREATE INDEX idx_actions_context ON actions(context_id)",
        "CREATE INDEX idx_actions_type ON actions(type)",
        "CREATE INDEX idx_actions_file ON actions(file_path)",
        "CREATE INDEX idx_waiting_actions ON waiting_actions(agent, client_session)",
    ),
)
# fmt: on


@contextmanager
def opened_archive(path: Path, *, timeout_s: float) -> Iterator[Database]:
    """Lend the database of an archive, which need not exist; it is one file again afterwards."""
    database = Database(path, MIGRATIONS, application_id=APPLICATION_ID, timeout_s=timeout_s)
    try:
        yield database
    finally:
        database.close()
