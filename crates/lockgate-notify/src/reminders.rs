//! Which questions stand so long that somebody is told again. It reads no clock and asks nobody.

use std::collections::HashMap;
use std::time::Duration;

use lockgate_contract::approval::{Approval, ApprovalState};
use lockgate_contract::ids::ApprovalId;
use lockgate_contract::time::Timestamp;

/// Who was reminded of what, as far as this process knows.
#[derive(Debug)]
pub struct Reminders {
    after: Duration,
    last: HashMap<ApprovalId, Timestamp>,
}

impl Reminders {
    /// Each question again whenever it stood for so long.
    pub fn every(after: Duration) -> Self {
        Self { after, last: HashMap::new() }
    }

    /// The questions of which somebody is to be reminded now. Each is answered once for each time that passes.
    pub fn due<'a>(&mut self, approvals: &'a [Approval], now: Timestamp) -> Vec<&'a Approval> {
        let open: Vec<&Approval> =
            approvals.iter().filter(|approval| approval.state_at(now) == ApprovalState::Pending).collect();
        self.last.retain(|known, _| open.iter().any(|approval| approval.approval_id == *known));
        open.into_iter()
            .filter(|approval| {
                let told = self.last.get(&approval.approval_id).copied().unwrap_or(approval.requested_at);
                let is_due = now.since(told) >= self.after;
                if is_due {
                    self.last.insert(approval.approval_id.clone(), now);
                }
                is_due
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
