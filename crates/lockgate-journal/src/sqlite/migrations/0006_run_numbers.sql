-- Events and calls name their run by its `place`. The ids of runs are random, and entries of an index that begin with one lie scattered:
-- each call wrote pages of its own. Places grow, so that what is written together lies together.

ALTER TABLE event RENAME TO event_1;
DROP TRIGGER event_is_never_rewritten;
CREATE TABLE event (
    place   INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES run (place),
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    v       INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    call_id TEXT,
    -- The body's text, byte for byte.
    data    TEXT NOT NULL,
    hash    TEXT,
    UNIQUE (run, seq)
) STRICT;
INSERT INTO event (place, run, seq, at, kind, v, step, call_id, data, hash)
SELECT event_1.place, run.place, seq, at, event_1.kind, v, step, call_id, data, hash
FROM event_1 JOIN run ON run.run_id = event_1.run_id
ORDER BY event_1.place;
DROP TABLE event_1;
CREATE TRIGGER event_is_never_rewritten BEFORE UPDATE ON event
BEGIN
    SELECT RAISE (ABORT, 'an event is never rewritten');
END;

ALTER TABLE call RENAME TO call_2;
DROP INDEX call_of_approval;
DROP INDEX call_unsettled;
DROP INDEX call_started;
-- One tree, in the order of its key: a row is small, and found by nothing else.
CREATE TABLE call (
    run              INTEGER NOT NULL REFERENCES run (place),
    call_id          TEXT NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('running', 'open', 'unknown', 'settled')),
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
    -- On whose behalf it was started.
    subject          TEXT,
    PRIMARY KEY (run, call_id)
) STRICT, WITHOUT ROWID;
INSERT INTO call (run, call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key, approval_id, started_at,
                  settled_at, subject)
SELECT run.place, call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key, approval_id, started_at,
       settled_at, subject
FROM call_2 JOIN run ON run.run_id = call_2.run_id
ORDER BY run.place, call_id;
DROP TABLE call_2;
CREATE INDEX call_of_approval ON call (approval_id) WHERE approval_id IS NOT NULL;
CREATE INDEX call_started ON call (started_at) WHERE started_at IS NOT NULL;
-- Few of many: a call that runs is not among them, so that one that is settled as known never comes here.
CREATE INDEX call_unknown ON call (run) WHERE state = 'unknown';
