-- 0004: what each worker did and decided. The account itself is a text of its worklog.
--
-- Older programs: one that is connected goes on, as nothing it knows is changed. One that starts afterwards refuses it.

CREATE TABLE worklogs (
  id text PRIMARY KEY,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'completed', 'interrupted', 'unknown')),
  owner text,
  token integer NOT NULL,
  "leaseUntil" timestamptz,
  identity text,
  revision integer NOT NULL,
  workflow text NOT NULL,
  session text NOT NULL,
  worker text NOT NULL,
  file text NOT NULL,
  role text,
  plan_path text,
  extra jsonb,
  -- the order of arrival
  n bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- The workers of a session, its counts, and which sessions there are.
CREATE INDEX worklogs_session ON worklogs (workflow, session, status);
CREATE UNIQUE INDEX worklogs_identity ON worklogs (identity) WHERE identity IS NOT NULL;
