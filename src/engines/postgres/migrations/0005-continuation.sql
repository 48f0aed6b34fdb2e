-- 0005: what is remembered of each session so that it is sent on within bounds; plan items that wait for a person,
-- and which item of the host's own list a plan item stands for.
--
-- Older programs: one that is connected goes on, as nothing it knows is changed. One that starts afterwards refuses it.

ALTER TABLE turn_todos ADD COLUMN needs text;
ALTER TABLE turn_todos ADD COLUMN mirrors text;

CREATE TABLE continuations (
  id text PRIMARY KEY,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('on', 'off')),
  owner text,
  token integer NOT NULL,
  "leaseUntil" timestamptz,
  identity text,
  revision integer NOT NULL,
  "conversationId" text NOT NULL,
  host text,
  injections integer,
  fruitless integer,
  unshortened integer,
  "openBefore" integer,
  "completedBefore" integer,
  "injectedAt" text,
  hush text,
  "endedAt" text,
  -- the order of arrival
  n bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

CREATE INDEX continuations_conversation ON continuations ("conversationId");
CREATE UNIQUE INDEX continuations_identity ON continuations (identity) WHERE identity IS NOT NULL;
