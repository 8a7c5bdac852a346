//! A question that was put to a person.

use std::fmt::Write as _;

use lockgate::contract::approval::{Approval, ApprovalState, Yes, shown_arguments, visible};
use lockgate::contract::ports::Approvers;
use lockgate::contract::time::Timestamp;

use crate::render::style::{BAD, FAINT, GOOD, NAME, of_approval, styled};
use crate::render::table::{Cell, Table};
use crate::render::text::{cut, harmless, indented, one_line};

/// One line a question.
pub(crate) fn table(approvals: &[Approval]) -> String {
    let mut table = Table::new(&["approval", "state", "tool", "effect", "expires", "call", "decided by"]);
    for approval in approvals {
        table.row([
            Cell::styled(NAME, approval.approval_id.as_str()),
            Cell::styled(of_approval(approval.state), approval.state.word()),
            Cell::new(format!("{} {}", cut(&approval.tool_name, 40), cut(&approval.tool_version, 20))),
            Cell::new(approval.effect.word()),
            Cell::new(approval.expires_at.to_string()),
            Cell::styled(FAINT, approval.call_id.as_str()),
            Cell::new(approval.decided_by.as_deref().unwrap_or_default()),
        ]);
    }
    table.render()
}

/// Everything that a person needs to decide: what would run, exactly, how that differs from what was approved before, whose
/// yes it takes, and what the approval is bound to.
pub(crate) fn show(approval: &Approval, before: Option<&Approval>, now: Timestamp) -> String {
    let mut text =
        format!("{} is {}\n\n", approval.approval_id, styled(of_approval(approval.state), approval.state.word()));
    // The text was made visible when the question was asked: it is shown as it is stored, line by line.
    let shown: Vec<String> = approval.shown_text.lines().map(harmless).collect();
    text.push_str(&indented(&shown.join("\n"), 2));
    text.push('\n');
    text.push_str(&difference(approval, before));
    let mut facts = Vec::new();
    facts.extend(approval.because.as_deref().map(|because| ("because", visible(because))));
    facts.extend(approval.approvers.as_ref().map(|required| ("needs", needs(required))));
    facts.extend(approval.yeses.iter().map(|yes| ("yes", said(yes))));
    facts.extend([
        ("run", approval.run_id.to_string()),
        ("call", approval.call_id.to_string()),
        ("digest", approval.digest.to_string()),
        ("definition", approval.definition.to_string()),
        ("requested", approval.requested_at.to_string()),
        ("expires", format!("{}{}", approval.expires_at, countdown(approval, now))),
    ]);
    facts.extend(approval.decided_by.as_deref().map(|who| ("decided by", visible(who))));
    facts.extend(approval.decided_at.map(|at| ("decided", at.to_string())));
    facts.extend(approval.reason.as_deref().map(|reason| ("reason", visible(reason))));
    facts.extend(approval.consumed_at.map(|at| ("used", at.to_string())));
    for (name, value) in facts {
        let _ = writeln!(text, "{}  {value}", styled(FAINT, format_args!("{name:<10}")));
    }
    text
}

/// What changed since a call of the tool was approved, or since before the edit.
fn difference(approval: &Approval, before: Option<&Approval>) -> String {
    let Some(before) = before else {
        return match approval.state {
            ApprovalState::Pending => "  no call of this tool was approved before\n\n".to_owned(),
            _ => String::new(),
        };
    };
    let since = match &approval.edited {
        Some(edited) => format!("{} put this in place of {}", visible(&edited.by), edited.approval_id),
        None => format!("since {}, the last one of this tool that was approved", before.approval_id),
    };
    let (old, new) = (shown_arguments(&before.arguments), shown_arguments(&approval.arguments));
    let mut lines = vec![format!("{since}:")];
    lines.extend(
        old.iter().filter(|line| !new.contains(line)).map(|line| styled(BAD, format_args!("- {}", harmless(line)))),
    );
    lines.extend(
        new.iter().filter(|line| !old.contains(line)).map(|line| styled(GOOD, format_args!("+ {}", harmless(line)))),
    );
    if lines.len() == 1 {
        lines.push("the same arguments".to_owned());
    }
    format!("{}\n", indented(&lines.join("\n"), 2))
}

/// Whose yes it takes.
pub(crate) fn needs(required: &Approvers) -> String {
    let roles: Vec<String> = required.roles.iter().map(|role| visible(role)).collect();
    let people = if required.needed() == 1 { "one person".to_owned() } else { format!("{} people", required.needed()) };
    let who = if roles.is_empty() { people } else { format!("{people} with role {}", roles.join(" or ")) };
    format!("the yes of {who}; not of whoever it is asked for")
}

fn said(yes: &Yes) -> String {
    let roles = if yes.roles.is_empty() { String::new() } else { format!(" ({})", visible(&yes.roles.join(", "))) };
    let why = yes.reason.as_deref().map(|reason| format!(": {}", visible(reason))).unwrap_or_default();
    format!("{}{roles}, {}, {}{why}", visible(&yes.by), yes.proof.word(), yes.at)
}

/// How long it may still be decided, or used.
fn countdown(approval: &Approval, now: Timestamp) -> String {
    let left = approval.expires_at.since(now).as_secs();
    match approval.state_at(now) {
        ApprovalState::Pending | ApprovalState::Granted => format!(" (in {})", span(left)),
        _ => String::new(),
    }
}

/// Seconds as people say them.
pub(crate) fn span(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    }
}

/// What was decided, in a line.
pub(crate) fn decided(approval: &Approval) -> String {
    let by = approval.decided_by.as_deref().map(|who| format!(" by {}", visible(who))).unwrap_or_default();
    let missing = match (approval.state, approval.missing_yeses()) {
        (ApprovalState::Pending, missing) => format!(", {missing} more to say yes"),
        _ => String::new(),
    };
    format!(
        "{} {}{by}{missing}: {} {} ({}) of call {}\n",
        styled(of_approval(approval.state), approval.state.word()),
        approval.approval_id,
        one_line(&approval.tool_name, 60),
        one_line(&approval.tool_version, 20),
        approval.effect,
        approval.call_id,
    )
}

#[cfg(test)]
mod tests;
