//! What a decision is made on, written as rules read it: for people.

use lockgate_contract::arguments::Arguments;
use lockgate_contract::ports::{Count, PolicyRequest};
use lockgate_contract::time::Timestamp;
use serde::Serialize;

use super::adapter::Principal;
use super::input::{self, Unfit};
use super::question::Question;
use super::reads::{Names, Reads};
use super::rules::Rules;

/// Everything that rules may look at of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// The agent, such as `Agent::"bookkeeper"`.
    pub principal: String,
    /// Its roles, sorted.
    pub roles: Vec<String>,
    /// The call, such as `Tool::Action::"pay"`.
    pub action: String,
    /// The groups that it belongs to.
    pub groups: Vec<String>,
    /// The tool at its version, such as `Tool::"pay@1.0"`.
    pub resource: String,
    /// What is known of each of them, by the names that rules use, such as `principal.user` and `context.input.amount`.
    pub facts: Vec<Fact>,
    /// The arguments that no rule can look at.
    pub untyped: Vec<Untyped>,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// As rules name it.
    pub name: String,
    /// As rules write it.
    pub value: String,
}

/// An argument that no rule can look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Untyped {
    /// Its path within the arguments.
    pub path: String,
    /// Why not.
    pub why: String,
}

impl Rules {
    /// What these rules may look at of a call; nothing where the tool is not the one that they were checked against. The call's
    /// arguments appear as `shown` has them, which is what is left of them once secrets are taken out.
    pub fn facts(&self, request: &PolicyRequest<'_>, shown: &Arguments, now: Timestamp, shadow: bool) -> Option<Facts> {
        let question = self.question(request, now, shadow)?;
        let tool = question.tool;
        let principal = Principal::of(question.subject).ok()?;
        let known = Principal::attributes(question.subject);
        let fact = |of: &str, name: &str, value: String| Fact { name: format!("{of}.{name}"), value };
        let mut facts: Vec<Fact> =
            known.into_iter().map(|(name, value)| fact("principal", &name, value.to_string())).collect();
        facts.extend(tool.attributes().map(|(name, value)| fact("resource", &name, value.to_string())));
        facts.extend(
            question
                .plain_context(self.tools.counts.values())
                .into_iter()
                .map(|(name, value)| fact("context", &name, value)),
        );
        let mut untyped = Vec::new();
        for field in &tool.shape.fields {
            match input::record([field], shown.root()) {
                Ok(record) => {
                    facts.extend(record.iter().map(|(name, value)| fact("context.input", name, value.to_string())));
                }
                Err(Unfit { path, why }) => untyped.push(Untyped { path, why: why.to_owned() }),
            }
        }
        let members = || shown.root().members().map(|(name, _)| name.into_owned());
        for left_out in &tool.shape.left_out {
            let first = left_out.path.split('.').next().unwrap_or_default();
            if members().any(|name| name == first) {
                untyped.push(Untyped { path: left_out.path.clone(), why: left_out.why.to_string() });
            }
        }
        let declared = |name: &String| {
            tool.shape.fields.iter().any(|field| field.name == *name)
                || tool.shape.left_out.iter().any(|left_out| left_out.path == *name)
        };
        let undeclared = members().filter(|name| !declared(name));
        untyped.extend(undeclared.map(|path| Untyped { path, why: "the tool does not declare it".to_owned() }));
        Some(Facts {
            principal: principal.agent(),
            roles: principal.roles(),
            action: tool.action.to_string(),
            groups: vec![tool.group.to_string()],
            resource: tool.resource.to_string(),
            facts,
            untyped,
        })
    }
}

impl Question<'_> {
    /// Everything in the context but the arguments, which are looked at one by one, and the approval that nobody gave.
    fn plain_context<'c>(&self, counts: impl Iterator<Item = &'c Count>) -> Vec<(String, String)> {
        let none = Names::default();
        let reads = Reads { context: Names::All, input: none, counts: Names::All, ..Reads::default() };
        let known: Vec<Count> = counts.filter(|count| self.counts.get(count).is_some()).cloned().collect();
        let context = self.context(&reads, &known, false).unwrap_or_default();
        let says_something = |name: &str| name != "input" && (name != "counts" || !known.is_empty());
        let plain = context.into_iter().filter(|(name, _)| says_something(name));
        plain.map(|(name, value)| (name, value.to_string())).collect()
    }
}
