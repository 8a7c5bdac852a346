//! Why a run stops: the reason that its event gives is there, and it is the right one (R-114… …R-199).

use std::collections::BTreeSet;

use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Event, RunCompleted, RunNeedsReconciliation, RunWaiting};
use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::Status;
use lockgate_contract::run::{CompletedBy, Completion, Limit, RunKind};

use crate::check::Invariant;
use crate::check::ledger::{Halt, Ledger, Stopped, Turn};

impl Ledger {
    /// An end that says nothing that other events could contradict.
    pub(super) fn run_ended(&mut self, event: &Event) {
        self.check_nothing_unknown(event);
        self.stopped(event, Halt::Ended);
    }

    pub(super) fn run_completed(&mut self, event: &Event, completed: &RunCompleted) {
        if let Some(wrong) = self.wrong_completion(completed) {
            let last = self.turns.last().map(|turn| turn.seq);
            let text = format!("the run is completed with reason `{}`, and {wrong}", completed.reason);
            self.report(Invariant::StopReason, last.into_iter().chain([event.seq]), None, text);
        }
        self.run_ended(event);
    }

    fn wrong_completion(&self, completed: &RunCompleted) -> Option<&'static str> {
        let start = self.start.as_ref()?;
        if self.blind {
            return None;
        }
        let last = self.turns.last();
        let wrong = match (completed.reason, completed.completed_by) {
            (Completion::CallSettled, None) => {
                (start.kind != RunKind::Direct).then_some("only a direct run ends with its call")
            }
            (Completion::FinalAnswer, None) => match last {
                Some(turn) if turn.calls.is_empty() => None,
                Some(_) => Some("the last turn holds calls"),
                None => Some("the model gave no answer"),
            },
            (Completion::GoalReached, Some(CompletedBy::Agent)) => {
                (!last.is_some_and(|turn| self.agent_is_done(turn))).then_some("no call that ends a run succeeded")
            }
            (Completion::GoalReached, Some(CompletedBy::Environment)) => (!last
                .is_some_and(|turn| self.environment_is_done(turn)))
            .then_some("the environment did not report it"),
            (Completion::FinalAnswer | Completion::CallSettled, Some(_)) => Some("this reason has no channel"),
            (Completion::GoalReached, None) => Some("it is not said who reached it"),
        };
        let said = last.and_then(|turn| turn.text.as_deref());
        wrong.or_else(|| (completed.answer.as_deref() != said).then_some("its answer is not what the model said last"))
    }

    fn agent_is_done(&self, turn: &Turn) -> bool {
        let Some(start) = &self.start else { return false };
        let done = |place: &usize| {
            let call = &self.calls[*place];
            start.binding.completes_run.contains(&call.tool_name)
                && call.settled().is_some_and(|settled| settled.ok && settled.status == Status::Executed)
        };
        turn.calls.iter().any(done)
    }

    fn environment_is_done(&self, turn: &Turn) -> bool {
        let reported =
            |place: &usize| self.calls[*place].settled().is_some_and(|settled| settled.env_reported_completion);
        turn.calls.iter().any(reported)
    }

    /// The model is not asked again once there is a reason to stop.
    pub(super) fn check_no_reason_to_stop(&mut self, event: &Event) {
        let Some(turn) = self.turns.last().filter(|_| !self.blind) else { return };
        let seqs = [turn.seq, event.seq];
        let text = if turn.calls.is_empty() {
            "the model is asked again behind its final answer"
        } else if self.environment_is_done(turn) || self.agent_is_done(turn) {
            "the model is asked again, and the goal is reached"
        } else {
            return;
        };
        self.report(Invariant::StopReason, seqs, None, text);
    }

    pub(super) fn run_waiting(&mut self, event: &Event, waiting: &RunWaiting) {
        if waiting.approvals.is_empty() {
            self.report(Invariant::StopReason, [event.seq], None, "the run waits for no approval");
        }
        for id in &waiting.approvals {
            let question = self.questions.get(id).map(|question| (question.seq, question.place));
            let ended = question.and_then(|(_, place)| self.calls[place].ending.as_ref()).map(|ending| ending.seq);
            let text = match (question, ended) {
                (None, _) if self.blind => continue,
                (None, _) => format!("the run waits for approval `{id}`, which nobody asked for"),
                (Some(_), Some(ended)) => {
                    format!("the run waits for approval `{id}`, whose call ended with event {ended}")
                }
                (Some(_), None) => continue,
            };
            let call_id = question.map(|(_, place)| self.calls[place].id.clone());
            let seqs = question.map(|(seq, _)| seq).into_iter().chain(ended).chain([event.seq]);
            self.report(Invariant::StopReason, seqs, call_id.as_ref(), text);
        }
        self.stop = Some(Stopped { seq: event.seq, halt: Halt::Waiting });
    }

    pub(super) fn run_limit_reached(&mut self, event: &Event, limit: Limit) {
        self.check_nothing_unknown(event);
        let used = self.budget.as_ref().map(|budget| match limit {
            Limit::MaxSteps => (self.turns.len() as u64, u64::from(budget.max_steps)),
            Limit::MaxValidActions => (u64::from(self.executed), u64::from(budget.max_valid_actions)),
            // Time is not in the events, and a turn's limit stops no run.
            Limit::MaxCallsPerTurn | Limit::Deadline => (0, 0),
        });
        if let Some((done, most)) = used.filter(|(done, most)| done < most && !self.blind) {
            let text = format!("the run stops at `{limit}` with {done} of {most}");
            self.report(Invariant::StopReason, [event.seq], None, text);
        }
        self.stopped(event, Halt::AtALimit);
    }

    pub(super) fn run_needs_reconciliation(&mut self, event: &Event, needs: &RunNeedsReconciliation) {
        let unknown = std::mem::take(&mut self.unknown);
        let listed: BTreeSet<&CallId> = needs.calls.iter().collect();
        for place in &unknown {
            let call = &self.calls[*place];
            if !listed.contains(&call.id) {
                let seqs = call.ending.as_ref().map(|ending| ending.seq).into_iter().chain([event.seq]);
                let text = "the effect of the call is unknown, and the run's stop does not list it";
                self.report_call(Invariant::UnknownEffect, *place, seqs, text);
            }
        }
        for call_id in listed {
            let place = self.places.get(call_id).copied();
            let is_unknown = |place: usize| {
                self.calls[place].settled().is_none_or(|settled| settled.effect_state == EffectState::Unknown)
            };
            if !place.is_some_and(is_unknown) && !self.blind {
                let ended = place.and_then(|place| self.calls[place].ending.as_ref()).map(|ending| ending.seq);
                let text = "the run stops because of a call whose effect is not unknown";
                self.report(Invariant::UnknownEffect, ended.into_iter().chain([event.seq]), Some(call_id), text);
            }
        }
        if needs.calls.is_empty() {
            let text = "the run stops because of unknown effects, and lists none";
            self.report(Invariant::UnknownEffect, [event.seq], None, text);
        }
        self.stopped(event, Halt::Unknown);
    }

    fn stopped(&mut self, event: &Event, halt: Halt) {
        self.check_open_calls(event, "the run stops");
        self.stop = Some(Stopped { seq: event.seq, halt });
    }
}
