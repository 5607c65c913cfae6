BEGIN TRANSACTION;
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
INSERT INTO "activities" VALUES('s1','kim','2026-05-02T10:00:00+00:00','2026-05-02T10:00:00+00:00',3,1,'','');
CREATE TABLE fragment_keywords (
  keyword TEXT NOT NULL,
  is_live INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (keyword, is_live, number)
) WITHOUT ROWID;
INSERT INTO "fragment_keywords" VALUES('pool',1,1);
INSERT INTO "fragment_keywords" VALUES('timeout',1,1);
INSERT INTO "fragment_keywords" VALUES('import',1,2);
INSERT INTO "fragment_keywords" VALUES('nightly',1,2);
INSERT INTO "fragment_keywords" VALUES('pool_size',1,2);
INSERT INTO "fragment_keywords" VALUES('node',1,3);
INSERT INTO "fragment_keywords" VALUES('금요일',1,4);
INSERT INTO "fragment_keywords" VALUES('배포',1,4);
INSERT INTO "fragment_keywords" VALUES('main',1,5);
INSERT INTO "fragment_keywords" VALUES('push',1,5);
INSERT INTO "fragment_keywords" VALUES('café',1,6);
INSERT INTO "fragment_keywords" VALUES('gives',1,6);
INSERT INTO "fragment_keywords" VALUES('naïve',1,6);
INSERT INTO "fragment_keywords" VALUES('retry',1,6);
INSERT INTO "fragment_keywords" VALUES('tries',1,6);
INSERT INTO "fragment_keywords" VALUES('live',0,7);
INSERT INTO "fragment_keywords" VALUES('minutes',0,7);
INSERT INTO "fragment_keywords" VALUES('sessions',0,7);
INSERT INTO "fragment_keywords" VALUES('called',0,8);
INSERT INTO "fragment_keywords" VALUES('heron',0,8);
INSERT INTO "fragment_keywords" VALUES('server',0,8);
INSERT INTO "fragment_keywords" VALUES('listens',1,9);
INSERT INTO "fragment_keywords" VALUES('server',1,9);
INSERT INTO "fragment_keywords" VALUES('test',1,9);
INSERT INTO "fragment_keywords" VALUES('live',1,10);
INSERT INTO "fragment_keywords" VALUES('minutes',1,10);
INSERT INTO "fragment_keywords" VALUES('sessions',1,10);
CREATE TABLE fragment_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  relation_type TEXT NOT NULL DEFAULT 'related',
  created_at TEXT NOT NULL,
  UNIQUE (from_id, to_id)
);
INSERT INTO "fragment_links" VALUES(1,'n9ptddeb','utpe8vja','resolved_by','2026-05-02T10:00:00+00:00');
INSERT INTO "fragment_links" VALUES(2,'3v7w2pqg','jmw6225y','related','2026-05-02T10:00:00+00:00');
INSERT INTO "fragment_links" VALUES(4,'4ervp9yr','neycve43','superseded_by','2026-05-02T10:00:00+00:00');
CREATE TABLE fragment_vectors (
  revision INTEGER PRIMARY KEY AUTOINCREMENT,
  number INTEGER NOT NULL UNIQUE,
  embedding BLOB NOT NULL
);
INSERT INTO "fragment_vectors" VALUES(1,4,X'9A99193FCDCC4C3F');
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
INSERT INTO "fragment_versions" VALUES(1,'3v7w2pqg','The shop runs on Node 20','runtime','["node"]','fact',0.5,'2026-05-02T10:00:00+00:00','kim');
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
INSERT INTO "fragments" VALUES(1,'n9ptddeb','A request hangs until the pool gives up after 30 seconds','database','database','["pool", "timeout"]','error','semantic',0.8,'77ed6caa474f78492be9a26ef1ee4d10','','default','','private',1,'2026-05-03T10:00:00+00:00',1,'s1','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','hot',12,1.0,'2026-05-01T10:00:00+00:00','','',0,0,'','','','');
INSERT INTO "fragments" VALUES(2,'utpe8vja','Set pool_size to 20 before the nightly import','database','database','["pool_size", "nightly", "import"]','procedure','procedural',0.8,'f74247c073cce74c20e3a8aa2c559f55','','default','','private',1,'2026-05-03T10:00:00+00:00',1,'s1','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','hot',10,1.0,'2026-05-01T10:00:00+00:00','','',0,0,'','','','');
INSERT INTO "fragments" VALUES(3,'3v7w2pqg','The shop runs on Node 22','runtime','runtime','["node"]','fact','semantic',0.5,'0d3a001930026a704f17feaa20a4d992','README.md','default','','team',0,'',0,'','2026-05-01T10:00:00+00:00','2026-05-02T10:00:00+00:00','hot',6,1.0,'2026-05-02T10:00:00+00:00','','',0,60,'','','','');
INSERT INTO "fragments" VALUES(4,'h4ne2fhm','배포는 금요일에 하지 않고 목요일 오후에 한다','배포','배포','["배포", "금요일"]','decision','semantic',0.7,'33c9d379bb624bcb009ac4980a3491db','','default','','private',0,'',0,'','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','hot',15,1.0,'2026-05-01T10:00:00+00:00','','',0,90,'','','','');
INSERT INTO "fragments" VALUES(5,'5zr9xk57','Never push to main','git','git','["push", "main"]','preference','semantic',0.9,'a5a05dbf6d08478d48fcdd18752b7275','','default','','private',0,'',0,'','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','permanent',4,1.0,'2026-05-01T10:00:00+00:00','','',1,0,'','','','');
INSERT INTO "fragments" VALUES(6,'jmw6225y','The café''s naïve retry gives up after 3 tries','retry','retry','["café", "naïve", "retry", "gives", "tries"]','fact','semantic',0.5,'2505d38bbe0ef29ed7f24a85757dc0e9','','kim','','private',0,'',0,'','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','hot',11,1.0,'2026-05-01T10:00:00+00:00','','',0,60,'','','','');
INSERT INTO "fragments" VALUES(7,'4ervp9yr','Sessions live for 15 minutes','login','login','["Sessions", "live", "minutes"]','fact','semantic',0.3,'0ec4f23f0fbe2ee8b9de36562039bf25','','default','','private',0,'',0,'','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','hot',7,1.0,'2026-05-01T10:00:00+00:00','','',0,60,'','','','2026-05-02T10:00:00+00:00');
INSERT INTO "fragments" VALUES(8,'96gypgzu','The old server is called heron','server','server','["server", "called", "heron"]','fact','semantic',0.5,'8748c4006b334adb13b44064cc054648','','default','','private',0,'',0,'','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','hot',6,1.0,'2026-05-01T10:00:00+00:00','','',0,60,'','2026-05-02T10:00:00+00:00','forgotten','');
INSERT INTO "fragments" VALUES(9,'zc7faubm','The test server listens on 8081','general','general','["test", "server", "listens"]','fact','working',0.5,'90039118faece68eb021a53304999e27','','default','s1','private',0,'',0,'','2026-05-01T10:00:00+00:00','2026-05-01T10:00:00+00:00','hot',9,1.0,'2026-05-01T10:00:00+00:00','','',0,0,'2026-05-03T10:00:00+00:00','','','');
INSERT INTO "fragments" VALUES(10,'neycve43','Sessions live for 30 minutes','login','login','["Sessions", "live", "minutes"]','fact','semantic',0.5,'b986984fcf2435d107e15ee98d783548','','default','','private',0,'',0,'','2026-05-02T10:00:00+00:00','2026-05-02T10:00:00+00:00','hot',7,1.0,'2026-05-02T10:00:00+00:00','','',0,60,'','','','');
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "state" VALUES('amended','1');
INSERT INTO "state" VALUES('embedding_model','small');
INSERT INTO "state" VALUES('forgotten','1');
INSERT INTO "state" VALUES('index','2');
INSERT INTO "state" VALUES('least_cosine','0.3');
INSERT INTO "state" VALUES('remembered','10');
INSERT INTO "state" VALUES('superseded','1');
CREATE TABLE suspicions (
  first_id TEXT NOT NULL,
  second_id TEXT NOT NULL,
  similarity REAL NOT NULL,
  found_at TEXT NOT NULL,
  PRIMARY KEY (first_id, second_id)
) WITHOUT ROWID;
INSERT INTO "suspicions" VALUES('3v7w2pqg','jmw6225y',0.75,'2026-05-02T10:00:00+00:00');
CREATE TABLE task_feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL DEFAULT '',
  overall_success INTEGER NOT NULL,
  tool_highlights TEXT NOT NULL DEFAULT '[]',
  tool_pain_points TEXT NOT NULL DEFAULT '[]',
  created_at TEXT NOT NULL
);
INSERT INTO "task_feedback" VALUES(1,'s1',1,'["recall"]','["느림"]','2026-05-02T10:00:00+00:00');
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
INSERT INTO "tool_feedback" VALUES(1,'recall',1,0,'더 짧게','','s1','voluntary','2026-05-02T10:00:00+00:00');
CREATE INDEX idx_fragments_hash ON fragments(agent_id, content_hash);
CREATE INDEX idx_fragments_topic ON fragments(plain_topic);
CREATE INDEX idx_fragments_created ON fragments(created_at);
CREATE INDEX idx_fragments_worth
  ON fragments(is_anchor DESC, importance DESC, created_at DESC, number DESC, agent_id, type)
  WHERE deleted_at = '' AND superseded_at = '';
CREATE INDEX idx_fragments_session ON fragments(session_id) WHERE session_id != '';
CREATE INDEX idx_fragments_expires ON fragments(expires_at) WHERE expires_at != '';
CREATE INDEX idx_fragments_deleted ON fragments(deleted_at) WHERE deleted_at != '';
CREATE INDEX idx_fragment_keywords ON fragment_keywords(number);
CREATE INDEX idx_fragment_links_to ON fragment_links(to_id);
CREATE INDEX idx_fragment_versions ON fragment_versions(fragment_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('fragments',10);
INSERT INTO "sqlite_sequence" VALUES('fragment_links',4);
INSERT INTO "sqlite_sequence" VALUES('fragment_versions',1);
INSERT INTO "sqlite_sequence" VALUES('fragment_vectors',1);
INSERT INTO "sqlite_sequence" VALUES('tool_feedback',1);
INSERT INTO "sqlite_sequence" VALUES('task_feedback',1);
CREATE VIRTUAL TABLE fragments_fts USING fts5(content, topic, keywords, prefix='4 6', tokenize='unicode61');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (1, 'A request hangs until the pool gives up after 30 seconds 30 a up ', 'database', 'pool timeout');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (2, 'Set pool_size to 20 before the nightly import poolsize 20 to ', 'database', 'pool_size nightly import poolsize ');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (3, 'The shop runs on Node 22 22 on ', 'runtime', 'node');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (4, '배포는 금요일에 하지 않고 목요일 오후에 한다 배포는 배포 포는 금요일에 금요 요일 일에 하지 않고 목요일 목요 오후에 오후 후에 한다 요이 ', '배포 배포 ', '배포 금요일 배포 금요일 금요 요일 요이 ');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (5, 'Never push to main to ', 'git', 'push main');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (6, 'The café''s naïve retry gives up after 3 tries the café s naïve retry gives up after 3 tries ', 'retry', 'café naïve retry gives tries café naïve retry gives tries ');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (9, 'The test server listens on 8081 on ', 'general', 'test server listens');
INSERT INTO fragments_fts(rowid, content, topic, keywords) VALUES (10, 'Sessions live for 30 minutes 30 ', 'login', 'Sessions live minutes');
PRAGMA application_id = 1397555202;
PRAGMA user_version = 1;
COMMIT;
