//! The ports: every place where the gate meets something that can be replaced.

mod actions;
mod artifacts;
mod caller;
mod clock;
mod counts;
mod hook;
mod journal;
mod model;
mod policy;
mod redactor;
mod upkeep;
mod visibility;

pub use actions::{ActionExecutor, ActionReport};
pub use artifacts::{ArtifactError, ArtifactStore};
pub use caller::{Caller, Report, Unanswered};
pub use clock::{Clock, Ids};
pub use counts::{CountReader, Counts};
pub use hook::{HookAnswer, HookedCall, VetoHook};
pub use journal::{
    Appended, ApprovalFilter, CallerKey, Claim, ClaimRefused, Count, Decision, DecisionRefused, Journal, JournalError,
    JournalLayer, KeyHolder, Lease, NewRun, Per, Quota, RunFilter, RunHold, RunRecord, Seen, Settling, StoredArtifact,
};
pub use model::{
    Delta, Heard, Message, MessageCall, ModelAdapter, ModelError, ModelRequest, ModelResponse, ProposedCall,
    ProviderItem, ToolDefinition, Usage,
};
pub use policy::{Approvers, Obligations, PolicyDecision, PolicyEngine, PolicyRequest, PolicyVerdict};
pub use redactor::{NoRedaction, Redactor};
pub use upkeep::{
    CallState, Compaction, JournalStats, KeptCall, KeptKey, KeptQuestion, KeptRun, Prune, Pruned, Upkeep, WhyKept,
};
pub use visibility::Visibility;

use std::future::Future;
use std::pin::Pin;

/// A boxed future that may move between threads: what the object-safe ports answer with.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
