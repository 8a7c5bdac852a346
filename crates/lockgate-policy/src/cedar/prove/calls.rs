//! Calls: what holds of each, and how one that was found is written down.

use std::collections::BTreeSet;

use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::ports::{PolicyDecision, PolicyVerdict};
use lockgate_contract::subject::Subject;
use serde_json::Value;

use crate::cedar::adapter::Found;
use crate::cedar::examples::{self, NOON};
use crate::cedar::reads::Names;
use crate::cedar::rule::Rule;
use crate::cedar::rules::Rules;
use crate::cedar::shape::{Field, Type};
use crate::cedar::tools::{ToolFacts, Tools, quoted};

/// Which calls are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approved {
    /// Those that nobody approved.
    No,
    /// Those with a valid approval.
    Yes,
    /// All of them.
    Either,
}

/// What rules look at.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The names of what they read; nothing where they may read anything.
    names: Option<BTreeSet<String>>,
    /// The roles that they name.
    roles: BTreeSet<String>,
}

impl Looked {
    pub(super) fn of<'r>(rules: impl Iterator<Item = &'r Rule>) -> Self {
        let mut looked = Self { names: Some(BTreeSet::new()), roles: BTreeSet::new() };
        for rule in rules {
            looked.roles.extend(rule.parsed.roles());
            looked.names = match (looked.names, &rule.reads.context) {
                (Some(mut names), Names::Some(_)) => {
                    names.extend(rule.parsed.looks_at());
                    Some(names)
                }
                _ => None,
            };
        }
        looked
    }

    fn at(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.contains(name))
    }
}

/// What is always known of a run, and what is only where something bounds it.
const OF_RUNS: ([&str; 3], [&str; 3]) =
    (["calls", "actions", "questions"], ["steps_left", "actions_left", "questions_left"]);

/// What holds of every call of a tool, as a condition that can always be evaluated: who calls is any agent, the tool is as it
/// was registered, the time is from 1970 to the last day but one of 9999 (so that the end of a supposed approval has a year of
/// four digits too). That an approval is valid is put into the rules themselves. What no rule looks at is left out: whatever it
/// is, the answer is the same, and the solver has less to think about.
pub(super) fn every_call(tools: &Tools, tool: &ToolFacts, looked: &Looked, approved: Approved) -> String {
    let mut all = vec![format!("resource == {}", tool.resource)];
    let mut suppose = |name: &str, condition: String| {
        if looked.at(name) {
            all.push(condition);
        }
    };
    let mut has_domain = false;
    for (name, value) in tool.attributes() {
        has_domain |= name == "domain";
        // What may be absent has to be there before it is looked at.
        let there = if name == "domain" { "resource has domain && " } else { "" };
        suppose(&name, format!("{there}{}", value.is_at(&format!("resource.{name}"))));
    }
    if !has_domain {
        suppose("domain", "!(resource has domain)".to_owned());
    }
    suppose("level", one_of("principal.level", Effect::ALL.iter().map(|level| level.word())));
    suppose("permission", one_of("context.permission", permissions(tool).iter().map(|permission| permission.word())));
    suppose("shadow", "context.shadow == false".to_owned());
    suppose("step", counted("context.step"));
    for name in OF_RUNS.0 {
        suppose("run", counted(&format!("context.run.{name}")));
    }
    for name in OF_RUNS.1 {
        let (there, number) = (format!("context.run has {name}"), counted(&format!("context.run.{name}")));
        suppose("run", format!("(!({there}) || ({there} && {number}))"));
    }
    for name in tools.counts.keys() {
        suppose("counts", counted(&format!("context.counts[{}]", quoted(name))));
    }
    suppose("now", "context.now >= datetime(\"1970-01-01\") && context.now <= datetime(\"9999-12-31\")".to_owned());
    for role in &looked.roles {
        let role = format!("\"{}\"", role.escape_default());
        suppose("scopes", format!("(principal in Role::{role}) == principal.scopes.contains({role})"));
    }
    match approved {
        Approved::No => all.push("!(context has approval)".to_owned()),
        Approved::Yes => all.push("context has approval".to_owned()),
        Approved::Either => {}
    }
    all.join(" && ")
}

/// The call with everything as it is anyway that no rule looks at.
pub(super) fn settled(found: Found, tool: &ToolFacts, looked: &Looked) -> Found {
    let mut call = found;
    if !looked.at("level") {
        Subject::default().level.word().clone_into(&mut call.level);
    }
    if !looked.at("permission") {
        tool.permission.word().clone_into(&mut call.permission);
    }
    if !looked.at("step") {
        call.step = 0;
    }
    if !looked.at("run") {
        call.run.clear();
    }
    if !looked.at("counts") {
        call.counts.clear();
    }
    if !looked.at("now") {
        call.now = NOON;
    }
    call
}

/// The permissions that calls of a tool may have: the one that it declares, and what it may relax that to.
fn permissions(tool: &ToolFacts) -> Vec<Permission> {
    let relaxed = (tool.may_relax && tool.permission == Permission::Ask).then_some(Permission::Allow);
    std::iter::once(tool.permission).chain(relaxed).collect()
}

/// That a number is one that calls are counted by.
fn counted(path: &str) -> String {
    format!("{path} >= 0 && {path} <= {}", u32::MAX)
}

fn one_of(path: &str, words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<_> = words.map(|word| format!("{path} == \"{word}\"")).collect();
    format!("({})", words.join(" || "))
}

/// A call that was found, and what the rules answer to it.
#[derive(Debug)]
pub(super) struct Answered {
    /// As an `// expect:` example has it.
    pub(super) example: String,
    pub(super) verdict: PolicyVerdict,
    /// What the rules before answer.
    pub(super) before: Option<PolicyDecision>,
}

/// Asks the rules themselves about a call that was found, and those before.
pub(super) fn answered(rules: &Rules, before: Option<&Rules>, tool: &ToolFacts, found: &Found) -> Option<Answered> {
    let call = written(found, tool);
    let (read, _) = examples::read("", &format!("// expect: allow {call}"), &rules.tools);
    let example = read.first()?;
    let verdict = rules.answer_to(example, tool);
    let before = before.map(|before| before.answer_to(example, tool).decision);
    Some(Answered { example: format!("{} {call}", verdict.decision.word()), verdict, before })
}

/// The call as the object of an example: what is as it would be anyway is left out.
fn written(found: &Found, tool: &ToolFacts) -> String {
    let default = Subject::default();
    let text = |text: &str| Value::from(text).to_string();
    let list = |words: &BTreeSet<String>| Value::from(words.iter().cloned().collect::<Vec<_>>()).to_string();
    let mut members = vec![format!("\"tool\": {}", text(&tool.name))];
    let mut add = |differs: bool, key: &str, value: String| {
        if differs {
            members.push(format!("\"{key}\": {value}"));
        }
    };
    let arguments: Vec<_> = found.input.iter().map(|(name, value)| format!("{}: {value}", text(name))).collect();
    add(!arguments.is_empty(), "input", format!("{{{}}}", arguments.join(", ")));
    add(!found.roles.is_empty(), "roles", list(&found.roles));
    add(found.user != default.user, "user", text(&found.user));
    add(found.tenant != default.tenant, "tenant", text(&found.tenant));
    add(found.agent != default.agent, "agent", text(&found.agent));
    add(!found.domains.is_empty(), "domains", list(&found.domains));
    add(found.level != default.level.word(), "level", text(&found.level));
    add(found.permission != tool.permission.word(), "permission", text(&found.permission));
    add(found.step != 0, "step", found.step.to_string());
    // What is not given is zero; what a budget has left is not there then.
    let given = |(name, number): &(&String, &i64)| **number != 0 || OF_RUNS.1.contains(&name.as_str());
    for (key, numbers) in [("run", &found.run), ("counts", &found.counts)] {
        let numbers = numbers.iter().filter(given).map(|(name, number)| format!("{}: {number}", text(name)));
        let numbers: Vec<_> = numbers.collect();
        add(!numbers.is_empty(), key, format!("{{{}}}", numbers.join(", ")));
    }
    add(found.now != NOON, "now", text(&found.now.to_string()));
    format!("{{{}}}", members.join(", "))
}

/// What makes a call plainer.
type Change<'c> = Box<dyn Fn(&mut Found) + 'c>;

/// The plainest call like this one of which the same is true.
pub(super) fn plainest(found: Found, tool: &ToolFacts, is_true: impl Fn(&Found) -> bool) -> Found {
    let Subject { tenant, user, agent, level, .. } = Subject::default();
    let mut plainer: Vec<Change<'_>> = vec![
        Box::new(|call| call.now = NOON),
        Box::new(|call| call.step = 0),
        Box::new(|call| call.run.clear()),
        Box::new(|call| call.counts.clear()),
        Box::new(|call| call.domains.clear()),
        Box::new(|call| call.roles.clear()),
        Box::new(|call| tool.permission.word().clone_into(&mut call.permission)),
        Box::new(move |call| call.tenant.clone_from(&tenant)),
        Box::new(move |call| call.user.clone_from(&user)),
        Box::new(move |call| call.agent.clone_from(&agent)),
        Box::new(move |call| level.word().clone_into(&mut call.level)),
    ];
    for role in found.roles.clone() {
        plainer.push(Box::new(move |call| {
            call.roles.remove(&role);
        }));
    }
    for name in found.run.keys().cloned().collect::<Vec<_>>() {
        plainer.push(Box::new(move |call| {
            call.run.remove(&name);
        }));
    }
    for name in found.counts.keys().cloned().collect::<Vec<_>>() {
        plainer.push(Box::new(move |call| {
            call.counts.remove(&name);
        }));
    }
    for field in &tool.shape.fields {
        if !field.required {
            plainer.push(Box::new(|call| {
                call.input.remove(&field.name);
            }));
        }
        plainer.push(Box::new(|call| {
            if let (Some(value), Some(plain)) = (call.input.get_mut(&field.name), plain(&field.kind)) {
                plain.clone_into(value);
            }
        }));
    }
    plainer.into_iter().fold(found, |call, change| {
        let mut changed = call.clone();
        change(&mut changed);
        if changed != call && is_true(&changed) { changed } else { call }
    })
}

/// A value that means nothing.
fn plain(kind: &Type) -> Option<&'static str> {
    match kind {
        Type::Bool => Some("false"),
        Type::Long | Type::Decimal => Some("0"),
        Type::String => Some("\"x\""),
        Type::Set(_) => Some("[]"),
        Type::Record(_) => None,
    }
}

/// A value of an argument that rules cannot hold: a number that is too large or too fine, alone or within. Nothing where it
/// can have none.
pub(super) fn unfit(kind: &Type) -> Option<String> {
    match kind {
        Type::Bool | Type::String => None,
        // One more than 64 bits hold.
        Type::Long => Some("9223372036854775808".to_owned()),
        Type::Decimal => Some("0.00001".to_owned()),
        Type::Set(element) => unfit(element).map(|element| format!("[{element}]")),
        Type::Record(fields) => {
            let place = fields.iter().position(|field| unfit(&field.kind).is_some())?;
            let value = |(at, field): (usize, &Field)| {
                let value = if at == place { unfit(&field.kind) } else { field.required.then(|| some(&field.kind)) };
                value.map(|value| format!("{}: {value}", Value::from(field.name.as_str())))
            };
            let members: Vec<_> = fields.iter().enumerate().filter_map(value).collect();
            Some(format!("{{{}}}", members.join(", ")))
        }
    }
}

/// Any value of this type.
fn some(kind: &Type) -> String {
    match kind {
        Type::Record(fields) => {
            let required = fields.iter().filter(|field| field.required);
            let members = required.map(|field| format!("{}: {}", Value::from(field.name.as_str()), some(&field.kind)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => plain(other).unwrap_or("false").to_owned(),
    }
}
