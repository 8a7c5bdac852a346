//! What a run came to, in the shape that people and programs are given.

use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::EffectState;
use lockgate_contract::ids::{ApprovalId, CallId, RunId};
use lockgate_contract::outcome::{Code, Outcome, Status};
use lockgate_contract::ports::{Message, MessageCall};
use lockgate_contract::run::{CompletedBy, RunStatus};
use serde::Serialize;

use crate::state::RunState;
use crate::stop::Stop;
use crate::turn::Call;

/// A run's result.
#[derive(Debug, Clone, Serialize)]
pub struct RunResult {
    /// The run.
    pub run_id: RunId,
    /// The stop state; null while the run could go on but nobody drives it.
    pub status: Option<RunStatus>,
    /// The stable word inside the stop state.
    pub reason: Option<String>,
    /// What the model said last, of a completed run.
    pub answer: Option<String>,
    /// Model turns.
    pub steps: u32,
    /// Executed calls.
    pub valid_actions: u32,
    /// Who said that the goal is reached.
    pub completed_by: Option<CompletedBy>,
    /// The calls of all turns, in order.
    pub calls: Vec<CallSummary>,
    /// The history as the model would see it, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_messages: Option<Vec<NeutralMessage>>,
}

/// One call of a run, in a line.
#[derive(Debug, Clone, Serialize)]
pub struct CallSummary {
    /// Its id.
    pub call_id: CallId,
    /// The provider's id.
    pub provider_call_id: String,
    /// The name as it was called.
    pub tool_name: String,
    /// The version, where the call can be tied to one.
    pub tool_version: Option<String>,
    /// Whether it succeeded.
    pub ok: bool,
    /// The code of a failure; `approval_required` while it waits.
    pub code: Option<Outcome>,
    /// The stable word that says more.
    pub reason: Option<String>,
    /// What the run counts it by; null while it is open.
    pub status: Option<Status>,
    /// What is known about the world; null while it is open.
    pub effect_state: Option<EffectState>,
    /// Whether it got an earlier call's result.
    pub deduplicated: bool,
    /// The last question about it.
    pub approval_id: Option<ApprovalId>,
}

/// One message in a form that belongs to no provider.
#[derive(Debug, Clone, Serialize)]
pub struct NeutralMessage {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The calls of an assistant message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<NeutralCall>>,
    /// The call that a tool message answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// What the model is told about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Document>,
}

/// One call of an assistant message.
#[derive(Debug, Clone, Serialize)]
pub struct NeutralCall {
    /// Its id.
    pub call_id: CallId,
    /// The name as it was called.
    pub name: String,
    /// Its arguments: always an object, `{}` where the text was none (the raw text stands in the journal).
    pub arguments: Document,
    /// The code, in place of arguments, where it is no tool call but code for an environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl RunResult {
    /// The result of a run as it stands.
    pub fn of(state: &RunState) -> Self {
        let stop = state.stop();
        let (answer, completed_by) = match stop {
            Some(Stop::Completed { answer, completed_by, .. }) => (answer.clone(), *completed_by),
            _ => (None, None),
        };
        Self {
            run_id: state.run_id().clone(),
            status: stop.map(Stop::status),
            reason: stop.map(|stop| stop.reason().to_owned()),
            answer,
            steps: state.steps(),
            valid_actions: state.valid_actions(),
            completed_by,
            calls: state.calls().map(CallSummary::of).collect(),
            model_messages: None,
        }
    }

    /// With the history.
    #[must_use]
    pub fn with_messages(mut self, state: &RunState) -> Self {
        self.model_messages = Some(state.messages().into_iter().map(NeutralMessage::of).collect());
        self
    }
}

impl CallSummary {
    fn of(call: &Call) -> Self {
        let settled = call.settled.as_ref();
        let asked = call.approval.as_ref();
        Self {
            call_id: call.call_id.clone(),
            provider_call_id: call.provider_call_id.clone(),
            tool_name: call.tool_name.clone(),
            tool_version: match settled {
                Some(settled) => settled.tool_version.clone(),
                None => asked.map(|open| open.tool_version.clone()),
            },
            ok: settled.is_some_and(|settled| settled.ok),
            code: match settled {
                Some(settled) => settled.code.clone(),
                None => asked.map(|_| Outcome::Gate(Code::ApprovalRequired)),
            },
            reason: settled.and_then(|settled| settled.reason.clone()),
            status: settled.map(|settled| settled.status),
            effect_state: settled.map(|settled| settled.effect_state),
            deduplicated: settled.is_some_and(|settled| settled.meta.deduplicated.is_some()),
            approval_id: asked.map(|open| open.approval_id.clone()),
        }
    }
}

impl NeutralMessage {
    fn of(message: Message) -> Self {
        let plain = |role, text| Self { role, text, calls: None, call_id: None, content: None };
        match message {
            Message::System { text } => plain("system", Some(text)),
            Message::User { text } => plain("user", Some(text)),
            Message::Assistant { text, calls, .. } => {
                let calls: Vec<_> = calls.into_iter().map(NeutralCall::of).collect();
                Self { calls: (!calls.is_empty()).then_some(calls), ..plain("assistant", text) }
            }
            Message::Tool { call_id, content, .. } => {
                Self { call_id: Some(call_id), content: Some(content), ..plain("tool", None) }
            }
        }
    }
}

impl NeutralCall {
    fn of(call: MessageCall) -> Self {
        let MessageCall { call_id, name, arguments_text, language, .. } = call;
        match language {
            ActionLanguage::Call => {
                let arguments = Arguments::parse(&arguments_text, Limits::ARGUMENTS)
                    .map_or_else(|_| Document::empty_object(), |arguments| arguments.document().clone());
                Self { call_id, name, arguments, code: None }
            }
            ActionLanguage::Code => {
                Self { call_id, name, arguments: Document::empty_object(), code: Some(arguments_text) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
