//! What comes next in a run: a pure question over its state, which may be asked twice (architecture rule 7).

use std::collections::BTreeSet;
use std::sync::Arc;

use lockgate_contract::call::ToolCall;
use lockgate_contract::document::Document;
use lockgate_contract::effect::{EffectState, OnUnknown};
use lockgate_contract::event::Settled;
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::outcome::{Code, Outcome, Status};
use lockgate_contract::run::{CompletedBy, Limit, RunKind};
use lockgate_contract::time::Timestamp;
use lockgate_executor::{EarlierCall, Terms};

use crate::state::{CALL_SETTLED, Call, FINAL_ANSWER, GOAL_REACHED, RunState, Stop, Turn};

/// The next thing to do.
#[derive(Debug, Clone)]
pub enum Command {
    /// Ask the model for its next turn.
    CallModel {
        /// The number of the turn.
        step: u32,
    },
    /// Take these calls to the gate. Several of them may run side by side.
    RunCalls(Vec<Planned>),
    /// Settle these calls without the stages.
    Settle(Vec<Verdict>),
    /// Write this stop into the journal.
    Stop(Stop),
    /// Nothing: the run stopped.
    Ended(Stop),
}

/// A call on its way to the gate.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The call.
    pub call: ToolCall,
    /// Its terms.
    pub terms: Terms,
}

/// The run's own decision about a call.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The call, with its terms.
    pub planned: Planned,
    /// How it ends.
    pub code: Code,
    /// Whether its handler may have been entered.
    pub started: bool,
    /// Why, for people.
    pub why: &'static str,
}

/// What the driver knows and the journal does not.
#[derive(Debug, Clone)]
pub struct Facts<'d> {
    /// Now.
    pub now: Timestamp,
    /// The run was cancelled.
    pub cancelled: bool,
    /// Calls that the gate left open or held while this driver runs: asking again would change nothing.
    pub held: &'d BTreeSet<CallId>,
    /// Calls whose argument text this process has as the model sent it.
    pub unredacted: &'d BTreeSet<CallId>,
    /// How many reads may run side by side.
    pub parallel_reads: usize,
}

impl RunState {
    /// What comes next.
    pub fn next(&self, facts: &Facts<'_>) -> Command {
        if let Some(stop) = self.stop() {
            return Command::Ended(stop.clone());
        }
        if let Some(turn) = self.turns().last()
            && turn.calls.iter().any(|call| call.settled.is_none())
        {
            return self.next_of_turn(turn, facts);
        }
        match self.reason_to_stop(facts) {
            Some(stop) => Command::Stop(stop),
            None => Command::CallModel { step: u32::try_from(self.turns().len()).unwrap_or(u32::MAX) },
        }
    }

    /// The next calls of a turn that is not settled: gated in request order, reads side by side, never across an effect.
    fn next_of_turn(&self, turn: &Turn, facts: &Facts<'_>) -> Command {
        let open: Vec<&Call> = turn.calls.iter().filter(|call| call.settled.is_none()).collect();
        if facts.cancelled {
            return Command::Settle(open.iter().map(|call| cancelled(turn, call)).collect());
        }
        let mut waiting = Vec::new();
        let mut unknown_before = false;
        for (index, call) in turn.calls.iter().enumerate() {
            if let Some(settled) = &call.settled {
                unknown_before |= has_unknown_effect(settled);
                continue;
            }
            if unknown_before {
                let behind = turn.calls[index..].iter().filter(|call| call.settled.is_none());
                return Command::Settle(behind.map(|call| blocked(turn, call)).collect());
            }
            if let Some(verdict) = self.not_runnable(turn, call, facts) {
                return Command::Settle(vec![verdict]);
            }
            match standing(call, facts) {
                Standing::Waits(approval) => waiting.push(approval),
                // Whatever held it back is settled by now.
                Standing::Held | Standing::Ready if waiting.is_empty() => {
                    return match refused(turn, call) {
                        Some(verdict) => Command::Settle(vec![verdict]),
                        None => Command::RunCalls(self.batch(turn, index, facts)),
                    };
                }
                Standing::Held => {}
                // Something before it waits for a person: it may ask or be refused, but not start.
                Standing::Ready => {
                    if call.approval.is_none() {
                        let mut planned = self.planned(turn, index, facts);
                        planned.terms.may_start = false;
                        return Command::RunCalls(vec![planned]);
                    }
                }
            }
        }
        Command::Stop(Stop::WaitingForApproval(waiting))
    }

    /// The calls that start now, from `first` on: several if they only read and share nothing, else one.
    fn batch(&self, turn: &Turn, first: usize, facts: &Facts<'_>) -> Vec<Planned> {
        let reads = &self.start().binding.reads;
        let room = self.budget().max_valid_actions.saturating_sub(self.valid_actions());
        let most = facts.parallel_reads.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1);
        let mut keys = BTreeSet::new();
        let mut batch = Vec::new();
        for (index, call) in turn.calls.iter().enumerate().skip(first) {
            let fits = call.settled.is_none()
                && call.approval.is_none()
                && reads.get(&call.tool_name).is_some_and(|own| own.is_disjoint(&keys))
                && self.not_runnable(turn, call, facts).is_none();
            if batch.is_empty() || fits {
                batch.push(self.planned(turn, index, facts));
            }
            if !fits || batch.len() == most {
                break;
            }
            keys.extend(reads.get(&call.tool_name).into_iter().flatten().cloned());
        }
        batch
    }

    fn planned(&self, turn: &Turn, index: usize, facts: &Facts<'_>) -> Planned {
        let call = &turn.calls[index];
        let budget = self.budget();
        let over_limit = if index >= usize::try_from(budget.max_calls_per_turn).unwrap_or(usize::MAX) {
            Some(Limit::MaxCallsPerTurn)
        } else if self.actions_used_up() {
            Some(Limit::MaxValidActions)
        } else if self.time_used_up(facts) && self.start().kind == RunKind::Agent {
            Some(Limit::Deadline)
        } else {
            None
        };
        Planned { call: tool_call(call), terms: Terms { over_limit, ..terms(turn, call) } }
    }

    /// Calls that cannot go through the gate any more.
    fn not_runnable(&self, turn: &Turn, call: &Call, facts: &Facts<'_>) -> Option<Verdict> {
        let verdict = |code, started, why| {
            Some(Verdict { planned: Planned { call: tool_call(call), terms: terms(turn, call) }, code, started, why })
        };
        let replayable = self.start().binding.replayable.contains(&call.tool_name) && call.approval.is_none();
        if call.attempts > 0 && !replayable {
            verdict(Code::OutcomeUnknown, true, "its driver died after the effect was started, and the result was lost")
        } else if call.language.is_call() && call.redacted && !facts.unredacted.contains(&call.call_id) {
            let code = if call.approval.is_some() { Code::ApprovalStale } else { Code::InvalidArguments };
            verdict(code, false, "a secret was taken out of the stored arguments: they are not what the model sent")
        } else {
            None
        }
    }

    /// Why the model is not asked again, once every call is settled.
    fn reason_to_stop(&self, facts: &Facts<'_>) -> Option<Stop> {
        let unknown: Vec<CallId> = self
            .calls()
            .filter(|call| call.settled.as_ref().is_some_and(has_unknown_effect))
            .map(|call| call.call_id.clone())
            .collect();
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
        let answered = u32::try_from(self.turns().len()).unwrap_or(u32::MAX);
        (answered >= self.budget().max_steps).then_some(Stop::LimitReached(Limit::MaxSteps))
    }

    /// What the last turn says about the end of the run.
    fn reason_in_turn(&self, turn: &Turn, facts: &Facts<'_>) -> Option<Stop> {
        let completed = |reason, completed_by| Stop::Completed { reason, answer: turn.text.clone(), completed_by };
        if turn.calls.is_empty() {
            return Some(completed(FINAL_ANSWER, None));
        }
        let settled = |call: &'_ Call| call.settled.clone();
        if self.start().kind == RunKind::Direct {
            return Some(completed(CALL_SETTLED, None));
        }
        if turn.calls.iter().filter_map(settled).any(|settled| settled.env_reported_completion) {
            return Some(completed(GOAL_REACHED, Some(CompletedBy::Environment)));
        }
        let by_agent = |call: &Call| {
            self.start().binding.completes_run.contains(&call.tool_name)
                && call.settled.as_ref().is_some_and(|settled| settled.ok && settled.status == Status::Executed)
        };
        if turn.calls.iter().any(by_agent) {
            return Some(completed(GOAL_REACHED, Some(CompletedBy::Agent)));
        }
        let refused_by = |limit: Limit| {
            turn.calls.iter().filter_map(|call| call.settled.as_ref()).any(|settled| {
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

    fn actions_used_up(&self) -> bool {
        self.valid_actions() >= self.budget().max_valid_actions
    }

    fn time_used_up(&self, facts: &Facts<'_>) -> bool {
        facts.now >= self.deadline()
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

enum Standing {
    /// A person has to decide about it.
    Waits(ApprovalId),
    /// The gate let it pass, and it waits behind another.
    Held,
    /// It may go to the gate.
    Ready,
}

fn standing(call: &Call, facts: &Facts<'_>) -> Standing {
    match &call.approval {
        Some(open) if facts.held.contains(&call.call_id) || !(open.decided || facts.now >= open.expires_at) => {
            Standing::Waits(open.approval_id.clone())
        }
        None if facts.held.contains(&call.call_id) => Standing::Held,
        _ => Standing::Ready,
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

fn has_unknown_effect(settled: &Settled) -> bool {
    settled.effect_state == EffectState::Unknown
}

fn executed(call: &Call) -> bool {
    call.settled.as_ref().is_some_and(|settled| settled.status == Status::Executed)
}

fn cancelled(turn: &Turn, call: &Call) -> Verdict {
    let started = call.attempts > 0;
    Verdict {
        planned: Planned { call: tool_call(call), terms: terms(turn, call) },
        code: if started { Code::Interrupted } else { Code::Cancelled },
        started,
        why: "the run was cancelled",
    }
}

fn blocked(turn: &Turn, call: &Call) -> Verdict {
    Verdict {
        planned: Planned { call: tool_call(call), terms: terms(turn, call) },
        code: Code::Blocked,
        started: false,
        why: "a call before it in the same turn ended with an unknown effect",
    }
}

/// A person's no stands, also where the policy would not ask any more. The gate says so too, but only of a call that nothing
/// else there refuses first: with a limit used up or a denial, the person's answer would not be the call's outcome.
fn refused(turn: &Turn, call: &Call) -> Option<Verdict> {
    let code = call.approval.as_ref()?.refused_as?;
    Some(Verdict {
        planned: Planned { call: tool_call(call), terms: terms(turn, call) },
        code,
        started: false,
        why: SAID_NO,
    })
}

/// What the audit says about a call that a person refused.
pub(crate) const SAID_NO: &str = "a person said no to this call";

pub(crate) fn tool_call(call: &Call) -> ToolCall {
    ToolCall {
        call_id: call.call_id.clone(),
        step: call.step,
        parent: call.parent.clone(),
        provider_call_id: call.provider_call_id.clone(),
        tool_name: call.tool_name.clone(),
        arguments_text: call.arguments_text.clone(),
        language: call.language,
    }
}

fn terms(turn: &Turn, call: &Call) -> Terms {
    let earlier = turn
        .calls
        .iter()
        .take_while(|earlier| earlier.call_id != call.call_id)
        // Only what can be a duplicate, so that a flood of refused calls costs nothing.
        .filter(|earlier| earlier.tool_name == call.tool_name && executed(earlier))
        .filter_map(|earlier| {
            let settled = earlier.settled.clone()?;
            Some(EarlierCall {
                call_id: earlier.call_id.clone(),
                tool_name: earlier.tool_name.clone(),
                arguments_digest: settled.audit.arguments_digest?,
                settled,
            })
        })
        .collect();
    Terms {
        requested_before: call.requested,
        approval: call.approval.as_ref().map(|open| open.approval_id.clone()),
        attempt: call.attempts.saturating_add(1),
        earlier: Arc::new(earlier),
        ..Terms::default()
    }
}

#[cfg(test)]
mod tests;
