//! Runs of chance: whatever the model asks for, whatever becomes of it, whatever people say and whenever the power fails.

mod drivers;
mod ending;
mod folds;
mod removal;
mod results;
mod script;
mod yeses;

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::event::EventType;
use lockgate_contract::run::{Budget, RunStatus};
use lockgate_harness::RunResult;
use proptest::prelude::*;

use self::script::{block_on, first, runs, script};
use crate::bench::stop;
use crate::crashes::until_the_power_fails;
use crate::journals::{Fault, Faulty};

proptest! {
    #![proptest_config(runs())]

    /// How many reads run side by side changes when things happen, not what the model is told. Except where one read holds
    /// back those behind it, which ran already when they stood beside it: by its question, or by an effect that it cannot
    /// tell.
    #[test]
    fn parallelism_changes_no_result(mut script in script()) {
        let reads = ["look", "peek", "stat"];
        for turn in &mut script.turns {
            turn.retain(|(tool, arguments)| {
                let holds_back = arguments.contains("lost") || arguments.contains("undone");
                *tool != "ask" && !(holds_back && reads.contains(tool))
            });
            if turn.is_empty() {
                turn.push(("look", r#"{"do":"ok"}"#.to_owned()));
            }
        }
        // When things happen is what a deadline looks at.
        script.budget.deadline_ms = Budget::default().deadline_ms;
        block_on(async {
            let mut shown = Vec::new();
            for reads in [4, 1] {
                let mut bench = script.bench();
                bench.parallel_reads = reads;
                let state = bench.run().await;
                let state = script.to_the_end(&bench, state.run_id()).await;
                shown.push(serde_json::to_string_pretty(&RunResult::of(&state).with_messages(&state)).unwrap());
            }
            assert_eq!(shown[0], shown[1], "{script:?}"); // S-20
        });
    }

    /// The power fails twice, somewhere.
    #[test]
    fn no_effect_happens_twice(script in script(), crashes in prop::collection::vec((any::<bool>(), 2..30usize), 2)) {
        block_on(async {
            let mut bench = script.bench();
            let disk = Arc::clone(&bench.journal);
            let fault = |index: usize| match crashes[index] {
                (true, number) => Fault::Dead(number),
                (false, number) => Fault::DeadAfter(number),
            };
            bench.journal = Faulty::new(&disk, fault(0));
            until_the_power_fails(&bench, None).await;
            let mut bench = bench.restarted(Faulty::new(&disk, fault(1)));
            bench.decide_all(&first(), ApprovalState::Granted).await;
            until_the_power_fails(&bench, Some(&first())).await;
            bench = bench.restarted(disk);
            let state = script.to_the_end(&bench, &first()).await;
            script.assert_ended(&bench, &state);
        });
    }

    /// Cancelled at any time: it ends, or waits, and everything is accounted for.
    #[test]
    fn a_cancel_ends_it(script in script(), millis in 0..1500u64) {
        block_on(async {
            let bench = script.bench();
            let cancel = async {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                bench.cancel.cancel();
            };
            let (state, ()) = tokio::join!(bench.run(), cancel);
            let waits = stop(&state).0 == RunStatus::WaitingForApproval;
            assert!(waits || state.calls().all(|call| call.settled.is_some()), "{script:?}");
            let events = bench.events(&first()).await;
            let starts = events.iter().filter(|event| event.kind == EventType::ToolStarted).count();
            let effects = bench.world.entries_of_effects();
            assert!(effects.len() <= starts && effects.values().all(|count| *count == 1), "{script:?}"); // R-125
        });
    }
}
