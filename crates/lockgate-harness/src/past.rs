//! What policies decided about the calls of a run, as its events tell of it: for explaining an answer, and for trying other
//! rules on the same facts.
//!
//! One decision a call, the last one: a call that a person approved was decided again when it went on, and its tool may have
//! been tried more than once. What was only tried beside the engine that acts (`shadow:…`) is never the answer.

use std::collections::HashMap;

use lockgate_contract::digest::Digest;
use lockgate_contract::effect::Permission;
use lockgate_contract::event::{Audit, Body, Event, Settled};
use lockgate_contract::ids::{ApprovalId, CallId};
use lockgate_contract::outcome::Outcome;
use lockgate_contract::ports::PolicyDecision;
use lockgate_contract::run::RunStart;
use lockgate_contract::time::Timestamp;

use crate::error::FoldError;
use crate::state::body;

/// The calls of one run that reached the gate, with what was decided about them.
#[derive(Debug)]
pub struct Past {
    /// What the run was started with: on whose behalf, above all.
    pub start: RunStart,
    calls: Vec<PastCall>,
    by_id: HashMap<CallId, usize>,
}

/// A call, and what a policy decided about it.
#[derive(Debug, Clone)]
pub struct PastCall {
    /// Its id.
    pub call_id: CallId,
    /// The model turn.
    pub step: u32,
    /// The name as it was called.
    pub tool_name: String,
    /// The arguments as the journal has them, or those that a person put in their place.
    pub arguments_text: String,
    /// A secret was taken out of the arguments: they are not what was decided about.
    pub redacted: bool,
    /// A person put other arguments in their place, about which nothing was decided yet.
    pub edited_since: bool,
    /// The digest of the arguments that were decided about, where an event has it.
    pub arguments_digest: Option<Digest>,
    /// The definition of the tool that was decided about.
    pub definition: Option<Digest>,
    /// What the declared permission was relaxed to.
    pub relaxed: Option<Permission>,
    /// The last question about it.
    pub approval: Option<ApprovalId>,
    /// What the policy answered; nothing where the call never got to it.
    pub decision: Option<PastDecision>,
    /// The hook that stopped it, once the policy had let it pass. An ending with a hook does not have the policy's own answer: then
    /// `decision` is one from before it, or none.
    pub stopped_by: Option<PastVeto>,
    /// How the call ended, and why: for calls that no policy decided.
    pub ending: Option<(Option<Outcome>, Option<String>)>,
}

/// A recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastDecision {
    /// Allow, ask or deny.
    pub answer: PolicyDecision,
    /// The policies that determined it, those in the shadow among them.
    pub policies: Vec<String>,
    /// Why, where it was written down: a call that was allowed has none.
    pub reason: Option<String>,
    /// When the journal took it.
    pub at: Timestamp,
}

/// A hook's veto.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastVeto {
    /// The hook's name.
    pub hook: String,
    /// When the journal took it.
    pub at: Timestamp,
}

impl PastDecision {
    /// The policies that determined the answer, without those that were only tried beside them.
    pub fn acting(&self) -> impl Iterator<Item = &str> {
        self.policies.iter().map(String::as_str).filter(|policy| !policy.starts_with("shadow:"))
    }

    /// What was only tried.
    pub fn shadow(&self) -> impl Iterator<Item = &str> {
        self.policies.iter().filter_map(|policy| policy.strip_prefix("shadow:"))
    }
}

impl Past {
    /// Reads the events of one run, from the first.
    ///
    /// # Errors
    ///
    /// What [`RunState::fold`](crate::RunState::fold) cannot read, this cannot either.
    pub fn of(events: &[Event]) -> Result<Self, FoldError> {
        let Some((first, rest)) = events.split_first() else {
            return Err(FoldError::Sequence { expected: 1, found: 0 });
        };
        let Body::RunStarted(start) = body(first)? else {
            return Err(FoldError::Misplaced { seq: first.seq, kind: first.kind.to_string() });
        };
        let mut past = Self { start: *start, calls: Vec::new(), by_id: HashMap::new() };
        for event in rest {
            past.take(event)?;
        }
        Ok(past)
    }

    /// The calls, in the order in which they came.
    pub fn calls(&self) -> impl Iterator<Item = &PastCall> {
        self.calls.iter()
    }

    /// One call.
    pub fn call(&self, call_id: &CallId) -> Option<&PastCall> {
        self.by_id.get(call_id).and_then(|place| self.calls.get(*place))
    }

    fn take(&mut self, event: &Event) -> Result<(), FoldError> {
        match body(event)? {
            Body::ModelResponded(response) => {
                for call in response.calls {
                    self.add(PastCall {
                        redacted: call.redacted,
                        ..PastCall::new(call.call_id, event.step, call.tool_name, call.arguments_text)
                    });
                }
            }
            Body::ToolRequested(requested) => {
                if let Some(call_id) = event.call_id.clone().filter(|call_id| !self.by_id.contains_key(call_id)) {
                    let text = requested.arguments_text.unwrap_or_default();
                    self.add(PastCall::new(call_id, event.step, requested.tool_name, text));
                }
            }
            body => {
                let bound = &self.start.binding.allowed;
                let place = event.call_id.as_ref().and_then(|call_id| self.by_id.get(call_id));
                if let Some(call) = place.and_then(|place| self.calls.get_mut(*place)) {
                    let definition = bound.definition(&call.tool_name);
                    call.take(body, event.at, definition);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, call: PastCall) {
        self.by_id.insert(call.call_id.clone(), self.calls.len());
        self.calls.push(call);
    }
}

impl PastCall {
    fn new(call_id: CallId, step: u32, tool_name: String, arguments_text: String) -> Self {
        Self {
            call_id,
            step,
            tool_name,
            arguments_text,
            redacted: false,
            edited_since: false,
            arguments_digest: None,
            definition: None,
            relaxed: None,
            approval: None,
            decision: None,
            stopped_by: None,
            ending: None,
        }
    }

    fn take(&mut self, body: Body, at: Timestamp, bound: Option<Digest>) {
        match body {
            Body::ToolRelaxed(relaxed) => self.relaxed = Some(relaxed.to),
            Body::ApprovalRequested(asked) => {
                self.definition = bound;
                self.approval = Some(asked.approval_id);
                let (policies, reason) = (asked.policies, Some(asked.reason));
                self.decision = Some(PastDecision { answer: PolicyDecision::Ask, policies, reason, at });
            }
            Body::ApprovalEdited(edited) => {
                self.arguments_text = edited.arguments_text;
                self.arguments_digest = Some(edited.arguments_digest);
                self.redacted = false;
                self.edited_since = true;
                // What the old arguments proved says nothing of the new ones.
                self.relaxed = None;
                self.approval = Some(edited.edited_as);
            }
            Body::ToolStarted(started) => {
                self.definition = Some(started.definition);
                self.arguments_digest = Some(started.arguments_digest);
                self.edited_since = false;
                // The ending says what was answered. Until there is one: who was asked, was asked.
                let (answer, reason) = match self.decision.take() {
                    Some(before) if before.answer == PolicyDecision::Ask => (PolicyDecision::Ask, before.reason),
                    _ => (PolicyDecision::Allow, None),
                };
                self.decision = Some(PastDecision { answer, policies: started.policies, reason, at });
            }
            Body::Settled(settled) => self.settle(&settled, at),
            Body::ToolAttemptFailed(failed) => self.decided(&failed.settled.audit, at),
            _ => {}
        }
    }

    fn settle(&mut self, settled: &Settled, at: Timestamp) {
        match vetoed_by(settled) {
            Some(hook) => self.stopped(hook, &settled.audit, at),
            None => self.decided(&settled.audit, at),
        }
        self.ending = Some((settled.code.clone(), settled.audit.text.clone()));
        if let Some(decision) = &mut self.decision
            && decision.answer == PolicyDecision::Deny
        {
            decision.reason.clone_from(&settled.audit.text);
        }
    }

    /// Takes in that a hook stopped it. The audit's `deny` is the hook's, not the policy's.
    fn stopped(&mut self, hook: &str, audit: &Audit, at: Timestamp) {
        self.about(audit);
        // An answer about arguments that a person replaced since is not one about these.
        let edited = std::mem::take(&mut self.edited_since);
        self.decision = self.decision.take().filter(|before| !edited && before.answer != PolicyDecision::Deny);
        self.stopped_by = Some(PastVeto { hook: hook.to_owned(), at });
    }

    /// Takes in what was decided about.
    fn about(&mut self, audit: &Audit) {
        self.definition = audit.definition.or(self.definition);
        self.arguments_digest = audit.arguments_digest.or(self.arguments_digest);
    }

    /// Takes in what an ending says was answered.
    fn decided(&mut self, audit: &Audit, at: Timestamp) {
        let answers = [PolicyDecision::Allow, PolicyDecision::Ask, PolicyDecision::Deny];
        let Some(answer) = answers.into_iter().find(|answer| audit.decision.as_deref() == Some(answer.word())) else {
            return;
        };
        self.about(audit);
        self.edited_since = false;
        let before = self.decision.take().filter(|before| before.answer == answer);
        let same = before.as_ref().filter(|before| before.policies == audit.policies);
        self.decision = Some(PastDecision {
            answer,
            policies: audit.policies.clone(),
            at: same.map_or(at, |before| before.at),
            reason: before.and_then(|before| before.reason),
        });
    }
}

/// The hook whose veto an ending is. The gate names it behind the policies, and gives the reason `hook`.
fn vetoed_by(settled: &Settled) -> Option<&str> {
    let last = settled.audit.policies.last()?.strip_prefix("hook:")?;
    (settled.reason.as_deref() == Some("hook")).then_some(last)
}

#[cfg(test)]
mod tests;
