use lockgate_contract::ids::RunId;
use lockgate_contract::ports::CallState;
use rusqlite::Connection;

use super::*;
use crate::sqlite::read::{self, RunPlace};

/// Two runs as version 5 kept them. The one that came first in time was written second.
const ROWS: &str = r#"
    INSERT INTO run (run_id, tenant, kind, title, status, next_seq, created_at, updated_at)
    VALUES ('run-b', 't', 'direct', '', 'needs_reconciliation', 3, 2, 2), ('run-a', 't', 'direct', '', 'completed', 2, 1, 1);
    INSERT INTO approval (approval_id, tenant, run_id, state, requested_at, expires_at, question)
    VALUES ('apr-1', 't', 'run-b', 'consumed', 1, 2, '{}');
    INSERT INTO event (run_id, seq, at, kind, v, step, call_id, data, hash)
    VALUES ('run-b', 1, 1, 'x.first', 1, 0, NULL, '{"of":"b"}', NULL),
           ('run-a', 1, 1, 'x.only', 1, 0, NULL, '{"of":"a"}', NULL),
           ('run-b', 2, 2, 'x.second', 1, 3, 'run-b:step-0:call-0', '{ }', NULL);
    INSERT INTO call (run_id, call_id, state, attempt, step, tool_name, effect, approval_id, started_at, settled_at, subject)
    VALUES ('run-b', 'run-b:step-0:call-0', 'unknown', 2, 0, 'pay', 'external', 'apr-1', 1, 2, 's'),
           ('run-a', 'run-a:step-0:call-0', 'settled', 0, 0, NULL, NULL, NULL, NULL, 1, NULL);"#;

fn of_version(version: u32) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.pragma_update(None, "foreign_keys", true).unwrap();
    connection.execute(META, []).unwrap();
    for migration in MIGRATIONS.iter().filter(|migration| migration.version <= version) {
        connection.execute_batch(migration.sql).unwrap();
        let row = params![migration.version, migration.name, migration.checksum()];
        connection
            .execute("INSERT INTO meta (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, 0)", row)
            .unwrap();
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection
}

#[test]
fn runs_keep_their_events_and_calls() {
    let mut connection = of_version(5);
    connection.execute_batch(ROWS).unwrap();
    migrate(&mut connection, Path::new("journal.db"), Timestamp::from_millis(9)).unwrap();
    assert_eq!(version(&connection).unwrap(), 6);
    let events = |run: &str| -> Vec<_> {
        let events = read::events(&connection, &RunId::new(run), 0).unwrap();
        events.iter().map(|event| (event.seq, event.step, event.data.text().to_owned())).collect()
    };
    assert_eq!(events("run-a"), [(1, 0, r#"{"of":"a"}"#.to_owned())]);
    assert_eq!(events("run-b"), [(1, 0, r#"{"of":"b"}"#.to_owned()), (2, 3, "{ }".to_owned())]);
    for (run, place, state, attempt) in [("run-b", 1, CallState::Unknown, 2), ("run-a", 2, CallState::Settled, 0)] {
        let run = RunId::new(run);
        assert_eq!(read::place(&connection, &run).unwrap(), (RunPlace(place), 1));
        let call = read::call(&connection, RunPlace(place), &run.call(0, 0)).unwrap().unwrap();
        assert_eq!((call.state, call.attempt), (state, attempt));
    }
    let kept: (String, i64, String) = connection
        .query_row("SELECT approval_id, started_at, subject FROM call WHERE run = 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(kept, ("apr-1".to_owned(), 1, "s".to_owned()));
    connection.execute("UPDATE event SET data = ''", []).unwrap_err();
    assert!(!connection.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap());
}
