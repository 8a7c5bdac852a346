//! The end of a call.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::document::Document;
use crate::effect::{EffectState, word_enum};
use crate::ids::{ApprovalId, CallId, ErrorId};
use crate::outcome::{Outcome, Status};
use crate::result::{Meta, ToolError, ToolResult};

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
    /// What more the tool says of its failure, scrubbed and limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Document>,
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
    pub decision: Option<Cow<'static, str>>,
    /// The policies that determined it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// The approval that was asked for or used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
}

/// An attempt failed, and the run may try again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolAttemptFailed {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// How it ended: what the call would have been settled with.
    pub settled: Box<Settled>,
}

/// The result of an attempt without which the call had gone on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolAnsweredLate {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// What it came to.
    pub settled: Arc<Settled>,
}

/// It was found out what became of a call with an unknown effect.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CallReconciled {
    /// What was found out.
    pub finding: Finding,
    /// Who says so: `late_result`, `tool`, or a person's name.
    pub by: String,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The call's result from here on, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Arc<Settled>>,
}

impl CallReconciled {
    /// Whether the call may be tried again: it is known not to have happened, and nothing else came of it.
    pub fn reopens(&self) -> bool {
        self.finding == Finding::NotDone && self.settled.is_none()
    }
}

word_enum! {
    /// What became of a call with an unknown effect.
    Finding {
        /// It took effect, once.
        Done = "done",
        /// It did not take effect, and will not: the call is open again.
        NotDone = "not_done",
        /// Nobody will find out: the run goes on without knowing.
        Abandoned = "abandoned",
    }
}

impl Settled {
    /// Whether somebody has to find out what the call changed. Of a result that was told again, it is the first call that is to
    /// be found out about.
    pub fn is_to_be_found_out(&self) -> bool {
        self.effect_state == EffectState::Unknown && self.meta.deduplicated.is_none()
    }

    /// What the model is told: the data, or code, reason, message and error id. Where it is the result of other arguments than
    /// the model's own, it stands beside `meta`, which says so.
    pub fn model_content(&self) -> Document {
        #[derive(Serialize)]
        struct Failure<'a> {
            code: &'a Outcome,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'a str>,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            details: Option<&'a Document>,
            #[serde(skip_serializing_if = "Option::is_none")]
            error_id: Option<&'a ErrorId>,
            #[serde(skip_serializing_if = "Option::is_none")]
            meta: Option<Edited>,
        }
        #[derive(Serialize)]
        struct Edited {
            arguments_edited: bool,
        }
        #[derive(Serialize)]
        struct Success<'a> {
            data: Option<&'a Document>,
            meta: Edited,
        }
        #[derive(Serialize)]
        struct Confirmed<'a> {
            reconciled: Finding,
            message: &'a str,
        }
        let message = "It took effect, as was confirmed later; its output was lost.";
        let confirmed = Confirmed { reconciled: Finding::Done, message };
        let edited = || self.meta.arguments_edited.then_some(Edited { arguments_edited: true });
        match (&self.code, &self.data) {
            (None, data) if self.meta.arguments_edited && (data.is_some() || self.meta.reconciled_by.is_none()) => {
                let meta = Edited { arguments_edited: true };
                Document::from_serialize(&Success { data: data.as_ref(), meta }).unwrap_or_else(|_| Document::null())
            }
            (None, Some(data)) => data.clone(),
            (None, None) if self.meta.reconciled_by.is_some() => {
                Document::from_serialize(&confirmed).unwrap_or_else(|_| Document::null())
            }
            (None, None) => Document::null(),
            // INVARIANT: words and strings always serialise.
            (Some(code), _) => Document::from_serialize(&Failure {
                code,
                reason: self.reason.as_deref(),
                message: self.message.as_deref().unwrap_or_default(),
                details: self.details.as_ref(),
                error_id: self.meta.error_id.as_ref(),
                meta: edited(),
            })
            .unwrap_or_else(|_| Document::null()),
        }
    }

    /// The result of the call in its wire shape: data or an error, never both.
    pub fn result(&self, call_id: &CallId) -> ToolResult {
        ToolResult {
            call_id: call_id.clone(),
            tool_name: self.tool_name.clone(),
            tool_version: self.tool_version.clone(),
            ok: self.ok,
            data: self.data.clone().filter(|_| self.code.is_none()),
            error: self.code.clone().map(|code| ToolError {
                code,
                reason: self.reason.clone(),
                message: self.message.clone().unwrap_or_default(),
                retryable: self.retryable,
                details: self.details.clone(),
            }),
            meta: self.meta.clone(),
        }
    }
}
