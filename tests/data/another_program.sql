-- The tables and 300 fragments as another program makes them.
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA agent_memory;
CREATE TABLE agent_memory.fragments (
  id text PRIMARY KEY, content text NOT NULL, topic text NOT NULL,
  keywords text[] NOT NULL DEFAULT '{}', type text NOT NULL CHECK (type IN ('fact', 'decision',
  'error', 'preference', 'procedure', 'relation')), importance real CHECK (importance <= 1.0),
  content_hash text UNIQUE, source text, linked_to text[] DEFAULT '{}',
  agent_id text NOT NULL DEFAULT 'default', access_count integer DEFAULT 0,
  accessed_at timestamptz, created_at timestamptz DEFAULT now(), ttl_tier text DEFAULT 'warm',
  estimated_tokens integer DEFAULT 0, utility_score real DEFAULT 1.0,
  verified_at timestamptz DEFAULT now(), embedding vector(1536), is_anchor boolean DEFAULT false);
CREATE TABLE agent_memory.fragment_links (id bigserial PRIMARY KEY,
  from_id text REFERENCES agent_memory.fragments ON DELETE CASCADE,
  to_id text REFERENCES agent_memory.fragments ON DELETE CASCADE,
  relation_type text DEFAULT 'related', created_at timestamptz DEFAULT now(),
  UNIQUE (from_id, to_id));
CREATE TABLE agent_memory.fragment_versions (id bigserial PRIMARY KEY,
  fragment_id text REFERENCES agent_memory.fragments ON DELETE CASCADE, content text, topic text,
  keywords text[], type text, importance real, amended_at timestamptz DEFAULT now(),
  amended_by text);
CREATE TABLE agent_memory.tool_feedback (id bigserial PRIMARY KEY, tool_name text, relevant boolean,
  sufficient boolean, suggestion text, context text, session_id text, trigger_type text,
  created_at timestamptz DEFAULT now());
CREATE TABLE agent_memory.task_feedback (id bigserial PRIMARY KEY, session_id text,
  overall_success boolean, tool_highlights text[], tool_pain_points text[],
  created_at timestamptz DEFAULT now());
ALTER TABLE agent_memory.fragments ENABLE ROW LEVEL SECURITY;
CREATE POLICY fragment_isolation_policy ON agent_memory.fragments USING
  (agent_id = current_setting('app.current_agent_id', true) OR agent_id = 'default'
   OR current_setting('app.current_agent_id', true) IN ('system', 'admin'));
INSERT INTO agent_memory.fragments (id, content, topic, keywords, type, importance, content_hash,
  linked_to, agent_id, ttl_tier, is_anchor, embedding, access_count)
  SELECT 'f' || i, 'Text number ' || i, 'Topic', ARRAY['Key', 'k' || i],
  CASE WHEN i % 2 = 0 THEN 'procedure' ELSE 'fact' END, 0.3, 'h' || i,
  CASE WHEN i > 1 AND i <= 11 THEN ARRAY['f1'] END, CASE WHEN i % 3 = 0 THEN 'alice' ELSE 'default'
  END, CASE WHEN i % 5 = 0 THEN 'permanent' ELSE 'warm' END, i % 7 = 0,
  CASE WHEN i % 10 = 0 THEN (SELECT array_agg((i % 13 + d) % 17) FROM generate_series(1, 1536)
  d)::vector END, NULLIF(i % 4, 0) FROM generate_series(1, 300) i;
INSERT INTO agent_memory.fragment_links (from_id, to_id, relation_type)
  VALUES ('f1', 'f2', 'caused_by'), ('f20', 'f30', 'related');
INSERT INTO agent_memory.fragment_versions (fragment_id, content, topic, keywords, type, importance,
  amended_by) SELECT 'f' || i, 'before', 't', ARRAY['old'], 'fact', 0.7, 'alice'
  FROM generate_series(1, 50) i;
INSERT INTO agent_memory.tool_feedback (tool_name, relevant, sufficient)
  SELECT 'recall', true, false FROM generate_series(1, 20);
INSERT INTO agent_memory.task_feedback (overall_success) VALUES (true);
