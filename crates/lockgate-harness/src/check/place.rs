//! Where an event belongs: its run, its step, its call (R-206… ).

use lockgate_contract::event::{Event, EventType};

use crate::check::Invariant;
use crate::check::ledger::{Call, CallArguments, Ledger};

impl Ledger {
    /// What every event must say about itself, whatever its body says.
    pub(super) fn check_frame(&mut self, event: &Event) {
        match &self.run_id {
            None => {
                self.run_id = Some(event.run_id.clone());
                if event.kind != EventType::RunStarted {
                    let text = format!(
                        "the first event is `{}`, not `run.started`: was the run exported with `--all`?",
                        event.kind
                    );
                    self.report(Invariant::Beginning, [event.seq], None, text);
                }
            }
            Some(run_id) if *run_id != event.run_id => {
                let text = format!("`{}` belongs to run `{}`, and the run is `{run_id}`", event.kind, event.run_id);
                self.report(Invariant::OneRun, [event.seq], event.call_id.as_ref(), text);
            }
            Some(_) => {}
        }
        match (about(&event.kind), &event.call_id) {
            (About::Call, None) => {
                let text = format!("`{}` names no call", event.kind);
                self.report(Invariant::CallIds, [event.seq], None, text);
            }
            (About::Run, Some(_)) => {
                let text = format!("`{}` is about the run, and names a call", event.kind);
                self.report(Invariant::CallIds, [event.seq], event.call_id.as_ref(), text);
            }
            (About::Run, None) if event.step != self.step => {
                let text = format!("`{}` has step {}, and the run is in step {}", event.kind, event.step, self.step);
                self.report(Invariant::Steps, [event.seq], None, text);
            }
            _ => {}
        }
    }

    /// The call that an event is about, if it is one that somebody asked for. Found by its id, never by its place.
    pub(super) fn call_of(&mut self, event: &Event) -> Option<usize> {
        let call_id = event.call_id.as_ref()?;
        let Some(place) = self.places.get(call_id).copied() else {
            if !self.blind {
                let text = format!("`{}` is about a call that nobody asked for", event.kind);
                self.report(Invariant::CallIds, [event.seq], Some(call_id), text);
            }
            self.add_stray(event);
            return None;
        };
        let call = &self.calls[place];
        if call.stray {
            return None;
        }
        if call.step != event.step {
            let (named_at, step) = (call.named_at, call.step);
            let text = format!("`{}` has step {}, and its call belongs to step {step}", event.kind, event.step);
            self.report_call(Invariant::Steps, place, [named_at, event.seq], text);
        }
        Some(place)
    }

    /// The same, for events that only come once the call reached the gate.
    pub(super) fn requested_call_of(&mut self, event: &Event) -> Option<usize> {
        let place = self.call_of(event)?;
        let call = &mut self.calls[place];
        if call.requested.is_none() && !call.early {
            call.early = true;
            let text = format!("`{}` comes before the call's `tool.requested`", event.kind);
            self.report_call(Invariant::OrderOfChecks, place, [event.seq], text);
        }
        Some(place)
    }

    pub(super) fn add_call(&mut self, call: Call) -> usize {
        let place = self.calls.len();
        self.places.insert(call.id.clone(), place);
        if !call.stray {
            self.open.insert(place);
        }
        self.calls.push(call);
        place
    }

    fn add_stray(&mut self, event: &Event) {
        if let Some(call_id) = event.call_id.clone() {
            let call = Call::new(call_id, event.step, event.seq, String::new(), CallArguments::Scrubbed);
            self.add_call(Call { stray: true, ..call });
        }
    }

    /// Whether the run may call this tool, where that is known.
    pub(super) fn is_allowed(&self, tool_name: &str) -> Option<bool> {
        self.start.as_ref().map(|start| start.binding.allowed.permits(tool_name))
    }

    /// Whether the run was bound to this tool as one that only reads.
    pub(super) fn reads(&self, tool_name: &str) -> bool {
        self.start.as_ref().is_some_and(|start| start.binding.reads.contains_key(tool_name))
    }
}

enum About {
    Run,
    /// The model's turns have steps of their own.
    Model,
    Call,
    Unknown,
}

fn about(kind: &EventType) -> About {
    match kind {
        EventType::RunStarted
        | EventType::RunWaiting
        | EventType::RunLeaseTaken
        | EventType::RunResumed
        | EventType::RunCompleted
        | EventType::RunFailed
        | EventType::RunLimitReached
        | EventType::RunCancelled
        | EventType::RunNeedsReconciliation => About::Run,
        EventType::ModelRequested | EventType::ModelResponded | EventType::ModelFailed => About::Model,
        EventType::ToolRequested
        | EventType::ToolRelaxed
        | EventType::ApprovalRequested
        | EventType::ApprovalAgreed
        | EventType::ApprovalEdited
        | EventType::ApprovalDecided
        | EventType::ApprovalConsumed
        | EventType::ToolStarted
        | EventType::ToolFinished
        | EventType::ToolFailed
        | EventType::ToolAttemptFailed
        | EventType::ToolAnsweredLate
        | EventType::CallReconciled => About::Call,
        EventType::Other(_) => About::Unknown,
    }
}
