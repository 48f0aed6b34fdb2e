-- 0005: what is remembered of each session so that it is sent on within bounds; plan items that wait for a person,
-- and which item of the host's own list a plan item stands for.
--
-- Older programs: one that has the file open goes on, as nothing it knows is changed. One that starts afterwards refuses it.

ALTER TABLE turn_todos ADD COLUMN needs TEXT;
ALTER TABLE turn_todos ADD COLUMN mirrors TEXT;

CREATE TABLE continuations (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('on', 'off')),
  owner TEXT,
  token INTEGER NOT NULL,
  leaseUntil INTEGER,
  identity TEXT,
  revision INTEGER NOT NULL,
  conversationId TEXT NOT NULL,
  host TEXT,
  injections INTEGER,
  fruitless INTEGER,
  unshortened INTEGER,
  openBefore INTEGER,
  completedBefore INTEGER,
  injectedAt TEXT,
  hush TEXT,
  endedAt TEXT
) STRICT;

CREATE INDEX continuations_conversation ON continuations(conversationId);
CREATE UNIQUE INDEX continuations_identity ON continuations(identity) WHERE identity IS NOT NULL;
