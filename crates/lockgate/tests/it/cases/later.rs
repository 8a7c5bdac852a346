//! Lines whose capability is not here yet: the part of them that holds without it.

use lockgate::contract::effect::{Idempotency, Permission, ReplayPolicy};
use lockgate::contract::event::EventType;

use super::file::{Case, proposed};
use crate::world::{Act, World, at_once, echo};
use lockgate::prelude::*;

/// Fragments of one call, joined; the joining itself is the wire's, which is not here yet.
pub(super) async fn whole_text_of_a_stream(case: Case) {
    let fragments = case.at("/input/chunks").elements().flat_map(|chunk| chunk.elements());
    let text: String = fragments.map(|fragment| fragment.get("arguments").unwrap().as_str().unwrap()).collect();
    let world = World::in_memory();
    let name = case.text("/input/chunks/0/0/name");
    world.add(ToolSpec::builder(&name).effect(Effect::Read).input_schema_text(r#"{"type":"object"}"#), echo());
    let ran = world.run(vec![proposed(&case.text("/input/chunks/0/0/id"), &name, &text)]).await;
    assert_eq!(ran.codes(), ["invalid_arguments(trailing_characters)"]);
    assert!(world.entered().is_empty());
}

fn lost() -> Act {
    at_once(|_| Err(Failure::OutcomeUnknown { message: "the connection was lost after sending".to_owned() }))
}

fn effectful(case: &Case) -> lockgate::ToolSpecBuilder {
    let effect: Effect = case.at("/input/tool_effect").decode().unwrap();
    ToolSpec::builder("act").effect(effect).permission(Permission::Allow)
}

pub(super) async fn lost_server(case: Case) {
    for world in World::of_each_kind() {
        world.add(effectful(&case), lost());
        let ran = world.run(vec![proposed("c", "act", "{}")]).await;
        assert_eq!(ran.codes(), ["outcome_unknown"]);
        assert_eq!(ran.stop(), ("needs_reconciliation", "unknown_effect"));
        world.restarted().resume(ran.run_id()).await;
        assert_eq!(world.entered().len(), 1, "it is not sent again");
    }
}

pub(super) async fn no_second_effect(case: Case) {
    assert!(case.number::<bool>("/input/retry"));
    for world in World::of_each_kind() {
        world.add(effectful(&case), lost());
        let ran = world.run(vec![proposed("c", "act", "{}")]).await;
        for _ in 0..3 {
            world.restarted().resume(ran.run_id()).await;
        }
        assert_eq!(world.entered().len(), 1); // R-128
        assert!(!ran.settled(0).retryable, "nor is it advised");
    }
    // Killed between effect and result: run again only where a key makes the two one, and then with the same key.
    let rows = [
        (Idempotency::None, None, 0, "outcome_unknown"),
        (Idempotency::Provider, None, 1, "ok"),
        (Idempotency::Provider, Some(ReplayPolicy::Safe), 1, "ok"),
        (Idempotency::Declared, None, 1, "ok"),
        (Idempotency::Declared, Some(ReplayPolicy::Never), 0, "outcome_unknown"),
    ];
    for (idempotency, replay, again, code) in rows {
        let mut world = World::on_disk();
        let mut tool = effectful(&case).idempotency(idempotency);
        if let Some(replay) = replay {
            tool = tool.replay(replay);
        }
        world.add(tool, at_once(|_| Ok(Output::of("done"))));
        world.killed_behind(|event| event.kind == EventType::ToolStarted);
        let first = world.run(vec![proposed("c", "act", "{}")]).await;
        let key = world.keys().remove(0);
        let world = world.after_the_kill();
        let ran = world.resume(first.run_id()).await;
        assert_eq!(ran.codes(), [code], "{idempotency}"); // R-130
        assert_eq!(world.keys(), vec![key; again], "{idempotency}");
        // What is done is never dispatched again.
        world.restarted().resume(first.run_id()).await;
        assert_eq!(world.keys().len(), again);
    }
    // A tool that changes something and promises nothing cannot be said to be safe.
    let refused = effectful(&case).replay(ReplayPolicy::Safe).handler(World::in_memory().handler(echo())).build();
    assert!(refused.is_err()); // C-7
}
