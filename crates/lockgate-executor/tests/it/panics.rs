//! No panic leaves the gate, and each is told apart by whose it is (R-074, R-091; architecture rule 4).

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use futures_util::FutureExt as _;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{Effect, EffectState, Permission};
use lockgate_contract::outcome::Status;
use lockgate_contract::ports::{Lease, Redactor};
use lockgate_contract::tool::{Failure, Handler, Output, ToolSpec};
use lockgate_executor::RunLog;

use crate::bench::{
    Answer, Bench, EFFECTS, Fault, Method, Setup, add, answering, code, count, settlement, tool, with_handler,
};

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics when it is dropped, with something that panics when it is dropped.
struct Cluster;

impl Drop for Cluster {
    fn drop(&mut self) {
        std::panic::panic_any(Bomb);
    }
}

/// A future that panics when it is dropped, finished or not.
async fn armed(finishes: bool) -> Result<Output, Failure> {
    let _cluster = Cluster;
    if !finishes {
        std::future::pending::<()>().await;
    }
    Ok(Output::of("done"))
}

fn three(of: impl Fn(Effect) -> ToolSpec) -> Vec<ToolSpec> {
    EFFECTS.map(of).into()
}

type MakeHandler = fn() -> Handler;

/// Every way in which a handler can panic, by name.
fn handlers() -> Vec<(&'static str, MakeHandler)> {
    vec![
        ("before its future exists", || {
            Handler::untyped(|_, _| -> std::future::Ready<Result<Output, Failure>> { panic!("at once") })
        }),
        ("in its future", || Handler::untyped(|_, _| async { panic!("later") })),
        ("after it waited", || {
            Handler::untyped(|_, _| async {
                tokio::task::yield_now().await;
                panic!("after a wait")
            })
        }),
        ("with a formatted text", || Handler::untyped(|arguments, _| async move { panic!("with {arguments:?}") })),
        ("with a number", || Handler::untyped(|_, _| async { std::panic::panic_any(7_u8) })),
        ("with a payload that panics", || Handler::untyped(|_, _| async { std::panic::panic_any(Bomb) })),
        ("on the blocking pool", || Handler::untyped(|_, _| async { panic!("blocking") }).blocking()),
        ("on the blocking pool, with a payload that panics", || {
            Handler::untyped(|_, _| async { std::panic::panic_any(Bomb) }).blocking()
        }),
    ]
}

#[tokio::test]
async fn a_handler_that_panics_is_a_bug_of_the_tool() {
    for (how, handler) in handlers() {
        let bench = Setup::new(|counters| three(|effect| tool(counters, effect).handler(handler()).build().unwrap()))
            .build()
            .await;
        for effect in EFFECTS {
            let settlement = bench.call(effect.word()).await;
            assert_eq!(code(&settlement), "tool_internal_error", "{how}"); // R-074, R-091
            assert_eq!(settlement.settled().status, Status::Executed, "{how}"); // R-108
            let state = if effect == Effect::Read { EffectState::None } else { EffectState::Unknown };
            assert_eq!(settlement.settled().effect_state, state, "{how}");
            assert!(settlement.settled().audit.text.as_ref().unwrap().starts_with("the handler panicked: "), "{how}");
            let shown = settlement.settled().model_content();
            assert!(!shown.text().contains("panicked"), "{how}: {}", shown.text()); // R-179
            bench.ending(&settlement.result().call_id).await;
        }
        // The gate goes on.
        assert_eq!(code(&bench.call("nothing").await), "unknown_tool");
    }
}

#[tokio::test(start_paused = true)]
async fn a_destructor_that_panics_changes_no_ending() {
    let bench = Setup::new(|counters| {
        let mut specs = three(|effect| with_handler(tool(counters, effect), counters, |_, _| armed(false)));
        let finishing = ToolSpec::builder("finishing").effect(Effect::Write).permission(Permission::Allow);
        specs.push(finishing.handler(Handler::untyped(|_, _| async { armed(true).await })).build().unwrap());
        specs
    })
    .build()
    .await;
    for effect in EFFECTS {
        assert_eq!(code(&bench.call(effect.word()).await), "timed_out"); // R-091
    }
    // A destructor at the end of the handler's own code is the handler's code.
    assert_eq!(code(&bench.call("finishing").await), "tool_internal_error");

    let call = async { bench.send(&bench.request("write", "{}")).await };
    let (released, ()) = tokio::join!(call, async { bench.scope.cancel.cancel() });
    assert!(matches!(released, lockgate_executor::Released::Cancelled { started: true }), "{released:?}"); // R-101
}

#[tokio::test]
async fn a_dropped_call_survives_a_destructor_that_panics() {
    let bench =
        Setup::new(|counters| three(|effect| with_handler(tool(counters, effect), counters, |_, _| armed(false))))
            .build()
            .await;
    let request = bench.request("write", "{}");
    let mut call = Box::pin(bench.send(&request));
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    tokio::task::yield_now().await;
    assert_eq!(bench.ending(&request.call.call_id).await.code.unwrap().word(), "interrupted");
}

#[tokio::test]
async fn a_check_that_panics_lets_nothing_run() {
    type Attach = fn(lockgate_contract::tool::ToolSpecBuilder) -> lockgate_contract::tool::ToolSpecBuilder;
    let attached: [Attach; 3] = [
        |builder| builder.pre_check(|_| panic!("pre-check at /srv/check.rs")),
        |builder| builder.pre_check(|_| std::panic::panic_any(Bomb)),
        |builder| builder.permission(Permission::Ask).harmless_when(|_| panic!("proof at /srv/check.rs")),
    ];
    for attach in attached {
        let bench = Setup::new(|counters| {
            three(|effect| with_handler(attach(tool(counters, effect)), counters, |_, _| async { Ok(Output::of(&1)) }))
        })
        .build()
        .await;
        for effect in EFFECTS {
            let settlement = bench.call(effect.word()).await;
            assert_eq!(code(&settlement), "gate_internal_error");
            let settled = settlement.settled();
            assert_eq!((settled.status, settled.effect_state), (Status::NotExecuted, EffectState::None));
            assert!(!settled.model_content().text().contains("/srv")); // R-180
            assert!(settled.meta.error_id.is_some()); // R-179
            bench.ending(&settlement.result().call_id).await;
        }
        assert_eq!(bench.handler_count(), 0);
    }
}

#[tokio::test]
async fn arguments_whose_decoder_panics_are_not_run() {
    struct Undecodable;
    impl<'de> serde::Deserialize<'de> for Undecodable {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            panic!("decoder")
        }
    }
    let bench = Setup::new(|counters| {
        let handler = Handler::typed(|_: Undecodable| async { Ok(1) });
        vec![tool(counters, Effect::Write).handler(handler).build().unwrap()]
    })
    .build()
    .await;
    assert_eq!(code(&bench.call("write").await), "gate_internal_error");
    assert_eq!(bench.journal.calls(Method::Claim), 0);
}

#[tokio::test]
async fn a_policy_that_panics_denies() {
    for answer in [Answer::Panic, Answer::PanicLater] {
        let bench = Setup::new(|counters| answering(counters, "1")).policy(answer).build().await;
        assert_eq!(code(&bench.call("read").await), "policy_denied"); // architecture rule 9
        assert_eq!(bench.handler_count(), 0);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    OnEveryText,
    OnDocuments,
}

struct BrokenRedactor(Breaks);

impl Redactor for BrokenRedactor {
    fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        assert!(self.0 != Breaks::OnEveryText, "the redactor broke");
        Cow::Borrowed(text)
    }

    fn scrub_document(&self, _document: &Document) -> Option<Document> {
        panic!("the redactor broke")
    }
}

async fn broken(breaks: Breaks) -> Bench {
    Setup::new(|counters| answering(counters, r#""hunter22""#)).redactor(BrokenRedactor(breaks)).build().await
}

#[tokio::test]
async fn what_cannot_be_scrubbed_is_not_shown() {
    for breaks in [Breaks::OnDocuments, Breaks::OnEveryText] {
        let bench = broken(breaks).await;
        for effect in EFFECTS {
            let request = bench.request(effect.word(), r#"{"text":"hunter22"}"#);
            let settlement = settlement(bench.send(&request).await);
            assert_eq!(code(&settlement), "gate_internal_error"); // R-083, R-178
            assert_eq!(settlement.settled().status, Status::Executed); // R-120
            assert!(settlement.result().data.is_none());
            assert!(!settlement.settled().model_content().text().contains("hunter22"));
            bench.ending(&request.call.call_id).await;
        }
        if breaks == Breaks::OnEveryText {
            assert!(!bench.stored_text().await.contains("hunter22")); // R-178
        }
        // Refusals leave by the same door.
        assert_eq!(code(&bench.call("nothing").await), "unknown_tool");
    }
}

#[tokio::test]
async fn a_question_that_cannot_be_scrubbed_is_not_asked() {
    let bench = Setup::new(|counters| answering(counters, "1"))
        .redactor(BrokenRedactor(Breaks::OnDocuments))
        .policy(Answer::Is(lockgate_contract::ports::PolicyDecision::Ask))
        .build()
        .await;
    assert_eq!(code(&bench.call("write").await), "gate_internal_error");
    assert_eq!((bench.handler_count(), bench.journal.calls(Method::Ask)), (0, 0));
}

#[tokio::test]
async fn a_dropped_call_with_a_broken_redactor_does_not_take_the_process_down() {
    let bench = Setup::new(crate::bench::pending).redactor(BrokenRedactor(Breaks::OnEveryText)).build().await;
    let request = bench.request("write", "{}");
    let mut call = Box::pin(bench.send(&request));
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    tokio::task::yield_now().await;
    assert_eq!(bench.ending(&request.call.call_id).await.code.unwrap().word(), "interrupted");
}

#[tokio::test]
async fn a_journal_that_panics_is_one_that_failed() {
    for (method, expected, runs) in
        [(Method::Claim, "storage_unavailable", 0), (Method::Settle, "result_not_recorded", 1)]
    {
        let bench = Setup::new(|counters| answering(counters, "1")).build().await;
        bench.journal.fail(method, 0, Fault::Panic);
        let settlement = bench.call("write").await;
        assert_eq!((code(&settlement), bench.handler_count()), (expected, runs), "{method:?}");
        assert!(settlement.result().data.is_none());
        let requested = bench.kinds().await.iter().filter(|kind| *kind == "tool.requested").count();
        assert_eq!(requested, 1, "{method:?}");
    }
}

#[tokio::test]
async fn an_observer_that_panics_does_not_break_a_call() {
    let mut bench = Setup::new(|counters| answering(counters, "1")).build().await;
    let shown = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&shown);
    let observer = Arc::new(move |_: &lockgate_contract::event::Event| {
        add(&counted);
        panic!("the observer broke")
    });
    bench.scope.log = Arc::new(RunLog::new(Lease::first(bench.run_id.clone()), bench.journal.clone(), 1, observer));
    for effect in EFFECTS {
        let request = bench.request(effect.word(), "{}");
        let settlement = settlement(bench.send(&request).await);
        assert_eq!(code(&settlement), "ok", "{effect}");
        bench.ending(&request.call.call_id).await;
    }
    assert_eq!(count(&shown), bench.events().await.len());
}
