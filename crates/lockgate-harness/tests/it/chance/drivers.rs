//! The blocking and the streaming driver write the same events, from the first to the last, whatever runs side by side.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lockgate_contract::event::{Event, EventType};
use lockgate_contract::run::RunStatus;
use lockgate_harness::{Resume, RunResult, RunState, RunStream};
use proptest::prelude::*;

use super::script::{Script, block_on, cancelled_script, first, runs};
use crate::bench::{Bench, stop};

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn the_drivers_agree(script in cancelled_script()) {
        block_on(async {
            let mut blocking = script.bench();
            let observed = Arc::new(Mutex::new(Vec::new()));
            let observer = Arc::clone(&observed);
            blocking.observers.push(Arc::new(move |event| observer.lock().unwrap().push(event.clone())));
            let state = blocking.run().await;
            let state = script.to_the_end(&blocking, state.run_id()).await;
            // Its time begins here.
            let streaming = script.bench();
            let (streamed, handed_out) = stream_to_the_end(&script, &streaming).await;

            let (one, two) = (blocking.events(&first()).await, streaming.events(&first()).await);
            assert_eq!(threads(&one), threads(&two), "{script:?}");
            let shown = |state| serde_json::to_string(&RunResult::of(state).with_messages(state)).unwrap();
            assert_eq!(shown(&state), shown(&streamed));
            if script.parallel_reads == 1 {
                assert_eq!(texts(&one), texts(&two), "{script:?}");
            }
            // Whoever looks on sees what the journal has, but for what others decided while nobody drove the run.
            for (events, seen) in [(&one, &*observed.lock().unwrap()), (&two, &handed_out)] {
                let driven = |event: &&Event| event.kind != EventType::ApprovalDecided;
                assert_eq!(texts(events.iter().filter(driven)), texts(seen), "{script:?}");
            }
        });
    }
}

/// As [`Script::to_the_end`], by streams; and every event that they handed out.
async fn stream_to_the_end(script: &Script, bench: &Bench) -> (RunState, Vec<Event>) {
    let mut answers = script.decisions.iter().cycle();
    let mut handed_out = Vec::new();
    let mut stream = bench.runner().stream(bench.task());
    // The first resume finds a run that waits for the answers, and leaves it.
    for _ in 0..60 {
        let state = drain(stream, &mut handed_out).await;
        stream = bench.runner().stream_resume(first(), Resume::default());
        if stop(&state).0 != RunStatus::WaitingForApproval {
            assert_eq!(drain(stream, &mut Vec::new()).await.last_seq(), state.last_seq());
            return (state, handed_out);
        }
        let state = drain(stream, &mut handed_out).await;
        if stop(&state).0 == RunStatus::WaitingForApproval {
            Script::answer(bench, &first(), &mut answers).await;
        }
        stream = bench.runner().stream_resume(first(), Resume::default());
    }
    panic!("it does not end: {script:?}");
}

async fn drain(mut stream: RunStream, handed_out: &mut Vec<Event>) -> RunState {
    while let Some(event) = stream.next().await {
        handed_out.push(event);
    }
    stream.finish().await.unwrap()
}

/// The run's events of each call and of the run itself, without their times and numbers.
fn threads(events: &[Event]) -> BTreeMap<String, Vec<String>> {
    let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        let of = event.call_id.as_ref().map(ToString::to_string).unwrap_or_default();
        threads.entry(of).or_default().push(format!("{} {} {}", event.kind, event.step, event.data.text()));
    }
    threads
}

fn texts<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<String> {
    events.into_iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}
