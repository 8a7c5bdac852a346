//! Nothing starts after `run.completed`, nor after any other end of a run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::event::EventType;
use lockgate_contract::ids::RunId;
use lockgate_contract::run::{Budget, RunStatus};
use lockgate_harness::Resume;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::script::{Script, block_on, cancelled_script, runs};
use crate::bench::{Bench, stop};

/// A run that one of its calls may complete, with others before, beside and behind it.
fn finishing() -> impl Strategy<Value = Script> {
    (cancelled_script(), any::<Index>(), any::<Index>()).prop_map(|(mut script, turn, place)| {
        if !script.turns.is_empty() {
            let turn = turn.index(script.turns.len());
            let turn = &mut script.turns[turn];
            turn.insert(place.index(turn.len() + 1), ("finish", r#"{"do":"slow","n":1}"#.to_owned()));
        }
        let Budget { max_steps, max_valid_actions, max_calls_per_turn, .. } = &mut script.budget;
        *max_steps = (*max_steps).max(4);
        *max_valid_actions = (*max_valid_actions).max(10);
        *max_calls_per_turn = (*max_calls_per_turn).max(6);
        script
    })
}

/// What a run did: its events but for people's decisions, how many handlers it entered, and what it asked the model.
async fn done(bench: &Bench, run: &RunId) -> (Vec<String>, usize, Vec<u32>) {
    let events = bench.events(run).await;
    let driven = events.iter().filter(|event| event.kind != EventType::ApprovalDecided);
    let events = driven.map(|event| serde_json::to_string(event).unwrap()).collect();
    (events, bench.world.entries().len(), bench.model.steps())
}

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn nothing_starts_after_the_end(script in finishing(), late in select(vec![ApprovalState::Granted, ApprovalState::Denied])) {
        block_on(async {
            let mut bench = script.bench();
            let at_the_end = Arc::new(Mutex::new(None));
            let (seen, world) = (Arc::clone(&at_the_end), Arc::clone(&bench.world));
            bench.observers.push(Arc::new(move |event| {
                if event.kind.word().starts_with("run.") {
                    *seen.lock().unwrap() = Some((event.seq, world.entries().len()));
                }
            }));
            let state = bench.run().await;
            let run = state.run_id().clone();
            let state = script.to_the_end(&bench, &run).await;
            let before = done(&bench, &run).await;
            // The end is the last event that is not a late decision, and no handler was entered since.
            let (end, entered) = at_the_end.lock().unwrap().unwrap();
            assert_eq!((end, entered), (state.last_seq(), before.1), "{script:?}"); // R-199, R-125

            // Somebody decides late, takes the run up again in either driver, and gives it more; then an hour passes.
            for approval in bench.approvals(&run).await {
                drop(bench.decide(&approval.approval_id, late).await);
            }
            let mut resumes = vec![Resume::default()];
            // Only who used up a budget may be given another one.
            if stop(&state).0 != RunStatus::LimitReached {
                resumes.push(Resume { budget: Some(Budget::default()) });
            }
            for resume in resumes {
                bench.try_resume(&run, resume.clone()).await.unwrap();
                bench.runner().stream_resume(run.clone(), resume).finish().await.unwrap();
            }
            tokio::time::sleep(Duration::from_hours(1)).await;
            assert_eq!(done(&bench, &run).await, before, "{script:?}"); // R-199
        });
    }
}
