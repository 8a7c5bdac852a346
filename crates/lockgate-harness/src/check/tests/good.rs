//! The good journals of the corpus: runs that the product writes, the same bytes each time.

use std::sync::Arc;

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::event::{Event, NewEvent, Sign};
use lockgate_contract::run::Budget;

use super::bench::{Bench, Meddling, PYTHON, Setup, block_on, calls, says};

/// The good journals by their names.
pub(super) fn journals() -> Vec<(&'static str, Vec<Event>)> {
    vec![
        ("reads", block_on(reads())),
        ("approval", block_on(approval())),
        ("unknown", block_on(unknown())),
        ("shared", block_on(shared())),
        ("replay", block_on(replay())),
        ("refusals", block_on(refusals())),
        ("failures", block_on(failures())),
        ("relaxed", block_on(relaxed())),
        ("limits", block_on(limits())),
        ("environment", block_on(environment())),
        ("direct", block_on(direct())),
        ("code", block_on(code())),
        ("chained", block_on(chained())),
        ("signed", block_on(signed())),
    ]
}

const OK: &str = r#"{"do":"ok"}"#;

/// Two turns with reads, one of which fails, and an answer.
async fn reads() -> Vec<Event> {
    let turns = vec![
        calls(&[("look", r#"{"do":"echo","of":"a"}"#), ("stat", r#"{"do":"fail"}"#)]),
        calls(&[("look", r#"{"do":"echo","of":"b"}"#), ("look", r#"{"do":"echo","of":"c"}"#)]),
        says("b and c"),
    ];
    let bench = Bench::new(Setup { turns, parallel_reads: 1, first_id: 1, ..Setup::default() });
    bench.start().await;
    bench.events().await
}

/// A call that waits for a person, and goes on; a second decision comes too late.
async fn approval() -> Vec<Event> {
    let turns = vec![calls(&[("pay", r#"{"do":"ok","to":"bob"}"#), ("look", OK)]), says("paid")];
    let bench = Bench::new(Setup { turns, first_id: 2, ..Setup::default() });
    bench.start().await;
    bench.decide(ApprovalState::Granted).await;
    bench.resume(None).await;
    bench.decide(ApprovalState::Denied).await;
    bench.events().await
}

/// An effect whose outcome nobody knows: the calls behind it are blocked.
async fn unknown() -> Vec<Event> {
    let turns = vec![calls(&[("note", OK), ("note", r#"{"do":"slow"}"#), ("put", OK)])];
    let bench = Bench::new(Setup { turns, first_id: 3, ..Setup::default() });
    bench.start().await;
    bench.events().await
}

/// Identical writes that share one result, and a tool that ends the run.
async fn shared() -> Vec<Event> {
    let turns = vec![calls(&[("share", OK), ("share", OK)]), calls(&[("finish", OK)])];
    let bench = Bench::new(Setup { turns, first_id: 4, ..Setup::default() });
    bench.start().await;
    bench.events().await
}

/// A driver that dies behind the intent of a call that may be repeated, and one that repeats it.
async fn replay() -> Vec<Event> {
    let turns = vec![calls(&[("put", OK)]), says("put")];
    // The fourth write is the result.
    let meddlings = vec![Meddling::None, Meddling::None, Meddling::None, Meddling::Kill];
    let bench = Bench::new(Setup { turns, meddlings, first_id: 5, ..Setup::default() });
    bench.start().await;
    bench.resume(None).await;
    bench.events().await
}

/// Calls that are refused: by the registry, the schema, the policy and a person.
async fn refusals() -> Vec<Event> {
    let turns = vec![calls(&[("nowhere", OK), ("note", "{"), ("deny", OK), ("pay", OK)]), says("nothing was done")];
    let bench = Bench::new(Setup { turns, first_id: 6, ..Setup::default() });
    bench.start().await;
    bench.decide(ApprovalState::Denied).await;
    bench.resume(None).await;
    bench.events().await
}

/// Tools that panic, answer in a wrong form, and give no answer in time.
async fn failures() -> Vec<Event> {
    let failing = [r#"{"do":"panic"}"#, r#"{"do":"wrong"}"#, r#"{"do":"slow"}"#];
    let turns = vec![calls(&failing.map(|arguments| ("look", arguments))), says("no luck")];
    let bench = Bench::new(Setup { turns, parallel_reads: 1, first_id: 10, ..Setup::default() });
    bench.start().await;
    bench.events().await
}

/// A call that its tool proves to be harmless, so that nobody is asked.
async fn relaxed() -> Vec<Event> {
    let turns = vec![calls(&[("harmless", OK)]), says("done")];
    let bench = Bench::new(Setup { turns, first_id: 11, ..Setup::default() });
    bench.start().await;
    bench.events().await
}

/// A run at its limits, that goes on with larger ones.
async fn limits() -> Vec<Event> {
    let turns = vec![calls(&[("note", OK), ("note", OK), ("note", OK)]), calls(&[("note", OK)]), says("noted")];
    let budget = Budget { max_steps: 3, max_valid_actions: 2, ..Budget::default() };
    let bench = Bench::new(Setup { turns, budget: budget.clone(), first_id: 7, ..Setup::default() });
    bench.start().await;
    bench.resume(Some(Budget { max_valid_actions: 3, ..budget })).await;
    bench.events().await
}

/// An environment that breaks, and then reports that the goal is reached.
async fn environment() -> Vec<Event> {
    let turns = vec![calls(&[("note", r#"{"do":"environment_nothing"}"#)]), calls(&[("note", r#"{"do":"done"}"#)])];
    let bench = Bench::new(Setup { turns, own_executor: true, first_id: 8, ..Setup::default() });
    bench.start().await;
    bench.events().await
}

/// A call without a model, sent again once it was approved.
async fn direct() -> Vec<Event> {
    let bench = Bench::new(Setup { first_id: 9, ..Setup::default() });
    bench.call("pay", OK, None).await;
    bench.decide(ApprovalState::Granted).await;
    let approval = bench.approvals().await.into_iter().next();
    bench.call("pay", OK, approval).await;
    bench.events().await
}

/// Code, which nothing here takes, and a call behind it.
async fn code() -> Vec<Event> {
    let turns = vec![calls(&[(PYTHON, "print(1)"), ("look", OK)]), says("looked")];
    let bench = Bench::new(Setup { turns, first_id: 12, ..Setup::default() });
    bench.start().await;
    bench.events().await
}

/// A run whose events are tied to each other, by several drivers and a person.
async fn chained() -> Vec<Event> {
    let turns = vec![calls(&[("pay", r#"{"do":"ok","to":"bob"}"#)]), says("paid")];
    let bench = Bench::new(Setup { turns, chain: true, first_id: 13, ..Setup::default() });
    bench.start().await;
    bench.decide(ApprovalState::Granted).await;
    bench.resume(None).await;
    bench.events().await
}

/// Signs with nothing but its name: the checker looks at where signatures stand.
#[derive(Debug)]
struct Stamp;

impl Sign for Stamp {
    fn key(&self) -> String {
        "stamp".to_owned()
    }

    fn sign(&self, _: &[u8]) -> String {
        "00".to_owned()
    }
}

/// A run whose decisions are signed.
async fn signed() -> Vec<Event> {
    let turns = vec![calls(&[("pay", r#"{"do":"ok","to":"bob"}"#)]), says("paid")];
    let bench = Bench::new(Setup { turns, first_id: 14, ..Setup::default() });
    bench.start().await;
    bench.decide(ApprovalState::Granted).await;
    bench.resume(None).await;
    let signed = |event: Event| {
        let data = event.data.signed_by(Arc::new(Stamp));
        NewEvent { kind: event.kind, step: event.step, call_id: event.call_id, data }.numbered(
            event.run_id,
            event.seq,
            event.at,
        )
    };
    bench.events().await.into_iter().map(signed).collect()
}
