//! Quotas: how many calls are admitted, whoever sends them and however many at once.

use lockgate::contract::call::ActionLanguage;
use lockgate::contract::ports::{Count, Per, ProposedCall, Quota};
use lockgate::prelude::*;

use crate::world::{World, at_once, code_of};

fn quota(tool: &str, per: Per, most: u32) -> Quota {
    let count =
        Count { name: "few".to_owned(), tool: Some(tool.to_owned()), effect: None, per, within: None, from: None };
    Quota { count, most: Some(most) }
}

fn with(world: World, quota: Quota) -> World {
    let mut world = world;
    world.options.quotas.push(quota);
    world
}

#[tokio::test]
async fn reads_of_one_turn_that_run_side_by_side_are_counted() {
    for world in World::of_each_kind() {
        let world = with(world, quota("look", Per::Run, 2));
        world.add(ToolSpec::builder("look").effect(Effect::Read), at_once(|_| Ok(Output::of("seen"))));
        let look = |call| ProposedCall {
            provider_call_id: format!("c{call}"),
            name: "look".to_owned(),
            arguments_text: "{}".to_owned(),
            language: ActionLanguage::Call,
        };
        let ran = world.run((0..5).map(look).collect()).await;
        let mut codes = ran.codes();
        codes.sort();
        assert_eq!(codes, ["limit_reached(quota)", "limit_reached(quota)", "limit_reached(quota)", "ok", "ok"]);
        assert_eq!(world.entered().len(), 2);
    }
}

#[tokio::test]
async fn calls_of_several_runs_and_processes_are_counted_together() {
    let world = with(World::on_disk(), quota("pay", Per::Subject, 2));
    world.add(ToolSpec::builder("pay").permission(Permission::Allow), at_once(|_| Ok(Output::of("paid"))));
    for expected in ["ok", "ok", "limit_reached(quota)"] {
        assert_eq!(code_of(&world.restarted().direct("pay", "{}").await), expected);
    }
    let refused = world.direct("pay", "{}").await;
    assert_eq!(refused.result.error.unwrap().reason.as_deref(), Some("quota"));
    let mut other = world.clone();
    "bob".clone_into(&mut other.subject.user);
    assert_eq!(code_of(&other.direct("pay", "{}").await), "ok");
    assert_eq!(world.entered().len(), 3);
}

#[tokio::test]
async fn what_is_asked_about_counts_nothing_and_what_is_refused_uses_up_no_yes() {
    for world in World::of_each_kind() {
        let world = with(world, quota("pay", Per::Tenant, 1));
        world.add(ToolSpec::builder("pay").permission(Permission::Ask), at_once(|_| Ok(Output::of("paid"))));
        let (first, second) = (world.direct("pay", "{}").await, world.direct("pay", "{}").await);
        assert_eq!([code_of(&first), code_of(&second)], ["approval_required", "approval_required"]);
        for (answer, expected, state) in
            [(&second, "ok", ApprovalState::Consumed), (&first, "limit_reached(quota)", ApprovalState::Withdrawn)]
        {
            let question = world.questions(&answer.run_id).await.remove(0);
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            assert_eq!(code_of(&world.direct_with("pay", "{}", Some(&question)).await), expected);
            assert_eq!(world.questions(&answer.run_id).await[0].state, state);
        }
        assert_eq!(world.entered().len(), 1);
    }
}
