//! Exit codes: a script tells from them what happened, without reading anything.

use std::process::ExitCode;

use lockgate::contract::outcome::{Code, Outcome, Status};
use lockgate::contract::result::ToolResult;
use lockgate::contract::run::RunStatus;

/// What the process ends with. The numbers are an interface: they never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The run completed, the call succeeded, the command did what it says.
    Ok = 0,
    /// `call`: the tool failed. `approvals`: the decision was not taken, or not everybody was reminded. `doctor`: a check
    /// failed. `journal check`: an invariant is broken. `redact --check`: a secret was found. `journal import`: refused,
    /// nothing was imported. `policy backtest`: a call would get another answer. `policy prove`: a property is refuted, or not
    /// proved.
    Failed = 1,
    /// Usage or configuration: nothing was started.
    Usage = 2,
    /// A person has to decide first.
    Waiting = 3,
    /// A budget of the run is used up.
    LimitReached = 4,
    /// It is not known what happened to the world.
    Unknown = 5,
    /// The run cannot go on.
    RunFailed = 6,
    /// `call`: refused before anything ran.
    Refused = 7,
    /// `call`: the tool's environment is broken, or it gave no answer in time.
    Environment = 8,
    /// A defect of this program; the number is the one that a panic has everywhere.
    Defect = 101,
    /// Cancelled, as a shell writes an interrupt.
    Cancelled = 130,
}

impl Exit {
    /// Of `run` and `runs resume`. A run without a stop state could go on, and nobody drives it.
    pub(crate) fn of_run(status: Option<RunStatus>) -> Self {
        match status {
            Some(RunStatus::Completed) => Self::Ok,
            Some(RunStatus::WaitingForApproval) => Self::Waiting,
            Some(RunStatus::LimitReached) => Self::LimitReached,
            Some(RunStatus::NeedsReconciliation) => Self::Unknown,
            Some(RunStatus::Failed) | None => Self::RunFailed,
            Some(RunStatus::Cancelled) => Self::Cancelled,
        }
    }

    /// Of `call`. `status` is nothing while the call is open.
    pub(crate) fn of_call(result: &ToolResult, status: Option<Status>) -> Self {
        let code = match result.code() {
            None => return Self::Ok,
            Some(Outcome::Tool(_)) => return Self::Failed,
            Some(Outcome::Gate(code)) => *code,
        };
        match code {
            Code::ApprovalRequired => Self::Waiting,
            Code::Cancelled => Self::Cancelled,
            // It ran, and what is stored does not say so: somebody has to look, as with an unknown effect.
            Code::OutcomeUnknown | Code::Interrupted | Code::ResultNotRecorded => Self::Unknown,
            Code::EnvironmentError | Code::TimedOut => Self::Environment,
            Code::ToolInternalError | Code::InvalidToolOutput => Self::Failed,
            // A defect of the gate after the handler was entered.
            Code::GateInternalError if status == Some(Status::Executed) => Self::Unknown,
            _ => Self::Refused,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests;
