//! Tenants are kept apart by the database, whatever a query asks for.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{ApprovalFilter, Journal, JournalError, NewRun, Prune, Pruned, RunFilter, RunHold};
use lockgate_journal::{OpenError, PostgresJournal, PostgresOptions};
use tokio_postgres::Client;

use crate::support::database::{Database, USER, options, server};
use crate::support::{Fixture, approval, artifact, caller_key, claim, decision, event, new_run, settling};

const TABLES: [&str; 6] = ["run", "event", "approval", "call", "artifact", "caller_key"];

/// What a role needs that uses a journal without owning it. docs/decisions/0017-postgres.md names it.
async fn admit(database: &Database, role: &str) {
    let sql = format!(
        "GRANT USAGE ON SCHEMA lockgate TO {role};
         GRANT SELECT ON lockgate.meta TO {role};
         GRANT SELECT, INSERT ON lockgate.event, lockgate.artifact TO {role};
         GRANT SELECT, INSERT, UPDATE ON lockgate.run, lockgate.call, lockgate.approval, lockgate.caller_key TO {role};"
    );
    database.connect("lockgate_test_owner").await.batch_execute(&sql).await.unwrap();
}

fn journal_of(f: &Fixture, tenant: &str) -> PostgresJournal {
    let options = PostgresOptions { tenant: Some(tenant.to_owned()), ..options(f.clock.clone()) };
    PostgresJournal::open_with(&f.database.as_ref().unwrap().url_for(USER), options).unwrap()
}

fn run_of(tenant: &str) -> NewRun {
    NewRun { tenant: tenant.to_owned(), ..new_run(&format!("run-of-{tenant}")) }
}

/// A row in every table.
async fn fill(journal: &dyn Journal, tenant: &str) -> RunHold {
    let (hold, _) = journal.create_run(run_of(tenant)).await.unwrap();
    let run = hold.lease();
    let id = format!("apr-of-{tenant}");
    journal.ask(run, approval(run, &id), vec![event("approval.requested")]).await.unwrap();
    journal.decide(decision(&id, ApprovalState::Granted)).await.unwrap();
    let mut claim = claim(&run.call(0, 0), 1, Some(&id));
    let mut key = caller_key("key", "request");
    tenant.clone_into(&mut key.tenant);
    claim.caller_key = Some(key);
    journal.claim(run, claim, vec![event("tool.started")]).await.unwrap();
    let settling = settling(&run.call(0, 0), Some(artifact("art-1", tenant)));
    journal.settle(run, settling, vec![event("tool.finished")]).await.unwrap();
    hold
}

/// How many rows there are in each table for whoever asks.
async fn counts(client: &Client) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in TABLES {
        let sql = format!("SELECT count(*) FROM lockgate.{table}");
        counts.push(client.query_one(&sql, &[]).await.unwrap().get(0));
    }
    counts
}

#[tokio::test]
async fn a_tenants_journal_sees_its_own_rows_alone() {
    let f = Fixture::postgres();
    admit(f.database.as_ref().unwrap(), USER).await;
    let (north, south) = (journal_of(&f, "north"), journal_of(&f, "south"));
    // The same key in both: they never meet.
    let (_north, southern) = (fill(&north, "north").await, fill(&south, "south").await);
    let run = southern.lease();
    for (journal, tenant) in [(&north, "north"), (&south, "south")] {
        let runs = journal.runs(RunFilter::default()).await.unwrap();
        assert_eq!(runs.iter().map(|run| run.tenant.as_str()).collect::<Vec<_>>(), [tenant]);
        assert_eq!(journal.approvals(ApprovalFilter::default()).await.unwrap().len(), 1);
    }
    let unknown = JournalError::NoSuchRun(run.run_id.clone());
    assert_eq!(north.run(run).await.unwrap(), None);
    assert_eq!(north.events(run, 0).await.unwrap_err(), unknown);
    assert_eq!(north.append(run, vec![event("x.a")]).await.unwrap_err(), unknown);
    assert_eq!(north.hold(run).await.map(drop).unwrap_err(), unknown);
    assert_eq!(north.approval(&ApprovalId::new("apr-of-south")).await.unwrap().map(|found| found.approval_id), None);
    north.decide(decision("apr-of-south", ApprovalState::Withdrawn)).await.unwrap_err();
    // Nor does it write for another tenant.
    let forged = NewRun { tenant: "south".to_owned(), ..new_run("run-forged") };
    let told = north.create_run(forged).await.map(drop).unwrap_err();
    assert!(matches!(&told, JournalError::Unavailable(text) if text.contains("row-level security")), "{told:?}");
    // An operator's journal sees both.
    assert_eq!(f.journal.runs(RunFilter::default()).await.unwrap().len(), 2);
    assert_eq!(south.runs(RunFilter::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn any_query_sees_the_tenant_that_its_transaction_names_alone() {
    let f = Fixture::postgres();
    let database = f.database.as_ref().unwrap();
    admit(database, USER).await;
    fill(&*f.journal, "north").await;
    fill(&*f.journal, "south").await;

    // The owner of the tables is not above the policies either.
    for role in [USER, "lockgate_test_owner"] {
        let client = database.connect(role).await;
        // Nobody named, and also not after somebody was.
        assert_eq!(counts(&client).await, [0; 6], "{role}");
        client.batch_execute("BEGIN; SET LOCAL lockgate.tenant = 'north'").await.unwrap();
        assert_eq!(counts(&client).await, [1, 5, 1, 1, 1, 1], "{role}");
        for table in TABLES {
            let sql = format!("SELECT DISTINCT tenant FROM lockgate.{table}");
            assert_eq!(client.query_one(&sql, &[]).await.unwrap().get::<_, &str>(0), "north");
        }
        client.batch_execute("COMMIT").await.unwrap();
        assert_eq!(counts(&client).await, [0; 6], "{role}");
    }

    let client = database.connect(USER).await;
    client.batch_execute("SET lockgate.tenant = 'north'").await.unwrap();
    for (sql, code) in [
        // Another tenant's row.
        ("INSERT INTO lockgate.event VALUES ('south', 'run-of-south', 99, 0, 'x.a', 1, 0, NULL, '{}')", "42501"),
        // A row of one's own that hangs on another tenant's run.
        ("INSERT INTO lockgate.event VALUES ('north', 'run-of-south', 99, 0, 'x.a', 1, 0, NULL, '{}')", "23503"),
        ("UPDATE lockgate.run SET tenant = 'south'", "42501"),
        // Events are written, and never again touched.
        ("UPDATE lockgate.event SET data = '{}'", "42501"),
        ("DELETE FROM lockgate.event", "42501"),
        ("TRUNCATE lockgate.event", "42501"),
        ("ALTER TABLE lockgate.event DISABLE TRIGGER ALL", "42501"),
        ("ALTER TABLE lockgate.run DISABLE ROW LEVEL SECURITY", "42501"),
        ("DELETE FROM lockgate.run", "42501"),
    ] {
        let error = client.execute(sql, &[]).await.unwrap_err();
        assert_eq!(error.code().map(tokio_postgres::error::SqlState::code), Some(code), "{sql}: {error:?}");
    }
    // What is not seen is not changed.
    let changed =
        client.execute("UPDATE lockgate.run SET title = '' WHERE run_id = 'run-of-south'", &[]).await.unwrap();
    assert_eq!(changed, 0);
    let changed = client.execute("UPDATE lockgate.approval SET state = 'granted' WHERE tenant = 'south'", &[]).await;
    assert_eq!(changed.unwrap(), 0);
    // The owner may touch events as far as rights go, and is refused all the same.
    let owner = database.connect("lockgate_test_owner").await;
    owner.batch_execute("SET lockgate.tenant = 'north'").await.unwrap();
    let error = owner.execute("DELETE FROM lockgate.event", &[]).await.unwrap_err();
    assert_eq!(error.as_db_error().unwrap().message(), "an event is never rewritten");
}

#[tokio::test]
async fn a_role_above_the_policies_keeps_no_tenant_apart() {
    let f = Fixture::postgres();
    let (address, administrator) = server();
    let url = format!("postgres://{administrator}@{address}/{}", f.database.as_ref().unwrap().name());
    let options = PostgresOptions { tenant: Some("north".to_owned()), ..options(f.clock.clone()) };
    let error = PostgresJournal::open_with(&url, options).map(drop).unwrap_err();
    assert!(matches!(&error, OpenError::Server { found, .. } if found == "bypassed"), "{error}");
}

/// What a role needs beside that, to remove runs.
async fn admit_pruning(database: &Database, role: &str) {
    let sql = format!(
        "GRANT DELETE ON lockgate.run, lockgate.event, lockgate.approval, lockgate.call, lockgate.artifact,
                         lockgate.caller_key TO {role}"
    );
    database.connect("lockgate_test_owner").await.batch_execute(&sql).await.unwrap();
}

#[tokio::test]
async fn a_role_prunes_that_may_and_only_whole_runs() {
    let f = Fixture::postgres();
    let database = f.database.as_ref().unwrap();
    admit(database, USER).await;
    let (north, south) = (journal_of(&f, "north"), journal_of(&f, "south"));
    for (journal, tenant) in [(&north, "north"), (&south, "south")] {
        let hold = fill(journal, tenant).await;
        journal.append(hold.lease(), vec![event("run.completed")]).await.unwrap();
    }
    f.clock.pass(Duration::from_hours(1));
    let prune = |tenant: &str| Prune {
        run_id: RunId::new(format!("run-of-{tenant}")),
        older_than: Duration::from_mins(1),
        last_seq: None,
        dry_run: false,
    };
    let told = north.upkeep().prune_run(prune("north")).await.unwrap_err();
    assert!(matches!(&told, JournalError::Unavailable(text) if text.contains("permission denied")), "{told:?}");
    admit_pruning(database, USER).await;
    // Another tenant's run is none.
    let told = north.upkeep().prune_run(prune("south")).await.unwrap_err();
    assert_eq!(told, JournalError::NoSuchRun(RunId::new("run-of-south")));
    // An event alone goes for nobody.
    let client = database.connect(USER).await;
    client.batch_execute("SET lockgate.tenant = 'north'").await.unwrap();
    let error = client.execute("DELETE FROM lockgate.event WHERE seq = 1", &[]).await.unwrap_err();
    assert_eq!(error.as_db_error().unwrap().message(), "an event is never rewritten");
    assert_eq!(north.upkeep().prune_run(prune("north")).await.unwrap(), Pruned::Removed);
    assert_eq!(counts(&client).await, [0; 6]);
    client.batch_execute("SET lockgate.tenant = 'south'").await.unwrap();
    assert_eq!(counts(&client).await, [1, 6, 1, 1, 1, 1]);
}
