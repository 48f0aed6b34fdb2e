-- 0004: what each worker did and decided. The account itself is a text of its worklog.
--
-- Older programs: one that has the file open goes on, as nothing it knows is changed. One that starts afterwards refuses it.

CREATE TABLE worklogs (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('active', 'completed', 'interrupted', 'unknown')),
  owner TEXT,
  token INTEGER NOT NULL,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  session TEXT NOT NULL,
  worker TEXT NOT NULL,
  file TEXT NOT NULL,
  role TEXT,
  plan_path TEXT,
  extra TEXT
) STRICT;

-- The workers of a session, its counts, and which sessions there are.
CREATE INDEX worklogs_session ON worklogs(workflow, session, status);
CREATE UNIQUE INDEX worklogs_identity ON worklogs(identity) WHERE identity IS NOT NULL;

-- What lies in files, as it was last read.
CREATE TABLE files_worklogs (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('active', 'completed', 'interrupted', 'unknown')),
  owner TEXT,
  token INTEGER NOT NULL,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  session TEXT NOT NULL,
  worker TEXT NOT NULL,
  file TEXT NOT NULL,
  role TEXT,
  plan_path TEXT,
  extra TEXT
) STRICT;

CREATE INDEX files_worklogs_session ON files_worklogs(workflow, session, status);
CREATE INDEX files_worklogs_identity ON files_worklogs(identity) WHERE identity IS NOT NULL;
