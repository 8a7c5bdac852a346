//! The state that lives beside a run is the fold over the run's events, after every one of them (architecture rule 5).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use lockgate_contract::event::{Event, EventType};
use lockgate_contract::ids::CallId;
use lockgate_contract::run::RunStatus;
use lockgate_contract::time::Timestamp;
use lockgate_harness::{Facts, RunState};
use proptest::prelude::*;

use super::script::{Script, block_on, cancelled_script, first, runs};
use crate::bench::{Bench, stop};

/// The states of a run, one after each of its events, made as the driver makes its own: by applying what the journal
/// accepted, as it was accepted.
type Lived = Arc<Mutex<Vec<RunState>>>;

fn live(lived: &mut Vec<RunState>, event: &Event) {
    let state = match lived.last() {
        None => RunState::begin(event).unwrap(),
        Some(before) => {
            let mut state = before.clone();
            state.apply(event).unwrap();
            state
        }
    };
    lived.push(state);
}

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn the_live_state_is_the_fold_of_every_beginning(script in cancelled_script()) {
        block_on(async {
            let mut bench = script.bench();
            let lived = Lived::default();
            let observer = Arc::clone(&lived);
            bench.observers.push(Arc::new(move |event| live(&mut observer.lock().unwrap(), event)));
            lived_to_the_end(&script, &bench, &lived).await;

            // As another process reads them: from their texts.
            let text = serde_json::to_string(&bench.events(&first()).await).unwrap();
            let events: Vec<Event> = serde_json::from_str(&text).unwrap();
            let lived = lived.lock().unwrap();
            assert_eq!(lived.len(), events.len());
            let mut asked = bench.model.asked.lock().unwrap().clone().into_iter();
            for (state, count) in lived.iter().zip(1..) {
                let folded = RunState::fold(&events[..count]).unwrap();
                assert_eq!(format!("{state:?}"), format!("{folded:?}"), "after event {count} of {script:?}");
                let event = &events[count - 1];
                assert_eq!(questions(state, event.at), questions(&folded, event.at), "after event {count} of {script:?}");
                // What the driver's own state showed the model.
                if event.kind == EventType::ModelRequested {
                    let shown = asked.next().unwrap().messages;
                    assert_eq!(format!("{shown:?}"), format!("{:?}", folded.messages()), "at event {count} of {script:?}");
                }
            }
            assert!(asked.next().is_none());
        });
    }
}

/// As [`Script::to_the_end`]; wherever the driver stops, its state is the one that was lived.
async fn lived_to_the_end(script: &Script, bench: &Bench, lived: &Lived) {
    let mut answers = script.decisions.iter().cycle();
    let mut state = bench.run().await;
    for _ in 0..60 {
        assert_eq!(format!("{state:?}"), format!("{:?}", lived.lock().unwrap().last().unwrap()), "{script:?}");
        if stop(&state).0 != RunStatus::WaitingForApproval {
            return;
        }
        Script::answer(bench, &first(), &mut answers).await;
        // Nobody drives the run while people decide: who takes it up reads what they said.
        for event in bench.journal.events(&first(), state.last_seq()).await.unwrap() {
            live(&mut lived.lock().unwrap(), &event);
        }
        state = bench.resume(&first()).await;
    }
    panic!("it does not end: {script:?}");
}

/// What comes next, early and late, cancelled or not, with nothing and with everything held: each asked twice.
fn questions(state: &RunState, now: Timestamp) -> Vec<String> {
    let (none, all) = (BTreeSet::new(), state.calls().map(|call| call.call_id.clone()).collect::<BTreeSet<CallId>>());
    let times = [now, state.deadline()];
    let mut answers = Vec::new();
    for (now, cancelled, held, parallel_reads) in [
        (times[0], false, &none, 1),
        (times[0], false, &none, 4),
        (times[0], true, &none, 4),
        (times[0], false, &all, 4),
        (times[1], false, &none, 4),
    ] {
        let facts = Facts { now, cancelled, held, unredacted: &none, parallel_reads };
        let answer = format!("{:?}", state.next(&facts));
        assert_eq!(answer, format!("{:?}", state.next(&facts)));
        answers.push(answer);
    }
    answers
}
