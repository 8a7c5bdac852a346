//! A provider's ids name nothing here: each call has one of ours (R-207, R-208, S-03).

use lockgate::contract::approval::ApprovalState;
use lockgate::contract::effect::Permission;
use lockgate::contract::ports::{Message, ProposedCall};

use super::file::{Case, proposed};
use super::wire::Wire;
use crate::world::{Turn, World, echo};

pub(super) async fn empty_or_equal(case: Case) {
    for world in World::of_each_kind() {
        // Asked for one by one, as the tool declares nothing else.
        world.add(case.tool(), echo());
        let ran = world.run(case.calls()).await;
        assert_eq!(ran.codes(), ["approval_required", "approval_required"]);
        let questions = world.questions(ran.run_id()).await;
        assert_eq!(questions.len(), 2);
        assert_ne!(questions[0].approval_id, questions[1].approval_id);
        assert_ne!(questions[0].call_id, questions[1].call_id);
        for question in &questions {
            world.answer(question, ApprovalState::Granted).await.unwrap();
        }
        let mut world = world.restarted();
        let wire = Wire::start(vec![Box::new(|_| super::wire::done())]);
        world.model = Some(wire.model());
        let resumed = world.resume(ran.run_id()).await;
        assert_eq!(resumed.codes(), ["ok", "ok"]);
        let texts: Vec<_> = case.calls().into_iter().map(|call| call.arguments_text).collect();
        assert_eq!(world.entered(), texts);
        assert_eq!((resumed.told(0), resumed.told(1)), (texts[0].clone(), texts[1].clone()));
        // On the wire each has an id of its own; what the provider gave is kept in the journal.
        wire.last_request();
        let calls: Vec<_> = resumed.state.calls().map(|call| call.provider_call_id.clone()).collect();
        assert_eq!(calls, ["", ""]);
    }
}

fn transfers(ids: &[&str]) -> Vec<ProposedCall> {
    let call = |(n, id): (usize, &&str)| proposed(id, "transfer", &format!(r#"{{"to":"bob","amount":{n}}}"#));
    ids.iter().enumerate().map(call).collect()
}

fn transfer_world() -> World {
    let world = World::in_memory();
    world.add(Case::named("ids-empty-or-duplicate").tool().permission(Permission::Allow), echo());
    world
}

#[tokio::test]
async fn ids_of_any_kind_are_kept_and_name_nothing() {
    let long = "x".repeat(10_000);
    let sets: &[&[&str]] = &[
        &["a", "a", "a"],
        &["", "a", ""],
        &[" ", "  ", "\t"],
        &["a\0b", "a\nb", "\u{7f}"],
        &["call00000", "", "call00001", ""],
        &[&long, &long],
        &["日本語", "e\u{301}", "\u{e9}", "\u{202e}"],
        &["__proto__", "constructor", "null", "0"],
        &["run-000000000000:step-0:call-0", "run-000000000000:step-0:call-1"],
        &["\"", "\\", "</tool>", "'; drop table call; --"],
    ];
    for ids in sets {
        let mut world = transfer_world();
        let wire = Wire::asking_for(transfers(ids));
        world.model = Some(wire.model());
        let ran = world.run(Vec::new()).await;
        assert_eq!(ran.codes(), vec!["ok"; ids.len()], "{ids:?}");
        assert_eq!(world.entered().len(), ids.len(), "{ids:?}");
        let given: Vec<_> = ran.result.calls.iter().map(|call| call.provider_call_id.as_str()).collect();
        assert_eq!(given, *ids);
        let mut own: Vec<_> = ran.result.calls.iter().map(|call| call.call_id.to_string()).collect();
        assert!(own.iter().enumerate().all(|(n, id)| *id == format!("{}:step-0:call-{n}", ran.run_id()))); // R-207
        own.dedup();
        assert_eq!(own.len(), ids.len());
        // Results are paired by occurrence, also on the wire.
        let request = wire.last_request();
        let results: Vec<_> =
            request["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").collect();
        for (n, result) in results.iter().enumerate() {
            assert!(result["content"].as_str().unwrap().contains(&format!(r#""amount":{n}"#)), "{ids:?}");
        }
    }
}

#[tokio::test]
async fn one_id_in_two_turns_is_two_calls() {
    let world = transfer_world();
    let turns = vec![Turn::Calls(transfers(&["same"])), Turn::Calls(transfers(&["same", "same"]))];
    let ran = world.run_turns(turns).await;
    assert_eq!(ran.codes(), ["ok"; 3]);
    let ids: Vec<_> = ran.result.calls.iter().map(|call| call.call_id.as_str().to_owned()).collect();
    let ends: Vec<_> = ids.iter().map(|id| id.split_once(':').unwrap().1).collect();
    assert_eq!(ends, ["step-0:call-0", "step-1:call-0", "step-1:call-1"]);
    assert_eq!(world.keys().iter().collect::<std::collections::BTreeSet<_>>().len(), 3, "and three keys");
}

/// A call id of another run, given as the provider's: nothing of that run is touched.
#[tokio::test]
async fn a_providers_id_that_is_a_call_id_reaches_nothing() {
    let world = transfer_world();
    let first = world.run(transfers(&["a"])).await;
    let known = first.result.calls[0].call_id.to_string();
    let second = world.run(transfers(&[&known])).await;
    assert_eq!(second.codes(), ["ok"]);
    assert_ne!(second.result.calls[0].call_id.as_str(), known);
    let again = world.runner(Vec::new()).state(first.run_id()).await.unwrap();
    assert_eq!(again.last_seq(), first.state.last_seq());
    let named = world.requests().last().unwrap().messages.iter().any(|message| match message {
        Message::Assistant { calls, .. } => calls.iter().any(|call| call.provider_call_id == known),
        _ => false,
    });
    assert!(named, "it is kept for the wire");
}
