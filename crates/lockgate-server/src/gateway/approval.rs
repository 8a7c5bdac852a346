//! Calls that a person has to approve: by the page, which a client may show; by the command; or, where the operator wants that, in the
//! client itself.

use std::sync::Arc;
use std::time::Duration;

use lockgate::contract::approval::{Approval, ApprovalState, Proof};
use lockgate::contract::document::Document;
use lockgate::contract::effect::EffectState;
use lockgate::contract::event::Audit;
use lockgate::contract::ids::ApprovalId;
use lockgate::contract::outcome::{Code, Outcome};
use lockgate::contract::ports::{ApprovalFilter, Clock as _};
use lockgate::contract::result::{Meta, ToolError, ToolResult};
use lockgate::contract::subject::Subject;
use lockgate::deciding::{self, Answer};
use lockgate::harness::{DirectAnswer, DirectCall};
use lockgate::host::clock::SystemClock;
use lockgate::registry::RegisteredTool;
use lockgate_mcp::server::Asked;
use lockgate_mcp::wire::{Era, RpcError};
use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::call::{APPROVAL_IN_META, parsed};
use super::tasks::Task;
use super::{State, internal};

/// How long a client that was shown the page is kept waiting for the decision.
const PATIENCE: Duration = Duration::from_mins(5);
/// How often the journal is asked whether there is one.
const GLANCE: Duration = Duration::from_millis(250);
/// The one question that is asked of a client.
const QUESTION: &str = "approval";

/// Whether a person was asked about the same call before.
pub(super) enum Before {
    /// No, or that question is settled.
    Nothing,
    /// Somebody said yes, and it was not used yet.
    Approved(ApprovalId),
    /// It is still open: nobody is asked a second time.
    Open(Box<Approval>),
}

impl State {
    /// Looks for a question about the same call: the same subject, tool, definition and arguments.
    pub(super) async fn asked_before(
        &self,
        call: &DirectCall,
        tool: &RegisteredTool,
        text: &str,
    ) -> Result<Before, RpcError> {
        let Some(digest) = parsed(text).map(|arguments| arguments.digest()) else { return Ok(Before::Nothing) };
        let now = SystemClock.now();
        let is_same = |approval: &Approval| {
            approval.arguments_digest == digest
                && approval.tool_name == call.tool_name
                && approval.definition == tool.spec().definition()
                && is_about(approval, &call.subject)
                && approval.edited.is_none()
        };
        for state in [ApprovalState::Granted, ApprovalState::Pending] {
            let filter = ApprovalFilter { state: Some(state), ..ApprovalFilter::default() };
            let approvals = self.assembly.journal.approvals(filter).await.map_err(|error| internal(&error))?;
            for approval in
                approvals.into_iter().filter(|approval| is_same(approval) && approval.state_at(now) == state)
            {
                // A run of an agent goes on by itself: its questions are no client's.
                if approval.call_id != approval.run_id.call(0, 0) || !self.is_direct(&approval).await? {
                    continue;
                }
                return Ok(match state {
                    ApprovalState::Granted => Before::Approved(approval.approval_id),
                    _ => Before::Open(Box::new(approval)),
                });
            }
        }
        Ok(Before::Nothing)
    }

    /// The question that a client names, where it is about a call of this subject. Another's is none.
    pub(super) async fn named(&self, id: &str, subject: &Subject) -> Result<ApprovalId, RpcError> {
        let id = ApprovalId::new(id);
        let found = self.assembly.journal.approval(&id).await.map_err(|error| internal(&error))?;
        if found.is_some_and(|approval| is_about(&approval, subject)) { Ok(id) } else { Err(no_such_approval()) }
    }

    async fn is_direct(&self, approval: &Approval) -> Result<bool, RpcError> {
        let run = self.assembly.journal.run(&approval.run_id).await.map_err(|error| internal(&error))?;
        Ok(run.is_some_and(|run| run.kind == lockgate::contract::run::RunKind::Direct))
    }

    /// Asks in whichever way it can be asked, and waits. Whether there is a decision now.
    pub(super) async fn is_decided_by_asking(
        &self,
        asked: &Asked,
        approval: &Approval,
        task: Option<&Arc<Task>>,
    ) -> bool {
        if self.decided_in_client(asked, approval).await {
            return true;
        }
        let Some(task) = task else { return false };
        // Whoever follows a task can wait for as long as the question stands.
        let place = self.page(&approval.approval_id);
        let place = place.unwrap_or_else(|| format!("`lockgate approvals show {}`", approval.approval_id.as_str()));
        task.waits_for(&approval.run_id, format!("a person has to approve this call: {place}"));
        let patience = approval.expires_at.since(SystemClock.now());
        self.is_decided(task.cancel(), &approval.approval_id, patience).await
    }

    /// Asks the client itself.
    async fn decided_in_client(&self, asked: &Asked, approval: &Approval) -> bool {
        let capabilities = asked.peer.capabilities().root();
        let elicitation = capabilities.get("elicitation");
        let can = |mode: &str| elicitation.is_some_and(|elicitation| elicitation.get(mode).is_some());
        let form = elicitation.is_some_and(|elicitation| elicitation.is_empty() || elicitation.get("form").is_some());
        if self.options.approve_in_client && form && self.asked_by_form(asked, approval).await {
            return true;
        }
        match self.page(&approval.approval_id) {
            Some(url) if can("url") => {
                self.shown_page(asked, approval, &url).await
                    && self.is_decided(asked.peer.cancel(), &approval.approval_id, PATIENCE).await
            }
            _ => false,
        }
    }

    /// Where a person decides about it.
    pub(super) fn page(&self, approval: &ApprovalId) -> Option<String> {
        let url = self.options.public_url.as_deref()?;
        Some(format!("{}/approvals/{}", url.trim_end_matches('/'), approval.as_str()))
    }

    /// Whether the client showed the page. That is no decision.
    async fn shown_page(&self, asked: &Asked, approval: &Approval, url: &str) -> bool {
        let id = approval.approval_id.as_str();
        let message = format!("A person has to approve this call of `{}` first.", approval.tool_name);
        let mut params = json!({ "mode": "url", "url": url, "message": message });
        if asked.peer.version().era() == Era::Legacy {
            params["elicitationId"] = json!(id);
        }
        self.asked_client(asked, &params).await.is_some()
    }

    /// Asks whoever sits at the client, and takes the answer for that person's, where the operator said that it is.
    async fn asked_by_form(&self, asked: &Asked, approval: &Approval) -> bool {
        let schema = json!({
            "type": "object",
            "properties": { "approve": { "type": "boolean", "title": "Approve", "description": "Let the call run" } },
            "required": ["approve"],
        });
        let params = json!({ "mode": "form", "message": approval.shown_text, "requestedSchema": schema });
        let Some(content) = self.asked_client(asked, &params).await else { return false };
        let approve = content.root().get("approve").and_then(|approve| approve.as_bool());
        let Some(approve) = approve else { return false };
        let answer = Answer {
            state: if approve { ApprovalState::Granted } else { ApprovalState::Denied },
            by: format!("client:{}", asked.peer.principal().credential),
            proof: Proof::Claimed,
            roles: Vec::new(),
            reason: None,
            digest: approval.digest,
            edit: None,
        };
        let warn = |doubt: &dyn std::fmt::Display| tracing::warn!(doubt = doubt.to_string(), "a decision in a client");
        let signs = self.assembly.run_file.journal.sign_key_env.is_some()
            || self.assembly.run_file.journal.sign_key_file.is_some();
        match deciding::decide(&self.assembly.journal, signs, approval, answer, warn).await {
            Ok(decided) => decided.approval.state != ApprovalState::Pending,
            Err(error) => {
                tracing::warn!(%error, approval = approval.approval_id.as_str(), "a decision in a client does not count");
                false
            }
        }
    }

    /// One question to the client: what was said where it was accepted.
    async fn asked_client(&self, asked: &Asked, params: &serde_json::Value) -> Option<Document> {
        let question = json!({ QUESTION: { "method": "elicitation/create", "params": params } });
        let question = self.scrubbed(Document::from_json_value(&question));
        let answers = asked.peer.ask(question).await.ok()?;
        let answer = answers.root().get(QUESTION)?;
        let is_accepted = answer.get("action").and_then(|action| action.as_str()).as_deref() == Some("accept");
        is_accepted.then(|| answer.get("content").map_or_else(Document::empty_object, |content| content.to_document()))
    }

    /// Waits for the decision, for a while.
    async fn is_decided(&self, cancel: &CancellationToken, approval: &ApprovalId, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        while Instant::now() < end && !cancel.is_cancelled() {
            match self.assembly.journal.approval(approval).await {
                Ok(Some(approval)) if approval.state_at(SystemClock.now()) == ApprovalState::Pending => {}
                Ok(Some(_)) => return true,
                Ok(None) | Err(_) => return false,
            }
            sleep(GLANCE).await;
        }
        false
    }
}

/// Whether a question is about a call of this subject.
fn is_about(approval: &Approval, subject: &Subject) -> bool {
    (&approval.tenant, &approval.user, &approval.agent) == (&subject.tenant, &subject.user, &subject.agent)
}

/// What a client is told that names a question which is none about a call of its own.
pub(super) fn no_such_approval() -> RpcError {
    RpcError::invalid_params(format!("`{APPROVAL_IN_META}` names no question about a call of this client"))
}

/// The answer where the same question is open already.
pub(super) fn still_open(call: &DirectCall, approval: &Approval, tool: &RegisteredTool) -> DirectAnswer {
    let row = Code::ApprovalRequired.row();
    let result = ToolResult {
        call_id: approval.call_id.clone(),
        tool_name: call.tool_name.clone(),
        tool_version: Some(tool.spec().version().to_owned()),
        ok: false,
        data: None,
        error: Some(ToolError {
            code: Outcome::Gate(Code::ApprovalRequired),
            reason: None,
            message: row.model_text.to_owned(),
            retryable: false,
            details: None,
        }),
        meta: Meta { approval_id: Some(approval.approval_id.clone()), ..Meta::default() },
    };
    DirectAnswer {
        run_id: approval.run_id.clone(),
        result,
        status: None,
        effect_state: EffectState::None,
        audit: Audit::default(),
        times: None,
    }
}
