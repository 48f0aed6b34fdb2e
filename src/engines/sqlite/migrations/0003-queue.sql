-- 0003: tasks for workers, and what items wait for.
--
-- Older programs: one that has the file open goes on, as nothing it knows is changed. One that starts afterwards refuses it.

CREATE TABLE queue_tasks (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL
    CHECK(status IN ('staged', 'to_execute', 'in_progress', 'completed', 'error', 'cancelled')),
  owner TEXT,
  token INTEGER NOT NULL,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL,
  slug TEXT NOT NULL,
  type TEXT NOT NULL,
  priority TEXT NOT NULL,
  rank INTEGER NOT NULL,
  posted TEXT NOT NULL,
  family INTEGER NOT NULL,
  number INTEGER NOT NULL,
  parent TEXT NOT NULL,
  targetWorker TEXT NOT NULL,
  session TEXT,
  discrete TEXT,
  dependsOn TEXT,
  waived TEXT,
  blockers INTEGER NOT NULL,
  children INTEGER NOT NULL,
  startedAt TEXT,
  finishedAt TEXT,
  checkpoints INTEGER NOT NULL,
  awaiting INTEGER NOT NULL
) STRICT;

-- What is claimed next, found without passing what is finished, blocked or meant for others.
CREATE INDEX queue_tasks_claim ON queue_tasks(blockers, targetWorker, rank, posted, family, id) WHERE status = 'to_execute';
-- Every task in its order, whatever its state: no move touches it.
CREATE INDEX queue_tasks_order ON queue_tasks(rank, posted, family, id);
CREATE INDEX queue_tasks_parent ON queue_tasks(parent);
-- What is open is little: it is found by its state, and sorted.
CREATE INDEX queue_tasks_claimed ON queue_tasks(leaseUntil) WHERE status = 'in_progress';
CREATE INDEX queue_tasks_staged ON queue_tasks(id) WHERE status = 'staged';
CREATE INDEX queue_tasks_error ON queue_tasks(id) WHERE status = 'error';
CREATE UNIQUE INDEX queue_tasks_identity ON queue_tasks(identity) WHERE identity IS NOT NULL;

-- Which item waits for which, by the table they are in; how many of them are open is counted in the item.
CREATE TABLE waits (
  list TEXT NOT NULL,
  item TEXT NOT NULL,
  needs TEXT NOT NULL,
  PRIMARY KEY (list, item, needs)
) STRICT, WITHOUT ROWID;

CREATE INDEX waits_needs ON waits(list, needs, item);

-- What lies in directories, as it was last seen.
CREATE TABLE files_queue_tasks (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL
    CHECK(status IN ('staged', 'to_execute', 'in_progress', 'completed', 'error', 'cancelled')),
  owner TEXT,
  token INTEGER NOT NULL,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL,
  slug TEXT NOT NULL,
  type TEXT NOT NULL,
  priority TEXT NOT NULL,
  rank INTEGER NOT NULL,
  posted TEXT NOT NULL,
  family INTEGER NOT NULL,
  number INTEGER NOT NULL,
  parent TEXT NOT NULL,
  targetWorker TEXT NOT NULL,
  session TEXT,
  discrete TEXT,
  dependsOn TEXT,
  waived TEXT,
  blockers INTEGER NOT NULL,
  children INTEGER NOT NULL,
  startedAt TEXT,
  finishedAt TEXT,
  checkpoints INTEGER NOT NULL,
  awaiting INTEGER NOT NULL
) STRICT;

-- What is claimed next, found without passing what is finished, blocked or meant for others.
CREATE INDEX files_queue_tasks_claim ON files_queue_tasks(blockers, targetWorker, rank, posted, family, id) WHERE status = 'to_execute';
-- Every task in its order, whatever its state: no move touches it.
CREATE INDEX files_queue_tasks_order ON files_queue_tasks(rank, posted, family, id);
CREATE INDEX files_queue_tasks_parent ON files_queue_tasks(parent);
-- What is open is little: it is found by its state, and sorted.
CREATE INDEX files_queue_tasks_claimed ON files_queue_tasks(leaseUntil) WHERE status = 'in_progress';
CREATE INDEX files_queue_tasks_staged ON files_queue_tasks(id) WHERE status = 'staged';
CREATE INDEX files_queue_tasks_error ON files_queue_tasks(id) WHERE status = 'error';
CREATE INDEX files_queue_tasks_identity ON files_queue_tasks(identity) WHERE identity IS NOT NULL;
