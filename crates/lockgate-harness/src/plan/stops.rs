//! Why the model is not asked again, once every call is settled.

use lockgate_contract::document::Document;
use lockgate_contract::effect::OnUnknown;
use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::{Code, Outcome, Status};
use lockgate_contract::run::{CompletedBy, Completion, Limit, RunKind};

use crate::plan::Facts;
use crate::state::RunState;
use crate::stop::Stop;
use crate::turn::{Call, Turn};

impl RunState {
    /// Why the model is not asked again; nothing where it is.
    pub(super) fn reason_to_stop(&self, facts: &Facts<'_>) -> Option<Stop> {
        let unknown: Vec<CallId> =
            self.calls().filter(|call| call.has_unknown_effect()).map(|call| call.call_id.clone()).collect();
        if !unknown.is_empty() && self.start().on_unknown == OnUnknown::Stop {
            return Some(Stop::NeedsReconciliation(unknown));
        }
        if facts.cancelled {
            return Some(Stop::Cancelled);
        }
        if let Some(stop) = self.turns().last().and_then(|turn| self.reason_in_turn(turn, facts)) {
            return Some(stop);
        }
        if let Some((reason, detail)) = self.model_failure() {
            return Some(Stop::Failed { reason: reason.to_owned(), detail: detail.to_owned() });
        }
        if self.time_used_up(facts) {
            return Some(Stop::LimitReached(Limit::Deadline));
        }
        (self.answered_turns() >= self.budget().max_steps).then_some(Stop::LimitReached(Limit::MaxSteps))
    }

    /// What the last turn says about the end of the run.
    fn reason_in_turn(&self, turn: &Turn, facts: &Facts<'_>) -> Option<Stop> {
        let completed = |reason, completed_by| Stop::Completed { reason, answer: turn.text.clone(), completed_by };
        if turn.calls.is_empty() {
            return Some(completed(Completion::FinalAnswer, None));
        }
        if self.start().kind == RunKind::Direct {
            return Some(completed(Completion::CallSettled, None));
        }
        let settled = || turn.calls.iter().filter_map(|call| call.settled.as_ref());
        if settled().any(|settled| settled.env_reported_completion) {
            return Some(completed(Completion::GoalReached, Some(CompletedBy::Environment)));
        }
        let by_agent = |call: &Call| {
            self.start().binding.completes_run.contains(&call.tool_name)
                && call.settled.as_ref().is_some_and(|settled| settled.ok && settled.status == Status::Executed)
        };
        if turn.calls.iter().any(by_agent) {
            return Some(completed(Completion::GoalReached, Some(CompletedBy::Agent)));
        }
        let refused_by = |limit: Limit| {
            settled().any(|settled| {
                settled.code == Some(Outcome::Gate(Code::LimitReached))
                    && settled.reason.as_deref() == Some(limit.word())
            })
        };
        // A limit that was raised since stops nothing any more.
        for (limit, used_up) in
            [(Limit::MaxValidActions, self.actions_used_up()), (Limit::Deadline, self.time_used_up(facts))]
        {
            if used_up && refused_by(limit) {
                return Some(Stop::LimitReached(limit));
            }
        }
        self.failing_environment().or_else(|| self.loop_detected())
    }

    /// A dead backend is said to be one, instead of using up the budget.
    fn failing_environment(&self) -> Option<Stop> {
        let limit = usize::try_from(self.budget().max_environment_failures).unwrap_or(usize::MAX);
        let last = self
            .calls()
            .rev()
            .filter_map(|call| call.settled.as_ref())
            .filter(|settled| settled.status != Status::NotExecuted)
            .take_while(|settled| settled.status == Status::EnvError);
        (limit > 0 && last.take(limit).count() == limit).then(|| Stop::Failed {
            reason: "environment_unavailable".to_owned(),
            detail: format!("{limit} environment failures in a row"),
        })
    }

    /// The same executed calls, arguments and observations, turn after turn: more steps would not help (S-53).
    fn loop_detected(&self) -> Option<Stop> {
        let limit = usize::try_from(self.budget().max_repeated_turns).unwrap_or(usize::MAX);
        if limit < 2 || self.turns().len() < limit {
            return None;
        }
        let recent = &self.turns()[self.turns().len() - limit..];
        let first = signature(&recent[0])?;
        recent[1..].iter().all(|turn| signature(turn).as_ref() == Some(&first)).then(|| Stop::Failed {
            reason: "loop_detected".to_owned(),
            detail: format!("{limit} turns in a row made the same calls and saw the same results"),
        })
    }
}

/// What a turn did and saw; nothing for a turn in which something was not executed.
fn signature(turn: &Turn) -> Option<Vec<(String, String, String)>> {
    turn.calls
        .iter()
        .map(|call| {
            let settled = call.settled.as_ref().filter(|settled| settled.status == Status::Executed)?;
            let arguments = settled.audit.arguments_digest.map(|digest| digest.to_string()).unwrap_or_default();
            let seen = match (&settled.code, &settled.data) {
                (Some(code), _) => code.to_string(),
                (None, data) => data.as_ref().map(Document::canonical).unwrap_or_default(),
            };
            Some((call.tool_name.clone(), arguments, seen))
        })
        .collect()
}
