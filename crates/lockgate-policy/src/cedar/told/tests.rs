use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{Counts, PolicyRequest};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::ToolSpec;

use crate::cedar::tests::{noon, tool};
use crate::cedar::{RuleFile, Rules};

const RULES: &str = r#"
@id("small")
@reason("Small.")
permit (principal in Role::"billing", action == Tool::Action::"pay", resource)
when { context.input.amount <= 100 };

@id("chiefs") permit (principal in Role::"chief", action, resource);
@id("reads") permit (principal, action in Effect::Action::"read", resource);
forbid (principal, action, resource) when { context.step > 100 };
"#;

fn pay() -> ToolSpec {
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {
        "amount": {"type": "integer"}, "to": {"type": "string"}, "more": {}, "at": {"type": "object", "properties": {"street": {"type": "string"}}}}}"#;
    tool("pay").input_schema_text(schema).permission(Permission::Ask).build().unwrap()
}

#[test]
fn a_rule_is_shown_as_it_was_written() {
    let file = RuleFile { name: "pay.cedar".to_owned(), text: RULES.to_owned() };
    let rules = Rules::load([&pay()], &[file]).unwrap();
    let small = rules.rule_text("small").unwrap();
    assert_eq!((small.file.as_str(), small.line), ("pay.cedar", 2));
    assert_eq!(small.text, RULES.split("\n\n").next().unwrap().trim());
    assert_eq!(small.annotations, [("id".into(), "small".into()), ("reason".into(), "Small.".into())].into());
    assert_eq!(
        rules.rule_text("lockgate:floor#1").or_else(|| rules.rule_text("declared-deny")).unwrap().file,
        "lockgate:floor"
    );
    assert_eq!(rules.rule_text("none"), None);
}

#[test]
fn the_facts_of_a_call() {
    let file = RuleFile { name: "pay.cedar".to_owned(), text: RULES.to_owned() };
    let spec = pay();
    let rules = Rules::load([&spec], &[file]).unwrap();
    let subject = Subject { scopes: ["billing".to_owned()].into(), ..Subject::default() };
    let text = r#"{"amount": 500, "to": "b\"ob", "at": {"street": "x"}, "more": [1], "else": 1}"#;
    let arguments = Arguments::parse(text, Limits::ARGUMENTS).unwrap();
    let request = PolicyRequest {
        subject: &subject,
        tool: &spec,
        arguments: &arguments,
        arguments_digest: arguments.digest(),
        permission: Permission::Ask,
        step: 3,
        run: RunFacts::default(),
        counts: &Counts::unknown(),
    };
    let facts = rules.facts(&request, &arguments, noon(), false).unwrap();
    let lines: Vec<String> = facts.facts.iter().map(|fact| format!("{} = {}", fact.name, fact.value)).collect();
    let untyped: Vec<String> = facts.untyped.iter().map(|it| format!("{}: {}", it.path, it.why)).collect();
    insta::assert_snapshot!(format!(
        "{} in {:?}\n{} in {:?}\n{}\n\n{}\n\n{}\n\n{:?}",
        facts.principal,
        facts.roles,
        facts.action,
        facts.groups,
        facts.resource,
        lines.join("\n"),
        untyped.join("\n"),
        rules.near(&request, noon(), false),
    ));
    // A number that rules cannot hold is named, and nobody guesses it.
    let arguments = Arguments::parse(r#"{"amount": 99999999999999999999}"#, Limits::ARGUMENTS).unwrap();
    let request = PolicyRequest { arguments: &arguments, ..request };
    let facts = rules.facts(&request, &arguments, noon(), false).unwrap();
    assert_eq!(facts.untyped[0].path, "amount");
    assert_eq!(rules.near(&request, noon(), false), []);
    assert!(facts.facts.iter().all(|fact| fact.name != "context.input.amount"));
    // Of another tool they know nothing.
    let other = tool("pay").build().unwrap();
    assert_eq!(rules.facts(&PolicyRequest { tool: &other, ..request }, &arguments, noon(), false), None);
}
