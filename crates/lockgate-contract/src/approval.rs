//! A question put to a person, and the answer (R-167…R-174).

mod circumstances;
mod decider;
mod edit;
mod shown;

use serde::{Deserialize, Serialize};

pub use self::circumstances::Circumstances;
pub use self::decider::{NotEntitled, Proof, Yes, same};
pub use self::edit::{EditOf, holds_placeholder};
pub use self::shown::{shown_arguments, shown_text, visible};
use crate::digest::Digest;
use crate::document::Document;
use crate::effect::Effect;
use crate::ids::{ApprovalId, CallId, RunId};
use crate::ports::Approvers;
use crate::subject::Subject;
use crate::time::Timestamp;

/// Everything that an approval names: change any of it and the approval is void (architecture rule 6).
#[derive(Debug, Clone, Serialize)]
pub struct Binding<'a> {
    /// The arguments as they will run.
    pub arguments: &'a Document,
    /// Which attempt it is for: a further one needs a further approval. Absent for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The call.
    pub call_id: &'a CallId,
    /// What it would meet where it runs.
    #[serde(skip_serializing_if = "Circumstances::is_empty")]
    pub circumstances: &'a Circumstances,
    /// The digest of the tool's definition.
    pub definition: Digest,
    /// The tool's effect.
    pub effect: Effect,
    /// The run.
    pub run_id: &'a RunId,
    /// On whose behalf: tenant, user and agent.
    pub subject: [&'a str; 3],
    /// The tool.
    pub tool_name: &'a str,
}

impl<'a> Binding<'a> {
    /// The parts of a subject that an approval is bound to.
    pub fn subject(subject: &'a Subject) -> [&'a str; 3] {
        [&subject.tenant, &subject.user, &subject.agent]
    }

    /// The bound digest: SHA-256 over a version tag and the canonical JSON of these fields.
    pub fn digest(&self) -> Digest {
        // Only arguments at the very limit of depth cannot be wrapped once more; their text is bound as it stands.
        Document::from_serialize(self).map_or_else(
            |_| Digest::of_text("lockgate.approval.text.v1", &format!("{self:?}")),
            |document| Digest::of("lockgate.approval.v1", &document),
        )
    }
}

/// Where an approval stands. `expired` is judged by the store's clock whenever the record is read or used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// It is not decided yet.
    Pending,
    /// Everybody who had to say yes did; not used yet.
    Granted,
    /// Somebody said no.
    Denied,
    /// Its time ran out before it was used.
    Expired,
    /// It was used, once.
    Consumed,
    /// It was taken back.
    Withdrawn,
}

impl ApprovalState {
    /// The word in files and texts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Granted => "granted",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// The record of one question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub approval_id: ApprovalId,
    /// The run that waits.
    pub run_id: RunId,
    /// The call that would run.
    pub call_id: CallId,
    /// The model turn of the call.
    pub step: u32,
    /// Which attempt of the call, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub attempt: u32,
    /// The tool.
    pub tool_name: String,
    /// Its version.
    pub tool_version: String,
    /// Its definition digest.
    pub definition: Digest,
    /// The arguments, scrubbed of secrets.
    pub arguments: Document,
    /// The digest of the arguments as they will run.
    pub arguments_digest: Digest,
    /// What the call would meet where it runs, as it was when the question was asked.
    #[serde(default, skip_serializing_if = "Circumstances::is_empty")]
    pub circumstances: Circumstances,
    /// The tool's effect.
    pub effect: Effect,
    /// On whose behalf.
    pub tenant: String,
    /// On whose behalf.
    pub user: String,
    /// On whose behalf.
    pub agent: String,
    /// The exact text that a person is shown.
    pub shown_text: String,
    /// The bound digest.
    pub digest: Digest,
    /// Why it is asked, in the words of whoever wrote the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Whose yes it needs; absent: that of any one person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
    /// The question in whose place it stands, with other arguments, and who put it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<EditOf>,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// When it becomes too late.
    pub expires_at: Timestamp,
    /// Where it stands.
    pub state: ApprovalState,
    /// The yeses so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub yeses: Vec<Yes>,
    /// Who decided; of several, the last.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<Timestamp>,
    /// Why.
    pub reason: Option<String>,
    /// When it was used.
    pub consumed_at: Option<Timestamp>,
}

impl Approval {
    /// The state at a point in time: what is not settled by then is too late.
    pub fn state_at(&self, now: Timestamp) -> ApprovalState {
        match self.state {
            ApprovalState::Pending | ApprovalState::Granted if now >= self.expires_at => ApprovalState::Expired,
            state => state,
        }
    }
}

const fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_first(attempt: &u32) -> bool {
    *attempt == 1
}

#[cfg(test)]
mod tests;
