//! Which calls of a turn come next: in request order, reads side by side, never across an effect.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::digest::Digest;
use lockgate_contract::ids::ApprovalId;
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::run::{Limit, RunFacts, RunKind};
use lockgate_contract::time::Timestamp;
use lockgate_executor::{EarlierCall, Terms};

use crate::plan::{Command, Facts, Planned, Verdict};
use crate::state::RunState;
use crate::stop::Stop;
use crate::turn::{Call, Turn};

impl RunState {
    /// The next calls of a turn that is not settled.
    pub(super) fn next_of_turn(&self, turn: &Turn, facts: &Facts<'_>) -> Command {
        if facts.cancelled {
            let open = turn.calls.iter().filter(|call| call.is_open());
            return Command::Settle(open.map(|call| cancelled(turn, call)).collect());
        }
        let mut waiting = Vec::new();
        let mut unknown_before = false;
        for (index, call) in turn.calls.iter().enumerate() {
            if !call.is_open() {
                unknown_before |= call.has_unknown_effect();
                continue;
            }
            if unknown_before {
                let behind = turn.calls[index..].iter().filter(|call| call.is_open());
                return Command::Settle(behind.map(|call| blocked(turn, call)).collect());
            }
            if let Some(verdict) = not_runnable(turn, call, facts) {
                return Command::Settle(vec![verdict]);
            }
            // An attempt that failed and may have taken effect is repeated under the conditions of one that was lost: days may
            // lie between the two.
            if call.is_lost() || call.attempts > 0 && call.unknown_before {
                match self.recovery(call, facts.now) {
                    Recovery::RunAgain => {}
                    Recovery::Ask => return Command::Reconcile(Box::new(Planned::lost(turn, call))),
                    Recovery::Unknown => return Command::Settle(vec![lost(turn, call)]),
                }
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
                // Once the time is used up, the gate refuses it instead.
                Standing::BacksOff(until) if waiting.is_empty() && !self.time_used_up(facts) => {
                    return Command::Wait(until.min(self.deadline()));
                }
                Standing::BacksOff(_) if waiting.is_empty() => {
                    return Command::RunCalls(vec![self.planned(turn, index, facts, 0)]);
                }
                Standing::Held | Standing::BacksOff(_) => {}
                // Something before it waits for a person: it may ask or be refused, but not start.
                Standing::Ready => {
                    if call.question().is_none() {
                        let mut planned = self.planned(turn, index, facts, 0);
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
            let fits = call.is_open()
                && call.attempts == 0
                && call.question().is_none()
                && reads.get(&call.tool_name).is_some_and(|own| own.is_disjoint(&keys))
                && not_runnable(turn, call, facts).is_none();
            if batch.is_empty() || fits {
                batch.push(self.planned(turn, index, facts, batch.len()));
            }
            if !fits || batch.len() == most {
                break;
            }
            keys.extend(reads.get(&call.tool_name).into_iter().flatten().cloned());
        }
        batch
    }

    /// A call as it goes to the gate, beside so many others that may fail and be tried again.
    fn planned(&self, turn: &Turn, index: usize, facts: &Facts<'_>, beside: usize) -> Planned {
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
        let mut planned = Planned::of(turn, call);
        planned.terms.over_limit = over_limit;
        let used = usize::try_from(self.retries()).unwrap_or(usize::MAX).saturating_add(beside);
        let asked = usize::try_from(self.questions()).unwrap_or(usize::MAX).saturating_add(beside);
        planned.terms.may_ask =
            budget.max_questions.is_none_or(|most| asked < usize::try_from(most).unwrap_or(usize::MAX));
        let facts_of_run = self.facts(&call.call_id);
        let reads_beside = u32::try_from(beside).unwrap_or(u32::MAX);
        planned.terms.run = RunFacts {
            calls: facts_of_run.calls.saturating_add(reads_beside),
            actions_left: facts_of_run.actions_left.map(|left| left.saturating_sub(reads_beside)),
            questions: facts_of_run.questions.saturating_add(reads_beside),
            questions_left: facts_of_run.questions_left.map(|left| left.saturating_sub(reads_beside)),
            ..facts_of_run
        };
        planned.terms.may_retry = used < usize::try_from(budget.max_retries).unwrap_or(usize::MAX);
        planned
    }

    /// What recovery does about a call whose result was lost (the crash matrix). It runs again only where a second attempt
    /// has no second effect.
    pub(crate) fn recovery(&self, call: &Call, now: Timestamp) -> Recovery {
        let binding = &self.start().binding;
        let remembered = |window: &u64| {
            call.first_started.is_some_and(|started| now < started.after(Duration::from_millis(*window)))
        };
        if !call.has_its_arguments() {
            Recovery::Unknown
        } else if binding.replayable.contains(&call.tool_name)
            || binding.keyed.get(&call.tool_name).is_some_and(remembered)
        {
            Recovery::RunAgain
        } else if binding.reconcilable.contains(&call.tool_name) {
            Recovery::Ask
        } else {
            Recovery::Unknown
        }
    }
}

/// What becomes of a call whose result was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Another attempt, under the same idempotency key.
    RunAgain,
    /// The tool is asked what became of it.
    Ask,
    /// Nobody knows.
    Unknown,
}

/// Calls that cannot go through the gate any more.
fn not_runnable(turn: &Turn, call: &Call, facts: &Facts<'_>) -> Option<Verdict> {
    if !call.language.is_call() || !call.is_redacted() || call.is_lost() || facts.unredacted.contains(&call.call_id) {
        return None;
    }
    let code = if call.question().is_some() { Code::ApprovalStale } else { Code::InvalidArguments };
    let why = "a secret was taken out of the stored arguments: they are not what the model sent";
    Some(Verdict::of(turn, call, code, false, why))
}

/// How long the run waits before it repeats a failed attempt: twice as long after each, up to half a minute, and by a part
/// that differs from call to call, so that calls that failed together do not come back together. The same each time it is
/// asked.
fn back_off(call: &Call) -> Duration {
    const FIRST: Duration = Duration::from_millis(250);
    const LONGEST: Duration = Duration::from_secs(30);
    let doubled = 2_u32.saturating_pow(call.attempts.saturating_sub(1));
    let whole = FIRST.saturating_mul(doubled).min(LONGEST);
    let spread = Digest::of_text("lockgate.backoff.v1", &format!("{}#{}", call.call_id, call.attempts));
    // Between a half and the whole.
    let part = u32::from_str_radix(&spread.short(4), 16).unwrap_or(0);
    whole / 2 + (whole / 2).saturating_mul(part) / 0x1_0000
}

enum Standing {
    /// A person has to decide about it.
    Waits(ApprovalId),
    /// The gate let it pass, and it waits behind another.
    Held,
    /// Its last attempt failed, and the next one has to wait.
    BacksOff(Timestamp),
    /// It may go to the gate.
    Ready,
}

fn standing(call: &Call, facts: &Facts<'_>) -> Standing {
    let retry_at = call.failed_at.map(|failed| failed.after(back_off(call)));
    match call.question() {
        _ if retry_at.is_some_and(|at| facts.now < at) => Standing::BacksOff(retry_at.unwrap_or_default()),
        Some(open) if facts.held.contains(&call.call_id) || !(open.decided || facts.now >= open.expires_at) => {
            Standing::Waits(open.approval_id.clone())
        }
        None if facts.held.contains(&call.call_id) => Standing::Held,
        _ => Standing::Ready,
    }
}

/// What the audit says about a call that a person refused.
pub(crate) const SAID_NO: &str = "a person said no to this call";

/// A person's no stands, also where the policy would not ask any more. The gate says so too, but only of a call that nothing
/// else there refuses first: with a limit used up or a denial, the person's answer would not be the call's outcome.
fn refused(turn: &Turn, call: &Call) -> Option<Verdict> {
    let code = call.question()?.refused_as?;
    Some(Verdict::of(turn, call, code, false, SAID_NO))
}

fn lost(turn: &Turn, call: &Call) -> Verdict {
    let why = "its driver died after the effect was started, and the result was lost";
    Verdict::of(turn, call, Code::OutcomeUnknown, true, why)
}

fn cancelled(turn: &Turn, call: &Call) -> Verdict {
    let started = call.underway;
    let code = if started { Code::Interrupted } else { Code::Cancelled };
    Verdict::of(turn, call, code, started, "the run was cancelled")
}

fn blocked(turn: &Turn, call: &Call) -> Verdict {
    let why = "a call before it in the same turn ended with an unknown effect";
    Verdict::of(turn, call, Code::Blocked, false, why)
}

impl Verdict {
    fn of(turn: &Turn, call: &Call, code: Code, started: bool, why: &'static str) -> Self {
        let planned = if started { Planned::lost(turn, call) } else { Planned::of(turn, call) };
        Self { planned, code, started, why }
    }
}

impl Planned {
    fn of(turn: &Turn, call: &Call) -> Self {
        let terms = Terms {
            requested_before: call.requested,
            approval: call.question().map(|open| open.approval_id.clone()),
            said: call.question().and_then(|open| open.reason.clone()),
            edited: call.edited.is_some(),
            unknown_before: call.unknown_before || call.is_lost(),
            attempt: call.attempts.saturating_add(1),
            idempotency_key: call.idempotency_key.clone(),
            earlier: Arc::new(earlier(turn, call)),
            ..Terms::default()
        };
        Self { call: call.tool_call(), terms }
    }

    /// The attempt that was started, and whose result was lost.
    fn lost(turn: &Turn, call: &Call) -> Self {
        let mut planned = Self::of(turn, call);
        planned.terms.attempt = call.attempts;
        planned
    }
}

/// The executed calls of the turn before this one that it can be a duplicate of: a flood of refused calls costs nothing.
fn earlier(turn: &Turn, call: &Call) -> Vec<EarlierCall> {
    turn.calls
        .iter()
        .take_while(|earlier| earlier.call_id != call.call_id)
        .filter(|earlier| earlier.tool_name == call.tool_name)
        .filter_map(|earlier| {
            let settled = earlier.settled.as_ref().filter(|settled| settled.status == Status::Executed)?;
            Some(EarlierCall {
                call_id: earlier.call_id.clone(),
                tool_name: earlier.tool_name.clone(),
                arguments_digest: settled.audit.arguments_digest?,
                settled: settled.clone(),
            })
        })
        .collect()
}
