//! One event, one line of the table.
//!
//! The lines are printed as the events come, so the columns have fixed widths: those of the longest names there are.

use std::fmt::Write as _;

use anstyle::Style;
use lockgate::contract::event::{Body, Event, EventType, ModelResponded, RunResumed, Settled};
use lockgate::contract::ids::ApprovalId;
use lockgate::contract::run::CompletedBy;

use crate::render::style::{BAD, FAINT, GOOD, OPEN, PLAIN, styled};
use crate::render::text::{counted, cut, hanging, one_line, padded, width};

/// The table of a run's events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventTable {
    /// Every record, and what stands in the audit of a failed call.
    all: bool,
    /// Columns of the event's name.
    name: usize,
}

/// Numbers up to 9999.
const NUMBER: usize = 4;
/// `run-34c559713956:step-0:call-0`
const PLACE: usize = 30;
/// What is said about an event.
const NOTE: usize = 100;
/// What is shown of an argument text.
const ARGUMENTS: usize = 60;
/// Where a line below an event begins: a little right of the event's name.
const BELOW: usize = NUMBER + 4;

impl EventTable {
    /// Of the protocol view, or of every record.
    pub(crate) fn new(all: bool) -> Self {
        Self { all, name: if all { "run.needs_reconciliation".len() } else { "model.responded".len() } }
    }

    /// The names of the columns.
    pub(crate) fn header(self) -> String {
        self.line("seq", PLAIN, "event", "step or call", "note", FAINT)
    }

    /// The line of an event, under a number of the view's own.
    pub(crate) fn row(self, number: u64, event: &Event) -> String {
        let place = event.call_id.as_ref().map_or_else(|| format!("step {}", event.step), ToString::to_string);
        let note = one_line(&note(event), NOTE);
        let line = self.line(&number.to_string(), of_event(event), event.kind.word(), &place, &note, PLAIN);
        if self.all { format!("{line}{}", below(event)) } else { line }
    }

    fn line(self, number: &str, style: Style, name: &str, place: &str, note: &str, all: Style) -> String {
        let number = format!("{}{number}", " ".repeat(NUMBER.saturating_sub(width(number))));
        let name = if name.len() > self.name { one_line(name, self.name) } else { padded(name, self.name) };
        let line = if note.is_empty() {
            format!("{number}  {}  {place}", styled(style, name.as_str()))
        } else {
            format!("{number}  {}  {}  {note}", styled(style, name.as_str()), padded(place, PLACE))
        };
        format!("{}\n", styled(all, line))
    }
}

/// How an event's name looks.
fn of_event(event: &Event) -> Style {
    match event.kind {
        EventType::ToolFinished | EventType::RunCompleted => GOOD,
        EventType::ToolFailed
        | EventType::ModelFailed
        | EventType::RunFailed
        | EventType::RunNeedsReconciliation
        | EventType::RunCancelled => BAD,
        EventType::ApprovalRequested
        | EventType::ToolAttemptFailed
        | EventType::RunWaiting
        | EventType::RunLimitReached => OPEN,
        _ => PLAIN,
    }
}

/// What a person wants to know of an event beside its name and place.
pub(crate) fn note(event: &Event) -> String {
    let Ok(body) = event.body() else {
        return "cannot be read by this version".to_owned();
    };
    match body {
        Body::RunStarted(start) => {
            let tools = counted(start.binding.allowed.names().len() as u64, "tool");
            format!("{}, {tools}", start.subject.source())
        }
        Body::ModelRequested(asked) => {
            format!("{}, {}", counted(asked.messages, "message"), counted(asked.tools, "tool"))
        }
        Body::ModelResponded(response) => responded(&response),
        Body::ModelFailed(failed) => format!("{}: {}", failed.reason, failed.detail),
        Body::ToolRequested(requested) => match requested.arguments_text.as_deref() {
            None | Some("") => requested.tool_name,
            Some(arguments) => format!("{} {}", requested.tool_name, cut(arguments, ARGUMENTS)),
        },
        Body::ToolRelaxed(relaxed) => format!("{}: {} became {}", relaxed.tool_name, relaxed.from, relaxed.to),
        Body::ApprovalRequested(asked) => {
            format!("{} for {} {} ({})", asked.approval_id, asked.tool_name, asked.tool_version, asked.effect)
        }
        Body::ApprovalAgreed(agreed) => {
            let why = agreed.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let missing = agreed.missing;
            format!("{} by {}, {missing} more to say yes{why}", agreed.approval_id, agreed.agreed_by)
        }
        Body::ApprovalEdited(edited) => {
            let arguments = cut(&edited.arguments_text, ARGUMENTS);
            format!("{} became {} by {}: {arguments}", edited.approval_id, edited.edited_as, edited.edited_by)
        }
        Body::ApprovalDecided(decided) => {
            let why = decided.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{} {} by {}{why}", decided.approval_id, decided.decision, decided.decided_by)
        }
        Body::ApprovalConsumed(consumed) => consumed.approval_id.to_string(),
        Body::ToolStarted(started) => {
            let attempt = if started.attempt > 1 { format!(", attempt {}", started.attempt) } else { String::new() };
            format!("{} {} ({}){attempt}", started.tool_name, started.tool_version, started.effect)
        }
        Body::Settled(settled) => settled_note(&settled),
        Body::ToolAttemptFailed(failed) => format!("attempt {}: {}", failed.attempt, settled_note(&failed.settled)),
        Body::ToolAnsweredLate(late) => format!("attempt {}: {}", late.attempt, settled_note(&late.settled)),
        Body::CallReconciled(found) => {
            let why = found.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{} by {}{why}", found.finding, found.by)
        }
        Body::RunLeaseTaken(taken) => format!("by {}, number {}", taken.holder, taken.epoch),
        Body::RunWaiting(waiting) => format!("for {}", list(waiting.approvals.iter().map(ApprovalId::as_str))),
        Body::RunResumed(resumed) => resumed_note(&resumed),
        Body::RunCompleted(completed) => match completed.completed_by {
            None => completed.reason.to_string(),
            Some(CompletedBy::Agent) => format!("{}, as the agent says", completed.reason),
            Some(CompletedBy::Environment) => format!("{}, as the environment says", completed.reason),
        },
        Body::RunFailed(failed) => format!("{}: {}", failed.reason, failed.detail),
        Body::RunLimitReached(reached) => reached.limit.to_string(),
        Body::RunNeedsReconciliation(needs) => list(needs.calls.iter().map(AsRef::as_ref)),
        Body::RunCancelled(_) | Body::Unknown => String::new(),
    }
}

fn responded(response: &ModelResponded) -> String {
    let calls = counted(response.calls.len() as u64, "call");
    let mut said = match (response.text.as_deref().unwrap_or_default().is_empty(), response.calls.is_empty()) {
        (true, true) => "nothing".to_owned(),
        (true, false) => calls,
        (false, true) => "text".to_owned(),
        (false, false) => format!("text, {calls}"),
    };
    if let (Some(input), Some(output)) = (response.usage.input_tokens, response.usage.output_tokens) {
        let _ = write!(said, " ({input} tokens read, {output} written)");
    }
    said
}

/// What the audit says about a failed call, in lines below its own: with the error id beside the code it is here that an
/// operator finds what the model was not told.
fn below(event: &Event) -> String {
    let Ok(Body::Settled(settled)) = event.body() else {
        return String::new();
    };
    let (reason, text) = (settled.audit.reason.as_deref(), settled.audit.text.as_deref());
    let said: Vec<&str> = reason.into_iter().chain(text).collect();
    if settled.ok || said.is_empty() {
        return String::new();
    }
    format!("{}{}\n", " ".repeat(BELOW), styled(FAINT, hanging(&said.join(": "), BELOW)))
}

fn settled_note(settled: &Settled) -> String {
    let mut parts = vec![match &settled.tool_version {
        Some(version) => format!("{} {version}", settled.tool_name),
        None => settled.tool_name.clone(),
    }];
    if let Some(code) = &settled.code {
        let reason = settled.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        parts.push(format!("{code}{reason}"));
        if settled.effect_state == lockgate::contract::effect::EffectState::Unknown {
            parts.push("effect unknown".to_owned());
        }
    }
    if let Some(error_id) = &settled.meta.error_id {
        parts.push(error_id.to_string());
    }
    if let Some(earlier) = &settled.meta.deduplicated {
        parts.push(format!("result of {earlier}"));
    }
    if let Some(bytes) = settled.meta.truncated_bytes {
        parts.push(format!("{} left out", counted(bytes, "byte")));
    }
    parts.join(" · ")
}

fn resumed_note(resumed: &RunResumed) -> String {
    resumed.budget.as_ref().map_or_else(String::new, |budget| {
        format!("max_steps {}, max_valid_actions {}", budget.max_steps, budget.max_valid_actions)
    })
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
