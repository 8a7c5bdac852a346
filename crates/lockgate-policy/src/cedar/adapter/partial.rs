//! Rules asked before there is a call: about a subject and a tool, with a context that nobody knows yet.
//!
//! Cedar's partial evaluation (feature `tpe`) is experimental. What it says is used to hide and to tell, never to decide a call.

use cedar_policy::{Decision, PartialEntities, PartialEntityUid, PartialRequest, Policy, PolicyId, PolicySet};
use serde_json::Value;

use super::{Parsed, Schema, World};

/// What rules come to before a call is known.
#[derive(Debug)]
pub(in crate::cedar) struct Partial {
    /// Allowed or not, if no call can change it.
    pub(in crate::cedar) allowed: Option<bool>,
    /// Each rule that applies to some call.
    pub(in crate::cedar) left: Vec<Left>,
}

/// What is left of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cedar) struct Left {
    pub(in crate::cedar) id: String,
    /// To which calls it applies; nothing where to all of them.
    pub(in crate::cedar) when: Option<String>,
}

impl World {
    /// Asks these rules about whatever call may come, once `supposed` has put what is known of it into their conditions.
    pub(in crate::cedar) fn foresee<'r>(
        &self,
        schema: &Schema,
        rules: impl IntoIterator<Item = (&'r str, &'r Parsed)>,
        supposed: impl Fn(&mut Value),
    ) -> Result<Partial, String> {
        let mut set = PolicySet::new();
        for (id, parsed) in rules {
            set.add(parsed.supposing(id, &supposed)?).map_err(|error| error.to_string())?;
        }
        let concrete = |uid: &cedar_policy::EntityUid| PartialEntityUid::from_concrete(uid.clone());
        let (principal, resource) = (concrete(&self.principal), concrete(&self.resource));
        let request = PartialRequest::new(principal, self.action.clone(), resource, None, &schema.0)
            .map_err(|error| error.to_string())?;
        let entities = PartialEntities::from_concrete(self.entities.clone(), &schema.0);
        let entities = entities.map_err(|error| error.to_string())?;
        let response = set.tpe(&request, &entities, &schema.0).map_err(|error| error.to_string())?;
        let applies = response.true_permits().chain(response.true_forbids());
        let mut left: Vec<Left> = applies.map(|id| Left { id: id.to_string(), when: None }).collect();
        for rule in response.residual_policies().filter(|rule| !never(rule)) {
            left.push(Left { id: rule.id().to_string(), when: Some(condition(&rule)) });
        }
        Ok(Partial { allowed: response.decision().map(|decision| decision == Decision::Allow), left })
    }
}

impl Parsed {
    /// The rule under this id, with what is supposed put into its conditions.
    fn supposing(&self, id: &str, supposed: &impl Fn(&mut Value)) -> Result<Policy, String> {
        let mut json = self.policy.to_json().map_err(|error| error.to_string())?;
        for condition in json.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
            condition.get_mut("body").into_iter().for_each(supposed);
        }
        Policy::from_json(Some(PolicyId::new(id)), json).map_err(|error| error.to_string())
    }
}

/// Whether a residual rule can fail, and cannot apply: what is left in front of a `false`.
fn never(rule: &Policy) -> bool {
    let json = rule.to_json().unwrap_or_default();
    json.pointer("/conditions/0/body/&&/right/Value") == Some(&Value::Bool(false))
}

/// The one condition that a residual rule has.
fn condition(rule: &Policy) -> String {
    let text = rule.to_string();
    let Some((_, condition)) = text.split_once("when") else { return text };
    let condition = condition.trim().trim_end_matches(';').trim_end();
    let inner = condition.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(condition);
    inner.trim().to_owned()
}
