//! The set that ships gives the answers of the native engine.

use lockgate_contract::ports::PolicyEngine;
use proptest::prelude::*;

use super::*;
use crate::NativePolicy;
use crate::cedar::SHIPPED;

fn shipped(names: &[&str]) -> Vec<RuleFile> {
    names
        .iter()
        .map(|wanted| {
            let (name, text) = SHIPPED.iter().find(|(name, _)| name == wanted).unwrap();
            RuleFile { name: (*name).to_owned(), text: (*text).to_owned() }
        })
        .collect()
}

fn native(policy: &NativePolicy, request: PolicyRequest<'_>) -> PolicyDecision {
    let verdict = policy.decide(request);
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(verdict).unwrap().decision
}

fn effects() -> impl Strategy<Value = Effect> {
    prop::sample::select(Effect::ALL)
}

fn permissions() -> impl Strategy<Value = Permission> {
    prop::sample::select(Permission::ALL)
}

prop_compose! {
    fn subjects()(
        names in prop::array::uniform3("[a-z ]{0,8}"),
        scopes in prop::collection::btree_set("[a-z:]{1,6}", 0..4),
        domains in prop::collection::btree_set("[a-z]{1,4}", 0..3),
        level in effects(),
    ) -> Subject {
        let [tenant, user, agent] = names;
        Subject { tenant, user, agent, scopes, domains, level, ..Subject::default() }
    }
}

prop_compose! {
    fn tools()(
        name in "[a-z_.]{1,12}",
        version in "[0-9.]{1,4}",
        effect in effects(),
        permission in prop::option::of(permissions()),
        property in "[a-z]{1,5}",
        kind in prop::sample::select(vec!["integer", "number", "string", "boolean", "array", "object"]),
    ) -> ToolSpec {
        let mut tool = ToolSpec::builder(name).version(version).effect(effect);
        if let Some(permission) = permission {
            tool = tool.permission(permission);
        }
        tool.input_schema_text(format!(r#"{{"type":"object","properties":{{"{property}":{{"type":"{kind}"}}}}}}"#)).build().unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn native_rules_answer_like_the_native_engine(
        tool in tools(),
        subject in subjects(),
        effective in permissions(),
        key in "[a-z]{1,5}",
        value in prop::sample::select(vec!["1", "1e300", "\"x\"", "true", "null", "[1]", "{}"]),
        step in 0u32..50,
    ) {
        let arguments = Arguments::parse(&format!(r#"{{"{key}":{value}}}"#), Limits::ARGUMENTS).unwrap();
        for (files, engine) in [
            (["lockgate:native"].as_slice(), NativePolicy::new()),
            (&["lockgate:native", "lockgate:ask-always"], NativePolicy::new().ask_always()),
        ] {
            let sliced = Rules::load([&tool], &shipped(files)).unwrap();
            let whole = sliced.unsliced();
            for permission in [tool.permission(), effective] {
                let counts = Counts::unknown();
                let request = PolicyRequest {
                    subject: &subject, tool: &tool, arguments: &arguments, arguments_digest: arguments.digest(), permission, step,
                    run: RunFacts::default(), counts: &counts,
                };
                let expected = native(&engine, request);
                // The second time from the table.
                for rules in [&sliced, &sliced, &whole] {
                    prop_assert_eq!(rules.decide(&request, noon(), false).decision, expected);
                }
            }
        }
    }
}

#[test]
fn the_shipped_sets_are_table_look_ups() {
    let rules = Rules::load(&[look_up(), pay()], &shipped(&["lockgate:native", "lockgate:ask-always"])).unwrap();
    assert!(rules.list.iter().all(|rule| rule.reads.nothing_of_the_call()));
    assert!(rules.warnings().is_empty(), "{:?}", rules.warnings());
}
