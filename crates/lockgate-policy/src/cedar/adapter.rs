//! The one place that knows the crate `cedar-policy`: everything around it speaks of rules, tools and subjects.

mod names;
mod partial;
#[cfg(feature = "prove")]
mod symbolic;
mod value;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use cedar_policy::{
    ActionConstraint, AuthorizationError, Authorizer, Context, Decision, Effect, Entities, Entity, EntityTypeName,
    EntityUid, Policy, PolicyId, PolicySet, PrincipalConstraint, Request, ResourceConstraint, ValidationMode,
    ValidationWarning, Validator,
};
use lockgate_contract::subject::Subject;
use miette::Diagnostic;

pub(super) use self::names::{Principal, Uid};
pub(super) use self::partial::Partial;
#[cfg(feature = "prove")]
pub(super) use self::symbolic::{Formula, Found, Solver, Unsolved};
pub(super) use self::value::Value;
use super::tools::ToolFacts;

/// What is wrong with a text.
#[derive(Debug)]
pub(super) struct Fault {
    /// The line, from 1.
    pub(super) line: Option<usize>,
    pub(super) text: String,
    pub(super) help: Option<String>,
}

/// A rule as it was written.
#[derive(Debug)]
pub(super) struct Parsed {
    policy: Policy,
    /// The whole text that it stands in.
    text: Arc<str>,
    /// The line that it begins in, from 1.
    pub(super) line: usize,
    pub(super) annotations: Vec<(String, String)>,
    /// Its conditions as JSON.
    pub(super) conditions: serde_json::Value,
}

/// The types of everything that a rule may look at.
pub(super) struct Schema(cedar_policy::Schema);

/// What the check of a rule against the schema found.
#[derive(Debug)]
pub(super) struct Finding {
    /// The rule.
    pub(super) id: String,
    pub(super) line: Option<usize>,
    pub(super) text: String,
    pub(super) help: Option<String>,
    /// Or else a warning.
    pub(super) is_error: bool,
}

/// Rules that are asked together.
#[derive(Debug)]
pub(super) struct Set(PolicySet);

/// Who, what and on what, apart from the call's own facts.
#[derive(Debug)]
pub(super) struct World {
    principal: EntityUid,
    action: EntityUid,
    resource: EntityUid,
    entities: Entities,
}

/// What rules answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) allowed: bool,
    /// The rules that determined it, sorted.
    pub(super) determining: Vec<String>,
    /// The rules that could not be evaluated, and why, sorted.
    pub(super) failed: Vec<(String, String)>,
}

/// The rules of a text, in its order.
pub(super) fn parse(text: &str) -> Result<Vec<Parsed>, Vec<Fault>> {
    let set = PolicySet::from_str(text)
        .map_err(|errors| errors.iter().map(|error| fault(error, error.to_string(), text)).collect::<Vec<_>>())?;
    if let Some(template) = set.templates().next() {
        return Err(vec![Fault {
            line: text.find(&template.to_cedar()).map(|at| line_of(text, at)),
            text: "a template is no rule: it names no principal or resource yet".to_owned(),
            help: Some("write it without `?principal` and `?resource`".to_owned()),
        }]);
    }
    let mut policies: Vec<&Policy> = set.policies().collect();
    // They are numbered in the order of the text.
    policies.sort_by_key(|policy| policy.id().to_string().trim_start_matches("policy").parse::<usize>().unwrap_or(0));
    let (text, mut from) = (Arc::from(text), 0);
    policies
        .into_iter()
        .map(|policy| parsed(policy, &text, &mut from))
        .collect::<Result<_, _>>()
        .map_err(|fault| vec![fault])
}

fn parsed(policy: &Policy, text: &Arc<str>, from: &mut usize) -> Result<Parsed, Fault> {
    let failed = |text: String| Fault { line: None, text, help: None };
    let source = policy.to_cedar().ok_or_else(|| failed("a template is no rule".to_owned()))?;
    let start = text.get(*from..).and_then(|rest| rest.find(&source)).map_or(*from, |at| *from + at);
    *from = start + source.len();
    let json = policy.to_json().map_err(|error| failed(error.to_string()))?;
    Ok(Parsed {
        line: line_of(text, start),
        annotations: policy.annotations().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        conditions: json.get("conditions").cloned().unwrap_or_default(),
        policy: policy.clone(),
        text: Arc::clone(text),
    })
}

/// Conditions that hold for every approval which a decision supposes.
pub(super) fn conditions_of_any_approval() -> Vec<serde_json::Value> {
    const CONDITIONS: [&str; 3] = [
        "context.approval.arguments_digest == context.arguments_digest",
        "context.approval.expires_at > context.now",
        "context.approval.uses_left > 0",
    ];
    CONDITIONS
        .iter()
        .filter_map(|condition| {
            let rule =
                Policy::parse(None, format!("permit (principal, action, resource) when {{ {condition} }};")).ok()?;
            rule.to_json().ok()?.pointer("/conditions/0/body").cloned()
        })
        .collect()
}

/// Checks rules against the schema.
pub(super) fn validate<'r>(schema: &Schema, rules: impl Iterator<Item = (&'r str, &'r Parsed)>) -> Vec<Finding> {
    let rules: BTreeMap<&str, &Parsed> = rules.collect();
    let set = match Set::of(rules.iter().map(|(id, parsed)| (*id, *parsed))) {
        Ok(set) => set,
        Err(text) => {
            let id = rules.keys().next().copied().unwrap_or_default().to_owned();
            return vec![Finding { id, line: None, text, help: None, is_error: true }];
        }
    };
    let result = Validator::new(schema.0.clone()).validate(&set.0, ValidationMode::Strict);
    let finding = |id: &PolicyId, diagnostic: &dyn Diagnostic, text: String, is_error| {
        let id = id.to_string();
        let rule = rules.get(id.as_str());
        let line = rule.and_then(|rule| Some(line_of(&rule.text, diagnostic.labels()?.next()?.offset())));
        Finding { id, line, text, help: diagnostic.help().map(|help| help.to_string()), is_error }
    };
    let errors = result.validation_errors().map(|error| finding(error.policy_id(), error, error.to_string(), true));
    let warnings = result.validation_warnings().map(|warning| {
        // A rule that never applies gives nothing where it permits, and fails to forbid where it forbids.
        let forbids = rules.get(warning.policy_id().to_string().as_str()).is_some_and(|rule| rule.forbids());
        let never = matches!(warning, ValidationWarning::ImpossiblePolicy { .. });
        finding(warning.policy_id(), warning, warning.to_string(), forbids && never)
    });
    errors.chain(warnings).collect()
}

impl Parsed {
    /// As it was written, with its annotations.
    pub(super) fn source(&self) -> String {
        self.policy.to_cedar().unwrap_or_default()
    }

    /// Whether it forbids what it applies to.
    pub(super) fn forbids(&self) -> bool {
        self.policy.effect() == Effect::Forbid
    }

    /// The one tool whose calls it is about, where its scope names one.
    pub(super) fn only_tool(&self) -> Option<String> {
        match self.policy.action_constraint() {
            ActionConstraint::Eq(uid) => Uid(uid).called_tool(),
            ActionConstraint::Any | ActionConstraint::In(_) => None,
        }
    }

    /// Whether its action and its resource can be those of calls of this tool.
    pub(super) fn concerns(&self, tool: &ToolFacts) -> bool {
        let is_action = |uid: &EntityUid| *uid == tool.action.0;
        let action = match self.policy.action_constraint() {
            ActionConstraint::Any => true,
            ActionConstraint::Eq(uid) => is_action(&uid),
            ActionConstraint::In(uids) => uids.iter().any(|uid| is_action(uid) || *uid == tool.group.0),
        };
        let is_type = |name: &EntityTypeName| name == tool.resource.0.type_name();
        action
            && match self.policy.resource_constraint() {
                ResourceConstraint::Any => true,
                ResourceConstraint::Eq(uid) | ResourceConstraint::In(uid) => uid == tool.resource.0,
                ResourceConstraint::Is(name) => is_type(&name),
                ResourceConstraint::IsIn(name, uid) => is_type(&name) && uid == tool.resource.0,
            }
    }

    /// Whether its principal can be this one.
    pub(super) fn is_for(&self, principal: &Principal) -> bool {
        let Principal { agent, roles } = principal;
        let is_within = |uid: &EntityUid| uid == agent || roles.contains(uid);
        let is_type = |name: &EntityTypeName| name == agent.type_name();
        match self.policy.principal_constraint() {
            PrincipalConstraint::Any => true,
            PrincipalConstraint::Eq(uid) => uid == *agent,
            PrincipalConstraint::In(uid) => is_within(&uid),
            PrincipalConstraint::Is(name) => is_type(&name),
            PrincipalConstraint::IsIn(name, uid) => is_type(&name) && is_within(&uid),
        }
    }
}

impl Schema {
    /// Reads a schema in Cedar's own language.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        match cedar_policy::Schema::from_cedarschema_str(text) {
            Ok((schema, _)) => Ok(Self(schema)),
            Err(error) => Err(fault(&error, error.to_string(), text)),
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}

impl Set {
    /// These rules, under these ids.
    pub(super) fn of<'r>(rules: impl IntoIterator<Item = (&'r str, &'r Parsed)>) -> Result<Self, String> {
        let mut set = PolicySet::new();
        for (id, parsed) in rules {
            set.add(parsed.policy.new_id(PolicyId::new(id))).map_err(|error| error.to_string())?;
        }
        Ok(Self(set))
    }

    /// The same without some of them.
    pub(super) fn without(&self, ids: &[&str]) -> Result<Self, String> {
        let mut set = self.0.clone();
        for id in ids {
            set.remove_static(PolicyId::new(id)).map_err(|error| error.to_string())?;
        }
        Ok(Self(set))
    }
}

impl World {
    /// This subject, which is this principal, before this tool.
    pub(super) fn new(tool: &ToolFacts, subject: &Subject, principal: Principal) -> Result<Self, String> {
        let Principal { agent: principal, roles } = principal;
        let (action, resource) = (tool.action.0.clone(), tool.resource.0.clone());
        let agent = Principal::attributes(subject).into_iter().map(|(name, value)| (name, value.0)).collect();
        let facts = tool.attributes().map(|(name, value)| (name, value.0)).collect();
        let group = HashSet::from([tool.group.0.clone()]);
        let entities = [
            Entity::new(principal.clone(), agent, roles),
            Entity::new(resource.clone(), facts, HashSet::new()),
            Entity::new(action.clone(), HashMap::new(), group),
        ];
        let entities: Result<Vec<_>, _> = entities.into_iter().collect();
        let entities = Entities::from_entities(entities.map_err(|error| error.to_string())?, None);
        Ok(Self { principal, action, resource, entities: entities.map_err(|error| error.to_string())? })
    }

    /// Asks rules about a call with these facts.
    pub(super) fn ask(&self, set: &Set, facts: Vec<(String, Value)>) -> Result<Answer, String> {
        let facts = facts.into_iter().map(|(name, value)| (name, value.0));
        let context = Context::from_pairs(facts).map_err(|error| error.to_string())?;
        let (principal, action, resource) = (self.principal.clone(), self.action.clone(), self.resource.clone());
        let request = Request::new(principal, action, resource, context, None).map_err(|error| error.to_string())?;
        let response = Authorizer::new().is_authorized(&request, &set.0, &self.entities);
        let mut determining: Vec<_> = response.diagnostics().reason().map(ToString::to_string).collect();
        determining.sort_unstable();
        let mut failed: Vec<_> = response
            .diagnostics()
            .errors()
            .map(|AuthorizationError::PolicyEvaluationError(error)| {
                (error.policy_id().to_string(), error.inner().to_string())
            })
            .collect();
        failed.sort_unstable();
        Ok(Answer { allowed: response.decision() == Decision::Allow, determining, failed })
    }
}

fn fault(diagnostic: &dyn Diagnostic, text: String, source: &str) -> Fault {
    let label = diagnostic.labels().and_then(|mut labels| labels.next());
    let help = diagnostic.help().map(|help| help.to_string());
    let expected = || label.as_ref().and_then(|label| label.label()).map(str::to_owned);
    Fault { line: label.as_ref().map(|label| line_of(source, label.offset())), text, help: help.or_else(expected) }
}

/// The line of a place in a text, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}
