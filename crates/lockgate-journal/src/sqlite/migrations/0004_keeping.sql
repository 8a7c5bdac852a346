-- Hashes of chained runs, and what finds the rows that hang on a run that is removed or exported.

-- The hash of the run's last event; NULL where its events are not chained.
ALTER TABLE run ADD COLUMN head TEXT;
ALTER TABLE event ADD COLUMN hash TEXT;

CREATE INDEX caller_key_of_run ON caller_key (run_id);
CREATE INDEX call_of_approval ON call (approval_id) WHERE approval_id IS NOT NULL;
-- Few of many: what nobody knows yet.
CREATE INDEX call_unsettled ON call (run_id) WHERE state IN ('running', 'unknown');
