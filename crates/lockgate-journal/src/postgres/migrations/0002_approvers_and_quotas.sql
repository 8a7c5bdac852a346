-- Questions that need several people: who said yes so far, as JSON, with their roles and how they proved who they are.
ALTER TABLE lockgate.approval ADD COLUMN yeses text NOT NULL DEFAULT '[]';

-- On whose behalf a call was started, and what counts those that were.
ALTER TABLE lockgate.call ADD COLUMN subject text COLLATE "C";
CREATE INDEX call_started ON lockgate.call (tenant, started_at) WHERE started_at IS NOT NULL;
