//! Runs that somebody may drive on, and the news of a run.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::Finding;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{JournalError, Lease, Settling};
use lockgate_contract::run::RunKind;

use crate::support::{Fixture, OPEN_FOR, claim, event, found, new_run, settled, settling};

contract! {
    a_run_that_nobody_drives_is_ready;
    a_run_that_stopped_is_ready_when_something_changed;
    an_unknown_effect_keeps_a_run_until_it_is_found_out;
    the_longest_unchanged_run_is_first;
    news_come_to_whoever_follows;
    nobody_follows_a_run_that_is_not_there;
}

async fn ready(f: &Fixture) -> Vec<String> {
    f.journal.ready(10).await.unwrap().into_iter().map(|run| run.run_id.to_string()).collect()
}

async fn stop(f: &Fixture, run: &Lease, kind: &str) {
    f.journal.append(run, vec![event(kind)]).await.unwrap();
}

async fn a_run_that_nobody_drives_is_ready(f: Fixture) {
    assert_eq!(ready(&f).await, Vec::<String>::new());
    let run = f.create("run-a").await;
    assert_eq!(ready(&f).await, ["run-a"]);
    // A backend may list a run whose driver is alive; nobody else can have it then.
    let hold = f.journal.hold(&run).await.unwrap().unwrap();
    assert!(f.journal.hold(&run).await.unwrap().is_none());
    for kind in ["run.completed", "run.failed", "run.cancelled", "run.limit_reached"] {
        stop(&f, hold.lease(), kind).await;
        assert_eq!(ready(&f).await, Vec::<String>::new(), "{kind}");
    }
    stop(&f, hold.lease(), "run.resumed").await;
    drop(hold);
    let hold = f.journal.hold(&run).await.unwrap().unwrap();
    stop(&f, hold.lease(), "run.resumed").await;
    drop(hold);
    f.journal.hold(&run).await.unwrap().unwrap();
    assert_eq!(ready(&f).await, ["run-a"]);
}

async fn a_run_that_stopped_is_ready_when_something_changed(f: Fixture) {
    let mut leases = Vec::new();
    for id in ["granted", "denied", "withdrawn", "late", "open", "settled"] {
        let run = f.create(&format!("run-{id}")).await;
        f.ask(&run, &format!("apr-{id}")).await;
        stop(&f, &run, "run.waiting").await;
        leases.push(run);
    }
    // A direct call is sent again by whoever made it.
    let mut direct = new_run("run-direct");
    direct.kind = RunKind::Direct;
    let (hold, _) = f.journal.create_run(direct).await.unwrap();
    f.ask(hold.lease(), "apr-direct").await;
    stop(&f, hold.lease(), "run.waiting").await;
    drop(hold);
    assert_eq!(ready(&f).await, Vec::<String>::new());

    f.decide("apr-granted", ApprovalState::Granted).await;
    f.decide("apr-direct", ApprovalState::Granted).await;
    f.decide("apr-denied", ApprovalState::Denied).await;
    f.decide("apr-withdrawn", ApprovalState::Withdrawn).await;
    assert_eq!(ready(&f).await, ["run-granted", "run-denied", "run-withdrawn"]);
    // Once its question ran out the run goes on too, and once the call has its result nothing waits for its question.
    let settled_run = &leases[5];
    let result = vec![settled(&settled_run.call(0, 0), EffectState::None)];
    f.journal.settle(settled_run, settling(&settled_run.call(0, 0), None), result).await.unwrap();
    f.clock.pass(OPEN_FOR.saturating_sub(Duration::from_millis(1)));
    assert_eq!(ready(&f).await.len(), 3);
    f.clock.pass(Duration::from_millis(1));
    let mut all = ready(&f).await;
    all.sort();
    assert_eq!(all, ["run-denied", "run-granted", "run-late", "run-open", "run-withdrawn"]);
}

async fn an_unknown_effect_keeps_a_run_until_it_is_found_out(f: Fixture) {
    let run = f.create("run-a").await;
    let calls = [run.call(0, 0), run.call(0, 1)];
    for call in &calls {
        f.journal.claim(&run, claim(call, 1, None), vec![event("tool.started")]).await.unwrap();
        let settling = Settling { attempt: 1, ..settling(call, None) };
        f.journal.settle(&run, settling, vec![settled(call, EffectState::Unknown)]).await.unwrap();
    }
    stop(&f, &run, "run.needs_reconciliation").await;
    assert_eq!(ready(&f).await, Vec::<String>::new());
    f.journal.reconcile(&run, &calls[0], vec![found(&calls[0], Finding::NotDone)]).await.unwrap();
    assert_eq!(ready(&f).await, Vec::<String>::new());
    f.journal.reconcile(&run, &calls[1], vec![found(&calls[1], Finding::Abandoned)]).await.unwrap();
    assert_eq!(ready(&f).await, ["run-a"]);
}

async fn the_longest_unchanged_run_is_first(f: Fixture) {
    let mut runs = Vec::new();
    for id in ["run-a", "run-b", "run-c"] {
        runs.push(f.create(id).await);
        f.clock.pass(Duration::from_millis(1));
    }
    f.journal.append(&runs[0], vec![event("note.added")]).await.unwrap();
    assert_eq!(ready(&f).await, ["run-b", "run-c", "run-a"]);
    let first = f.journal.ready(1).await.unwrap();
    assert_eq!(first, [f.journal.run(&runs[1]).await.unwrap().unwrap()]);
}

async fn news_come_to_whoever_follows(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    assert_eq!(f.journal.follow(&run, 0).await.unwrap().len(), 1);
    let journal = Arc::clone(&f.journal);
    let watched = run.run_id.clone();
    let follower = tokio::spawn(async move {
        let mut seen = 1;
        while seen < 4 {
            for event in journal.follow(&watched, seen).await.unwrap() {
                assert_eq!(event.seq, seen + 1);
                seen = event.seq;
            }
        }
    });
    f.journal.append(&other, vec![event("note.added")]).await.unwrap();
    f.journal.append(&run, vec![event("note.added"), event("note.added")]).await.unwrap();
    f.ask(&run, "apr-1").await;
    tokio::time::timeout(Duration::from_secs(30), follower).await.unwrap().unwrap();
}

async fn nobody_follows_a_run_that_is_not_there(f: Fixture) {
    let nobody = RunId::new("run-x");
    assert_eq!(f.journal.follow(&nobody, 0).await.unwrap_err(), JournalError::NoSuchRun(nobody));
}
