//! What a call brings along: the scope of its run, and the terms under which it may start.

use std::sync::Arc;

use lockgate_contract::allowed::AllowedTools;
use lockgate_contract::call::ToolCall;
use lockgate_contract::digest::Digest;
use lockgate_contract::event::{Body, Settled};
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::ports::Caller;
use lockgate_contract::run::{Limit, RunFacts};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::{IdempotencyKey, Progress};
use tokio_util::sync::CancellationToken;

use crate::run_log::RunLog;

/// What holds for every call of one run.
#[derive(Clone)]
pub struct Scope {
    /// Where the run's events go.
    pub log: Arc<RunLog>,
    /// On whose behalf the run acts.
    pub subject: Arc<Subject>,
    /// What the run may call.
    pub allowed: Arc<AllowedTools>,
    /// Stops the run's calls.
    pub cancel: CancellationToken,
    /// Leaves what is dropped from here on to the run's next driver, as a crash does: it recovers each call by what its tool
    /// promises. Otherwise a dropped call has its ending here.
    pub hand_over: CancellationToken,
    /// When the run's time is up; no call outlives it.
    pub deadline: Option<Timestamp>,
    /// Where tools say how far they are.
    pub progress: Option<Progress>,
    /// The way back to whoever sent the calls, for tools that have more to say, or to ask.
    pub caller: Option<Arc<dyn Caller>>,
    /// Whether an approval that is bound to something else settles the call. A run's call is settled so; a caller who may
    /// send the right arguments again finds the call still open.
    pub stale_approval_settles: bool,
    /// What becomes of the run when a call has its result.
    pub then: Option<Then>,
}

/// What whoever drives a run writes about it in the commit of a call's result: such as that the run is over. The gate writes it, and makes
/// nothing of it. Left out where the result is not the call's own (it came late), or where the run was taken over.
pub type Then = fn(&ToolCall, &Settled) -> Option<Body>;

impl Scope {
    /// The scope of a run without a deadline, whose calls a token of their own stops. What else holds is set on its fields.
    pub fn new(log: Arc<RunLog>, subject: Arc<Subject>, allowed: Arc<AllowedTools>) -> Self {
        Self {
            log,
            subject,
            allowed,
            cancel: CancellationToken::new(),
            hand_over: CancellationToken::new(),
            deadline: None,
            progress: None,
            caller: None,
            stale_approval_settles: true,
            then: None,
        }
    }
}

/// One requested call with its terms.
#[derive(Debug, Clone)]
pub struct Request {
    /// The call.
    pub call: ToolCall,
    /// What the run says about it.
    pub terms: Terms,
}

impl Request {
    /// What is handed to the tool, and stands in the journal for every effect: the same for every attempt.
    pub(crate) fn idempotency_key(&self, scope: &Scope) -> IdempotencyKey {
        let subject = Arc::clone(&scope.subject);
        match (&self.terms.idempotency_key, &self.terms.caller_key) {
            (Some(written), _) => IdempotencyKey::of_attempt(subject, written),
            (None, Some(key)) => IdempotencyKey::of_caller(subject, key),
            (None, None) => IdempotencyKey::new(subject, self.call.call_id.clone()),
        }
    }
}

/// What the run says about a call. Data, worked out by the run's own state.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one call")]
pub struct Terms {
    /// The limit that this call would go beyond.
    pub over_limit: Option<Limit>,
    /// Whether the handler may start now. Otherwise the call only gets its refusal, or its question to a person.
    pub may_start: bool,
    /// Whether `tool.requested` stands in the journal already.
    pub requested_before: bool,
    /// The question that was opened for this call, or that the caller names.
    pub approval: Option<ApprovalId>,
    /// What the person said who refused that question; for the model only where the gate is set to tell it.
    pub said: Option<String>,
    /// Whether a person put these arguments in place of the model's.
    pub edited: bool,
    /// Whether a person may still be asked; otherwise a call that would ask is refused.
    pub may_ask: bool,
    /// Which attempt this would be, from 1.
    pub attempt: u32,
    /// Whether a failed attempt that may be tried again leaves the call open. The run tries again, never the gate.
    pub may_retry: bool,
    /// Whether an earlier attempt may have taken effect: then a call that is refused now leaves the world unknown.
    pub unknown_before: bool,
    /// The key that an earlier attempt was given: a further one is given the same.
    pub idempotency_key: Option<String>,
    /// The caller's own name for this request.
    pub caller_key: Option<String>,
    /// What the run did before this call, and what its budget has left.
    pub run: RunFacts,
    /// Earlier executed calls of the same turn, for the tool's `on_duplicate` rule.
    pub earlier: Arc<Vec<EarlierCall>>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            over_limit: None,
            may_start: true,
            requested_before: false,
            approval: None,
            said: None,
            edited: false,
            may_ask: true,
            attempt: 1,
            may_retry: false,
            unknown_before: false,
            idempotency_key: None,
            caller_key: None,
            run: RunFacts::default(),
            earlier: Arc::default(),
        }
    }
}

/// An executed call of the same turn.
#[derive(Debug, Clone)]
pub struct EarlierCall {
    /// Its id.
    pub call_id: CallId,
    /// Its tool.
    pub tool_name: String,
    /// The digest of its arguments.
    pub arguments_digest: Digest,
    /// How it ended.
    pub settled: Settled,
}
