//! The right to start an attempt of a call, and what stands against it.

use std::time::Duration;

use thiserror::Error;

use crate::approval::ApprovalState;
use crate::digest::Digest;
use crate::effect::Effect;
use crate::ids::{ApprovalId, CallId, RunId};
use crate::ports::{JournalError, Quota, Seen};

/// The right to start one attempt of one call.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The call.
    pub call_id: CallId,
    /// The model turn.
    pub step: u32,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The tool.
    pub tool_name: String,
    /// Its effect.
    pub effect: Effect,
    /// The digest of the arguments.
    pub arguments_digest: Digest,
    /// The key that is handed to the tool.
    pub idempotency_key: String,
    /// The approval to use, with the digest that must be bound.
    pub approval: Option<(ApprovalId, Digest)>,
    /// The caller's own key, which no other request of the tenant may have.
    pub caller_key: Option<CallerKey>,
    /// On whose behalf, as [`Subject::source`](crate::subject::Subject::source) says it.
    pub subject: String,
    /// How many calls like this one may be admitted. Counted and claimed in one step, so that calls that come at once are.
    pub quotas: Vec<Quota>,
    /// What its decision looked at. Counted again in the same step, so that it still holds when the call is admitted.
    pub seen: Vec<Seen>,
}

/// A caller's name for one request: the same key with the same request is the same effect, however often it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerKey {
    /// Whose key it is. Keys of different tenants never meet.
    pub tenant: String,
    /// The key.
    pub key: String,
    /// The digest of what is requested.
    pub request: Digest,
    /// How long the key is remembered.
    pub keep: Duration,
    /// The call that had the key for the same request and was never executed: it passes the key on.
    pub passed_on_by: Option<CallId>,
}

/// Who has a caller's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyHolder {
    /// The run of the call.
    pub run_id: RunId,
    /// The call that the key was first used for.
    pub call_id: CallId,
    /// The digest of what it requested.
    pub request: Digest,
}

/// Why a claim was not accepted. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClaimRefused {
    /// The approval cannot be used: where it stands instead of `granted`.
    #[error("the approval is {}", .0.word())]
    Approval(ApprovalState),
    /// There is no such approval, or it is bound to something else.
    #[error("the approval is bound to something else")]
    Stale,
    /// Somebody else started this attempt, or the call is settled.
    #[error("the call was already started or settled")]
    AlreadyClaimed,
    /// The caller's key belongs to an earlier call.
    #[error("the idempotency key belongs to call `{}`", .0.call_id)]
    KeyTaken(Box<KeyHolder>),
    /// As many calls as may be admitted have been.
    #[error("the quota `{0}` is used up")]
    Quota(String),
    /// Since the decision looked at it, a number has changed: it may be another decision by now.
    #[error("the count `{0}` has changed since the call was decided")]
    Changed(String),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}
