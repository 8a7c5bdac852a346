//! The few styles of the command. Whether they reach the screen is decided where text is printed.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use lockgate::contract::approval::ApprovalState;
use lockgate::contract::run::RunStatus;

/// Text as it is.
pub(crate) const PLAIN: Style = Style::new();
/// What matters less.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Names of columns and parts.
pub(crate) const HEADING: Style = Style::new().bold();
/// What went well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What waits for somebody.
pub(crate) const OPEN: Style = AnsiColor::Yellow.on_default();
/// What went wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// What can be typed again.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// The text in this style.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    if style.is_plain() { text.to_string() } else { format!("{style}{text}{style:#}") }
}

/// How a stop state looks; a run that nobody drives has none.
pub(crate) fn of_status(status: Option<RunStatus>) -> Style {
    match status {
        Some(RunStatus::Completed) => GOOD,
        Some(RunStatus::WaitingForApproval | RunStatus::LimitReached) | None => OPEN,
        Some(RunStatus::NeedsReconciliation | RunStatus::Failed | RunStatus::Cancelled) => BAD,
    }
}

/// How the state of an approval looks.
pub(crate) fn of_approval(state: ApprovalState) -> Style {
    match state {
        ApprovalState::Pending => OPEN,
        ApprovalState::Granted => GOOD,
        ApprovalState::Denied => BAD,
        ApprovalState::Expired | ApprovalState::Consumed | ApprovalState::Withdrawn => FAINT,
    }
}
