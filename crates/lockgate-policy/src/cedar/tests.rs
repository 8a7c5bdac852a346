//! Whole sets: what loads, and what it answers.

mod counting;
mod deciding;
mod equivalence;
mod loading;
mod reloading;
mod slicing;

use std::time::Duration;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{Clock, Counts, PolicyDecision, PolicyRequest, PolicyVerdict};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::{ToolSpec, ToolSpecBuilder};

use super::{RuleFile, Rules, RulesRefused};

/// A tool of effect `external` that takes no arguments.
pub(super) fn tool(name: &str) -> ToolSpecBuilder {
    ToolSpec::builder(name).version("1.0")
}

/// Pays an amount to somebody.
pub(super) fn pay() -> ToolSpec {
    let schema = r#"{"type": "object", "required": ["amount"], "additionalProperties": false, "properties": {
        "amount": {"type": "integer"}, "rate": {"type": "number"}, "to": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}}"#;
    tool("pay").input_schema_text(schema).permission(Permission::Ask).build().unwrap()
}

pub(super) fn look_up() -> ToolSpec {
    tool("look_up").effect(Effect::Read).build().unwrap()
}

pub(super) fn file(text: &str) -> RuleFile {
    RuleFile { name: "rules.cedar".to_owned(), text: text.to_owned() }
}

fn load(text: &str) -> Result<Rules, RulesRefused> {
    Rules::load(&[pay(), look_up()], &[file(text)])
}

pub(super) fn noon() -> Timestamp {
    "2026-01-02T12:00:00.000Z".parse().unwrap()
}

pub(super) struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        noon()
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

/// What a set answers to a call.
fn answer(rules: &Rules, tool: &ToolSpec, subject: &Subject, arguments: &str) -> PolicyVerdict {
    answer_with(rules, tool, subject, arguments, tool.permission())
}

fn answer_with(
    rules: &Rules,
    tool: &ToolSpec,
    subject: &Subject,
    arguments: &str,
    permission: Permission,
) -> PolicyVerdict {
    let arguments = Arguments::parse(arguments, Limits::ARGUMENTS).unwrap();
    let arguments_digest = arguments.digest();
    let counts = Counts::unknown();
    let request = PolicyRequest {
        subject,
        tool,
        arguments: &arguments,
        arguments_digest,
        permission,
        step: 1,
        run: RunFacts::default(),
        counts: &counts,
    };
    rules.decide(&request, noon(), false)
}

fn subject(user: &str, roles: &[&str]) -> Subject {
    let scopes = roles.iter().map(|role| (*role).to_owned()).collect();
    Subject { user: user.to_owned(), scopes, ..Subject::default() }
}

/// The determining rules of a verdict, without the set's digest.
fn ids(verdict: &PolicyVerdict) -> Vec<&str> {
    verdict.policies.iter().filter_map(|policy| policy.strip_prefix("cedar:")).collect()
}

fn decisions(rules: &Rules, calls: &[(&str, PolicyDecision)]) {
    for (arguments, expected) in calls {
        let verdict = answer(rules, &pay(), &Subject::default(), arguments);
        assert_eq!(verdict.decision, *expected, "{arguments}: {}", verdict.reason);
    }
}
