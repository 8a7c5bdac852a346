-- On whose behalf a call was started, and what counts those that were.

ALTER TABLE call ADD COLUMN subject TEXT;
CREATE INDEX call_started ON call (started_at) WHERE started_at IS NOT NULL;
