-- 0001: the plan of a turn, the turns, and the log of everything that happens.
--
-- turn_todos is a table other programs may know: its first thirteen columns, its
-- CHECK and the two idx_ indexes keep their names and meaning. Everything below
-- "ours" has a default, so that a row inserted by such a program is a good row.
--
-- Older programs: none.

CREATE TABLE turn_todos (
  id TEXT PRIMARY KEY,
  conversationId TEXT NOT NULL,
  turnId TEXT NOT NULL,
  title TEXT NOT NULL,
  context TEXT NOT NULL DEFAULT '',
  completionCriteria TEXT NOT NULL DEFAULT '',
  agentType TEXT,
  status TEXT NOT NULL DEFAULT 'pending'
    CHECK(status IN ('pending', 'in_progress', 'completed', 'cancelled')),
  priority INTEGER NOT NULL DEFAULT 0,
  outcome TEXT,
  createdAt TEXT NOT NULL,
  startedAt TEXT,
  completedAt TEXT,
  -- ours: whose it is
  owner TEXT,
  token INTEGER NOT NULL DEFAULT 0,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  -- ours: how its completion is believed, and where it came from
  completionMode TEXT,
  checkCommand TEXT,
  evidence TEXT,
  verification TEXT,
  verifiedAt TEXT,
  carriedFrom TEXT
) STRICT;

CREATE INDEX idx_turn_todos_turn ON turn_todos(turnId, status);
CREATE INDEX idx_turn_todos_conversation ON turn_todos(conversationId, turnId);

-- What remains of a turn, its counts and its next item, each without touching what is finished.
CREATE INDEX turn_todos_open ON turn_todos(conversationId, turnId, status, priority);
CREATE INDEX turn_todos_lease ON turn_todos(leaseUntil) WHERE leaseUntil IS NOT NULL;
CREATE UNIQUE INDEX turn_todos_identity ON turn_todos(identity) WHERE identity IS NOT NULL;

CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('open', 'ended')),
  conversationId TEXT NOT NULL,
  turnId TEXT NOT NULL,
  named INTEGER NOT NULL,
  completionMode TEXT NOT NULL CHECK(completionMode IN ('self', 'evidence', 'verified')),
  checkCommand TEXT,
  createdAt TEXT NOT NULL,
  endedAt TEXT,
  owner TEXT,
  token INTEGER NOT NULL DEFAULT 0,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX turns_open ON turns(conversationId, status);
CREATE INDEX turns_turn ON turns(conversationId, turnId);
CREATE UNIQUE INDEX turns_identity ON turns(identity) WHERE identity IS NOT NULL;

-- Nothing is ever deleted here, so a number is never given twice, and whoever follows the log goes on from the last one seen.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT NOT NULL,
  "from" TEXT,
  "to" TEXT NOT NULL,
  by TEXT NOT NULL,
  why TEXT,
  revision INTEGER NOT NULL,
  token INTEGER NOT NULL
) STRICT;

-- How often this machine has been started since the file was made: leases are
-- measured in time since then, which no change of the wall clock can move.
CREATE TABLE boots (
  number INTEGER PRIMARY KEY,
  boot TEXT NOT NULL UNIQUE
) STRICT;
