//! Where servers' tools go: into the registry of an assembly, while it is in use. The rules that decide follow first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_contract::ports::Redactor;
use lockgate_contract::tool::ToolSpec;
use lockgate_mcp::upstream::Shelf;
#[cfg(feature = "cedar")]
use lockgate_policy::cedar::CedarPolicy;
use lockgate_registry::{Registry, ReplacementRule};

use crate::assembly::check_shown;

/// What servers' tools are taken into.
pub(in crate::assembly) struct Live {
    pub(in crate::assembly) registry: Arc<Registry>,
    pub(in crate::assembly) redactor: Arc<dyn Redactor>,
    /// The rules that every tool is checked against before it is there.
    #[cfg(feature = "cedar")]
    pub(in crate::assembly) cedar: Option<Arc<CedarPolicy>>,
    /// The names that are each server's.
    pub(in crate::assembly) owned: BTreeMap<String, BTreeSet<String>>,
}

/// Takes tools in once there is something to take them into. Before, they are asked for.
#[derive(Default)]
pub(super) struct LiveShelf(Mutex<Option<Live>>);

impl LiveShelf {
    pub(super) fn go_live(&self, mut live: Live, tools: impl FnOnce() -> Vec<(String, Vec<ToolSpec>)>) {
        let mut place = self.lock();
        for (server, tools) in tools() {
            // What is refused now was refused before, and its reason is known.
            live.take(&server, tools);
        }
        *place = Some(live);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf for LiveShelf {
    fn put(&self, server: &str, tools: Vec<ToolSpec>) -> Vec<(String, String)> {
        self.lock().as_mut().map_or_else(Vec::new, |live| live.take(server, tools))
    }
}

impl Live {
    /// From now on these are the server's tools. Returns those that are not, and why.
    fn take(&mut self, server: &str, tools: Vec<ToolSpec>) -> Vec<(String, String)> {
        let before = self.owned.remove(server).unwrap_or_default();
        let (mut taken, mut left_out) = (BTreeSet::new(), Vec::new());
        let mut changed = Vec::new();
        for tool in tools {
            let name = tool.name().to_owned();
            let registered = self.registry.get(&name);
            let is_ours = before.contains(&name);
            match (&registered, check_shown(&tool, &*self.redactor)) {
                (_, Err(error)) => left_out.push((name, error.to_string())),
                (Some(other), Ok(())) if !is_ours => {
                    left_out.push((name, format!("a tool from {} has this name", other.spec().source())));
                }
                (Some(same), Ok(())) if same.spec().definition() == tool.definition() => drop(taken.insert(name)),
                (_, Ok(())) => changed.push(tool),
            }
        }
        let (agreed, refused) = self.agreed(changed);
        left_out.extend(refused);
        for tool in agreed {
            let name = tool.name().to_owned();
            let change = if self.registry.get(&name).is_some() {
                self.registry.replace(tool, ReplacementRule::Stop)
            } else {
                self.registry.register(tool)
            };
            match change {
                Ok(()) => drop(taken.insert(name)),
                Err(error) => left_out.push((name, error.to_string())),
            }
        }
        // An older definition does not stay in the place of one that was left out.
        for gone in before.difference(&taken) {
            self.registry.revoke(gone);
        }
        self.owned.insert(server.to_owned(), taken);
        left_out
    }

    /// Those of them that the rules can be about: the rules are in force for them before any of them is there.
    #[cfg(feature = "cedar")]
    fn agreed(&self, tools: Vec<ToolSpec>) -> (Vec<ToolSpec>, Vec<(String, String)>) {
        let Some(cedar) = self.cedar.as_ref().filter(|_| !tools.is_empty()) else { return (tools, Vec::new()) };
        let registered = self.registry.tools();
        let follow = |new: &[ToolSpec]| {
            let is_new = |name: &str| new.iter().any(|tool| tool.name() == name);
            let others = registered.iter().map(|tool| tool.spec()).filter(|spec| !is_new(spec.name()));
            cedar.follow(others.chain(new))
        };
        if follow(&tools).is_ok() {
            return (tools, Vec::new());
        }
        // One of them does not fit the rules: which, is found one by one.
        let (mut agreed, mut refused) = (Vec::new(), Vec::new());
        for tool in tools {
            let name = tool.name().to_owned();
            agreed.push(tool);
            if let Err(error) = follow(&agreed) {
                agreed.pop();
                refused.push((name, format!("the rules of `policy.files` do not fit it: {error}")));
            }
        }
        (agreed, refused)
    }

    #[cfg(not(feature = "cedar"))]
    #[expect(clippy::unused_self, reason = "with rules it depends on them")]
    fn agreed(&self, tools: Vec<ToolSpec>) -> (Vec<ToolSpec>, Vec<(String, String)>) {
        (tools, Vec::new())
    }
}

#[cfg(test)]
mod tests;
