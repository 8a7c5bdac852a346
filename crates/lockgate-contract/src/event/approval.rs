//! A question to a person, its answer, and its use.

use serde::{Deserialize, Serialize};

use crate::approval::{Circumstances, Proof};
use crate::digest::Digest;
use crate::effect::Effect;
use crate::ids::ApprovalId;
use crate::ports::Approvers;
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
    /// Why, in the words of whoever wrote the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Whose yes it needs; absent: that of any one person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
    /// What the call would meet where it runs.
    #[serde(default, skip_serializing_if = "Circumstances::is_empty")]
    pub circumstances: Circumstances,
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
    /// Their roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// How they proved who they are; absent where they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// A person said yes, and others have to as well.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovalAgreed {
    /// The question.
    pub approval_id: ApprovalId,
    /// Who.
    pub agreed_by: String,
    /// Their roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// How they proved who they are.
    pub proof: Proof,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many yeses are still missing.
    pub missing: u32,
}

/// A person put other arguments in place of those that were asked about: another question stands in place of the one before.
/// Who said yes to that said it to something else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovalEdited {
    /// The question before. Nothing runs under it any more.
    pub approval_id: ApprovalId,
    /// The question that stands in its place.
    pub edited_as: ApprovalId,
    /// What that one binds.
    pub digest: Digest,
    /// The arguments that it is about, as they will run.
    pub arguments_text: String,
    /// Their digest.
    pub arguments_digest: Digest,
    /// Who.
    pub edited_by: String,
    /// Their roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// How they proved who they are.
    pub proof: Proof,
}

/// The approval is used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApprovalConsumed {
    /// The question.
    pub approval_id: ApprovalId,
    /// The bound digest that was compared.
    pub digest: Digest,
}
