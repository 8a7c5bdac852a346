//! A journal in memory that forgets.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::effect::EffectState;
use lockgate_contract::ids::RunId;
use lockgate_contract::ports::{Journal, Lease, RunFilter};
use lockgate_journal::MemoryJournal;

use crate::support::{ManualClock, caller_key, claim, event, new_run, settled, settling};

async fn ended(journal: &dyn Journal, id: &str, key: Option<&str>, effect: EffectState) -> Lease {
    let (hold, _) = journal.create_run(new_run(id)).await.unwrap();
    let lease = hold.lease().clone();
    let call = lease.run_id.call(0, 0);
    let mut claim = claim(&call, 1, None);
    claim.caller_key = key.map(|key| caller_key(key, id));
    journal.claim(&lease, claim, vec![event("tool.started")]).await.unwrap();
    let mut result = vec![settled(&call, effect)];
    // The end comes with the result, as a direct call's does, or behind it.
    let end = event("run.completed");
    if key.is_none() {
        result.push(end);
        journal.settle(&lease, settling(&call, None), result).await.unwrap();
    } else {
        journal.settle(&lease, settling(&call, None), result).await.unwrap();
        journal.append(&lease, vec![end]).await.unwrap();
    }
    lease
}

async fn kept(journal: &dyn Journal) -> Vec<String> {
    let mut runs: Vec<String> =
        journal.runs(RunFilter::default()).await.unwrap().into_iter().map(|run| run.run_id.to_string()).collect();
    runs.sort();
    runs
}

#[tokio::test]
async fn runs_that_ended_are_forgotten_the_first_one_first() {
    let clock = ManualClock::new();
    let journal = MemoryJournal::new(clock.clone()).keeping(2);
    let (open, _) = journal.create_run(new_run("run-a-open")).await.unwrap();
    ended(&journal, "run-b-keyed", Some("key"), EffectState::Done).await;
    ended(&journal, "run-c-unknown", None, EffectState::Unknown).await;
    for number in 0..6 {
        ended(&journal, &format!("run-d-{number}"), None, EffectState::Done).await;
    }
    // What somebody still needs stays, as for `journal prune`; of the others the last ones are there.
    let stays = kept(&journal).await;
    for needed in ["run-a-open", "run-b-keyed", "run-c-unknown", "run-d-5"] {
        assert!(stays.iter().any(|run| run == needed), "{needed}: {stays:?}");
    }
    assert!(!stays.iter().any(|run| run == "run-d-0") && stays.len() <= 6, "{stays:?}");
    // Where nobody needs them any more they go too.
    clock.pass(Duration::from_hours(48));
    for number in 0..6 {
        ended(&journal, &format!("run-e-{number}"), None, EffectState::Done).await;
    }
    assert!(!kept(&journal).await.iter().any(|run| run == "run-b-keyed"));
    assert!(journal.run(&RunId::new("run-a-open")).await.unwrap().is_some());
    drop(open);
}

#[tokio::test]
async fn ten_thousand_calls_leave_no_more_than_is_kept() {
    let journal: Arc<dyn Journal> = lockgate_journal::open("memory:100", ManualClock::new()).unwrap();
    for number in 0..10_000 {
        ended(&*journal, &format!("run-{number:05}"), None, EffectState::Done).await;
    }
    let stays = journal.runs(RunFilter { limit: 1000, ..RunFilter::default() }).await.unwrap();
    assert_eq!(stays.len(), 100);
}
