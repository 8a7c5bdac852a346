//! Why a run cannot be driven, or its events not be read.

use lockgate_contract::ids::{ApprovalId, CallId, RunId};
use lockgate_contract::ports::JournalError;
use thiserror::Error;

/// Why the driver stopped without a stop state. The run is as the journal has it, and can be resumed.
#[derive(Debug, Clone, Error)]
pub enum RunError {
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal's events do not make a run.
    #[error("run `{run}` cannot be read: {cause}")]
    Fold {
        /// The run.
        run: RunId,
        /// What is wrong.
        #[source]
        cause: FoldError,
    },
    /// A call came out of the gate without being in the journal.
    #[error("the result of call `{call}` could not be recorded: {detail}")]
    NotRecorded {
        /// The call.
        call: CallId,
        /// What the gate said.
        detail: String,
    },
    /// Somebody else drives the run.
    #[error("run `{0}` is being driven by another process")]
    Busy(RunId),
    /// What is decided in the run is signed, and this driver has no key.
    #[error("the decisions of run `{run}` are signed with the key `{key}`: who drives it on signs with it, too")]
    Signed {
        /// The run.
        run: RunId,
        /// The public key.
        key: String,
    },
    /// An agent's run needs a model.
    #[error("run `{0}` needs a model to go on")]
    NoModel(RunId),
    /// There is no such question.
    #[error("there is no approval `{0}`")]
    NoSuchApproval(ApprovalId),
    /// The call's effect is known.
    #[error("call `{0}` has no unknown effect: there is nothing to reconcile")]
    NothingUnknown(CallId),
    /// The run is of another kind than the caller thinks.
    #[error("run `{run}` {what}")]
    WrongKind {
        /// The run.
        run: RunId,
        /// What it is.
        what: &'static str,
    },
}

/// Why an event does not fit behind the ones before it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FoldError {
    /// A number is missing or doubled.
    #[error("event {found} stands where event {expected} should")]
    Sequence {
        /// The number that was due.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The first event is something else than `run.started`, or a later one is.
    #[error("event {seq} of type `{kind}` stands in the wrong place")]
    Misplaced {
        /// Its number.
        seq: u64,
        /// Its type.
        kind: String,
    },
    /// The event names a call that nobody requested.
    #[error("event {seq} is about call `{call}`, which nobody requested")]
    UnknownCall {
        /// Its number.
        seq: u64,
        /// The call.
        call: String,
    },
    /// The call has its one result already.
    #[error("event {seq} settles call `{call}` a second time")]
    SettledTwice {
        /// Its number.
        seq: u64,
        /// The call.
        call: CallId,
    },
    /// The body is not what the type promises.
    #[error("event {seq} of type `{kind}` cannot be read: {detail}")]
    Body {
        /// Its number.
        seq: u64,
        /// Its type.
        kind: String,
        /// What is wrong.
        detail: String,
    },
    /// A type that steers runs and that this version does not know.
    #[error("event {seq} of type `{kind}` was written by a newer version: use a newer lockgate")]
    NeedsNewerVersion {
        /// Its number.
        seq: u64,
        /// Its type.
        kind: String,
    },
}
