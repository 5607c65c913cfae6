-- The tables of the sessions' database; the statements are parted by a line with a semicolon.
-- Tables, columns and indexes of the specification keep their names. Ours beside them: `number`, the
-- short name of a session; `updated_at`; `process`, which saved it; `archive`, the file to which an
-- older version moved its texts; `revision`, which grows with each change. `waiting_actions` is of
-- older versions, too: its rows are taken over.
;
CREATE TABLE contexts (
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
)
;
CREATE VIRTUAL TABLE contexts_fts USING fts5(
  goal, summary, tags,
  content='contexts',
  content_rowid='number'
)
;
CREATE TABLE actions (
  id TEXT PRIMARY KEY,
  context_id TEXT NOT NULL,
  type TEXT NOT NULL,
  content TEXT NOT NULL,
  result TEXT,
  file_path TEXT,
  created_at TEXT DEFAULT CURRENT_TIMESTAMP,
  FOREIGN KEY (context_id) REFERENCES contexts(id)
)
;
CREATE TABLE waiting_actions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  client_session TEXT NOT NULL,
  type TEXT NOT NULL,
  content TEXT NOT NULL,
  result TEXT,
  file_path TEXT,
  created_at TEXT NOT NULL
)
;
CREATE TABLE conversations (
  agent TEXT NOT NULL,
  client_session TEXT NOT NULL,
  context_id TEXT NOT NULL,
  seen_at TEXT NOT NULL,
  PRIMARY KEY (agent, client_session)
) WITHOUT ROWID
;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID
;
INSERT INTO counters VALUES ('revision', 0), ('removed', 0)
;
CREATE INDEX idx_contexts_parent ON contexts(parent_id)
;
CREATE INDEX idx_contexts_status ON contexts(status)
;
CREATE INDEX idx_contexts_agent ON contexts(agent)
;
CREATE INDEX idx_contexts_created ON contexts(created_at)
;
CREATE INDEX idx_contexts_updated ON contexts(updated_at, status, agent, tags)
;
CREATE INDEX idx_contexts_revision ON contexts(revision)
;
CREATE INDEX idx_actions_context ON actions(context_id)
;
CREATE INDEX idx_actions_type ON actions(type)
;
CREATE INDEX idx_actions_file ON actions(file_path)
;
CREATE INDEX idx_waiting_actions ON waiting_actions(agent, client_session)
