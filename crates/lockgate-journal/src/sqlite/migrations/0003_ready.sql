-- Runs that somebody may drive on, longest unchanged first.
CREATE INDEX run_open ON run (updated_at, place)
WHERE status IS NULL OR status IN ('waiting_for_approval', 'needs_reconciliation');
