//! What comes next in a run: a pure question over its state, which may be asked twice (architecture rule 7).

mod calls;
mod stops;

use std::collections::BTreeSet;

use lockgate_contract::call::ToolCall;
use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::Code;
use lockgate_contract::time::Timestamp;
use lockgate_executor::Terms;

pub(crate) use self::calls::{Recovery, SAID_NO};
use crate::state::RunState;
use crate::stop::Stop;
use crate::turn::Call;

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
    /// Ask the tool what became of this call, whose result was lost.
    Reconcile(Box<Planned>),
    /// Wait until this time before anything else: a failed attempt is not repeated at once.
    Wait(Timestamp),
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

/// The most calls of a turn that are read where the budget allows fewer. Each call gets its result, also where the budget
/// refuses it, and what comes next is asked over all calls of the turn after each of them.
const MOST_CALLS_READ: usize = 4096;

impl RunState {
    /// Whether a turn of so many calls is read, or is no answer: then nothing of it runs, and the run fails.
    pub(crate) fn reads_turn_of(&self, calls: usize) -> bool {
        let budget = usize::try_from(self.budget().max_calls_per_turn).unwrap_or(usize::MAX);
        calls <= MOST_CALLS_READ.max(budget)
    }

    /// What comes next.
    pub fn next(&self, facts: &Facts<'_>) -> Command {
        if let Some(stop) = self.stop() {
            return Command::Ended(stop.clone());
        }
        if let Some(turn) = self.turns().last()
            && turn.calls.iter().any(Call::is_open)
        {
            return self.next_of_turn(turn, facts);
        }
        match self.reason_to_stop(facts) {
            Some(stop) => Command::Stop(stop),
            None => Command::CallModel { step: self.answered_turns() },
        }
    }

    fn answered_turns(&self) -> u32 {
        u32::try_from(self.turns().len()).unwrap_or(u32::MAX)
    }

    fn actions_used_up(&self) -> bool {
        self.valid_actions() >= self.budget().max_valid_actions
    }

    fn time_used_up(&self, facts: &Facts<'_>) -> bool {
        facts.now >= self.deadline()
    }
}

#[cfg(test)]
mod tests;
