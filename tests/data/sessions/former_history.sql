-- The tables of a `history.db` as the specification writes them.
CREATE TABLE contexts (id TEXT PRIMARY KEY, parent_id TEXT, goal TEXT NOT NULL, goal_short TEXT,
  summary TEXT, summary_short TEXT, status TEXT DEFAULT 'planning', tags TEXT DEFAULT '[]',
  agent TEXT, metadata TEXT DEFAULT '{}', has_warnings BOOLEAN DEFAULT 0, project_path TEXT,
  started_at TEXT NOT NULL, ended_at TEXT, created_at TEXT DEFAULT CURRENT_TIMESTAMP,
  updated_at TEXT, version INTEGER DEFAULT 1);
CREATE TABLE actions (id TEXT PRIMARY KEY, context_id TEXT NOT NULL, type TEXT NOT NULL,
  content TEXT NOT NULL, result TEXT, file_path TEXT, created_at TEXT DEFAULT CURRENT_TIMESTAMP);
