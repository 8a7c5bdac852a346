//! The port to the durable truth. Every method is one intention and one atomic commit.

mod claim;
mod count;
mod layer;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use thiserror::Error;

pub use self::claim::{CallerKey, Claim, ClaimRefused, KeyHolder};
pub use self::count::{Count, Per, Quota, Seen};
pub use self::layer::JournalLayer;
use crate::approval::{Approval, ApprovalState, NotEntitled, Proof};
use crate::arguments::Arguments;
use crate::digest::Digest;
use crate::event::{Body, Event, NewEvent, Sign};
use crate::ids::{ApprovalId, ArtifactId, CallId, RunId};
use crate::ports::{BoxFuture, Upkeep};
use crate::run::{RunKind, RunStart, RunStatus};
use crate::time::Timestamp;

/// What an accepted append answers with: the events under their numbers.
pub type Appended = Vec<Event>;

/// Keeps events, calls, approvals and artifacts. It gives sequence numbers without gaps, stamps times with its own clock,
/// and judges by that clock whether an approval is too late.
///
/// Whoever drives a run writes with its [`Lease`]. The journal looks at the lease inside the commit that writes: a driver
/// that was paused until another one took its run over cannot write into it any more, and so cannot start anything.
pub trait Journal: Send + Sync {
    /// Makes a run with its first event. Its maker has the right to drive it.
    fn create_run(&self, run: NewRun) -> BoxFuture<'_, Result<(RunHold, Appended), JournalError>>;

    /// Takes the right to drive a run; nothing when somebody else has it. Writes `run.lease_taken`: whoever drove the run
    /// before is shut out from here on, and what was started and has no result is lost.
    fn hold<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunHold>, JournalError>>;

    /// Runs that somebody could drive on, longest unchanged first and at most so many: those that were made and not begun, those
    /// whose driver is gone, those about whose question something was decided or whose question ran out, and those whose
    /// unknown effects were all found out about. Looking takes nothing: who wants to drive one takes it with
    /// [`hold`](Self::hold), and another may have been faster.
    ///
    /// A run whose driver is alive may be among them where only its driver knows that it is.
    fn ready(&self, limit: u32) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>>;

    /// Adds events to a run.
    fn append<'a>(&'a self, lease: &'a Lease, events: Vec<NewEvent>) -> BoxFuture<'a, Result<Appended, JournalError>>;

    /// Opens a question together with its events. A question with this id must not exist, and it is about the leased run.
    fn ask<'a>(
        &'a self,
        lease: &'a Lease,
        approval: Approval,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>>;

    /// Writes the intent of a call, and uses its approval and its caller's key, in one commit. Once a claim is accepted the
    /// handler may run; a refused claim writes nothing.
    fn claim<'a>(
        &'a self,
        lease: &'a Lease,
        claim: Claim,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, ClaimRefused>>;

    /// Writes the one result of a call, with the artifact that holds the rest of it. A second one is refused with
    /// [`JournalError::AlreadySettled`].
    ///
    /// The result of an attempt that was started belongs to the attempt, not to the lease: a driver that lost its run may
    /// still say how its attempt ended. Where the call was settled as unknown meanwhile, that is written as
    /// `call.reconciled`; where it went on without this attempt, as `tool.answered_late`, which changes nothing.
    fn settle<'a>(
        &'a self,
        lease: &'a Lease,
        settling: Settling,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>>;

    /// Writes what was found out about a call whose effect is unknown.
    fn reconcile<'a>(
        &'a self,
        lease: &'a Lease,
        call: &'a CallId,
        events: Vec<NewEvent>,
    ) -> BoxFuture<'a, Result<Appended, JournalError>>;

    /// Who has a caller's key; nothing once it is forgotten.
    fn key_holder<'a>(
        &'a self,
        tenant: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<KeyHolder>, JournalError>>;

    /// How many calls were admitted by now, for each of these counts: of the run, on behalf of the subject, of the run's tenant.
    /// The call that is asked for is none of them.
    fn admitted<'a>(
        &'a self,
        run: &'a RunId,
        call: &'a CallId,
        subject: &'a str,
        counts: &'a [Count],
    ) -> BoxFuture<'a, Result<Vec<u64>, JournalError>>;

    /// Decides a question, and records the decision in its run. A yes decides it once enough different people said it. Answers
    /// with the question, or with the one that an edit puts in its place.
    fn decide(&self, decision: Decision) -> BoxFuture<'_, Result<Approval, DecisionRefused>>;

    /// One question, with its state as of now.
    fn approval<'a>(&'a self, approval: &'a ApprovalId) -> BoxFuture<'a, Result<Option<Approval>, JournalError>>;

    /// Questions, oldest first, with their states as of now.
    fn approvals(&self, filter: ApprovalFilter) -> BoxFuture<'_, Result<Vec<Approval>, JournalError>>;

    /// One run.
    fn run<'a>(&'a self, run: &'a RunId) -> BoxFuture<'a, Result<Option<RunRecord>, JournalError>>;

    /// Runs, newest first.
    fn runs(&self, filter: RunFilter) -> BoxFuture<'_, Result<Vec<RunRecord>, JournalError>>;

    /// The events of a run after `after`, in order; 0 reads them all.
    fn events<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>>;

    /// The events of a run after `after`, as soon as there is one: waits as long as there is none. Each event is answered once
    /// to whoever asks next for those after the last one that he got.
    ///
    /// Runs of the same journal value are heard of at once; what another process wrote is, at the latest, a second after.
    fn follow<'a>(&'a self, run: &'a RunId, after: u64) -> BoxFuture<'a, Result<Vec<Event>, JournalError>>;

    /// The text of an artifact of a run.
    fn artifact<'a>(
        &'a self,
        run: &'a RunId,
        artifact: &'a ArtifactId,
    ) -> BoxFuture<'a, Result<Option<String>, JournalError>>;

    /// One line a fact, for `lockgate doctor`: where it is, what it promises, which schema version.
    fn describe(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, JournalError>>;

    /// What is done with whole runs: moving, removing, counting them.
    fn upkeep(&self) -> &dyn Upkeep;
}

/// Which driver of a run writes: the run, and how often the right to drive it was taken. The higher epoch shuts out the
/// lower ones (a fencing token).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run_id: RunId,
    /// 1 for the maker of the run, one more for each driver after it.
    pub epoch: u64,
}

impl Lease {
    /// The lease of the one who makes the run.
    pub fn first(run_id: RunId) -> Self {
        Self { run_id, epoch: 1 }
    }
}

/// A lease stands for its run wherever one is read.
impl Deref for Lease {
    type Target = RunId;

    fn deref(&self) -> &RunId {
        &self.run_id
    }
}

/// The right to drive a run. It ends with this value, and with the process that holds it, however that ends.
pub struct RunHold {
    lease: Lease,
    signs: bool,
    _kept: Box<dyn Send + Sync>,
}

impl RunHold {
    /// A right that ends when `kept` is dropped.
    pub fn new(lease: Lease, kept: impl Send + Sync + 'static) -> Self {
        Self { lease, signs: false, _kept: Box::new(kept) }
    }

    /// The same right, through a journal that signs what is decided in the run.
    #[must_use]
    pub fn signed(self) -> Self {
        Self { signs: true, ..self }
    }

    /// Whether what is decided in the run is signed.
    pub fn signs(&self) -> bool {
        self.signs
    }

    /// What to write with.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }
}

impl fmt::Debug for RunHold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("RunHold").field(&self.lease).finish()
    }
}

/// A run that does not exist yet.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id.
    pub run_id: RunId,
    /// Whose it is.
    pub tenant: String,
    /// What kind.
    pub kind: RunKind,
    /// What was asked, scrubbed: for lists.
    pub title: String,
    /// Whether each event carries a hash over itself and the one before it.
    pub chained: bool,
    /// `run.started`.
    pub started: NewEvent,
}

impl NewRun {
    /// The run that starts like this: its tenant, kind and title are those of its start.
    pub fn new(run_id: RunId, start: RunStart) -> Self {
        Self {
            run_id,
            tenant: start.subject.tenant.clone(),
            kind: start.kind,
            title: start.task.clone().unwrap_or_default(),
            chained: start.chained,
            started: NewEvent::new(0, None, Body::RunStarted(Box::new(start))),
        }
    }
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Its id.
    pub run_id: RunId,
    /// Whose it is.
    pub tenant: String,
    /// What kind.
    pub kind: RunKind,
    /// What was asked.
    pub title: String,
    /// Where it stopped; `None` while a driver has it, or after one died.
    pub status: Option<RunStatus>,
    /// The number of its last event.
    pub last_seq: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last event came.
    pub updated_at: Timestamp,
    /// The hash of its last event, where its events are chained.
    pub head: Option<Digest>,
}

/// Which result is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settling {
    /// The call.
    pub call_id: CallId,
    /// The attempt that ended so; 0 for a call that is settled without one.
    pub attempt: u32,
    /// Nobody waited for it any more: where the call has its result, this one is `tool.answered_late`.
    pub late: bool,
    /// The whole scrubbed output, where the result holds a part of it.
    pub artifact: Option<StoredArtifact>,
}

/// What a person says to a question.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The question.
    pub approval_id: ApprovalId,
    /// `Granted`, `Denied` or `Withdrawn`.
    pub answer: ApprovalState,
    /// Who says so.
    pub by: String,
    /// Why. It is stored as it is: whoever takes the decision has taken secrets out.
    pub reason: Option<String>,
    /// The digest that the person was shown; compared when given.
    pub digest: Option<Digest>,
    /// Who signs the decision, where it is signed.
    pub signer: Option<Arc<dyn Sign>>,
    /// The roles that they have, as the operator says: never as they say themselves.
    pub roles: Vec<String>,
    /// How they proved who they are.
    pub proof: Proof,
    /// The user on whose behalf a program decides; absent where a person decides for themselves.
    pub acts_for: Option<String>,
    /// A yes to these arguments in place of those that were asked about. Stored as they are.
    pub edit: Option<Arguments>,
}

impl Decision {
    /// What somebody of this name says, with no role, no reason and no proof of who they are.
    pub fn new(approval_id: ApprovalId, answer: ApprovalState, by: impl Into<String>) -> Self {
        Self {
            approval_id,
            answer,
            by: by.into(),
            reason: None,
            digest: None,
            roles: Vec::new(),
            proof: Proof::Claimed,
            acts_for: None,
            edit: None,
            signer: None,
        }
    }
}

/// Why a decision was not taken. The attempt is recorded in the run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecisionRefused {
    /// No such question.
    #[error("there is no approval `{0}`")]
    NotFound(ApprovalId),
    /// It does not wait for a decision.
    #[error("approval `{approval}` is {}: it takes no decision any more", .state.word())]
    NotOpen {
        /// The question.
        approval: ApprovalId,
        /// Where it stands.
        state: ApprovalState,
    },
    /// The person was shown something else.
    #[error("approval `{0}` is bound to another digest than the one given")]
    Digest(ApprovalId),
    /// It is not theirs to decide.
    #[error("`{by}` cannot decide approval `{approval}`: {}", .why.sentence())]
    NotEntitled {
        /// The question.
        approval: ApprovalId,
        /// Who tried to.
        by: String,
        /// Why not.
        why: NotEntitled,
    },
    /// The arguments that were to stand in place of others cannot run. Nothing was recorded.
    #[error("the edit of approval `{approval}` cannot run: {detail}")]
    Edit {
        /// The question.
        approval: ApprovalId,
        /// Why not.
        detail: String,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The whole scrubbed output of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredArtifact {
    /// Its handle.
    pub artifact_id: ArtifactId,
    /// Its text.
    pub text: String,
}

/// Which questions.
#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    /// Of this run only.
    pub run_id: Option<RunId>,
    /// In this state only.
    pub state: Option<ApprovalState>,
}

/// Which runs.
#[derive(Debug, Clone)]
pub struct RunFilter {
    /// That stopped like this only.
    pub status: Option<RunStatus>,
    /// At most so many.
    pub limit: u32,
}

impl Default for RunFilter {
    fn default() -> Self {
        Self { status: None, limit: 50 }
    }
}

/// Why the journal did not do it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JournalError {
    /// It is not there, full, locked or broken: nothing was written.
    #[error("the journal is not available: {0}")]
    Unavailable(String),
    /// Nobody knows whether it was written: read before deciding.
    #[error("it is not known whether the journal took the write: {0}")]
    CommitUnknown(String),
    /// No such run.
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    /// A run, question or call with this id exists.
    #[error("`{0}` exists already")]
    Exists(String),
    /// The call has its one result.
    #[error("call `{0}` has its result already")]
    AlreadySettled(CallId),
    /// Another driver has taken the run over: this one writes nothing any more.
    #[error("run `{run}` was taken over by another driver")]
    Fenced {
        /// The run.
        run: RunId,
    },
    /// The call's effect is not unknown: there is nothing to find out.
    #[error("call `{0}` has no unknown effect to reconcile")]
    NothingToReconcile(CallId),
    /// What is stored cannot be read.
    #[error("the journal holds something unreadable: {0}")]
    Corrupt(String),
    /// It was written by a newer version.
    #[error("the journal has schema version {found}, and this program knows up to {known}: use a newer lockgate")]
    TooNew {
        /// Its version.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
}

impl JournalError {
    /// The journal is not available, because of this.
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Self::Unavailable(cause.to_string())
    }
}
