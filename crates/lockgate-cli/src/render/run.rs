//! What a run came to: the answer, the status line, and what a person can do next.

use std::fmt::Write as _;

use lockgate::contract::approval::Approval;
use lockgate::contract::ports::RunRecord;
use lockgate::contract::run::Limit;
use lockgate::contract::run::RunKind;
use lockgate::harness::{RunResult, RunState, Stop};

use crate::render::style::{FAINT, NAME, PLAIN, of_status, styled};
use crate::render::table::{Cell, Table};
use crate::render::text::{counted, cut, harmless, indented, labelled, one_line, shell_word};

/// How each call ended, in request order. A call goes by the provider's id where it has one.
pub(crate) fn calls(result: &RunResult) -> String {
    let mut table = Table::new(&["call", "tool", "version", "outcome"]);
    for call in &result.calls {
        let id = Some(call.provider_call_id.as_str()).filter(|id| !id.is_empty()).unwrap_or(call.call_id.as_str());
        let outcome = match (&call.code, call.status) {
            (Some(code), _) => code.word(),
            (None, Some(_)) => "ok",
            (None, None) => "open",
        };
        table.row([
            Cell::styled(FAINT, cut(id, 40)),
            Cell::styled(NAME, cut(&call.tool_name, 60)),
            Cell::new(call.tool_version.as_deref().map_or_else(|| "-".to_owned(), |version| cut(version, 20))),
            Cell::new(outcome),
        ]);
    }
    format!("\n{}", table.render())
}

/// What stands below the events: the answer, and the status line.
pub(crate) fn ending(result: &RunResult) -> String {
    let mut text = String::new();
    if let Some(answer) = result.answer.as_deref().filter(|answer| !answer.is_empty()) {
        text.push('\n');
        text.push_str(harmless(answer).trim_end_matches('\n'));
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&status_line(result));
    text
}

/// `status completed (final_answer) · 3 steps · 2 valid actions · run-34c559713956`
fn status_line(result: &RunResult) -> String {
    let status = result.status.map_or("running", |status| status.word());
    let reason = result.reason.as_deref().map(|reason| format!(" ({})", one_line(reason, 60))).unwrap_or_default();
    format!(
        "status {}{reason} · {} · {} · {}\n",
        styled(of_status(result.status), status),
        counted(result.steps.into(), "step"),
        counted(result.valid_actions.into(), "valid action"),
        result.run_id,
    )
}

/// The commands that go on from here, as a person would type them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Commands {
    /// The journal, where it is not the default.
    pub(crate) journal: Option<String>,
}

impl Commands {
    /// `lockgate` and these words, with the journal that the run is in.
    pub(crate) fn command(&self, words: &[&str]) -> String {
        let mut command = "lockgate".to_owned();
        for word in words {
            command.push(' ');
            command.push_str(&shell_word(word));
        }
        if let Some(url) = &self.journal {
            command.push_str(" --journal ");
            command.push_str(&shell_word(url));
        }
        styled(NAME, command)
    }

    /// Why nothing can go on from here, where the journal ends with this process.
    pub(crate) fn in_memory(&self) -> Option<&'static str> {
        (self.journal.as_deref() == Some("memory:")).then_some(
            "the journal was in memory, so this cannot be taken up again; `--journal sqlite:PATH` keeps it\n",
        )
    }

    /// What a person can do about a run that stopped; nothing where there is nothing to do.
    pub(crate) fn after(&self, state: &RunState, waiting: &[Approval]) -> String {
        let run = state.run_id().as_str();
        match state.stop() {
            None | Some(Stop::WaitingForApproval(_) | Stop::LimitReached(_)) if self.in_memory().is_some() => {
                self.in_memory().unwrap_or_default().to_owned()
            }
            Some(Stop::WaitingForApproval(_)) => self.decide(run, waiting),
            Some(Stop::LimitReached(limit)) => {
                let budget = larger(*limit, state);
                format!("to go on:\n  {}\n", self.command(&["runs", "resume", run, "--budget", &budget]))
            }
            Some(Stop::NeedsReconciliation(_)) if state.is_reconciled() => {
                format!("to go on:\n  {}\n", self.command(&["runs", "resume", run]))
            }
            Some(Stop::NeedsReconciliation(_)) => self.find_out(run, state),
            Some(Stop::Failed { reason, detail }) => {
                labelled(PLAIN, "failed:", if detail.is_empty() { reason } else { detail })
            }
            None => format!("this run was interrupted; to go on:\n  {}\n", self.command(&["runs", "resume", run])),
            Some(Stop::Completed { .. } | Stop::Cancelled) => String::new(),
        }
    }

    fn find_out(&self, run: &str, state: &RunState) -> String {
        let mut text = "it is not known whether these calls took effect:\n".to_owned();
        let unknown: Vec<&str> = state.unknown_calls().map(|call| call.call_id.as_str()).collect();
        text.push_str(&indented(&unknown.join("\n"), 2));
        let _ = writeln!(
            text,
            "look at what they reach, and at:\n  {}\nthen say, of each of them, one of:",
            self.command(&["runs", "show", run, "--all"]),
        );
        let first = unknown.first().copied().unwrap_or_default();
        for finding in ["done", "not-done", "abandon"] {
            let _ = writeln!(text, "  {}", self.command(&["runs", "reconcile", first, finding]));
        }
        text
    }

    fn decide(&self, run: &str, waiting: &[Approval]) -> String {
        let mut text = format!("waiting for a decision about {}:\n", counted(waiting.len() as u64, "call"));
        for approval in waiting {
            let id = approval.approval_id.as_str();
            let _ = writeln!(
                text,
                "  {id}  {} {} ({}), until {}\n    {}\n    {}\n    {}",
                one_line(&approval.tool_name, 60),
                one_line(&approval.tool_version, 20),
                approval.effect,
                approval.expires_at,
                self.command(&["approvals", "show", id]),
                self.command(&["approvals", "approve", id]),
                self.command(&["approvals", "deny", id]),
            );
        }
        let _ = writeln!(text, "then:\n  {}", self.command(&["runs", "resume", run]));
        text
    }
}

/// A budget that lets the run go on: twice what it had.
fn larger(limit: Limit, state: &RunState) -> String {
    let budget = state.budget();
    match limit {
        Limit::MaxSteps => format!("max_steps={}", budget.max_steps.saturating_mul(2).max(1)),
        Limit::MaxValidActions => format!("max_valid_actions={}", budget.max_valid_actions.saturating_mul(2).max(1)),
        Limit::MaxCallsPerTurn => format!("max_calls_per_turn={}", budget.max_calls_per_turn.saturating_mul(2).max(1)),
        Limit::Deadline => format!("deadline={}s", (budget.deadline_ms / 500).max(1)),
    }
}

/// Runs, newest first.
pub(crate) fn table(runs: &[RunRecord]) -> String {
    let mut table = Table::new(&["run", "status", "kind", "created", "updated", "title"]);
    for run in runs {
        let kind = match run.kind {
            RunKind::Agent => "agent",
            RunKind::Direct => "direct",
        };
        table.row([
            Cell::styled(NAME, run.run_id.as_str()),
            Cell::styled(of_status(run.status), run.status.map_or("running", |status| status.word())),
            Cell::styled(FAINT, kind),
            Cell::new(run.created_at.to_string()),
            Cell::new(run.updated_at.to_string()),
            Cell::styled(PLAIN, cut(&run.title, 60)),
        ]);
    }
    table.render()
}

#[cfg(test)]
mod tests;
