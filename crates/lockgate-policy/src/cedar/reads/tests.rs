use super::*;
use crate::cedar::adapter;

fn reads(condition: &str) -> Reads {
    let text = format!("permit (principal, action, resource) when {{ {condition} }};");
    let rule = adapter::parse(&text).unwrap().remove(0);
    Reads::of(&rule.conditions, &adapter::conditions_of_any_approval())
}

fn names(names: &Names) -> Vec<&str> {
    match names {
        Names::Some(names) => names.iter().map(String::as_str).collect(),
        Names::All => vec!["*"],
    }
}

#[test]
fn what_is_read_is_found_wherever_it_stands() {
    for (condition, context, input) in [
        ("true", vec![], vec![]),
        ("principal.user == \"context\"", vec![], vec![]),
        ("context.permission == \"allow\"", vec!["permission"], vec![]),
        ("context.input has title && context.input.title like \"a*\"", vec!["input"], vec!["title"]),
        ("[context.step, 1].contains(if context.input.a.b then 1 else 2)", vec!["input", "step"], vec!["a"]),
        ("context.input == {a: 1}", vec!["input"], vec!["*"]),
        ("context == {a: 1}", vec!["*"], vec!["*"]),
        ("{Var: context.now}.Var == context.now", vec!["now"], vec![]),
        ("{Value: context.step}.Value == 1", vec!["step"], vec![]),
        ("{Record: {Record: context.step}}.Record.Record == 1", vec!["step"], vec![]),
        ("context has input.title", vec!["input"], vec!["title"]),
        ("context.input.title is Agent in context.permission", vec!["input", "permission"], vec!["title"]),
        ("context.input.amount.lessThan(decimal(\"1.0\"))", vec!["input"], vec!["amount"]),
    ] {
        let reads = reads(condition);
        assert_eq!((names(&reads.context), names(&reads.input)), (context, input), "{condition}");
    }
}

#[test]
fn a_plain_look_at_an_approval_is_the_same_for_every_call() {
    for (condition, same) in [
        ("context has approval && context.approval.expires_at > context.now", true),
        ("context.permission == \"ask\" && context has approval", true),
        ("context.now > datetime(\"2026-01-01\")", false),
        ("context.input has a", false),
        ("context.arguments_digest == \"x\"", false),
        ("context.shadow", false),
    ] {
        assert_eq!(reads(condition).nothing_of_the_call(), same, "{condition}");
    }
}
