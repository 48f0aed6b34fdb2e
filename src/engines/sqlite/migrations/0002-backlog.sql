-- 0002: todos that were found or are to be done, the texts that are kept with items, and the numbers of lists.
--
-- What a todo may hold is judged before it is written; the table holds it to its status words alone, because files that
-- others wrote come here as they are.
--
-- Older programs: one that has the file open goes on, as nothing it knows is changed. One that starts afterwards refuses it.

CREATE TABLE backlog_todos (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL
    CHECK(status IN ('pending', 'ready', 'in_progress', 'complete', 'blocked', 'wont_fix', 'interrupted')),
  owner TEXT,
  token INTEGER NOT NULL,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  session TEXT NOT NULL,
  file TEXT NOT NULL,
  schema_version INTEGER,
  priority TEXT,
  issue_id TEXT NOT NULL,
  source TEXT NOT NULL,
  source_ref TEXT,
  finding_id TEXT,
  finding_severity TEXT,
  tags TEXT,
  dependencies TEXT,
  files TEXT,
  assigned_to TEXT,
  work_session TEXT,
  created TEXT,
  updated TEXT,
  resolution TEXT,
  resolution_reason TEXT,
  resolved_by TEXT,
  resolved_at TEXT,
  claimed_at TEXT,
  completed_by TEXT,
  completed_at TEXT,
  mend_fixer_claim TEXT,
  duplicate_of TEXT,
  related_todos TEXT,
  workflow_chain TEXT,
  execution_order INTEGER,
  wave INTEGER,
  extra TEXT
) STRICT;

-- What is open in a session, its counts, and which sessions there are.
CREATE INDEX backlog_todos_session ON backlog_todos(workflow, session, status);
CREATE INDEX backlog_todos_lease ON backlog_todos(leaseUntil) WHERE leaseUntil IS NOT NULL;
CREATE UNIQUE INDEX backlog_todos_identity ON backlog_todos(identity) WHERE identity IS NOT NULL;

-- Longer texts of an item, out of the way of whoever looks through the items.
CREATE TABLE texts (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (kind, id, name)
) STRICT;

-- The highest number ever given in a list: one is not given twice, even when its item is gone.
CREATE TABLE numbers (
  kind TEXT NOT NULL,
  list TEXT NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (kind, list)
) STRICT, WITHOUT ROWID;

-- The history of one item without reading the whole log.
CREATE INDEX events_by_item ON events(kind, id, seq);

-- What lies in files, as it was last read; an identity may stand in several of them, since others write there too.
CREATE TABLE files_backlog_todos (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL
    CHECK(status IN ('pending', 'ready', 'in_progress', 'complete', 'blocked', 'wont_fix', 'interrupted')),
  owner TEXT,
  token INTEGER NOT NULL,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL,
  workflow TEXT NOT NULL,
  session TEXT NOT NULL,
  file TEXT NOT NULL,
  schema_version INTEGER,
  priority TEXT,
  issue_id TEXT NOT NULL,
  source TEXT NOT NULL,
  source_ref TEXT,
  finding_id TEXT,
  finding_severity TEXT,
  tags TEXT,
  dependencies TEXT,
  files TEXT,
  assigned_to TEXT,
  work_session TEXT,
  created TEXT,
  updated TEXT,
  resolution TEXT,
  resolution_reason TEXT,
  resolved_by TEXT,
  resolved_at TEXT,
  claimed_at TEXT,
  completed_by TEXT,
  completed_at TEXT,
  mend_fixer_claim TEXT,
  duplicate_of TEXT,
  related_todos TEXT,
  workflow_chain TEXT,
  execution_order INTEGER,
  wave INTEGER,
  extra TEXT
) STRICT;

-- A list of thousands shows little of each: it is read from the index alone.
CREATE INDEX files_backlog_todos_session
  ON files_backlog_todos(workflow, session, status, id, priority, title, assigned_to);
CREATE INDEX files_backlog_todos_lease ON files_backlog_todos(leaseUntil) WHERE leaseUntil IS NOT NULL;
CREATE INDEX files_backlog_todos_identity ON files_backlog_todos(identity) WHERE identity IS NOT NULL;

-- The files themselves, by folder and name: how each looked when it was read, the item in it, or what could not be read.
CREATE TABLE files (
  folder TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  item TEXT,
  -- Inode and size in one number; and when it was last changed, negative where it was read so soon after that that
  -- another change might not show. Real numbers, as inodes can be larger than the integers of JavaScript.
  node REAL NOT NULL,
  changed REAL NOT NULL,
  written REAL NOT NULL,
  line INTEGER,
  message TEXT,
  PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX files_unreadable ON files(folder) WHERE message IS NOT NULL;
