//! The same call under the native policy and under rules of Cedar: what rules add to a call.

use std::sync::Arc;

use criterion::Criterion;
use lockgate::contract::ports::PolicyEngine;
use lockgate::policy::cedar::{CedarPolicy, RuleFile, Rules, SHIPPED};
use lockgate::prelude::*;

use crate::calls::measure;
use crate::setup::{ARGUMENTS, Setup};

pub(crate) fn beside_native(criterion: &mut Criterion) {
    let (shipped, native) = SHIPPED[0];
    measure(criterion, "policy/native", &Setup::new(), "price", ARGUMENTS);
    measure(
        criterion,
        "policy/20 rules",
        &Setup::deciding(|registry| rules(registry, "rules.cedar", &text())),
        "price",
        ARGUMENTS,
    );
    measure(
        criterion,
        "policy/a slice that reads no argument",
        &Setup::deciding(|registry| rules(registry, shipped, native)),
        "price",
        ARGUMENTS,
    );
}

/// Twenty rules: four about every read, and of the others four about this tool. Each looks at an argument or at the step.
fn text() -> String {
    let tools = ["price", "book", "refuse_order", "deny_order"];
    let rule = |number: usize| match number % 5 {
        0 => format!(
            "forbid (principal, action in Effect::Action::\"read\", resource) when {{ context.step > {} }};\n",
            1000 + number
        ),
        _ => format!(
            "permit (principal, action == Tool::Action::\"{}\", resource) when {{ context.input.amount < {} }};\n",
            tools[number % 4],
            2000 + number
        ),
    };
    (0..20).map(rule).collect()
}

fn rules(registry: &Registry, name: &str, text: &str) -> Arc<dyn PolicyEngine> {
    let tools = registry.tools();
    let files = [RuleFile { name: name.to_owned(), text: text.to_owned() }];
    let rules = Rules::load(tools.iter().map(|tool| tool.spec()), &files).unwrap();
    Arc::new(CedarPolicy::new(rules, Arc::new(SystemClock)))
}
