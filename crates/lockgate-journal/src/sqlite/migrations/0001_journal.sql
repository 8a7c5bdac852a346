-- Times are milliseconds since the Unix epoch. Words are those of the contract. `place` is the order of arrival.

CREATE TABLE run (
    place      INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL UNIQUE,
    tenant     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    title      TEXT NOT NULL,
    -- A projection of the run's events, for lists: NULL while a driver has it, or after one died.
    status     TEXT,
    -- The number of the next event. Raised in the same transaction as the events are written.
    next_seq   INTEGER NOT NULL CHECK (next_seq >= 1),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX run_newest ON run (created_at DESC, place DESC);

CREATE TABLE event (
    place   INTEGER PRIMARY KEY,
    run_id  TEXT NOT NULL REFERENCES run (run_id),
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    v       INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    call_id TEXT,
    -- The body's text, byte for byte.
    data    TEXT NOT NULL,
    UNIQUE (run_id, seq)
) STRICT;
CREATE TRIGGER event_is_never_rewritten BEFORE UPDATE ON event
BEGIN
    SELECT RAISE (ABORT, 'an event is never rewritten');
END;

-- A row is the right that was taken to run a call, or the mark that the call has its one result, or both.
CREATE TABLE call (
    run_id           TEXT NOT NULL REFERENCES run (run_id),
    call_id          TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('running', 'settled')),
    -- The last attempt that was started; 0 when the call settled without one.
    attempt          INTEGER NOT NULL CHECK (attempt >= 0),
    step             INTEGER,
    tool_name        TEXT,
    effect           TEXT,
    arguments_digest TEXT,
    idempotency_key  TEXT,
    approval_id      TEXT REFERENCES approval (approval_id),
    started_at       INTEGER,
    settled_at       INTEGER,
    PRIMARY KEY (run_id, call_id)
) STRICT;

CREATE TABLE approval (
    place        INTEGER PRIMARY KEY,
    approval_id  TEXT NOT NULL UNIQUE,
    tenant       TEXT NOT NULL,
    run_id       TEXT NOT NULL REFERENCES run (run_id),
    -- `expired` is never stored: the journal's clock says so whenever the row is read or used.
    state        TEXT NOT NULL CHECK (state IN ('pending', 'granted', 'denied', 'consumed', 'withdrawn')),
    requested_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    -- The question as it was asked, as JSON: what never changes.
    question     TEXT NOT NULL,
    decided_by   TEXT,
    decided_at   INTEGER,
    reason       TEXT,
    consumed_at  INTEGER
) STRICT;
CREATE INDEX approval_of_run ON approval (run_id, place);
CREATE INDEX approval_oldest ON approval (requested_at, place);

CREATE TABLE artifact (
    run_id      TEXT NOT NULL REFERENCES run (run_id),
    artifact_id TEXT NOT NULL,
    text        TEXT NOT NULL,
    PRIMARY KEY (run_id, artifact_id)
) STRICT;
