//! The state of a run: a fold over its events, and nothing else.

mod facts;

use std::sync::Arc;

use lockgate_contract::event::{Body, Event, EventType, ModelResponded, RunCompleted, Settled, ToolRequested};
use lockgate_contract::ids::RunId;
use lockgate_contract::run::{Budget, RunKind, RunStart};
use lockgate_contract::time::Timestamp;

use crate::error::FoldError;
use crate::stop::Stop;
use crate::turn::{Call, OpenApproval, Turn};

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
    /// Attempts that failed and were not the end of their calls.
    retries: u32,
    /// Questions that people were asked.
    questions: u32,
    stop: Option<Stop>,
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
            retries: 0,
            questions: 0,
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
            Body::ApprovalRequested(asked) => {
                self.call(event)?.approval = Some(OpenApproval::of(asked));
                self.questions = self.questions.saturating_add(1);
            }
            Body::ApprovalEdited(edited) => {
                if let Some(Stop::WaitingForApproval(waiting)) = &mut self.stop {
                    waiting
                        .iter_mut()
                        .filter(|id| **id == edited.approval_id)
                        .for_each(|id| *id = edited.edited_as.clone());
                }
                self.call(event)?.edit(*edited);
            }
            Body::ApprovalDecided(decided) => {
                if let Some(open) = &mut self.call(event)?.approval {
                    open.decide(&decided);
                }
            }
            Body::ApprovalConsumed(consumed) => {
                let asked = self.call(event)?.approval.as_mut();
                if let Some(asked) = asked.filter(|asked| asked.approval_id == consumed.approval_id) {
                    asked.used = true;
                }
            }
            Body::ToolStarted(started) => self.call(event)?.start(&started, event.at),
            Body::Settled(settled) => self.settle(event, Arc::unwrap_or_clone(settled))?,
            Body::ToolAttemptFailed(failed) => {
                self.call(event)?.attempt_failed(&failed, event.at);
                self.retries = self.retries.saturating_add(1);
            }
            Body::CallReconciled(found) => {
                let was_told = self.call(event)?.step.saturating_add(1) < self.steps;
                self.call(event)?.reconcile(found, was_told);
            }
            Body::RunLeaseTaken(_) => self.skip_idle_time(event),
            Body::RunResumed(resumed) => {
                if let Some(budget) = resumed.budget {
                    self.budget = budget;
                }
                self.skip_idle_time(event);
                self.stop = None;
            }
            Body::RunWaiting(waiting) => self.stop = Some(Stop::WaitingForApproval(waiting.approvals)),
            Body::RunCompleted(completed) => {
                let RunCompleted { reason, answer, completed_by } = completed;
                self.stop = Some(Stop::Completed { reason, answer, completed_by });
            }
            Body::RunFailed(failed) => {
                self.stop = Some(Stop::Failed { reason: failed.reason, detail: failed.detail });
            }
            Body::RunLimitReached(reached) => self.stop = Some(Stop::LimitReached(reached.limit)),
            Body::RunCancelled(_) => self.stop = Some(Stop::Cancelled),
            Body::RunNeedsReconciliation(needs) => self.stop = Some(Stop::NeedsReconciliation(needs.calls)),
            Body::ToolRelaxed(_) | Body::ToolAnsweredLate(_) | Body::ApprovalAgreed(_) => {}
            Body::Unknown => {
                // What only informs is kept and skipped; what steers a run must be understood.
                if event.kind.word().starts_with("run.") || event.kind.word().starts_with("call.") {
                    return Err(FoldError::NeedsNewerVersion { seq: event.seq, kind: event.kind.to_string() });
                }
            }
        }
        if !is_from_elsewhere(&event.kind) {
            self.last_active = event.at;
        }
        self.last_seq = event.seq;
        Ok(())
    }

    /// The time in which nobody drove the run is nobody's: it does not count.
    fn skip_idle_time(&mut self, event: &Event) {
        self.counted_from = self.counted_from.after(event.at.since(self.last_active));
    }

    fn responded(&mut self, step: u32, response: ModelResponded) {
        let calls = response.calls.into_iter().map(|call| Call::of(step, call)).collect();
        self.turns.push(Turn { step, text: response.text, calls, items: response.items });
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
        let call = Call::without_model(call_id, event.step, requested);
        if call.parent.is_some() {
            self.inner_calls.push(call);
        } else if self.start.kind == RunKind::Direct {
            self.steps = self.steps.max(event.step.saturating_add(1));
            self.turns.push(Turn { step: event.step, text: None, calls: vec![call], items: Vec::new() });
        } else {
            return Err(FoldError::UnknownCall { seq: event.seq, call: call.call_id.to_string() });
        }
        Ok(())
    }

    fn settle(&mut self, event: &Event, settled: Settled) -> Result<(), FoldError> {
        let call = self.call(event)?;
        if !call.is_open() {
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

    /// Whether no effect is unknown any more that somebody should find out about.
    pub fn is_reconciled(&self) -> bool {
        self.unknown_calls().next().is_none()
    }

    /// The calls whose effect is unknown, and of which somebody should find out.
    pub fn unknown_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls().filter(|call| call.has_unknown_effect())
    }

    /// Attempts that failed and were not the end of their calls.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Questions that people were asked. One that an edit put in place of another is none of its own.
    pub fn questions(&self) -> u32 {
        self.questions
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
        let executed = self.calls().chain(&self.inner_calls).filter(|call| call.is_valid_action());
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

/// Whether an event may come from somebody who does not drive the run: a decision, or an answer that comes late.
fn is_from_elsewhere(kind: &EventType) -> bool {
    matches!(
        kind,
        EventType::ApprovalAgreed
            | EventType::ApprovalEdited
            | EventType::ApprovalDecided
            | EventType::ToolAnsweredLate
            | EventType::CallReconciled
    )
}

pub(crate) fn body(event: &Event) -> Result<Body, FoldError> {
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
