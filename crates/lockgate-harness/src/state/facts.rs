//! What a policy is told of a run.

use lockgate_contract::ids::CallId;
use lockgate_contract::run::{RunFacts, RunKind};

use super::RunState;

impl RunState {
    /// What the run did but for this call, and what its budget has left. A direct run has no budget that bounds its call.
    pub fn facts(&self, of: &CallId) -> RunFacts {
        let others = || self.calls().chain(&self.inner_calls).filter(|call| call.call_id != *of && call.attempts > 0);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let facts = RunFacts {
            calls: number(others().count()),
            actions: number(others().filter(|call| call.changes_something).count()),
            questions: self.questions,
            ..RunFacts::default()
        };
        if self.start.kind == RunKind::Direct {
            return facts;
        }
        RunFacts {
            steps_left: Some(self.budget.max_steps.saturating_sub(number(self.turns.len()))),
            actions_left: Some(self.budget.max_valid_actions.saturating_sub(self.valid_actions())),
            questions_left: self.budget.max_questions.map(|most| most.saturating_sub(self.questions)),
            ..facts
        }
    }
}

#[cfg(test)]
mod tests;
