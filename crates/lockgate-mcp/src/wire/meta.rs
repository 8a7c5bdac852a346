//! What travels beside the parameters and results: the members of `_meta`.

use lockgate_contract::document::{Document, Node};

use super::Edit;

/// Keys of `_meta` that the protocol defines.
pub mod key {
    /// The version of a modern request.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the sender of a modern request can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who sent a modern request, for display only.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Who answers, for display only.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// From which level on a modern request wants log messages.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The `subscriptions/listen` request that a message belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The token under which a request's progress is reported.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The task that a legacy message belongs to.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// The extension of long-running calls.
    pub const TASKS: &str = "io.modelcontextprotocol/tasks";
}

/// Whether a key is the protocol's own: the second label of its prefix is `modelcontextprotocol` or `mcp`. Such keys belong to one
/// hop, and are never passed on.
pub fn is_reserved(key: &str) -> bool {
    let Some((prefix, _)) = key.split_once('/') else { return key == key::PROGRESS_TOKEN };
    matches!(prefix.split('.').nth(1), Some("modelcontextprotocol" | "mcp"))
}

/// Whether a client with these capabilities follows tasks.
pub fn follows_tasks(capabilities: Node<'_>) -> bool {
    capabilities.get("extensions").is_some_and(|extensions| extensions.get(key::TASKS).is_some())
}

/// `_meta` without what belongs to one hop; nothing where nothing is left.
pub fn without_reserved(meta: Node<'_>) -> Option<Document> {
    let mut rest = Edit::of(meta);
    rest.retain(|key| !is_reserved(key));
    (!rest.is_empty()).then(|| rest.document())
}
