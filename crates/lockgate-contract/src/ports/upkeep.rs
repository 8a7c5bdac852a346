//! The port for what is done with whole runs: they are moved to another journal, removed when they are old, and counted.
//! Whoever drives a run needs none of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::approval::{Approval, ApprovalState};
use crate::digest::Digest;
use crate::document::{DecodeError, Document};
use crate::event::Event;
use crate::ids::{ApprovalId, CallId, RunId};
use crate::ports::{BoxFuture, JournalError, StoredArtifact};
use crate::run::{RunKind, RunStatus};
use crate::time::Timestamp;

/// What a journal does with whole runs. Every method that is about a run is one atomic commit, or one snapshot.
pub trait Upkeep: Send + Sync {
    /// Everything that is stored of a run, as of one moment, also while somebody drives it.
    fn export_run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<KeptRun, JournalError>>;

    /// Puts a run into this journal as another one kept it: numbers, times and states stay what they are. Nobody drives it.
    ///
    /// Refuses a run that is there ([`JournalError::Exists`]; so does a question or a caller's live key that belongs to
    /// another run), and one that does not hold together ([`JournalError::Corrupt`]).
    fn import_run(&self, run: KeptRun) -> BoxFuture<'_, Result<(), JournalError>>;

    /// Removes a run with everything that hangs on it, unless something speaks against it. By the journal's own clock.
    fn prune_run(&self, prune: Prune) -> BoxFuture<'_, Result<Pruned, JournalError>>;

    /// Gives the room of what was removed back to the machine, where that is worth it; nothing where it is not, or where
    /// the store does it by itself. Others may have to wait for it.
    fn compact(&self) -> BoxFuture<'_, Result<Option<Compaction>, JournalError>>;

    /// Counts what there is, without reading a body of an event.
    fn stats(&self) -> BoxFuture<'_, Result<JournalStats, JournalError>>;
}

/// Everything that a journal keeps of one run.
#[derive(Debug, Clone)]
pub struct KeptRun {
    /// The run.
    pub run_id: RunId,
    /// Whose it is.
    pub tenant: String,
    /// What kind.
    pub kind: RunKind,
    /// What was asked, scrubbed: for lists.
    pub title: String,
    /// Where it stopped; `None` while a driver has it, or after one died.
    pub status: Option<RunStatus>,
    /// How often the right to drive it was taken.
    pub epoch: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last event came.
    pub updated_at: Timestamp,
    /// All of them, in order.
    pub events: Vec<Event>,
    /// In the order in which they were asked.
    pub questions: Vec<KeptQuestion>,
    /// By their ids.
    pub calls: Vec<KeptCall>,
    /// By their ids.
    pub artifacts: Vec<StoredArtifact>,
    /// The callers' keys that its calls were the first to use, by tenant and key.
    pub keys: Vec<KeptKey>,
}

/// A question as it is kept: what was asked never changes, the rest does.
#[derive(Debug, Clone)]
pub struct KeptQuestion {
    /// The question as it was asked: an [`Approval`] that nobody has decided, with every member that its writer knew.
    pub question: Document,
    /// Where it stands, whatever the time: never `Expired`.
    pub state: ApprovalState,
    /// Who decided.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<Timestamp>,
    /// Why.
    pub reason: Option<String>,
    /// When it was used.
    pub consumed_at: Option<Timestamp>,
}

impl KeptQuestion {
    /// The question with what became of it.
    ///
    /// # Errors
    ///
    /// What was asked cannot be read.
    pub fn approval(&self) -> Result<Approval, DecodeError> {
        let asked: Approval = self.question.decode()?;
        Ok(Approval {
            state: self.state,
            decided_by: self.decided_by.clone(),
            decided_at: self.decided_at,
            reason: self.reason.clone(),
            consumed_at: self.consumed_at,
            ..asked
        })
    }
}

/// What is kept of a call beside its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCall {
    /// The call.
    pub call_id: CallId,
    /// Where it stands.
    pub state: CallState,
    /// The last attempt that was started; 0 when the call settled without one.
    pub attempt: u32,
    /// What was said about the attempt when it was started; nothing about a call that settled without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Its effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// The digest of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_digest: Option<String>,
    /// The key that was handed to the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The approval that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
    /// On whose behalf it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// When the attempt was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When the call got its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<Timestamp>,
}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// An attempt was started, and has no result.
    Running,
    /// Its last attempt is known not to have happened: another one may start.
    Open,
    /// It has its result, and nobody knows what it changed.
    Unknown,
    /// It has its result.
    Settled,
}

impl CallState {
    /// Every state.
    pub const ALL: &[Self] = &[Self::Running, Self::Open, Self::Unknown, Self::Settled];

    /// The word in journals.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Open => "open",
            Self::Unknown => "unknown",
            Self::Settled => "settled",
        }
    }
}

/// A caller's key, and what it was first used for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptKey {
    /// Whose key it is.
    pub tenant: String,
    /// The key.
    pub key: String,
    /// The digest of what was requested.
    pub request: Digest,
    /// The call that it was first used for.
    pub call_id: CallId,
    /// Until when it is remembered, in milliseconds since the Unix epoch: it may lie beyond every calendar.
    pub expires_at_ms: i64,
}

/// Which run is to be removed, and what must hold for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prune {
    /// The run.
    pub run_id: RunId,
    /// How old its last event must be at least.
    pub older_than: Duration,
    /// The number of the last event that an archive has; a run that has another one by now is kept.
    pub last_seq: Option<u64>,
    /// Say what would be done, and remove nothing.
    pub dry_run: bool,
}

/// What became of a run that was to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruned {
    /// It is gone, or would be.
    Removed,
    /// It is kept.
    Kept(WhyKept),
}

/// Why a run is kept. The first that holds, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhyKept {
    /// Its last event is younger, or came after the archive was written.
    Recent,
    /// It is not closed: it can go on, or its driver died.
    Open,
    /// It waits for a person.
    Waiting,
    /// A person has to find out what happened.
    NeedsReconciliation,
    /// Somebody drives it.
    Driven,
    /// A question of it is open.
    OpenQuestion,
    /// Nobody knows what one of its calls has changed.
    UnknownEffect,
    /// A caller's key that it holds has not run out.
    LiveKey,
}

impl WhyKept {
    /// Every reason.
    pub const ALL: &[Self] = &[
        Self::Recent,
        Self::Open,
        Self::Waiting,
        Self::NeedsReconciliation,
        Self::Driven,
        Self::OpenQuestion,
        Self::UnknownEffect,
        Self::LiveKey,
    ];

    /// The stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::NeedsReconciliation => "needs_reconciliation",
            Self::Driven => "driven",
            Self::OpenQuestion => "open_question",
            Self::UnknownEffect => "unknown_effect",
            Self::LiveKey => "live_key",
        }
    }
}

/// What giving room back came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// The size before, in bytes.
    pub before: u64,
    /// The size afterwards.
    pub after: u64,
}

/// What there is in a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalStats {
    /// How many runs stand where; `None` for those that a driver has, or that were left by one that died.
    pub runs: Vec<(Option<RunStatus>, u64)>,
    /// How many events there are.
    pub events: u64,
    /// How many outputs are kept whole.
    pub artifacts: u64,
    /// Their bytes.
    pub artifact_bytes: u64,
    /// How many questions are open: asked and not decided, or granted and not used.
    pub open_questions: u64,
    /// How many calls have an effect that nobody knows.
    pub unknown_effects: u64,
    /// How many callers' keys are kept, also those that have run out.
    pub keys: u64,
    /// When the oldest run began.
    pub oldest: Option<Timestamp>,
    /// When the last event came.
    pub newest: Option<Timestamp>,
    /// How large it is, in bytes; nothing where it is nowhere on a disk.
    pub size_bytes: Option<u64>,
    /// The version of its schema; nothing where it has none.
    pub schema_version: Option<u32>,
}
