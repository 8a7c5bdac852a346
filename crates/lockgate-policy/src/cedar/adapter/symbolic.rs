//! Rules as formulas, and the solver that is asked whether they can be true: the one place that knows the crate
//! `cedar-policy-symcc`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use cedar_policy::{
    Context, EntityTypeName, EntityUid, EvalResult, Policy, PolicyId, PolicySet, PrincipalConstraint, RequestEnv,
};
use cedar_policy_symcc::err::Error;
use cedar_policy_symcc::solver::{LocalSolver, SolverError};
use cedar_policy_symcc::{
    CedarSymCompiler, CompiledPolicy, CompiledPolicySet, Env, WellFormedAsserts, always_denies_asserts,
    implies_asserts, never_errors_asserts,
};
use lockgate_contract::time::Timestamp;
use lockgate_host::children;
use serde_json::Value as Json;

use super::super::tools::ToolFacts;
use super::{Parsed, Schema, Value, conditions_of_any_approval};

/// What holds for every approval that a decision supposes, and is `true` in every formula.
static OF_ANY_APPROVAL: LazyLock<Vec<Json>> = LazyLock::new(conditions_of_any_approval);

/// What a set of rules answers to the calls of one tool.
#[derive(Debug)]
pub(in crate::cedar) struct Formula(CompiledPolicySet);

/// A call that the solver found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cedar) struct Found {
    pub(in crate::cedar) tenant: String,
    pub(in crate::cedar) user: String,
    pub(in crate::cedar) agent: String,
    pub(in crate::cedar) roles: BTreeSet<String>,
    pub(in crate::cedar) domains: BTreeSet<String>,
    pub(in crate::cedar) level: String,
    pub(in crate::cedar) permission: String,
    pub(in crate::cedar) step: i64,
    /// What its run did and may still do, by the names of these facts.
    pub(in crate::cedar) run: BTreeMap<String, i64>,
    /// How many calls were admitted, by the names of the counts.
    pub(in crate::cedar) counts: BTreeMap<String, i64>,
    pub(in crate::cedar) now: Timestamp,
    /// By the argument's name: its value as JSON.
    pub(in crate::cedar) input: BTreeMap<String, String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cedar) enum Unsolved {
    /// It would have taken longer than it may.
    Time,
    /// Anything else, in words.
    Otherwise(String),
}

/// A solver's process. It ends with this value.
#[derive(Debug)]
pub(in crate::cedar) struct Solver {
    program: PathBuf,
    limit: Duration,
    compiler: CedarSymCompiler<LocalSolver>,
}

impl Formula {
    /// These rules, and others in Cedar's language, before the calls of this tool.
    pub(in crate::cedar) fn of<'r>(
        schema: &Schema,
        tool: &ToolFacts,
        rules: impl Iterator<Item = (&'r str, &'r Parsed)>,
        more: &[String],
    ) -> Result<Self, String> {
        let mut set = PolicySet::new();
        for (id, parsed) in rules {
            set.add(parsed.shortened(id, None)?).map_err(|error| error.to_string())?;
        }
        for (place, text) in more.iter().enumerate() {
            // No rule's id has a blank.
            let id = PolicyId::new(format!("more {place}"));
            let policy = Policy::parse(Some(id), text).map_err(|error| format!("{error}: {text}"))?;
            set.add(policy).map_err(|error| error.to_string())?;
        }
        let compiled = CompiledPolicySet::compile(&set, &request(tool)?, &schema.0);
        compiled.map(Self).map_err(|error| said(&error))
    }
}

impl Solver {
    /// Starts a solver that may take so long for one answer.
    pub(in crate::cedar) fn start(program: &Path, limit: Duration) -> io::Result<Self> {
        Ok(Self { program: program.to_owned(), limit, compiler: started(program)? })
    }

    /// A call that these rules allow, if there is one.
    pub(in crate::cedar) async fn allowed(&mut self, rules: &Formula) -> Result<Option<Found>, Unsolved> {
        self.satisfy(&always_denies_asserts(&rules.0)).await
    }

    /// A call that these rules allow and the others do not, if there is one.
    pub(in crate::cedar) async fn allowed_beyond(
        &mut self,
        rules: &Formula,
        others: &Formula,
    ) -> Result<Option<Found>, Unsolved> {
        self.satisfy(&implies_asserts(&rules.0, &others.0)).await
    }

    /// A call of this tool for which the rule cannot be evaluated, if there is one. Only calls for which the condition
    /// `supposed` holds count.
    pub(in crate::cedar) async fn failed(
        &mut self,
        schema: &Schema,
        tool: &ToolFacts,
        rule: &Parsed,
        supposed: &str,
    ) -> Result<Option<Found>, Unsolved> {
        let compiled = rule
            .shortened("rule", Some(supposed))
            .and_then(|policy| {
                CompiledPolicy::compile(&policy, &request(tool)?, &schema.0).map_err(|error| said(&error))
            })
            .map_err(Unsolved::Otherwise)?;
        self.satisfy(&never_errors_asserts(&compiled)).await
    }

    async fn satisfy(&mut self, asserts: &WellFormedAsserts<'_>) -> Result<Option<Found>, Unsolved> {
        let answer = tokio::time::timeout(self.limit, self.compiler.check_sat(asserts)).await;
        let unsolved = match answer {
            Ok(Ok(found)) => return found.map(|env| Found::of(&env)).transpose().map_err(Unsolved::Otherwise),
            Ok(Err(error)) => Unsolved::Otherwise(said(&error)),
            Err(_) => Unsolved::Time,
        };
        // It may still be at the last question, or be gone: the next one goes to another process.
        if let Ok(compiler) = started(&self.program) {
            self.compiler = compiler;
        }
        Err(unsolved)
    }
}

impl Found {
    fn of(env: &Env) -> Result<Self, String> {
        let lost = |what: &str| format!("the solver's call has no {what}");
        let context = env.request.context().ok_or_else(|| lost("context"))?;
        let principal = env.request.principal().ok_or_else(|| lost("principal"))?;
        let agent = env.entities.get(principal).ok_or_else(|| lost("principal"))?;
        let attribute = |name: &str| agent.attr(name).and_then(Result::ok).ok_or_else(|| lost(name));
        let fact = |name: &str| context.get(name).ok_or_else(|| lost(name));
        let mut roles = words(&attribute("scopes")?)?;
        let parents = env.entities.ancestors(principal).into_iter().flatten();
        roles.extend(parents.map(|role: &EntityUid| role.id().unescaped().to_owned()));
        let input = match fact("input")? {
            EvalResult::Record(fields) => {
                fields.iter().map(|(name, value)| Ok((name.clone(), json(value)?))).collect::<Result<_, String>>()?
            }
            _ => return Err(lost("input")),
        };
        let numbers = |name: &str| match fact(name)? {
            EvalResult::Record(fields) => {
                fields.iter().map(|(name, value)| Ok((name.clone(), number(value)?))).collect::<Result<_, String>>()
            }
            _ => Err(lost(name)),
        };
        Ok(Self {
            tenant: word(&attribute("tenant")?)?,
            user: word(&attribute("user")?)?,
            agent: principal.id().unescaped().to_owned(),
            roles,
            domains: words(&attribute("domains")?)?,
            level: word(&attribute("level")?)?,
            permission: word(&fact("permission")?)?,
            step: number(&fact("step")?)?,
            run: numbers("run")?,
            counts: numbers("counts")?,
            now: time(&fact("now")?).ok_or_else(|| lost("time"))?,
            input,
        })
    }
}

impl Parsed {
    /// The roles that are named in it.
    pub(in crate::cedar) fn roles(&self) -> BTreeSet<String> {
        let mut roles = BTreeSet::new();
        if let Ok(json) = self.policy.to_json() {
            walk(&json, &mut |value| {
                if let (Some("Role"), Some(id)) = (text_of(value, "type"), text_of(value, "id")) {
                    roles.insert(id.to_owned());
                }
            });
        }
        roles
    }

    /// The names of all that its conditions look at: of the call's facts, its agent, its tool, its approval.
    pub(in crate::cedar) fn looks_at(&self) -> BTreeSet<String> {
        let (mut names, mut conditions) = (BTreeSet::new(), self.conditions.clone());
        without(&mut conditions, &OF_ANY_APPROVAL);
        walk(&conditions, &mut |value| {
            for attribute in [".", "has"].iter().filter_map(|operator| value.get(operator)?.get("attr")) {
                walk(attribute, &mut |name| names.extend(name.as_str().map(str::to_owned)));
            }
        });
        names
    }

    /// Whether it looks into something that it names itself: only the call's own principal and resource are there to be
    /// looked into.
    pub(in crate::cedar) fn looks_elsewhere(&self) -> bool {
        let mut elsewhere = false;
        walk(&self.conditions, &mut |value| {
            let operand = [".", "has"].iter().find_map(|operator| value.get(operator)?.get("left"));
            if let Some(operand) = operand {
                walk(operand, &mut |inner| elsewhere |= inner.get("__entity").is_some());
            }
        });
        elsewhere
    }

    /// Its principal as a condition.
    pub(in crate::cedar) fn principal(&self) -> String {
        match self.policy.principal_constraint() {
            PrincipalConstraint::Any => "true".to_owned(),
            PrincipalConstraint::Eq(uid) => format!("principal == {uid}"),
            PrincipalConstraint::In(uid) => format!("principal in {uid}"),
            PrincipalConstraint::Is(name) => format!("principal is {name}"),
            PrincipalConstraint::IsIn(name, uid) => format!("principal is {name} in {uid}"),
        }
    }

    /// The same rule without what is true of every approval that a decision supposes; and where a condition is given, it only
    /// applies where that holds.
    fn shortened(&self, id: &str, only_where: Option<&str>) -> Result<Policy, String> {
        let mut json = self.policy.to_json().map_err(|error| error.to_string())?;
        if let Some(conditions) = json.get_mut("conditions") {
            without(conditions, &OF_ANY_APPROVAL);
            if let (Some(condition), Json::Array(conditions)) = (only_where, conditions) {
                let condition = format!("permit (principal, action, resource) when {{ {condition} }};");
                let condition = Policy::parse(None, condition).map_err(|error| error.to_string())?;
                let condition = condition.to_json().map_err(|error| error.to_string())?;
                let first = condition.pointer("/conditions/0").ok_or("a condition is none")?;
                conditions.insert(0, first.clone());
            }
        }
        Policy::from_json(Some(PolicyId::new(id)), json).map_err(|error| error.to_string())
    }
}

impl Value {
    /// The condition that this value stands at a place.
    pub(in crate::cedar) fn is_at(&self, path: &str) -> String {
        let context = Context::from_pairs([("value".to_owned(), self.0.clone())]).ok();
        match context.and_then(|context| context.get("value")) {
            // The empty set has no type of its own.
            Some(EvalResult::Set(elements)) if elements.is_empty() => format!("{path}.isEmpty()"),
            Some(value) => format!("{path} == {value}"),
            // Nothing is known of it then, which proves less and not more.
            None => "true".to_owned(),
        }
    }
}

fn started(program: &Path) -> io::Result<CedarSymCompiler<LocalSolver>> {
    let mut command = children::partner(program, &["--lang", "smt"], &["PATH", "LD_LIBRARY_PATH"]);
    let solver = LocalSolver::from_command(&mut command).map_err(|error| match error {
        SolverError::Io(error) => error,
        other => io::Error::other(other),
    })?;
    CedarSymCompiler::new(solver).map_err(io::Error::other)
}

/// Who calls what, by type.
fn request(tool: &ToolFacts) -> Result<RequestEnv, String> {
    let agent = EntityTypeName::from_str("Agent").map_err(|error| error.to_string())?;
    Ok(RequestEnv::new(agent, tool.action.0.clone(), tool.resource.0.type_name().clone()))
}

/// An error with its causes.
fn said(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}

fn walk(value: &Json, see: &mut impl FnMut(&Json)) {
    see(value);
    match value {
        Json::Array(elements) => elements.iter().for_each(|element| walk(element, see)),
        Json::Object(members) => members.values().for_each(|member| walk(member, see)),
        _ => {}
    }
}

/// Puts `true` in the place of these conditions.
fn without(value: &mut Json, conditions: &[Json]) {
    if conditions.contains(value) {
        *value = serde_json::json!({ "Value": true });
        return;
    }
    match value {
        Json::Array(elements) => elements.iter_mut().for_each(|element| without(element, conditions)),
        Json::Object(members) => members.values_mut().for_each(|member| without(member, conditions)),
        _ => {}
    }
}

fn text_of<'j>(value: &'j Json, key: &str) -> Option<&'j str> {
    value.get(key)?.as_str()
}

fn word(value: &EvalResult) -> Result<String, String> {
    match value {
        EvalResult::String(word) => Ok(word.clone()),
        other => Err(format!("the solver's call has {other} for a text")),
    }
}

fn words(value: &EvalResult) -> Result<BTreeSet<String>, String> {
    match value {
        EvalResult::Set(words) => words.iter().map(word).collect(),
        other => Err(format!("the solver's call has {other} for a set of texts")),
    }
}

fn number(value: &EvalResult) -> Result<i64, String> {
    match value {
        EvalResult::Long(number) => Ok(*number),
        other => Err(format!("the solver's call has {other} for a whole number")),
    }
}

/// A time as symbolic compilation writes it: so many milliseconds behind the beginning of 1970.
fn time(value: &EvalResult) -> Option<Timestamp> {
    let EvalResult::ExtensionValue(text) = value else {
        return None;
    };
    let (_, span) = text.split_once("duration(\"")?;
    let (millis, _) = span.split_once("ms")?;
    millis.parse().ok().map(Timestamp::from_millis)
}

/// A value of the arguments as JSON.
fn json(value: &EvalResult) -> Result<String, String> {
    let quoted = |text: &str| Json::from(text).to_string();
    Ok(match value {
        EvalResult::Bool(value) => value.to_string(),
        EvalResult::Long(value) => value.to_string(),
        EvalResult::String(text) => quoted(text),
        EvalResult::Set(elements) => {
            let elements: Vec<_> = elements.iter().map(json).collect::<Result<_, _>>()?;
            format!("[{}]", elements.join(", "))
        }
        EvalResult::Record(members) => {
            let member = |(name, value): (&String, &EvalResult)| Ok(format!("{}: {}", quoted(name), json(value)?));
            let members: Vec<_> = members.iter().map(member).collect::<Result<_, String>>()?;
            format!("{{{}}}", members.join(", "))
        }
        EvalResult::ExtensionValue(text) => {
            let number = text.strip_prefix("decimal(\"").and_then(|text| text.strip_suffix("\")"));
            number.ok_or_else(|| format!("`{text}` is no argument"))?.to_owned()
        }
        EvalResult::EntityUid(uid) => return Err(format!("`{uid}` is no argument")),
    })
}
