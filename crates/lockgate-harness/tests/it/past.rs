//! What was decided about the calls of a run, as its events tell of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lockgate_contract::approval::ApprovalState;
use lockgate_contract::event::Event;
use lockgate_contract::ports::{
    BoxFuture, HookAnswer, HookedCall, PolicyDecision, PolicyEngine, PolicyRequest, PolicyVerdict, VetoHook,
};
use lockgate_executor::Veto;
use lockgate_harness::{FoldError, Past};

use crate::bench::Bench;
use crate::model::{calls, says};

const OK: &str = r#"{"do":"ok","n":1}"#;
const DENIED: &str = r#"{"do":"ok","n":13}"#;

/// Denies 13, asks for what changes something, allows the rest; beside it somebody else would deny everything.
struct Thirteen;

impl PolicyEngine for Thirteen {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        let (decision, why) = if request.arguments.text().contains("13") {
            (PolicyDecision::Deny, "thirteen")
        } else if request.tool.effect().changes_something() {
            (PolicyDecision::Ask, "it changes something")
        } else {
            (PolicyDecision::Allow, "it reads")
        };
        let policies = vec!["test:thirteen".to_owned(), "shadow:deny:cedar:none".to_owned()];
        Box::pin(std::future::ready(Ok(PolicyVerdict::new(decision, policies, why))))
    }
}

fn answers(past: &Past) -> Vec<(&str, Option<PolicyDecision>)> {
    past.calls().map(|call| (call.tool_name.as_str(), call.decision.as_ref().map(|decision| decision.answer))).collect()
}

async fn past(bench: &Bench, run: &lockgate_contract::ids::RunId) -> Past {
    Past::of(&bench.events(run).await).unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_call_has_its_last_answer() {
    let turn = calls(&[("look", OK), ("look", DENIED), ("look", "{"), ("nothing", "{}"), ("pay", OK)]);
    let mut bench = Bench::new([turn, says("Done.")]);
    bench.policy = Arc::new(Thirteen);
    let run = bench.run().await.run_id().clone();
    let waiting = past(&bench, &run).await;
    let expected = [
        ("look", Some(PolicyDecision::Allow)),
        ("look", Some(PolicyDecision::Deny)),
        ("look", None),
        ("nothing", None),
        ("pay", Some(PolicyDecision::Ask)),
    ];
    assert_eq!(answers(&waiting), expected); // R-253
    // Going on, it is decided about again: who was asked, was asked.
    bench.decide_all(&run, ApprovalState::Granted).await;
    bench.resume(&run).await;
    let done = past(&bench, &run).await;
    assert_eq!(answers(&done), expected);
    for call in done.calls() {
        let registered = bench.registry.get(&call.tool_name).map(|tool| tool.spec().definition());
        if let Some(decision) = &call.decision {
            assert_eq!(decision.acting().collect::<Vec<_>>(), ["test:thirteen"]);
            assert_eq!(decision.shadow().collect::<Vec<_>>(), ["deny:cedar:none"]);
            assert_eq!(call.definition, registered);
            assert!(call.arguments_digest.is_some() && !call.redacted);
        } else {
            assert!(matches!(&call.ending, Some((Some(_), Some(_)))), "{call:?}");
        }
    }
    let reasons: Vec<_> =
        done.calls().filter_map(|call| call.decision.as_ref().map(|decision| decision.reason.as_deref())).collect();
    assert_eq!(reasons, [None, Some("thirteen"), Some("it changes something")]);
}

#[tokio::test(start_paused = true)]
async fn wherever_the_events_end_nothing_is_made_up() {
    let mut bench = Bench::new([calls(&[("look", OK), ("pay", OK)]), says("Done.")]);
    bench.policy = Arc::new(Thirteen);
    let run = bench.run().await.run_id().clone();
    bench.decide_all(&run, ApprovalState::Granted).await;
    bench.resume(&run).await;
    let events = bench.events(&run).await;
    let whole = Past::of(&events).unwrap();
    for end in 1..events.len() {
        let part = Past::of(&events[..end]).unwrap();
        for call in part.calls() {
            let last = whole.call(&call.call_id).unwrap();
            let (now, then) = (call.decision.as_ref(), last.decision.as_ref());
            assert!(now.is_none() || now.map(|it| it.answer) == then.map(|it| it.answer), "{end}: {call:?}");
        }
    }
    assert!(matches!(Past::of(&[]), Err(FoldError::Sequence { .. })));
    let without_start: Vec<Event> = events[1..].to_vec();
    assert!(matches!(Past::of(&without_start), Err(FoldError::Misplaced { .. })));
}

/// Lets calls pass while it is open.
#[derive(Default)]
struct Till(AtomicBool);

impl VetoHook for Till {
    fn before<'a>(&'a self, _: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>> {
        let open = self.0.load(Ordering::SeqCst);
        let answer = if open { HookAnswer::Pass } else { HookAnswer::Veto("closed".to_owned()) };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_veto_is_no_answer_of_the_policy() {
    let mut bench = Bench::new([calls(&[("look", OK), ("look", DENIED)]), calls(&[("pay", OK)]), says("Done.")]);
    let till = Arc::new(Till::default());
    bench.policy = Arc::new(Thirteen);
    bench.vetoes = vec![Veto::new("till", till.clone())];
    let run = bench.run().await.run_id().clone();
    let stopped = |past: &Past| {
        let hook = |call: &lockgate_harness::PastCall| call.stopped_by.as_ref().map(|veto| veto.hook.clone());
        past.calls().map(hook).collect::<Vec<_>>()
    };
    let till_says = || Some("till".to_owned());
    let vetoed = past(&bench, &run).await;
    assert_eq!(answers(&vetoed), [("look", None), ("look", Some(PolicyDecision::Deny)), ("pay", None)]);
    assert_eq!(stopped(&vetoed), [till_says(), None, till_says()]);
    assert!(vetoed.calls().all(|call| call.definition.is_some() && call.arguments_digest.is_some()));

    // Who was asked, was asked, also where the hook stops it later.
    let mut bench = Bench::new([calls(&[("pay", OK)]), says("Done.")]);
    bench.policy = Arc::new(Thirteen);
    bench.vetoes = vec![Veto::new("till", till.clone())];
    till.0.store(true, Ordering::SeqCst);
    let run = bench.run().await.run_id().clone();
    bench.decide_all(&run, ApprovalState::Granted).await;
    till.0.store(false, Ordering::SeqCst);
    bench.resume(&run).await;
    let vetoed = past(&bench, &run).await;
    assert_eq!((answers(&vetoed), stopped(&vetoed)), (vec![("pay", Some(PolicyDecision::Ask))], vec![till_says()]));
}
