//! A question that was put to a person.

use std::fmt::Write as _;

use lockgate::contract::approval::{Approval, visible};

use crate::render::style::{FAINT, NAME, of_approval, styled};
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

/// Everything that a person needs to decide: what would run, exactly, and what the approval is bound to.
pub(crate) fn show(approval: &Approval) -> String {
    let mut text =
        format!("{} is {}\n\n", approval.approval_id, styled(of_approval(approval.state), approval.state.word()));
    // The text was made visible when the question was asked: it is shown as it is stored, line by line.
    let shown: Vec<String> = approval.shown_text.lines().map(harmless).collect();
    text.push_str(&indented(&shown.join("\n"), 2));
    text.push('\n');
    let mut facts = vec![
        ("run", approval.run_id.to_string()),
        ("call", approval.call_id.to_string()),
        ("digest", approval.digest.to_string()),
        ("definition", approval.definition.to_string()),
        ("requested", approval.requested_at.to_string()),
        ("expires", approval.expires_at.to_string()),
    ];
    facts.extend(approval.decided_by.as_deref().map(|who| ("decided by", visible(who))));
    facts.extend(approval.decided_at.map(|at| ("decided", at.to_string())));
    facts.extend(approval.reason.as_deref().map(|reason| ("reason", visible(reason))));
    facts.extend(approval.consumed_at.map(|at| ("used", at.to_string())));
    for (name, value) in facts {
        let _ = writeln!(text, "{}  {value}", styled(FAINT, format_args!("{name:<10}")));
    }
    text
}

/// What was decided, in a line.
pub(crate) fn decided(approval: &Approval) -> String {
    let by = approval.decided_by.as_deref().map(|who| format!(" by {}", visible(who))).unwrap_or_default();
    format!(
        "{} {}{by}: {} {} ({}) of call {}\n",
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
