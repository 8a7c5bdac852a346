//! An agent's run, before it exists.

use lockgate_contract::effect::OnUnknown;
use lockgate_contract::run::{Budget, RunBinding, RunKind, RunStart};
use lockgate_contract::subject::Subject;
use lockgate_executor::Gate;

/// An agent's run that does not exist yet.
#[derive(Debug, Clone)]
pub struct AgentRun {
    /// What the user asks.
    pub task: String,
    /// Standing instructions for the model.
    pub system: Option<String>,
    /// On whose behalf.
    pub subject: Subject,
    /// The tools of the run.
    pub binding: RunBinding,
    /// Its limits.
    pub budget: Budget,
    /// What it does after an unknown effect.
    pub on_unknown: OnUnknown,
    /// The run file, as it was named.
    pub run_file: Option<String>,
}

impl AgentRun {
    /// A run within the default limits, which stops after an unknown effect. What else it should be is set on its fields.
    pub fn new(task: impl Into<String>, subject: Subject, binding: RunBinding) -> Self {
        Self {
            task: task.into(),
            system: None,
            subject,
            binding,
            budget: Budget::default(),
            on_unknown: OnUnknown::Stop,
            run_file: None,
        }
    }

    /// What the journal keeps of it: its texts without secrets, and the model's name.
    pub(crate) fn start(self, gate: &Gate, model: Option<&str>) -> RunStart {
        let scrub = |text: &str| gate.scrub(text).into_owned();
        RunStart {
            kind: RunKind::Agent,
            task: Some(scrub(&self.task)),
            system: self.system.as_deref().map(scrub),
            subject: self.subject,
            binding: self.binding,
            budget: self.budget,
            on_unknown: self.on_unknown,
            model: model.map(str::to_owned),
            run_file: self.run_file,
            chained: false,
        }
    }
}
