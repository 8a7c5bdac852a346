//! A question to a person, its answer, and its use.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::effect::Effect;
use crate::ids::ApprovalId;
use crate::time::Timestamp;

/// A person is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The question.
    pub approval_id: ApprovalId,
    /// The tool.
    pub tool_name: String,
    /// Its version.
    pub tool_version: String,
    /// The tool's effect.
    pub effect: Effect,
    /// The bound digest.
    pub digest: Digest,
    /// When it becomes too late.
    pub expires_at: Timestamp,
    /// Why a person is asked.
    pub reason: String,
    /// The policies that said so.
    pub policies: Vec<String>,
}

/// A person decided, or tried to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovalDecided {
    /// The question.
    pub approval_id: ApprovalId,
    /// `granted`, `denied`, `withdrawn`, or `refused` when the decision itself was not taken.
    pub decision: String,
    /// Who.
    pub decided_by: String,
    /// Why; for a refused decision, what was wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The approval is used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovalConsumed {
    /// The question.
    pub approval_id: ApprovalId,
    /// The bound digest that was compared.
    pub digest: Digest,
}
