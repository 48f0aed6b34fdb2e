-- 0007: when the user last spoke in a turn: what was planned before that may be cancelled without asking.
--
-- Older programs: one that has it open goes on, as nothing it knows is changed. One that starts afterwards refuses it.

ALTER TABLE turns ADD COLUMN "spokenAt" text;
