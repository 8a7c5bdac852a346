-- Leases, results of lost attempts, and callers' keys.

-- How often the right to drive the run was taken. Whoever writes with a lower number is shut out.
ALTER TABLE run ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1 CHECK (epoch >= 1);

-- The same rows, with two more states: `open` (its last attempt is known not to have happened) and `unknown` (it has its
-- result, and nobody knows what it changed).
ALTER TABLE call RENAME TO call_1;
CREATE TABLE call (
    run_id           TEXT NOT NULL REFERENCES run (run_id),
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
    PRIMARY KEY (run_id, call_id)
) STRICT;
INSERT INTO call (run_id, call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key, approval_id,
                  started_at, settled_at)
SELECT run_id, call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key, approval_id, started_at,
       settled_at
FROM call_1;
-- What settled as unknown can be found out about.
UPDATE call SET state = 'unknown'
WHERE EXISTS (SELECT 1 FROM event
              WHERE event.run_id = call.run_id AND event.call_id = call.call_id AND event.kind = 'tool.failed'
                AND event.data ->> 'effect_state' = 'unknown');
DROP TABLE call_1;

-- Callers' keys: which call a key was first used for, and until when that is remembered.
CREATE TABLE caller_key (
    tenant     TEXT NOT NULL,
    key        TEXT NOT NULL,
    request    TEXT NOT NULL,
    run_id     TEXT NOT NULL REFERENCES run (run_id),
    call_id    TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;
CREATE INDEX caller_key_expiry ON caller_key (expires_at);
