//! What a run is bound to and bounded by.

mod facts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::facts::RunFacts;
use crate::allowed::AllowedTools;
use crate::effect::OnUnknown;
use crate::subject::Subject;

/// What kind of run it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// A model decides what is called.
    Agent,
    /// Calls come one at a time from a caller, without a model.
    Direct,
}

/// All that the harness knows of the tools of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunBinding {
    /// The names that the run may call, with their definition digests.
    pub allowed: AllowedTools,
    /// Those whose success means that the agent is done.
    pub completes_run: BTreeSet<String>,
    /// Those that only read, with their resource keys: what may run side by side.
    #[serde(default)]
    pub reads: BTreeMap<String, BTreeSet<String>>,
    /// Those that may be run again when a result was lost.
    #[serde(default)]
    pub replayable: BTreeSet<String>,
    /// Those whose provider recognises an idempotency key, with the milliseconds for which it does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keyed: BTreeMap<String, u64>,
    /// Those that can find out what became of an attempt whose result was lost.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reconcilable: BTreeSet<String>,
}

/// The limits of a run. Harness information: no tool knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Model turns.
    pub max_steps: u32,
    /// Executed calls.
    pub max_valid_actions: u32,
    /// Calls of one model turn; the ones beyond get `limit_reached`.
    pub max_calls_per_turn: u32,
    /// Time from the start of the run, in milliseconds.
    pub deadline_ms: u64,
    /// Environment failures in a row, after which the run fails; 0 switches it off.
    pub max_environment_failures: u32,
    /// Model turns in a row with the same executed calls, arguments and observations, after which the run fails (S-53);
    /// 0 switches it off.
    pub max_repeated_turns: u32,
    /// Attempts beyond the first, over all calls of the run. Only what did not happen, or may happen twice, is tried again.
    pub max_retries: u32,
    /// Questions to people; a call beyond them that would ask is refused. Absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_questions: Option<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            max_steps: 20,
            max_valid_actions: 50,
            max_calls_per_turn: 32,
            deadline_ms: 600_000,
            max_environment_failures: 3,
            max_repeated_turns: 6,
            max_retries: 0,
            max_questions: None,
        }
    }
}

impl Budget {
    /// Time from the start of the run.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }
}

/// Which limit refuses a call or ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Model turns.
    MaxSteps,
    /// Executed calls.
    MaxValidActions,
    /// Calls of one turn.
    MaxCallsPerTurn,
    /// Time.
    Deadline,
}

impl Limit {
    /// The word in events and results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::MaxSteps => "max_steps",
            Self::MaxValidActions => "max_valid_actions",
            Self::MaxCallsPerTurn => "max_calls_per_turn",
            Self::Deadline => "deadline",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The closed set of states in which a run's driver stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The goal is reached, or the model gave its answer.
    Completed,
    /// A budget is used up.
    LimitReached,
    /// A person has to decide.
    WaitingForApproval,
    /// A person has to find out what happened.
    NeedsReconciliation,
    /// It cannot go on.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunStatus {
    /// The word in events and results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::LimitReached => "limit_reached",
            Self::WaitingForApproval => "waiting_for_approval",
            Self::NeedsReconciliation => "needs_reconciliation",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a run is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// The model answered with text and asked for no call.
    FinalAnswer,
    /// The goal is reached; [`CompletedBy`] says who said so.
    GoalReached,
    /// The one call of a direct run is settled.
    CallSettled,
}

impl Completion {
    /// The word in events and results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::FinalAnswer => "final_answer",
            Self::GoalReached => "goal_reached",
            Self::CallSettled => "call_settled",
        }
    }
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Who said that the goal is reached. Two channels that are never merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletedBy {
    /// A tool with `completes_run` succeeded.
    Agent,
    /// The environment reported it.
    Environment,
}

/// What a run was started with: all that a resume needs beside the handlers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunStart {
    /// What kind of run.
    pub kind: RunKind,
    /// What the user asked.
    pub task: Option<String>,
    /// Standing instructions for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// On whose behalf.
    pub subject: Subject,
    /// The tools of the run.
    pub binding: RunBinding,
    /// Its limits.
    pub budget: Budget,
    /// What it does after an unknown effect.
    pub on_unknown: OnUnknown,
    /// The model adapter's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The run file, as it was named; a resume reads handlers from it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_file: Option<String>,
    /// Whether each event carries a hash over itself and the one before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chained: bool,
}

impl RunStart {
    /// A run for calls that come without a model, within the default limits.
    pub fn direct(subject: Subject, binding: RunBinding) -> Self {
        Self {
            kind: RunKind::Direct,
            task: None,
            system: None,
            subject,
            binding,
            budget: Budget::default(),
            on_unknown: OnUnknown::Stop,
            model: None,
            run_file: None,
            chained: false,
        }
    }
}

#[cfg(test)]
mod tests;
