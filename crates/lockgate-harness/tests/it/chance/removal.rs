//! A tool that is removed is gone everywhere at once, also for the run that was bound to it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use lockgate_contract::event::{Body, Event, EventType};
use lockgate_contract::subject::Subject;
use lockgate_harness::RunState;
use proptest::prelude::*;

use super::script::{Script, block_on, first, runs, script};
use crate::bench::Bench;

const TOOLS: [&str; 14] =
    ["look", "peek", "stat", "ask", "note", "send", "put", "pay", "ban", "post", "book", "finish", "charge", "ship"];

/// How far the run was when the tools were removed.
#[derive(Debug, Clone, Copy)]
struct Removed {
    seq: u64,
    entries: usize,
}

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn a_removed_tool_is_gone_everywhere(
        script in script(),
        gone in prop::sample::subsequence(TOOLS.to_vec(), 1..6),
        // Between two turns, or while the run waits: no call is on its way then.
        pause in 0..5usize,
    ) {
        block_on(async {
            let mut bench = script.bench();
            let removed = remove_at(&mut bench, gone.clone(), pause);
            let state = bench.run().await;
            let state = script.to_the_end(&bench, state.run_id()).await;
            script.assert_ended(&bench, &state);
            let Some(removed) = *removed.lock().unwrap() else { return };
            assert_gone_from_lists(&bench, &state, &gone);
            assert_gone_from_the_run(&bench, &gone, removed, &script).await;
        });
    }
}

/// Removes the tools when the run pauses for the nth time.
fn remove_at(bench: &mut Bench, gone: Vec<&'static str>, pause: usize) -> Arc<Mutex<Option<Removed>>> {
    let removed = Arc::new(Mutex::new(None));
    let (to_be_set, world, registry) = (Arc::clone(&removed), Arc::clone(&bench.world), Arc::clone(&bench.registry));
    let pauses = Mutex::new(0);
    bench.observers.push(Arc::new(move |event| {
        if !matches!(event.kind, EventType::RunStarted | EventType::ModelResponded | EventType::RunWaiting) {
            return;
        }
        let mut pauses = pauses.lock().unwrap();
        if *pauses == pause {
            assert!(gone.iter().all(|name| registry.revoke(name)));
            *to_be_set.lock().unwrap() = Some(Removed { seq: event.seq, entries: world.entries().len() });
        }
        *pauses += 1;
    }));
    removed
}

fn assert_gone_from_lists(bench: &Bench, state: &RunState, gone: &[&str]) {
    let registry = &bench.registry;
    let left: Vec<&str> =
        TOOLS.into_iter().filter(|name| !gone.contains(name)).collect::<BTreeSet<_>>().into_iter().collect();
    let bound = &state.start().binding.allowed;
    let (description, fresh) = (registry.describe(), bench.binding().allowed);
    let lists: [Vec<String>; 8] = [
        registry.names(),
        registry.tools().iter().map(|tool| tool.spec().name().to_owned()).collect(),
        registry.executor().unwrap().registry().names(),
        description.model.into_iter().map(|view| view.name).collect(),
        description.internal.into_iter().map(|view| view.name).collect(),
        registry.discover(&Subject::default()).capabilities().into_iter().map(|capability| capability.name).collect(),
        fresh.names().map(str::to_owned).collect(),
        registry.definitions(bound).into_iter().map(|definition| definition.name).collect(),
    ];
    for list in lists {
        assert_eq!(list, left);
    }
    for name in TOOLS {
        let reason = registry.resolve(name, bound).map_or_else(|error| error.reason(), |_| "found");
        let expected = if gone.contains(&name) { "revoked" } else { "found" };
        assert_eq!((reason, registry.get(name).is_some()), (expected, !gone.contains(&name)), "{name}");
    }
}

async fn assert_gone_from_the_run(bench: &Bench, gone: &[&str], removed: Removed, script: &Script) {
    // No handler of theirs is entered.
    let entries = bench.world.entries();
    assert!(entries[removed.entries..].iter().all(|entry| !gone.contains(&entry.tool)), "{script:?}");
    let after: Vec<Event> = bench.journal.events(&first(), removed.seq).await.unwrap();
    for event in &after {
        match event.body().unwrap() {
            Body::ToolStarted(started) => assert!(!gone.contains(&started.tool_name.as_str()), "{script:?}"),
            Body::ApprovalRequested(asked) => assert!(!gone.contains(&asked.tool_name.as_str()), "{script:?}"),
            // The calls that come end as those of tools that are not there; nothing else ended them before.
            Body::Settled(settled) if gone.contains(&settled.tool_name.as_str()) => {
                let code = settled.code.as_ref().map_or("ok", |code| code.word());
                match code {
                    "unknown_tool" => assert_eq!(settled.audit.reason.as_deref(), Some("revoked"), "{script:?}"),
                    "invalid_arguments" => assert_ne!(settled.reason.as_deref(), Some("schema"), "{script:?}"),
                    _ => assert!(
                        ["limit_reached", "blocked", "approval_denied", "approval_withdrawn", "approval_expired"]
                            .contains(&code),
                        "{code} of {script:?}"
                    ),
                }
            }
            _ => {}
        }
    }
    // And the model is not shown them any more.
    let steps: Vec<u32> =
        after.iter().filter(|event| event.kind == EventType::ModelRequested).map(|event| event.step).collect();
    for request in bench.model.asked.lock().unwrap().iter().filter(|request| steps.contains(&request.step)) {
        assert!(request.tools.iter().all(|tool| !gone.contains(&tool.name.as_str())), "{script:?}");
    }
}
