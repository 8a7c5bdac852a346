//! Who let a call pass: the policy, and a person where the policy asks.

use lockgate_contract::event::{Event, Settled, ToolStarted};
use lockgate_contract::outcome::{Code, Outcome};

use crate::check::Invariant;
use crate::check::ledger::{Answer, Ledger};

/// The policies of the built-in engine that have a person asked.
const ASKING: [&str; 2] = ["native:declared-ask", "native:ask-always"];

impl Ledger {
    /// A start that a policy asks about uses an approval in its own commit.
    pub(super) fn check_permission(&mut self, place: usize, event: &Event, started: &ToolStarted, approved: bool) {
        let asked = started.policies.iter().find(|policy| ASKING.contains(&policy.as_str()));
        if let Some(policy) = asked.filter(|_| !approved) {
            let question = self.asked_at(place);
            let text = format!("the call starts under policy `{policy}`, which asks, and uses no approval");
            self.report_call(Invariant::Authorisation, place, question.into_iter().chain([event.seq]), text);
        }
    }

    /// What the policy answered is what happened.
    pub(super) fn check_decision(&mut self, place: usize, event: &Event, settled: &Settled) {
        let code = settled.code.as_ref();
        let denied_by_policy = code.is_some_and(|code| code.is(Code::PolicyDenied));
        let decision = settled.audit.decision.as_deref();
        // A policy that gave no answer in time denies without a word; a cancel and a defect of the gate settle also what
        // was denied.
        let ended_otherwise = code.is_some_and(|code| code.is(Code::GateInternalError) || code.is(Code::Cancelled));
        let contradicts = match decision {
            Some("deny") => !denied_by_policy && !ended_otherwise,
            Some(_) => denied_by_policy,
            None => false,
        };
        if contradicts {
            let text = format!(
                "the policy answered `{}`, and the call ended as {}",
                decision.unwrap_or_default(),
                code.map_or("ok", Outcome::word),
            );
            self.report_call(Invariant::Authorisation, place, [event.seq], text);
        }
        // Other engines have other words for a policy that asks. An earlier driver may have had another policy.
        let unapproved = self.calls[place].starts.last().filter(|start| start.drive == self.drive && !start.approved);
        if let Some(started) = unapproved.map(|start| start.seq)
            && decision == Some("ask")
            && !self.asks(place)
        {
            let text = "the policy asked, and the call started without an approval";
            self.report_call(Invariant::Authorisation, place, [started, event.seq], text);
        }
    }

    /// Whether the last start names a policy that asks: then its start has said so.
    fn asks(&self, place: usize) -> bool {
        let last = self.calls[place].starts.last().and_then(|start| start.body.as_ref());
        last.is_some_and(|body| body.policies.iter().any(|policy| ASKING.contains(&policy.as_str())))
    }

    /// A refusal because of an approval is backed by what happened to one.
    pub(super) fn check_refused_approval(&mut self, place: usize, event: &Event, settled: &Settled) {
        let Some(Outcome::Gate(code)) = settled.code else { return };
        let question = self.calls[place].questions.last().and_then(|id| self.questions.get(id));
        let answer = question.and_then(|question| question.answer).map(|(answer, _)| answer);
        let backed = match code {
            Code::ApprovalDenied => answer == Some(Answer::Denied),
            Code::ApprovalWithdrawn => answer == Some(Answer::Withdrawn),
            Code::ApprovalUsed => question.is_some_and(|question| question.consumed.is_some()),
            Code::ApprovalExpired => question.is_some(),
            _ => true,
        };
        if !backed && !self.blind {
            let text = format!("the call ended as {code}, and no event says so of its approval");
            let question = self.asked_at(place);
            self.report_call(Invariant::ApprovalOrder, place, question.into_iter().chain([event.seq]), text);
        }
    }

    fn asked_at(&self, place: usize) -> Option<u64> {
        let id = self.calls[place].questions.last()?;
        self.questions.get(id).map(|question| question.seq)
    }
}
