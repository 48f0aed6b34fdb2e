-- 0006: the paths that a task will write, what it was made of, and when wards found it to be done.
--
-- Older programs: one that has it open goes on, as nothing it knows is changed. One that starts afterwards refuses it.

ALTER TABLE queue_tasks ADD COLUMN writes TEXT;
ALTER TABLE queue_tasks ADD COLUMN origin TEXT;
ALTER TABLE queue_tasks ADD COLUMN verifiedAt TEXT;

ALTER TABLE files_queue_tasks ADD COLUMN writes TEXT;
ALTER TABLE files_queue_tasks ADD COLUMN origin TEXT;
ALTER TABLE files_queue_tasks ADD COLUMN verifiedAt TEXT;
