//! The events of a run: what the journal holds, and all that a run's state is made of.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest::Digest;
use crate::document::{DecodeError, Document};
use crate::effect::{Effect, EffectState};
use crate::ids::{ApprovalId, CallId, ErrorId, RunId};
use crate::outcome::{Outcome, Status};
use crate::ports::Usage;
use crate::result::{Meta, ToolResult};
use crate::run::{Budget, CompletedBy, Limit, RunStart};
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
    /// A person has to decide before the run goes on.
    RunWaiting = "run.waiting", Journal, 1;
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
        CATALOGUE
            .iter()
            .any(|(known, _, view, _)| known == self && *view == View::Protocol)
    }

    /// Whether it says that something began which a refused claim did not begin.
    pub fn is_start(&self) -> bool {
        matches!(self, Self::ToolStarted | Self::ApprovalConsumed)
    }

    /// The version of the body that this build writes.
    pub fn version(&self) -> u32 {
        CATALOGUE
            .iter()
            .find(|(known, ..)| known == self)
            .map_or(1, |(.., version)| *version)
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
    pub data: Document,
}

impl Event {
    /// The typed body.
    pub fn body(&self) -> Result<Body, DecodeError> {
        Ok(match &self.kind {
            EventType::RunStarted => Body::RunStarted(Box::new(self.data.decode()?)),
            EventType::ModelRequested => Body::ModelRequested(self.data.decode()?),
            EventType::ModelResponded => Body::ModelResponded(self.data.decode()?),
            EventType::ModelFailed => Body::ModelFailed(self.data.decode()?),
            EventType::ToolRequested => Body::ToolRequested(self.data.decode()?),
            EventType::ToolRelaxed => Body::ToolRelaxed(self.data.decode()?),
            EventType::ApprovalRequested => Body::ApprovalRequested(self.data.decode()?),
            EventType::ApprovalDecided => Body::ApprovalDecided(self.data.decode()?),
            EventType::ApprovalConsumed => Body::ApprovalConsumed(self.data.decode()?),
            EventType::ToolStarted => Body::ToolStarted(self.data.decode()?),
            EventType::ToolFinished | EventType::ToolFailed => Body::Settled(Box::new(self.data.decode()?)),
            EventType::RunWaiting => Body::RunWaiting(self.data.decode()?),
            EventType::RunResumed => Body::RunResumed(self.data.decode()?),
            EventType::RunCompleted => Body::RunCompleted(self.data.decode()?),
            EventType::RunFailed => Body::RunFailed(self.data.decode()?),
            EventType::RunLimitReached => Body::RunLimitReached(self.data.decode()?),
            EventType::RunCancelled => Body::RunCancelled(self.data.decode()?),
            EventType::RunNeedsReconciliation => Body::RunNeedsReconciliation(self.data.decode()?),
            EventType::Other(_) => Body::Unknown,
        })
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
    pub data: Document,
}

impl NewEvent {
    /// An event of a body's own type.
    pub fn new(step: u32, call_id: Option<CallId>, body: &Body) -> Self {
        let kind = body.kind();
        // INVARIANT: bodies hold strings, numbers and parsed documents, and those always serialise.
        let data = body.document();
        Self {
            kind,
            step,
            call_id,
            data,
        }
    }

    /// The event under its number.
    pub fn numbered(self, run_id: RunId, seq: u64, at: Timestamp) -> Event {
        Event {
            v: self.kind.version(),
            run_id,
            seq,
            at,
            kind: self.kind,
            step: self.step,
            call_id: self.call_id,
            data: self.data,
        }
    }
}

/// A typed body.
#[derive(Debug, Clone)]
pub enum Body {
    /// `run.started`
    RunStarted(Box<RunStart>),
    /// `model.requested`
    ModelRequested(ModelRequested),
    /// `model.responded`
    ModelResponded(ModelResponded),
    /// `model.failed`
    ModelFailed(ModelFailed),
    /// `tool.requested`
    ToolRequested(ToolRequested),
    /// `tool.relaxed`
    ToolRelaxed(ToolRelaxed),
    /// `approval.requested`
    ApprovalRequested(ApprovalRequested),
    /// `approval.decided`
    ApprovalDecided(ApprovalDecided),
    /// `approval.consumed`
    ApprovalConsumed(ApprovalConsumed),
    /// `tool.started`
    ToolStarted(ToolStarted),
    /// `tool.finished` when `ok`, else `tool.failed`
    Settled(Box<Settled>),
    /// `run.waiting`
    RunWaiting(RunWaiting),
    /// `run.resumed`
    RunResumed(RunResumed),
    /// `run.completed`
    RunCompleted(RunCompleted),
    /// `run.failed`
    RunFailed(RunFailed),
    /// `run.limit_reached`
    RunLimitReached(RunLimitReached),
    /// `run.cancelled`
    RunCancelled(RunCancelled),
    /// `run.needs_reconciliation`
    RunNeedsReconciliation(RunNeedsReconciliation),
    /// A type that this version does not know.
    Unknown,
}

impl Body {
    /// The type of an event with this body.
    pub fn kind(&self) -> EventType {
        match self {
            Self::RunStarted(_) => EventType::RunStarted,
            Self::ModelRequested(_) => EventType::ModelRequested,
            Self::ModelResponded(_) => EventType::ModelResponded,
            Self::ModelFailed(_) => EventType::ModelFailed,
            Self::ToolRequested(_) => EventType::ToolRequested,
            Self::ToolRelaxed(_) => EventType::ToolRelaxed,
            Self::ApprovalRequested(_) => EventType::ApprovalRequested,
            Self::ApprovalDecided(_) => EventType::ApprovalDecided,
            Self::ApprovalConsumed(_) => EventType::ApprovalConsumed,
            Self::ToolStarted(_) => EventType::ToolStarted,
            Self::Settled(settled) if settled.ok => EventType::ToolFinished,
            Self::Settled(_) => EventType::ToolFailed,
            Self::RunWaiting(_) => EventType::RunWaiting,
            Self::RunResumed(_) => EventType::RunResumed,
            Self::RunCompleted(_) => EventType::RunCompleted,
            Self::RunFailed(_) => EventType::RunFailed,
            Self::RunLimitReached(_) => EventType::RunLimitReached,
            Self::RunCancelled(_) => EventType::RunCancelled,
            Self::RunNeedsReconciliation(_) => EventType::RunNeedsReconciliation,
            Self::Unknown => EventType::Other(String::new()),
        }
    }

    fn document(&self) -> Document {
        let document = match self {
            Self::RunStarted(body) => Document::from_serialize(body),
            Self::ModelRequested(body) => Document::from_serialize(body),
            Self::ModelResponded(body) => Document::from_serialize(body),
            Self::ModelFailed(body) => Document::from_serialize(body),
            Self::ToolRequested(body) => Document::from_serialize(body),
            Self::ToolRelaxed(body) => Document::from_serialize(body),
            Self::ApprovalRequested(body) => Document::from_serialize(body),
            Self::ApprovalDecided(body) => Document::from_serialize(body),
            Self::ApprovalConsumed(body) => Document::from_serialize(body),
            Self::ToolStarted(body) => Document::from_serialize(body),
            Self::Settled(body) => Document::from_serialize(body),
            Self::RunWaiting(body) => Document::from_serialize(body),
            Self::RunResumed(body) => Document::from_serialize(body),
            Self::RunCompleted(body) => Document::from_serialize(body),
            Self::RunFailed(body) => Document::from_serialize(body),
            Self::RunLimitReached(body) => Document::from_serialize(body),
            Self::RunCancelled(body) => Document::from_serialize(body),
            Self::RunNeedsReconciliation(body) => Document::from_serialize(body),
            Self::Unknown => Ok(Document::null()),
        };
        document.unwrap_or_else(|_| Document::null())
    }
}

/// The model is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelRequested {
    /// Messages in the history.
    pub messages: u64,
    /// Tools that the model is shown.
    pub tools: u64,
}

/// The whole assistant message, so that calls and results can be paired and the run replayed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelResponded {
    /// Text beside the calls.
    pub text: Option<String>,
    /// The calls, under the ids that the harness made in this very commit.
    pub calls: Vec<RespondedCall>,
    /// Tokens read, where counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written, where counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

impl ModelResponded {
    /// With token counts.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.input_tokens = usage.input_tokens;
        self.output_tokens = usage.output_tokens;
        self
    }
}

/// The model gave no usable answer. One attempt, one event; nobody retries behind it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelFailed {
    /// The stable word of [`ModelError::code`](crate::ports::ModelError::code).
    pub reason: String,
    /// For people, scrubbed.
    pub detail: String,
}

/// One call of a model turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RespondedCall {
    /// The harness's id.
    pub call_id: CallId,
    /// The provider's id, as it came.
    pub provider_call_id: String,
    /// The name as written.
    pub tool_name: String,
    /// The raw argument text, scrubbed of secrets.
    pub arguments_text: String,
    /// A secret was taken out of the argument text: it is not what the model sent, and is never run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// A call reached the gate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolRequested {
    /// The name as written.
    pub tool_name: String,
    /// The call inside which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<CallId>,
    /// The raw argument text, scrubbed, for runs without a model turn to read it from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_text: Option<String>,
}

/// A proved-harmless call was relaxed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolRelaxed {
    /// The tool.
    pub tool_name: String,
    /// What was declared.
    pub from: crate::effect::Permission,
    /// What it became.
    pub to: crate::effect::Permission,
}

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

/// The intent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolStarted {
    /// The tool.
    pub tool_name: String,
    /// Its version.
    pub tool_version: String,
    /// Its effect.
    pub effect: Effect,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Its definition digest.
    pub definition: Digest,
    /// The digest of the arguments.
    pub arguments_digest: Digest,
    /// The policies that let it pass.
    pub policies: Vec<String>,
}

/// The call is settled. The model's text and the audit's text are separate fields.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settled {
    /// The name as it was called.
    pub tool_name: String,
    /// The version, as the caller may see it.
    pub tool_version: Option<String>,
    /// Whether it succeeded.
    pub ok: bool,
    /// The code of a failure.
    pub code: Option<Outcome>,
    /// The stable word that says more.
    pub reason: Option<String>,
    /// What the run counts it by.
    pub status: Status,
    /// What is known about the world.
    pub effect_state: EffectState,
    /// The output, scrubbed and limited.
    pub data: Option<Document>,
    /// The sentence for the model, with a failure.
    pub message: Option<String>,
    /// Advice.
    pub retryable: bool,
    /// What is not the tool's answer.
    #[serde(default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
    /// The environment itself reported completion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub env_reported_completion: bool,
    /// For people, scrubbed: the whole truth.
    pub audit: Audit,
}

/// The truth about a call, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// The true reason, such as `not_registered` or `not_allowed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The executor's own sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The registered version, also where the model may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<String>,
    /// The definition digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Digest>,
    /// The digest of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_digest: Option<Digest>,
    /// What the policy answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// The policies that determined it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// The approval that was asked for or used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
}

impl Settled {
    /// What the model is told: the data, or code, reason, message and error id.
    pub fn model_content(&self) -> Document {
        #[derive(Serialize)]
        struct Failure<'a> {
            code: &'a Outcome,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'a str>,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            error_id: Option<&'a ErrorId>,
        }
        match (&self.code, &self.data) {
            (None, Some(data)) => data.clone(),
            (None, None) => Document::null(),
            // INVARIANT: words and strings always serialise.
            (Some(code), _) => Document::from_serialize(&Failure {
                code,
                reason: self.reason.as_deref(),
                message: self.message.as_deref().unwrap_or_default(),
                error_id: self.meta.error_id.as_ref(),
            })
            .unwrap_or_else(|_| Document::null()),
        }
    }

    /// The result of the call in its wire shape.
    pub fn result(&self, call_id: &CallId) -> ToolResult {
        ToolResult {
            call_id: call_id.clone(),
            tool_name: self.tool_name.clone(),
            tool_version: self.tool_version.clone(),
            ok: self.ok,
            data: self.data.clone(),
            error: self.code.clone().map(|code| crate::result::ToolError {
                code,
                reason: self.reason.clone(),
                message: self.message.clone().unwrap_or_default(),
                retryable: self.retryable,
            }),
            meta: self.meta.clone(),
        }
    }
}

/// The run waits for people.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunWaiting {
    /// The open questions, in request order.
    pub approvals: Vec<ApprovalId>,
}

/// A driver took the run up again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunResumed {
    /// The limits from here on, where they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// The run is complete.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunCompleted {
    /// `final_answer` or `goal_reached`.
    pub reason: String,
    /// What the model said last.
    pub answer: Option<String>,
    /// Who said that the goal is reached.
    pub completed_by: Option<CompletedBy>,
}

/// The run cannot go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunFailed {
    /// A stable word.
    pub reason: String,
    /// For people, scrubbed.
    pub detail: String,
}

/// A budget is used up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunLimitReached {
    /// Which.
    pub limit: Limit,
}

/// The run was cancelled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunCancelled {}

/// A person has to find out what happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunNeedsReconciliation {
    /// The calls with unknown effects.
    pub calls: Vec<CallId>,
}
