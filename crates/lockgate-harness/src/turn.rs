//! A turn of the model, and what is known of each of its calls.

use std::sync::Arc;

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::{ActionLanguage, ToolCall};
use lockgate_contract::digest::Digest;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{
    ApprovalDecided, ApprovalEdited, ApprovalRequested, CallReconciled, Finding, RespondedCall, Settled,
    ToolAttemptFailed, ToolRequested, ToolStarted,
};
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::ProviderItem;
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
    /// What the provider wants back unchanged.
    pub items: Vec<ProviderItem>,
}

/// One call and what is known of it.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, of which a journal says some and not others"
)]
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
    /// An attempt was started that may change something.
    pub changes_something: bool,
    /// When the first attempt was started.
    pub first_started: Option<Timestamp>,
    /// The last attempt was started, and has no ending of its own.
    pub underway: bool,
    /// When the last attempt failed, where another one may follow.
    pub failed_at: Option<Timestamp>,
    /// An earlier attempt may have taken effect.
    pub unknown_before: bool,
    /// The digest of the arguments, once an attempt was started with them.
    pub arguments_digest: Option<Digest>,
    /// The key that its attempts were given, where they change something.
    pub idempotency_key: Option<String>,
    /// The arguments that a person put in place of the model's.
    pub edited: Option<String>,
    /// The last question about it.
    pub approval: Option<OpenApproval>,
    /// How it ended, as far as is known by now.
    pub settled: Option<Settled>,
    /// What the model was told, where something else was found out later.
    pub told: Option<Settled>,
    /// A person gave up finding out what it changed.
    pub abandoned: bool,
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
    /// Why they said no.
    pub reason: Option<String>,
    /// It was used up.
    pub used: bool,
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
            changes_something: false,
            first_started: None,
            idempotency_key: None,
            underway: false,
            failed_at: None,
            unknown_before: false,
            arguments_digest: None,
            edited: None,
            approval: None,
            settled: None,
            told: None,
            abandoned: false,
        }
    }

    /// A call that no model made: one of a direct run, or one made inside another call.
    pub(crate) fn without_model(call_id: CallId, step: u32, requested: ToolRequested) -> Self {
        let parent = requested.parent_call_id;
        let proposed = RespondedCall {
            call_id,
            provider_call_id: String::new(),
            tool_name: requested.tool_name,
            arguments_text: requested.arguments_text.unwrap_or_default(),
            redacted: false,
            language: requested.language,
        };
        Self { parent, requested: true, ..Self::of(step, proposed) }
    }

    /// The call as it goes to the gate: with its arguments as the journal has them, or with those that a person put in their
    /// place. The model's turn stays as the model wrote it.
    pub(crate) fn tool_call(&self) -> ToolCall {
        ToolCall {
            call_id: self.call_id.clone(),
            step: self.step,
            parent: self.parent.clone(),
            provider_call_id: self.provider_call_id.clone(),
            tool_name: self.tool_name.clone(),
            arguments_text: self.edited.as_ref().unwrap_or(&self.arguments_text).clone(),
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

    /// Nobody knows what it changed, and somebody should find out.
    pub(crate) fn has_unknown_effect(&self) -> bool {
        !self.abandoned && self.settled.as_ref().is_some_and(Settled::is_to_be_found_out)
    }

    /// The question about its next attempt.
    pub(crate) fn question(&self) -> Option<&OpenApproval> {
        self.approval.as_ref().filter(|asked| !asked.used)
    }

    /// Its attempt was started, and whoever waited for the result is gone.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_open() && self.underway
    }

    /// What the model is told of it.
    pub(crate) fn told(&self) -> Option<&Settled> {
        self.told.as_ref().or(self.settled.as_ref())
    }

    /// Whether the stored arguments are not what would run: a secret was taken out of them.
    pub(crate) fn is_redacted(&self) -> bool {
        self.redacted && self.edited.is_none()
    }

    /// Whether the stored arguments are those that were run: no secret was taken out of them.
    pub(crate) fn has_its_arguments(&self) -> bool {
        let text = self.edited.as_ref().unwrap_or(&self.arguments_text);
        let stored = || Some(Arguments::parse(text, Limits::ARGUMENTS).ok()?.digest());
        !self.is_redacted() && self.arguments_digest.is_none_or(|started| stored() == Some(started))
    }

    /// Another question stands in place of the open one, about other arguments.
    pub(crate) fn edit(&mut self, edited: ApprovalEdited) {
        let Some(open) = &mut self.approval else { return };
        if open.approval_id != edited.approval_id {
            return;
        }
        *open = OpenApproval {
            approval_id: edited.edited_as,
            decided: false,
            refused_as: None,
            reason: None,
            used: false,
            tool_version: std::mem::take(&mut open.tool_version),
            expires_at: open.expires_at,
        };
        self.edited = Some(edited.arguments_text);
    }

    /// An attempt was started.
    pub(crate) fn start(&mut self, started: &ToolStarted, at: Timestamp) {
        self.attempts = started.attempt;
        self.changes_something |= started.effect.changes_something();
        if let Some(asked) = &mut self.approval {
            asked.used = true;
        }
        self.first_started.get_or_insert(at);
        self.unknown_before |= self.underway;
        self.underway = true;
        self.failed_at = None;
        self.arguments_digest = Some(started.arguments_digest);
        self.idempotency_key.clone_from(&started.idempotency_key);
    }

    /// An attempt failed, and the call goes on.
    pub(crate) fn attempt_failed(&mut self, failed: &ToolAttemptFailed, at: Timestamp) {
        self.underway = false;
        self.failed_at = Some(at);
        self.unknown_before |= failed.settled.effect_state == EffectState::Unknown;
    }

    /// It was found out what became of it. What the model was told by then stays what it was told.
    pub(crate) fn reconcile(&mut self, found: CallReconciled, was_told: bool) {
        self.underway = false;
        if was_told && self.told.is_none() {
            self.told.clone_from(&self.settled);
        }
        match (found.settled, found.finding) {
            (Some(settled), _) => self.settled = Some(Arc::unwrap_or_clone(settled)),
            (None, Finding::Abandoned) => self.abandoned = true,
            (None, Finding::NotDone) if !was_told => {
                self.settled = None;
                self.unknown_before = false;
            }
            (None, finding) => {
                let state = if finding == Finding::Done { EffectState::Done } else { EffectState::None };
                if let Some(settled) = &mut self.settled {
                    settled.effect_state = state;
                }
            }
        }
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
            reason: None,
            used: false,
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
        self.reason = self.refused_as.and_then(|_| decided.reason.clone());
    }
}
