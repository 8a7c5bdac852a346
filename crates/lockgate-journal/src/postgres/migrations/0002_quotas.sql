-- On whose behalf a call was started, and what counts those that were.

ALTER TABLE lockgate.call ADD COLUMN subject text COLLATE "C";
CREATE INDEX call_started ON lockgate.call (tenant, started_at) WHERE started_at IS NOT NULL;
