//! What a tool can prove harmless is not asked for; that is all that it can do (R-163, R-164, C-11).

use std::sync::Arc;

use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::event::{Body, EventType};
use lockgate_contract::ports::PolicyDecision;
use lockgate_contract::tool::{Output, ToolSpec};

use crate::bench::{Answer, Bench, Counters, Setup, add, code, count, tool, with_handler, word};

/// A tool that delegates: to read-only agents without a question.
fn delegate(counters: &Arc<Counters>, permission: Permission, effect: Effect) -> ToolSpec {
    let proofs = Arc::clone(counters);
    let builder = tool(counters, effect).permission(permission).harmless_when(move |arguments| {
        add(&proofs.harmless);
        arguments.root().get("text").and_then(|text| text.as_str()).as_deref() == Some("read_only")
    });
    with_handler(builder, counters, |_, _| async { Ok(Output::of(&1)) })
}

async fn bench(permission: Permission, effect: Effect, policy: Answer) -> Bench {
    Setup::new(|counters| vec![delegate(counters, permission, effect)]).policy(policy).build().await
}

const HARMLESS: &str = r#"{"text":"read_only"}"#;
const HARMFUL: &str = r#"{"text":"writer"}"#;

#[tokio::test]
async fn it_relaxes_a_question_and_nothing_else() {
    for effect in [Effect::Write, Effect::External] {
        for (permission, arguments, expected, relaxed) in [
            (Permission::Ask, HARMLESS, "ok", true),                // R-159, R-164
            (Permission::Ask, HARMFUL, "approval_required", false), // R-163
            (Permission::Deny, HARMLESS, "policy_denied", false),   // R-164: never past a denial
            (Permission::Deny, HARMFUL, "policy_denied", false),
            (Permission::Allow, HARMLESS, "ok", false),
            (Permission::Allow, HARMFUL, "ok", false), // R-164: never tightened
        ] {
            let bench = bench(permission, effect, Answer::Native).await;
            let released = bench.send(&bench.request(effect.word(), arguments)).await;
            assert_eq!(word(&released), expected, "{permission} {arguments}");
            assert_eq!(bench.handler_count(), usize::from(expected == "ok"));
            let recorded = bench.kinds().await.iter().filter(|kind| *kind == "tool.relaxed").count();
            assert_eq!(recorded, usize::from(relaxed), "{permission} {arguments}"); // C-11
        }
    }
}

#[tokio::test]
async fn a_relaxation_is_recorded_with_what_it_changed() {
    let bench = bench(Permission::Ask, Effect::Write, Answer::Native).await;
    bench.send(&bench.request("write", HARMLESS)).await;
    assert_eq!(bench.kinds().await, ["tool.requested", "tool.relaxed", "tool.started", "tool.finished"]);
    let events = bench.events().await;
    let relaxed = events.iter().find(|event| event.kind == EventType::ToolRelaxed).unwrap();
    let Body::ToolRelaxed(body) = relaxed.body().unwrap() else { panic!("{relaxed:?}") };
    assert_eq!((body.from, body.to, &*body.tool_name), (Permission::Ask, Permission::Allow, "write"));
}

#[tokio::test]
async fn the_policy_has_the_last_word() {
    for (answer, expected) in [
        (Answer::Is(PolicyDecision::Deny), "policy_denied"),
        (Answer::Is(PolicyDecision::Ask), "approval_required"),
        (Answer::Error, "policy_denied"),
    ] {
        let bench = bench(Permission::Ask, Effect::External, answer).await;
        let released = bench.send(&bench.request("external", HARMLESS)).await;
        assert_eq!(word(&released), expected); // R-162
        assert_eq!(bench.handler_count(), 0);
    }
}

#[tokio::test]
async fn a_proof_that_panics_proves_nothing() {
    let bench = Setup::new(|counters| {
        let builder = tool(counters, Effect::Write).permission(Permission::Ask).harmless_when(|_| panic!("no proof"));
        vec![with_handler(builder, counters, |_, _| async { Ok(Output::of(&1)) })]
    })
    .build()
    .await;
    assert_eq!(code(&bench.call("write").await), "gate_internal_error");
    assert_eq!(bench.handler_count(), 0);
    assert_eq!(count(&bench.counters.policy), 0);
}

#[tokio::test]
async fn invalid_arguments_prove_nothing() {
    let bench = bench(Permission::Ask, Effect::Write, Answer::Native).await;
    bench.send(&bench.request("write", r#"{"text":"read_only","more":1}"#)).await;
    assert_eq!((count(&bench.counters.harmless), bench.handler_count()), (0, 0)); // R-062
}
