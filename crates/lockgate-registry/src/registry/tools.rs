//! The registered tools, in the two orders in which they are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::registry::RegisteredTool;

/// Every tool by its name, and again by its first scope: a subject without that scope sees none of them, so that discovery
/// looks at what a subject may see and not at everything (100,000 tools cost 10 ms to go through).
#[derive(Debug, Default)]
pub(super) struct Tools {
    by_name: ByName,
    /// INVARIANT: the same tools as `by_name`, and no empty shelf.
    by_first_scope: BTreeMap<Option<String>, ByName>,
}

type ByName = BTreeMap<String, Arc<RegisteredTool>>;

impl Tools {
    pub(super) fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.by_name.get(name)
    }

    /// All of them, sorted by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.by_name.values()
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Those whose first scope is among these, or that ask for none. In no order.
    pub(super) fn with_first_scope_in(&self, scopes: &BTreeSet<String>) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        let shelves = scopes.iter().filter_map(|scope| self.by_first_scope.get(&Some(scope.clone())));
        self.by_first_scope.get(&None).into_iter().chain(shelves).flat_map(BTreeMap::values)
    }

    /// Puts a tool in its places. The tool that had its name is returned.
    pub(super) fn insert(&mut self, tool: Arc<RegisteredTool>) -> Option<Arc<RegisteredTool>> {
        let name = tool.spec().name().to_owned();
        let old = self.remove(&name);
        self.by_first_scope.entry(first_scope(&tool)).or_default().insert(name.clone(), Arc::clone(&tool));
        self.by_name.insert(name, tool);
        old
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Arc<RegisteredTool>> {
        let tool = self.by_name.remove(name)?;
        let scope = first_scope(&tool);
        if let Some(shelf) = self.by_first_scope.get_mut(&scope) {
            shelf.remove(name);
            if shelf.is_empty() {
                self.by_first_scope.remove(&scope);
            }
        }
        Some(tool)
    }
}

impl FromIterator<Arc<RegisteredTool>> for Tools {
    fn from_iter<I: IntoIterator<Item = Arc<RegisteredTool>>>(tools: I) -> Self {
        let mut all = Self::default();
        for tool in tools {
            all.insert(tool);
        }
        all
    }
}

fn first_scope(tool: &RegisteredTool) -> Option<String> {
    tool.spec().scopes().first().cloned()
}
