//! The executor that a registry gives out.

use std::sync::Arc;

use crate::registry::Registry;

/// Dispatches to the handlers of one registry. Made by [`Registry::executor`] only, so its origin can be tested.
#[derive(Debug, Clone)]
pub struct RegistryExecutor {
    registry: Arc<Registry>,
}

impl RegistryExecutor {
    pub(super) fn of(registry: Arc<Registry>) -> Self {
        Self { registry }
    }

    /// The registry that it was derived from.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }
}
