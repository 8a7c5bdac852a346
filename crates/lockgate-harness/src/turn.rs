//! A turn of the model, and what is known of each of its calls.

use lockgate_contract::call::{ActionLanguage, ToolCall};
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{ApprovalDecided, ApprovalRequested, RespondedCall, Settled, ToolRequested};
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::time::Timestamp;

/// One answered model turn.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Its number, from zero.
    pub step: u32,
    /// What the model said beside its calls.
    pub text: Option<String>,
    /// The calls, in request order.
    pub calls: Vec<Call>,
}

/// One call and what is known of it.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its id.
    pub call_id: CallId,
    /// The model turn.
    pub step: u32,
    /// The call inside which it was made.
    pub parent: Option<CallId>,
    /// The provider's id.
    pub provider_call_id: String,
    /// The name as it was called.
    pub tool_name: String,
    /// The raw argument text, or the code, scrubbed.
    pub arguments_text: String,
    /// What the text is.
    pub language: ActionLanguage,
    /// A secret was taken out of the argument text.
    pub redacted: bool,
    /// `tool.requested` was seen.
    pub requested: bool,
    /// The last attempt that was started; 0 when none was.
    pub attempts: u32,
    /// The last question about it.
    pub approval: Option<OpenApproval>,
    /// How it ended.
    pub settled: Option<Settled>,
}

/// A question about a call.
#[derive(Debug, Clone)]
pub struct OpenApproval {
    /// Its id.
    pub approval_id: ApprovalId,
    /// The version of the tool that was asked about.
    pub tool_version: String,
    /// When it becomes too late.
    pub expires_at: Timestamp,
    /// Whether somebody decided.
    pub decided: bool,
    /// How somebody's no settles the call.
    pub refused_as: Option<Code>,
}

impl Call {
    /// A call of a model's turn.
    pub(crate) fn of(step: u32, call: RespondedCall) -> Self {
        Self {
            call_id: call.call_id,
            step,
            parent: None,
            provider_call_id: call.provider_call_id,
            tool_name: call.tool_name,
            arguments_text: call.arguments_text,
            language: call.language,
            redacted: call.redacted,
            requested: false,
            attempts: 0,
            approval: None,
            settled: None,
        }
    }

    /// A call that no model made: one of a direct run, or one made inside another call.
    pub(crate) fn without_model(call_id: CallId, step: u32, requested: ToolRequested) -> Self {
        Self {
            call_id,
            step,
            parent: requested.parent_call_id,
            provider_call_id: String::new(),
            tool_name: requested.tool_name,
            arguments_text: requested.arguments_text.unwrap_or_default(),
            language: requested.language,
            redacted: false,
            requested: true,
            attempts: 0,
            approval: None,
            settled: None,
        }
    }

    /// The call as it goes to the gate, with its arguments as the journal has them.
    pub(crate) fn tool_call(&self) -> ToolCall {
        ToolCall {
            call_id: self.call_id.clone(),
            step: self.step,
            parent: self.parent.clone(),
            provider_call_id: self.provider_call_id.clone(),
            tool_name: self.tool_name.clone(),
            arguments_text: self.arguments_text.clone(),
            language: self.language,
        }
    }

    /// It has no outcome yet.
    pub(crate) fn is_open(&self) -> bool {
        self.settled.is_none()
    }

    /// Whether a handler was entered for this call itself: a shared result costs nothing.
    pub(crate) fn is_valid_action(&self) -> bool {
        let executed = |settled: &Settled| settled.status == Status::Executed && settled.meta.deduplicated.is_none();
        self.settled.as_ref().is_some_and(executed)
    }

    /// Nobody knows what it changed.
    pub(crate) fn has_unknown_effect(&self) -> bool {
        self.settled.as_ref().is_some_and(|settled| settled.effect_state == EffectState::Unknown)
    }
}

impl OpenApproval {
    pub(crate) fn of(asked: ApprovalRequested) -> Self {
        Self {
            approval_id: asked.approval_id,
            tool_version: asked.tool_version,
            expires_at: asked.expires_at,
            decided: false,
            refused_as: None,
        }
    }

    /// Takes in what somebody decided.
    pub(crate) fn decide(&mut self, decided: &ApprovalDecided) {
        // A decision that was refused decides nothing, and neither does one about an earlier question.
        if decided.decision == "refused" || self.approval_id != decided.approval_id {
            return;
        }
        self.decided = true;
        self.refused_as = match decided.decision.as_str() {
            "denied" => Some(Code::ApprovalDenied),
            "withdrawn" => Some(Code::ApprovalWithdrawn),
            _ => None,
        };
    }
}
