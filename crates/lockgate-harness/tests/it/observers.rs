//! Whoever watches a run changes nothing about it, and neither does what could not be read at once.

use std::sync::Arc;

use lockgate_contract::run::RunStatus;

use crate::bench::{Bench, stop};
use crate::journals::{Fault, Faulty};
use crate::model::{Turn, calls, says};

const OK: &str = "{}";

fn script() -> [Turn; 3] {
    [calls(&[("look", OK), ("look", OK)]), calls(&[("look", OK)]), says("Done.")]
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_at_every_event_changes_nothing() {
    let quiet = Bench::new(script());
    let expected = quiet.kinds(quiet.run().await.run_id()).await;
    let mut bench = Bench::new(script());
    bench.observers.push(Arc::new(|_| panic!("the observer broke")));
    let run = bench.run().await;
    assert_eq!(stop(&run).0, RunStatus::Completed);
    assert_eq!(bench.kinds(run.run_id()).await, expected);

    let mut bench = Bench::new(script());
    bench.observers.push(Arc::new(|_| panic!("the observer broke")));
    let mut stream = bench.runner().stream(bench.task());
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        seen.push(event.kind.word().to_owned());
    }
    assert_eq!(stop(&stream.finish().await.unwrap()).0, RunStatus::Completed);
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_stands_is_not_lost_where_others_events_cannot_be_read_at_once() {
    let mut bench = Bench::new(script());
    bench.journal = Faulty::new(&bench.journal, Fault::Unread);
    let run = bench.run().await;
    assert_eq!(stop(&run).0, RunStatus::Completed);
    assert_eq!(run.calls().filter(|call| call.settled.is_some()).count(), 3);
}
