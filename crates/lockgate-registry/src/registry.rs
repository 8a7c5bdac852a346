//! The one map from names to tools.

mod change;
mod executor;
mod state;
mod tool;
mod tools;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::ports::{ToolDefinition, Visibility};
use lockgate_contract::tool::ToolSpec;

pub use self::change::{Change, ReplacementRule};
pub use self::executor::RegistryExecutor;
use self::state::State;
pub use self::tool::RegisteredTool;
use crate::describe::Description;
use crate::error::{MissingHandlers, RegisterError, ResolveError, UnknownTools};
use crate::schema::UnknownFields;

/// The tools that exist. Shared by everyone who lists or calls them, so that no two lists can drift.
///
/// A name reaches an implementation only through here. Registering, replacing and revoking take effect for
/// the lists and for the executor at once.
pub struct Registry {
    rules: RegistryRules,
    /// What hides more than the tools' declared demands do.
    pub(crate) visibility: Vec<Arc<dyn Visibility>>,
    state: RwLock<State>,
}

/// What an operator decides about registration.
#[derive(Debug, Clone, Copy)]
pub struct RegistryRules {
    /// What foreign schemas that leave objects open mean.
    pub unknown_fields: UnknownFields,
}

impl Default for RegistryRules {
    fn default() -> Self {
        Self { unknown_fields: UnknownFields::AsDeclared }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new(RegistryRules::default())
    }
}

impl Registry {
    /// A registry without tools.
    pub fn new(rules: RegistryRules) -> Self {
        Self { rules, visibility: Vec::new(), state: RwLock::default() }
    }

    /// The same registry, whose tools are seen only by subjects for whom this rule says so too, beside those that it has.
    #[must_use]
    pub fn with_visibility(mut self, visibility: Arc<dyn Visibility>) -> Self {
        self.visibility.push(visibility);
        self
    }

    /// Registers a tool. A duplicate is refused and the registered one stays in force.
    pub fn register(&self, spec: ToolSpec) -> Result<(), RegisterError> {
        self.change(spec, State::insert)
    }

    /// Replaces a tool by a new definition under the same name, and says what becomes of the runs bound to the old one.
    pub fn replace(&self, spec: ToolSpec, rule: ReplacementRule) -> Result<(), RegisterError> {
        self.change(spec, |state, tool| state.replace(tool, rule))
    }

    /// Takes a tool away, from lists and from dispatch at once. Returns whether there was one.
    pub fn revoke(&self, name: &str) -> bool {
        self.write().revoke(name)
    }

    /// The tool of this name, or nothing: never a default.
    pub fn get(&self, name: &str) -> Option<Arc<RegisteredTool>> {
        self.read().tools.get(name).cloned()
    }

    /// The tool that a run calls by this name. Both questions are answered before either refuses (C-5): is it in the run's
    /// set, and is it registered with the definition that the run was bound to?
    pub fn resolve(&self, name: &str, allowed: &AllowedTools) -> Result<Arc<RegisteredTool>, ResolveError> {
        self.read().resolve(name, allowed)
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.read().tools.iter().map(|tool| tool.spec().name().to_owned()).collect()
    }

    /// Every tool, sorted by name.
    pub fn tools(&self) -> Vec<Arc<RegisteredTool>> {
        self.read().tools.iter().cloned().collect()
    }

    /// Those that a subject with these scopes may be able to see, in no order: of any other it lacks a scope. And whether
    /// there is any tool at all.
    pub(crate) fn tools_within(&self, scopes: &BTreeSet<String>) -> (Vec<Arc<RegisteredTool>>, bool) {
        let state = self.read();
        (state.tools.with_first_scope_in(scopes).cloned().collect(), state.tools.len() > 0)
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.read().tools.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A new registry with exactly these tools, handlers included; this one is unchanged. Runs reach
    /// through it what they reach through this one, and the same [`Visibility`] rules hide tools of both. Names of tools that do
    /// not exist are refused, all of them at once: a shorter list would look like a model that does not obey.
    pub fn restrict_to<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<Self, UnknownTools> {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let state = self.read().restricted_to(&names)?;
        Ok(Self { rules: self.rules, visibility: self.visibility.clone(), state: RwLock::new(state) })
    }

    /// What a model is shown: every allowed tool that resolves, sorted, from one snapshot.
    pub fn definitions(&self, allowed: &AllowedTools) -> Vec<ToolDefinition> {
        let state = self.read();
        allowed
            .names()
            .filter_map(|name| state.resolve(name, allowed).ok())
            .map(|tool| ToolDefinition {
                name: tool.spec().name().to_owned(),
                description: tool.spec().description().to_owned(),
                input_schema: tool.spec().input_schema().clone(),
            })
            .collect()
    }

    /// Both views of every tool, from one snapshot.
    pub fn describe(&self) -> Description {
        Description::of(self.read().tools.iter().map(|tool| tool.spec()))
    }

    /// What happened so far, in order.
    pub fn changes(&self) -> Vec<Change> {
        self.read().changes.clone()
    }

    /// An executor that really dispatches every tool of this registry. Checks them all now, and reports all that have no
    /// handler (R-043…R-045); from now on a tool without one is not registered.
    pub fn executor(self: &Arc<Self>) -> Result<RegistryExecutor, MissingHandlers> {
        self.write().require_handlers()?;
        Ok(RegistryExecutor::of(Arc::clone(self)))
    }

    /// Takes an admitted tool in, or records why not.
    fn change(
        &self,
        spec: ToolSpec,
        change: impl FnOnce(&mut State, RegisteredTool) -> Result<(), RegisterError>,
    ) -> Result<(), RegisterError> {
        let name = spec.name().to_owned();
        // Schemas are compiled before the lock is taken.
        let admitted = RegisteredTool::admit(spec, self.rules);
        let mut state = self.write();
        let result = admitted.and_then(|tool| change(&mut state, tool));
        if let Err(error) = &result {
            state.changes.push(Change::Refused { name, error: error.clone() });
        }
        result
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        // Nothing that is done under the lock panics half-way.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("rules", &self.rules).field("state", &self.state).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
