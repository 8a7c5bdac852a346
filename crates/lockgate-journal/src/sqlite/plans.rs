//! Every statement finds what it wants by an index: no work on one run grows with the runs that it does not touch.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState, Circumstances};
use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Body, CallReconciled, EventType, Finding, NewEvent};
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{
    ApprovalFilter, CallerKey, Claim, Decision, NewRun, RunFilter, Settling, StoredArtifact,
};
use lockgate_contract::run::{RunKind, RunStatus};
use lockgate_contract::time::Timestamp;
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::checkpoint::Log;
use super::connection::Place;
use super::{file, read, write};

const NOW: Timestamp = Timestamp::from_millis(1_000);

/// What may read all that there is: the lists that people ask for, in the order of an index.
const LISTS: [&str; 2] = ["SCAN run USING INDEX run_newest", "SCAN approval USING INDEX approval_oldest"];

/// An index that holds those runs alone that are not over.
const OPEN: &str = "SCAN run USING INDEX run_open";

/// What SQLite calls a scan where there is no table.
const NO_TABLE: &str = "SCAN CONSTANT ROW";

fn event(kind: &str) -> NewEvent {
    let data = Document::parse("{}", Limits::OUTPUT).unwrap();
    NewEvent { kind: EventType::from_word(kind), step: 0, call_id: None, data: data.into() }
}

fn claim(call: &CallId, attempt: u32, approval: Option<(ApprovalId, Digest)>) -> Claim {
    let request = Digest::of_text("test", "request");
    let key = CallerKey {
        tenant: "t".to_owned(),
        key: "k".to_owned(),
        request,
        keep: Duration::from_mins(1),
        passed_on_by: None,
    };
    Claim {
        call_id: call.clone(),
        step: 0,
        attempt,
        tool_name: "pay".to_owned(),
        effect: Effect::External,
        arguments_digest: request,
        idempotency_key: "key".to_owned(),
        approval,
        caller_key: Some(key),
        subject: "subject:default/local/agent".to_owned(),
        quotas: Vec::new(),
        seen: Vec::new(),
    }
}

fn question(run: &RunId, id: &ApprovalId) -> Approval {
    Approval {
        approval_id: id.clone(),
        run_id: run.clone(),
        call_id: run.call(0, 0),
        step: 0,
        tool_name: "pay".to_owned(),
        tool_version: "1.0".to_owned(),
        definition: Digest::of_text("test", "definition"),
        arguments: Document::parse("{}", Limits::OUTPUT).unwrap(),
        arguments_digest: Digest::of_text("test", "arguments"),
        circumstances: Circumstances::default(),
        effect: Effect::External,
        tenant: "t".to_owned(),
        user: "u".to_owned(),
        agent: "a".to_owned(),
        shown_text: String::new(),
        digest: Digest::of_text("test", "bound"),
        requested_at: NOW,
        expires_at: NOW.after(Duration::from_mins(1)),
        state: ApprovalState::Pending,
        yeses: Vec::new(),
        attempt: 1,
        because: None,
        approvers: None,
        edited: None,
        decided_by: None,
        decided_at: None,
        reason: None,
        consumed_at: None,
    }
}

/// Everything that is written and read, once, in the life of a run.
fn live(connection: &Connection) {
    let run = RunId::new("run-a");
    let new_run = NewRun {
        run_id: run.clone(),
        tenant: "t".to_owned(),
        kind: RunKind::Agent,
        title: String::new(),
        chained: true,
        started: event("run.started"),
    };
    write::create_run(connection, new_run, NOW).unwrap();
    let lease = write::take_lease(connection, &run, NOW).unwrap();
    write::append(connection, &lease, vec![event("run.waiting")], NOW).unwrap();
    let (call, id) = (run.call(0, 0), ApprovalId::new("apr-1"));
    let asked = question(&run, &id);
    let digest = asked.digest;
    write::ask(connection, &lease, asked, vec![event("x.asked")], NOW).unwrap();
    let decision = Decision::new(id.clone(), ApprovalState::Granted, "alice");
    write::decide(connection, &decision, NOW).unwrap().unwrap();
    let approved = claim(&call, 1, Some((id.clone(), digest)));
    write::claim(connection, &lease, &approved, vec![event("x.claimed")], NOW).unwrap();
    let found = CallReconciled { finding: Finding::NotDone, by: "alice".to_owned(), reason: None, settled: None };
    let found = NewEvent::new(0, Some(call.clone()), Body::CallReconciled(found));
    write::reconcile(connection, &lease, &call, vec![found], NOW).unwrap();
    write::claim(connection, &lease, &claim(&call, 2, None), vec![event("x.claimed")], NOW).unwrap();
    let artifact = StoredArtifact { artifact_id: ArtifactId::new("art-1"), text: String::new() };
    for _ in 0..2 {
        // The second one is refused, after it was looked up.
        let settling = Settling { call_id: call.clone(), attempt: 2, late: false, artifact: Some(artifact.clone()) };
        let _ = write::settle(connection, &lease, &settling, vec![event("x.settled")], NOW);
    }
    read::run(connection, &run).unwrap().unwrap();
    for status in [None, Some(RunStatus::Completed)] {
        read::runs(connection, &RunFilter { status, limit: 10 }).unwrap();
    }
    assert_eq!(read::events(connection, &run, 1).unwrap().len(), 8);
    read::approval_as_of(connection, &id, NOW).unwrap().unwrap();
    for filter in [
        ApprovalFilter::default(),
        ApprovalFilter { run_id: Some(run.clone()), state: None },
        ApprovalFilter { run_id: Some(run.clone()), state: Some(ApprovalState::Pending) },
    ] {
        read::approvals(connection, &filter, NOW).unwrap();
    }
    read::artifact(connection, &run, &artifact.artifact_id).unwrap().unwrap();
    read::ready(connection, 10, NOW).unwrap();
    read::key_holder(connection, "t", "key").unwrap();
}

#[test]
fn every_statement_uses_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = file::prepare(&folder.path().join("journal.db")).unwrap();
    let mut connection = Place { path, busy_timeout: Duration::from_secs(1) }.writer(NOW, &mut Log::new()).unwrap();
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let kept = Arc::clone(&seen);
    let keep = move |traced: TraceEvent<'_>| {
        if let TraceEvent::Stmt(statement, _) = traced {
            kept.lock().unwrap().insert(statement.sql().into_owned());
        }
    };
    connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(keep)).unwrap();
    live(&connection);
    connection.trace_v2(TraceEventCodes::empty(), None::<fn(TraceEvent<'_>)>).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() >= 25, "the trace misses most: {seen:#?}");
    let mut scans = Vec::new();
    for sql in seen.iter() {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut steps = plan.raw_query();
        while let Some(step) = steps.next().unwrap() {
            let step: String = step.get("detail").unwrap();
            let is_list = step == OPEN || LISTS.contains(&step.as_str()) && !sql.contains("run_id = ");
            if step.starts_with("SCAN") && step != NO_TABLE && !is_list {
                scans.push(format!("{step}: {sql}"));
            }
        }
    }
    assert!(scans.is_empty(), "{scans:#?}");
}
