//! What one decision costs: `cargo bench -p lockgate-policy --features cedar`.
//!
//! Ten tools of three arguments. Of the rules a fifth is about any tool that changes something, the others are about one tool
//! each; all of them look at an argument or at the time. `sliced` and `whole` are the same rules and the same call. The context
//! is made from `Arguments` each time.
#![expect(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{Counts, PolicyDecision, PolicyRequest};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::ToolSpec;
use lockgate_policy::cedar::{RuleFile, Rules, SHIPPED};

fn tools() -> Vec<ToolSpec> {
    let schema = r#"{"type":"object","required":["amount"],"properties":{
        "amount":{"type":"integer"},"to":{"type":"string"},"note":{"type":"string"}}}"#;
    let tool = |number| {
        ToolSpec::builder(format!("tool_{number}")).effect(Effect::Write).input_schema_text(schema).build().unwrap()
    };
    (0..10).map(tool).collect()
}

/// One of five is about every tool.
fn text(count: usize) -> String {
    let rule = |number: usize| match number % 5 {
        0 => format!(
            "forbid (principal, action in Effect::Action::\"write\", resource) when {{ context.step > {} }};\n",
            1000 + number
        ),
        _ => format!(
            "permit (principal, action == Tool::Action::\"tool_{}\", resource) when {{ context.input.amount < {} }};\n",
            number % 10,
            number * 100
        ),
    };
    (0..count).map(rule).collect()
}

fn decisions(criterion: &mut Criterion) {
    let tools = tools();
    let load = |name: &str, text: &str| {
        Rules::load(&tools, &[RuleFile { name: name.to_owned(), text: text.to_owned() }]).unwrap()
    };
    let subject = Subject { scopes: ["support".to_owned(), "finance".to_owned()].into(), ..Subject::default() };
    let arguments = Arguments::parse(r#"{"amount": 12, "to": "bob", "note": "for lunch"}"#, Limits::ARGUMENTS).unwrap();
    let counts = Counts::unknown();
    let request = PolicyRequest {
        subject: &subject,
        tool: &tools[1],
        arguments: &arguments,
        arguments_digest: arguments.digest(),
        permission: Permission::Allow,
        step: 3,
        run: RunFacts::default(),
        counts: &counts,
    };
    let now = Timestamp::from_millis(1_767_355_200_000);
    let mut measure = |name: &str, rules: &Rules| {
        assert_eq!(rules.decide(&request, now, false).decision, PolicyDecision::Allow);
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| black_box(rules.decide(black_box(&request), now, false)));
        });
    };
    for count in [20, 200] {
        let text = text(count);
        measure(&format!("{count} rules, sliced"), &load("rules.cedar", &text));
        measure(&format!("{count} rules, whole"), &load("rules.cedar", &text).unsliced());
    }
    let (name, text) = SHIPPED[0];
    measure("the native set, sliced", &load(name, text));
    measure("the native set, whole", &load(name, text).unsliced());
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = decisions
}
criterion_main!(benches);
