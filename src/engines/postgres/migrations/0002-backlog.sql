-- 0002: todos that were found or are to be done, the texts that are kept with items, and the numbers of lists.
--
-- What a todo may hold is judged before it is written; the table holds it to its status words alone, because files that
-- others wrote come here as they are.
--
-- Older programs: one that is connected goes on, as nothing it knows is changed. One that starts afterwards refuses it.

CREATE TABLE backlog_todos (
  id text PRIMARY KEY,
  title text NOT NULL,
  status text NOT NULL
    CHECK (status IN ('pending', 'ready', 'in_progress', 'complete', 'blocked', 'wont_fix', 'interrupted')),
  owner text,
  token integer NOT NULL,
  "leaseUntil" timestamptz,
  identity text,
  revision integer NOT NULL,
  workflow text NOT NULL,
  session text NOT NULL,
  file text NOT NULL,
  schema_version integer,
  priority text,
  issue_id text NOT NULL,
  source text NOT NULL,
  source_ref text,
  finding_id text,
  finding_severity text,
  tags jsonb,
  dependencies jsonb,
  files jsonb,
  assigned_to text,
  work_session text,
  created text,
  updated text,
  resolution text,
  resolution_reason text,
  resolved_by text,
  resolved_at text,
  claimed_at text,
  completed_by text,
  completed_at text,
  mend_fixer_claim text,
  duplicate_of text,
  related_todos jsonb,
  workflow_chain jsonb,
  execution_order integer,
  wave integer,
  extra jsonb,
  -- the order of arrival
  n bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- What is open in a session, its counts, and which sessions there are.
CREATE INDEX backlog_todos_session ON backlog_todos (workflow, session, status);
CREATE INDEX backlog_todos_lease ON backlog_todos ("leaseUntil") WHERE "leaseUntil" IS NOT NULL;
CREATE UNIQUE INDEX backlog_todos_identity ON backlog_todos (identity) WHERE identity IS NOT NULL;

-- Longer texts of an item, out of the way of whoever looks through the items.
CREATE TABLE texts (
  kind text NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (kind, id, name)
);

-- The highest number ever given in a list: one is not given twice, even when its item is gone. Whoever adds to a list holds
-- its row until the end of the transaction.
CREATE TABLE numbers (
  kind text NOT NULL,
  list text NOT NULL,
  last bigint NOT NULL,
  PRIMARY KEY (kind, list)
) WITH (fillfactor = 50);

-- The history of one item without reading the whole log.
CREATE INDEX events_by_item ON events (kind, id, seq);
