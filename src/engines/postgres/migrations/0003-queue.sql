-- 0003: tasks for workers, and what items wait for.
--
-- What says which task comes first is compared byte by byte ("C"): the order must not depend on the language of the
-- database, and a position in it is remembered outside (see positions.ts).
--
-- Older programs: one that is connected goes on, as nothing it knows is changed. One that starts afterwards refuses it.

CREATE TABLE queue_tasks (
  id text COLLATE "C" PRIMARY KEY,
  title text NOT NULL,
  status text NOT NULL
    CHECK (status IN ('staged', 'to_execute', 'in_progress', 'completed', 'error', 'cancelled')),
  owner text,
  token integer NOT NULL,
  "leaseUntil" timestamptz,
  identity text,
  revision integer NOT NULL,
  slug text NOT NULL,
  type text NOT NULL,
  priority text NOT NULL,
  rank integer NOT NULL,
  posted text COLLATE "C" NOT NULL,
  -- up to fifteen digits, which the driver reads as numbers only in this type
  family double precision NOT NULL,
  number double precision NOT NULL,
  parent text COLLATE "C" NOT NULL,
  "targetWorker" text NOT NULL,
  session text,
  discrete text,
  "dependsOn" jsonb,
  waived jsonb,
  blockers integer NOT NULL,
  children integer NOT NULL,
  "startedAt" text,
  "finishedAt" text,
  checkpoints integer NOT NULL,
  awaiting integer NOT NULL,
  -- the order of arrival
  n bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- What is claimed next, found without passing what is finished, blocked or meant for others.
CREATE INDEX queue_tasks_claim ON queue_tasks (blockers, "targetWorker", rank, posted, family, id) WHERE status = 'to_execute';
-- What is not completed, by status. Completing then writes one index entry instead of two; whoever lists what is completed
-- reads the table.
CREATE INDEX queue_tasks_status ON queue_tasks (status, rank, posted, family, id) WHERE status <> 'completed';
CREATE INDEX queue_tasks_parent ON queue_tasks (parent, id) WHERE parent <> '';
CREATE INDEX queue_tasks_lease ON queue_tasks ("leaseUntil") WHERE "leaseUntil" IS NOT NULL;
CREATE UNIQUE INDEX queue_tasks_identity ON queue_tasks (identity) WHERE identity IS NOT NULL;

-- Which item waits for which, by the table they are in; how many of them are open is counted in the item.
CREATE TABLE waits (
  list text COLLATE "C" NOT NULL,
  item text COLLATE "C" NOT NULL,
  needs text COLLATE "C" NOT NULL,
  PRIMARY KEY (list, item, needs)
);

CREATE INDEX waits_needs ON waits (list, needs, item);

-- Counts down what waits for tasks that have moved to where nobody waits for them (step -1; 1 for the way back), and gives
-- back those that wait for nothing more. A function, because each of its statements sees what was committed before that
-- statement: by then the caller holds the rows of the tasks that moved, and whoever adds something that waits for them has
-- either committed or is waiting for those rows. Counted, not looked up anew: two who complete the last two needs of a task
-- at once do not see each other, but take their turns at its row. Rows are had in the order of their ids, so that no two
-- wait for each other. Plans are kept, and one made while the tables were small would read them whole when they are not.
CREATE FUNCTION queue_tasks_freed(moved text[], step integer)
RETURNS TABLE (id text, title text, status text, revision integer, token integer, needs text) LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
  IF NOT EXISTS (SELECT FROM waits w WHERE w.list = 'queue_tasks' AND w.needs = ANY (moved)) THEN
    RETURN;
  END IF;
  RETURN QUERY WITH d AS MATERIALIZED (
    SELECT t.id, w.count, w.needs FROM queue_tasks t JOIN (
      SELECT item, count(*)::int AS count, max(needs) AS needs FROM waits
      WHERE list = 'queue_tasks' AND needs = ANY (moved) GROUP BY item
    ) w ON w.item = t.id ORDER BY t.id FOR NO KEY UPDATE OF t
  ), u AS (
    UPDATE queue_tasks t SET blockers = t.blockers + step * d.count, revision = t.revision + 1 FROM d WHERE t.id = d.id
    RETURNING t.id, t.title, t.status, t.revision, t.token, d.needs, t.blockers
  ) SELECT u.id, u.title, u.status, u.revision, u.token, u.needs FROM u WHERE u.blockers = 0 AND step < 0;
END
$$;
