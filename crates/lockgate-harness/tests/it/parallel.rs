//! Calls side by side, and the two drivers.

use std::time::Duration;

use lockgate_contract::run::RunStatus;
use lockgate_harness::{Resume, RunResult};

use crate::bench::{Bench, codes, stop};
use crate::model::{Turn, calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;
const SLOW: &str = r#"{"do":"slow","n":1}"#;

/// How many handlers ran at once at most, and how long the turn took.
async fn side_by_side(turn: &[(&str, &str)], reads: usize) -> (usize, Duration) {
    let mut bench = Bench::new([calls(turn), says("Done.")]);
    bench.parallel_reads = reads;
    let began = tokio::time::Instant::now();
    let run = bench.run().await;
    assert!(codes(&run).iter().all(|code| code == "ok"), "{:?}", codes(&run));
    (bench.world.peak(), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn reads_run_side_by_side_and_effects_alone() {
    let tenths = |count: u64| Duration::from_millis(100 * count);
    let (look, peek, stat) = (("look", SLOW), ("peek", SLOW), ("stat", SLOW));
    let (note, put) = (("note", SLOW), ("put", SLOW));
    assert_eq!(side_by_side(&[look; 6], 8).await, (6, tenths(1)));
    assert_eq!(side_by_side(&[look; 6], 4).await, (4, tenths(2))); // S-19
    assert_eq!(side_by_side(&[look; 3], 1).await, (1, tenths(3)));
    assert_eq!(side_by_side(&[note; 3], 8).await, (1, tenths(3)));
    assert_eq!(side_by_side(&[put, put], 8).await, (1, tenths(2)));
    assert_eq!(side_by_side(&[look, look, note, look, look], 8).await, (2, tenths(3)));
    assert_eq!(side_by_side(&[peek, stat], 8).await, (1, tenths(2))); // S-18
    assert_eq!(side_by_side(&[peek, look, look], 8).await, (3, tenths(1)));
}

#[tokio::test(start_paused = true)]
async fn results_stand_in_request_order_whatever_came_first() {
    let slow = [("look", r#"{"do":"slow","n":1}"#), ("look", r#"{"do":"ok","n":2}"#), ("look", "{")];
    let bench = Bench::new([calls(&slow), says("Done.")]);
    let run = bench.run().await;
    let told = bench.model.told();
    assert_eq!(told[..2], [r#"{"n":1}"#, r#"{"n":2}"#]); // R-219, R-220, S-20
    assert!(told[2].contains("invalid_arguments"));
    let events = bench.events(run.run_id()).await;
    let settled: Vec<String> = events
        .iter()
        .filter(|event| ["tool.finished", "tool.failed"].contains(&event.kind.word()))
        .map(|event| event.call_id.as_ref().unwrap().to_string())
        .collect();
    assert_eq!(settled.last().unwrap(), "run-000000000001:step-0:call-0"); // the slow one came last
}

#[tokio::test(start_paused = true)]
async fn one_that_fails_takes_nobody_with_it() {
    for what in ["panic", "bug", "business", "hangs", "environment"] {
        let failing = format!(r#"{{"do":"{what}"}}"#);
        let bench = Bench::new([calls(&[("look", SLOW), ("look", failing.as_str()), ("look", SLOW)]), says("Done.")]);
        let run = bench.run().await;
        let codes = codes(&run);
        assert_eq!((codes[0].as_str(), codes[2].as_str()), ("ok", "ok"), "{what}"); // par-one-fails
        assert_ne!(codes[1], "ok");
        assert_eq!(stop(&run).0, RunStatus::Completed);
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_write_twice_in_a_turn_is_two_writes() {
    let bench = Bench::new([calls(&[("note", OK), ("note", OK)]), says("Done.")]);
    let run = bench.run().await;
    assert_eq!((codes(&run), bench.world.entries().len()), (vec!["ok".to_owned(); 2], 2)); // dup-identical-writes
}

fn script() -> Vec<Turn> {
    vec![
        calls(&[("look", SLOW), ("look", OK), ("peek", OK), ("stat", r#"{"do":"business"}"#)]),
        calls(&[("note", OK), ("look", "{"), ("nosuch", "{}"), ("look", OK)]),
        calls(&[("pay", OK)]),
        says("Done."),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_streaming_driver_gives_the_same_bytes() {
    for reads in [1, 8] {
        let mut blocking = Bench::new(script());
        blocking.parallel_reads = reads;
        let state = blocking.run().await;
        // Its time begins here.
        let mut streaming = Bench::new(script());
        streaming.parallel_reads = reads;
        let mut stream = streaming.runner().stream(streaming.task());
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event);
        }
        let streamed = stream.finish().await.unwrap();
        let run = state.run_id();
        assert_eq!(blocking.bytes(run).await, streaming.bytes(run).await);
        // What was handed out is what the journal has, from the first event on.
        assert_eq!(serde_json::to_string_pretty(&events).unwrap(), streaming.bytes(run).await);
        assert_eq!(format!("{state:?}"), format!("{streamed:?}"));
        assert_eq!(stop(&streamed).0, RunStatus::WaitingForApproval);

        // Taken up again, a stream hands out what comes from here on.
        streaming.decide_all(run, lockgate_contract::approval::ApprovalState::Granted).await;
        let before = streaming.events(run).await.len();
        let mut stream = streaming.runner().stream_resume(run.clone(), Resume::default());
        let mut further = Vec::new();
        while let Some(event) = stream.next().await {
            further.push(event.seq);
        }
        let after = streaming.events(run).await.len();
        assert_eq!(further, (before as u64 + 1..=after as u64).collect::<Vec<_>>());
        assert_eq!(RunResult::of(&stream.finish().await.unwrap()).answer.as_deref(), Some("Done."));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_nobody_listens_to_is_driven_to_its_end() {
    let bench = Bench::new(script());
    let stream = bench.runner().stream(bench.task());
    drop(stream);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let state = bench.runner().state(&"run-000000000001".into()).await.unwrap();
    assert_eq!(stop(&state).0, RunStatus::WaitingForApproval);
}

#[tokio::test(start_paused = true)]
async fn several_runs_at_once_do_not_meet() {
    let bench = Bench::new([calls(&[("look", SLOW), ("note", OK)]), says("Done.")]);
    let runner = bench.runner();
    let (one, two) = tokio::join!(runner.start(bench.task()), runner.start(bench.task()));
    for (run, number) in [one.unwrap(), two.unwrap()].iter().zip(1..) {
        assert_eq!(run.run_id().as_str(), format!("run-{number:012x}"));
        crate::invariants::assert_hold(&bench.events(run.run_id()).await);
        assert_eq!(codes(run), ["ok", "ok"]);
    }
    assert_eq!(bench.world.entries().len(), 4);
}
