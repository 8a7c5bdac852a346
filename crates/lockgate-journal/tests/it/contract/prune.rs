//! Whole runs: which may go, what is left of them, and how many there are.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::effect::EffectState;
use lockgate_contract::export::Writer;
use lockgate_contract::ids::{ArtifactId, RunId};
use lockgate_contract::ports::{ApprovalFilter, JournalError, JournalStats, Prune, Pruned, Settling, WhyKept};
use lockgate_contract::run::RunStatus;

use super::upkeep::{export, full};
use crate::support::{
    Fixture, START, approval, artifact, caller_key, claim, decision, event, new_run, settled, settling,
};

contract! {
    only_old_closed_runs_go;
    nothing_is_left_of_a_run_that_went;
    what_came_after_the_archive_is_kept;
    everything_is_counted;
}

fn prune(run: &RunId) -> Prune {
    Prune { run_id: run.clone(), older_than: Duration::from_hours(1), last_seq: None, dry_run: false }
}

async fn only_old_closed_runs_go(f: Fixture) {
    let upkeep = f.journal.upkeep();
    let mut runs = Vec::new();
    for (id, kinds, expected) in [
        ("run-open", vec!["run.completed", "run.resumed"], Pruned::Kept(WhyKept::Open)),
        ("run-waits", vec!["run.waiting"], Pruned::Kept(WhyKept::Waiting)),
        ("run-needs", vec!["run.needs_reconciliation"], Pruned::Kept(WhyKept::NeedsReconciliation)),
        ("run-driven", vec!["run.completed"], Pruned::Kept(WhyKept::Driven)),
        ("run-asks", vec!["run.cancelled"], Pruned::Kept(WhyKept::OpenQuestion)),
        ("run-unknown", vec!["run.failed"], Pruned::Kept(WhyKept::UnknownEffect)),
        ("run-started", vec!["run.failed"], Pruned::Kept(WhyKept::UnknownEffect)),
        ("run-keyed", vec!["run.completed"], Pruned::Kept(WhyKept::LiveKey)),
        ("run-done", vec!["run.completed"], Pruned::Removed),
        ("run-failed", vec!["run.failed"], Pruned::Removed),
        ("run-stopped", vec!["run.cancelled"], Pruned::Removed),
        ("run-limited", vec!["run.limit_reached"], Pruned::Removed),
    ] {
        let run = f.create(id).await;
        let call = run.call(0, 0);
        let long = Duration::from_hours(10);
        match id {
            "run-asks" => {
                let mut question = approval(&run, "apr-1");
                question.expires_at = START.after(long);
                f.journal.ask(&run, question, Vec::new()).await.unwrap();
            }
            "run-unknown" => {
                let unknown = vec![settled(&call, EffectState::Unknown)];
                f.journal.settle(&run, settling(&call, None), unknown).await.unwrap();
            }
            "run-started" => {
                f.journal.claim(&run, claim(&call, 1, None), Vec::new()).await.unwrap();
            }
            "run-keyed" => {
                let mut keyed = claim(&call, 1, None);
                keyed.caller_key = Some(caller_key("key", "request"));
                keyed.caller_key.as_mut().unwrap().keep = long;
                f.journal.claim(&run, keyed, Vec::new()).await.unwrap();
                let done = Settling { call_id: call, attempt: 1, late: false, artifact: None };
                f.journal.settle(&run, done, Vec::new()).await.unwrap();
            }
            _ => {}
        }
        f.journal.append(&run, kinds.into_iter().map(event).collect()).await.unwrap();
        runs.push((run, expected));
    }
    // A second before the hour is over they are all too young.
    f.clock.pass(Duration::from_secs(3599));
    for (run, _) in &runs {
        assert_eq!(upkeep.prune_run(prune(run)).await.unwrap(), Pruned::Kept(WhyKept::Recent));
    }
    f.clock.pass(Duration::from_secs(1));
    // Taking it writes that it was taken, so it is driven and young at once; it is old where the driver has had it for long.
    let driven = f.journal.hold(&runs[3].0).await.unwrap().unwrap();
    for (run, expected) in &runs {
        let expected = if run.run_id == driven.lease().run_id { Pruned::Kept(WhyKept::Recent) } else { *expected };
        let before = export(&*f.journal, run).await;
        let dry = Prune { dry_run: true, ..prune(run) };
        assert_eq!(upkeep.prune_run(dry).await.unwrap(), expected, "{run:?}");
        assert_eq!(export(&*f.journal, run).await, before);
        assert_eq!(upkeep.prune_run(prune(run)).await.unwrap(), expected, "{run:?}");
        let is_there = f.journal.run(run).await.unwrap().is_some();
        assert_eq!(is_there, expected != Pruned::Removed, "{run:?}");
    }
    let none = Prune { older_than: Duration::ZERO, ..prune(&driven.lease().run_id) };
    assert_eq!(upkeep.prune_run(none.clone()).await.unwrap(), Pruned::Kept(WhyKept::Driven));
    drop(driven);
    assert_eq!(upkeep.prune_run(none.clone()).await.unwrap(), Pruned::Removed);
    let told = upkeep.prune_run(none).await.unwrap_err();
    assert_eq!(told, JournalError::NoSuchRun(RunId::new("run-driven")));
}

async fn nothing_is_left_of_a_run_that_went(f: Fixture) {
    let (run, other) = (full(&f, "run-a").await, full(&f, "run-b").await);
    let before = export(&*f.journal, &other).await;
    let kept = f.journal.upkeep().export_run(&run).await.unwrap();
    f.clock.pass(Duration::from_hours(1));
    assert_eq!(f.journal.upkeep().prune_run(prune(&run)).await.unwrap(), Pruned::Removed);
    let unknown = JournalError::NoSuchRun(run.run_id.clone());
    assert_eq!(f.journal.events(&run, 0).await.unwrap_err(), unknown);
    assert_eq!(f.journal.upkeep().export_run(&run).await.unwrap_err(), unknown);
    assert_eq!(f.journal.artifact(&run, &ArtifactId::new("art-1")).await.unwrap(), None);
    let filter = ApprovalFilter { run_id: Some(run.run_id.clone()), state: None };
    assert!(f.journal.approvals(filter).await.unwrap().is_empty());
    assert_eq!(export(&*f.journal, &other).await, before);
    // The run, its questions and its keys may come again: nothing of them is left.
    f.journal.upkeep().import_run(kept.clone()).await.unwrap();
    assert_eq!(
        Writer::default().run(&f.journal.upkeep().export_run(&run).await.unwrap()),
        Writer::default().run(&kept)
    );
    assert_eq!(
        f.journal.create_run(new_run("run-b")).await.map(drop).unwrap_err(),
        JournalError::Exists("run-b".to_owned())
    );
}

async fn what_came_after_the_archive_is_kept(f: Fixture) {
    let run = full(&f, "run-a").await;
    let archived = f.journal.upkeep().export_run(&run).await.unwrap().events.len() as u64;
    // Somebody tries to decide what is settled: that is recorded too.
    f.journal.decide(decision("apr-1-of-run-a", ApprovalState::Denied)).await.unwrap_err();
    f.clock.pass(Duration::from_hours(2));
    let stale = Prune { last_seq: Some(archived), ..prune(&run) };
    assert_eq!(f.journal.upkeep().prune_run(stale).await.unwrap(), Pruned::Kept(WhyKept::Recent));
    let right = Prune { last_seq: Some(archived + 1), ..prune(&run) };
    assert_eq!(f.journal.upkeep().prune_run(right).await.unwrap(), Pruned::Removed);
}

async fn everything_is_counted(f: Fixture) {
    let empty = f.journal.upkeep().stats().await.unwrap();
    assert_eq!(JournalStats { size_bytes: None, schema_version: None, ..empty }, JournalStats::default());
    let first = full(&f, "run-a").await;
    let second = f.create("run-b").await;
    let call = second.call(0, 0);
    let mut question = approval(&second, "apr-b");
    question.expires_at = START.after(Duration::from_hours(1));
    f.journal.ask(&second, question, Vec::new()).await.unwrap();
    let unknown = vec![settled(&call, EffectState::Unknown)];
    let kept = Settling { call_id: call, attempt: 0, late: false, artifact: Some(artifact("art-1", "é")) };
    f.journal.settle(&second, kept, unknown).await.unwrap();
    let stats = f.journal.upkeep().stats().await.unwrap();
    let events = f.events(&first).await.len() + f.events(&second).await.len();
    let newest = f.events(&second).await.last().unwrap().at;
    assert_eq!(
        JournalStats { size_bytes: None, schema_version: None, ..stats },
        JournalStats {
            runs: vec![(None, 1), (Some(RunStatus::Completed), 1)],
            events: events as u64,
            artifacts: 3,
            artifact_bytes: 9,
            // Its call has its result: nobody is asked any more.
            open_questions: 0,
            unknown_effects: 1,
            keys: 1,
            oldest: Some(START),
            newest: Some(newest),
            size_bytes: None,
            schema_version: None,
        }
    );
}
