//! What a registry holds at one moment. Every question is answered from one such moment, under one lock.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::digest::Digest;
use lockgate_contract::tool::ToolSpec;

use crate::error::{MissingHandlers, RegisterError, ResolveError, UnknownTools};
use crate::registry::tools::Tools;
use crate::registry::{Change, RegisteredTool, ReplacementRule};

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tools: Tools,
    /// By name, what the runs reach that were bound to another definition than the registered one.
    superseded: HashMap<String, HashMap<Digest, Reach>>,
    pub(super) changes: Vec<Change>,
    /// An executor was built: from then on every tool needs a handler.
    handlers_required: bool,
}

/// What runs with an older definition reach. For those that stop there is no entry.
#[derive(Debug, Clone)]
enum Reach {
    /// Whatever is registered.
    Registered,
    /// The definition that they finish with.
    Old(Arc<RegisteredTool>),
}

impl State {
    pub(super) fn resolve(&self, name: &str, allowed: &AllowedTools) -> Result<Arc<RegisteredTool>, ResolveError> {
        match (self.tools.get(name), allowed.definition(name)) {
            (None, None) => Err(ResolveError::NotRegistered(name.to_owned())),
            (None, Some(_)) => Err(ResolveError::Revoked(name.to_owned())),
            (Some(tool), None) => Err(ResolveError::NotAllowed {
                name: name.to_owned(),
                version: tool.spec().version().to_owned(),
                source_of_set: allowed.source().to_owned(),
            }),
            (Some(tool), Some(bound)) => self
                .reached(tool, bound)
                // However replacements treat other runs: a pinned one goes on with its version or not at all.
                .filter(|reached| allowed.version(name).is_none_or(|pinned| pinned == reached.spec().version()))
                .ok_or_else(|| ResolveError::ContractMismatch {
                    name: name.to_owned(),
                    version: tool.spec().version().to_owned(),
                    bound,
                    registered: tool.spec().definition(),
                }),
        }
    }

    /// What a run reaches that was bound to this definition of the tool.
    fn reached(&self, tool: &Arc<RegisteredTool>, bound: Digest) -> Option<Arc<RegisteredTool>> {
        if bound == tool.spec().definition() {
            return Some(Arc::clone(tool));
        }
        match self.superseded.get(tool.spec().name())?.get(&bound)? {
            Reach::Registered => Some(Arc::clone(tool)),
            Reach::Old(old) => Some(Arc::clone(old)),
        }
    }

    pub(super) fn insert(&mut self, tool: RegisteredTool) -> Result<(), RegisterError> {
        self.check_handler(&tool)?;
        let name = tool.spec().name().to_owned();
        if let Some(existing) = self.tools.get(&name) {
            return Err(RegisterError::Duplicate {
                name,
                existing: existing.spec().source().to_owned(),
                refused: tool.spec().source().to_owned(),
            });
        }
        self.changes.push(Change::Registered { name: name.clone(), definition: tool.spec().definition() });
        self.tools.insert(Arc::new(tool));
        Ok(())
    }

    pub(super) fn replace(&mut self, tool: RegisteredTool, rule: ReplacementRule) -> Result<(), RegisterError> {
        self.check_handler(&tool)?;
        let name = tool.spec().name().to_owned();
        let Some(old) = self.tools.get(&name).cloned() else {
            return Err(RegisterError::NothingToReplace(name));
        };
        check_rule(old.spec(), tool.spec(), rule)?;
        let to = tool.spec().definition();
        self.tools.insert(Arc::new(tool));
        let from = old.spec().definition();
        if from != to {
            self.supersede(&name, from, &old, rule);
        }
        self.changes.push(Change::Replaced { name, from, to, rule });
        Ok(())
    }

    /// Applies the rule to the runs bound to the replaced definition, and to those that had migrated to it before.
    fn supersede(&mut self, name: &str, from: Digest, old: &Arc<RegisteredTool>, rule: ReplacementRule) {
        let reaches = self.superseded.entry(name.to_owned()).or_default();
        reaches.insert(from, Reach::Registered);
        match rule {
            ReplacementRule::Migrate => {}
            ReplacementRule::Stop => reaches.retain(|_, reach| matches!(reach, Reach::Old(_))),
            ReplacementRule::Finish => {
                for reach in reaches.values_mut().filter(|reach| matches!(reach, Reach::Registered)) {
                    *reach = Reach::Old(Arc::clone(old));
                }
            }
        }
    }

    pub(super) fn revoke(&mut self, name: &str) -> bool {
        let Some(tool) = self.tools.remove(name) else {
            return false;
        };
        // Runs that were to go on with another definition of it do not outlive the revocation.
        self.superseded.remove(name);
        self.changes.push(Change::Revoked { name: name.to_owned(), definition: tool.spec().definition() });
        true
    }

    pub(super) fn restricted_to(&self, names: &BTreeSet<&str>) -> Result<Self, UnknownTools> {
        let unknown: Vec<String> =
            names.iter().filter(|name| self.tools.get(name).is_none()).map(|name| (*name).to_owned()).collect();
        if !unknown.is_empty() {
            return Err(UnknownTools(unknown));
        }
        let is_named = |name: &str| names.contains(name);
        Ok(Self {
            tools: self.tools.iter().filter(|tool| is_named(tool.spec().name())).cloned().collect(),
            superseded: self
                .superseded
                .iter()
                .filter(|(name, _)| is_named(name))
                .map(|(name, superseded)| (name.clone(), superseded.clone()))
                .collect(),
            ..Self::default()
        })
    }

    /// Reports every tool without a handler, or refuses such tools from now on.
    pub(super) fn require_handlers(&mut self) -> Result<(), MissingHandlers> {
        let missing: Vec<String> = self
            .tools
            .iter()
            .filter(|tool| tool.spec().handler().is_none())
            .map(|tool| tool.spec().name().to_owned())
            .collect();
        if !missing.is_empty() {
            return Err(MissingHandlers(missing));
        }
        self.handlers_required = true;
        Ok(())
    }

    fn check_handler(&self, tool: &RegisteredTool) -> Result<(), RegisterError> {
        if self.handlers_required && tool.spec().handler().is_none() {
            return Err(RegisterError::MissingHandler(tool.spec().name().to_owned()));
        }
        Ok(())
    }
}

/// Whether the bound runs can be treated as the rule says.
fn check_rule(old: &ToolSpec, new: &ToolSpec, rule: ReplacementRule) -> Result<(), RegisterError> {
    let name = || new.name().to_owned();
    if rule != ReplacementRule::Migrate {
        // Runs know a definition by its digest alone: under one digest none could finish with the old handler, or stop.
        return if old.definition() == new.definition() { Err(RegisterError::SameDefinition(name())) } else { Ok(()) };
    }
    match differing_fact(old, new) {
        Some(fact) => Err(RegisterError::CannotMigrate { name: name(), fact }),
        None => Ok(()),
    }
}

/// What a run was bound by, and took over from the definition for its whole life: who sees the tool, and how the run
/// schedules, repeats and ends with it. A run that goes on with another definition must not be wrong about these.
fn differing_fact(old: &ToolSpec, new: &ToolSpec) -> Option<&'static str> {
    let facts = [
        ("effect", old.effect() != new.effect()),
        ("replay policy", old.replay() != new.replay()),
        ("completes_run", old.completes_run() != new.completes_run()),
        ("set of resource keys", old.resource_keys() != new.resource_keys()),
        ("set of scopes", old.scopes() != new.scopes()),
        ("audience", old.audience() != new.audience()),
    ];
    facts.into_iter().find_map(|(fact, differs)| differs.then_some(fact))
}
