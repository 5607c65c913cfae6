-- The tables of the fragments' database, version by version: a new one goes behind the others.
--
-- The tables of the specification keep their names, and so do their columns but for two: `linked_to`
-- is what `fragment_links` says, and vectors have a table of their own, so that a row stays small. Of
-- its indexes those are there that a question of the room is answered by.

-- version 1: the beginning

CREATE TABLE fragments (
  number INTEGER PRIMARY KEY AUTOINCREMENT,  -- also the rowid: a number is never given twice
  id TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL,
  topic TEXT NOT NULL,
  plain_topic TEXT NOT NULL DEFAULT '',  -- the topic as two are compared
  keywords TEXT NOT NULL DEFAULT '[]',
  type TEXT NOT NULL,
  lifetime TEXT NOT NULL,
  importance REAL NOT NULL,
  content_hash TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT '',
  agent_id TEXT NOT NULL DEFAULT 'default',
  session_id TEXT NOT NULL DEFAULT '',
  privacy_scope TEXT NOT NULL DEFAULT 'private',
  access_count INTEGER NOT NULL DEFAULT 0,
  accessed_at TEXT NOT NULL DEFAULT '',
  sessions_count INTEGER NOT NULL DEFAULT 0,
  last_session TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL DEFAULT '',
  ttl_tier TEXT NOT NULL DEFAULT 'hot',
  estimated_tokens INTEGER NOT NULL DEFAULT 0,
  utility_score REAL NOT NULL DEFAULT 1.0,
  verified_at TEXT NOT NULL DEFAULT '',
  checked_at TEXT NOT NULL DEFAULT '',
  decayed_at TEXT NOT NULL DEFAULT '',
  is_anchor INTEGER NOT NULL DEFAULT 0,
  stale_days INTEGER NOT NULL DEFAULT 0,
  expires_at TEXT NOT NULL DEFAULT '',
  deleted_at TEXT NOT NULL DEFAULT '',
  deletion TEXT NOT NULL DEFAULT '',
  superseded_at TEXT NOT NULL DEFAULT ''
);

CREATE INDEX idx_fragments_hash ON fragments(agent_id, content_hash);

CREATE INDEX idx_fragments_topic ON fragments(plain_topic);

CREATE INDEX idx_fragments_created ON fragments(created_at);

CREATE INDEX idx_fragments_worth
  ON fragments(is_anchor DESC, importance DESC, created_at DESC, number DESC, agent_id, type)
  WHERE deleted_at = '' AND superseded_at = '';

CREATE INDEX idx_fragments_session ON fragments(session_id) WHERE session_id != '';

CREATE INDEX idx_fragments_expires ON fragments(expires_at) WHERE expires_at != '';

CREATE INDEX idx_fragments_deleted ON fragments(deleted_at) WHERE deleted_at != '';

-- The keywords of all fragments, each in one spelling.
CREATE TABLE fragment_keywords (
  keyword TEXT NOT NULL,
  is_live INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (keyword, is_live, number)
) WITHOUT ROWID;

CREATE INDEX idx_fragment_keywords ON fragment_keywords(number);

-- Each vector that is stored has a revision above all before it, also in another's place.
CREATE TABLE fragment_vectors (
  revision INTEGER PRIMARY KEY AUTOINCREMENT,
  number INTEGER NOT NULL UNIQUE,
  embedding BLOB NOT NULL
);

CREATE TABLE fragment_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  relation_type TEXT NOT NULL DEFAULT 'related',
  created_at TEXT NOT NULL,
  UNIQUE (from_id, to_id)
);

CREATE INDEX idx_fragment_links_to ON fragment_links(to_id);

CREATE TABLE fragment_versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  fragment_id TEXT NOT NULL,
  content TEXT NOT NULL,
  topic TEXT NOT NULL DEFAULT '',
  keywords TEXT NOT NULL DEFAULT '[]',
  type TEXT NOT NULL DEFAULT 'fact',
  importance REAL NOT NULL DEFAULT 0.5,
  amended_at TEXT NOT NULL,
  amended_by TEXT NOT NULL DEFAULT ''
);

CREATE INDEX idx_fragment_versions ON fragment_versions(fragment_id);

CREATE TABLE tool_feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tool_name TEXT NOT NULL,
  relevant INTEGER NOT NULL,
  sufficient INTEGER NOT NULL,
  suggestion TEXT NOT NULL DEFAULT '',
  context TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL DEFAULT '',
  trigger_type TEXT NOT NULL DEFAULT 'voluntary',
  created_at TEXT NOT NULL
);

CREATE TABLE task_feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL DEFAULT '',
  overall_success INTEGER NOT NULL,
  tool_highlights TEXT NOT NULL DEFAULT '[]',
  tool_pain_points TEXT NOT NULL DEFAULT '[]',
  created_at TEXT NOT NULL
);

CREATE TABLE activities (
  session_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL DEFAULT 'default',
  started_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  calls INTEGER NOT NULL DEFAULT 0,
  written INTEGER NOT NULL DEFAULT 0,
  reflected_at TEXT NOT NULL DEFAULT '',
  ended_at TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

CREATE TABLE suspicions (
  first_id TEXT NOT NULL,
  second_id TEXT NOT NULL,
  similarity REAL NOT NULL,
  found_at TEXT NOT NULL,
  PRIMARY KEY (first_id, second_id)
) WITHOUT ROWID;

CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Before its first use it is made by what keeps it current.
CREATE VIRTUAL TABLE fragments_fts USING fts5(content, topic, keywords);

-- version 2: what several agents of a server did and said, and have brought into a file

ALTER TABLE tool_feedback ADD COLUMN agent_id TEXT NOT NULL DEFAULT 'default';

ALTER TABLE task_feedback ADD COLUMN agent_id TEXT NOT NULL DEFAULT 'default';

ALTER TABLE activities RENAME TO activities_of_one;

CREATE TABLE activities (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL DEFAULT 'default',
  started_at TEXT NOT NULL,
  last_at TEXT NOT NULL,
  calls INTEGER NOT NULL DEFAULT 0,
  written INTEGER NOT NULL DEFAULT 0,
  reflected_at TEXT NOT NULL DEFAULT '',
  ended_at TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (session_id, agent_id)
);

INSERT INTO activities SELECT * FROM activities_of_one;

DROP TABLE activities_of_one;

-- version 3: the record of a memory log that has a fragment

ALTER TABLE fragments ADD COLUMN promoted TEXT NOT NULL DEFAULT '';
