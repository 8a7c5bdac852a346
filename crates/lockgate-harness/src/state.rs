//! The state of a run: a fold over its events, and nothing else.

use std::sync::Arc;

use lockgate_contract::call::ActionLanguage;
use lockgate_contract::event::{
    ApprovalDecided, ApprovalRequested, Body, Event, EventType, ModelResponded, RespondedCall, Settled, ToolRequested,
};
use lockgate_contract::ids::{ApprovalId, CallId, RunId};
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::run::{Budget, CompletedBy, Limit, RunKind, RunStart, RunStatus};
use lockgate_contract::time::Timestamp;

use crate::error::FoldError;

/// Where a run stands. [`RunState::apply`] is the only thing that changes it.
#[derive(Debug, Clone)]
pub struct RunState {
    run_id: RunId,
    start: RunStart,
    budget: Budget,
    last_seq: u64,
    /// From when the time of the budget counts: the start, moved by the time in which nobody drove the run.
    counted_from: Timestamp,
    last_active: Timestamp,
    steps: u32,
    turns: Vec<Turn>,
    inner_calls: Vec<Call>,
    model_failure: Option<(String, String)>,
    stop: Option<Stop>,
}

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

/// Why a run stopped: a state of the harness, never a decision of a model or a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The goal is reached, or the model gave its answer.
    Completed {
        /// `final_answer` or `goal_reached`; `call_settled` for a direct run.
        reason: &'static str,
        /// What the model said last.
        answer: Option<String>,
        /// Who said that the goal is reached.
        completed_by: Option<CompletedBy>,
    },
    /// A budget is used up.
    LimitReached(Limit),
    /// These questions are open.
    WaitingForApproval(Vec<ApprovalId>),
    /// These calls have unknown effects.
    NeedsReconciliation(Vec<CallId>),
    /// It cannot go on.
    Failed {
        /// A stable word.
        reason: String,
        /// For people.
        detail: String,
    },
    /// It was cancelled.
    Cancelled,
}

/// Reasons of completed runs.
pub(crate) const FINAL_ANSWER: &str = "final_answer";
pub(crate) const GOAL_REACHED: &str = "goal_reached";
pub(crate) const CALL_SETTLED: &str = "call_settled";

impl Stop {
    /// The stop state.
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Completed { .. } => RunStatus::Completed,
            Self::LimitReached(_) => RunStatus::LimitReached,
            Self::WaitingForApproval(_) => RunStatus::WaitingForApproval,
            Self::NeedsReconciliation(_) => RunStatus::NeedsReconciliation,
            Self::Failed { .. } => RunStatus::Failed,
            Self::Cancelled => RunStatus::Cancelled,
        }
    }

    /// The stable word inside the stop state.
    pub fn reason(&self) -> &str {
        match self {
            Self::Completed { reason, .. } => reason,
            Self::LimitReached(limit) => limit.word(),
            Self::WaitingForApproval(_) => "approval_required",
            Self::NeedsReconciliation(_) => "unknown_effect",
            Self::Failed { reason, .. } => reason,
            Self::Cancelled => "cancelled",
        }
    }
}

impl RunState {
    /// The state after a run's events, from the first.
    pub fn fold<'e>(events: impl IntoIterator<Item = &'e Event>) -> Result<Self, FoldError> {
        let mut events = events.into_iter();
        let mut state = match events.next() {
            Some(first) => Self::begin(first)?,
            None => return Err(FoldError::Sequence { expected: 1, found: 0 }),
        };
        for event in events {
            state.apply(event)?;
        }
        Ok(state)
    }

    /// The state after `run.started`.
    pub fn begin(event: &Event) -> Result<Self, FoldError> {
        if event.seq != 1 {
            return Err(FoldError::Sequence { expected: 1, found: event.seq });
        }
        let Body::RunStarted(start) = body(event)? else {
            return Err(misplaced(event));
        };
        Ok(Self {
            run_id: event.run_id.clone(),
            budget: start.budget.clone(),
            counted_from: event.at,
            start: *start,
            last_seq: 1,
            last_active: event.at,
            steps: 0,
            turns: Vec::new(),
            inner_calls: Vec::new(),
            model_failure: None,
            stop: None,
        })
    }

    /// Takes in the next event that the journal accepted.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        if event.seq != self.last_seq + 1 {
            return Err(FoldError::Sequence { expected: self.last_seq + 1, found: event.seq });
        }
        match body(event)? {
            Body::RunStarted(_) => return Err(misplaced(event)),
            Body::ModelRequested(_) => {
                self.steps = self.steps.max(event.step.saturating_add(1));
                self.model_failure = None;
            }
            Body::ModelResponded(response) => self.responded(event.step, response),
            Body::ModelFailed(failed) => self.model_failure = Some((failed.reason, failed.detail)),
            Body::ToolRequested(requested) => self.requested(event, requested)?,
            Body::ApprovalRequested(asked) => self.call(event)?.approval = Some(OpenApproval::of(asked)),
            Body::ApprovalDecided(decided) => self.decided(event, &decided)?,
            Body::ToolStarted(started) => self.call(event)?.attempts = started.attempt,
            Body::Settled(settled) => self.settle(event, Arc::unwrap_or_clone(settled))?,
            Body::RunResumed(resumed) => {
                if let Some(budget) = resumed.budget {
                    self.budget = budget;
                }
                // The time in which nobody drove the run is nobody's: it does not count.
                self.counted_from = self.counted_from.after(event.at.since(self.last_active));
                self.stop = None;
            }
            Body::RunWaiting(waiting) => self.stop = Some(Stop::WaitingForApproval(waiting.approvals)),
            Body::RunCompleted(completed) => {
                let reason = [FINAL_ANSWER, GOAL_REACHED, CALL_SETTLED]
                    .into_iter()
                    .find(|known| *known == completed.reason)
                    .unwrap_or(FINAL_ANSWER);
                self.stop =
                    Some(Stop::Completed { reason, answer: completed.answer, completed_by: completed.completed_by });
            }
            Body::RunFailed(failed) => {
                self.stop = Some(Stop::Failed { reason: failed.reason, detail: failed.detail });
            }
            Body::RunLimitReached(reached) => self.stop = Some(Stop::LimitReached(reached.limit)),
            Body::RunCancelled(_) => self.stop = Some(Stop::Cancelled),
            Body::RunNeedsReconciliation(needs) => self.stop = Some(Stop::NeedsReconciliation(needs.calls)),
            Body::ToolRelaxed(_) | Body::ApprovalConsumed(_) => {}
            Body::Unknown => {
                // What only informs is kept and skipped; what steers a run must be understood.
                if event.kind.word().starts_with("run.") || event.kind.word().starts_with("call.") {
                    return Err(FoldError::NeedsNewerVersion { seq: event.seq, kind: event.kind.to_string() });
                }
            }
        }
        // A decision comes from somebody who does not drive the run.
        if event.kind != EventType::ApprovalDecided {
            self.last_active = event.at;
        }
        self.last_seq = event.seq;
        Ok(())
    }

    fn responded(&mut self, step: u32, response: ModelResponded) {
        let calls = response.calls.into_iter().map(|call| Call::of(step, call)).collect();
        self.turns.push(Turn { step, text: response.text, calls });
    }

    fn requested(&mut self, event: &Event, requested: ToolRequested) -> Result<(), FoldError> {
        if let Ok(call) = self.call(event) {
            call.requested = true;
            return Ok(());
        }
        // Calls without a model turn: those of a direct run, and those made inside another call.
        let Some(call_id) = event.call_id.clone() else {
            return Err(misplaced(event));
        };
        let call = Call {
            call_id,
            step: event.step,
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
        };
        if call.parent.is_some() {
            self.inner_calls.push(call);
        } else if self.start.kind == RunKind::Direct {
            self.steps = self.steps.max(event.step.saturating_add(1));
            self.turns.push(Turn { step: event.step, text: None, calls: vec![call] });
        } else {
            return Err(FoldError::UnknownCall { seq: event.seq, call: call.call_id.to_string() });
        }
        Ok(())
    }

    fn decided(&mut self, event: &Event, decided: &ApprovalDecided) -> Result<(), FoldError> {
        // A decision that was refused decides nothing.
        if let Some(open) = &mut self.call(event)?.approval
            && decided.decision != "refused"
            && open.approval_id == decided.approval_id
        {
            open.decided = true;
            open.refused_as = match decided.decision.as_str() {
                "denied" => Some(Code::ApprovalDenied),
                "withdrawn" => Some(Code::ApprovalWithdrawn),
                _ => None,
            };
        }
        Ok(())
    }

    fn settle(&mut self, event: &Event, settled: Settled) -> Result<(), FoldError> {
        let call = self.call(event)?;
        if call.settled.is_some() {
            return Err(FoldError::SettledTwice { seq: event.seq, call: call.call_id.clone() });
        }
        call.settled = Some(settled);
        Ok(())
    }

    /// The call that an event is about. Found by its id, never by its place.
    fn call(&mut self, event: &Event) -> Result<&mut Call, FoldError> {
        let unknown = || FoldError::UnknownCall {
            seq: event.seq,
            call: event.call_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        };
        let call_id = event.call_id.as_ref().ok_or_else(unknown)?;
        self.turns
            .iter_mut()
            .rev()
            .flat_map(|turn| &mut turn.calls)
            .chain(&mut self.inner_calls)
            .find(|call| call.call_id == *call_id)
            .ok_or_else(unknown)
    }

    /// The run's id.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// What the run was started with.
    pub fn start(&self) -> &RunStart {
        &self.start
    }

    /// Its limits as they are now.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The number of the last event.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// When the time of the budget is up.
    pub fn deadline(&self) -> Timestamp {
        self.counted_from.after(self.budget.deadline())
    }

    /// Model turns, answered or not.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Executed calls, those made inside others included.
    pub fn valid_actions(&self) -> u32 {
        let executed =
            self.calls().chain(&self.inner_calls).filter(|call| call.settled.as_ref().is_some_and(was_executed));
        u32::try_from(executed.count()).unwrap_or(u32::MAX)
    }

    /// The answered model turns, oldest first.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The calls of all turns, in request order.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = &Call> {
        self.turns.iter().flat_map(|turn| &turn.calls)
    }

    /// Why the model gave no answer the last time it was asked.
    pub fn model_failure(&self) -> Option<(&str, &str)> {
        self.model_failure.as_ref().map(|(reason, detail)| (reason.as_str(), detail.as_str()))
    }

    /// Where the run stopped.
    pub fn stop(&self) -> Option<&Stop> {
        self.stop.as_ref()
    }
}

/// Whether a handler was entered for this call itself: a shared result costs nothing.
fn was_executed(settled: &Settled) -> bool {
    settled.status == Status::Executed && settled.meta.deduplicated.is_none()
}

impl Call {
    fn of(step: u32, call: RespondedCall) -> Self {
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
}

impl OpenApproval {
    fn of(asked: ApprovalRequested) -> Self {
        Self {
            approval_id: asked.approval_id,
            tool_version: asked.tool_version,
            expires_at: asked.expires_at,
            decided: false,
            refused_as: None,
        }
    }
}

fn body(event: &Event) -> Result<Body, FoldError> {
    if event.v > event.kind.version() {
        return Err(FoldError::NeedsNewerVersion { seq: event.seq, kind: event.kind.to_string() });
    }
    event.body().map_err(|error| FoldError::Body {
        seq: event.seq,
        kind: event.kind.to_string(),
        detail: error.to_string(),
    })
}

fn misplaced(event: &Event) -> FoldError {
    FoldError::Misplaced { seq: event.seq, kind: event.kind.to_string() }
}

#[cfg(test)]
mod tests;
