//! Callers' own idempotency keys: the same key with the same request is one effect, whatever happens in between.

use std::time::Duration;

use lockgate::contract::document::Limits;
use lockgate::contract::effect::Idempotency;
use lockgate::contract::event::{EventType, Finding};
use lockgate::contract::ids::RunId;
use lockgate::harness::{DirectAnswer, Reconciliation};
use lockgate::prelude::*;
use tokio::sync::Semaphore;

use crate::world::{World, at_once, code_of, in_time};

fn call(world: &World, key: &str, arguments: &str) -> DirectCall {
    let mut call = DirectCall::new(world.subject.clone(), world.binding(), "pay", arguments);
    call.idempotency_key = Some(key.to_owned());
    call
}

async fn keyed(world: &World, key: &str, arguments: &str) -> DirectAnswer {
    world.runner(Vec::new()).call(call(world, key, arguments)).await.unwrap()
}

/// A tool whose effect is not to be repeated, and which nobody is asked about.
fn pay() -> lockgate::ToolSpecBuilder {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "integer"}}}"#;
    let schema = Document::parse(schema, Limits::OWN).unwrap();
    ToolSpec::builder("pay").permission(Permission::Allow).input_schema(schema)
}

fn paying(world: &World) {
    world.add(pay(), at_once(|_| Ok(Output::of("paid"))));
}

fn data(answer: &DirectAnswer) -> Option<&str> {
    answer.result.data.as_ref().map(Document::text)
}

#[tokio::test]
async fn the_same_request_has_one_effect_and_its_result_is_told_again() {
    for world in World::of_each_kind() {
        paying(&world);
        let first = keyed(&world, "k", r#"{"amount": 5}"#).await;
        assert_eq!((data(&first), &first.result.meta.deduplicated), (Some("\"paid\""), &None));
        // The same request, also if it is written otherwise, and from another process.
        let second = keyed(&world.restarted(), "k", r#"{ "amount" :5 }"#).await;
        assert_eq!(data(&second), Some("\"paid\""));
        assert_eq!(second.result.meta.deduplicated, Some(first.result.call_id.clone())); // S-31
        assert_ne!(first.run_id, second.run_id);
        let other = keyed(&world, "k", r#"{"amount": 6}"#).await;
        assert_eq!(code_of(&other), "idempotency_conflict"); // R-130
        assert_eq!(world.entered().len(), 1);
        // Another key is another request.
        keyed(&world, "K", r#"{"amount": 5}"#).await;
        assert_eq!(world.entered().len(), 2);
        let keys = world.keys();
        assert_ne!(keys[0], keys[1]);
    }
}

#[tokio::test]
async fn whoever_asks_meanwhile_waits_for_the_first_ones_result() {
    for world in World::of_each_kind() {
        let (begun, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (entered, wait) = (Arc::clone(&begun), Arc::clone(&go));
        let act = in_time(move |_, _| {
            let (entered, wait) = (Arc::clone(&entered), Arc::clone(&wait));
            async move {
                entered.add_permits(1);
                wait.acquire().await.unwrap().forget();
                Ok(Output::of("paid"))
            }
        });
        world.add(pay(), act);
        let first = keyed(&world, "k", "{}");
        let second = async {
            begun.acquire().await.unwrap().forget();
            let other = world.restarted();
            let (second, ()) = tokio::join!(keyed(&other, "k", "{}"), async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                go.add_permits(1);
            });
            second
        };
        let (first, second) = tokio::join!(first, second);
        assert_eq!((data(&first), data(&second)), (Some("\"paid\""), Some("\"paid\"")));
        assert_eq!(second.result.meta.deduplicated, Some(first.result.call_id)); // S-31
        assert_eq!(world.entered().len(), 1);
    }
}

#[tokio::test]
async fn a_key_is_its_tenants_and_is_forgotten_in_time() {
    for mut world in World::of_each_kind() {
        paying(&world);
        keyed(&world, "k", "{}").await;
        "another".clone_into(&mut world.subject.tenant);
        assert_eq!(keyed(&world, "k", "{}").await.result.meta.deduplicated, None);
        assert_eq!(world.entered().len(), 2);
        world.clock.forward(world.options.keep_keys);
        assert_eq!(keyed(&world, "k", "{}").await.result.meta.deduplicated, None);
        assert_eq!(world.entered().len(), 3);
    }
}

/// Nobody is asked about a request that has its answer, or that is another one under the same key.
#[tokio::test]
async fn a_person_is_asked_once_about_a_request() {
    for world in World::of_each_kind() {
        world.add(pay().permission(Permission::Ask), at_once(|_| Ok(Output::of("paid"))));
        let first = keyed(&world, "k", r#"{"amount": 5}"#).await;
        assert_eq!(code_of(&first), "approval_required");
        let question = world.questions(&first.run_id).await.remove(0);
        world.answer(&question, ApprovalState::Granted).await.unwrap();
        let mut approved = call(&world, "k", r#"{"amount": 5}"#);
        approved.approval = Some(question.approval_id);
        let paid = world.runner(Vec::new()).call(approved).await.unwrap();
        assert_eq!((code_of(&paid).as_str(), world.entered().len()), ("ok", 1));
        let again = keyed(&world, "k", r#"{"amount": 5}"#).await;
        assert_eq!(again.result.meta.deduplicated, Some(paid.result.call_id)); // S-31
        assert_eq!(code_of(&keyed(&world, "k", r#"{"amount": 6}"#).await), "idempotency_conflict"); // R-130
        assert_eq!(world.entered().len(), 1);
    }
}

/// Whoever sent it first died in the middle, and sends it again: the key leads to what became of it.
#[tokio::test]
async fn a_key_finds_what_its_dead_caller_began() {
    for (is_safe, code, entered) in [(false, "outcome_unknown", 0), (true, "ok", 1)] {
        let mut world = World::on_disk();
        let builder = if is_safe { pay().replay(ReplayPolicy::Safe).idempotency(Idempotency::Declared) } else { pay() };
        world.add(builder, at_once(|_| Ok(Output::of("paid"))));
        world.killed_behind(|event| event.kind == EventType::ToolStarted);
        keyed(&world, "k", "{}").await;
        let keys = world.keys();
        let world = world.after_the_kill();
        let again = keyed(&world, "k", "{}").await;
        assert_eq!((code_of(&again).as_str(), world.entered().len()), (code, entered)); // R-128, R-127
        assert!(again.result.meta.deduplicated.is_some());
        // A further attempt has the key of the first one.
        assert!(world.keys().iter().all(|key| *key == keys[0]));
        // The first call is to be found out about, and no copy of its result.
        let status = world.journal.run(&again.run_id).await.unwrap().unwrap().status;
        assert_eq!(status, Some(RunStatus::Completed));
        let once_more = keyed(&world, "k", "{}").await;
        assert_eq!((once_more.result.meta.deduplicated.is_some(), world.entered().len()), (true, entered));
    }
}

/// A person found out that it did not happen: the request may be sent again, once, under the name that its provider knows.
#[tokio::test]
async fn what_did_not_happen_passes_its_key_on() {
    let mut world = World::on_disk();
    world.add(pay(), at_once(|_| Ok(Output::of("paid"))));
    world.killed_behind(|event| event.kind == EventType::ToolStarted);
    keyed(&world, "k", "{}").await;
    let keys = world.keys();
    let world = world.after_the_kill();
    let unknown = keyed(&world, "k", "{}").await;
    let lost = unknown.result.meta.deduplicated.unwrap();
    let found =
        Reconciliation { call_id: lost.clone(), finding: Finding::NotDone, by: "alice".to_owned(), reason: None };
    let (run, _) = lost.as_str().split_once(':').unwrap();
    world.runner(Vec::new()).reconcile(&RunId::new(run), found).await.unwrap();
    assert_eq!(code_of(&keyed(&world, "k", r#"{"amount": 6}"#).await), "idempotency_conflict"); // R-130
    let paid = keyed(&world, "k", "{}").await;
    assert_eq!((data(&paid), &paid.result.meta.deduplicated), (Some("\"paid\""), &None));
    assert_eq!((world.entered().len(), world.keys().last()), (1, keys.last()));
    let again = keyed(&world, "k", "{}").await;
    assert_eq!(again.result.meta.deduplicated, Some(paid.result.call_id)); // S-31
    assert_eq!(world.entered().len(), 1);
}
