//! What a policy may know of a run.

use serde::{Deserialize, Serialize};

/// What a run did before a call, and what its budget has left for it. Worked out by the run's own state, from its events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunFacts {
    /// Its other calls that were started. Reads that are sent side by side count each other in request order.
    pub calls: u32,
    /// Those of them that may change something.
    pub actions: u32,
    /// Questions that people were asked.
    pub questions: u32,
    /// Model turns that may still come; absent where nothing bounds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_left: Option<u32>,
    /// How many more calls may be executed (`max_valid_actions`), this one included; absent where nothing bounds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions_left: Option<u32>,
    /// Questions that may still be asked; absent where nothing bounds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions_left: Option<u32>,
}
