//! What recovery writes: who took the run over, attempts that failed, and what was found out later (R-126…R-129).

use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{CallReconciled, Event, Finding, RunLeaseTaken, ToolAnsweredLate, ToolAttemptFailed};
use lockgate_contract::outcome::Status;

use crate::check::Invariant;
use crate::check::ledger::{Ending, Ledger, Start};

impl Ledger {
    /// Every driver but the first takes a number of its own, one higher than the last (a fencing token).
    pub(super) fn run_lease_taken(&mut self, event: &Event, taken: &RunLeaseTaken) {
        if taken.epoch <= self.epoch {
            let text = format!("the run is taken over with number {}, and it had number {}", taken.epoch, self.epoch);
            self.report(Invariant::Ending, [event.seq], None, text);
        }
        self.epoch = taken.epoch;
        self.drive += 1;
    }

    /// An attempt failed, and its call goes on: it was started, and is the last one.
    pub(super) fn tool_attempt_failed(&mut self, event: &Event, failed: &ToolAttemptFailed) {
        let Some(place) = self.requested_call_of(event) else { return };
        self.check_unsettled(place, event);
        let last = self.calls[place].starts.last_mut();
        let is_last =
            |start: &&mut Start| start.body.as_ref().is_none_or(|body| body.attempt == failed.attempt) && !start.over;
        if let Some(start) = last.filter(is_last) {
            start.over = true;
            start.unknown = failed.settled.effect_state == EffectState::Unknown;
        } else {
            let text = format!("attempt {} failed, and it is not under way", failed.attempt);
            self.report_call(Invariant::Attempts, place, [event.seq], text);
        }
    }

    /// An answer that came too late to be one: of an attempt that was started.
    pub(super) fn tool_answered_late(&mut self, event: &Event, late: &ToolAnsweredLate) {
        let Some(place) = self.requested_call_of(event) else { return };
        let started = self.calls[place].starts.len() as u64;
        if late.attempt == 0 || u64::from(late.attempt) > started {
            let text = format!("attempt {} answers late, and {started} were started", late.attempt);
            self.report_call(Invariant::Attempts, place, [event.seq], text);
        }
    }

    /// Only what is unknown is found out about: a result with an unknown effect, or an attempt that was lost.
    pub(super) fn call_reconciled(&mut self, event: &Event, found: CallReconciled) {
        let Some(place) = self.requested_call_of(event) else { return };
        let call = &self.calls[place];
        let is_lost = call.ending.is_none() && call.starts.last().is_some_and(|start| !start.over);
        let is_unknown = self.to_find_out.contains(&place);
        if !(is_unknown || is_lost && found.reopens()) {
            let ended = call.ending.as_ref().map(|ending| ending.seq);
            let text = "what became of the call is found out, and nothing about it was unknown";
            self.report_call(Invariant::UnknownEffect, place, ended.into_iter().chain([event.seq]), text);
            return;
        }
        self.to_find_out.remove(&place);
        self.unknown.retain(|unknown| *unknown != place);
        let was_told = self.step > self.calls[place].step;
        let call = &mut self.calls[place];
        if let Some(start) = call.starts.last_mut() {
            start.over = true;
            start.unknown = false;
        }
        if found.reopens() && !was_told {
            if call.ending.take().is_some_and(|ending| ending.body.is_some_and(|body| body.status == Status::Executed))
            {
                self.executed = self.executed.saturating_sub(1);
            }
            self.open.insert(place);
        } else if let Some(settled) = found.settled {
            let contradicts = match found.finding {
                Finding::Done => settled.effect_state != EffectState::Done,
                Finding::NotDone => settled.effect_state != EffectState::None,
                Finding::Abandoned => true,
            };
            call.ending = Some(Ending { seq: event.seq, body: Some(settled) });
            if contradicts {
                let text = format!("the call is found `{}`, and its result says something else", found.finding);
                self.report_call(Invariant::OutcomeTable, place, [event.seq], text);
            }
        }
    }
}
