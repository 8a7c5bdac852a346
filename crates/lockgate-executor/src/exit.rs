//! How a call leaves the stages before the last.

use lockgate_contract::document::Document;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::Settled;
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::outcome::{Code, Outcome};

/// A call that does not reach the end of the pipeline.
pub(crate) enum Exit {
    /// It is settled without an output.
    Refused(Box<Refusal>),
    /// It gets the stored result of an earlier call.
    Reused { earlier: CallId, why: &'static str, settled: Box<Settled> },
    /// It gets an answer and stays open.
    Open { code: Code, approval: ApprovalId, audit: String },
    /// Nothing happened: it may not start yet.
    Held,
    /// The run was cancelled; whoever drives the run settles it.
    Cancelled { started: bool },
}

impl Exit {
    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// Why a call has no output: for the model, and for people.
pub(crate) struct Refusal {
    pub(crate) outcome: Outcome,
    /// A stable word for the model.
    pub(crate) reason: Option<String>,
    /// A sentence for the model, in place of the configured one.
    pub(crate) sentence: Option<String>,
    /// The true reason, where it is not for the model.
    pub(crate) audit_reason: Option<&'static str>,
    /// The whole truth, for people.
    pub(crate) audit: Box<str>,
    /// The tool's own advice.
    pub(crate) retryable: bool,
    /// What more the tool says.
    pub(crate) details: Option<Document>,
    /// What the tool says about the world.
    pub(crate) effect_state: Option<EffectState>,
    /// Whether the model gets an id that leads to the protected log.
    pub(crate) show_error_id: bool,
}

impl Refusal {
    pub(crate) fn new(outcome: impl Into<Outcome>, audit: impl Into<String>) -> Self {
        let outcome = outcome.into();
        let show_error_id = outcome.is(Code::ToolInternalError) || outcome.is(Code::GateInternalError);
        Self {
            outcome,
            reason: None,
            sentence: None,
            audit_reason: None,
            audit: audit.into().into_boxed_str(),
            retryable: false,
            details: None,
            effect_state: None,
            show_error_id,
        }
    }

    pub(crate) fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    pub(crate) fn audit_reason(mut self, reason: &'static str) -> Self {
        self.audit_reason = Some(reason);
        self
    }

    pub(crate) fn sentence(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = Some(sentence.into());
        self
    }

    pub(crate) fn effect_state(mut self, state: EffectState) -> Self {
        self.effect_state = Some(state);
        self
    }

    pub(crate) fn details(mut self, details: Option<Document>) -> Self {
        self.details = details;
        self
    }

    pub(crate) fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }
}

impl From<Refusal> for Exit {
    fn from(refusal: Refusal) -> Self {
        Self::refused(refusal)
    }
}
