-- So many fragments that a plan counts: half of them are one agent's, whom the planner takes to have
-- as few as the others have.
INSERT INTO agent_memory.fragments
  (id, content, topic, type, importance, created_at, agent_id, content_hash, plain_keywords, found_by)
SELECT 'f' || n, 'text ' || n, 't', CASE n % 2 WHEN 0 THEN 'fact' ELSE 'error' END, n % 97 / 100.0,
  now() - n * interval '1 minute',
  CASE WHEN n <= ${many} THEN '${agent}' ELSE 'agent' || n % ${others} END, n::text,
  ARRAY['every', 'rare' || n / ${rare}],
  array_to_tsvector(
    ARRAY['text', translate((n / ${rare})::text, '0123456789', 'abcdefghij') || 'zz'])
FROM generate_series(1, 2 * ${many}) n;
-- Else the first to write would find texts by their contents.
INSERT INTO agent_memory.state (agent_id, name, value) VALUES ('', 'index', '${indexed}');
ANALYZE;
