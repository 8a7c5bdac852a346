//! Numbers of admitted calls as facts of rules: right however many calls come at once.

use lockgate::contract::call::ActionLanguage;
use lockgate::contract::ports::{Count, Per, ProposedCall, Quota};
use lockgate::policy::cedar::{CedarPolicy, RuleFile, Rules};
use lockgate::prelude::*;

use crate::world::{World, at_once, code_of};

fn count(name: &str, tool: &str, per: Per) -> Count {
    Count { name: name.to_owned(), tool: Some(tool.to_owned()), effect: None, per, within: None, from: None }
}

/// The world with rules that look at a number, which is counted.
fn ruled(mut world: World, count: Count, rules: &str) -> World {
    let tools = world.registry.tools();
    let file = RuleFile { name: "rules.cedar".to_owned(), text: rules.to_owned() };
    let rules = Rules::load_counting(tools.iter().map(|tool| tool.spec()), vec![count.clone()], &[file]).unwrap();
    world.options.quotas.push(Quota { count, most: None });
    world.policy =
        Arc::new(CedarPolicy::new(rules, Arc::clone(&world.clock) as Arc<dyn lockgate::contract::ports::Clock>));
    world
}

fn call(name: &str, nth: usize) -> ProposedCall {
    ProposedCall {
        provider_call_id: format!("c{nth}"),
        name: name.to_owned(),
        arguments_text: "{}".to_owned(),
        language: ActionLanguage::Call,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reads_of_one_turn_that_run_side_by_side() {
    for world in World::of_each_kind() {
        world.add(ToolSpec::builder("look").effect(Effect::Read), at_once(|_| Ok(Output::of("seen"))));
        let few = "permit (principal, action, resource) when { context.counts.looks < 5 };";
        let world = ruled(world, count("looks", "look", Per::Run), few);
        let ran = world.run((0..12).map(|nth| call("look", nth)).collect()).await;
        let codes = ran.codes();
        let of = |code: &str| codes.iter().filter(|one| one.starts_with(code)).count();
        assert_eq!((of("ok"), of("policy_denied"), world.entered().len()), (5, 7, 5), "{codes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_of_two_processes_at_once() {
    let world = World::on_disk();
    world.add(ToolSpec::builder("pay").permission(Permission::Allow), at_once(|_| Ok(Output::of("paid"))));
    let few = r#"permit (principal, action == Tool::Action::"pay", resource) when { context.counts.payments < 5 };"#;
    let world = ruled(world, count("payments", "pay", Per::Tenant), few);
    let mut tasks = Vec::new();
    for process in [world.restarted(), world.restarted()] {
        for _ in 0..10 {
            let process = process.clone();
            tasks.push(tokio::spawn(async move { code_of(&process.direct("pay", "{}").await).clone() }));
        }
    }
    let mut codes = Vec::new();
    for task in tasks {
        codes.push(task.await.unwrap());
    }
    let of = |code: &str| codes.iter().filter(|one| *one == code).count();
    assert_eq!((of("ok"), of("policy_denied"), world.entered().len()), (5, 15, 5), "{codes:?}");
}

#[tokio::test]
async fn beyond_the_number_a_person_is_asked_and_what_is_asked_or_refused_counts_nothing() {
    for world in World::of_each_kind() {
        world.add(ToolSpec::builder("pay").permission(Permission::Allow), at_once(|_| Ok(Output::of("paid"))));
        let rules = r"
            permit (principal, action, resource) when { context.counts.payments < 1 };
            permit (principal, action, resource) when { context.counts.payments < 3 && context has approval };
        ";
        let world = ruled(world, count("payments", "pay", Per::Subject), rules);
        assert_eq!(code_of(&world.direct("pay", "{}").await), "ok");
        let (second, third) = (world.direct("pay", "{}").await, world.direct("pay", "{}").await);
        let fourth = world.direct("pay", "{}").await;
        assert_eq!([&second, &third, &fourth].map(code_of), ["approval_required"; 3]);
        for (waiting, expected) in [(&second, "ok"), (&third, "ok"), (&fourth, "policy_denied")] {
            let question = world.questions(&waiting.run_id).await.remove(0);
            world.answer(&question, ApprovalState::Granted).await.unwrap();
            assert_eq!(code_of(&world.direct_with("pay", "{}", Some(&question)).await), expected);
        }
        assert_eq!(world.entered().len(), 3);
    }
}

#[tokio::test]
async fn what_the_run_did_is_known_to_rules_in_every_run() {
    for world in World::of_each_kind() {
        world.add(ToolSpec::builder("look").effect(Effect::Read), at_once(|_| Ok(Output::of("seen"))));
        world.add(ToolSpec::builder("pay").permission(Permission::Allow), at_once(|_| Ok(Output::of("paid"))));
        let rules = r#"
            permit (principal, action == Tool::Action::"look", resource) when { context.run.calls < 3 };
            permit (principal, action == Tool::Action::"pay", resource) when { context.run.actions < 2 };
        "#;
        let world = ruled(world, count("payments", "pay", Per::Subject), rules);
        let calls = ["look", "pay", "look", "pay", "pay", "look"];
        let ran = world.run(calls.iter().enumerate().map(|(nth, name)| call(name, nth)).collect()).await;
        assert_eq!(ran.codes(), ["ok", "ok", "ok", "ok", "policy_denied", "policy_denied"]);
        // A direct call is a run of its own.
        assert_eq!(code_of(&world.direct("pay", "{}").await), "ok");
    }
}
