-- Questions that need several people: who said yes so far, as JSON, with their roles and how they proved who they are.
ALTER TABLE approval ADD COLUMN yeses TEXT NOT NULL DEFAULT '[]';

-- On whose behalf a call was started, and what counts those that were.
ALTER TABLE call ADD COLUMN subject TEXT;
CREATE INDEX call_started ON call (started_at) WHERE started_at IS NOT NULL;
