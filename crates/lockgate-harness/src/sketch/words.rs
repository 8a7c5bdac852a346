//! Commands in words, for comparing.

use lockgate_contract::ids::CallId;

use crate::plan::{Command, Planned};
use crate::stop::Stop;

/// A command in words, calls by their place in the turn.
pub(crate) fn words(command: &Command) -> String {
    match command {
        Command::CallModel { step } => format!("ask the model, step {step}"),
        Command::RunCalls(planned) => format!("run {}", list(planned.iter().map(planned_words))),
        Command::Settle(verdicts) => {
            let verdicts = verdicts.iter().map(|verdict| {
                let started = if verdict.started { " (started)" } else { "" };
                format!("{} {}{started}", place(&verdict.planned.call.call_id), verdict.code)
            });
            format!("settle {}", list(verdicts))
        }
        Command::Reconcile(planned) => format!("ask what became of {}", planned_words(planned)),
        Command::Wait(until) => format!("wait until {until}"),
        Command::Stop(stop) => format!("stop: {}", stop_words(stop)),
        Command::Ended(stop) => format!("ended: {}", stop_words(stop)),
    }
}

fn planned_words(planned: &Planned) -> String {
    let terms = &planned.terms;
    [
        Some(place(&planned.call.call_id).to_string()),
        terms.over_limit.map(|limit| format!("(over {limit})")),
        (!terms.may_start).then(|| "(may not start)".to_owned()),
        (terms.attempt > 1).then(|| format!("(attempt {})", terms.attempt)),
        terms.approval.as_ref().map(|approval| format!("(with {approval})")),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" ")
}

fn stop_words(stop: &Stop) -> String {
    let more = match stop {
        Stop::WaitingForApproval(approvals) => format!(" {}", list(approvals.iter().map(ToString::to_string))),
        Stop::NeedsReconciliation(calls) => format!(" {}", list(calls.iter().map(|call| place(call).to_string()))),
        Stop::Completed { completed_by: Some(by), .. } => format!(" {by:?}"),
        _ => String::new(),
    };
    format!("{} {}{more}", stop.status(), stop.reason())
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// The place of a call in its turn.
pub(crate) fn place(call: &CallId) -> u32 {
    call.as_str().rsplit('-').next().and_then(|index| index.parse().ok()).unwrap()
}
