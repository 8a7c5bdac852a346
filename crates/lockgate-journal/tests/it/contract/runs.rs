//! Runs and their events.

use std::time::Duration;

use lockgate_contract::event::EventType;
use lockgate_contract::ids::{ApprovalId, ArtifactId, CallId, RunId};
use lockgate_contract::ports::{ClaimRefused, JournalError, Lease, RunFilter};
use lockgate_contract::run::{RunKind, RunStatus};

use crate::support::{
    Fixture, START, approval, artifact, assert_gap_free, claim, event, event_with, new_run, settling,
};

contract! {
    a_run_begins_with_its_first_event;
    a_run_is_made_once;
    events_are_numbered_without_gaps_by_many_writers;
    an_append_is_one_piece;
    an_event_comes_back_as_it_was;
    an_unknown_kind_is_kept;
    events_are_read_from_a_number_on;
    the_status_is_that_of_the_last_run_event;
    runs_are_listed_newest_first;
    an_unknown_run_is_an_error;
    a_run_is_driven_by_one;
}

async fn a_run_is_driven_by_one(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run/../ä").await);
    let held = f.journal.hold(&run).await.unwrap();
    assert!(held.is_some());
    assert!(f.journal.hold(&run).await.unwrap().is_none());
    assert!(f.journal.hold(&other).await.unwrap().is_some());
    drop(held);
    for _ in 0..3 {
        assert!(f.journal.hold(&run).await.unwrap().is_some());
    }
}

async fn a_run_begins_with_its_first_event(f: Fixture) {
    let mut run = new_run("run-a");
    run.kind = RunKind::Direct;
    "ein „Titel“ \u{0}".clone_into(&mut run.title);
    let (_hold, appended) = f.journal.create_run(run).await.unwrap();
    assert_eq!(appended.len(), 1);
    assert_eq!((appended[0].seq, appended[0].at, appended[0].v), (1, START, 1));
    let record = f.journal.run(&RunId::new("run-a")).await.unwrap().unwrap();
    assert_eq!(record.run_id.as_str(), "run-a");
    assert_eq!(record.tenant, "tenant");
    assert_eq!(record.kind, RunKind::Direct);
    assert_eq!(record.title, "ein „Titel“ \u{0}");
    assert_eq!((record.status, record.last_seq), (None, 1));
    assert_eq!((record.created_at, record.updated_at), (START, START));
}

async fn a_run_is_made_once(f: Fixture) {
    let run = f.create("run-a").await;
    let before = f.everything(&run).await;
    let again = f.journal.create_run(new_run("run-a")).await;
    assert_eq!(again.unwrap_err(), JournalError::Exists("run-a".to_owned()));
    assert_eq!(f.everything(&run).await, before);
}

async fn events_are_numbered_without_gaps_by_many_writers(f: Fixture) {
    let runs = [f.create("run-a").await, f.create("run-b").await, f.create("run-c").await];
    let mut tasks = Vec::new();
    for task in 0..24_usize {
        let (journal, run) = (f.journal.clone(), runs[task % runs.len()].clone());
        tasks.push(tokio::spawn(async move {
            for round in 0..10 {
                let data = format!("{{\"task\":{task},\"round\":{round}}}");
                let pair = vec![event_with("x.first", &data), event_with("x.second", &data)];
                let appended = journal.append(&run, pair).await.unwrap();
                assert_eq!(appended[1].seq, appended[0].seq + 1);
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    for run in &runs {
        let events = f.events(run).await;
        assert_gap_free(&events);
        assert_eq!(events.len(), 1 + 8 * 10 * 2);
        assert_eq!(f.journal.run(run).await.unwrap().unwrap().last_seq, 161);
        // Each pair stands together, and each writer's pairs stand in its order.
        let mut rounds = std::collections::HashMap::new();
        for pair in events[1..].chunks(2) {
            assert_eq!(pair[0].data.text(), pair[1].data.text());
            let value = pair[0].data.to_json_value();
            let next = rounds.entry(value["task"].to_string()).or_insert(0);
            assert_eq!(value["round"], *next);
            *next += 1;
        }
    }
}

async fn an_append_is_one_piece(f: Fixture) {
    let run = f.create("run-a").await;
    f.clock.pass(Duration::from_millis(5));
    let appended = f.journal.append(&run, vec![event("x.a"), event("x.b"), event("x.c")]).await.unwrap();
    let stored = f.journal.events(&run, 1).await.unwrap();
    assert_eq!(format!("{appended:?}"), format!("{stored:?}"));
    assert!(stored.iter().all(|event| event.at == START.after(Duration::from_millis(5))));
    assert_eq!(f.journal.run(&run).await.unwrap().unwrap().updated_at, stored[0].at);
    // Nothing at all is no event, and leaves the run as it is.
    f.clock.pass(Duration::from_millis(5));
    let before = f.everything(&run).await;
    assert!(f.journal.append(&run, Vec::new()).await.unwrap().is_empty());
    assert_eq!(f.everything(&run).await, before);
}

async fn an_event_comes_back_as_it_was(f: Fixture) {
    let run = f.create("run-a").await;
    let text = "{ \"number\" : 123456789012345678901234567890.1230e-5 ,\n\t\"text\": \"né \\u0000 \\ud83d\\ude00 😀 \u{202e}\",\
                \"z\":-0.0,\"a\":[1,  [ ], {}, null], \"\":1E300}";
    let mut written = event_with("tool.requested", text);
    written.step = u32::MAX;
    written.call_id = Some(CallId::new("run-a:step-0:call-0.1"));
    f.journal.append(&run, vec![written]).await.unwrap();
    let events = f.events(&run).await;
    let read = &events[1];
    assert_eq!(read.data.text(), text);
    assert_eq!((read.step, read.v, read.seq), (u32::MAX, 1, 2));
    assert_eq!(read.call_id.as_ref().unwrap().as_str(), "run-a:step-0:call-0.1");
    assert_eq!(read.kind, EventType::ToolRequested);
    assert_eq!(read.run_id, *run);
}

async fn an_unknown_kind_is_kept(f: Fixture) {
    let run = f.create("run-a").await;
    f.journal.append(&run, vec![event_with("future.thing", "[1]")]).await.unwrap();
    let events = f.events(&run).await;
    assert_eq!(events[1].kind, EventType::Other("future.thing".to_owned()));
    assert_eq!(events[1].data.text(), "[1]");
}

async fn events_are_read_from_a_number_on(f: Fixture) {
    let run = f.create("run-a").await;
    f.journal.append(&run, vec![event("x.a"), event("x.b"), event("x.c")]).await.unwrap();
    for (after, expected) in [(0, vec![1, 2, 3, 4]), (2, vec![3, 4]), (4, vec![]), (5, vec![]), (u64::MAX, vec![])] {
        let numbers: Vec<u64> = f.journal.events(&run, after).await.unwrap().iter().map(|event| event.seq).collect();
        assert_eq!(numbers, expected, "after {after}");
    }
}

async fn the_status_is_that_of_the_last_run_event(f: Fixture) {
    let run = f.create("run-a").await;
    for (kinds, expected) in [
        (vec!["run.waiting"], Some(RunStatus::WaitingForApproval)),
        (vec!["approval.decided", "x.other"], Some(RunStatus::WaitingForApproval)),
        (vec!["run.resumed"], None),
        (vec!["run.needs_reconciliation"], Some(RunStatus::NeedsReconciliation)),
        (vec!["run.resumed", "run.failed"], Some(RunStatus::Failed)),
        (vec!["run.resumed", "run.cancelled", "x.other"], Some(RunStatus::Cancelled)),
        (vec!["run.limit_reached", "run.resumed"], None),
        (vec!["run.limit_reached"], Some(RunStatus::LimitReached)),
        (vec!["run.completed"], Some(RunStatus::Completed)),
    ] {
        f.journal.append(&run, kinds.iter().copied().map(event).collect()).await.unwrap();
        assert_eq!(f.journal.run(&run).await.unwrap().unwrap().status, expected, "{kinds:?}");
    }
}

async fn runs_are_listed_newest_first(f: Fixture) {
    // Two of them in one millisecond: the later one is the newer one.
    for (id, kind) in
        [("run-b", "run.completed"), ("run-c", "run.failed"), ("run-a", "run.completed"), ("run-d", "x.y")]
    {
        let run = f.create(id).await;
        f.journal.append(&run, vec![event(kind)]).await.unwrap();
        if id != "run-b" {
            f.clock.pass(Duration::from_secs(1));
        }
    }
    for (status, limit, expected) in [
        (None, 50, vec!["run-d", "run-a", "run-c", "run-b"]),
        (None, 2, vec!["run-d", "run-a"]),
        (Some(RunStatus::Completed), 50, vec!["run-a", "run-b"]),
        (Some(RunStatus::Completed), 1, vec!["run-a"]),
        (Some(RunStatus::Cancelled), 50, vec![]),
        (None, 0, vec![]),
    ] {
        let runs = f.journal.runs(RunFilter { status, limit }).await.unwrap();
        let ids: Vec<&str> = runs.iter().map(|run| run.run_id.as_str()).collect();
        assert_eq!(ids, expected, "{status:?} {limit}");
    }
}

async fn an_unknown_run_is_an_error(f: Fixture) {
    let run = Lease::first(RunId::new("run-none"));
    let call = run.call(0, 0);
    let expected = JournalError::NoSuchRun(run.run_id.clone());
    assert_eq!(f.journal.append(&run, vec![event("x.a")]).await.unwrap_err(), expected);
    assert_eq!(f.journal.append(&run, Vec::new()).await.unwrap_err(), expected);
    assert_eq!(f.journal.ask(&run, approval(&run, "apr-1"), Vec::new()).await.unwrap_err(), expected);
    assert_eq!(f.journal.approval(&ApprovalId::new("apr-1")).await.unwrap().map(|a| a.approval_id), None);
    let refused = f.journal.claim(&run, claim(&call, 1, Some("apr-1")), Vec::new()).await.unwrap_err();
    assert_eq!(refused, ClaimRefused::Journal(expected.clone()));
    let stored = f.journal.settle(&run, settling(&call, Some(artifact("art-1", "x"))), Vec::new()).await;
    assert_eq!(stored.unwrap_err(), expected);
    assert_eq!(f.journal.events(&run, 0).await.unwrap_err(), expected);
    assert_eq!(f.journal.run(&run).await.unwrap(), None);
    assert_eq!(f.journal.artifact(&run, &ArtifactId::new("art-1")).await.unwrap(), None);
}
