//! Every statement of the journal. They are prepared when a connection is made, so that later ones can be sent without
//! waiting for the answers of earlier ones.

/// Names each statement, and lists them all.
macro_rules! statements {
    ($($(#[$why:meta])* $name:ident: $sql:expr;)+) => {
        /// A statement that every connection has prepared.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Statement {
            $($(#[$why])* $name,)+
        }

        impl Statement {
            /// All of them: each stands at its own number.
            pub(super) const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its text.
            pub(super) fn sql(self) -> &'static str {
                match self {
                    $(Self::$name => $sql,)+
                }
            }
        }
    };
}

statements! {
    /// For this transaction alone, so that a connection that goes to others takes nothing along: whose rows there are, how
    /// long to wait for a row that another one writes, and how long this one may keep others waiting while it does nothing.
    Configure: "SELECT set_config('lockgate.tenant', $1, true), set_config('lock_timeout', $2, true),
                       set_config('idle_in_transaction_session_timeout', $2, true)";
    /// The time now: not when the transaction began, which may have waited since.
    Now: "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    /// INVARIANT: whoever writes into a run has this lock; so its numbers have no gaps, and its lease is looked at in the
    /// transaction that writes.
    Lock: "SELECT tenant, epoch, next_seq, lease_until, head FROM lockgate.run WHERE run_id = $1 FOR UPDATE";
    CreateRun: "INSERT INTO lockgate.run (run_id, tenant, kind, title, next_seq, epoch, lease_holder, lease_until,
                                          created_at, updated_at, head)
                VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $8, $9)
                ON CONFLICT (run_id) DO NOTHING";
    TakeLease: "UPDATE lockgate.run SET epoch = $2, lease_holder = $3, lease_until = $4 WHERE run_id = $1";
    /// The step that a run is in.
    Step: "SELECT coalesce(max(step), 0)::bigint FROM lockgate.event WHERE run_id = $1";
    RenewLease: "UPDATE lockgate.run SET lease_until = $2 WHERE run_id = $1";
    ReleaseLease: "UPDATE lockgate.run SET lease_holder = NULL, lease_until = NULL WHERE run_id = $1 AND epoch = $2";
    /// Takes numbers from the run's counter.
    Advance: "UPDATE lockgate.run
              SET next_seq = next_seq + $2, updated_at = $3, status = CASE WHEN $4 THEN $5 ELSE status END, head = $7
              WHERE run_id = $1 AND next_seq = $6";
    InsertEvents: "INSERT INTO lockgate.event (tenant, run_id, seq, at, kind, v, step, call_id, data, hash)
                   SELECT $1, $2, e.seq, e.at, e.kind, e.v, e.step, e.call_id, e.data, e.hash
                   FROM unnest($3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[],
                               $10::text[])
                        AS e (at, seq, kind, v, step, call_id, data, hash)";
    /// Tells whoever watches which runs have something new.
    Notify: "SELECT pg_notify('lockgate_runs', run_id) FROM unnest($1::text[]) AS run_id";
    Ask: "INSERT INTO lockgate.approval (approval_id, tenant, run_id, call_id, state, requested_at, expires_at, question)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
          ON CONFLICT (approval_id) DO NOTHING";
    Claim: "INSERT INTO lockgate.call AS c (tenant, run_id, call_id, state, attempt, step, tool_name, effect,
                                            arguments_digest, idempotency_key, approval_id, started_at, subject)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            ON CONFLICT (run_id, call_id) DO UPDATE
            SET state = excluded.state, attempt = excluded.attempt, step = excluded.step, tool_name = excluded.tool_name,
                effect = excluded.effect, arguments_digest = excluded.arguments_digest,
                idempotency_key = excluded.idempotency_key, approval_id = excluded.approval_id,
                started_at = excluded.started_at, subject = excluded.subject";
    /// One claim of a tenant's after the other, where they are counted together.
    CountAlone: "SELECT pg_advisory_xact_lock(hashtextextended('lockgate.quota.' || $1, 0))";
    /// Those of run `$3` alone where it is given, and never call `$4` of run `$2`.
    Admitted: "SELECT count(*) FROM lockgate.call
               WHERE tenant = $1 AND started_at > $5 AND ($3::text IS NULL OR run_id = $3)
                 AND (run_id <> $2 OR call_id <> $4)
                 AND ($6::text IS NULL OR tool_name = $6) AND ($7::text IS NULL OR effect = $7)
                 AND ($8::text IS NULL OR subject = $8)";
    Consume: "UPDATE lockgate.approval SET state = $2, consumed_at = $3 WHERE approval_id = $1";
    /// Waits for another transaction that takes the same key.
    TakeKey: "INSERT INTO lockgate.caller_key (tenant, key, request, run_id, call_id, expires_at)
              VALUES ($1, $2, $3, $4, $5, $6)
              ON CONFLICT (tenant, key) DO NOTHING";
    KeyHolder: "SELECT run_id, call_id, request, expires_at FROM lockgate.caller_key
                WHERE tenant = $1 AND key = $2 FOR UPDATE";
    PassKey: "UPDATE lockgate.caller_key SET request = $3, run_id = $4, call_id = $5, expires_at = $6
              WHERE tenant = $1 AND key = $2";
    Settle: "INSERT INTO lockgate.call AS c (tenant, run_id, call_id, state, attempt, settled_at)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (run_id, call_id) DO UPDATE
             SET state = excluded.state, attempt = greatest(c.attempt, excluded.attempt), settled_at = excluded.settled_at";
    Reconcile: "UPDATE lockgate.call SET state = $3 WHERE run_id = $1 AND call_id = $2";
    Withdraw: "UPDATE lockgate.approval SET state = $2 WHERE approval_id = ANY ($1)";
    Keep: "INSERT INTO lockgate.artifact (tenant, run_id, artifact_id, text) VALUES ($1, $2, $3, $4)
           ON CONFLICT (run_id, artifact_id) DO NOTHING";
    Decide: "UPDATE lockgate.approval SET state = $2, decided_by = $3, decided_at = $4, reason = $5, yeses = $6
             WHERE approval_id = $1";
    Run: "SELECT run_id, tenant, kind, title, status, next_seq, created_at, updated_at, head FROM lockgate.run WHERE run_id = $1";
    Runs: "SELECT run_id, tenant, kind, title, status, next_seq, created_at, updated_at, head FROM lockgate.run
           WHERE $1::text IS NULL OR status = $1 ORDER BY created_at DESC, place DESC LIMIT $2";
    /// Whoever looks at the same moment is shown others, and a run into which somebody writes at this moment is driven.
    Ready: "SELECT run_id, tenant, kind, title, status, next_seq, created_at, updated_at, head FROM lockgate.run
            WHERE (status IS NULL OR status IN ('waiting_for_approval', 'needs_reconciliation'))
              AND (lease_until IS NULL OR lease_until <= $2)
              AND CASE
                  WHEN status IS NULL THEN TRUE
                  WHEN status = 'needs_reconciliation' THEN NOT EXISTS (
                      SELECT 1 FROM lockgate.call AS c WHERE c.run_id = run.run_id AND c.state = 'unknown')
                  ELSE kind = 'agent' AND EXISTS (
                      SELECT 1 FROM lockgate.approval AS a
                      WHERE a.run_id = run.run_id
                        AND (a.state IN ('granted', 'denied', 'withdrawn') OR a.state = 'pending' AND a.expires_at <= $2)
                        AND NOT EXISTS (
                            SELECT 1 FROM lockgate.call AS c
                            WHERE c.run_id = a.run_id AND c.call_id = a.call_id AND c.state IN ('unknown', 'settled'))
                        AND NOT EXISTS (
                            SELECT 1 FROM lockgate.approval AS o
                            WHERE o.run_id = a.run_id AND o.call_id = a.call_id AND o.state = 'pending'
                              AND o.expires_at > $2))
                  END
            ORDER BY updated_at, place LIMIT $1 FOR UPDATE OF run SKIP LOCKED";
    Events: "SELECT seq, at, kind, v, step, call_id, data, hash FROM lockgate.event WHERE run_id = $1 AND seq > $2 ORDER BY seq";
    Call: "SELECT state, attempt FROM lockgate.call WHERE run_id = $1 AND call_id = $2";
    RunOfApproval: "SELECT run_id FROM lockgate.approval WHERE approval_id = $1";
    Approval: "SELECT question, state, decided_by, decided_at, reason, consumed_at, yeses FROM lockgate.approval
               WHERE approval_id = $1";
    ApprovalsOfCall: "SELECT question, state, decided_by, decided_at, reason, consumed_at, yeses FROM lockgate.approval
                      WHERE run_id = $1 AND call_id = $2";
    Approvals: "SELECT question, state, decided_by, decided_at, reason, consumed_at, yeses FROM lockgate.approval
                WHERE ($1::text IS NULL OR run_id = $1) AND ($2::text[] IS NULL OR state = ANY ($2))
                ORDER BY requested_at, place";
    Artifact: "SELECT text FROM lockgate.artifact WHERE run_id = $1 AND artifact_id = $2";
    Describe: "SELECT current_database()::text, (SELECT count(*) FROM lockgate.run),
                      pg_database_size(current_database()), (SELECT max(version) FROM lockgate.meta)";
    Epoch: "SELECT epoch FROM lockgate.run WHERE run_id = $1";
    Questions: "SELECT question, state, decided_by, decided_at, reason, consumed_at, yeses FROM lockgate.approval
                WHERE run_id = $1 ORDER BY place";
    Calls: "SELECT call_id, state, attempt, step, tool_name, effect, arguments_digest, idempotency_key, approval_id,
                   started_at, settled_at, subject
            FROM lockgate.call WHERE run_id = $1 ORDER BY call_id";
    Artifacts: "SELECT artifact_id, text FROM lockgate.artifact WHERE run_id = $1 ORDER BY artifact_id";
    Keys: "SELECT tenant, key, request, call_id, expires_at FROM lockgate.caller_key WHERE run_id = $1 ORDER BY tenant, key";
    ImportRun: "INSERT INTO lockgate.run (run_id, tenant, kind, title, status, next_seq, epoch, created_at, updated_at, head)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
                ON CONFLICT (run_id) DO NOTHING";
    ImportQuestion: "INSERT INTO lockgate.approval (approval_id, tenant, run_id, call_id, state, requested_at, expires_at,
                                                    question, decided_by, decided_at, reason, consumed_at, yeses)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                     ON CONFLICT (approval_id) DO NOTHING";
    ImportCall: "INSERT INTO lockgate.call (tenant, run_id, call_id, state, attempt, step, tool_name, effect,
                                            arguments_digest, idempotency_key, approval_id, started_at, settled_at,
                                            subject)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    /// What speaks against removing a run.
    Standing: "SELECT EXISTS (SELECT 1 FROM lockgate.approval
                              WHERE run_id = $1 AND state IN ('pending', 'granted') AND expires_at > $2),
                      EXISTS (SELECT 1 FROM lockgate.call WHERE run_id = $1 AND state IN ('running', 'unknown')),
                      EXISTS (SELECT 1 FROM lockgate.caller_key WHERE run_id = $1 AND expires_at > $2)";
    /// Says to the trigger that guards events which run goes with this transaction.
    NamePruned: "SELECT set_config('lockgate.pruning', $1, true)";
    RemoveKeys: "DELETE FROM lockgate.caller_key WHERE run_id = $1";
    RemoveCalls: "DELETE FROM lockgate.call WHERE run_id = $1";
    RemoveQuestions: "DELETE FROM lockgate.approval WHERE run_id = $1";
    RemoveArtifacts: "DELETE FROM lockgate.artifact WHERE run_id = $1";
    RemoveEvents: "DELETE FROM lockgate.event WHERE run_id = $1";
    RemoveRun: "DELETE FROM lockgate.run WHERE run_id = $1";
    RunsByStatus: "SELECT status, count(*) FROM lockgate.run GROUP BY status ORDER BY status NULLS FIRST";
    Stats: "SELECT (SELECT coalesce(sum(next_seq - 1), 0)::bigint FROM lockgate.run),
                   (SELECT count(*) FROM lockgate.artifact),
                   (SELECT coalesce(sum(octet_length(text)), 0)::bigint FROM lockgate.artifact),
                   (SELECT count(*) FROM lockgate.approval WHERE state = ANY ($1::text[]) AND expires_at > $2),
                   (SELECT count(*) FROM lockgate.call WHERE state IN ('running', 'unknown') AND state = $3),
                   (SELECT count(*) FROM lockgate.caller_key),
                   (SELECT min(created_at) FROM lockgate.run), (SELECT max(updated_at) FROM lockgate.run),
                   (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
                    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                    WHERE n.nspname = 'lockgate' AND c.relkind IN ('r', 'p')),
                   (SELECT max(version) FROM lockgate.meta)";
}
