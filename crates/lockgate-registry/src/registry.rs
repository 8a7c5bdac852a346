//! The one map from names to tools.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::digest::Digest;
use lockgate_contract::ports::ToolDefinition;
use lockgate_contract::tool::ToolSpec;

use crate::describe::Description;
use crate::error::{MissingHandlers, RegisterError, ResolveError};
use crate::schema::{Role, Schema, UnknownFields};

/// The tools that exist. Shared by everyone who lists or calls them, so that no two lists can drift.
///
/// A name reaches an implementation only through here. Registering, replacing and revoking take effect for
/// the lists and for the executor at once.
#[derive(Debug)]
pub struct Registry {
    rules: RegistryRules,
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

#[derive(Debug, Default)]
struct State {
    tools: BTreeMap<String, Arc<RegisteredTool>>,
    /// Definitions that runs may still be bound to, by name and digest.
    superseded: HashMap<(String, Digest), Superseded>,
    changes: Vec<Change>,
    /// An executor was built: from then on every tool needs a handler.
    handlers_required: bool,
}

#[derive(Debug)]
struct Superseded {
    tool: Arc<RegisteredTool>,
    rule: ReplacementRule,
}

/// A tool and its admitted schemas.
#[derive(Debug)]
pub struct RegisteredTool {
    spec: ToolSpec,
    input: Schema,
    output: Option<Schema>,
}

impl RegisteredTool {
    /// What the tool is.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Its admitted input schema.
    pub fn input(&self) -> &Schema {
        &self.input
    }

    /// Its admitted output schema.
    pub fn output(&self) -> Option<&Schema> {
        self.output.as_ref()
    }
}

/// What becomes of the runs that are bound to a replaced definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplacementRule {
    /// They go on with the old definition.
    Finish,
    /// Their calls reach the new definition.
    Migrate,
    /// Their calls are refused with `definition_changed`.
    Stop,
}

/// What happened to the registry, in order: nothing is overwritten or refused silently.
#[derive(Debug, Clone)]
pub enum Change {
    /// A tool was registered.
    Registered {
        /// Its name.
        name: String,
        /// Its definition digest.
        definition: Digest,
    },
    /// A tool was not registered.
    Refused {
        /// Its name.
        name: String,
        /// Why.
        error: RegisterError,
    },
    /// A definition stopped being valid.
    Replaced {
        /// The name.
        name: String,
        /// The old definition.
        from: Digest,
        /// The new one.
        to: Digest,
        /// What becomes of bound runs.
        rule: ReplacementRule,
    },
    /// A tool was taken away.
    Revoked {
        /// Its name.
        name: String,
        /// Its definition.
        definition: Digest,
    },
}

impl Default for Registry {
    fn default() -> Self {
        Self::new(RegistryRules::default())
    }
}

impl Registry {
    /// A registry without tools.
    pub fn new(rules: RegistryRules) -> Self {
        Self { rules, state: RwLock::default() }
    }

    /// Registers a tool. A duplicate is refused and the registered one stays in force.
    pub fn register(&self, spec: ToolSpec) -> Result<(), RegisterError> {
        let name = spec.name().to_owned();
        let admitted = self.admit(spec);
        let mut state = self.write();
        let result = admitted.and_then(|tool| state.insert_new(tool));
        if let Err(error) = &result {
            state.changes.push(Change::Refused { name, error: error.clone() });
        }
        result
    }

    /// Replaces a tool by a new definition under the same name, and says what becomes of the runs bound to the old one.
    pub fn replace(&self, spec: ToolSpec, rule: ReplacementRule) -> Result<(), RegisterError> {
        let name = spec.name().to_owned();
        let admitted = self.admit(spec);
        let mut state = self.write();
        let result = admitted.and_then(|tool| state.replace(&name, tool, rule));
        if let Err(error) = &result {
            state.changes.push(Change::Refused { name, error: error.clone() });
        }
        result
    }

    /// Takes a tool away, from lists and from dispatch at once. Returns whether there was one.
    pub fn revoke(&self, name: &str) -> bool {
        let mut state = self.write();
        let Some(tool) = state.tools.remove(name) else {
            return false;
        };
        // Runs that were to finish with an older definition of it do not outlive the revocation.
        state.superseded.retain(|(superseded, _), _| superseded != name);
        let definition = tool.spec.definition();
        state.changes.push(Change::Revoked { name: name.to_owned(), definition });
        true
    }

    /// The tool of this name, or nothing: never a default.
    pub fn get(&self, name: &str) -> Option<Arc<RegisteredTool>> {
        self.read().tools.get(name).cloned()
    }

    /// The tool that a run calls by this name. Both questions are answered before either refuses (C-5): is it in the run's
    /// set, and is it registered with the definition that the run was bound to?
    pub fn resolve(&self, name: &str, allowed: &AllowedTools) -> Result<Arc<RegisteredTool>, ResolveError> {
        let state = self.read();
        let registered = state.tools.get(name);
        match (registered, allowed.definition(name)) {
            (None, None) => Err(ResolveError::NotRegistered(name.to_owned())),
            (None, Some(_)) => Err(ResolveError::Revoked(name.to_owned())),
            (Some(tool), None) => Err(ResolveError::NotAllowed {
                name: name.to_owned(),
                version: tool.spec.version().to_owned(),
                source_of_set: allowed.source().to_owned(),
            }),
            (Some(tool), Some(bound)) if bound == tool.spec.definition() => Ok(Arc::clone(tool)),
            (Some(tool), Some(bound)) => match state.superseded.get(&(name.to_owned(), bound)) {
                Some(Superseded { tool: old, rule: ReplacementRule::Finish }) => Ok(Arc::clone(old)),
                Some(Superseded { rule: ReplacementRule::Migrate, .. }) => Ok(Arc::clone(tool)),
                Some(Superseded { rule: ReplacementRule::Stop, .. }) | None => Err(ResolveError::ContractMismatch {
                    name: name.to_owned(),
                    version: tool.spec.version().to_owned(),
                    bound,
                    registered: tool.spec.definition(),
                }),
            },
        }
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.read().tools.keys().cloned().collect()
    }

    /// Every tool, sorted by name.
    pub fn tools(&self) -> Vec<Arc<RegisteredTool>> {
        self.read().tools.values().cloned().collect()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.read().tools.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A new registry with some of the tools, handlers included; this one is unchanged. Names that do not
    /// exist are not in it.
    #[must_use]
    pub fn restrict_to<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let state = self.read();
        let tools = names
            .into_iter()
            .filter_map(|name| state.tools.get_key_value(name))
            .map(|(name, tool)| (name.clone(), Arc::clone(tool)))
            .collect();
        Self { rules: self.rules, state: RwLock::new(State { tools, ..State::default() }) }
    }

    /// What a model is shown: the allowed tools that exist with the definition that the run was bound to, sorted.
    pub fn definitions(&self, allowed: &AllowedTools) -> Vec<ToolDefinition> {
        allowed
            .names()
            .filter_map(|name| self.resolve(name, allowed).ok())
            .map(|tool| ToolDefinition {
                name: tool.spec.name().to_owned(),
                description: tool.spec.description().to_owned(),
                input_schema: tool.spec.input_schema().clone(),
            })
            .collect()
    }

    /// Both views of every tool, from one snapshot.
    pub fn describe(&self) -> Description {
        Description::of(self.read().tools.values().map(|tool| tool.spec()))
    }

    /// What happened so far, in order.
    pub fn changes(&self) -> Vec<Change> {
        self.read().changes.clone()
    }

    /// An executor that really dispatches every tool of this registry. Checks them all now, and reports all that have no
    /// handler (R-043…R-045); from now on a tool without one is not registered.
    pub fn executor(self: &Arc<Self>) -> Result<RegistryExecutor, MissingHandlers> {
        let mut state = self.write();
        let missing: Vec<String> = state
            .tools
            .values()
            .filter(|tool| tool.spec.handler().is_none())
            .map(|tool| tool.spec.name().to_owned())
            .collect();
        if !missing.is_empty() {
            return Err(MissingHandlers(missing));
        }
        state.handlers_required = true;
        drop(state);
        Ok(RegistryExecutor { registry: Arc::clone(self) })
    }

    fn admit(&self, spec: ToolSpec) -> Result<RegisteredTool, RegisterError> {
        check_name(spec.name())?;
        let refused = |which: &'static str, cause| RegisterError::Schema {
            tool: spec.name().to_owned(),
            which,
            cause: Box::new(cause),
        };
        let input = Schema::admit(spec.input_schema(), Role::Input, self.rules.unknown_fields)
            .map_err(|cause| refused("input", cause))?;
        let output = spec
            .output_schema()
            .map(|schema| Schema::admit(schema, Role::Output, UnknownFields::AsDeclared))
            .transpose()
            .map_err(|cause| refused("output", cause))?;
        Ok(RegisteredTool { spec, input, output })
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        // A panic while the lock was held left whole maps behind: every change is one insertion or removal.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert_new(&mut self, tool: RegisteredTool) -> Result<(), RegisterError> {
        self.check_handler(&tool)?;
        let name = tool.spec.name().to_owned();
        if let Some(existing) = self.tools.get(&name) {
            return Err(RegisterError::Duplicate {
                name,
                existing: existing.spec.source().to_owned(),
                refused: tool.spec.source().to_owned(),
            });
        }
        self.changes.push(Change::Registered { name: name.clone(), definition: tool.spec.definition() });
        self.tools.insert(name, Arc::new(tool));
        Ok(())
    }

    fn replace(&mut self, name: &str, tool: RegisteredTool, rule: ReplacementRule) -> Result<(), RegisterError> {
        self.check_handler(&tool)?;
        let to = tool.spec.definition();
        let Some(slot) = self.tools.get_mut(name) else {
            return Err(RegisterError::NothingToReplace(name.to_owned()));
        };
        let old = std::mem::replace(slot, Arc::new(tool));
        let from = old.spec.definition();
        if from != to {
            self.superseded.insert((name.to_owned(), from), Superseded { tool: old, rule });
        }
        self.changes.push(Change::Replaced { name: name.to_owned(), from, to, rule });
        Ok(())
    }

    fn check_handler(&self, tool: &RegisteredTool) -> Result<(), RegisterError> {
        if self.handlers_required && tool.spec.handler().is_none() {
            return Err(RegisterError::MissingHandler(tool.spec.name().to_owned()));
        }
        Ok(())
    }
}

/// Tool names are untrusted on the way in too: a name that cannot be seen or written plainly cannot be reviewed.
fn check_name(name: &str) -> Result<(), RegisterError> {
    let problem = if name.trim().is_empty() {
        "it is empty"
    } else if name.len() > 256 {
        "it is longer than 256 bytes"
    } else if name.trim() != name {
        "it begins or ends with white space"
    } else if lockgate_contract::approval::visible(name) != name {
        "it holds characters that cannot be seen"
    } else {
        return Ok(());
    };
    Err(RegisterError::Name { name: name.to_owned(), problem })
}

/// Dispatches to the handlers of one registry. Made by [`Registry::executor`] only, so its origin can be tested.
#[derive(Debug, Clone)]
pub struct RegistryExecutor {
    registry: Arc<Registry>,
}

impl RegistryExecutor {
    /// The registry that it was derived from.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }
}

#[cfg(test)]
mod tests;
