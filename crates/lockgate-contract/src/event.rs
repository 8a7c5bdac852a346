//! The events of a run: what the journal holds, and all that a run's state is made of.

mod approval;
mod body;
mod chain;
mod data;
mod model;
mod run;
mod settled;
mod signature;
mod tool;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::approval::{ApprovalAgreed, ApprovalConsumed, ApprovalDecided, ApprovalEdited, ApprovalRequested};
pub use self::body::Body;
pub use self::chain::Chain;
pub use self::data::EventData;
pub use self::model::{ModelFailed, ModelRequested, ModelResponded, RespondedCall};
pub use self::run::{
    RunCancelled, RunCompleted, RunFailed, RunLeaseTaken, RunLimitReached, RunNeedsReconciliation, RunResumed,
    RunWaiting,
};
pub use self::settled::{Audit, CallReconciled, Finding, Settled, ToolAnsweredLate, ToolAttemptFailed};
pub use self::signature::{Sign, Signature, Signed, signed_with};
pub use self::tool::{ToolRelaxed, ToolRequested, ToolStarted};
use crate::digest::Digest;
use crate::document::DecodeError;
use crate::ids::{CallId, RunId};
use crate::time::Timestamp;

macro_rules! event_types {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $view:ident, $version:literal;)+) => {
        /// The type of an event. An unknown one is kept, never dropped (S-47).
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum EventType {
            $($(#[$doc])* $variant,)+
            /// A type that this version does not know.
            Other(String),
        }

        /// Every known type with its word, its view and its version, in the order of the catalogue.
        pub const CATALOGUE: &[(EventType, &str, View, u32)] = &[$((EventType::$variant, $word, View::$view, $version)),+];

        impl EventType {
            /// The word in the journal.
            pub fn word(&self) -> &str {
                match self { $(Self::$variant => $word,)+ Self::Other(word) => word }
            }

            /// The type with this word.
            pub fn from_word(word: &str) -> Self {
                match word { $($word => Self::$variant,)+ other => Self::Other(other.to_owned()) }
            }
        }
    };
}

/// Which views show an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The protocol view: what the model and its tools said to each other.
    Protocol,
    /// Only the whole journal.
    Journal,
}

event_types! {
    /// The run exists and is bound.
    RunStarted = "run.started", Journal, 1;
    /// The model is asked.
    ModelRequested = "model.requested", Protocol, 1;
    /// The model answered.
    ModelResponded = "model.responded", Protocol, 1;
    /// The model gave no usable answer.
    ModelFailed = "model.failed", Journal, 1;
    /// A call reached the gate.
    ToolRequested = "tool.requested", Protocol, 1;
    /// A proved-harmless call was relaxed from `ask` to `allow` (C-11).
    ToolRelaxed = "tool.relaxed", Journal, 1;
    /// A person is asked.
    ApprovalRequested = "approval.requested", Journal, 1;
    /// A person said yes, and others have to as well.
    ApprovalAgreed = "approval.agreed", Journal, 1;
    /// A person put other arguments in place of those that were asked about.
    ApprovalEdited = "approval.edited", Journal, 1;
    /// A person decided, or tried to.
    ApprovalDecided = "approval.decided", Journal, 1;
    /// The approval is used.
    ApprovalConsumed = "approval.consumed", Journal, 1;
    /// The intent: from here on the handler may have run.
    ToolStarted = "tool.started", Journal, 1;
    /// The call settled with data.
    ToolFinished = "tool.finished", Protocol, 1;
    /// The call settled without.
    ToolFailed = "tool.failed", Protocol, 1;
    /// An attempt failed, and the call is not settled by it: the run may try again.
    ToolAttemptFailed = "tool.attempt_failed", Journal, 1;
    /// The result of an attempt without which the call had gone on. It changes nothing.
    ToolAnsweredLate = "tool.answered_late", Journal, 1;
    /// It was found out what became of a call with an unknown effect.
    CallReconciled = "call.reconciled", Journal, 1;
    /// A person has to decide before the run goes on.
    RunWaiting = "run.waiting", Journal, 1;
    /// A driver took the run over: what an earlier one started and did not finish is lost.
    RunLeaseTaken = "run.lease_taken", Journal, 1;
    /// A driver took the run up again.
    RunResumed = "run.resumed", Journal, 1;
    /// The goal is reached, or the model gave its answer.
    RunCompleted = "run.completed", Protocol, 1;
    /// The run cannot go on.
    RunFailed = "run.failed", Journal, 1;
    /// A budget is used up.
    RunLimitReached = "run.limit_reached", Journal, 1;
    /// The run was cancelled.
    RunCancelled = "run.cancelled", Journal, 1;
    /// An effect is unknown and a person has to look.
    RunNeedsReconciliation = "run.needs_reconciliation", Journal, 1;
}

impl EventType {
    /// Whether the protocol view shows it.
    pub fn in_protocol_view(&self) -> bool {
        CATALOGUE.iter().any(|(known, _, view, _)| known == self && *view == View::Protocol)
    }

    /// Whether it says that something began which a refused claim did not begin.
    pub fn is_start(&self) -> bool {
        matches!(self, Self::ToolStarted | Self::ApprovalConsumed)
    }

    /// The version of the body that this build writes.
    pub fn version(&self) -> u32 {
        CATALOGUE.iter().find(|(known, ..)| known == self).map_or(1, |(.., version)| *version)
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_word(&String::deserialize(deserializer)?))
    }
}

/// One event as the journal holds it. `seq` counts 1, 2, 3… within the run, without gaps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    /// The version of `data` for this type.
    pub v: u32,
    /// The run.
    pub run_id: RunId,
    /// The place in the run.
    pub seq: u64,
    /// When the journal took it.
    pub at: Timestamp,
    /// The type.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The model turn, from zero.
    pub step: u32,
    /// The call, on tool and approval events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// The body, typed by `type` and `v`.
    pub data: EventData,
    /// What ties it to the events before it, where the events of its run are chained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Digest>,
}

impl Event {
    /// The typed body.
    pub fn body(&self) -> Result<Body, DecodeError> {
        self.data.body(&self.kind)
    }
}

/// An event that the journal has not numbered yet.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The type.
    pub kind: EventType,
    /// The model turn, from zero.
    pub step: u32,
    /// The call, on tool and approval events.
    pub call_id: Option<CallId>,
    /// The body.
    pub data: EventData,
}

impl NewEvent {
    /// An event of a body's own type.
    pub fn new(step: u32, call_id: Option<CallId>, body: Body) -> Self {
        Self { kind: body.kind(), step, call_id, data: body.into() }
    }

    /// The typed body.
    pub fn body(&self) -> Result<Body, DecodeError> {
        self.data.body(&self.kind)
    }

    /// The event under its number, signed where its body comes with a signer and it is a decision.
    pub fn numbered(self, run_id: RunId, seq: u64, at: Timestamp) -> Event {
        let mut event = Event {
            v: self.kind.version(),
            run_id,
            seq,
            at,
            kind: self.kind,
            step: self.step,
            call_id: self.call_id,
            data: self.data,
            hash: None,
        };
        if let Some(signer) = event.data.take_signer().filter(|_| event.is_decision())
            && let Some(signed) = event.signed(&*signer)
        {
            event.data.replace_text(signed);
        }
        event
    }
}

#[cfg(test)]
mod tests;
