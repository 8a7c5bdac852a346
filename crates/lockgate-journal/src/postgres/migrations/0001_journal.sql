-- Times are milliseconds since the Unix epoch. Words are those of the contract. `place` is the order of arrival. Ids are
-- compared byte by byte, so that no index depends on the machine's collations. Texts that people, callers and tools wrote
-- are bytea (UTF-8): they may hold a NUL, which PostgreSQL's text cannot.

CREATE TABLE lockgate.run (
    run_id       text COLLATE "C" PRIMARY KEY,
    tenant       text COLLATE "C" NOT NULL,
    place        bigint GENERATED ALWAYS AS IDENTITY,
    kind         text NOT NULL,
    title        bytea NOT NULL,
    -- A projection of the run's events, for lists: NULL while a driver has it, or after one died.
    status       text,
    -- The number of the next event. Raised in the same transaction as the events are written.
    next_seq     bigint NOT NULL CHECK (next_seq >= 1),
    -- How often the right to drive the run was taken. Whoever writes with a lower number is shut out.
    epoch        bigint NOT NULL CHECK (epoch >= 1),
    -- Who has that right, and until when; NULL when it was given back.
    lease_holder text,
    lease_until  bigint,
    -- The hash of the last event; NULL where the run's events are not chained.
    head         text,
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    -- What the tables below refer to, so that a row of one tenant cannot hang on a run of another one.
    UNIQUE (tenant, run_id)
) WITH (fillfactor = 80);
CREATE INDEX run_newest ON lockgate.run (created_at DESC, place DESC);
-- Runs that somebody may drive on, longest unchanged first.
CREATE INDEX run_open ON lockgate.run (updated_at, place)
WHERE status IS NULL OR status IN ('waiting_for_approval', 'needs_reconciliation');

CREATE TABLE lockgate.event (
    tenant  text COLLATE "C" NOT NULL,
    run_id  text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL CHECK (seq >= 1),
    at      bigint NOT NULL,
    kind    text NOT NULL,
    v       bigint NOT NULL,
    step    bigint NOT NULL,
    call_id text COLLATE "C",
    -- The body's text, byte for byte. JSON text holds no raw NUL.
    data    text NOT NULL,
    hash    text,
    PRIMARY KEY (run_id, seq),
    FOREIGN KEY (tenant, run_id) REFERENCES lockgate.run (tenant, run_id)
);
-- Only whole runs go, in a transaction that names the one that it removes.
CREATE FUNCTION lockgate.refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.run_id = current_setting('lockgate.pruning', true) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'an event is never rewritten' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER event_is_never_rewritten BEFORE UPDATE OR DELETE ON lockgate.event
FOR EACH ROW EXECUTE FUNCTION lockgate.refuse_rewriting();
CREATE TRIGGER events_are_never_emptied BEFORE TRUNCATE ON lockgate.event
FOR EACH STATEMENT EXECUTE FUNCTION lockgate.refuse_rewriting();

CREATE TABLE lockgate.approval (
    approval_id  text COLLATE "C" PRIMARY KEY,
    tenant       text COLLATE "C" NOT NULL,
    place        bigint GENERATED ALWAYS AS IDENTITY,
    run_id       text COLLATE "C" NOT NULL,
    call_id      text COLLATE "C" NOT NULL,
    -- `expired` is never stored: the journal's clock says so whenever the row is read or used.
    state        text NOT NULL CHECK (state IN ('pending', 'granted', 'denied', 'consumed', 'withdrawn')),
    requested_at bigint NOT NULL,
    expires_at   bigint NOT NULL,
    -- The question as it was asked, as JSON: what never changes.
    question     text NOT NULL,
    decided_by   bytea,
    decided_at   bigint,
    reason       bytea,
    consumed_at  bigint,
    FOREIGN KEY (tenant, run_id) REFERENCES lockgate.run (tenant, run_id)
);
CREATE INDEX approval_of_run ON lockgate.approval (run_id, call_id);
CREATE INDEX approval_oldest ON lockgate.approval (requested_at, place);

-- A row is the right that was taken to run a call, or the mark that the call has its one result, or both.
CREATE TABLE lockgate.call (
    tenant           text COLLATE "C" NOT NULL,
    run_id           text COLLATE "C" NOT NULL,
    call_id          text COLLATE "C" NOT NULL,
    -- `open`: its last attempt is known not to have happened. `unknown`: it has its result, and nobody knows what it
    -- changed.
    state            text NOT NULL CHECK (state IN ('running', 'open', 'unknown', 'settled')),
    -- The last attempt that was started; 0 when the call settled without one.
    attempt          bigint NOT NULL CHECK (attempt >= 0),
    step             bigint,
    tool_name        text,
    effect           text,
    arguments_digest text,
    idempotency_key  text,
    approval_id      text COLLATE "C" REFERENCES lockgate.approval (approval_id),
    started_at       bigint,
    settled_at       bigint,
    PRIMARY KEY (run_id, call_id),
    FOREIGN KEY (tenant, run_id) REFERENCES lockgate.run (tenant, run_id)
) WITH (fillfactor = 80);
CREATE INDEX call_of_approval ON lockgate.call (approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX call_unsettled ON lockgate.call (run_id) WHERE state IN ('running', 'unknown');

CREATE TABLE lockgate.artifact (
    tenant      text COLLATE "C" NOT NULL,
    run_id      text COLLATE "C" NOT NULL,
    artifact_id text COLLATE "C" NOT NULL,
    text        bytea NOT NULL,
    PRIMARY KEY (run_id, artifact_id),
    FOREIGN KEY (tenant, run_id) REFERENCES lockgate.run (tenant, run_id)
);

-- Callers' keys: which call a key was first used for, and until when that is remembered.
CREATE TABLE lockgate.caller_key (
    tenant     text COLLATE "C" NOT NULL,
    key        bytea NOT NULL,
    request    text NOT NULL,
    run_id     text COLLATE "C" NOT NULL REFERENCES lockgate.run (run_id),
    call_id    text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX caller_key_expiry ON lockgate.caller_key (expires_at);
CREATE INDEX caller_key_of_run ON lockgate.caller_key (run_id);

-- Tenants apart, for whoever connects, the owner too: a transaction sees the rows of the tenant that it names; an operator's
-- journal names `*` and sees all; who names nobody sees nothing. (After the transaction that first set it, PostgreSQL says
-- '' instead of NULL.)
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['run', 'event', 'approval', 'call', 'artifact', 'caller_key'] LOOP
        EXECUTE format('ALTER TABLE lockgate.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenants_apart ON lockgate.%I
             USING (tenant = (SELECT nullif(current_setting(''lockgate.tenant'', true), ''''))
                    OR (SELECT current_setting(''lockgate.tenant'', true)) = ''*'')',
            name);
    END LOOP;
END
$$;
