//! What is told.

use lockgate_contract::approval::Approval;
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{Body, Event, EventType};
use lockgate_contract::ids::{ApprovalId, CallId, RunId};
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::Approvers;
use lockgate_contract::time::Timestamp;
use serde::Serialize;

/// What happened to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Happening {
    /// Somebody is asked.
    #[serde(rename = "approval.requested")]
    Requested,
    /// It still stands.
    #[serde(rename = "approval.reminder")]
    Reminder,
    /// Somebody said something: a yes of several, or the decision.
    #[serde(rename = "approval.decided")]
    Decided,
    /// It became too late.
    #[serde(rename = "approval.expired")]
    Expired,
}

/// One message. Keys are only ever added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct News {
    /// The version of this shape.
    pub v: u32,
    /// What happened.
    #[serde(rename = "type")]
    pub happening: Happening,
    /// When.
    pub at: Timestamp,
    /// The question.
    pub approval_id: ApprovalId,
    /// The run that waits.
    pub run_id: RunId,
    /// The call that would run.
    pub call_id: CallId,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Its effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The bound digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// When it becomes too late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Why it is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Whose yes it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvers: Option<Approvers>,
    /// Where it stands now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    /// Who said something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

impl News {
    /// What an event of a run says, where it is something to tell.
    pub fn of(event: &Event) -> Option<Self> {
        if !matches!(event.kind, EventType::ApprovalRequested | EventType::ToolFailed) {
            return None;
        }
        let call_id = event.call_id.clone()?;
        let plain = |happening, approval_id| Self {
            v: 1,
            happening,
            at: event.at,
            approval_id,
            run_id: event.run_id.clone(),
            call_id: call_id.clone(),
            tool_name: None,
            effect: None,
            digest: None,
            expires_at: None,
            because: None,
            approvers: None,
            state: None,
            decided_by: None,
        };
        match event.body().ok()? {
            Body::ApprovalRequested(asked) => Some(Self {
                tool_name: Some(asked.tool_name),
                effect: Some(asked.effect),
                digest: Some(asked.digest),
                expires_at: Some(asked.expires_at),
                because: asked.because,
                approvers: asked.approvers,
                ..plain(Happening::Requested, asked.approval_id)
            }),
            Body::Settled(settled) if settled.code.as_ref().is_some_and(|code| code.is(Code::ApprovalExpired)) => {
                let approval_id = settled.audit.approval_id.clone()?;
                let tool_name = Some(settled.tool_name.clone());
                Some(Self { tool_name, ..plain(Happening::Expired, approval_id) })
            }
            _ => None,
        }
    }

    /// What somebody said about a question, which stands so now.
    pub fn decided(approval: &Approval, by: &str, at: Timestamp) -> Self {
        Self {
            state: Some(approval.state_at(at).word()),
            decided_by: Some(by.to_owned()),
            ..Self::about(Happening::Decided, approval, at)
        }
    }

    /// A question that still stands.
    pub fn reminder(approval: &Approval, at: Timestamp) -> Self {
        Self::about(Happening::Reminder, approval, at)
    }

    fn about(happening: Happening, approval: &Approval, at: Timestamp) -> Self {
        Self {
            v: 1,
            happening,
            at,
            approval_id: approval.approval_id.clone(),
            run_id: approval.run_id.clone(),
            call_id: approval.call_id.clone(),
            tool_name: Some(approval.tool_name.clone()),
            effect: Some(approval.effect),
            digest: Some(approval.digest),
            expires_at: Some(approval.expires_at),
            because: approval.because.clone(),
            approvers: approval.approvers.clone(),
            state: None,
            decided_by: None,
        }
    }
}
