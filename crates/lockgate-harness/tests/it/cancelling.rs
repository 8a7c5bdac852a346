//! The run is cancelled: before, between, during.

use std::time::Duration;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::run::{Budget, RunStatus};
use lockgate_harness::{RunResult, RunState};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, codes, stop};
use crate::model::{Turn, calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;
const HANGS: &str = r#"{"do":"hangs"}"#;

/// Runs until `reached` fires, cancels, and checks what holds after every cancel.
async fn cancelled_at(bench: &Bench, reached: &Notify) -> RunState {
    let cancel = async {
        reached.notified().await;
        bench.cancel.cancel();
    };
    let (run, ()) = tokio::join!(bench.run(), cancel);
    // It stays so.
    let before = bench.bytes(run.run_id()).await;
    bench.resume_within(run.run_id(), Budget::default()).await;
    assert_eq!(bench.bytes(run.run_id()).await, before);
    run
}

fn cancelled() -> (RunStatus, String) {
    (RunStatus::Cancelled, "cancelled".to_owned())
}

#[tokio::test(start_paused = true)]
async fn before_anything_was_asked() {
    let bench = Bench::new([says("Nobody hears this.")]);
    bench.cancel.cancel();
    let run = bench.run().await;
    assert_eq!(stop(&run), cancelled());
    assert_eq!(bench.kinds(run.run_id()).await, ["run.started", "run.cancelled"]);
    assert_eq!(run.steps(), 0);
}

#[tokio::test(start_paused = true)]
async fn while_the_model_thinks() {
    let bench = Bench::new([calls(&[("note", OK)]), Turn::Hangs]);
    let run = cancelled_at(&bench, &bench.model.hanging).await;
    assert_eq!(stop(&run), cancelled());
    assert_eq!((codes(&run), run.steps()), (vec!["ok".to_owned()], 2));
    assert_eq!(RunResult::of(&run).answer, None);
}

#[tokio::test(start_paused = true)]
async fn while_reads_run_and_others_did_not_start() {
    let turn = [("look", HANGS), ("look", OK), ("look", HANGS), ("note", OK), ("nosuch", "{}")];
    let bench = Bench::new([calls(&turn), says("Nobody hears this.")]);
    let run = cancelled_at(&bench, &bench.world.hanging).await;
    assert_eq!(stop(&run), cancelled());
    assert_eq!(codes(&run), ["interrupted", "ok", "interrupted", "cancelled", "cancelled"]); // S-23
    let statuses: Vec<_> = RunResult::of(&run).calls.iter().map(|call| call.status.unwrap().word()).collect();
    assert_eq!(statuses, ["EXECUTED", "EXECUTED", "EXECUTED", "NOT_EXECUTED", "NOT_EXECUTED"]);
    let effects: Vec<_> = RunResult::of(&run).calls.iter().map(|call| call.effect_state.unwrap().word()).collect();
    assert_eq!(effects, ["none", "done", "none", "none", "none"]);
    assert_eq!((bench.world.entered(), bench.model.steps()), (vec!["look"; 3], vec![0]));
}

#[tokio::test(start_paused = true)]
async fn while_a_write_runs_nobody_knows_what_it_did() {
    let bench = Bench::new([calls(&[("look", OK), ("note", HANGS), ("note", OK)]), says("Nobody hears this.")]);
    let run = cancelled_at(&bench, &bench.world.hanging).await;
    assert_eq!(stop(&run), (RunStatus::NeedsReconciliation, "unknown_effect".to_owned())); // not rolled back, not cancelled
    assert_eq!(codes(&run), ["ok", "interrupted", "cancelled"]);
    // The intent stands once, the request stands once, and so does the result (R-125, R-212).
    let kinds = bench.kinds(run.run_id()).await;
    let of = |kind: &str| kinds.iter().filter(|known| *known == kind).count();
    assert_eq!((of("tool.requested"), of("tool.started"), of("tool.failed")), (3, 2, 2), "{kinds:?}");
}

#[tokio::test(start_paused = true)]
async fn while_an_approved_effect_runs() {
    let bench = Bench::new([calls(&[("pay", HANGS), ("pay", OK)]), says("Nobody hears this.")]);
    let run = bench.run().await;
    bench.decide_all(run.run_id(), ApprovalState::Granted).await;
    let cancel = async {
        bench.world.hanging.notified().await;
        bench.cancel.cancel();
    };
    let (run, ()) = tokio::join!(bench.resume(run.run_id()), cancel);
    assert_eq!(stop(&run).0, RunStatus::NeedsReconciliation);
    assert_eq!(codes(&run), ["interrupted", "cancelled"]);
    // The second approval is of no use any more, and is taken back with its call.
    let states: Vec<_> = bench.approvals(run.run_id()).await.iter().map(|approval| approval.state).collect();
    assert_eq!(states, [ApprovalState::Consumed, ApprovalState::Withdrawn]);
    bench.resume(run.run_id()).await;
    assert_eq!(bench.world.entered(), ["pay"]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_told_the_model_of_an_unknown_effect_is_cancelled_like_any_other() {
    let mut bench = Bench::new([calls(&[("note", HANGS)]), says("Nobody hears this.")]);
    bench.on_unknown = lockgate_contract::effect::OnUnknown::TellModel;
    let run = cancelled_at(&bench, &bench.world.hanging).await;
    assert_eq!((stop(&run), codes(&run)), (cancelled(), vec!["interrupted".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_there_counts() {
    // The handler answers at the very moment of the cancel.
    let bench = Bench::new([calls(&[("note", r#"{"do":"slow","n":3}"#)]), says("Nobody hears this.")]);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bench.cancel.cancel();
    };
    let (run, ()) = tokio::join!(bench.run(), cancel);
    assert!(matches!(codes(&run)[0].as_str(), "ok" | "interrupted"));
    let reconcile = codes(&run)[0] == "interrupted";
    assert_eq!(stop(&run).0 == RunStatus::NeedsReconciliation, reconcile);
    assert_eq!(stop(&run).0 == RunStatus::Cancelled, !reconcile);
}

#[tokio::test(start_paused = true)]
async fn at_every_point_in_time() {
    // 10 ms apart over a run that takes 600 ms: whatever it hits, the run ends in order.
    let slow = r#"{"do":"slow","n":1}"#;
    let turn = [("look", slow), ("look", slow), ("note", slow), ("put", slow), ("look", slow), ("pay", OK)];
    let mut ends = std::collections::BTreeSet::new();
    for millis in (0..700).step_by(10) {
        let bench = Bench::new([calls(&turn[..3]), calls(&turn[2..5]), calls(&turn[4..])]);
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            bench.cancel.cancel();
        };
        let (run, ()) = tokio::join!(bench.run(), cancel); // the events are checked there
        let open = run.calls().filter(|call| call.settled.is_none()).count();
        assert_eq!(open > 0, stop(&run).0 == RunStatus::WaitingForApproval, "{millis}");
        ends.insert(stop(&run).0.word());
    }
    let all = ["cancelled", "needs_reconciliation", "waiting_for_approval"];
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), all);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_cancelled_by_its_runner() {
    let bench = Bench::new([calls(&[("look", HANGS)]), says("Nobody hears this.")]);
    let runner = bench.runner();
    let mut stream = runner.stream(bench.task());
    let mut kinds = Vec::new();
    loop {
        tokio::select! {
            event = stream.next() => match event {
                Some(event) => kinds.push(event.kind.to_string()),
                None => break,
            },
            () = bench.world.hanging.notified() => runner.cancel().cancel(),
        }
    }
    assert_eq!(stop(&stream.finish().await.unwrap()), cancelled());
    assert_eq!(kinds.last().map(String::as_str), Some("run.cancelled"));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_run_that_is_resumed_under_a_cancel_is_cancelled_and_runs_nothing() {
    let mut bench = Bench::new([calls(&[("pay", OK), ("pay", OK)]), says("Nobody hears this.")]);
    let run = bench.run().await;
    bench.decide_all(run.run_id(), ApprovalState::Granted).await;
    bench.cancel = CancellationToken::new();
    bench.cancel.cancel();
    let run = bench.resume(run.run_id()).await;
    assert_eq!((stop(&run), codes(&run)), (cancelled(), vec!["cancelled".to_owned(); 2]));
    assert_eq!(bench.world.entries(), []);
}
